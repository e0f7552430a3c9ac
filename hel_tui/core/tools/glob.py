"""`glob`: paths that match a wildcard, in a fixed order.

Not here: text in files (grep).
"""

from __future__ import annotations

from typing import ClassVar

from hel_tui.core.tools.builtin import FileTool, one_line, refused
from hel_tui.core.tools.listing import Listing, clean, named
from hel_tui.core.tools.opening import changed_to_link
from hel_tui.core.tools.paths import Refusal, ResolvedPath
from hel_tui.core.tools.walking import Walk
from hel_tui.core.tools.wildcards import Wildcard, WildcardError
from hel_tui.core.vocabulary import Json, Outcome, ToolDefinition

TIME_LIMIT = 10.0


class Glob(FileTool):
    """List paths."""

    definition: ClassVar[ToolDefinition] = ToolDefinition(
        "glob",
        "List paths that match a pattern such as src/**/*.py: files at any depth with **, files and "
        "folders without. Leaves out .git, node_modules, virtual environments and caches.",
        {
            "type": "object",
            "properties": {
                "pattern": {"type": "string"},
                "path": {"type": "string", "description": "folder to start from"},
            },
            "required": ["pattern"],
        },
    )

    def subject(self, arguments: Json) -> str:
        """The folder it starts from."""
        return super().subject({"path": arguments.get("path") or "."})

    def summary(self, arguments: Json) -> str:
        """Pattern and folder."""
        where = f" in {arguments['path']}" if arguments.get("path") else ""
        return one_line(f"{arguments.get('pattern', '')}{where}")

    def work(self, arguments: Json) -> Outcome:
        """Walk and list."""
        place = self.workspace.resolve(arguments.get("path", "."))
        if isinstance(place, Refusal):
            return refused(place)
        try:
            wildcard = Wildcard(arguments["pattern"])
        except WildcardError as error:
            return refused(str(error))
        if ".." in wildcard.names or arguments["pattern"].startswith("/"):
            return refused("The pattern is relative to `path` and cannot leave it.")
        try:
            return self._list(place, wildcard, arguments["pattern"])
        except FileNotFoundError:
            return refused(self.workspace.missing(place))
        except NotADirectoryError:
            return refused(f"{place.shown} is not a folder; glob starts from one.")
        except OSError as error:
            return refused(changed_to_link(place, error))

    def _list(self, place: ResolvedPath, wildcard: Wildcard, pattern: str) -> Outcome:
        walk = Walk(self.workspace, place, wildcard, TIME_LIMIT)
        listing = Listing("paths")
        prefix = "" if place.shown == "." else f"{place.shown}/"
        for found in walk:
            if found.is_folder and wildcard.any_depth:
                continue
            name = clean("/".join(found.parts))
            if not listing.add(f"{prefix}{name}{'/' if found.is_folder else ''}"):
                break
        hint = "" if "/" in pattern else f" **/{pattern} looks at any depth."
        return Outcome(listing.text(f"No path matches {pattern} in {named(place)}.{hint}", cut=walk.is_cut))
