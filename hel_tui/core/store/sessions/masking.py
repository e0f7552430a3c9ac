"""Takes secrets out of records before a byte of them is written, and out of text that still arrives.

Not here: what is a secret (redact).
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from hel_tui.core.store.redact import Redactor
from hel_tui.core.vocabulary import AssistantMessage, Json, Message

_TRIGGERS = (
    *("sk-", "pk-", "rk-", "sk_", "pk_", "rk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    *("glpat-", "xox", "xapp-", "AKIA", "ASIA", "AIza", "hf_", "npm_", "pypi-", "eyJ"),
)
"""How credentials begin that give themselves away by their shape (see redact)."""
_LONGEST = 4096
_SAID = frozenset({"text", "thinking", "summary"})
"""Fields of what a provider gets back that hold words of the model."""
_BEGUN = sorted(
    {word[:length] for word in _TRIGGERS for length in range(1, len(word))}, key=len, reverse=True
)
_TOKEN = re.compile(
    rf"(?<![A-Za-z0-9])(?:(?:{'|'.join(_TRIGGERS)})[A-Za-z0-9_.-]{{0,{_LONGEST}}}|(?:{'|'.join(_BEGUN)}))\Z"
)


def masked(record: Json, redactor: Redactor) -> Json:
    """The record without secrets. Arguments of calls stay JSON. In what a provider gets back (`extra`) the
    model's words lose all; signatures and the like look like anything, and lose known secrets only.
    """
    extra = record.get("extra")
    calls = record.get("calls")
    out: Json = redactor.data(
        {name: value for name, value in record.items() if name not in ("extra", "calls")}
    )
    if calls is not None:
        out["calls"] = [[*map(redactor, call[:-1]), _arguments(call[-1], redactor)] for call in calls]
    if extra is not None:
        out["extra"] = _given_back(extra, redactor)
    return out


def _arguments(text: str, redactor: Redactor) -> str:
    hidden = redactor(text)
    if hidden == text:
        return text
    try:
        json.loads(hidden)
    except (ValueError, RecursionError):
        try:
            return json.dumps(_numbers(redactor.data(json.loads(text)), redactor), ensure_ascii=False)
        except (ValueError, RecursionError):
            return hidden
    return hidden


def _numbers(value: Any, redactor: Redactor) -> Any:
    """A JSON value in which no number is a known secret either."""
    if isinstance(value, dict):
        return {key: _numbers(item, redactor) for key, item in value.items()}
    if isinstance(value, list):
        return [_numbers(item, redactor) for item in value]
    if isinstance(value, int | float) and redactor(str(value)) != str(value):
        return redactor(str(value))
    return value


def _given_back(value: Any, redactor: Redactor, name: str = "") -> Any:
    """The same without secrets. What is signed and has one is left out: changed, it would be refused."""
    if isinstance(value, str):
        return redactor(value) if name in _SAID else redactor.known(value)
    if isinstance(value, dict):
        shown = {key: _given_back(item, redactor, key) for key, item in value.items()}
        is_changed = any(shown[key] != value[key] for key in _SAID & value.keys())
        if is_changed and value.get("signature"):
            return None
        return {key: item for key, item in shown.items() if item is not None or value[key] is None}
    if isinstance(value, list | tuple):
        shown_items = [_given_back(item, redactor) for item in value]
        return [item for item in shown_items if item is not None]
    return value


def without_known(message: Message, redactor: Redactor) -> Message:
    """The message without values that are known to be secret now, and may not have been when it was kept."""
    text = redactor.known(message.text)
    if not isinstance(message, AssistantMessage):
        return message if text == message.text else replace(message, text=text)
    shown = replace(
        message,
        text=text,
        reasoning=redactor.known(message.reasoning),
        calls=tuple(replace(one, arguments=_arguments(one.arguments, redactor)) for one in message.calls),
        extra=_given_back(dict(message.extra), redactor),
    )
    return message if shown == message else shown


class Veil:
    """Text that arrives in pieces, passed on without known secrets even where pieces part them.

    Only what may be the beginning of a secret is held back, until more has come.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = ""

    def take(self, piece: str) -> str:
        """Take the next piece; returns what can be shown now."""
        text = self._held + piece
        cut = self._redactor.open_end(text)
        if (token := _TOKEN.search(text, max(0, len(text) - _LONGEST))) is not None:
            cut = min(cut, token.start())
        shown, self._held = text[:cut], text[cut:]
        return self._redactor.known(shown)

    def end(self) -> str:
        """No more comes: returns what was held back."""
        rest, self._held = self._held, ""
        return self._redactor.known(rest)
