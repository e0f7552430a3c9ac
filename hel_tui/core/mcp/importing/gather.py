"""All servers of an agent, translated and judged as they would be read from a file of hel's.

Nothing fails: what cannot be used has a sentence. Not here: one entry's keys (agents, editors), writing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hel_tui.core.mcp.editing import OwnScope, files_of
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.importing import agents, editors
from hel_tui.core.mcp.importing.draft import Draft, Json, fitting_name
from hel_tui.core.mcp.importing.places import Source, Spot, usual_files
from hel_tui.core.mcp.importing.reading import Unusable, document_of, servers_of
from hel_tui.core.mcp.validation import Invalid, judge
from hel_tui.core.store.places import Places
from hel_tui.core.store.redact import looks_like_secret

_AGENTS: dict[str, Callable[[Draft], None]] = {
    "claude": agents.claude,
    "codex": agents.codex,
    "opencode": agents.opencode,
    "gemini": agents.gemini,
    "crush": agents.crush,
    "goose": agents.goose,
}
_EDITORS: dict[str, Callable[[Draft, editors.Editor], None]] = {
    "claude-desktop": editors.cursor,
    "cursor": editors.cursor,
    "vscode": editors.vscode,
    "zed": editors.zed,
}


@dataclass(frozen=True, slots=True)
class Found:
    """One server of another agent."""

    name: str
    """As hel would call it."""
    original: str
    """As it is called there."""
    file: Path
    from_project: bool
    """Its file is part of the project: anybody may have written it."""
    scope: OwnScope
    """Where it would go."""
    raw: Json = field(default_factory=dict)
    """What would be written."""
    entry: ServerEntry | None = None
    """The same as it would be read; None when it could not be."""
    notes: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    """Values the person has to keep before it can start."""
    problem: str = ""
    """Why it cannot be taken over."""


@dataclass(frozen=True, slots=True)
class _Origin:
    """Where a server comes from, and where it would go."""

    source: Source
    document: Json
    spot: Spot
    project: Path
    scope: OwnScope
    target: Path

    def translate(self, draft: Draft) -> None:
        if self.source in _AGENTS:
            return _AGENTS[self.source](draft)
        inputs = self.document.get("inputs")
        editor = editors.Editor(self.project, inputs, is_shared=self.scope == "project")
        return _EDITORS[self.source](draft, editor)


@dataclass(frozen=True, slots=True)
class Gathered:
    files: tuple[Path, ...] = ()
    """That were there and could be read."""
    looked: tuple[Path, ...] = ()
    """That were looked for."""
    found: tuple[Found, ...] = ()
    problems: tuple[str, ...] = ()


def gather(
    source: Source,
    project: Path,
    places: Places,
    environ: Mapping[str, str],
    *,
    file: Path | None = None,
    scope: OwnScope | None = None,
) -> Gathered:
    """Read `file`, else the usual files of `source`. With `scope` everything would go there.

    Otherwise a server stays with whom it was for: the project, the person here, the person everywhere.
    """
    spots = usual_files(source, project, environ) if file is None else (_spot(file, project),)
    files: list[Path] = []
    found: list[Found] = []
    problems: list[str] = []
    taken: set[tuple[OwnScope, str]] = set()
    for spot in spots:
        try:
            document = document_of(spot, source)
            if document is None:
                continue
            files.append(spot.path)
            for own, servers in servers_of(source, document, project, is_own=spot.within is None):
                if source == "claude" and own == "project" and file is None and scope is None:
                    problems.append(f"{spot.path} is read by hel as it is: nothing to import.")
                    continue
                target = files_of(scope or own, project, places)[0].path
                origin = _Origin(source, document, spot, project, scope or own, target)
                for name, raw in servers.items():
                    one = _found(origin, str(name), raw)
                    if one is not None:
                        found.append(_unless_taken(one, taken))
        except Unusable as problem:
            problems.append(f"{spot.path}: {problem}")
    return Gathered(tuple(files), tuple(spot.path for spot in spots), tuple(found), tuple(problems))


def _spot(file: Path, project: Path) -> Spot:
    inside = file.absolute().is_relative_to(project)
    return Spot(file.absolute(), project if inside else None)


def _unless_taken(one: Found, taken: set[tuple[OwnScope, str]]) -> Found:
    key = (one.scope, one.name)
    if not one.problem and key in taken:
        return replace(one, problem=f'another one is called "{one.name}" already')
    if not one.problem:
        taken.add(key)
    return one


# ----------------------------------------------------------------- translating


def _found(origin: _Origin, original: str, raw: Any) -> Found | None:
    """One server translated; None for what is no server of the person's making."""
    name = fitting_name(original) or original
    blank = Found(name, original, origin.spot.path, origin.spot.within is not None, origin.scope)
    if not isinstance(raw, dict):
        return replace(blank, problem="it is no object")
    if origin.source == "zed" and editors.is_of_extension(raw):
        return replace(blank, problem="an extension of Zed brings it, with its own program")
    draft = Draft(name, raw)
    if name != original:
        draft.notes.append(f'called "{original[:60]}" there')
    origin.translate(draft)
    if origin.source == "goose" and not draft.entry:
        return None
    draft.finish()
    notes = (*draft.notes, *_warnings(draft.entry, origin))
    found = replace(blank, raw=draft.entry, notes=notes, secrets=tuple(draft.secrets))
    cwd = origin.target.parent if origin.scope == "user" else origin.project
    try:
        return replace(found, entry=judge(name, draft.entry, origin.scope, origin.target, cwd).entry)
    except Invalid as invalid:
        return replace(found, problem=str(invalid))


def _warnings(entry: Json, origin: _Origin) -> Iterator[str]:
    """What is to be known before it is written, besides what was left out."""
    literal = [
        f"`{key}.{name}`"
        for key in ("env", "headers")
        if isinstance(values := entry.get(key), dict)
        for name, value in values.items()
        if isinstance(value, str) and looks_like_secret(str(name), value)
    ]
    if literal:
        where = "a file that is committed" if origin.scope == "project" else "plain text, as it is there"
        yield f"{', '.join(literal)} would be in {where}: --keyring keeps it apart"
    command = entry.get("command")
    moves = origin.scope == "user" and origin.spot.within is not None
    if moves and isinstance(command, str) and os.sep in command and not command.startswith(("/", "~", "$")):
        yield f"`command` is a path in {origin.project}: it is only found from there"
