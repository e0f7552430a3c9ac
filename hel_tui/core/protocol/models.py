"""Which models there are, how one of them is loaded and how hard it is to think.

Not here: which one answers (`ModelChanged` in events, `SetModel` in commands), what was spent (context).
"""

from __future__ import annotations

from hel_tui.core.values import dataclass


@dataclass(frozen=True, slots=True)
class ListModels:
    """Look which models there are; `ModelsListed` tells as providers answer, `Runtime.models` has them."""

    again: bool = False
    """Ask those too that answered lately."""


@dataclass(frozen=True, slots=True)
class SetEffort:
    """How hard the model is to think from the next request on; empty leaves it to its provider."""

    effort: str


@dataclass(frozen=True, slots=True)
class ModelsListed:
    """A provider answered, or was given up."""

    models: int
    waiting: int
    """Providers that have not answered yet."""


@dataclass(frozen=True, slots=True)
class ModelLoading:
    """A file is being loaded into an engine: so many bytes of so many. `size` is 0 when that is over."""

    label: str
    done: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model that can be chosen. Zero, empty and None mean: nobody says."""

    provider: str
    name: str
    base_url: str = ""
    """Empty for the provider's own address."""
    window: int = 0
    """Tokens."""
    max_output: int = 0
    """Tokens."""
    sees: bool | None = None
    tools: bool | None = None
    thinks: bool | None = None
    efforts: tuple[str, ...] = ()
    loaded: bool | None = None
    """Whether an engine on this machine holds it in memory."""
    input_price: float | None = None
    """US dollars for a million tokens."""
    cached_price: float | None = None
    output_price: float | None = None
    recent: bool = False
    """It answered lately."""
    is_local: bool = False
    """It runs on this machine: there is nothing to pay."""
    parallel: bool | None = None
    """Whether it makes several calls in one answer."""

    @property
    def label(self) -> str:
        return f"{self.provider}/{self.name}"


@dataclass(frozen=True, slots=True)
class ProviderRow:
    """Who was asked for models, and how that went."""

    provider: str
    base_url: str
    key: str = ""
    """Where its key comes from, never the key."""
    is_local: bool = False
    waiting: bool = False
    problem: str = ""
    """Why it listed nothing: a sentence."""
    models: int = 0


@dataclass(frozen=True, slots=True)
class ModelList:
    """What is known so far."""

    providers: tuple[ProviderRow, ...] = ()
    models: tuple[ModelRow, ...] = ()
    """The ones used lately first, then by provider in the order of `providers`."""
