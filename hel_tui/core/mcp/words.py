"""Text of any script as terms that can be looked up: the same for a tool's words and for a query.

Pure and bounded, whatever the text. Not here: what terms are worth (search), words of other languages that
mean the same (glossary).
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator

MOST_CHARACTERS = 20_000
"""Of a text; what follows is not looked at."""
MOST_TERMS = 4_000
LONGEST_TERM = 40
"""Characters of a word that count: longer ones are data, not language."""

_BIGRAM_SCRIPTS = (
    "\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"  # Kana
    "\u0e01-\u0e4e\u0e80-\u0ece\u1000-\u1049\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer
)
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0df3"
"""Parts of words that are no letters: accents, vowels of Hebrew and Arabic, signs of the scripts of India."""
_RUN = re.compile(rf"([{_BIGRAM_SCRIPTS}]+)|((?:[^\W_{_BIGRAM_SCRIPTS}]|[{_MARKS}])+)")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
"""The parts of `camelCase2HTTPServer`."""
_LATIN = re.compile(r"[a-z]+")
_VOWEL = re.compile(r"[aeiouy]")

_STOP = """
a about all also am an and any are as at be been but by can could did do does for from give had has have he
her his how i if in into is it its just let like may me might must my need of on or our please shall she
should so some such than that the their them then there these they this those to tool us use used using want
was we were what when where which who why will with would you your
"""
STOP = frozenset(_STOP.split())
"""English words that say nothing of what a tool does."""


def terms(text: str) -> list[str]:
    """The terms of a text in its order, repeated ones too.

    Compatibility forms and case do not count. A word gives its stem, and where it is an identifier
    (`camelCase`, `base64`) its parts too; scripts without spaces, and Hangul with its endings, give pairs
    of characters, or the one that stands alone. Every term is among its own terms. At most `MOST_TERMS`.
    """
    found: list[str] = []
    for _, of_word in surfaces(text):
        found += of_word
        if len(found) >= MOST_TERMS:
            return found[:MOST_TERMS]
    return found


MOST_MARKS = 8
"""Combining marks on one character that count; no script has more."""


def surfaces(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each word of a text as it is read (NFKC), with its terms; words that have none are left out."""
    text = _few_marks(text[:MOST_CHARACTERS])
    text = unicodedata.normalize("NFKC", text)[:MOST_CHARACTERS]
    for match in _RUN.finditer(text):
        word = match[0]
        of_word = _pairs(word) if match[1] else _of_word(word[:LONGEST_TERM])
        if of_word:
            yield word, of_word


def _few_marks(text: str) -> str:
    """At most `MOST_MARKS` combining marks in a row: normalizing sorts them, at a cost of their square."""
    if text.isascii():
        return text
    kept: list[str] = []
    row = 0
    for character in text:
        row = row + 1 if unicodedata.combining(character) else 0
        if row <= MOST_MARKS:
            kept.append(character)
    return "".join(kept)


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [run]
    return [run[start : start + 2] for start in range(len(run) - 1)]


@functools.lru_cache(maxsize=8192)
def _terms_of_word(word: str) -> tuple[str, ...]:
    word = _plain(word)
    whole = _stem(_fold(word))
    parts = [_stem(_fold(part)) for part in _PART.findall(word)] if word.isascii() else []
    every = [whole, *parts] if len(parts) > 1 else [whole]
    return tuple(dict.fromkeys(term for term in every if term and term not in STOP))


def _of_word(word: str) -> list[str]:
    return list(_terms_of_word(word))


def _fold(word: str) -> str:
    return _plain(unicodedata.normalize("NFKC", word.casefold()))


def _plain(word: str) -> str:
    """Latin letters without their accents: `Café` is `Cafe`. Other writing keeps its marks."""
    if word.isascii():
        return word
    apart = unicodedata.normalize("NFD", word)
    bare = "".join(character for character in apart if not unicodedata.combining(character))
    return bare if bare.isascii() else word


def _stem(word: str) -> str:
    """An English word without its ending; other words as they are. A stem is its own stem."""
    if word in STOP or not _LATIN.fullmatch(word):
        return word
    while (shorter := _shorter(word)) != word:
        word = shorter
    return word


def _shorter(word: str) -> str:
    """One ending less: plural, -ing, -ed, -ion, final e."""
    if len(word) < 4:
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 and _VOWEL.search(rest):
            return rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "lsz" else rest
    if word.endswith(("tion", "sion")) and len(word) > 6:
        return word[:-3]
    if word.endswith("e") and len(word) > 4:
        return word[:-1]
    return word
