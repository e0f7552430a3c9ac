"""The main screen: hands changes to its parts, runs keys, answers what its widgets want.

Not here: how the parts are laid out (layout), slash commands (commands), decisions (dialogs), drawing
(widgets).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import BindingType
from textual.widgets import TextArea

from hel_tui.core import protocol as p
from hel_tui.tui import keymap, slash
from hel_tui.tui.screens.commands import Commands
from hel_tui.tui.screens.layout import MainLayout
from hel_tui.tui.screens.offers import Offers
from hel_tui.tui.state import CallItem, Changes
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.bars import AttachmentBar
from hel_tui.tui.widgets.conversation import Conversation
from hel_tui.tui.widgets.header import ATTENTION
from hel_tui.tui.widgets.log import LogView
from hel_tui.tui.widgets.prompt import Prompt
from hel_tui.tui.widgets.rows import RowList
from hel_tui.tui.widgets.servers import ServersPane
from hel_tui.tui.widgets.tools import ToolsPane

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp

ESCAPE_WITHIN = 1.0
"""Seconds in which a second Esc goes back to an earlier turn."""


class MainScreen(MainLayout):
    """Everything a person sees while working."""

    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("app")

    def __init__(self, hel: HelApp) -> None:
        super().__init__(hel)
        self.offers = Offers(hel, self)
        self.commands = Commands(hel, self)
        self.rewinding: tuple[int, str] = (0, "")
        """The turn that the person goes back to before, and what was said in it."""
        self._last_escape = float("-inf")

    def on_mount(self) -> None:
        self.prompt.placeholder = t("prompt.placeholder")
        self.side.servers.empty = [(f" {t('servers.none')}", "muted")]
        self.side.tools.empty = [(f" {t('tools.none')}", "muted")]
        self.refresh_hints()
        self.lay_out()

    # ------------------------------------------------------------- drawing

    def sync(self, changes: Changes) -> None:
        """Hand a frame's changes to the parts."""
        if changes.header or changes.servers:
            self.header.refresh()
        if changes.header or changes.servers or changes.tools:
            self.refresh_hints()
        if changes.items or changes.cleared:
            self.conversation.sync(self.view.items, changes.items, cleared=changes.cleared)
        self.side.sync(changes)
        self.offers.sync(changes)
        if changes.attachments:
            self.attachments.update()
        if changes.todos:
            self.show_todos()
        if self.rewinding[0] in changes.rewound:
            self.give_back(self.rewinding[1])
        if changes.queue:
            self.queue.update()
            self.prompt.waiting, self.prompt.held = len(self.view.queued), self.view.held
        if changes.taken_back:
            self.commands.taken_back(changes.taken_back)
        if changes.config:
            self.config.update()
        if changes.models:
            self.commands.models_listed()
        if changes.sessions:
            self.commands.sessions.heard(changes)
        if changes.pasted:
            self.prompt.take_paste(changes.pasted)
        if changes.given_back:
            self.commands.taken_back(changes.given_back)
            self.hel.say(t("message.given_back"))
        if changes.searched:
            self.commands.searched(changes.searched)
        if changes.turn or changes.questions or changes.items:
            self.status.update()
        if changes.turn:
            self.footer.type(self.view.busy and bool(self.prompt.text))
        self.foot.settle()

    @property
    def shows_news(self) -> bool:
        """Whether what is added to the conversation is seen there, now or under an open dialog."""
        return self.conversation.following and not self.large_log

    def frame(self) -> None:
        """Once a frame, whether or not something came in."""
        self.conversation.frame()
        self.side.frame()

    def second(self) -> None:
        """Once a second: what counts seconds."""
        if self.view.busy or self.view.calls_by_hand:
            self.status.update()
        self.side.servers.tick()

    def show_waiting(self, on: bool, asked: bool = False, escape: str = "") -> None:
        """Announce, or stop announcing, a decision that waits.

        `asked`: a dialog is open for one; `escape`: what Esc does in it, if it is not its refusal.
        """
        self.status.ask(asked, escape)
        if self.waits.display != on:
            self.waits.display = on
            self.foot.settle()
        if on:
            self.waits.refresh()

    def show_card(self, call_id: str) -> None:
        """Go to the card of a call."""
        if not self.conversation.show_card(call_id):
            self.hel.say(t("card.gone"), "warning")
        self.set_focus(self.conversation)

    def refresh_hints(self) -> None:
        """What the empty conversation says."""
        self.conversation.placeholder = self.commands.hints()

    # ------------------------------------------------------------- messages

    @on(Prompt.Sent)
    def _sent(self, event: Prompt.Sent) -> None:
        self.commands.typed.run(event.text, later=event.later)

    @on(Prompt.Leave)
    def _leave(self) -> None:
        self.hel.action_quit_soon()

    @on(TextArea.Changed, "#prompt")
    def _typed(self) -> None:
        self.mark.show(self.prompt.text)
        self.footer.type(self.view.busy and bool(self.prompt.text))
        self.complete()

    def complete(self) -> None:
        """Offer what could come of the text in the prompt: a command, or the resource being mentioned."""
        text = self.prompt.text
        if text.startswith("/"):
            offered = slash.candidates(text, self.commands.typed.known, self.offers.prompts)
        else:
            offered = self.offers.candidates(self.prompt.before_cursor) if "@" in text else []
        self.completion.offer(offered)
        self.foot.settle()

    @on(Prompt.Mentioned)
    def _mentioned(self, event: Prompt.Mentioned) -> None:
        self.offers.mention(event.server, event.uri)

    @on(Prompt.FileDropped)
    def _dropped(self, event: Prompt.FileDropped) -> None:
        for path in event.paths:
            self.hel.send(p.Attach("", path))

    @on(AttachmentBar.Removed)
    def _removed(self, event: AttachmentBar.Removed) -> None:
        self.hel.send(p.Detach(event.attachment.server, event.attachment.uri))

    @on(RowList.Opened, "#servers")
    def _server_opened(self, event: RowList.Opened) -> None:
        self.commands.open_server(event.key)

    @on(ServersPane.Wish)
    def _server_wish(self, event: ServersPane.Wish) -> None:
        match event.what:
            case "restart":
                self.hel.send(p.RestartServer(event.server))
            case "switch":
                self._switch_server(event.server)
            case "trust":
                self.hel.send(p.ReviewTrust())
            case "login":
                self.hel.send(p.Login(event.server))
            case "log":
                self.open_log(event.server)

    @on(Conversation.CopyRequested)
    def _copy(self, event: Conversation.CopyRequested) -> None:
        self.hel.copy(event.text)

    @on(LogView.CopyRequested)
    def _copy_log(self, event: LogView.CopyRequested) -> None:
        self.hel.copy(event.text, t("copied.lines", n=event.lines))

    @on(Conversation.LogRequested)
    def _log_of_call(self, event: Conversation.LogRequested) -> None:
        self.commands.log_of_call(event.call_id)

    @on(Conversation.WireRequested)
    def _wire_of_call(self, event: Conversation.WireRequested) -> None:
        self.commands.wire_of_call(event.call_id)

    @on(Conversation.ServerWish)
    def _wish_of_card(self, event: Conversation.ServerWish) -> None:
        match event.what:
            case "restart":
                self.hel.send(p.RestartServer(event.server))
            case "off":
                self.hel.send(p.SwitchServer(event.server, on=False))
            case "edit":
                self.commands.editing.entry(event.server)
            case "log" | "wire":
                self.hel.open_server(event.server, event.what)
            case "open":
                self.hel.open_server(event.server)

    @on(Conversation.RenewalRequested)
    def _renewal_of_card(self, event: Conversation.RenewalRequested) -> None:
        self.commands.open_renewal(event.number)

    @on(Conversation.TaskRequested)
    def _task_of_card(self, event: Conversation.TaskRequested) -> None:
        self.commands.open_task(event.call_id)

    @on(Conversation.RerunRequested)
    def _rerun(self, event: Conversation.RerunRequested) -> None:
        self.commands.rerun(event.call_id)

    @on(ToolsPane.Wish)
    def _tool_wish(self, event: ToolsPane.Wish) -> None:
        self.commands.tool_wish(event.what, event.tool)

    @on(ToolsPane.ServerWish)
    def _tools_server(self, event: ToolsPane.ServerWish) -> None:
        self._switch_server(event.server)

    def _switch_server(self, name: str) -> None:
        server = self.view.servers.get(name)
        self.hel.send(p.SwitchServer(name, on=server is None or server.phase == "off"))

    # -------------------------------------------------------------- actions

    async def action_palette(self) -> None:
        await self.hel.open_palette()

    def action_keys(self) -> None:
        self.commands.show_keys()

    def action_servers(self) -> None:
        """The server screen: at the server that needs a look, else at the one that was called last."""
        attention = self.side.servers.attention()
        state = self.view.servers.get(attention)
        if state is not None and state.phase not in ATTENTION:
            calls = (item.server for item in reversed(self.view.items) if isinstance(item, CallItem))
            attention = next((name for name in calls if name in self.view.servers), attention)
        if attention:
            self.side.servers.select(attention)
            self.side.choose_log(attention)
        self.commands.open_server(attention)

    def action_resources(self) -> None:
        self.offers.open_resources()

    def action_prompts(self) -> None:
        self.offers.open_prompts()

    def action_paste_clipboard(self) -> None:
        self.hel.send(p.PasteClipboard(self.hel.clipboard))

    def action_detach(self) -> None:
        self.offers.detach_last()

    def action_context(self) -> None:
        from hel_tui.tui.screens.context import ContextScreen  # not needed for the first paint

        self.hel.push_screen(ContextScreen(self.hel))

    def action_sessions(self) -> None:
        self.commands.sessions.open()

    def action_models(self) -> None:
        self.commands.open_models()

    def action_tools(self) -> None:
        self.reveal_side()
        self.set_focus(self.side.tools)

    def action_apply_config(self) -> None:
        self.hel.send(p.ApplyConfig())

    def action_search_tools(self) -> None:
        self.prompt.write("/search ")
        self.set_focus(self.prompt)

    def action_waiting(self) -> None:
        self.hel.open_waiting()

    def action_access(self) -> None:
        levels = p.ACCESS_LEVELS
        self.hel.send(p.SetAccess(levels[(levels.index(self.view.access) + 1) % len(levels)]))

    def action_interrupt(self) -> None:
        if self.large_log:
            self.action_large_log()
        elif self.view.busy or self.view.calls_by_hand:
            self.hel.send(p.Interrupt())
        else:
            self.set_focus(self.prompt)
            self._escape_again()

    def _escape_again(self) -> None:
        """Esc twice on an empty prompt goes back to an earlier turn."""
        last, self._last_escape = self._last_escape, self.hel.clock()
        if self.prompt.text:
            return
        if self._last_escape - last <= ESCAPE_WITHIN:
            self._last_escape = float("-inf")
            self.action_rewind()

    def give_back(self, text: str) -> None:
        """Put what was said into the prompt, to be said again, before what is written there."""
        self.rewinding = (0, "")
        if text:
            self.commands.taken_back(text)
        self.set_focus(self.prompt)

    def action_rewind(self) -> None:
        from hel_tui.tui.screens.rewind import RewindScreen  # not needed for the first paint

        self.hel.push_screen(RewindScreen(self.hel))

    def action_next_theme(self) -> None:
        self.commands.next_theme()

    def action_search(self) -> None:
        self.find(t("find.conversation"), self.conversation, self.conversation.search)

    def action_filter_log(self) -> None:
        self.find(t("find.log"), self.side.log_view, self.side.log_view.set_filter)

    def action_filter_tools(self) -> None:
        self.find(t("find.tools"), self.side.tools, self.side.tools.set_filter)

    def action_expand_all(self) -> None:
        self.conversation.action_expand_all()

    def action_new_session(self) -> None:
        self.commands.sessions.new()

    def action_leave(self) -> None:
        """Leave from a list or the conversation, unless something is written in the prompt."""
        if not self.prompt.text:
            self.hel.action_quit_soon()

    def action_redraw(self) -> None:
        self.hel.redraw()

    def action_unqueue(self) -> None:
        self.commands.unqueue()

    def action_editor(self) -> None:
        self.commands.editing.prompt()

    def action_copy_or_stop(self) -> None:
        self.commands.copy_or_stop()
