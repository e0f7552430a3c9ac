"""Which servers of a repository a person has let run, and what to show before they are asked.

Bound to the project's path, the very bytes of the file, the definition and the programs it names. Files
only the person writes are not asked about. Not here: the dialog (a screen), starting anything (mcp).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from hel_tui.core.permissions.claims import Claimed, claim, masked_definition
from hel_tui.core.permissions.programs import changed_programs
from hel_tui.core.protocol import ServerClaim
from hel_tui.core.store.atomic import Document, read_toml, update_toml

FILE = "trust-servers.toml"


class ParsedFile(Protocol):
    """A server file that was read: what a configuration says of it."""

    @property
    def path(self) -> Path: ...

    @property
    def sha256(self) -> str: ...


E = TypeVar("E", bound=Claimed)
E_co = TypeVar("E_co", bound=Claimed, covariant=True)


class Configured(Protocol[E_co]):
    """The servers that are configured: winners only, and the files they came from."""

    @property
    def entries(self) -> Sequence[E_co]: ...

    @property
    def files(self) -> Sequence[ParsedFile]: ...


@dataclass(frozen=True, slots=True)
class Seal:
    """What an approval is bound to."""

    project: str
    name: str
    file: str
    sha256: str
    """Of the bytes of the file."""
    definition: str
    """Hash of the definition."""


@dataclass(frozen=True, slots=True)
class Case(Generic[E]):
    """One server that needs a person's word: what is shown and what an approval would be bound to."""

    entry: E
    claim: ServerClaim
    seal: Seal
    programs: Mapping[str, str]
    refused: bool = False
    """The person refused exactly this for good: it is listed, and only asked about when they want to."""


@dataclass(frozen=True, slots=True)
class Review(Generic[E]):
    """The servers of a configuration, sorted out."""

    trusted: tuple[E, ...] = ()
    """May start: the person's own, and those approved as they are now."""
    cases: tuple[Case[E], ...] = ()
    off: tuple[E, ...] = ()
    """Switched off and not approved: to be listed, and not to be switched on without a new review."""
    program_changes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(server, files) of trusted servers whose programs changed since they were last looked at."""
    programs: tuple[tuple[Seal, Mapping[str, str]], ...] = ()
    """Hashes of the programs of those servers as they are now."""

    @property
    def pending(self) -> tuple[E, ...]:
        """Those to ask about, in name order."""
        return tuple(case.entry for case in self.cases)

    @property
    def unanswered(self) -> bool:
        """Whether there are any the person did not refuse for good."""
        return any(not case.refused for case in self.cases)

    @property
    def claims(self) -> tuple[ServerClaim, ...]:
        """What the dialog shows of those, in the same order."""
        return tuple(case.claim for case in self.cases)

    def without(self, names: Collection[str]) -> Review[E]:
        """Return the review with these counted as trusted."""
        allowed = tuple(case.entry for case in self.cases if case.entry.name in names)
        rest = tuple(case for case in self.cases if case.entry.name not in names)
        return replace(self, trusted=(*self.trusted, *allowed), cases=rest)


class TrustStore:
    """What was approved, in the state folder; what was allowed once, in this process."""

    def __init__(self, state: Path) -> None:
        self._path = state / FILE
        self._once: set[Seal] = set()

    def review(self, configuration: Configured[E], project: Path, environ: Mapping[str, str]) -> Review[E]:
        """Sort the configured servers out. Reads the record and the programs; starts and asks nothing.

        A damaged record is as none: everything is asked about again.
        """
        document, _ = read_toml(self._path)
        digests = {file.path: file.sha256 for file in configuration.files}
        real = os.path.realpath(project)
        records = {row["name"]: row for row in _rows(document) if row["project"] == real}
        review: Review[E] = Review()
        for entry in configuration.entries:
            if entry.scope != "project":
                review = replace(review, trusted=(*review.trusted, entry))
                continue
            file = os.path.realpath(entry.file)
            seal = Seal(real, entry.name, file, digests.get(entry.file, ""), entry.identity)
            review = self._sorted(review, entry, seal, records.get(entry.name), environ)
        return review

    def _sorted(
        self,
        review: Review[E],
        entry: E,
        seal: Seal,
        record: Mapping[str, Any] | None,
        environ: Mapping[str, str],
    ) -> Review[E]:
        is_known = record is not None and _is_sealed(record, seal)
        is_approved = is_known and record is not None and record.get("refused") is not True
        if not entry.enabled and not is_approved:
            return replace(review, off=(*review.off, entry))
        shown, programs = claim(entry, Path(seal.project), environ)
        before = record.get("programs") if record is not None else None
        changed = changed_programs(before, programs) if isinstance(before, dict) else ()
        if is_approved or seal in self._once:
            review = replace(review, trusted=(*review.trusted, entry))
            if not is_approved or not changed:
                return review
            return replace(
                review,
                program_changes=(*review.program_changes, (entry.name, changed)),
                programs=(*review.programs, (seal, programs)),
            )
        still_run = tuple(path for path in changed if path in programs and path in (before or {}))
        shown = replace(shown, changed=_change(record, entry, seal), program_changed=still_run)
        return replace(review, cases=(*review.cases, Case(entry, shown, seal, programs, is_known)))

    def remember(self, review: Review[E], names: Collection[str]) -> str:
        """Approve these of the review for good, as they were shown. A sentence when it was not saved."""
        self.allow_once(review, names)
        return self._write(review, names, refused=False)

    def refuse(self, review: Review[E], names: Collection[str]) -> str:
        """Refuse these of the review for good, as they were shown. As `remember` otherwise."""
        return self._write(review, names, refused=True)

    def _write(self, review: Review[E], names: Collection[str], *, refused: bool) -> str:
        cases = [case for case in review.cases if case.entry.name in names]

        def change(document: Document) -> None:
            for case in cases:
                _put(document, case.seal, case.programs, masked_definition(case.entry), refused=refused)

        failed = update_toml(self._path, change) if cases else None
        return failed.sentence if failed is not None else ""

    def allow_once(self, review: Review[E], names: Collection[str]) -> None:
        """Approve these of the review until this process ends."""
        self._once |= {case.seal for case in review.cases if case.entry.name in names}

    def note_programs(self, review: Review[E]) -> str:
        """Take the changed programs as seen: each change is pointed out once. As `remember` otherwise."""

        def change(document: Document) -> None:
            for row in _rows(document):
                for seal, programs in review.programs:
                    if _is_sealed(row, seal):
                        row["programs"] = dict(programs)

        failed = update_toml(self._path, change) if review.programs else None
        return failed.sentence if failed is not None else ""

    def remembered(self, project: Path) -> tuple[str, ...]:
        """The names that have an approval for `project`, also one that no longer fits; sorted."""
        document, _ = read_toml(self._path)
        real = os.path.realpath(project)
        mine = [row for row in _rows(document) if row["project"] == real]
        return tuple(sorted(row["name"] for row in mine if row.get("refused") is not True))

    def forget(self, project: Path, names: Collection[str]) -> str:
        """Withdraw approvals of servers of `project`. As `remember` otherwise."""
        real = os.path.realpath(project)
        self._once = {seal for seal in self._once if seal.project != real or seal.name not in names}

        def change(document: Document) -> None:
            if rows := list(_rows(document)):
                document["server"] = [
                    row for row in rows if row["project"] != real or row["name"] not in names
                ]

        failed = update_toml(self._path, change)
        return failed.sentence if failed is not None else ""


def _rows(document: Document) -> Iterable[dict[str, Any]]:
    rows = document.get("server")
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and isinstance(row.get("name"), str) and isinstance(row.get("project"), str):
            yield row


def _is_sealed(row: Mapping[str, Any], seal: Seal) -> bool:
    kept = tuple(row.get(key) for key in ("project", "name", "file", "sha256", "definition"))
    return kept == (seal.project, seal.name, seal.file, seal.sha256, seal.definition)


def _put(document: Document, seal: Seal, programs: Mapping[str, str], shown: str, *, refused: bool) -> None:
    row: dict[str, Any] = {
        "project": seal.project,
        "name": seal.name,
        "file": seal.file,
        "sha256": seal.sha256,
        "definition": seal.definition,
        "shown": shown,
        "programs": dict(programs),
    }
    if refused:
        row["refused"] = True
    others = [
        each for each in _rows(document) if (each["project"], each["name"]) != (seal.project, seal.name)
    ]
    document["version"] = 1
    document["server"] = [*others, row]


def _change(record: Mapping[str, Any] | None, entry: Claimed, seal: Seal) -> str:
    """Return a unified diff of what was approved and what is there now; empty at first sight."""
    if record is None:
        return ""
    import difflib

    before, now = str(record.get("shown", "")), masked_definition(entry)
    then = "refused" if record.get("refused") is True else "approved"
    lines = list(difflib.unified_diff(before.splitlines(), now.splitlines(), then, "now", lineterm="", n=50))
    if record.get("file") != seal.file:
        lines.append(f"# it was {then} in {record.get('file')}, it is now in {seal.file}")
    elif not lines and record.get("definition") == seal.definition:
        lines.append(f"# the file changed since it was {then}; the definition of this server did not")
    elif not lines:
        lines.append("# a masked value changed")
    return "\n".join(lines)
