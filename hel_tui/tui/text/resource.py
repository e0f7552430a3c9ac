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

MOST_MARKDOWN = 200_000
"""Characters of Markdown that are rendered; more is shown as plain text, cut."""
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
        return _text(content, width)
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


def _text(content: p.ResourceContent, width: int) -> list[Line]:
    """Markdown rendered, JSON laid out, code coloured, the rest as it is."""
    mime = content.mime.partition(";")[0].strip().lower()
    sub = mime.partition("/")[2]
    text = clean(content.text)
    if (mime == "text/markdown" or sub == "x-markdown") and len(text) <= MOST_MARKDOWN:
        return render_markdown(text, width)
    if sub == "json" or sub.endswith("+json"):
        return source_rows("json", indented(text) if _is_json(text) else text, width)
    if mime in ("", "text/plain") and looks_like(text) != "markdown":
        return result_rows(text, width)
    return source_rows("" if mime in ("", "text/plain") else _LANGUAGES.get(sub, sub), text, width)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
