"""Which values of headers are credentials, to be kept out of everything that is shown or written.

Ordinary values are not: a media type or a date would be cut out of every result. Not here: cutting
(store.redact).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from hel_tui.core.store.redact import MIN_SECRET, looks_like_secret

_SCHEMES = frozenset({"bearer", "basic", "token", "digest", "apikey", "negotiate"})
_WORDS = frozenset({"session", "signature", "jwt", "csrf", "xsrf"})
"""Words that make a header's name one of a credential, besides those that `looks_like_secret` knows."""


_COOKIES = ("cookie", "set-cookie")


def header_secrets(headers: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the credentials in `headers`: by the name, the scheme or the shape; a scheme itself is none."""
    return tuple(_secrets(headers))


def _secrets(headers: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, value in headers:
        said = value.strip()
        scheme, _, rest = said.partition(" ")
        is_named = looks_like_secret(name, said) or not _WORDS.isdisjoint(re.findall(r"[a-z]+", name.lower()))
        if name.lower() in _COOKIES:
            yield from _cookies(said, only_first=name.lower() == "set-cookie")
        if rest and (is_named or scheme.lower() in _SCHEMES):
            yield rest.strip()
        if is_named or (rest and scheme.lower() in _SCHEMES):
            yield said


def _cookies(said: str, *, only_first: bool) -> Iterator[str]:
    """The values of cookies; what a server says of one besides (path, lifetime) is no credential."""
    for part in said.split(";")[: 1 if only_first else None]:
        _name, equals, value = part.strip().partition("=")
        if equals and len(value) >= MIN_SECRET:
            yield value
