"""What frames of a wire are filtered by, and the keys that change it.

Not here: bodies and the ways elsewhere (wire_panel), the list (wire).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from textual import on
from textual.containers import Vertical

from hel_tui.core import protocol as p
from hel_tui.tui.safe import one_line
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Part
from hel_tui.tui.widgets.rows import Row, RowList
from hel_tui.tui.widgets.window_line import AskLine
from hel_tui.tui.widgets.wire import WireView


class WireFilters(Vertical):
    """A list of frames with a line to type in and a list of methods to pick from."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.view, self.ask = WireView(), AskLine()
        self.methods = RowList(id="wire-methods")

    def facts(self) -> list[Part]:
        """What is shown of how much, and how."""
        view, query = self.view, self.view.query_now
        facts: list[Part] = []
        if view.sieve is not None:
            facts.append((t("log.shown", n=f"{view.count:,}", of=f"{view.kept:,}"), "strong"))
            if view.sieve.behind:
                facts.append((t("log.filtering", percent=int(view.sieve.progress * 100)), "accent"))
        else:
            facts.append((t("wire.frames", n=f"{view.kept:,}"), "strong"))
        if query.call:
            facts.append((t("wire.of_call"), "accent"))
        if query.direction:
            arrow = "→" if query.direction == "out" else "←"
            facts.append((f"{arrow} {t(f'wire.{query.direction}')}", "accent"))
        facts += [(one_line(query.method, 40), "accent")] if query.method else []
        facts += [(t("wire.tool", tool=one_line(query.tool, 40)), "accent")] if query.tool else []
        facts += [(t("wire.id", id=one_line(query.id, 20)), "accent")] if query.id else []
        facts += [(t("wire.errors"), "accent")] if query.errors else []
        if query.text:
            text = one_line(query.text, 30)
            facts.append((f"/{text}/" if query.is_regex else f"“{text}”", "accent"))
        if view.problem:
            facts.append((f"⚠ {one_line(view.problem, 60)}", "bad"))
        facts.append((t("log.following") if view.following else f"▮▮ {t('log.paused')}", "muted"))
        return facts

    def _ask_for(self, query: p.FrameQuery) -> None:
        """Filter anew, staying at the frame under the cursor as far as it is shown."""
        at, followed = self.view.cursor, self.view.following
        self.view.set_query(query)
        if not followed and at >= 0 and self.view.sieve is None:
            self.view.go_to(at)

    def action_filter(self) -> None:
        query = self.view.query_now
        self.ask.open(
            t("wire.ask_filter_regex" if query.is_regex else "wire.ask_filter"),
            self.view,
            value=query.text,
            typed=lambda text: self._ask_for(replace(self.view.query_now, text=text)),
        )

    def action_regex(self) -> None:
        query = self.view.query_now
        self._ask_for(replace(query, is_regex=not query.is_regex))

    def action_direction(self) -> None:
        turns: dict[str, p.Direction | Literal[""]] = {"": "out", "out": "in", "in": ""}
        query = self.view.query_now
        self._ask_for(replace(query, direction=turns[query.direction]))

    def action_errors(self) -> None:
        query = self.view.query_now
        self._ask_for(replace(query, errors=not query.errors))

    def action_id(self) -> None:
        frame = self.view.current
        self.ask.open(
            t("wire.ask_id"),
            self.view,
            value=self.view.query_now.id or (frame.id if frame is not None else ""),
            done=lambda text: self._ask_for(replace(self.view.query_now, id=text.strip())),
        )

    def action_tool(self) -> None:
        frame = self.view.current
        self.ask.open(
            t("wire.ask_tool"),
            self.view,
            value=self.view.query_now.tool or (frame.tool if frame is not None else ""),
            done=lambda text: self._ask_for(replace(self.view.query_now, tool=text.strip())),
        )

    def action_call(self) -> None:
        """Only what the call of this frame caused; once more, all."""
        frame, query = self.view.current, self.view.query_now
        if query.call:
            self._ask_for(replace(query, call=""))
        elif frame is not None and frame.call:
            self._ask_for(replace(query, call=frame.call))
        else:
            self.tell(t("wire.no_call"))

    def action_method(self) -> None:
        """Pick one of the methods there are."""
        found = self.view.methods()
        rows = [Row("*", [(f" {t('wire.all_methods')}", "muted")])]
        rows += [
            Row(f"={name}", [(f" {one_line(name, 60)}", ""), (f"  {n:,}", "muted")]) for name, n in found
        ]
        self.methods.show(rows)
        method = self.view.query_now.method
        self.methods.select(f"={method}" if method else "*")
        self.methods.display = True
        self.methods.focus()

    def _close_methods(self) -> None:
        self.methods.display = False
        self.view.focus()

    @on(RowList.Opened, "#wire-methods")
    def _picked(self, event: RowList.Opened) -> None:
        event.stop()
        self._close_methods()
        self._ask_for(replace(self.view.query_now, method=event.key[1:]))

    @on(RowList.Moved, "#wire-methods")
    def _picking(self, event: RowList.Moved) -> None:
        event.stop()

    def tell(self, text: str) -> None:
        """Say something that did not come about, as a toast."""
        self.app.notify(text, markup=False)
