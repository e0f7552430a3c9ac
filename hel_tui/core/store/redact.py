"""Taking credentials out of text: values that are known, and shapes that give themselves away.

Used where text leaves for a file, a log or a screen. Not here: which text is shown or kept (record, logs).
"""

from __future__ import annotations

import json
import re
import shlex
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

MARK = "‹redacted›"
MIN_SECRET = 6
"""Shorter values are not looked for: they would blank out ordinary text."""
MARGIN = 4096
"""Characters behind a cut that are looked at, at most: a secret may lie across it."""
LEAST_MARGIN = 1024
"""As many, at least: what gives itself away by its shape does so within them."""
_LONGEST_WORD = 16
_STAND_INS = frozenset({"ollama", "lm-studio", "lmstudio", "not-needed", "no-key", "no-key-required"})
"""What people write where a program insists on a key that no server wants: no secrets, but words that
conversations have.
"""

_VARIABLE = re.compile(r"(?:\$\{[^{}]*\}|\$[A-Za-z_]\w*)")
_SECRET_WORDS = frozenset(
    {"auth", "authorization", "bearer", "cookie", "credential", "credentials", "key", "passwd", "password"}
    | {"passphrase", "pat", "secret", "token", "apikey", "accesstoken", "authtoken"}
    | {"pass", "pwd", "pw", "passcode", "dsn"}
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

# Each shape is looked for only where one of its triggers stands in the lower-cased text; group `keep` stays.
# Quantifiers are bounded or over classes that exclude what follows: matching is linear.
_SHAPES: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (tuple(triggers.split()), re.compile(pattern))
    for triggers, pattern in (
        ("sk- pk- rk-", r"(?<![A-Za-z0-9])[spr]k-[A-Za-z0-9_-]{16,}"),
        ("_live_ _test_", r"(?<![A-Za-z0-9])[spr]k_(?:live|test)_[A-Za-z0-9]{10,}"),
        ("ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{16,}"),
        ("github_pat_ glpat-", r"(?:github_pat_|glpat-)[A-Za-z0-9_-]{16,}"),
        ("xox xapp-", r"(?:xox[a-z]|xapp)-[A-Za-z0-9-]{8,}"),
        ("akia asia", r"(?<![A-Za-z0-9])A(?:KIA|SIA)[0-9A-Z]{16}"),
        ("aiza", r"AIza[A-Za-z0-9_-]{30,}"),
        ("hf_ npm_ pypi-", r"(?<![A-Za-z0-9])(?:hf_|npm_|pypi-)[A-Za-z0-9_-]{20,}"),
        ("eyj", r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?"),
        ("private key", r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,30}-----)?"),
        (
            "authorization api-key cookie",
            r"(?i)(?P<keep>(?:authorization|api-key|cookie)[\"']?\s{0,3}[:=]\s{0,3}[\"']?"
            r"(?:(?:bearer|basic|token)\s{1,3})?)[^\s\"';]{3,}(?:;\s?[^\s\"';=]{1,64}=[^\s\"';]{1,4096}){0,50}",
        ),
        ("bearer", r"(?i)(?P<keep>\bbearer\s{1,3})(?=[A-Za-z._~+/=-]{0,200}[0-9])[A-Za-z0-9._~+/=-]{8,}"),
        (
            "passw pwd secret token key passphrase",
            r"(?i)(?P<keep>(?<!progress)(?:password|passwd|pwd|passphrase|secret|token|api_?key|access_?key|private_?key)"
            r"(?:_[a-z0-9_]{1,24})?(?:=|[\"']\s{0,3}:\s{0,3})[\"']?)(?![0-9]{1,9}\b|\$)[^\s\"'&,;<>{}\[\]()]{4,}",
        ),
        (
            "key= sig= signature= token= auth= pwd=",
            r"(?i)(?P<keep>[?&;](?:[a-z_]{0,20}(?:key|token|sig|signature|auth|pwd))=)[^&\s\"'#;]{6,}",
        ),
        ("://", r"(?P<keep>://[^\s/@:?#\"']{0,128}:)[^\s/@\"']{1,512}(?=@)"),
    )
)
_TRIGGERS = tuple((trigger, at) for at, (triggers, _) in enumerate(_SHAPES) for trigger in triggers)
"""In the order of the shapes: it runs for every message, and mostly finds none."""


class Redactor:
    """Replaces known secrets and secret shapes by `‹redacted›`. Reading is safe from any thread."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values: tuple[str, ...] = ()
        self._telling: tuple[str, ...] = ()
        """Those that are no plain words."""
        self._firsts: dict[str, tuple[str, ...]] = {}
        """The values by their first character."""
        self.margin = LEAST_MARGIN
        """Characters behind a cut that are to be looked at for what is known."""
        self._longest = 0
        self._adding = threading.Lock()
        self.add(*values)

    def add(self, *values: str) -> None:
        """Know further secret values: also as they look in JSON and in a URL, and line by line."""
        known: set[str] = set()
        for value in values:
            if value.strip().lower() in _STAND_INS:
                continue
            for piece in {value, *value.splitlines()}:
                known |= {
                    piece,
                    piece.strip(),
                    json.dumps(piece)[1:-1],
                    quote(piece, safe="", errors="replace"),
                }
        with self._adding:  # servers and models bring theirs from several threads
            known |= set(self._values)
            self._values = tuple(sorted(value for value in known if len(value) >= MIN_SECRET))
            self._telling = tuple(value for value in self._values if not _is_word(value))
            firsts = {value[0] for value in self._values}
            self._firsts = {
                first: tuple(value for value in self._values if value[0] == first) for first in firsts
            }
            longest = max(map(len, self._values), default=0)
            self._longest = longest
            self.margin = min(max(longest, LEAST_MARGIN), MARGIN)

    def known(self, text: str) -> str:
        """Return `text` without known values; shapes stay, so that source code stays what it is.

        A value that is a plain word, such as `postgres`, stays too: it would be cut out of every sentence.
        """
        return _without(text, self._telling)

    def open_end(self, text: str) -> int:
        """Return where at the end of `text` a known value may begin that goes on behind it; its length for
        nowhere. No whole value lies across that place.
        """
        at = self._begun(text)
        for value in self._values if at < len(text) else ():
            for start, stop in _places(text, value):
                if start < at < stop:
                    return self.open_end(text[:start])
        return at

    def _begun(self, text: str) -> int:
        """Where a value begins that the end of `text` cuts off, at the earliest; else its length."""
        for at in range(max(0, len(text) - self._longest + 1), len(text)):
            rest = text[at:]
            for value in self._firsts.get(text[at], ()):
                if len(value) > len(rest) and value.startswith(rest):
                    return at
        return len(text)

    def __call__(self, text: str) -> str:
        """Return `text` without known values and without what looks like a credential."""
        text = _without(text, self._values)
        lower = text.lower()
        hits = [at for trigger, at in _TRIGGERS if trigger in lower]
        for at in dict.fromkeys(hits):
            text = _SHAPES[at][1].sub(_keep, text)
        return text

    def data(self, value: Any, name: str = "") -> Any:
        """Return JSON-like `value` with every text in it redacted, keys too; it stays valid JSON.

        A text under a key that names a credential is replaced whole.
        """
        if isinstance(value, str):
            return MARK if _names_one(name) and _is_literal(value) else self(value)
        if isinstance(value, Mapping):
            return {self(str(key)): self.data(item, str(key)) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.data(item, name) for item in value]
        return value


def _places(text: str, value: str) -> Iterable[tuple[int, int]]:
    at = text.find(value)
    while at >= 0:
        yield at, at + len(value)
        at = text.find(value, at + 1)


def _without(text: str, values: Iterable[str]) -> str:
    found = [value for value in values if value in text]
    return _cut(text, [span for value in found for span in _places(text, value)]) if found else text


def _is_word(value: str) -> bool:
    return value.isalpha() and len(value) < _LONGEST_WORD


def _cut(text: str, spans: list[tuple[int, int]]) -> str:
    """Return `text` with each run of overlapping spans replaced by one mark."""
    out: list[str] = []
    end = 0
    for start, stop in sorted(spans):
        if start >= end:
            out += (text[end:start], MARK)
        end = max(end, stop)
    return "".join((*out, text[end:]))


def _keep(found: re.Match[str]) -> str:
    return (found.groupdict().get("keep") or "") + MARK


_SHAPES_ONLY = Redactor()


def head(text: str, length: int, mask: Callable[[str], str]) -> str:
    """Return how `text` begins, at most `length` characters, with secrets taken out by `mask`.

    A secret across the cut shows nothing of itself either, unless it is longer than `MARGIN`.
    """
    margin = mask.margin if isinstance(mask, Redactor) else MARGIN
    if len(text) < length + margin:
        return mask(text)[:length]
    return mask(text[: length + margin])[:-margin][:length]


def json_text(text: str, mask: Callable[[str], str]) -> str:
    """JSON text without the secrets that `mask` takes out, also where JSON writes their characters otherwise.

    A value may stand there with `\\/` or `\\u0041` in it, or in JSON that is itself a text. What has nothing
    of the kind stays as it was written; text that is no JSON is masked as text.
    """
    plain = mask(text)
    if "\\" not in plain:
        return plain
    try:
        value = json.loads(plain)
        hidden = _inside(value, mask, _NESTED)
        return plain if hidden == value else json.dumps(hidden, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        return mask(_ESCAPED.sub(_unescaped, plain))


def _inside(value: Any, mask: Callable[[str], str], levels: int) -> Any:
    """A JSON value with `mask` applied to its texts and keys, and to texts in texts that are JSON."""
    if isinstance(value, str):
        shown = mask(value)
        if levels and "\\" in shown and shown.lstrip()[:1] in ("{", "["):
            try:
                inner = json.loads(shown)
                hidden = _inside(inner, mask, levels - 1)
            except (ValueError, RecursionError):
                return shown
            return shown if hidden == inner else json.dumps(hidden, ensure_ascii=False)
        return shown
    if isinstance(value, dict):
        return {mask(key): _inside(item, mask, levels) for key, item in value.items()}
    return [_inside(item, mask, levels) for item in value] if isinstance(value, list) else value


_NESTED = 3
"""Levels of JSON in texts of JSON that are looked into."""
_ESCAPED = re.compile(r"\\(?:/|u00[2-7][0-9a-fA-F])")


def _unescaped(found: re.Match[str]) -> str:
    """A plain character that JSON wrote in a roundabout way; of a quote and a backslash the escape stays."""
    text = found[0]
    char = "/" if text == "\\/" else chr(int(text[2:], 16))
    return text if char in ('"', "\\") else char


def redact_shapes(text: str) -> str:
    """Return `text` without what looks like a credential, no value being known."""
    return _SHAPES_ONLY(text)


def looks_like_secret(name: str, value: str) -> bool:
    """Return whether `value`, kept under `name`, is a credential written out: by its name or its shape.

    A reference such as `${TOKEN}` is none; neither is a value too short to matter or a plain small number.
    """
    if not _is_literal(value):
        return False
    return redact_shapes(value) != value or (_names_one(name) and not value.startswith(("/", "~", "./")))


def _is_literal(value: str) -> bool:
    """Return whether enough is left of `value` without its variables and its scheme to be a credential."""
    written = _VARIABLE.sub("", value).strip()
    return len(written) >= MIN_SECRET and written.lower() not in ("bearer", "basic", "token")


def _names_one(name: str) -> bool:
    words = [word.lower() for word in _WORDS.findall(name) if not word.isdigit()]
    is_plain_key = words == ["key"] and name != "KEY"  # of JSON; a variable of that name holds one
    return bool(words) and words[-1] in _SECRET_WORDS and not is_plain_key


def secrets_in(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of an environment (or of `env`, of `headers`) that look like credentials."""
    return tuple(value for name, value in environ.items() if looks_like_secret(name, value))


def command_line(command: str, args: Sequence[str]) -> str:
    """Return the whole command line, quoted for a shell, with credentials masked."""
    return shlex.join(masked_words((command, *args)))


def masked_words(words: Sequence[str]) -> list[str]:
    """Return the words of a command line with credentials masked."""
    return [shown for shown, _ in _words(words)]


def secret_words(words: Sequence[str]) -> tuple[str, ...]:
    """Return the credentials among the words of a command line, where an option names them."""
    return tuple(value for _, value in _words(words) if value)


def _words(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each word as shown, and the credential that was in it: `--token VALUE`, `--token=VALUE`."""
    option = ""
    for word in words:
        name, equals, value = word.partition("=")
        if option and not word.startswith("-") and looks_like_secret(option, word):
            yield MARK, word
        elif equals and looks_like_secret(name, value):
            yield f"{name}={MARK}", value
        else:
            yield redact_shapes(word), ""
        option = word.lstrip("-") if word.startswith("-") and not equals else ""


def mask_value(value: str) -> str:
    """Return what a screen shows for a value: dots, or the value when it is only a variable reference."""
    if not value:
        return "(empty)"
    return value if _VARIABLE.fullmatch(value) else "••••••"
