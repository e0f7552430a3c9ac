"""Puts a session's parts together: settings, record, host, permissions, tools, agent.

Wiring only, no behaviour: who is given what. Not here: commands and turns (conversation).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hel_tui.core.agent.approval import Approver
from hel_tui.core.agent.budget import Budget
from hel_tui.core.agent.calls import Caller
from hel_tui.core.agent.context import Prompt
from hel_tui.core.agent.crew import Crew, Means
from hel_tui.core.agent.gates import NoHooks
from hel_tui.core.agent.ledger import Ledger
from hel_tui.core.agent.offer import Offer
from hel_tui.core.agent.registry import Registry
from hel_tui.core.agent.task import Task
from hel_tui.core.agent.task_log import TaskLogs
from hel_tui.core.agent.turn import Agent
from hel_tui.core.context.prompt import inventory_news, is_large
from hel_tui.core.mcp.choices import Choices
from hel_tui.core.mcp.host import Host
from hel_tui.core.options import Options
from hel_tui.core.permissions.policy import Policy
from hel_tui.core.protocol import AccessChanged, Event, Notice
from hel_tui.core.questions import Desk
from hel_tui.core.session.attaching import Attaching
from hel_tui.core.session.author import Author
from hel_tui.core.session.authoring import Authoring
from hel_tui.core.session.checking import Checking
from hel_tui.core.session.doctor import Doctor
from hel_tui.core.session.inside import Inside
from hel_tui.core.session.model import Model, Wishes
from hel_tui.core.session.model_list import ModelLists
from hel_tui.core.session.offerings import Offerings
from hel_tui.core.session.own_files import OwnFiles
from hel_tui.core.session.pages import Pages
from hel_tui.core.session.questions import recorded_questions
from hel_tui.core.session.reruns import Reruns
from hel_tui.core.session.sampling import Purse, sample_with
from hel_tui.core.session.saving import Saving
from hel_tui.core.session.schemas import Schemas
from hel_tui.core.session.searches import Searches
from hel_tui.core.session.servers import Servers
from hel_tui.core.session.settings import ProjectSettings
from hel_tui.core.session.tools import Tools
from hel_tui.core.store.files import SessionFiles
from hel_tui.core.store.memory import recall
from hel_tui.core.store.places import Places, project_key
from hel_tui.core.store.record import Record
from hel_tui.core.store.redact import Redactor
from hel_tui.core.store.settings import LoadedSettings
from hel_tui.core.threads import Writes
from hel_tui.core.tools.bash import Bash
from hel_tui.core.tools.builtins import BUILTIN_NAMES, builtin_tools
from hel_tui.core.tools.checkpoints.keeper import Checkpoints
from hel_tui.core.tools.finding import FileIndex
from hel_tui.core.tools.paths import Workspace
from hel_tui.core.tools.todo import Todos
from hel_tui.core.vocabulary import Tool

FILES = "files"
"""Folder of a session's saved results."""

Emit = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Parts:
    """What a session works with."""

    places: Places
    redactor: Redactor
    record: Pages
    desk: Desk
    host: Host
    servers: Servers
    policy: Policy
    model: Model
    models: ModelLists
    """All models that can be chosen."""
    attaching: Attaching
    """Files of the person's, by name and from the clipboard."""
    offerings: Offerings
    """Resources and prompts of the servers, as the person uses them."""
    tools: Tools
    """Server tools as the person deals with them."""
    inside: Inside
    """What goes on in the servers, as a screen shows it."""
    authoring: Authoring
    """For people who write servers."""
    doctor: Doctor
    """Says what is well and what is not."""
    searches: Searches
    checkpoints: Checkpoints
    """What files were before tools changed them."""
    crew: Crew
    """Runs tasks."""
    todos: Todos
    """What is still to do, as the model keeps it."""
    shell: Tool
    """bash as the person's own: commands typed with `!` run through it."""
    ledger: Ledger
    writes: Writes
    caller: Caller
    agent: Agent
    turn_over: Callable[[Path], None]
    """Begin a new session in this folder: record, saved files, approvals; servers stay."""
    settings: ProjectSettings
    remarks: tuple[str, ...]
    """Sentences about settings and rules that could not be used."""


def assemble(
    options: Options,
    session_id: str,
    from_host: Emit,
    prompt: Prompt,
    spawn: Callable[[Coroutine[Any, Any, None]], None],
    *,
    places: Places,
    redactor: Redactor,
    saving: Saving,
) -> Parts:
    """Build the parts of a session. Reads settings, starts nothing. All events go through `saving.emit`."""
    emit = saving.emit
    settings = ProjectSettings(options.project, places, emit)
    loaded = settings.current
    folder = places.session_dir(session_id)
    files = SessionFiles(folder / FILES, redactor.known)
    record = Pages(
        lambda path: Record(path, redactor, lambda why: emit(Notice("warning", why))), folder, options.project
    )
    desk = Desk(emit)
    model = Model(options, emit, _wishes(loaded, places), redactor.add)
    purse = Purse(
        budget=lambda: budget,
        accounts=lambda: agent.context.accounts,
        turn=lambda: checkpoints.turn,
        told=lambda: agent.measure(model.current),
    )
    sample = sample_with(model, purse, record)
    host = Host(
        project=options.project,
        environ=options.environ,
        files=lambda: files,
        state_dir=places.state,
        on_event=from_host,
        mask=redactor,
        known=redactor.known,
        hide=redactor.add,
        mirror_folder=record.folder,
        ask=recorded_questions(desk.ask, record),
        sample=lambda: sample,
        answerable=options.answerable,
        on_list_changed=loaded.settings.on_list_changed,
        naming=loaded.settings.naming,
        loading=loaded.settings.loading,
        choices=Choices(places.state / "tools" / f"{project_key(options.project)}.toml"),
    )
    policy = Policy.load(
        places,
        options.project,
        level=options.access or loaded.settings.access,
        rules=loaded.rules,
        environ=options.environ,
    )
    policy.saved = str(files.folder.resolve())
    host.list_changes.dropped = policy.dropped

    workspace = Workspace(options.project, files.folder, (places.config, places.state), redactor.known)
    checkpoints = Checkpoints(
        workspace,
        folder,
        hides=lambda text: redactor.known(text) != text,
        tell=lambda sentence: emit(Notice("warning", sentence)),
    )
    todos = Todos(emit)
    crew = Crew(TaskLogs(redactor))
    task = Task(workspace, crew)
    builtins, remark = _builtins(options, loaded, workspace, checkpoints, todos, task)
    with_servers = options.mcp
    registry = Registry(
        builtins,
        host.catalogue if with_servers else None,
        host.loader if with_servers else None,
        host.starting,
        searcher=host.searcher if with_servers else None,
        is_large=lambda inventory: is_large(inventory, settings.current.settings.inventory_budget),
    )
    ledger = Ledger(emit, record, redactor, saving)
    writes = Writes()
    tools = Tools(host=host, pins=policy.pins, writes=writes, emit=emit, spawn=spawn)
    offer = Offer(registry, emit, record)
    schemas = Schemas(host.catalogue, offer, model)
    tools.shown = schemas.shown
    host.request_size = lambda: (len(registry.definitions()), schemas.tool_limit)

    def decides(ledger: Ledger, desk: Desk, emit: Emit) -> Approver:
        return Approver(
            policy=policy,
            desk=desk,
            ledger=ledger,
            emit=emit,
            record=record,
            writes=writes,
            answerable=options.answerable,
            pinned=tools.pinned,
            current=host.catalogue.find,
        )

    approver = decides(ledger, desk, emit)
    caller = Caller(
        registry=registry,
        approver=approver,
        hooks=NoHooks(),
        ledger=ledger,
        emit=emit,
        record=record,
        hide=redactor.known,
    )

    def answers(**differing: Any) -> Agent:
        made = Agent(
            news=lambda old, new: inventory_news(old, new, settings.current.settings.inventory_budget),
            shorten=files.shorten,
            **differing,
        )
        made.context.compactor.said = settings.current.settings.context_window
        made.context.effort = lambda: model.effort
        made.fall_back = model.fall_back
        return made

    budget = Budget(options.max_cost)
    agent = answers(
        registry=registry,
        offer=offer,
        caller=caller,
        desk=desk,
        emit=emit,
        record=record,
        prompt=prompt,
        reminders=todos.reminders,
        max_steps=options.max_steps or loaded.settings.max_steps,
        max_output=options.max_output,
        budget=budget,
        keeper=saving,
    )
    agent.context.shape = options.shape

    def stop_turn() -> None:
        approver.stopped = True

    crew.join(
        Means(
            registry=registry,
            desk=desk,
            record=record,
            prompt=prompt,
            accounts=lambda: agent.context.accounts,
            budget=budget,
            model=lambda: model.current,
            turn=lambda: checkpoints.turn,
            ledger=lambda told, prefix: Ledger(told, record, redactor, prefix=prefix),
            approver=decides,
            agent=answers,
            hide=redactor.known,
            spent=lambda: agent.measure(model.current),
            stop=stop_turn,
        )
    )

    checking = Checking(
        project=options.project,
        environ=options.environ,
        host=host,
        ledger=ledger,
        policy=policy,
        desk=desk,
        redactor=redactor,
        emit=emit,
        answerable=options.answerable,
    )
    reruns = Reruns(host=host, ledger=ledger, policy=policy, checking=checking, hide=redactor.known)
    author = Author(project=options.project, host=host, reruns=reruns, emit=emit, spawn=spawn)
    authoring = Authoring(project=options.project, checking=checking, author=author, emit=emit, spawn=spawn)
    searches = Searches(host, record, emit)
    offerings = Offerings(
        host,
        lambda: files,
        emit,
        OwnFiles(workspace, lambda: files),
        redactor.known,
        blind=model.blind,
    )

    def turn_over(folder: Path) -> None:
        saving.turn_over(folder)
        record.turn_over(folder)
        files.turn_over(folder / FILES)
        workspace.turn_over(files.folder)
        checkpoints.turn_over(folder)
        todos.go_on(())
        crew.clear()
        policy.turn_over(str(files.folder.resolve()))
        approver.turn_over()
        ledger.clear()
        agent.reset()
        host.catalogue.unload_all()
        searches.clear()
        offerings.clear()
        authoring.clear()

    def settings_changed(now: LoadedSettings) -> None:
        """The project's own settings hold from here on, but for what the command line says."""
        builtins, _ = _builtins(options, now, workspace, checkpoints, todos, task)
        registry.offer(builtins)
        policy.use(now.rules)
        if options.access is None:
            policy.level = now.settings.access
            emit(AccessChanged(policy.level))
        if options.max_steps is None:
            agent.max_steps = now.settings.max_steps
        agent.context.compactor.said = now.settings.context_window
        host.use(now.settings.on_list_changed, now.settings.naming, now.settings.loading)
        if options.model is None and options.base_url is None:
            model.wish(_wishes(now, places))
            spawn(_chosen(model))

    settings.changed = settings_changed

    servers = Servers(
        options=options, places=places, host=host, desk=desk, settings=settings, emit=searches.emit
    )
    return Parts(
        places=places,
        redactor=redactor,
        record=record,
        desk=desk,
        host=host,
        servers=servers,
        policy=policy,
        model=model,
        models=ModelLists(model, places, options.environ, emit),
        attaching=Attaching(
            offerings,
            FileIndex(workspace, options.environ),
            options.environ,
            options.project,
            emit,
            spawn,
        ),
        offerings=offerings,
        tools=tools,
        inside=Inside(
            host,
            project=options.project,
            standing=servers.standing,
            environ=options.environ,
            mask=redactor,
            emit=emit,
            spawn=spawn,
        ),
        authoring=authoring,
        doctor=Doctor(options, places, host, servers, redactor, emit, spawn),
        searches=searches,
        checkpoints=checkpoints,
        crew=crew,
        todos=todos,
        shell=Bash(workspace, options.environ, confined=False),
        ledger=ledger,
        writes=writes,
        caller=caller,
        agent=agent,
        turn_over=turn_over,
        settings=settings,
        remarks=(*map(str, loaded.notes), *policy.problems, *remark),
    )


async def _chosen(model: Model) -> None:
    """Switch to the model that is the default now."""
    await model.choose(None, None)


def _builtins(
    options: Options,
    loaded: LoadedSettings,
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


def _wishes(loaded: LoadedSettings, places: Places) -> Wishes:
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
