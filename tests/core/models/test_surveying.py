"""Who is asked for models, what each answer brings, and what is known without asking."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import Any

import pytest

from hel_tui.core.models import surveying
from hel_tui.core.models.profiles import PROFILES, Profile
from hel_tui.core.models.surveying import Known, Place, Survey, places_of
from hel_tui.core.protocol import ModelList
from tests.fixtures.models.engine import Engine

ONE = {"GET /v1/models": {"data": [{"id": "one", "context_length": 1_000}]}}
TWO = {"GET /v1/models": {"data": [{"id": "two"}, {"id": "text-embedding-3"}]}}


def no_keyring(_: str) -> None:
    return None


def place(engine: Engine, provider: str = "x") -> Place:
    return Place(provider, engine.url, "k", own_address=True)


class Told:
    def __init__(self) -> None:
        self.counts: list[tuple[int, int]] = []
        self.first = asyncio.Event()
        """One answered, and one is still asked."""
        self.survey = Survey(self.changed)

    def changed(self, models: int, waiting: int) -> None:
        self.counts.append((models, waiting))
        if (models, waiting) == (1, 1):
            self.first.set()

    @property
    def now(self) -> ModelList:
        return self.survey.told


async def test_each_answer_is_told_as_it_comes() -> None:
    gate = asyncio.Event()

    class Slow(Engine):
        async def _answer(self, exchange: Any) -> None:
            await gate.wait()
            await super()._answer(exchange)

    told = Told()
    async with Engine(ONE) as quick, Slow(TWO) as slow:
        looking = asyncio.ensure_future(told.survey.look([place(quick), place(slow, "y")], []))
        async with asyncio.timeout(20):
            await told.first.wait()
        assert [row.label for row in told.now.models] == ["x/one"]
        assert [one.waiting for one in told.now.providers] == [False, True]
        gate.set()
        await looking
    assert told.counts[-1] == (2, 0)
    assert [row.label for row in told.now.models] == ["x/one", "y/two"]


async def test_who_answered_lately_is_not_asked_again_unless_it_is_wanted() -> None:
    now = [0.0]
    survey = Survey(lambda _models, _waiting: None, lambda: now[0])
    async with Engine(ONE) as engine:
        await survey.look([place(engine)], [])
        await survey.look([place(engine)], [])
        assert len(engine.exchanges) == 1
        await survey.look([place(engine)], [], again=True)
        assert len(engine.exchanges) == 2
        now[0] = surveying.KEPT + 1
        await survey.look([place(engine)], [])
        assert len(engine.exchanges) == 3


async def test_who_failed_is_asked_again_and_its_trouble_is_a_sentence() -> None:
    told = Told()
    async with Engine({}) as engine:
        await told.survey.look([place(engine)], [])
        assert told.now.providers[0].problem.endswith("answered 404 when asked for its models.")
        engine.answers = ONE
        await told.survey.look([place(engine)], [])
    assert told.now.providers[0].problem == "" and told.now.providers[0].models == 1


async def test_an_engine_that_is_not_there_is_not_worth_a_word() -> None:
    told = Told()
    await told.survey.look([Place("ollama", "http://127.0.0.1:9/v1", is_local=True)], [])
    assert told.now == ModelList()


async def test_an_engine_that_hangs_floods_or_answers_badly_at_its_own_port_is_told_and_another_port_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(surveying, "LIMIT", 0.5)

    class Hanging(Engine):
        async def _answer(self, exchange: Any) -> None:
            await exchange.client_left()

    class Flooding(Engine):
        async def _answer(self, exchange: Any) -> None:
            await exchange.start()
            with contextlib.suppress(ConnectionError):
                while True:
                    await exchange.write(b'{"models": [' + b" " * 2**16)

    told = Told()
    async with Hanging({}) as hanging, Flooding({}) as flooding, Engine({}) as odd, Engine(ONE) as good:
        places = [("ollama", hanging), ("lmstudio", flooding), ("llamacpp", odd), ("vllm", good)]
        await told.survey.look([Place(name, one.url, is_local=True) for name, one in places], [])
    ollama, lmstudio, vllm = told.now.providers
    assert "did not list its models within 0.5 seconds" in ollama.problem
    assert lmstudio.provider == "lmstudio" and lmstudio.problem
    assert (vllm.provider, vllm.models) == ("vllm", 1)
    assert [row.is_local for row in told.now.models] == [True]


async def test_names_that_nobody_could_read_are_left_out_and_others_made_safe() -> None:
    names = ["\u200b\u200b", "", "\x1b]0;owned\x07x", "a\nb", "y" * 100_000, 5, None]
    told = Told()
    async with Engine({"GET /v1/models": {"data": [{"id": name} for name in names]}}) as engine:
        await told.survey.look([place(engine)], [])
    assert [row.name for row in told.now.models] == ["x", "a b", "y" * 200]


async def test_models_used_lately_come_first_even_where_nobody_lists_them() -> None:
    told = Told()
    async with Engine(ONE) as engine:
        recent = [Known("openai/gpt-4.1"), Known("x/one", engine.url), Known("nobody/knows")]
        await told.survey.look([place(engine)], recent)
    gpt, one = told.now.models
    assert (gpt.label, gpt.recent, gpt.window, gpt.input_price) == ("openai/gpt-4.1", True, 1_000_000, 2.0)
    assert (one.label, one.recent, one.window) == ("x/one", True, 1_000)


async def test_only_providers_with_a_key_are_asked_and_keys_are_named_not_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(PROFILES, "vllm", Profile("vllm", "http://127.0.0.1:9/v1"))
    kept = {"deepseek": "from the keyring"}
    environ = {"OPENAI_API_KEY": "sk-1", "HEL_API_KEY": "sk-2"}
    places = await places_of(environ, kept.get, ("mine", "http://h/v1"))
    asked = {one.provider: (one.base_url, one.key, one.key_source) for one in places if not one.is_local}
    assert asked == {
        "mine": ("http://h/v1", "sk-2", "HEL_API_KEY"),
        "openai": ("https://api.openai.com/v1", "sk-1", "OPENAI_API_KEY"),
        "deepseek": ("https://api.deepseek.com", "from the keyring", "keyring hel deepseek"),
    }
    assert {one.provider for one in places if one.is_local} == {"ollama", "lmstudio", "llamacpp", "vllm"}
    assert not any(key in repr(places) for key in ("sk-1", "sk-2", "from the keyring"))


async def test_what_a_gateway_says_of_price_counts_before_the_table() -> None:
    answer = {"data": [{"id": "a/b", "pricing": {"prompt": "0.000001", "completion": "0.000002"}}]}
    told = Told()
    async with Engine({"GET /v1/models": answer}) as engine:
        await told.survey.look([place(engine)], [])
    (row,) = told.now.models
    assert row.input_price == pytest.approx(1.0) and row.output_price == pytest.approx(2.0)


@pytest.mark.parametrize("number", [socket.EAI_AGAIN, socket.EAI_NONAME])
async def test_without_a_network_every_provider_says_so_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def gone(*_: object, **__: object) -> object:
        raise socket.gaierror(number, "no such name")

    monkeypatch.setattr(socket, "getaddrinfo", gone)
    told = Told()
    await told.survey.look([Place("openai", "https://api.openai.com/v1", "k", "OPENAI_API_KEY")], [])
    assert told.now.providers[0].problem == (
        "There is no network: api.openai.com could not be asked for its models."
    )
