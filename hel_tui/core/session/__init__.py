"""One conversation and what belongs to it: servers, model, tools, permissions, history.

Not here: the thread it runs in (runtime), what a screen shows of it.
"""

from hel_tui.core.session.conversation import Session

__all__ = ["Session"]
