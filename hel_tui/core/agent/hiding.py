"""Takes known secrets out of what a tool returned, before the model or anyone reads it.

Not here: which secrets are known (store.redact), masks of what only a person sees (servers, screens).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from hel_tui.core.agent.arguments import hidden_json
from hel_tui.core.threads import in_thread
from hel_tui.core.vocabulary import Outcome

AT_ONCE = 4096
"""Characters that are looked through in the loop: a thread would take longer than they do."""


async def without_secrets(outcome: Outcome, hide: Callable[[str], str]) -> Outcome:
    """The outcome without known secrets. A large one is looked through beside the loop: a megabyte takes
    some tenths of a second."""
    if len(outcome.text) + len(outcome.full or "") + len(outcome.raw) <= AT_ONCE:
        return _hidden(outcome, hide)
    return await in_thread(partial(_hidden, outcome, hide), "hel-hide")


def _hidden(outcome: Outcome, hide: Callable[[str], str]) -> Outcome:
    full = hide(outcome.full) if outcome.full is not None else None
    warnings = tuple(map(hide, outcome.warnings))
    raw = hidden_json(outcome.raw, hide)
    return replace(outcome, text=hide(outcome.text), full=full, warnings=warnings, raw=raw)
