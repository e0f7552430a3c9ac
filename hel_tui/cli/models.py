"""`hel models`: the models there are to choose from, of providers with a key and engines on this machine.

Not here: asking for them (core.models.surveying), choosing one (`--model`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from hel_tui.cli.common import Exit, Parser, check_home
from hel_tui.foreign import printable

if TYPE_CHECKING:
    from hel_tui.core.protocol import ModelList, ModelRow

NAME_WIDTH = 44


def parser() -> Parser:
    """The options of `hel models`."""
    made = Parser(
        prog="hel models",
        description="List the models of every provider whose key is there, of engines that run on this "
        "machine, and those used lately.",
        epilog="Exit status: 0 there are some; 1 there are none.",
    )
    made.add_argument("words", nargs="*", metavar="WORD", help="only those with all these in their names")
    made.add_argument(
        "--base-url", metavar="URL", help="ask this endpoint only; its key comes from HEL_API_KEY"
    )
    made.add_argument("--json", action="store_true", help="one JSON object: providers, models")
    return made


def main(argv: Sequence[str]) -> int:
    """Run `hel models`; returns the exit status."""
    made = parser()
    args = made.parse_args(list(argv))
    check_home(made)
    return run(args)


def run(args: argparse.Namespace) -> int:
    """Ask, wait for all, print."""
    told = asyncio.run(_told(args.base_url))
    words = [word.casefold() for word in args.words]
    rows = [row for row in told.models if all(word in row.label.casefold() for word in words)]
    if args.json:
        providers = [asdict(one) for one in told.providers]
        models = [{"label": row.label, **asdict(row)} for row in rows]
        sys.stdout.write(json.dumps({"providers": providers, "models": models}, indent=2) + "\n")
    else:
        _print(told, rows)
        if told.models and not rows:
            wanted = printable(" ".join(args.words))[:80]
            sys.stderr.write(f"hel models: no name of {len(told.models)} has {wanted} in it.\n")
    return Exit.DONE if rows else Exit.FAILED


async def _told(base_url: str | None) -> ModelList:
    from hel_tui.core.models.choose import base_url_of
    from hel_tui.core.models.profiles import GENERIC
    from hel_tui.core.models.surveying import Known, Survey, places_of
    from hel_tui.core.store.memory import recall
    from hel_tui.core.store.places import find_places
    from hel_tui.core.store.secrets import keyring_value

    own = (GENERIC, base_url_of(base_url)) if base_url else ("", "")
    places = await places_of(os.environ, (lambda _name: None) if base_url else keyring_value, own)
    if base_url:
        places = tuple(place for place in places if place.own_address)
    recent = () if base_url else recall(find_places(os.environ)).recent
    survey = Survey(lambda _models, _waiting: None)
    await survey.look(places, [Known(label, url) for label, url in recent])
    return survey.told


def _print(told: ModelList, rows: list[ModelRow]) -> None:
    for row in rows:
        sys.stdout.write(printable(_line(row)).rstrip() + "\n")
    for provider in told.providers:
        if provider.problem:
            sys.stderr.write(f"hel models: {printable(provider.problem)}\n")
    if not told.providers and not rows:
        sys.stderr.write(
            "hel models: no key and no engine on this machine were found; `hel help models` tells more.\n"
        )


def _line(row: ModelRow) -> str:
    """Name, window, price, what it can."""
    from hel_tui.tui.text.figures import dollars, short_tokens

    price = "on this machine" if row.is_local else "price unknown"
    if row.input_price is not None and row.output_price is not None:
        price = f"${dollars(row.input_price)}/{dollars(row.output_price)}"
    facts = (
        "loaded" if row.loaded else "",
        "no tools" if row.tools is False else "one call at a time" if row.parallel is False else "",
        "sees" if row.sees else "",
        f"thinks ({', '.join(row.efforts)})" if row.efforts else "thinks" if row.thinks else "",
        f"at {row.base_url}" if row.base_url else "",
        "used lately" if row.recent else "",
    )
    name = f"{row.label:<{NAME_WIDTH}}"
    return f"{name} {short_tokens(row.window) or '?':>6}  {price:<15} {', '.join(filter(None, facts))}"
