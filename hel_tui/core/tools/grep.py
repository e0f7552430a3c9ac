"""`grep`: lines that match a regular expression, by ripgrep or, where it is missing, a child of our own.

Both give the same answers: same dialect, files, order. Ignore files play no part. Not here: reading more
of a file (read).
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from hel_tui.core.store.atomic import why
from hel_tui.core.threads import in_thread
from hel_tui.core.tools.builtin import Builtin, one_line, refused
from hel_tui.core.tools.listing import Listing, clean, named
from hel_tui.core.tools.opening import changed_to_link, opened_file
from hel_tui.core.tools.paths import CLOSED_NAME, Refusal, ResolvedPath, Workspace
from hel_tui.core.tools.patterns import Pattern, PatternError, translate
from hel_tui.core.tools.processes import Bounded, run_program
from hel_tui.core.tools.programs import find_program
from hel_tui.core.tools.search_child import SNIFFED
from hel_tui.core.tools.walking import SKIPPED
from hel_tui.core.tools.wildcards import Wildcard, WildcardError
from hel_tui.core.vocabulary import Invocation, Json, Outcome, ToolDefinition

TIME_LIMIT = 30.0
MAX_SHOWN = 500
"""Characters of a line that are shown."""
_MAX_RECORD = 4 * MAX_SHOWN + 100
_MAX_PATH = 8_192
_CHILD = Path(__file__).with_name("search_child.py")


class Grep(Builtin):
    """Search text."""

    definition: ClassVar[ToolDefinition] = ToolDefinition(
        "grep",
        "Search files for a regular expression, line by line, without lookaround. Answers path:line:text "
        "in order of path. Leaves out binary files, .git, node_modules, virtual environments and caches.",
        {
            "type": "object",
            "properties": {
                "pattern": {"type": "string"},
                "path": {"type": "string", "description": "folder or file to search"},
                "glob": {"type": "string", "description": "only these files, such as *.py"},
                "ignore_case": {"type": "boolean"},
            },
            "required": ["pattern"],
        },
    )

    def __init__(self, workspace: Workspace, environ: Mapping[str, str]) -> None:
        super().__init__(workspace)
        self._ripgrep = find_program("rg", environ, workspace.project)

    def subject(self, arguments: Json) -> str:
        """The folder or file that is searched."""
        return super().subject({"path": arguments.get("path") or "."})

    def summary(self, arguments: Json) -> str:
        """Pattern and place."""
        where = f" in {arguments['path']}" if arguments.get("path") else ""
        return one_line(f"{arguments.get('pattern', '')}{where}")

    async def perform(self, arguments: Json, invocation: Invocation) -> Outcome:  # noqa: ARG002
        """Search and list; no match is a result like any other."""
        place = self.workspace.resolve(arguments.get("path", "."))
        if isinstance(place, Refusal):
            return refused(place)
        try:
            pattern = translate(arguments["pattern"], ignore_case=arguments.get("ignore_case", False))
            wildcard = Wildcard(arguments["glob"]) if "glob" in arguments else None
        except (PatternError, WildcardError) as error:
            return refused(str(error))
        start = await in_thread(lambda: _start(self.workspace, place))
        if isinstance(start, Refusal):
            return refused(start)
        folder, name = start
        found = Matches(self.workspace, folder, wildcard)
        errors = Bounded(2_000)
        try:
            code = await self._search(pattern, folder, name, found, errors)
        except OSError as error:
            return refused(f"The search was not started: {why(error)}.")
        if code not in (0, 1, None) and not found.count and not found.enough.is_set() and errors.total:
            return refused(f"The search failed: {one_line(errors.text())}")
        nothing = f"No matches for {arguments['pattern']} in {named(place)}."
        return Outcome(found.listing.text(nothing, cut=code is None and not found.enough.is_set()))

    async def _search(
        self, pattern: Pattern, folder: ResolvedPath, name: str, found: Matches, errors: Bounded
    ) -> int | None:
        argv = (
            ripgrep_command(self._ripgrep, pattern, name, found.wildcard)
            if self._ripgrep is not None
            else child_command(pattern, name, found.wildcard)
        )
        return await run_program(
            argv,
            cwd=folder.path,
            env={"LC_ALL": "C.UTF-8", "PATH": os.defpath},
            limit=TIME_LIMIT,
            out=found.feed,
            err=errors.feed,
            enough=found.enough,
        )


class Matches:
    """The matches as the search writes them, checked and listed until there are enough."""

    def __init__(self, workspace: Workspace, folder: ResolvedPath, wildcard: Wildcard | None) -> None:
        self.listing = Listing("matches")
        self.wildcard = wildcard
        self.count = 0
        self.enough = asyncio.Event()
        self._workspace = workspace
        self._folder = folder
        self._prefix = "" if folder.shown == "." else f"{folder.shown}/"
        self._record = bytearray()
        self._path: bytes | None = None
        self._checked: tuple[bytes, bool] = (b"", False)

    def feed(self, data: bytes) -> None:
        """Take more of the output: path, NUL, number, colon, line, newline; over and over."""
        at = 0
        while at < len(data) and not self.enough.is_set():
            in_path = self._path is None
            end = data.find(b"\0" if in_path else b"\n", at)
            piece = data[at : len(data) if end < 0 else end]
            room = (_MAX_PATH if in_path else _MAX_RECORD) - len(self._record)
            self._record += piece[:room]
            at += len(piece) + 1
            if end < 0:
                return
            record = bytes(self._record)
            self._record.clear()
            if in_path:
                self._path = record
            else:
                self._take(self._path or b"", record)
                self._path = None

    def _take(self, path: bytes, record: bytes) -> None:
        name = path.removeprefix(b"./")
        if self._checked[0] != name:
            self._checked = name, self._is_wanted(tuple(os.fsdecode(name).split("/")))
        if not self._checked[1]:
            return
        number, _, line = record.partition(b":")
        text = line.removesuffix(b"\r").decode("utf-8", "replace")
        shown = text[:MAX_SHOWN] + ("…" if len(text) > MAX_SHOWN else "")
        self.count += 1
        if not self.listing.add(f"{self._prefix}{clean(os.fsdecode(name))}:{number.decode()}:{shown}"):
            self.enough.set()

    def _is_wanted(self, parts: tuple[str, ...]) -> bool:
        """Whether the file is one to search: open to the model, text, and of the wanted name."""
        if self.wildcard is not None:
            counted = parts if self.wildcard.is_path else parts[-1:]
            if not self.wildcard.matches(counted):
                return False
        whole = (*self._folder.parts, *parts)
        if not self._workspace.is_open(self._folder.root, whole):
            return False
        try:
            with opened_file(ResolvedPath(self._folder.root, whole, "")) as file:
                return not isinstance(file, Refusal) and b"\0" not in os.pread(file.handle, SNIFFED, 0)
        except OSError:
            return False


def ripgrep_command(program: str, pattern: Pattern, name: str, wildcard: Wildcard | None) -> list[str]:
    """The command line of ripgrep; what it leaves open (binary files, wildcards) is decided on its output."""
    options = ["--no-config", "--no-ignore", "--hidden", "--no-messages", "--color=never", "--sort=path"]
    options += ["--no-heading", "--with-filename", "--line-number", "--null", "--text", "--encoding=none"]
    if wildcard is not None and (only := wildcard.extensions):
        options += [f"--glob=*.{extension}" for extension in only]
    options += [f"--glob=!{skipped}" for skipped in _skipped(wildcard)]
    options.append(f"--iglob=!{CLOSED_NAME}")
    if pattern.ignore_case:
        options.append("--ignore-case")
    return [program, *options, f"--regexp={pattern.ripgrep}", "--", f"./{name}" if name else "."]


def child_command(pattern: Pattern, name: str, wildcard: Wildcard | None) -> list[str]:
    """The command line of the child that takes ripgrep's place."""
    task = {
        "pattern": pattern.python,
        "ignore_case": pattern.ignore_case,
        "path": f"./{name}" if name else ".",
        "is_file": bool(name),
        "skipped": _skipped(wildcard),
        "extensions": wildcard.extensions if wildcard is not None else (),
    }
    return [sys.executable, "-I", "-S", str(_CHILD), json.dumps(task)]


def _skipped(wildcard: Wildcard | None) -> list[str]:
    return [name for name in SKIPPED if wildcard is None or name not in wildcard.names]


def _start(workspace: Workspace, place: ResolvedPath) -> tuple[ResolvedPath, str] | Refusal:
    """The folder to search in, and the one file in it ("" for all)."""
    if place.path.is_dir():
        return place, ""
    try:
        with opened_file(place) as file:
            if isinstance(file, Refusal):
                return file
    except FileNotFoundError:
        return Refusal(workspace.missing(place))
    except OSError as error:
        return Refusal(changed_to_link(place, error))
    parent = place.shown.rpartition("/")[0]
    return ResolvedPath(place.root, place.parts[:-1], parent or "."), place.parts[-1]
