"""A core as the caller's event loop sees it: commands go in, events come out, questions are answered.

Not here: what a run is (turn), what a script sees (agent), who answers (answering).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable

from hel_tui.api.answering import NOBODY, Answers
from hel_tui.api.results import Crashed, NoModel, NotOpen
from hel_tui.api.tally import NOTHING
from hel_tui.core import protocol as p
from hel_tui.core.options import Options
from hel_tui.core.runtime import Runtime


class Wire:
    """One open core. Made and used in the caller's loop."""

    def __init__(
        self, options: Options, answers: Answers, on_event: Callable[[p.Event], None] | None
    ) -> None:
        """Starts the core."""
        self._answers = answers
        self._on_event = on_event
        self._loop = asyncio.get_running_loop()
        self._hearers: list[asyncio.Queue[p.Event]] = []
        self._model: asyncio.Future[str] = self._loop.create_future()
        self._stopped = asyncio.Event()
        self._answering: set[asyncio.Task[None]] = set()
        self._restoring = False
        self._crash = ""
        self.turn = asyncio.Lock()
        """Held by the run that is under way."""
        self.session_id = ""
        self.usage = NOTHING
        """Of the session, as last told."""
        self.untrusted: set[str] = set()
        """Servers that were not allowed to start."""
        self.raised: BaseException | None = None
        """What a callable raised: it ends the run."""
        self._runtime = Runtime(options)
        self._runtime.start()
        threading.Thread(target=self._pump, daemon=True).start()

    async def close(self) -> None:
        """End in order: servers get their time (`END_TIME` of the core at most), nothing is left behind."""
        await asyncio.shield(asyncio.ensure_future(_in_thread(self._runtime.stop)))
        await self._stopped.wait()
        for task in self._answering:
            task.cancel()

    # ------------------------------------------------------------------ runs

    async def ready(self) -> None:
        """Wait until it is known which model answers. Raises NoModel, Crashed, NotOpen."""
        note = await asyncio.shield(self._model)
        if self._stopped.is_set():
            raise self._ended()
        if note:
            raise NoModel(note)

    async def events(self, message: p.Submit) -> AsyncGenerator[p.Event, None]:
        """Send a message; the events of its turn, its end last. Raises Crashed, NotOpen.

        A generator that is closed before ends the turn, and waits for that.
        """
        if self._stopped.is_set():
            raise self._ended()
        heard: asyncio.Queue[p.Event] = asyncio.Queue()
        self._hearers.append(heard)
        over = False
        try:
            self._runtime.send(message)
            while not over:
                event = await heard.get()
                if isinstance(event, p.CoreFailed | p.Stopped):
                    over = True
                    raise self._ended()
                over = isinstance(event, p.TurnEnded)
                yield event
        finally:
            if not over:  # given up in the middle: the next run must not meet this one
                self.interrupt()
                while not isinstance(await heard.get(), p.TurnEnded | p.Stopped):
                    pass
            self._hearers.remove(heard)

    def interrupt(self, why: str = "") -> None:
        """End the turn that runs in the core, if one does, because of `why`. Safe from any thread."""
        self._runtime.send(p.Interrupt(whole=True, why=why))

    def call(self, call_id: str) -> p.CallDetail | None:
        """Everything about a call."""
        return self._runtime.call(call_id)

    def _ended(self) -> Crashed | NotOpen:
        return Crashed(self._crash) if self._crash else NotOpen("the agent was closed")

    # ---------------------------------------------------------------- events

    def _pump(self) -> None:
        """Carry events into the caller's loop, until the last one. Runs in a thread of its own."""
        while True:
            self._runtime.wait(1.0)
            for event in self._runtime.drain():
                try:
                    self._loop.call_soon_threadsafe(self._take, event)
                except RuntimeError:  # the loop is closed: nobody is there any more
                    self._runtime.kill()
                    return
                if isinstance(event, p.Stopped):
                    return

    def _take(self, event: p.Event) -> None:
        self._note(event)
        if self._on_event is not None:
            try:
                self._on_event(event)
            except Exception as error:
                self._end_with(error)
        if not self._restoring:
            for hearer in self._hearers:
                hearer.put_nowait(event)

    def _note(self, event: p.Event) -> None:
        match event:
            case p.SessionStarted():
                self.session_id = event.session_id
            case p.Cleared():
                self._restoring, self.session_id = event.restoring, event.session_id
            case p.SessionRestored():
                self._restoring = False
            case p.UsageChanged():
                self.usage = event
            case p.ModelChanged() if not self._model.done():
                self._model.set_result("" if event.label else event.note or "there is no model")
            case p.ServerChanged():
                put = self.untrusted.add if event.phase == "untrusted" else self.untrusted.discard
                put(event.name)
            case p.Asked():
                task = asyncio.ensure_future(self._answer(event.question))
                self._answering.add(task)
                task.add_done_callback(self._answering.discard)
            case p.CoreFailed():
                self._crash = event.report
            case p.Stopped():
                self._stopped.set()
                if not self._model.done():
                    self._model.set_result("")

    async def _answer(self, question: p.Question) -> None:
        """Answer a question by the callables; what they raise means no."""
        answer: p.Answer = NOBODY
        try:
            answer = await self._answers.to(question)
        except Exception as error:
            self._end_with(error)
        self._runtime.send(p.Reply(question.id, answer))

    def _end_with(self, error: BaseException) -> None:
        """A callable raised: the run ends, and the error comes out of it."""
        self.raised = self.raised or error
        self.interrupt()


async def _in_thread(work: Callable[[], object]) -> None:
    """Run blocking work in a thread of its own: the loop's pool may be somebody else's."""
    loop = asyncio.get_running_loop()
    done = asyncio.Event()

    def run() -> None:
        try:
            work()
        finally:
            loop.call_soon_threadsafe(done.set)

    threading.Thread(target=run, daemon=True).start()
    await done.wait()
