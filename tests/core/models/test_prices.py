"""What requests cost: the table against the package it is made of, and what is not known."""

from __future__ import annotations

import importlib.util
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core.models.prices import listed, made_from
from hel_tui.core.models.types import Prices, Rate, Usage, When

if not os.environ.get("CI"):
    pytest.importorskip("genai_prices")
import genai_prices
from genai_prices.data import providers

ROOT = Path(__file__).parents[3]
MOMENTS = [
    datetime(2026, 11, 30, 0, 15, tzinfo=UTC),
    datetime(2026, 11, 30, 2, 0, tzinfo=UTC),
    datetime(2026, 11, 30, 12, 0, tzinfo=UTC),
]
AMOUNTS = [
    Usage(1_000, 200, 0, 0),
    Usage(90_000, 3_000, 60_000, 10_000),
    Usage(450_000, 5_000, 100_000, 0),
    Usage(1_200_000, 10, 0, 0),
]
ADDRESSES = {
    "anthropic": "https://api.anthropic.com/v1",
    "openai": "https://api.openai.com/v1",
    "deepseek": "https://api.deepseek.com",
    "google": "https://generativelanguage.googleapis.com/v1beta",
    "openrouter": "https://openrouter.ai/api/v1",
    "groq": "https://api.groq.com/openai/v1",
    "mistral": "https://api.mistral.ai/v1",
    "x-ai": "https://api.x.ai/v1",
}


def maker() -> Any:
    """The script that makes the table."""
    spec = importlib.util.spec_from_file_location("prices_script", ROOT / ".ci" / "prices.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_what_its_script_makes_of_the_package() -> None:
    script = maker()
    made = script.table()
    assert made["made_from"] == made_from() == f"genai-prices {genai_prices.__version__}"
    assert script.TABLE.read_text("utf-8") == script.written(made)
    assert json.loads(script.written(made)) == made


@pytest.mark.parametrize("provider", ADDRESSES)
def test_every_model_of_a_provider_costs_what_the_package_says(provider: str) -> None:
    models = next(one for one in providers if one.id == provider).models
    names = [name for model in models for name in (model.id,) if model.is_match(name)]
    compared = 0
    for name in names:
        prices = listed(ADDRESSES[provider], name).prices
        if prices is None:
            continue
        for moment in MOMENTS:
            for amount in AMOUNTS:
                theirs = genai_prices.calc_price(
                    genai_prices.Usage(
                        input_tokens=amount.input_tokens,
                        output_tokens=amount.output_tokens,
                        cache_read_tokens=amount.cached_tokens,
                        cache_write_tokens=amount.written_tokens,
                    ),
                    name,
                    provider_id=provider,
                    genai_request_timestamp=moment,
                )
                assert prices.cost(amount, moment.timestamp()) == pytest.approx(float(theirs.total_price))
                compared += 1
    assert compared > 50


def test_most_models_that_talk_have_a_price() -> None:
    for provider, least in (("anthropic", 0.9), ("openai", 0.6), ("deepseek", 1.0), ("openrouter", 0.8)):
        models = next(one for one in providers if one.id == provider).models
        priced = [model for model in models if listed(ADDRESSES[provider], model.id).prices is not None]
        assert len(priced) >= least * len(models), provider


def test_prices_belong_to_the_address_and_not_to_a_name_given_to_it() -> None:
    assert listed("http://127.0.0.1:9/v1", "gpt-4.1").prices is None
    assert listed("https://api.openai.com.evil.example/v1", "gpt-4.1").prices is None
    assert listed("https://api.openai.com/v1/", "GPT-4.1").prices is not None


def test_an_unknown_model_has_no_price_rather_than_none_to_pay() -> None:
    assert listed("https://api.openai.com/v1", "never-heard-of").prices is None


def test_a_price_for_long_requests_holds_for_the_whole_of_one() -> None:
    prices = Prices((Rate(1.0, 0.1, 10.0), Rate(2.0, 0.2, 20.0, over=1_000)))
    assert prices.cost(Usage(1_000, 0)) == pytest.approx(0.001)
    assert prices.cost(Usage(1_001, 0)) == pytest.approx(0.002_002)


def test_a_price_by_night_may_reach_past_midnight() -> None:
    night = Prices((Rate(2.0, 2.0, 2.0),), ((When(minutes=(1_320, 120)), (Rate(1.0, 1.0, 1.0),)),))
    at = {hour: datetime(2026, 11, 30, hour, tzinfo=UTC).timestamp() for hour in (1, 2, 21, 22)}
    assert [night.cost(Usage(1_000_000, 0), at[hour]) for hour in (1, 2, 21, 22)] == [1.0, 2.0, 2.0, 1.0]


def test_a_new_price_holds_from_its_day_on() -> None:
    prices = Prices((Rate(2.0, 2.0, 2.0),), ((When(since="2026-12-01"), (Rate(3.0, 3.0, 3.0),)),))
    before, after = datetime(2026, 11, 30, 23, 59, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)
    assert prices.cost(Usage(1_000_000, 0), before.timestamp()) == 2.0
    assert prices.cost(Usage(1_000_000, 0), after.timestamp()) == 3.0
