"""Which servers are configured: the files, in their order, and what is wrong in them.

Every file is read once; trust is bound to the very bytes that were parsed. Nothing here fails or starts
anything. Not here: the meaning of one entry (validation), trust (permissions.trust), variables (expand).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from hel_tui.core.counts import counted
from hel_tui.core.mcp import jsonc
from hel_tui.core.mcp.entries import Scope, ServerEntry
from hel_tui.core.mcp.remarks import named
from hel_tui.core.mcp.validation import Invalid, judge
from hel_tui.core.store.expansion import expand_home
from hel_tui.core.store.places import Places
from hel_tui.core.store.reading import Unreadable, read_plain

TOP_LEVEL = ("servers", "mcpServers")
MAX_SERVERS = 500
"""Servers one file may have; nobody writes that many by hand."""
MAX_EQUAL = 10
"""Entries of a file of which the same complaint is made one by one; further ones are counted."""


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    """Something wrong in a server file. An error costs the entry (or the file), a note costs nothing."""

    file: Path
    scope: Scope
    server: str | None
    """None when the whole file is meant."""
    sentence: str
    """With line and column where they are known, without the file's name."""
    severity: Literal["error", "note"] = "error"

    def __str__(self) -> str:
        return f"{self.file}: {self.sentence}"


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file that was parsed. `data` are its bytes, `sha256` their hash in hex."""

    path: Path
    scope: Scope
    sha256: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Configuration:
    entries: tuple[ServerEntry, ...] = ()
    """One a name, the winner, sorted by name; switched-off ones too."""
    shadowed: tuple[tuple[ServerEntry, ServerEntry], ...] = ()
    """(entry that lost, entry of the same name that won), sorted by name."""
    problems: tuple[ConfigProblem, ...] = ()
    files: tuple[ConfigFile, ...] = ()

    def with_only(self, name: str) -> Configuration:
        """The same as if nothing but this server were configured."""
        return replace(
            self,
            entries=tuple(entry for entry in self.entries if entry.name == name),
            shadowed=(),
            problems=tuple(problem for problem in self.problems if problem.server == name),
        )


@dataclass(frozen=True, slots=True)
class _Source:
    path: Path
    scope: Scope
    default_cwd: Path
    within: Path | None = None
    """The project, for files that must lie inside it."""
    is_required: bool = False


def load_servers(
    project: Path,
    places: Places,
    *,
    named_files: Iterable[Path] = (),
    typed: Iterable[tuple[str, Mapping[str, Any]]] = (),
    environ: Mapping[str, str],
) -> Configuration:
    """Read all server files of `project`. For one name the first file that has a valid entry wins whole.

    Order: `typed` (on the command line, name and entry), `named_files` (as given), local, `.hel/mcp.json`,
    `.mcp.json`, user. A server without `cwd` starts in the project for files of the project and local ones,
    else in the folder of its file.
    """
    loader = _Loader()
    for name, raw in typed:
        loader.take(name, dict(raw), project.absolute())
    named = [Path(expand_home(str(path), environ)).absolute() for path in named_files]
    for source in _sources(project.absolute(), places, named):
        loader.load(source)
    return loader.configuration()


def server_files(
    project: Path, places: Places, named_files: Iterable[Path], environ: Mapping[str, str]
) -> tuple[Path, ...]:
    """The files that `load_servers` reads, whether or not they are there, in their order."""
    named = [Path(expand_home(str(path), environ)).absolute() for path in named_files]
    return tuple(source.path for source in _sources(project.absolute(), places, named))


def _sources(project: Path, places: Places, named_files: Iterable[Path]) -> Iterable[_Source]:
    for path in named_files:
        yield _Source(path, "command line", path.parent, is_required=True)
    yield _Source(places.local_servers(project), "local", project)
    yield _Source(project / ".hel" / "mcp.json", "project", project, within=project)
    yield _Source(project / ".mcp.json", "project", project, within=project)
    yield _Source(places.user_servers, "user", places.user_servers.parent)


class _Loader:
    """Gathers what the files hold, best file first."""

    def __init__(self) -> None:
        self._winners: dict[str, ServerEntry] = {}
        self._shadowed: list[ServerEntry] = []
        self._problems: list[ConfigProblem] = []
        self._files: list[ConfigFile] = []

    def configuration(self) -> Configuration:
        lost = sorted(self._shadowed, key=lambda entry: entry.name)
        return Configuration(
            tuple(self._winners[name] for name in sorted(self._winners)),
            tuple((entry, self._winners[entry.name]) for entry in lost),
            tuple(self._problems),
            tuple(self._files),
        )

    def take(self, name: str, raw: dict[str, Any], cwd: Path) -> None:
        """An entry that no file has."""
        source = _Source(Path("(command line)"), "command line", cwd)
        try:
            judged = judge(name, raw, source.scope, source.path, cwd)
        except Invalid as invalid:
            self._problem(source, str(invalid), name)
        else:
            self._winners[name] = replace(judged.entry, is_typed=True)

    def load(self, source: _Source) -> None:
        data = read_plain(source.path, within=source.within)
        if isinstance(data, Unreadable):
            return self._problem(source, f"not read: {data.sentence}")
        if data is None:
            if source.is_required:
                self._problem(source, "there is no such file.")
            return None
        try:
            parsed = jsonc.parse(data)
        except jsonc.BadJson as bad:
            return self._problem(source, f"not read: {bad}")
        digest = hashlib.sha256(data).hexdigest()
        self._files.append(ConfigFile(source.path, source.scope, digest, data))
        entries = [
            (key, name, raw) for key, servers in self._groups(source, parsed) for name, raw in servers.items()
        ]
        if len(entries) > MAX_SERVERS:
            self._problem(source, f"it has {len(entries):,} servers; only the first {MAX_SERVERS} are read.")
        said: Counter[str] = Counter()
        for key, name, raw in entries[:MAX_SERVERS]:
            self._entry(source, parsed, key, name, raw, said)
        for sentence, times in said.items():
            if times > MAX_EQUAL:
                more = f"{counted(times - MAX_EQUAL, 'more entry', 'more entries')} of this file: {sentence}"
                self._problem(source, more, severity="note")
        return None

    def _groups(self, source: _Source, parsed: jsonc.Parsed) -> Iterable[tuple[str, dict[str, Any]]]:
        """Yield the objects that hold servers, by their key; what else stands at the top gets one note."""
        top = parsed.value
        if not isinstance(top, dict):
            line, column = parsed.place(())
            sentence = f"line {line}, column {column}: the file must hold an object with `mcpServers` in it."
            return self._problem(source, f"not read: {sentence}")
        strange = [key for key in top if key not in (*TOP_LEVEL, "$schema")]
        unknown = named([f"`{key[:60]}`" for key in strange])
        line, column = parsed.place((strange[0],) if strange else ())
        if unknown and not any(key in top for key in TOP_LEVEL):
            sentence = f"no `mcpServers` or `servers` in it, only {', '.join(unknown)}."
            return self._problem(source, f"line {line}, column {column}: {sentence}")
        if unknown:
            sentence = f"line {line}, column {column}: unknown and left out: {', '.join(unknown)}."
            self._problem(source, sentence, severity="note")
        seen: set[str] = set()
        for key in TOP_LEVEL:
            servers = top.get(key, {})
            if not isinstance(servers, dict):
                line, column = parsed.place((key,))
                self._problem(source, f"line {line}, column {column}: `{key}` must be an object.")
                continue
            twice = sorted(seen & servers.keys())
            if len(twice) > MAX_EQUAL:
                more = len(twice) - MAX_EQUAL
                self._problem(source, f"{more:,} more are given twice, left out in `{key}`.", severity="note")
            for name in twice[:MAX_EQUAL]:
                line, column = parsed.place((key, name))
                self._problem(
                    source, f"line {line}, column {column}: also in `{TOP_LEVEL[0]}`, left out here.", name
                )
            yield key, {name: raw for name, raw in servers.items() if name not in seen}
            seen |= servers.keys()
        return None

    def _entry(
        self, source: _Source, parsed: jsonc.Parsed, key: str, name: str, raw: Any, said: Counter[str]
    ) -> None:
        try:
            judged = judge(name, raw, source.scope, source.path, source.default_cwd)
        except Invalid as invalid:
            said[str(invalid)] += 1
            if said[str(invalid)] > MAX_EQUAL:
                return None
            line, column = parsed.place((key, name, *invalid.field))
            return self._problem(source, f"line {line}, column {column}: {invalid}", name)
        for note in judged.notes:
            said[note] += 1
            if said[note] > MAX_EQUAL:
                continue
            line, column = parsed.place((key, name))
            self._problem(source, f"line {line}, column {column}: {note}", name, severity="note")
        if name in self._winners:
            self._shadowed.append(judged.entry)
        else:
            self._winners[name] = judged.entry
        return None

    def _problem(
        self,
        source: _Source,
        sentence: str,
        server: str | None = None,
        severity: Literal["error", "note"] = "error",
    ) -> None:
        self._problems.append(ConfigProblem(source.path, source.scope, server, sentence, severity))
