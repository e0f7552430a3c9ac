"""The settings of a session's project: what of them waits for the person's word, and what an approval does.

Not here: reading files (store), what the approval is bound to (permissions.settings_trust).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hel_tui.core.permissions.settings_trust import NAME, SettingsTrust
from hel_tui.core.protocol import Event, Notice, ServerClaim, TrustAnswer
from hel_tui.core.store.places import Places
from hel_tui.core.store.settings import LoadedSettings, Loosening, load_settings
from hel_tui.core.threads import in_thread


class ProjectSettings:
    """Settings as they hold now. `current` is read wherever one is needed."""

    def __init__(self, project: Path, places: Places, emit: Callable[[Event], None]) -> None:
        """Reads both files: a few kilobytes."""
        self._project = project
        self._places = places
        self._emit = emit
        self._trust = SettingsTrust(places.state)
        self.current = self._load()
        self.changed: Callable[[LoadedSettings], None] = lambda _settings: None
        """Called when the project's own settings came to hold, or no longer do."""
        self.pending: Loosening | None = None
        """What of the project's file waits for the person."""
        self.claims: tuple[ServerClaim, ...] = ()
        """What is shown of that."""

    def _load(self) -> LoadedSettings:
        loaded = load_settings(self._project, self._places)
        if loaded.loosening is None or not self._trust.is_trusted(loaded.loosening, self._project):
            return loaded
        trusted = load_settings(self._project, self._places, project_is_trusted=True)
        # read twice: only what was approved may hold
        return trusted if trusted.loosening == loaded.loosening else loaded

    def _is_trusted(self, loosening: Loosening | None) -> bool:
        return loosening is None or self._trust.is_trusted(loosening, self._project)

    async def read(self) -> None:
        """Read the files again. What holds already stays until the person says something."""

        def look() -> tuple[Loosening | None, tuple[ServerClaim, ...]]:
            loosening = load_settings(self._project, self._places).loosening
            if loosening is None or self._is_trusted(loosening):
                return None, ()
            return loosening, (self._trust.claim(loosening, self._project),)

        self.pending, self.claims = await in_thread(look, "hel-settings")

    async def answered(self, answer: TrustAnswer) -> None:
        """Carry out what the person said of the project's settings."""
        loosening = self.pending
        if loosening is None or answer.decision in ("refuse", "never") or NAME not in answer.servers:
            return
        if answer.decision == "once":
            self._trust.allow_once(loosening, self._project)
        elif problem := await in_thread(lambda: self._trust.remember(loosening, self._project), "hel-trust"):
            self._emit(Notice("warning", f"Approved for this run only: {problem}"))
        self.pending, self.claims = None, ()
        self.current = await in_thread(self._load, "hel-settings")
        self.changed(self.current)
