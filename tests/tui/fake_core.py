"""A core for screen tests: replays events it is given, records commands, keeps logs in lists."""

from __future__ import annotations

from dataclasses import dataclass, field

from hel_tui.core import protocol as p


class FakeLog:
    """A log window over a list, of which `dropped` lines at the front are gone."""

    def __init__(self, texts: list[str] | None = None) -> None:
        self.kept = [p.LogLine(1_700_000_000.0 + i, text) for i, text in enumerate(texts or [])]
        self.dropped = 0
        self.reads = 0
        self._version = 0

    def add(self, *texts: str) -> None:
        self.kept += [p.LogLine(1_700_000_000.0, text) for text in texts]
        self._version += 1

    def drop(self, count: int) -> None:
        del self.kept[:count]
        self.dropped += count
        self._version += 1

    @property
    def version(self) -> int:
        return self._version

    @property
    def first(self) -> int:
        return self.dropped

    @property
    def end(self) -> int:
        return self.dropped + len(self.kept)

    def lines(self, start: int, stop: int) -> list[p.LogLine]:
        found = self.kept[max(start - self.dropped, 0) : max(stop - self.dropped, 0)]
        self.reads += len(found)
        return found

    def matches(self, query: p.LogQuery, start: int, stop: int) -> list[int]:
        wanted = query.text.casefold()
        base = max(start, self.dropped)
        found = self.kept[base - self.dropped : max(stop - self.dropped, 0)]
        return [base + at for at, line in enumerate(found) if wanted in line.text.casefold()]

    def clear(self) -> None:
        self.drop(len(self.kept))


@dataclass
class FakeCore:
    """Satisfies the screen's `Core` protocol."""

    waiting: list[p.Event] = field(default_factory=list)
    commands: list[p.Command] = field(default_factory=list)
    logs: dict[str, FakeLog] = field(default_factory=dict)
    rows: tuple[p.ToolRow, ...] = ()
    failures: dict[str, p.ServerFailure] = field(default_factory=dict)
    details: dict[str, p.CallDetail] = field(default_factory=dict)
    resource_rows: tuple[p.ResourceRow, ...] = ()
    prompt_rows: tuple[p.PromptRow, ...] = ()
    contents: dict[tuple[str, str], tuple[p.ResourceContent, ...]] = field(default_factory=dict)
    started: bool = False
    tool_details: dict[tuple[str, str], p.ToolDetail] = field(default_factory=dict)
    traces: tuple[p.SearchTrace, ...] = ()
    inside_of: dict[str, p.ServerInside] = field(default_factory=dict)
    wires: dict[str, p.FrameWindow] = field(default_factory=dict)
    process_rows: dict[str, tuple[p.ProcessRow, ...]] = field(default_factory=dict)
    entries: dict[str, p.EntryDetail] = field(default_factory=dict)
    failed_ones: dict[int, p.ServerFailure] = field(default_factory=dict)
    list_changes: dict[int, p.ListChangeDetail] = field(default_factory=dict)
    renewals: dict[int, p.Renewal] = field(default_factory=dict)
    check_rows: tuple[p.CheckRow, ...] = ()
    changed_files: tuple[p.CheckpointRow, ...] = ()
    results_of_checks: tuple[p.CheckResult, ...] = ()
    diagnoses: dict[str, p.Diagnosis] = field(default_factory=dict)
    picture: p.ContextPicture | None = None
    compactions: dict[int, p.CompactionDetail] = field(default_factory=dict)
    spent: p.Spending | None = None
    model_list: p.ModelList = field(default_factory=p.ModelList)
    earlier_events: tuple[p.Event, ...] = ()
    session_rows: tuple[p.SessionRow, ...] = ()
    found_hits: tuple[p.SessionHit, ...] = ()
    glance: p.SessionGlance | None = None
    tasks: dict[str, list[p.Event]] = field(default_factory=dict)
    tasks_cut: bool = False
    drafts: list[str] = field(default_factory=list)
    """What the prompt had when it rested."""
    killed: bool = False
    stops: bool = True
    """Whether Shutdown is answered by Stopped."""

    def put(self, *events: p.Event) -> None:
        self.waiting += events

    def sent(self, kind: type) -> list[p.Command]:
        return [command for command in self.commands if isinstance(command, kind)]

    def answers(self) -> list[p.Answer]:
        return [command.answer for command in self.commands if isinstance(command, p.Reply)]

    def start(self) -> None:
        self.started = True

    def send(self, command: p.Command) -> None:
        if isinstance(command, p.Draft):  # it comes with time, between others
            self.drafts.append(command.text)
            return
        self.commands.append(command)
        if isinstance(command, p.Reply):
            self.put(p.QuestionClosed(command.question_id))
        if isinstance(command, p.Shutdown) and self.stops:
            self.put(p.Stopped())

    def drain(self) -> list[p.Event]:
        events, self.waiting = self.waiting, []
        return events

    def log(self, server: str) -> FakeLog | None:
        return self.logs.get(server)

    def tools(self) -> tuple[p.ToolRow, ...]:
        return self.rows

    def tool(self, server: str, raw: str) -> p.ToolDetail | None:
        return self.tool_details.get((server, raw))

    def searches(self) -> tuple[p.SearchTrace, ...]:
        return self.traces

    def resources(self) -> tuple[p.ResourceRow, ...]:
        return self.resource_rows

    def prompts(self) -> tuple[p.PromptRow, ...]:
        return self.prompt_rows

    def resource(self, server: str, uri: str) -> tuple[p.ResourceContent, ...]:
        return self.contents.get((server, uri), ())

    def call(self, call_id: str) -> p.CallDetail | None:
        return self.details.get(call_id)

    def task(self, call_id: str, after: int) -> p.TaskWindow | None:
        events = self.tasks.get(call_id)
        return None if events is None else p.TaskWindow(tuple(events[after:]), len(events), self.tasks_cut)

    def earlier(self, before_turn: int, count: int) -> tuple[p.Event, ...]:
        return self.earlier_events if before_turn > 1 and count else ()

    def sessions(self) -> tuple[p.SessionRow, ...]:
        return self.session_rows

    def session_hits(self) -> tuple[p.SessionHit, ...]:
        return self.found_hits

    def session_glance(self) -> p.SessionGlance | None:
        return self.glance

    def failure(self, server: str) -> p.ServerFailure | None:
        return self.failures.get(server)

    def frames(self, server: str) -> p.FrameWindow | None:
        return self.wires.get(server)

    def inside(self, server: str) -> p.ServerInside | None:
        return self.inside_of.get(server)

    def processes(self, server: str) -> tuple[p.ProcessRow, ...]:
        return self.process_rows.get(server, ())

    def entry(self, server: str) -> p.EntryDetail | None:
        return self.entries.get(server)

    def failed(self, number: int) -> p.ServerFailure | None:
        return self.failed_ones.get(number)

    def models(self) -> p.ModelList:
        return self.model_list

    def context(self) -> p.ContextPicture | None:
        return self.picture

    def compaction(self, number: int) -> p.CompactionDetail | None:
        return self.compactions.get(number)

    def spending(self) -> p.Spending | None:
        return self.spent

    def checkpoints(self) -> tuple[p.CheckpointRow, ...]:
        return self.changed_files

    def list_change(self, number: int) -> p.ListChangeDetail | None:
        return self.list_changes.get(number)

    def renewal(self, number: int) -> p.Renewal | None:
        return self.renewals.get(number)

    def checks(self) -> tuple[p.CheckRow, ...]:
        return self.check_rows

    def check_results(self) -> tuple[p.CheckResult, ...]:
        return self.results_of_checks

    def diagnosis(self, server: str) -> p.Diagnosis | None:
        return self.diagnoses.get(server)

    def stop(self, timeout: float) -> bool:
        return True

    def kill(self) -> None:
        self.killed = True
