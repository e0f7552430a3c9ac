"""What a row of a JSON tree looks like. Pure functions. Not here: which rows are shown (json_view)."""

from __future__ import annotations

import json

from hel_tui.tui.safe import clean
from hel_tui.tui.strings import t
from hel_tui.tui.text.json_tree import JsonTree, Kind, Row, unquoted
from hel_tui.tui.widgets.lines import Part, wrap

LONG = 4_096
"""Characters of one value that are drawn on one line at most."""
TALL_MOST = 200_000
"""Characters of a string that is opened."""
_GUIDE = "│ "
_STYLES = {
    Kind.STRING: "ok",
    Kind.NUMBER: "warn",
    Kind.LITERAL: "magenta",
    Kind.EMPTY: "muted",
    Kind.TEXT: "",
}


def guides(depth: int, width: int) -> str:
    """The lines at the left of a row; very deep ones say how deep instead."""
    if depth * 2 <= width // 2:
        return _GUIDE * depth
    note = f"⋯{depth} "
    return _GUIDE * max((width // 2 - len(note)) // 2, 0) + note


def head_of(tree: JsonTree, row: int, width: int, is_folded: bool, shown: str | None = None) -> list[Part]:
    """A row on one line; `shown` stands in the place of its value. The first part is what is left of it."""
    one = tree[row]
    line: list[Part] = [(guides(one.depth, width), "frame")]
    if one.kind is Kind.TEXT and row == tree.row_at(tree.broken_at) and (row > 0 or tree.broken_at > 0):
        line.append((f"⚠ {t('json.not_json')} ", "bad"))
    is_open = one.kind <= Kind.ARRAY
    if len(line) == 1:
        line.append(("▸ " if is_folded else "▾ ", "accent") if is_open else ("  ", ""))
    if one.kind is Kind.CLOSE:
        end = one.end
        line.append((tree.text[one.start : end] + ("," if tree.has_comma(end) else ""), "muted"))
        return line
    if one.key:
        line += [(_readable(one.key), "accent"), (": ", "muted")]
    if is_open:
        return [*line, *_container(tree, one, is_folded)]
    if shown is not None:
        return [*line, (shown, _STYLES[one.kind])]
    if one.kind is Kind.STRING:
        line.append((_readable(tree.text[one.start : one.end]), _STYLES[one.kind]))
    else:
        text = tree.text[one.start : min(one.end, one.start + LONG)]
        line.append((clean(text, newlines=False), _STYLES[one.kind]))
    if one.kind is not Kind.TEXT and tree.has_comma(one.end):
        line.append((",", "muted"))
    return line


def _container(tree: JsonTree, one: Row, is_folded: bool) -> list[Part]:
    """The brackets of a container, with how much is in it when it is folded."""
    opening, closing = ("{", "}") if one.kind is Kind.OBJECT else ("[", "]")
    if not is_folded:
        return [(opening, "muted")]
    what = t("json.members" if one.kind is Kind.OBJECT else "json.elements", n=one.count)
    comma = "," if tree.has_comma(one.end) else ""
    return [(f"{opening} ", "muted"), (what, "label"), (f" {closing}{comma}", "muted")]


def _readable(written: str) -> str:
    """A JSON string as it is written, but with letters of all scripts instead of their escapes."""
    if len(written) > LONG:
        return clean(written[:LONG], newlines=False) + "…"
    if "\\u" in written:
        written = json.dumps(unquoted(written), ensure_ascii=False)
    return clean(written, newlines=False)


def string_rows(tree: JsonTree, row: int, width: int) -> list[str]:
    """What a string says, or a line of text, as rows that fit into a view so wide; one where it is short."""
    one = tree[row]
    if one.kind not in (Kind.STRING, Kind.TEXT):
        return [""]
    written = tree.text[one.start : one.end]
    text = clean(unquoted(written) if one.kind is Kind.STRING else written)
    cut = text[:TALL_MOST]
    room = max(width - len(guides(one.depth, width)) - 4, 8)
    first = max(room - len(one.key), 8)
    if "\n" not in cut and len(cut) + 2 <= first and one.kind is Kind.STRING:
        return [cut]
    rows = [
        "".join(part for part, _ in piece) for line in cut.split("\n") for piece in wrap([(line, "")], room)
    ]
    if one.key and len(rows[0]) + len(one.key) + 2 > room:
        rows.insert(0, "")
    if len(text) > len(cut):
        rows.append("…")
    return rows
