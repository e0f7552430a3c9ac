"""Which model answers in a session, and what to say when none does.

Not here: how a model is spoken to (models), a picker (a screen).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hel_tui.core.models.types import ChatModel
from hel_tui.core.options import Options
from hel_tui.core.protocol import Event, ModelChanged
from hel_tui.core.store.secrets import keyring_value


class Model:
    """The model of one session: chosen at the start, switched by command."""

    def __init__(
        self,
        options: Options,
        emit: Callable[[Event], None],
        default: tuple[str, str],
        hide: Callable[[str], None],
        keyring: Callable[[str], str | None] = keyring_value,
        *,
        vision: bool | None = None,
    ) -> None:
        """`default` is (model, base URL) when none is named; `hide` hears keys that must not be shown.

        `vision` says whether models take images, where the person set it.
        """
        self._options = options
        self._emit = emit
        self._default = default
        self._hide = hide
        self._keyring = keyring
        self._vision = vision
        self.note = ""
        self.current: ChatModel | None = None
        self.changed: Callable[[], None] = lambda: None
        """Called when another model answers from now on."""

    def default(self, model: str, base_url: str, *, vision: bool | None) -> None:
        """What to choose when none is named, from now on."""
        self._default, self._vision = (model, base_url), vision

    async def choose(self, model: str | None, base_url: str | None) -> str:
        """Switch to the model named (None: the default). Returns its label, or "" for none."""
        from hel_tui.core.models.choose import open_model

        if model is None and base_url is None and self._default[0]:
            model, base_url = self._default[0], self._default[1] or None

        choice = await open_model(
            model,
            base_url,
            environ=self._options.environ,
            keyring=self._key,
            vision=self._vision,
        )
        if choice.model is None and self.current is not None:
            self._announce(choice.note)
            return ""
        previous, self.current = self.current, choice.model
        self.changed()
        if previous is not None:
            await previous.aclose()
        self._announce(choice.note)
        return self.current.info.label if self.current is not None else ""

    def _key(self, name: str) -> str | None:
        """A key from the keyring, known as a secret before anything is done with it."""
        value = self._keyring(name)
        if value:
            self._hide(value)
        return value

    def _announce(self, note: str) -> None:
        self.note = note
        if self.current is None:
            self._emit(ModelChanged("", note))
            return
        info = self.current.info
        self._emit(ModelChanged(info.label, note, is_demo=info.is_demo, window=info.window))

    async def aclose(self) -> None:
        """Close the connection to the endpoint."""
        if self.current is not None:
            model, self.current = self.current, None
            await asyncio.wait_for(model.aclose(), 1.0)
