"""The contents of a resource as rows, each shown by its MIME type.

What is looked at, cleaned, parsed and laid out is cut first: a resource may be of any size. Not here: reading
a resource (core), the view (widgets/rows_view).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from hel_tui.core import protocol as p
from hel_tui.tui.safe import clean, one_line
from hel_tui.tui.sizes import size_text
from hel_tui.tui.strings import t
from hel_tui.tui.text.cards import cut_rows, looks_like, plain_rows, source_rows
from hel_tui.tui.text.json_text import indented
from hel_tui.tui.text.lines import BOLD, MUTED, TEXT, Ink, Line, fitted, wrap
from hel_tui.tui.text.markdown import render_markdown

MOST = 200_000
"""Characters that are shown of all contents together: more would hold up the screen."""
_LANGUAGES = {"javascript": "js", "x-python": "python", "x-sh": "bash", "x-yaml": "yaml", "svg+xml": "xml"}

Layout = Callable[[int], list[Line]]
"""From a width to rows."""


def content_layout(contents: Sequence[p.ResourceContent]) -> Layout:
    """All contents of a resource below one another, each with its own address where there are several.

    Cleaning and parsing are done here, once; a new width costs only the breaking of lines.
    """
    layouts: list[Layout] = []
    room = MOST
    for content in contents:
        layouts.append(_content(content, room))
        room = max(room - len(content.text), 0)
    addresses = [content.uri[:2_000] for content in contents] if len(contents) > 1 else []

    def rows(width: int) -> list[Line]:
        out: list[Line] = []
        for index, layout in enumerate(layouts):
            if addresses:
                out += [Line()] if out else []
                out.append(fitted([(one_line(addresses[index], width), Ink("text", BOLD))], width))
            out += layout(width)
        return out

    return rows


def _content(content: p.ResourceContent, room: int) -> Layout:
    notes: list[str] = []
    if content.text:
        hidden = len(content.text) - room
        text = _text(content.mime, clean(content.text[:room]), is_whole=hidden <= 0)
        notes += [t("resource.cut", n=f"{hidden:,}")] if hidden > 0 else []
    elif content.size or content.saved:
        text = _wrapped(_binary(content), TEXT)
    else:
        return lambda _width: [Line([(t("resource.empty"), MUTED)])]
    if content.saved:
        notes.append(t("resource.saved", path=clean(content.saved, newlines=False)))
    below = [_wrapped(note, MUTED) for note in notes]
    return lambda width: [row for layout in (text, *below) for row in layout(width)]


def _wrapped(text: str, ink: Ink) -> Layout:
    return lambda width: wrap([(text, ink)], width)


def _binary(content: p.ResourceContent) -> str:
    """What is known of a content that is not text, on one line."""
    kind, _, sub = content.mime.partition("/")
    known = kind in ("image", "audio")
    shown = clean(sub if known else content.mime or "application/octet-stream", newlines=False)[:60]
    key = f"resource.{kind}" if known else "resource.binary"
    measure = {"measure": clean(content.measure, newlines=False)} if kind == "image" else {}
    return " ".join(t(key, kind=shown, size=size_text(content.size), **measure).split())


def _text(mime: str, text: str, *, is_whole: bool) -> Layout:
    """Markdown rendered, JSON laid out, code coloured, the rest as it is."""
    mime = mime.partition(";")[0].strip().lower()
    sub = mime.partition("/")[2]
    if mime == "text/markdown" or sub == "x-markdown":
        return lambda width: cut_rows(text, width, render_markdown)
    if sub == "json" or sub.endswith("+json"):
        shown = indented(text) if is_whole and _is_json(text) else text
        return lambda width: source_rows("json", shown, width)
    if mime in ("", "text/plain"):
        return _plain(mime, text)
    return lambda width: source_rows(_LANGUAGES.get(sub, sub), text, width)


def _plain(mime: str, text: str) -> Layout:
    """Text of no particular type, by what it looks like; what is called plain is no Markdown."""
    match looks_like(text):
        case "json":
            shown = indented(text)
            return lambda width: source_rows("json", shown, width)
        case "diff":
            return lambda width: source_rows("diff", text, width)
        case "markdown" if not mime:
            return lambda width: cut_rows(text, width, render_markdown)
        case "markdown":
            return lambda width: source_rows("", text, width)
    return lambda width: cut_rows(text.rstrip("\n"), width, plain_rows)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
