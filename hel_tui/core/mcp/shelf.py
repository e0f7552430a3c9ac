"""The resources, templates and prompts of all servers, by generations.

Written on the core's loop, readable from any thread: what is handed out is made whole beforehand.
Not here: reading lists (lists, offers), contents of resources (contents).
"""

from __future__ import annotations

from collections.abc import Callable

from hel_tui.core.mcp.naming import public_name
from hel_tui.core.mcp.offers import Prompts, Resources
from hel_tui.core.protocol import Event, FormField, PromptRow, PromptsChanged, ResourceRow, ResourcesChanged


class Shelf:
    """What a person can attach and what they can call by a slash."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self._emit = emit
        self._resources: dict[str, Resources] = {}
        self._prompts: dict[str, Prompts] = {}
        self._watched: set[tuple[str, str]] = set()
        self._completing: set[str] = set()
        self._resource_rows: tuple[ResourceRow, ...] = ()
        self._prompt_rows: tuple[PromptRow, ...] = ()
        self._versions = [0, 0]

    # ---------------------------------------------------------------- generations

    def put_resources(self, server: str, found: Resources) -> None:
        """Swap a server's resources whole."""
        if self._resources.get(server) != found:
            self._resources[server] = found
            self._resources_changed()

    def put_prompts(self, server: str, found: Prompts, *, completes: bool) -> None:
        """Swap a server's prompts whole; `completes`: it may know how arguments go on."""
        (self._completing.add if completes else self._completing.discard)(server)
        if self._prompts.get(server) != found:
            self._prompts[server] = found
            self._prompts_changed()

    def watch(self, server: str, uri: str, on: bool) -> None:
        """A resource's updates are subscribed to, or no more."""
        (self._watched.add if on else self._watched.discard)((server, uri))
        self._resources_changed()

    def watched(self, server: str) -> tuple[str, ...]:
        """The URIs of a server that are subscribed to."""
        return tuple(sorted(uri for name, uri in self._watched if name == server))

    def remove(self, server: str) -> None:
        """The server is off or given up: what it offered leaves."""
        self._watched = {one for one in self._watched if one[0] != server}
        if self._resources.pop(server, None) is not None:
            self._resources_changed()
        if self._prompts.pop(server, None) is not None:
            self._prompts_changed()

    # -------------------------------------------------------------------- reading

    def resources(self) -> tuple[ResourceRow, ...]:
        """All resources, then templates, of each server in name order."""
        return self._resource_rows

    def prompts(self) -> tuple[PromptRow, ...]:
        """All prompts in order of server and name."""
        return self._prompt_rows

    def find_prompt(self, server: str, name: str) -> PromptRow | None:
        """The prompt of this name."""
        return next((one for one in self._prompt_rows if (one.server, one.name) == (server, name)), None)

    def _resources_changed(self) -> None:
        rows: list[ResourceRow] = []
        for server, found in sorted(self._resources.items()):
            for one in found.resources:
                watched = (server, one.uri) in self._watched
                rows.append(
                    ResourceRow(
                        server, one.uri, one.name, one.description, one.mime, one.size, watched=watched
                    )
                )
            rows += (
                ResourceRow(
                    server,
                    one.uri,
                    one.name,
                    one.description,
                    one.mime,
                    template=True,
                    variables=one.variables,
                )
                for one in found.templates
            )
        self._resource_rows = tuple(rows)
        self._versions[0] += 1
        self._emit(ResourcesChanged(self._versions[0]))

    def _prompts_changed(self) -> None:
        self._prompt_rows = tuple(
            PromptRow(
                server=server,
                name=one.name,
                command=public_name(server, one.name),
                title=one.title,
                description=one.description,
                fields=tuple(
                    FormField(
                        argument.name,
                        "text",
                        label=argument.title,
                        description=argument.description,
                        required=argument.required,
                        completes=server in self._completing,
                    )
                    for argument in one.arguments
                ),
            )
            for server, found in sorted(self._prompts.items())
            for one in sorted(found.prompts, key=lambda prompt: prompt.name)
        )
        self._versions[1] += 1
        self._emit(PromptsChanged(self._versions[1]))
