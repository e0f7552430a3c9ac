"""What tools return is rid of secrets, and large results do not hold up the loop meanwhile."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest

from hel_tui.core.agent.hiding import AT_ONCE, without_secrets
from hel_tui.core.store.redact import MARK, Redactor
from hel_tui.core.vocabulary import Outcome

SECRET = "hunter2-secret"


@pytest.mark.parametrize("more", [0, 10 * AT_ONCE])
async def test_secrets_leave_every_part_of_a_result(more: int) -> None:
    told = f"it is {SECRET}"
    raw = json.dumps({"a": told, SECRET: ["x" * more]})
    outcome = Outcome(told, full=told, warnings=(told,), raw=raw)
    hidden = await without_secrets(outcome, Redactor([SECRET]).known)
    assert SECRET not in repr(hidden)
    assert (hidden.text, hidden.full, hidden.warnings) == (f"it is {MARK}",) * 2 + ((f"it is {MARK}",),)
    assert json.loads(hidden.raw) == {"a": f"it is {MARK}", MARK: ["x" * more]}


@pytest.mark.parametrize("part", ["text", "full", "raw"])
async def test_the_loop_goes_on_while_a_large_result_is_looked_through(part: str) -> None:
    large = json.dumps(["x" * AT_ONCE])
    went_on = threading.Event()

    def hide(text: str) -> str:
        assert went_on.wait(30), "the loop waits for this"
        return text

    outcome = Outcome(**{"text": "", part: large})
    hiding = asyncio.ensure_future(without_secrets(outcome, hide))
    await asyncio.sleep(0)
    went_on.set()
    assert (await hiding) == (outcome if part != "raw" else Outcome("", raw=large.replace(", ", ",")))
