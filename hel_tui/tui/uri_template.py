"""URI templates (RFC 6570) filled in with what a person typed: every operator, values are strings.

Explode and lists make no difference to a single string; a prefix (`{name:3}`) does. Not here: asking.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote

_EXPRESSION = re.compile(r"\{([+#./;?&]?)([^{}]*)\}")
_VARIABLE = re.compile(r"([^:*]*)(?::([0-9]{1,4}))?\*?")
_ENCODED = re.compile(r"(%[0-9A-Fa-f]{2})")
_RESERVED = ":/?#[]@!$&'()*+,;="
_RULES: dict[str, tuple[str, str, str]] = {
    "": ("", ",", ""),
    "+": ("", ",", _RESERVED),
    "#": ("#", ",", _RESERVED),
    ".": (".", ".", ""),
    "/": ("/", "/", ""),
    ";": (";", ";", ""),
    "?": ("?", "&", ""),
    "&": ("&", "&", ""),
}
"""Per operator: what stands first, what stands between, and which characters stay beside the unreserved."""


def needed(template: str) -> frozenset[str]:
    """The variables without which `template` gives no address: `{x}` and `{+x}`; a query may lack some."""
    return frozenset(
        (match[1] if (match := _VARIABLE.fullmatch(spec.strip())) else spec.strip())
        for operator, names in _EXPRESSION.findall(template)
        if operator in ("", "+")
        for spec in names.split(",")
    )


def expand(template: str, values: Mapping[str, str]) -> str:
    """`template` with its variables filled in; those without a value are left out with what names them."""

    def expression(match: re.Match[str]) -> str:
        operator, names = match.groups()
        first, between, safe = _RULES[operator]
        found = (_part(operator, name.strip(), safe, values) for name in names.split(","))
        parts = [part for part in found if part is not None]
        return first + between.join(parts) if parts else ""

    return _EXPRESSION.sub(expression, template)


def _part(operator: str, spec: str, safe: str, values: Mapping[str, str]) -> str | None:
    match = _VARIABLE.fullmatch(spec)
    name, prefix = match.groups() if match else (spec, None)
    value = values.get(name)
    if value is None:
        return None
    text = _quoted(value[: int(prefix)] if prefix else value, safe)
    if operator not in (";", "?", "&"):
        return text
    return f"{name}={text}" if text or operator != ";" else name


def _quoted(value: str, safe: str) -> str:
    """Percent-encoded; where reserved characters stay, what is encoded already does, too."""
    if not safe:
        return quote(value, safe="")
    pieces = _ENCODED.split(value)
    return "".join(piece if index % 2 else quote(piece, safe=safe) for index, piece in enumerate(pieces))
