"""`hel mcp lint`: one server looked at in full: how it starts, what it declares, how it takes disturbance.

Not here: what is looked at (core.doctor), what is printed of it (findings).
"""

from __future__ import annotations

import argparse
import os

from hel_tui.cli.common import Exit
from hel_tui.cli.mcp.alone import approved
from hel_tui.cli.mcp.findings import as_json, lines
from hel_tui.cli.mcp.ground import Ground, print_json, say
from hel_tui.cli.orderly import run_in_order
from hel_tui.core.doctor.examine import Ward, examine
from hel_tui.core.protocol import Diagnosis
from hel_tui.core.store.redact import Redactor, secrets_in


def ward_of(ground: Ground) -> Ward:
    """What looking at the servers of a project takes along."""
    redactor = Redactor(secrets_in(os.environ))
    return Ward(ground.project, os.environ, ground.places.state, redactor, redactor.known, redactor.add)


def run(args: argparse.Namespace, ground: Ground) -> int:
    """Run `hel mcp lint`; returns the exit status: 0 without an error, 1 with one."""
    entry = approved(args.server, ground)
    if isinstance(entry, int):
        return entry
    found: list[Diagnosis] = []

    async def work() -> int:
        found.append(await examine(entry, ward_of(ground), lambda _diagnosis: None))
        return Exit.DONE

    status = run_in_order(work())
    if status != Exit.DONE:
        return status
    diagnosis = found[0]
    if args.json:
        print_json(as_json(diagnosis))
    else:
        for line in lines(diagnosis):
            say(line)
    wrong = {"error", "warning"} if args.strict else {"error"}
    return Exit.FAILED if any(one.health in wrong for one in diagnosis.findings) else Exit.DONE
