"""The top line: project, model, access level, context, cost, servers.

A pure function makes the line; the access level is the last thing to go. Not here: changing any of it.
"""

from __future__ import annotations

from pathlib import Path, PurePath

from rich.cells import cell_len
from textual import events

from hel_tui.tui.safe import clean, cut
from hel_tui.tui.state import ViewState
from hel_tui.tui.strings import t
from hel_tui.tui.text.figures import short_tokens
from hel_tui.tui.widgets.lines import Bar, Line, Part, width_of
from hel_tui.tui.widgets.servers import GLYPHS, order

GAP = "   "
_ROOMS = (
    (8, True, True, True, True),
    (8, True, True, True, False),
    (4, True, True, True, False),
    (0, True, True, False, False),
    (0, False, False, False, False),
)
"""What is shown, from much room to little: cells of the meter, cost, brand, the server in need of a look, and
the hits of the provider's cache."""
ATTENTION = ("failed", "needs login", "untrusted", "degraded")


def short_path(path: str, width: int) -> str:
    """A path with `~` for home, cut at its front: the last folder is what tells projects apart."""
    text = clean(path, newlines=False)
    home = str(Path.home())
    if text == home or text.startswith(home + "/"):
        text = "~" + text[len(home) :]
    if cell_len(text) <= width:
        return text
    tail = text
    while cell_len(tail) > width - 2 and "/" in tail[1:]:
        tail = tail[tail.index("/", 1) :]
    return cut("…" + tail, width)


def meter(used: int, window: int, cells: int) -> str:
    """A bar such as ▰▰▱▱▱▱."""
    full = min(cells, round(used / window * cells)) if window else 0
    return "▰" * full + "▱" * (cells - full)


def _model(state: ViewState) -> Part:
    if state.loading is not None:
        percent = round(100 * state.loading.done / state.loading.size)
        return (t("models.loading", percent=percent), "accent")
    if state.model.is_demo:
        return (f" {t('header.demo')} ", "alert")
    if not state.model.label:
        return (t("header.no_model"), "warn")
    label = clean(state.model.label, newlines=False)
    if label.startswith("local/"):  # a file: its name tells more than where it lies
        label = f"local/{PurePath(label).name}"
    if state.model.stands_in:
        return (cut(t("models.stands_in", label=label), 44), "warn")
    return (cut(label, 36) + (f" {clean(state.model.effort)}" if state.model.effort else ""), "")


def _access(state: ViewState) -> Part:
    word = t(f"access.{state.access}")
    return (f" {word} ", "alert") if state.access == "auto" else (word, "accent")


def _context(state: ViewState, cells: int) -> list[Part]:
    usage = state.usage
    window = (usage.window if usage else 0) or state.model.window
    used = usage.context_tokens if usage else 0
    if not state.model.label or not (window or used):
        return []
    if not window:
        return [(f"{t('header.context')} {short_tokens(used)}", "muted")]
    percent = round(100 * used / window)
    style = "bad" if percent >= 90 else "warn" if percent >= 75 else "muted"
    bar = f"{meter(used, window, cells)} " if cells else ""
    return [(f"{t('header.context')} {bar}{percent}%", style)]


def _cached(state: ViewState) -> list[Part]:
    """How much of the session's input came from the provider's cache."""
    usage = state.usage
    if usage is None or not usage.cached_tokens or not usage.input_tokens:
        return []
    share = round(100 * usage.cached_tokens / usage.input_tokens)
    return [(t("header.cached", percent=f"{share}%"), "muted")]


def _cost(state: ViewState) -> list[Part]:
    usage = state.usage
    if usage is None or usage.cost is None:
        return []
    return [(f"${usage.cost:.2f}" if usage.cost >= 0.01 or not usage.cost else f"${usage.cost:.4f}", "muted")]


def _servers(state: ViewState, names: bool) -> list[Part]:
    servers = [s for s in state.servers.values() if s.phase != "off"]
    if not servers:
        return []
    ready = sum(s.phase in ("ready", "degraded") for s in servers)
    trouble = any(s.phase in ATTENTION for s in servers)
    parts: list[Part] = [(t("header.servers", ready=ready, all=len(servers)), "warn" if trouble else "muted")]
    if trouble and names:
        first = min((s for s in servers if s.phase in ATTENTION), key=order)
        parts.append((f" {GLYPHS[first.phase][0]} {cut(clean(first.name, newlines=False), 16)}", "warn"))
    return parts


def header_line(state: ViewState, width: int) -> list[Part]:
    """The whole line in `width` cells. What matters less goes first when there is no room."""
    for cells, cost, brand, names, cached in _ROOMS:
        groups = [[_model(state)], [_access(state)], _context(state, cells)]
        groups += [_cached(state)] if cached else []
        groups += [_cost(state)] if cost else []
        groups.append(_servers(state, names))
        right = _joined([group for group in groups if group])
        left: list[Part] = [(" hel ", "strong"), (" ", "")] if brand else [(" ", "")]
        room = width - width_of(right) - width_of(left) - 3
        if room >= 14:
            break
    if room < 4:
        right = _joined([[_model(state)], [_access(state)]])
        room = width - width_of(right) - width_of(left) - 3
    path = short_path(state.project, room) if room >= 4 else ""
    left.append((path, "muted"))
    return [*left, (" " * max(width - width_of(left) - width_of(right) - 1, 1), ""), *right]


def _joined(groups: list[list[Part]]) -> list[Part]:
    right: list[Part] = []
    for group in groups:
        right += [(GAP, ""), *group] if right else group
    return right


class HeaderBar(Bar):
    """One line; a click on it goes to the servers."""

    DEFAULT_CSS = """
    HeaderBar { dock: top; background: $panel; }
    """

    def __init__(self, state: ViewState) -> None:
        super().__init__()
        self.state = state

    def lines(self) -> list[Line]:
        return [header_line(self.state, self.columns)]

    async def on_click(self, event: events.Click) -> None:
        event.stop()
        await self.run_action("screen.servers")
