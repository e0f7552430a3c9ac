"""How a run of checks is told: lines for a person, JSON, XML that continuous integration reads.

Pure functions of the results. Not here: running them (testing).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from hel_tui.core.protocol import CheckResult
from hel_tui.foreign import harmless, printable

_MARKS = {"passed": "✓", "failed": "✗", "error": "!", "skipped": "-"}
_NO_XML = re.compile("[\ufffe\uffff]")
STATES = ("passed", "failed", "error", "skipped")


@dataclass(frozen=True, slots=True)
class Report:
    results: tuple[CheckResult, ...]
    seconds: float


def totals(report: Report) -> dict[str, int]:
    """How many there are of each state."""
    found: Counter[str] = Counter(result.state for result in report.results)
    return {state: found[state] for state in STATES}


def told(report: Report) -> str:
    """Lines for a person: a mark and a word, so that neither colour nor glyph alone says it."""
    lines: list[str] = []
    server = None
    for result in sorted(report.results, key=lambda one: one.check.server):
        if result.check.server != server:
            server = result.check.server
            lines.append(printable(server) or "(no server)")
        took = f"  {result.seconds:.2f} s" if result.seconds else ""
        lines.append(f"  {_MARKS[result.state]} {result.state:<7} {printable(result.check.name)}{took}")
        if result.message:
            lines.append(f"      {printable(result.message)}")
        lines += [f"      {harmless(line)}" for line in result.diff.splitlines()]
    sums = totals(report)
    said = [f"{sums['passed']} passed"]
    said += [
        f"{sums[state]} {word}"
        for state, word in (("failed", "failed"), ("error", "without a result"))
        if sums[state]
    ]
    return "\n".join([*lines, "", f"{', '.join(said)} ({report.seconds:.1f} s)", ""])


def as_json(report: Report) -> str:
    """One JSON value with stable keys."""
    checks: list[dict[str, Any]] = [
        {
            "name": result.check.name,
            "server": result.check.server,
            "tool": result.check.tool,
            "kind": result.check.kind,
            "file": result.check.file,
            "state": result.state,
            "seconds": round(result.seconds, 4),
            "message": result.message,
            "diff": result.diff,
        }
        for result in report.results
    ]
    return json.dumps({**totals(report), "seconds": round(report.seconds, 4), "checks": checks}, indent=2)


def junit(report: Report) -> bytes:
    """JUnit XML: a suite a server, a case a check."""
    root = ElementTree.Element("testsuites", _sums(report.results, report.seconds))
    for server in sorted({result.check.server for result in report.results}):
        results = tuple(result for result in report.results if result.check.server == server)
        seconds = sum(result.seconds for result in results)
        suite = ElementTree.SubElement(root, "testsuite", {"name": _plain(server), **_sums(results, seconds)})
        for result in results:
            case = ElementTree.SubElement(
                suite,
                "testcase",
                {
                    "classname": _plain(f"{server}.{result.check.tool}"),
                    "name": _plain(result.check.name),
                    "file": _plain(result.check.file),
                    "time": f"{result.seconds:.4f}",
                },
            )
            if result.state in ("failed", "error"):
                kind = "failure" if result.state == "failed" else "error"
                below = ElementTree.SubElement(case, kind, {"message": _plain(result.message), "type": kind})
                below.text = _NO_XML.sub("?", harmless(result.diff))
            elif result.state == "skipped":
                ElementTree.SubElement(case, "skipped", {"message": _plain(result.message)})
    ElementTree.indent(root)
    body: bytes = ElementTree.tostring(root, "utf-8")
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + body + b"\n"


def _sums(results: tuple[CheckResult, ...], seconds: float) -> dict[str, str]:
    found = Counter(result.state for result in results)
    return {
        "tests": str(len(results)),
        "failures": str(found["failed"]),
        "errors": str(found["error"]),
        "skipped": str(found["skipped"]),
        "time": f"{seconds:.4f}",
    }


def _plain(text: str) -> str:
    """What an attribute can hold."""
    return _NO_XML.sub("?", printable(text))
