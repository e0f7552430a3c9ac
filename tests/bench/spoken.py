"""What is said while a turn runs, and whether all of it is there once after kills.

`Speaker` says things in the process that shows a session; `Said` compares, from outside, what was on the screen
with what the session has and what its model gets. Not here: killing (kills).
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from hel_tui.core import protocol as p
from hel_tui.core.store.sessions.reading import read_session
from hel_tui.core.vocabulary import UserMessage

MOST = 5
"""Things that are said in one run, so that it ends."""
_SHARED = "I called a tool myself"


class Speaker:
    """By chance: Enter and Alt+Q while a turn runs, a call by hand that the model is to know of, and at the
    beginning the order to send what is held.
    """

    def __init__(self, seed: str, send: Callable[[p.Command], None], tool: str) -> None:
        self._random = random.Random(seed)
        self._seed = seed
        self._send = send
        self._tool = tool
        self._number = 0
        self._runs = False

    def hear(self, event: p.Event) -> None:
        """Something happened on the screen: say something, or not."""
        if not self._seed:
            return
        if isinstance(event, p.SessionRestored) and self._random.random() < 0.7:
            self._send(p.SendQueue())
        if isinstance(event, p.TurnStarted | p.TurnEnded):
            self._runs = isinstance(event, p.TurnStarted)
        kinds = (p.StepStarted, p.CallChanged, p.TextDelta)
        if not self._runs or self._number >= MOST or not isinstance(event, kinds):
            return
        if self._random.random() < (0.02 if isinstance(event, p.TextDelta) else 0.2):
            self._number += 1
            self._speak(f"{self._seed}-{self._number}")

    def _speak(self, name: str) -> None:
        match self._random.randrange(5):
            case 0 | 1:
                self._send(p.Submit(f"say {name}"))
            case 2 | 3:
                self._send(p.Submit(f"say {name}", later=True))
            case _:
                arguments = json.dumps({"id": f"hand-{name}"})
                self._send(p.CallTool(self._tool, arguments, share=True))


class Said:
    """What the person of one session said, as far as it was on the screen."""

    def __init__(self) -> None:
        self.texts: dict[str, None] = {}
        """In the order in which they were there."""
        self.held = 0
        """How often something said was found held."""

    def hear(self, events: Iterable[dict[str, Any]]) -> None:
        """What a screen showed. What is given back into the prompt is not the session's any more."""
        turns: dict[int, str] = {}
        for event in events:
            match event:
                case {"kind": "TurnStarted", "turn": turn, "text": text}:
                    turns[turn] = text
                    self.texts |= {text: None} if text else {}
                case {"kind": "Joined", "text": text}:
                    self.texts[text] = None
                case {"kind": "Queued", "texts": texts}:
                    self.texts |= dict.fromkeys(texts)
                case {"kind": "TurnEnded", "turn": turn, "give_back": True}:
                    self.texts.pop(turns.get(turn, ""), None)
                case _:
                    pass

    def problems(self, folder: Path) -> Iterator[str]:
        """What is lost or doubled in the session in `folder`, which was opened and killed."""
        kept = read_session(folder)
        told = [one.text for one in kept.messages if isinstance(one, UserMessage)]
        held = [str(one.get("text")) for one in kept.waiting.values()]
        self.held += len(held)
        for text in self.texts:
            if told.count(text) + held.count(text) != 1:
                yield f"{text!r}: {told.count(text)} times told, {held.count(text)} times held"
        yield from twice(told)


def twice(told: Sequence[str]) -> Iterator[str]:
    """What a model hears more than once; each thing that is said has a number of its own."""
    shared = [text for text in told if text.startswith(_SHARED)]
    for text in {one for one in told if one.startswith("say ")} | set(shared):
        if (count := told.count(text)) > 1:
            yield f"{text[:80]!r} is told {count} times"
