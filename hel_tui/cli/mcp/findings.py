"""What a doctor found, as text and as JSON. Pure functions; foreign text is made safe where it is printed.

Not here: looking (core.doctor).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hel_tui.core.counts import counted
from hel_tui.core.protocol import Diagnosis, Finding

SIGNS = {"ok": "✓ ok     ", "info": "· note   ", "warning": "▲ warning", "error": "✗ error  "}
_TOPIC = 13


def lines(diagnosis: Diagnosis) -> Iterator[str]:
    """The findings in the order in which they were made, then how many there were of each kind."""
    for finding in diagnosis.findings:
        yield from _lines_of(finding)
    counts = {name: sum(one.health == name for one in diagnosis.findings) for name in ("error", "warning")}
    yield ""
    yield (
        f"{len(diagnosis.findings)} looked at in {diagnosis.seconds:.1f} s: "
        f"{counted(counts['error'], 'error')}, {counted(counts['warning'], 'warning')}"
    )


def _lines_of(finding: Finding) -> Iterator[str]:
    head = f"{SIGNS[finding.health]}  {finding.topic:<{_TOPIC}} "
    where = " ".join(part for part in (finding.tool, finding.path) if part)
    where += f" and {len(finding.also)} more" if finding.also else ""
    profile = f" ({finding.profile})" if finding.profile else ""
    yield f"{head}{f'{where}: ' if where else ''}{finding.sentence}{profile}"
    if finding.mend:
        yield f"{' ' * len(head)}→ {finding.mend}"


def as_json(diagnosis: Diagnosis) -> dict[str, Any]:
    """Stable keys: `server`, `seconds`, `errors`, `warnings`, `findings`."""
    findings = diagnosis.findings
    return {
        "server": diagnosis.server or None,
        "seconds": round(diagnosis.seconds, 3),
        "errors": sum(one.health == "error" for one in findings),
        "warnings": sum(one.health == "warning" for one in findings),
        "findings": [
            {
                "health": one.health,
                "topic": one.topic,
                "sentence": one.sentence,
                "tool": one.tool or None,
                "path": one.path or None,
                "profile": one.profile or None,
                "mend": one.mend or None,
                "also": list(one.also),
            }
            for one in findings
        ],
    }
