"""Every sentence the screen says, by key and language.

`t("key", name=value)` is the one way to text a person reads. Not here: foreign text, and what the core
says in its own sentences (notices, reasons), which arrive finished.
"""

from __future__ import annotations

import locale
import os

from hel_tui.tui.strings.en import ENGLISH

LANGUAGES = ("en", "ko")
COUNTS = ("n", "limit", "steps")
"""Placeholders for numbers that have a form for one."""
_current: dict[str, str] = ENGLISH
_name = "en"


def catalogue(language: str) -> dict[str, str]:
    """All strings of a language; English for one that is not known."""
    if language == "ko":
        from hel_tui.tui.strings.ko import KOREAN

        return KOREAN
    return ENGLISH


def preferred() -> str:
    """The language to start in: HEL_LANG, else the locale's, else English."""
    wish = os.environ.get("HEL_LANG") or _locale()
    language = wish.lower().replace("_", "-").split("-")[0].split(".")[0]
    return language if language in LANGUAGES else "en"


def _locale() -> str:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name):
            return value
    return locale.getlocale()[0] or ""


def use(language: str) -> None:
    """Speak this language from now on."""
    global _current, _name
    _current, _name = catalogue(language), language if language in LANGUAGES else "en"


def language() -> str:
    """The language spoken now."""
    return _name


def t(key: str, /, **values: object) -> str:
    """The string `key` with its placeholders filled. Raises KeyError for a key nobody wrote.

    Where a count (`n`, or another of `COUNTS`) is 1 and the language has a form for it, that is `key.one`.
    """
    text = _current[key]
    if any(values.get(name) in (1, "1") for name in COUNTS):
        text = _current.get(f"{key}.one", text)
    return text.format(**values) if values else text
