"""What settings make of a session where the command line says nothing: at its start, and when they change.

Not here: reading settings (settings, store), what a part does with them.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from hel_tui.core.agent.registry import Registry
from hel_tui.core.agent.task import Task
from hel_tui.core.agent.turn import Agent
from hel_tui.core.mcp.host import Host
from hel_tui.core.options import Options
from hel_tui.core.permissions.policy import Policy
from hel_tui.core.protocol import AccessChanged, Event
from hel_tui.core.session.model import Model, Wishes
from hel_tui.core.store.memory import recall
from hel_tui.core.store.places import Places
from hel_tui.core.store.settings import LoadedSettings
from hel_tui.core.tools.builtins import BUILTIN_NAMES, builtin_tools
from hel_tui.core.tools.checkpoints.keeper import Checkpoints
from hel_tui.core.tools.paths import Workspace
from hel_tui.core.tools.todo import Todos
from hel_tui.core.vocabulary import Tool


@dataclass(frozen=True, slots=True)
class Defaults:
    """The parts that settings have a say in."""

    options: Options
    places: Places
    builtins: Callable[[LoadedSettings], Mapping[str, Tool]]
    registry: Registry
    policy: Policy
    agent: Agent
    host: Host
    model: Model
    emit: Callable[[Event], None]
    spawn: Callable[[Coroutine[Any, Any, None]], None]

    def hold(self, now: LoadedSettings) -> None:
        """The project's own settings hold from here on, but for what the command line says."""
        options, settings = self.options, now.settings
        self.registry.offer(self.builtins(now))
        self.policy.use(now.rules)
        if options.access is None:
            self.policy.level = settings.access
            self.emit(AccessChanged(self.policy.level))
        if options.max_steps is None:
            self.agent.max_steps = settings.max_steps
        self.agent.context.compactor.said = settings.context_window
        self.host.use(settings.on_list_changed, settings.naming, settings.loading)
        if options.model is None and options.base_url is None:
            self.model.wish(wishes_of(now, self.places))
            self.spawn(self._choose())

    async def _choose(self) -> None:
        """Switch to the model that is the default now."""
        await self.model.choose(None, None)


def builtins_of(
    loaded: LoadedSettings,
    *,
    options: Options,
    workspace: Workspace,
    checkpoints: Checkpoints,
    todos: Todos,
    task: Task,
) -> tuple[dict[str, Tool], tuple[str, ...]]:
    """The built-in tools on offer, and a remark on names in a settings file that are none."""
    names, remark = options.tools, ""
    if names is None and loaded.settings.tools is not None:
        wanted = loaded.settings.tools
        names = tuple(name for name in wanted if name in BUILTIN_NAMES)
        if unknown := [name for name in wanted if name not in BUILTIN_NAMES]:
            remark = f"tools: there is no {', '.join(unknown)}; there are {', '.join(BUILTIN_NAMES)}"
    network = loaded.settings.network
    tools = builtin_tools(
        workspace,
        names=names,
        environ=options.environ,
        network=network,
        checkpoints=checkpoints,
        todos=todos,
        task=task,
    )
    return tools, (remark,) if remark else ()


def wishes_of(loaded: LoadedSettings, places: Places) -> Wishes:
    """What is wished of the model where the command line says nothing: settings, else what was used last."""
    settings = loaded.settings
    model, base_url = settings.model, settings.base_url
    if not model:
        last = recall(places)
        model, base_url = last.model, last.base_url
    return Wishes(
        model,
        base_url,
        settings.vision,
        settings.parallel_calls,
        settings.context_window,
        settings.fallback_model,
        settings.effort,
    )
