"""The contents of a resource as rows, each shown by its MIME type.

Not here: reading a resource (core), the view (widgets/rows_view).
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from hel_tui.core import protocol as p
from hel_tui.tui.safe import clean, one_line
from hel_tui.tui.sizes import size_text
from hel_tui.tui.strings import t
from hel_tui.tui.text.cards import looks_like, result_rows, source_rows
from hel_tui.tui.text.json_text import indented
from hel_tui.tui.text.lines import BOLD, MUTED, TEXT, Ink, Line, fitted, wrap
from hel_tui.tui.text.markdown import render_markdown

MOST = 200_000
"""Characters of one content that are shown: more would hold up the screen."""
_LANGUAGES = {"javascript": "js", "x-python": "python", "x-sh": "bash", "x-yaml": "yaml", "svg+xml": "xml"}


def content_rows(contents: Sequence[p.ResourceContent], width: int) -> list[Line]:
    """All contents of a resource below one another, each with its own address where there are several."""
    rows: list[Line] = []
    for content in contents:
        if len(contents) > 1:
            rows += [Line()] if rows else []
            rows.append(fitted([(one_line(content.uri, width), Ink("text", BOLD))], width))
        rows += _content(content, width)
    return rows


def _content(content: p.ResourceContent, width: int) -> list[Line]:
    if content.text:
        rows = _text(content.mime, clean(content.text[:MOST]), width)
        hidden = len(content.text) - MOST
        return rows + (wrap([(t("resource.cut", n=f"{hidden:,}"), MUTED)], width) if hidden > 0 else [])
    if not content.size and not content.saved:
        return [Line([(t("resource.empty"), MUTED)])]
    kind, _, sub = content.mime.partition("/")
    size = size_text(content.size)
    known = kind in ("image", "audio")
    shown = clean(sub if known else content.mime or "application/octet-stream", newlines=False)[:60]
    key = f"resource.{kind}" if known else "resource.binary"
    measure = {"measure": clean(content.measure, newlines=False)} if kind == "image" else {}
    head = " ".join(t(key, kind=shown, size=size, **measure).split())
    rows = wrap([(head, TEXT)], width)
    if content.saved:
        rows += wrap([(t("resource.saved", path=clean(content.saved, newlines=False)), MUTED)], width)
    return rows


def _text(mime: str, text: str, width: int) -> list[Line]:
    """Markdown rendered, JSON laid out, code coloured, the rest as it is."""
    mime = mime.partition(";")[0].strip().lower()
    sub = mime.partition("/")[2]
    if mime == "text/markdown" or sub == "x-markdown":
        return render_markdown(text, width)
    if sub == "json" or sub.endswith("+json"):
        return source_rows("json", indented(text) if _is_json(text) else text, width)
    if mime == "text/plain" and looks_like(text) == "markdown":
        return source_rows("", text, width)
    if mime in ("", "text/plain"):
        return result_rows(text, width)
    return source_rows(_LANGUAGES.get(sub, sub), text, width)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
