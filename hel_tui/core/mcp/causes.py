"""What is behind a message: the call that caused it, the exchange of HTTP that carries it.

Context variables, since tasks made on the way inherit them: nothing between has to pass them on. Not here:
keeping them with a message (trace).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

NOTHING: Mapping[str, Any] = MappingProxyType({})
CALL: ContextVar[str] = ContextVar("hel-call", default="")
"""Id of the call (the card) that is being carried out."""
UNASKED: ContextVar[bool] = ContextVar("hel-unasked", default=False)
"""The call is made unasked: what the server asks meanwhile is declined, nobody is disturbed."""
META: ContextVar[Mapping[str, Any]] = ContextVar("hel-meta", default=NOTHING)
"""What the person puts into `_meta` of a call by hand (specification, basic protocol: _meta)."""
SENDING: ContextVar[int] = ContextVar("hel-sending", default=-1)
"""Number of the frame that is being sent."""
EXCHANGE: ContextVar[int] = ContextVar("hel-exchange", default=-1)
"""Number of the `http` frame whose answer is being read."""
