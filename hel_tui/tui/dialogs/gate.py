"""When a key may decide: the rules that keep a key meant for something else from allowing anything.

Pure logic over event times (time.monotonic() seconds), so that a frozen screen or a fast typist is judged
by when keys were pressed, not by when they were handled. Not here: what keys mean.
"""

from __future__ import annotations

DEAF = 0.4
"""Seconds after its first draw in which a dialog hears nothing."""
SETTLE = 0.25
"""Seconds of quiet before and after a key that answers: typing goes on, a decision does not."""
PAUSE = 1.0
"""Seconds without a key after which a dialog may open by itself."""
_NEVER = float("-inf")


class Gate:
    """One dialog's ears. Deaf until drawn and for DEAF after; a key pressed while deaf starts that anew."""

    def __init__(self) -> None:
        self.deaf_until = float("inf")
        self._last = _NEVER
        self._text_before = _NEVER
        self._text_last = _NEVER
        self._pending: tuple[str, float] | None = None

    def drawn(self, now: float) -> None:
        """The dialog is on the screen since `now`."""
        self.deaf_until = now + DEAF

    def hears(self, pressed: float, is_text: bool = True) -> bool:
        """Whether a key pressed at `pressed` counts. `is_text`: it could be part of something typed."""
        self._last = max(self._last, pressed)
        if is_text:
            self._text_before, self._text_last = self._text_last, pressed
        if pressed <= self.deaf_until:
            if self.deaf_until != float("inf"):
                self.typing(pressed)
            return False
        if self._pending is not None or (is_text and pressed - self._text_before < SETTLE):
            self.typing(pressed)
            return False
        return True

    def hears_field(self, pressed: float) -> bool:
        """Whether a key for a field of the dialog counts: there, typing is what is meant."""
        self._last = self._text_last = max(self._last, pressed)
        return pressed > self.deaf_until

    def typing(self, pressed: float) -> None:
        """Somebody types: nothing is decided, and nothing is heard until that stops."""
        self._pending = None
        self.deaf_until = max(self.deaf_until, pressed + DEAF)

    def decide(self, run: str, pressed: float) -> bool:
        """A key that answers was pressed: keep it until it has settled. Say whether it is kept.

        It is not when a later key has been seen already, though not handled yet.
        """
        if self._last > pressed:
            return False
        self._pending = (run, pressed)
        return True

    def settled(self, now: float) -> str:
        """What was decided, once it was followed by quiet; else empty."""
        if self._pending is None or now - self._pending[1] < SETTLE:
            return ""
        run, self._pending = self._pending[0], None
        return run


class Hands:
    """What the person's hands were doing, for the whole app."""

    def __init__(self) -> None:
        self.last_key = _NEVER

    def key(self, pressed: float) -> None:
        self.last_key = max(self.last_key, pressed)

    def resting(self, now: float) -> bool:
        """Whether nothing was typed for a while, so that a dialog may take the keys."""
        return now - self.last_key >= PAUSE
