"""Whether what a script gives an agent can be meant: a mistake is a sentence before anything starts.

Not here: what is only known once the core runs, such as a provider that there is not (core).
"""

from __future__ import annotations

import math
from collections.abc import Collection

from hel_tui.api.results import BadArgument
from hel_tui.core.models.types import EFFORTS
from hel_tui.core.options import Options
from hel_tui.core.protocol import ACCESS_LEVELS


def check_options(options: Options) -> None:
    """Raises BadArgument."""
    if options.access is not None:
        _among("access", options.access, ACCESS_LEVELS)
    if options.effort is not None:
        _among("effort", options.effort, EFFORTS)
    if options.tools:
        from hel_tui.core.tools.builtins import BUILTIN_NAMES
    for name in options.tools or ():
        _among("tools", name, BUILTIN_NAMES)
    _whole("max_steps", options.max_steps)
    _whole("max_output", options.max_output)
    check_amount("max_cost", options.max_cost)
    for file in options.mcp_config:
        if not file.is_file():
            raise BadArgument(f"mcp_config: {file} is not a file")


def check_prompt(prompt: str) -> None:
    """Raises BadArgument."""
    if not isinstance(prompt, str) or not prompt.strip():
        raise BadArgument(f"the prompt must be a text that is not empty, not {_shown(prompt)}")


def check_amount(name: str, value: float | None) -> None:
    """Raises BadArgument for what is no number above 0."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise BadArgument(f"{name} must be a number above 0, not {_shown(value)}")


def check_list(name: str, value: object) -> None:
    """A text is a sequence, too, but of letters. Raises BadArgument."""
    if isinstance(value, str | bytes):
        raise BadArgument(f"{name} must be a list, such as [{value!r}]")


def _whole(name: str, value: int | None) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise BadArgument(f"{name} must be a whole number above 0, not {_shown(value)}")


def _among(name: str, value: str, known: Collection[str]) -> None:
    if value not in known:
        raise BadArgument(f"{name}: there is no {_shown(value)}; there are {', '.join(known)}")


def _shown(value: object) -> str:
    return repr(value)[:60]
