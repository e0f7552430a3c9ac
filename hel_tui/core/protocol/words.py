"""The few words that several parts of the door share: levels, phases, states.

Not here: what carries them (commands, events, questions, reading).
"""

from __future__ import annotations

from typing import Literal

AccessLevel = Literal["read-only", "confirm", "auto"]
ACCESS_LEVELS: tuple[AccessLevel, ...] = ("read-only", "confirm", "auto")
Phase = Literal[
    "off", "untrusted", "starting", "ready", "degraded", "restarting", "needs login", "failed", "stopped"
]
CallState = Literal["queued", "waiting", "running", "ok", "failed", "refused", "cancelled"]
TurnEnd = Literal["done", "length", "refusal", "filter", "limit", "interrupted", "failed"]
Severity = Literal["info", "warning", "error"]
LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
"""Levels of a server's log messages (specification, logging; RFC 5424)."""
