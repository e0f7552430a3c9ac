"""Puts a session's parts together: settings, record, host, permissions, tools, agent.

Wiring only, no behaviour: who is given what. Not here: what they are (parts), what settings make of them
(defaults), commands and turns (conversation).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
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
from hel_tui.core.protocol import Notice
from hel_tui.core.questions import Desk
from hel_tui.core.session.attaching import Attaching
from hel_tui.core.session.author import Author
from hel_tui.core.session.authoring import Authoring
from hel_tui.core.session.checking import Checking
from hel_tui.core.session.defaults import Defaults, builtins_of, wishes_of
from hel_tui.core.session.doctor import Doctor
from hel_tui.core.session.inside import Inside
from hel_tui.core.session.model import Model
from hel_tui.core.session.model_list import ModelLists
from hel_tui.core.session.offerings import Offerings
from hel_tui.core.session.own_files import OwnFiles
from hel_tui.core.session.pages import Pages
from hel_tui.core.session.parts import Emit, Parts
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
from hel_tui.core.store.places import Places, project_key
from hel_tui.core.store.record import Record
from hel_tui.core.store.redact import Redactor
from hel_tui.core.threads import Writes
from hel_tui.core.tools.bash import Bash
from hel_tui.core.tools.checkpoints.keeper import Checkpoints
from hel_tui.core.tools.finding import FileIndex
from hel_tui.core.tools.paths import Workspace
from hel_tui.core.tools.todo import Todos

FILES = "files"
"""Folder of a session's saved results."""


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
    model = Model(options, emit, wishes_of(loaded, places), redactor.add)
    purse = Purse(
        budget=lambda: budget,
        accounts=lambda: agent.context.accounts,
        turn=lambda: checkpoints.turn,
        told=lambda: agent.measure(model.current),
    )
    model.learned = purse.told
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
    offered = partial(
        builtins_of, options=options, workspace=workspace, checkpoints=checkpoints, todos=todos, task=task
    )
    builtins, remark = offered(loaded)
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
            model=lambda: agent.asked or model.current,
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

    async def blind(wait: bool) -> str:
        return await model.blind(await model.settled() if wait else agent.asked or model.current)

    offerings = Offerings(
        host,
        lambda: files,
        emit,
        OwnFiles(workspace, lambda: files),
        redactor.known,
        blind=blind,
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

    settings.changed = Defaults(
        options=options,
        places=places,
        builtins=lambda now: offered(now)[0],
        registry=registry,
        policy=policy,
        agent=agent,
        host=host,
        model=model,
        emit=emit,
        spawn=spawn,
    ).hold

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
