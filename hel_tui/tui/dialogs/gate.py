"""When a key may decide: the rules that keep a key meant for something else from allowing anything.

Pure logic over event times (time.monotonic() seconds), so that a frozen screen or a fast typist is judged
by when keys were pressed, not by when they were handled. Not here: what keys mean.
"""

from __future__ import annotations

DEAF = 0.4
"""Seconds after its first draw in which a dialog hears nothing."""
SETTLE = 0.25
"""Seconds of quiet that must follow a key that allows: typing goes on, a decision does not."""
PAUSE = 1.0
"""Seconds without a key after which a dialog may open by itself."""


class Gate:
    """One dialog's ears. Deaf until drawn and for DEAF after; a key heard while deaf starts that anew."""

    def __init__(self) -> None:
        self.deaf_until = float("inf")

    def drawn(self, now: float) -> None:
        """The dialog is on the screen since `now`."""
        self.deaf_until = now + DEAF

    def hears(self, pressed: float) -> bool:
        """Whether a key pressed at `pressed` counts."""
        if pressed > self.deaf_until:
            return True
        if self.deaf_until != float("inf"):
            self.deaf_until = max(self.deaf_until, pressed + DEAF)
        return False

    def typing(self, pressed: float) -> None:
        """Somebody types: hear nothing until that stops."""
        self.deaf_until = pressed + DEAF


class Hands:
    """What the person's hands were doing, for the whole app."""

    def __init__(self) -> None:
        self.last_key = float("-inf")

    def key(self, pressed: float) -> None:
        self.last_key = max(self.last_key, pressed)

    def resting(self, now: float) -> bool:
        """Whether nothing was typed for a while, so that a dialog may take the keys."""
        return now - self.last_key >= PAUSE
