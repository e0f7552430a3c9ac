"""One server looked at from start to end, whatever carries it; and hel itself with all of its servers.

Not here: single looks (behaviour, remote, definitions, machine), who asked for it (a screen, a command).
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hel_tui.core.counts import counted
from hel_tui.core.doctor.behaviour import Bench, behaviour
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.protocol import Diagnosis, Event, Finding
from hel_tui.core.store.files import SessionFiles
from hel_tui.core.store.secrets import kept_value

Tell = Callable[[Diagnosis], None]
"""Hears what is known so far, each time there is more."""


@dataclass(frozen=True, slots=True)
class Ward:
    """What looking at servers takes along."""

    project: Path
    environ: Mapping[str, str]
    state: Path
    mask: Callable[[str], str]
    """Hides what looks like a secret."""
    known: Callable[[str], str]
    """Hides what is known to be one."""
    hide: Callable[..., None]
    """Hears of values that are secret from now on."""

    def keyring(self, name: str) -> str | None:
        """A value of the keyring, hidden from now on. May block."""
        value = kept_value(name, self.state)
        self.hide(*filter(None, [value]))
        return value


async def examine(entry: ServerEntry, ward: Ward, tell: Tell) -> Diagnosis:
    """Look at one server. It must be approved: its program is started, twice where it is a process."""
    began = time.monotonic()
    found: list[Finding] = []

    def heard(finding: Finding) -> None:
        found.append(masked(finding, ward.mask))
        tell(Diagnosis(entry.name, tuple(found), running=True, seconds=time.monotonic() - began))

    tell(Diagnosis(entry.name, (), running=True))
    try:
        if entry.transport == "stdio":
            await behaviour(Bench(entry, ward.environ, ward.mask, ward.keyring), heard)
        else:
            await _remote(entry, ward, heard)
    except Exception as error:  # a fault of ours must not look like health
        heard(
            Finding("error", "doctor", f"hel failed at it: {type(error).__name__}: {ward.mask(str(error))}")
        )
    diagnosis = Diagnosis(entry.name, tuple(found), seconds=time.monotonic() - began)
    tell(diagnosis)
    return diagnosis


def masked(finding: Finding, mask: Callable[[str], str]) -> Finding:
    """The finding without secrets: it quotes servers, files and the system."""
    return replace(
        finding,
        sentence=mask(finding.sentence),
        tool=mask(finding.tool),
        path=mask(finding.path),
        mend=mask(finding.mend),
        also=tuple(map(mask, finding.also)),
    )


async def _remote(entry: ServerEntry, ward: Ward, heard: Callable[[Finding], None]) -> None:
    from hel_tui.core.doctor.remote import over_http
    from hel_tui.core.mcp.host import Host

    with tempfile.TemporaryDirectory(prefix="hel-") as folder:
        files = SessionFiles(Path(folder))
        host = Host(
            ward.project,
            ward.environ,
            lambda: files,
            ward.state,
            _deaf,
            mask=ward.mask,
            known=ward.known,
            hide=ward.hide,
        )
        try:
            await over_http(entry, host, ward.mask, heard)
        finally:
            await host.aclose()


def _deaf(_event: Event) -> None:
    """What the host tells on the way is in its findings."""


def summary(entry: ServerEntry, diagnosis: Diagnosis) -> Finding:
    """One server in one line, for the report on hel itself."""
    errors = [one for one in diagnosis.findings if one.health == "error"]
    warnings = sum(one.health == "warning" for one in diagnosis.findings)
    if errors:
        first = errors[0]
        sentence = f"{entry.name}: {first.topic}: {first.sentence}"
        return Finding("error", "servers", sentence, mend=first.mend or f"hel mcp lint {entry.name}")
    if warnings:
        sentence = f"{entry.name} works, with {counted(warnings, 'warning')}"
        return Finding("warning", "servers", sentence, mend=f"hel mcp lint {entry.name}")
    return Finding("ok", "servers", f"{entry.name} works")


def worst(findings: Sequence[Finding]) -> str:
    """`error`, `warning` or `ok`."""
    healths = {one.health for one in findings}
    return next((one for one in ("error", "warning") if one in healths), "ok")
