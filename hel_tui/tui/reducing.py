"""How events change the view state: `reduce`, pure but for the state it is given, and its parts.

It says what changed, and the app repaints just that. Not here: the state itself (state).
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from hel_tui.core import protocol as p
from hel_tui.tui.state import (
    AnswerItem,
    CallItem,
    Changes,
    CompactionItem,
    Item,
    NoticeItem,
    ServerItem,
    ServerItemKind,
    Updated,
    UserItem,
    ViewState,
)
from hel_tui.tui.strings import t

LOGIN_STEPS = 100
UPDATES_TOGETHER = 5.0
"""Seconds in which changes of one resource share a line."""
MOST_UPDATED = 1_000
"""Changed resources that are remembered as not looked at."""


def _add(state: ViewState, changes: Changes, item: Item) -> None:
    state.items.append(item)
    state.by_key[item.key] = item
    changes.items.add(item.key)


def _note(state: ViewState, changes: Changes, severity: p.Severity, text: str, source: str = "") -> None:
    state.serial += 1
    _add(state, changes, NoticeItem(f"note-{state.serial}", severity, text, source))


def _answer(state: ViewState, changes: Changes, key: str, text: str, reasoning: bool) -> None:
    item = state.by_key.get(key)
    if not isinstance(item, AnswerItem):
        item = AnswerItem(key, reasoning=reasoning)
        _add(state, changes, item)
    item.text += text
    item.version += 1
    changes.items.add(key)


_OVER = frozenset({"ok", "failed", "refused", "cancelled"})


def _call_changed(state: ViewState, changes: Changes, event: p.CallChanged) -> None:
    item = state.by_key.get(event.call_id)
    if not isinstance(item, CallItem):
        return
    if event.state == "running" and item.state != "running":
        item.began, item.started = time.monotonic(), event.at or time.time()
    if event.state in _OVER and item.started and not item.ended:
        item.ended = event.at or time.time()
        item.started = min(item.started, item.ended - event.seconds)
    item.state, item.seconds, item.preview, item.lines = (
        event.state,
        event.seconds,
        event.preview,
        event.lines,
    )
    item.version += 1
    changes.items.add(event.call_id)


def _turn_ended(state: ViewState, changes: Changes, event: p.TurnEnded) -> None:
    message = state.by_key.get(f"user-{event.turn}")
    if isinstance(message, UserItem) and event.reason in ("failed", "interrupted") and not state.step:
        message.unsent = True
        changes.items.add(message.key)
    if isinstance(message, UserItem) and event.give_back and not state.restoring:
        message.unsent = True
        changes.items.add(message.key)
        changes.given_back += f"\n{message.text}" if changes.given_back else message.text
    state.busy, state.retrying, state.step, state.compacting = False, None, 0, False
    changes.turn = True
    if event.message:
        severity: p.Severity = "error" if event.reason == "failed" else "warning"
        _note(state, changes, "info" if event.reason == "done" else severity, event.message)


def _server_item(
    state: ViewState,
    changes: Changes,
    kind: ServerItemKind,
    event: p.ServerFailed | p.ListChanged | p.ServerRenewed,
    text: str,
    good: bool,
) -> None:
    """A card; the same event again says more of what is there already."""
    known = state.by_key.get(key := f"{kind}-{event.number}")
    if isinstance(known, ServerItem):
        known.text, known.good = text, good
        changes.items.add(key)
        return
    _add(state, changes, ServerItem(key, kind, event.server, event.number, text, good))


def _apply_servers(state: ViewState, changes: Changes, event: p.Event) -> bool:
    """What happened to servers; False for any other event."""
    match event:
        case p.ServerFailed():
            _server_item(state, changes, "failure", event, event.sentence, good=event.retried)
            severity: p.Severity = "warning" if event.retried else "error"
            if not event.again:
                changes.toasts.append(p.Notice(severity, event.sentence, event.server))
        case p.ListChanged():
            words = [
                t(f"change.{name}", n=count)
                for name, count in (
                    ("added", event.added),
                    ("removed", event.removed),
                    ("changed", event.changed),
                    ("of_loaded", event.loaded),
                )
                if count
            ]
            _server_item(state, changes, "change", event, ", ".join(words), good=not event.loaded)
        case p.ServerRenewed():
            good = event.state == "renewed" and not event.failed
            changes.news.append(p.Notice("info" if good else "warning", event.sentence, event.server))
            if f"failure-{event.told_as}" not in state.by_key:  # else a card says it already
                _server_item(state, changes, "renewal", event, event.sentence, good)
        case p.Diagnosed():
            changes.diagnosed.add(event.server)
        case p.ChecksChanged() | p.ChecksRan():
            changes.checks = True
        case _:
            return False
    return True


def reduce(state: ViewState, events: Iterable[p.Event]) -> Changes:
    """Apply `events` to `state` in order and say what to repaint."""
    changes = Changes()
    for event in events:
        _apply(state, changes, event)
    return changes


def _offers(server: p.ServerChanged | None) -> tuple[str, tuple[str, ...]]:
    return (server.phase, server.offers) if server is not None else ("", ())


def _apply(state: ViewState, changes: Changes, event: p.Event) -> None:
    match event:
        case p.TextDelta():
            _answer(state, changes, event.item, event.text, reasoning=False)
        case p.ReasoningDelta():
            _answer(state, changes, event.item, event.text, reasoning=True)
        case p.TextDone():
            if isinstance(item := state.by_key.get(event.item), AnswerItem):
                item.done = True
                item.version += 1
                changes.items.add(event.item)
        case p.CallStarted():
            _add(
                state,
                changes,
                CallItem(event.call_id, event.server, event.tool, event.summary, event.by_hand, event.limit),
            )
        case p.CallChanged():
            _call_changed(state, changes, event)
        case p.CallProgress():
            if isinstance(call := state.by_key.get(event.call_id), CallItem):
                call.progress, call.total, call.message = event.progress, event.total, event.message
                call.version += 1
                changes.items.add(event.call_id)
        case p.ServerChanged():
            changes.offerers |= _offers(state.servers.get(event.name)) != _offers(event)
            state.servers[event.name] = event
            changes.moved.add(event.name)
            state.servers = dict(sorted(state.servers.items()))
            changes.servers = True
        case p.ServerRemoved():
            state.servers.pop(event.name, None)
            changes.servers = changes.offerers = True
        case p.ToolsChanged():
            state.tools = event
            changes.tools = True
        case p.UsageChanged():
            state.usage = event
            changes.header = True
        case p.TurnStarted():
            state.turn, state.busy, state.step = event.turn, True, 0
            state.turn_began = time.monotonic()
            changes.turn = True
            if event.text or event.attachments:
                _add(state, changes, UserItem(f"user-{event.turn}", event.text, event.attachments))
        case p.PromptSent():
            if isinstance(message := state.by_key.get(f"user-{event.turn}"), UserItem):
                message.messages = event.messages
                changes.items.add(message.key)
        case p.StepStarted():
            state.step, state.retrying = event.step, None
            changes.turn = True
        case p.TurnEnded():
            _turn_ended(state, changes, event)
        case p.Retrying():
            state.retrying = event
            changes.turn = True
        case p.Asked():
            state.questions.append(event.question)
            changes.questions = True
        case p.QuestionClosed():
            state.questions = [q for q in state.questions if q.id != event.question_id]
            changes.questions = True
        case p.Queued():
            state.queued, state.held, state.joins = event.texts, event.held, event.joins
            changes.queue = True
        case p.Unqueued():
            newer = changes.taken_back  # of one frame: what is taken back next was said before it
            changes.taken_back = f"{event.text}\n{newer}" if newer else event.text
        case p.DraftFound():
            older = changes.taken_back
            changes.taken_back = f"{older}\n{event.text}" if older else event.text
        case p.Joined():
            state.serial += 1
            _add(state, changes, UserItem(f"joined-{state.serial}", event.text, event.attachments))
        case p.Notice():
            _note(state, changes, event.severity, event.text, event.source)
            if not state.restoring:
                (changes.news if event.severity == "info" else changes.toasts).append(event)
        case _:
            _apply_asked(state, changes, event)


def _apply_asked(state: ViewState, changes: Changes, event: p.Event) -> None:
    """Resources, prompts and logins: mostly what the person asked for."""
    match event:
        case p.ResourcesChanged():
            state.listed += 1
            changes.resources = True
        case p.PromptsChanged():
            changes.prompts = True
        case p.ResourceRead():
            state.updated.pop((event.server, event.uri), None)
            changes.read.append(event)
            changes.resources = True
        case p.PromptRead():
            changes.prompt_reads.append(event)
        case p.ResourceUpdated():
            _resource_updated(state, changes, event)
            changes.resources = True
        case p.AttachmentsChanged():
            state.attachments = event.attachments
            changes.attachments = True
        case p.FilesFound():
            changes.files = event
        case p.Pasted():
            changes.pasted += event.text
        case p.Completed():
            changes.completed.append(event)
        case p.LoginStep():
            _login_step(state, changes, event)
        case p.ConfigChanged():
            state.config = event if event != p.ConfigChanged() else None
            changes.config = True
        case p.Searched():
            changes.searched.append(event.number)
        case p.Compacting():
            state.compacting, state.retrying = event.on, None
            changes.turn = True
        case p.Compacted():
            _add(state, changes, _compaction(event))
        case _ if not _apply_servers(state, changes, event):
            _apply_session(state, changes, event)
        case _:
            pass


def _compaction(event: p.Compacted) -> CompactionItem:
    return CompactionItem(
        f"compaction-{event.number}",
        event.number,
        event.before,
        event.after,
        event.summarised,
        event.shortened,
        event.dropped,
        event.problem,
    )


def _resource_updated(state: ViewState, changes: Changes, event: p.ResourceUpdated) -> None:
    """Say each change; those that come fast are counted in the line of the first."""
    where, now = (event.server, event.uri), time.monotonic()
    uri = event.uri[:200]
    known = state.updated.get(where)
    note = state.by_key.get(known.note) if known is not None else None
    if known is not None and isinstance(note, NoticeItem) and now - known.since < UPDATES_TOGETHER:
        known.count += 1
        note.text = t("resources.updated_times", uri=uri, n=known.count)
        changes.items.add(note.key)
    elif known is not None or len(state.updated) < MOST_UPDATED:
        _note(state, changes, "info", t("resources.updated", uri=uri), event.server)
        state.updated[where] = Updated(state.items[-1].key, now)


def _login_step(state: ViewState, changes: Changes, event: p.LoginStep) -> None:
    """The step joins those of its login; how the login came out is said in the conversation."""
    steps = state.logins.setdefault(event.server, [])
    if steps and steps[-1].end:
        steps.clear()
    steps.append(event)
    del steps[:-LOGIN_STEPS]
    changes.servers = True
    if event.end:
        _note(state, changes, "error" if event.end == "failed" else "info", event.text, event.server)


def _apply_session(state: ViewState, changes: Changes, event: p.Event) -> None:
    """The rare ones: session, model, end."""
    changes.header = True
    match event:
        case p.SessionStarted():
            state.session_id, state.project = event.session_id, event.project
            state.access, state.version = event.access, event.version
        case p.ModelChanged():
            state.model = event
        case p.ModelLoading():
            state.loading = event if event.size else None
        case p.ModelsListed():
            changes.models = True
        case p.AccessChanged():
            state.access = event.level
        case p.Cleared():
            state.session_id, state.restoring = event.session_id, event.restoring
            state.items.clear()
            state.by_key.clear()
            state.usage = None
            state.todos = ()
            changes.todos = changes.cleared = True
        case p.TodosChanged():
            state.todos = event.items
            changes.todos = True
        case p.Rewound(conversation=True):
            changes.rewound.append(event.turn)
        case p.SessionRestored():
            state.restoring = False
            changes.sessions.append(event)
        case p.SessionsListed() | p.SessionLookedAt() | p.SessionDone():
            changes.sessions.append(event)
        case p.CoreFailed():
            state.failed = event.report
            changes.ended = True
        case p.Closing():
            state.closing = event.waiting
            changes.ended = True
        case p.Stopped():
            state.stopped = True
            changes.ended = True
        case _:
            pass
