"""The main screen: hands changes to its parts, runs keys, passes on what its widgets want.

Not here: how the parts are laid out (layout), carrying out what is wanted (wishes, commands, offers,
going_back), decisions (dialogs), drawing (widgets).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import BindingType
from textual.widgets import TextArea

from hel_tui.core import protocol as p
from hel_tui.tui import keymap, slash
from hel_tui.tui.screens.commands import Commands
from hel_tui.tui.screens.drafting import Drafting
from hel_tui.tui.screens.going_back import GoingBack
from hel_tui.tui.screens.layout import MainLayout
from hel_tui.tui.screens.offers import Offers
from hel_tui.tui.screens.wishes import Wishes
from hel_tui.tui.state import Changes
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.bars import AttachmentBar
from hel_tui.tui.widgets.conversation import Conversation
from hel_tui.tui.widgets.log import LogView
from hel_tui.tui.widgets.prompt import Prompt
from hel_tui.tui.widgets.rows import RowList
from hel_tui.tui.widgets.servers import ServersPane
from hel_tui.tui.widgets.tools import ToolsPane

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp


class MainScreen(MainLayout):
    """Everything a person sees while working."""

    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("app")

    def __init__(self, hel: HelApp) -> None:
        super().__init__(hel)
        self.offers = Offers(hel, self)
        self.commands = Commands(hel, self)
        self.wishes = Wishes(hel, self)
        self.going_back = GoingBack(hel, self)
        self.drafting = Drafting(hel, self)

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
        if changes.cleared:
            self.drafting.moved()
        if changes.attachments:
            self.attachments.update()
        if changes.todos:
            self.show_todos()
        self.going_back.heard(changes.rewound)
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
            self.footer.type(self.view.busy, bool(self.prompt.text))
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
        self.commands.leave()

    @on(TextArea.Changed, "#prompt")
    def _typed(self) -> None:
        self.mark.show(self.prompt.text)
        self.footer.type(self.view.busy, bool(self.prompt.text))
        self.complete()
        self.drafting.changed()

    def complete(self) -> None:
        """Offer what could come of the text in the prompt: a command, or the resource being mentioned."""
        text = self.prompt.text
        if text == self.prompt.given:
            offered = []
        elif text.startswith("/"):
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
        self.wishes.of_server(event)

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
        self.wishes.of_card(event)

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
        self.wishes.switch(event.server)

    @on(ToolsPane.Unchosen)
    def _tool_unchosen(self) -> None:
        self.hel.say(t("call.choose", key=keymap.label("tools.call")))

    # -------------------------------------------------------------- actions

    async def action_palette(self) -> None:
        await self.hel.open_palette()

    def action_keys(self) -> None:
        self.commands.show_keys()

    def action_servers(self) -> None:
        self.wishes.open_servers()

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
            self.going_back.escape()

    def action_rewind(self) -> None:
        self.going_back.open()

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
            self.commands.leave()

    def action_redraw(self) -> None:
        self.hel.redraw()

    def action_unqueue(self) -> None:
        self.commands.unqueue()

    def action_editor(self) -> None:
        self.commands.editing.prompt()

    def action_copy_or_stop(self) -> None:
        self.commands.copy_or_stop()
