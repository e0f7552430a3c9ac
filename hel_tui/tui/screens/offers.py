"""What servers offer besides tools, as the screen uses it: resources, attachments, prompts, completions.

Each wish is a command to the core; lists and contents are read from it when it says they are there.
Not here: drawing (the sheets), reading typed lines (slash, mentions).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hel_tui.core import protocol as p
from hel_tui.tui import mentions, slash, uri_template
from hel_tui.tui.safe import clean
from hel_tui.tui.state import Changes
from hel_tui.tui.strings import t

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp
    from hel_tui.tui.screens.main import MainScreen

SEEK_AGAIN = 3.0
"""Seconds after which files are looked for again for the same word."""
ON = ("ready", "degraded")
"""Phases in which a server answers."""


class Offers:
    """Bound to the app and its main screen."""

    def __init__(self, hel: HelApp, screen: MainScreen) -> None:
        self.hel, self.screen = hel, screen
        self.prompts: tuple[p.PromptRow, ...] = ()
        self._listed: set[str] = set()
        """Servers whose lists of resources were asked for since they came up."""
        self._completing: dict[str, Callable[[tuple[str, ...]], None]] = {}
        self._serial = 0
        self._files = p.FilesFound("", ())
        """What was found last."""
        self._sought = ("", float("-inf"))
        """The word for which files were looked for last, and when."""

    # ------------------------------------------------------------- what came in

    def sync(self, changes: Changes) -> None:
        """Hand on what a frame brought."""
        if changes.prompts:
            self.prompts = self.hel.core.prompts()
        for read in changes.prompt_reads:
            self._show_prompt(read)
        if changes.offerers:
            self._listed &= set(self.servers())
        if changes.files is not None:
            self._files = changes.files
            self.screen.complete()
        for answer in changes.completed:
            if (came := self._completing.pop(answer.request, None)) is not None:
                came(answer.values)
        if changes.resources or changes.attachments or changes.prompts or changes.offerers:
            self._redraw(changes.read)
        if changes.resources:
            self.screen.complete()

    def _redraw(self, read: list[p.ResourceRead]) -> None:
        from hel_tui.tui.screens.picker import Picker
        from hel_tui.tui.screens.resources import ViewerScreen

        for screen in self.hel.screen_stack:
            if isinstance(screen, ViewerScreen):
                for one in read:
                    if (one.server, one.uri) == (screen.server, screen.uri):
                        screen.got(one)
                screen.tell()
            elif isinstance(screen, Picker):
                screen.draw()

    # ---------------------------------------------------------------- resources

    def servers(self) -> list[str]:
        """Servers that answer and have resources, by name."""
        servers = self.screen.view.servers.values()
        return [one.name for one in servers if one.phase in ON and "resources" in one.offers]

    def resources(self) -> tuple[p.ResourceRow, ...]:
        return self.hel.core.resources() if self.has_listed else ()

    @property
    def has_listed(self) -> bool:
        """Whether any list has come in."""
        return self.screen.view.listed > 0

    def list_all(self) -> None:
        """Read all lists anew."""
        self._listed = set(self.servers())
        self.hel.send(p.ListResources())

    def list_once(self) -> None:
        """Read the lists of servers that were not asked yet: a mention is being typed."""
        for server in self.servers():
            if server not in self._listed:
                self._listed.add(server)
                self.hel.send(p.ListResources(server))

    def open_resources(self) -> None:
        """The resources sheet, over fresh lists."""
        from hel_tui.tui.screens.resources import ResourcesScreen

        if self.servers():
            self.list_all()
        self.hel.push_screen(ResourcesScreen(self))

    def words(self, row: p.ResourceRow) -> list[str]:
        """What is true of a listed resource, in words."""
        if row.template:
            return [t("resources.template")]
        words = [t("resources.changed")] if (row.server, row.uri) in self.screen.view.updated else []
        words += [t("resources.watched")] if row.watched else []
        return words + ([t("resources.attached")] if self._is_attached(row.server, row.uri) else [])

    def words_of(self, server: str, uri: str) -> list[str]:
        """The same of a resource that may not be listed."""
        rows = (row for row in self.resources() if (row.server, row.uri) == (server, uri))
        return self.words(next(rows, p.ResourceRow(server, uri, "")))

    def _is_attached(self, server: str, uri: str) -> bool:
        return any((one.server, one.uri) == (server, uri) for one in self.screen.view.attachments)

    def content(self, server: str, uri: str) -> tuple[p.ResourceContent, ...]:
        return self.hel.core.resource(server, uri)

    def read(self, server: str, uri: str) -> None:
        self.hel.send(p.ReadResource(server, uri))

    def look(self, server: str, uri: str, name: str = "") -> None:
        """Read a resource and show it."""
        from hel_tui.tui.screens.resources import ViewerScreen

        self.hel.push_screen(ViewerScreen(self, server, uri, name))
        self.read(server, uri)

    def attach(self, server: str, uri: str) -> None:
        """Attach a resource, or take it out if it is attached."""
        attached = self._is_attached(server, uri)
        self.hel.send(p.Detach(server, uri) if attached else p.Attach(server, uri))

    def detach_last(self) -> None:
        """Take out the newest attachment."""
        if attachments := self.screen.view.attachments:
            self.hel.send(p.Detach(attachments[-1].server, attachments[-1].uri))

    def watch(self, server: str, uri: str) -> None:
        """Watch a resource's updates, or stop."""
        state = self.screen.view.servers.get(server)
        if state is None or "subscriptions" not in state.offers:
            self.hel.say(t("resources.not_watchable"), "warning")
            return
        rows = self.resources()
        watched = any(row.watched for row in rows if (row.server, row.uri) == (server, uri))
        self.hel.send(p.WatchResource(server, uri, not watched))

    def with_uri(self, row: p.ResourceRow, then: Callable[[str], None]) -> None:
        """Go on with the address of a row; a template's variables are asked for first."""
        if not row.template:
            then(row.uri)
            return
        needed = uri_template.needed(row.uri)
        fields = tuple(
            p.FormField(name, "text", required=name in needed, completes=True) for name in row.variables
        )
        title = t("resources.fill_in", name=clean(row.name or row.uri, newlines=False))
        about = f"{row.uri}\n{row.description}".strip()
        source = ("template", row.server, row.uri)

        def filled(given: dict[str, str]) -> None:
            then(uri_template.expand(row.uri, given))

        self._ask(title, about, fields, {}, source, filled)

    def copy(self, text: str) -> None:
        self.hel.copy(text)

    # ----------------------------------------------------------------- mentions

    def candidates(self, before: str) -> list[slash.Candidate]:
        """What completes the mention that ends at the cursor."""
        word = mentions.typing(before)
        if word is None:
            return []
        self.list_once()
        now = self.hel.clock()
        if self._sought[0] != word or now - self._sought[1] > SEEK_AGAIN:
            self._sought = word, now
            self.hel.send(p.FindFiles(word))
        fitting = [path for path in self._files.paths if self._files.word == word or word in path]
        found = mentions.candidates(word, self.resources())
        return [*found, *mentions.file_candidates(fitting, t("files.of_project"))][: mentions.MOST]

    def mention(self, server: str, uri: str) -> None:
        """Attach a resource that a message speaks of, if it is not attached yet."""
        if not self._is_attached(server, uri):
            self.hel.send(p.Attach(server, uri))

    # ------------------------------------------------------------------ prompts

    def open_prompts(self) -> None:
        """The prompts sheet; the one that is picked in it is used."""
        from hel_tui.tui.screens.prompts import PromptsScreen

        sheet = PromptsScreen(self)

        def done(key: str | None) -> None:
            if prompt := sheet.by_key.get(key or ""):
                self.use(prompt)

        self.hel.push_screen(sheet, done)

    def use(self, prompt: p.PromptRow, given: tuple[tuple[str, str], ...] = ()) -> None:
        """Send a prompt; what it needs and was not given is asked for in a form."""
        have = dict(given)
        missing = [field for field in prompt.fields if field.required and not have.get(field.name)]
        if not missing and (given or not prompt.fields):
            self._use(prompt, have)
            return
        about = prompt.description or prompt.title
        source = ("prompt", prompt.server, prompt.name)
        title = t("prompts.form", command=clean(prompt.command, newlines=False))
        self._ask(title, about, prompt.fields, have, source, lambda filled: self._use(prompt, filled))

    def look_at(self, prompt: p.PromptRow) -> None:
        """Show what a prompt becomes, and send nothing; its arguments are asked for first."""

        def go(values: dict[str, str]) -> None:
            arguments = tuple((name, value) for name, value in values.items() if value)
            self.hel.send(p.LookAtPrompt(prompt.server, prompt.name, arguments))

        if not prompt.fields:
            go({})
            return
        source = ("prompt", prompt.server, prompt.name)
        title = t("prompts.form", command=clean(prompt.command, newlines=False))
        self._ask(title, prompt.description or prompt.title, prompt.fields, {}, source, go)

    def _show_prompt(self, read: p.PromptRead) -> None:
        from hel_tui.tui.screens.prompts import became_lines
        from hel_tui.tui.screens.text import TextScreen

        if read.problem:
            self.hel.say(clean(read.problem), "warning", clean(read.server, newlines=False))
        else:
            name = clean(f"{read.server} · {read.prompt}", newlines=False)
            self.hel.push_screen(TextScreen(name, became_lines(read)))

    def _use(self, prompt: p.PromptRow, values: dict[str, str]) -> None:
        names = [field.name for field in prompt.fields]
        arguments = tuple((name, values[name]) for name in names if values.get(name))
        self.hel.back_to_conversation()
        self.screen.conversation.action_end()
        self.hel.send(p.UsePrompt(prompt.server, prompt.name, arguments))

    def _ask(
        self,
        title: str,
        about: str,
        fields: tuple[p.FormField, ...],
        given: dict[str, str],
        source: tuple[str, str, str],
        then: Callable[[dict[str, str]], None],
    ) -> None:
        """Ask for values in a form whose suggestions come from `source`: (kind, server, name)."""
        from hel_tui.tui.dialogs.arguments import ArgumentsDialog

        def suggest(
            field: p.FormField,
            value: str,
            others: tuple[tuple[str, str], ...],
            came: Callable[[tuple[str, ...]], None],
        ) -> None:
            self._complete(source, field.name, value, others, came)

        def done(answer: p.Answer | None) -> None:
            self._completing.clear()
            if isinstance(answer, p.FormAnswer) and answer.action == "accept":
                then({name: str(value) for name, value in answer.content})

        self.hel.push_screen(ArgumentsDialog(title, about, fields, given, suggest), done)

    def _complete(
        self,
        source: tuple[str, str, str],
        argument: str,
        value: str,
        others: tuple[tuple[str, str], ...],
        came: Callable[[tuple[str, ...]], None],
    ) -> None:
        kind, server, name = source
        state = self.screen.view.servers.get(server)
        if state is None or "completions" not in state.offers:
            return
        self._serial += 1
        request = f"complete-{self._serial}"
        self._completing[request] = came
        how = p.CompleteArgument(
            request, server, "prompt" if kind == "prompt" else "template", name, argument, value, others
        )
        self.hel.send(how)
