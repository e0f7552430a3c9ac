"""`bash`: a command line in a fresh shell, in a sandbox where the system has one.

Input is closed, output bounded, and nothing it starts outlives it. Not here: whether it may run
(permissions).
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Callable, Mapping
from typing import ClassVar

from hel_tui.core.store.atomic import why
from hel_tui.core.store.files import SessionFiles, spilled
from hel_tui.core.store.redact import looks_like_secret
from hel_tui.core.threads import in_thread
from hel_tui.core.tools.builtin import Builtin, one_line, refused
from hel_tui.core.tools.checkpoints.keeper import Checkpoints
from hel_tui.core.tools.paths import Workspace
from hel_tui.core.tools.processes import Bounded, Finished, run_program
from hel_tui.core.tools.programs import find_program
from hel_tui.core.tools.sandbox import Sandbox
from hel_tui.core.vocabulary import Access, Invocation, Json, Outcome, ToolDefinition

DEFAULT_LIMIT = 120
MAX_LIMIT = 600
"""Seconds a command may take."""
KEPT_OUTPUT = 2_000_000
"""Bytes kept of each stream while it is read: half of its beginning, half of its end."""
NO_SANDBOX = "no sandbox on this system: runs with your full rights"
_PROGRESS_EVERY = 0.5

_KEY = re.compile(r"(^|_)API_?KEYS?(_|$)|_AUTH_TOKEN$", re.IGNORECASE)
_LEFT_OUT = frozenset({"BASH_ENV", "ENV", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "CDPATH"})
_QUIET = {"TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}


class Bash(Builtin):
    """Run a command line."""

    access: ClassVar[Access] = "execute"
    definition: ClassVar[ToolDefinition] = ToolDefinition(
        "bash",
        "Run a bash command line in the project's folder: builds, tests, git. Each call is a fresh shell "
        "without input; nothing it starts outlives it. Answers exit=<code>, then stdout, then stderr. "
        "To read, change or search files, prefer the tools for that.",
        {
            "type": "object",
            "properties": {
                "command": {"type": "string"},
                "timeout": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_LIMIT,
                    "description": f"seconds, {DEFAULT_LIMIT} if not given",
                },
            },
            "required": ["command"],
        },
    )

    def __init__(
        self,
        workspace: Workspace,
        environ: Mapping[str, str],
        *,
        network: bool = True,
        confined: bool = True,
        checkpoints: Checkpoints | None = None,
    ) -> None:
        """`confined` is False for commands a person typed: they run as in the person's own shell.

        `checkpoints` keep what files were before a command changes them.
        """
        super().__init__(workspace)
        self._checkpoints = checkpoints
        self._settling: asyncio.Future[None] | None = None
        self._confined = confined
        self._environ = command_environment(environ, with_secrets=not confined)
        self._sandbox = Sandbox(workspace, environ, network=network)
        self._shell = find_program("bash", environ, workspace.project)

    @property
    def sandboxed(self) -> bool:
        """Whether commands run in a sandbox."""
        return self._confined and self._sandbox.works

    @property
    def lacks_sandbox(self) -> bool:
        """Without one each command is asked for."""
        return not self.sandboxed

    @property
    def warnings(self) -> tuple[str, ...]:
        """Says so when there is no sandbox."""
        return () if self.sandboxed else (NO_SANDBOX,)

    def subject(self, arguments: Json) -> str:
        """The command line."""
        command = arguments.get("command")
        return command if isinstance(command, str) else ""

    def summary(self, arguments: Json) -> str:
        """The first line of the command."""
        return one_line(self.subject(arguments))

    async def perform(self, arguments: Json, invocation: Invocation) -> Outcome:
        """Run it; an exit code other than 0 is a failure."""
        command, limit = arguments["command"], arguments.get("timeout", DEFAULT_LIMIT)
        if problem := _unusable(command):
            return refused(problem)
        try:
            finished = await self._kept(self._command_line(command), limit, invocation)
        except OSError as error:
            return refused(f"The command was not started: {why(error)}.")
        text = _answer(finished, limit)
        folder = self.workspace.files
        files = SessionFiles(folder, self.workspace.hide) if folder is not None else None
        result = await in_thread(lambda: spilled(text, files, "bash"))
        saved = (result.path,) if result.path is not None else ()
        return Outcome(result.text, failed=finished.code != 0, full=result.full, saved=saved)

    def _command_line(self, command: str) -> list[str]:
        if self._shell is not None:
            return [self._shell, "--noprofile", "--norc", "-c", command]
        return ["/bin/sh", "-c", command]

    async def _kept(self, argv: list[str], limit: float, invocation: Invocation) -> Finished:
        """Run it; what it changes of the project's files is kept as it was."""
        checkpoints = self._checkpoints
        if checkpoints is None:
            return await self._run(argv, limit, invocation)
        before = asyncio.ensure_future(in_thread(lambda: checkpoints.before_command(self.raw)))
        try:
            await asyncio.shield(before)
            finished = await self._run(argv, limit, invocation)
        except BaseException:  # a call that is cancelled does not wait: whoever needs it next does
            self._settling = asyncio.ensure_future(_settle(before, checkpoints))
            raise
        await in_thread(checkpoints.after_command)
        return finished

    async def _run(self, argv: list[str], limit: float, invocation: Invocation) -> Finished:
        sandboxed = await in_thread(lambda: self.sandboxed)
        env = self._environ
        out, err = Bounded(KEPT_OUTPUT), Bounded(KEPT_OUTPUT)
        told = _progress(invocation, out)
        if sandboxed:
            self._sandbox.enter()
        try:
            if sandboxed:
                argv = await in_thread(lambda: self._sandbox.wrap(argv))
                env = {**env, **self._sandbox.environment}
            code = await run_program(
                argv,
                cwd=self.workspace.project,
                env=env,
                limit=limit,
                out=told,
                err=err.feed,
                find_marked=not (sandboxed and self._sandbox.ends_all),
            )
        finally:
            if sandboxed:
                self._sandbox.leave()
        return Finished(code, out, err)


async def _settle(before: asyncio.Future[None], checkpoints: Checkpoints) -> None:
    """Find out what a command changed that was cut off, once the look before it is over."""
    await asyncio.wait([before])
    await in_thread(checkpoints.after_command)


def command_environment(environ: Mapping[str, str], *, with_secrets: bool = False) -> dict[str, str]:
    """The person's environment for a command: without credentials, startup files and pagers.

    Proxies stay, also those that hold a password: nothing would reach the network without them.
    """
    kept = {
        name: value
        for name, value in environ.items()
        if name not in _LEFT_OUT
        and not name.startswith("HEL_")
        and (with_secrets or not _is_credential(name, value))
    }
    return {**kept, **_QUIET}


def _is_credential(name: str, value: str) -> bool:
    if name.lower().endswith("_proxy"):
        return False
    return bool(_KEY.search(name)) or looks_like_secret(name, value)


def _progress(invocation: Invocation, out: Bounded) -> Callable[[bytes], None]:
    """Take output and tell the last line of it now and then."""
    started = told = time.monotonic()

    def take(data: bytes) -> None:
        nonlocal told
        out.feed(data)
        now = time.monotonic()
        if now - told >= _PROGRESS_EVERY:
            told = now
            invocation.on_progress(now - started, None, one_line(out.last_line()))

    return take


def _answer(finished: Finished, limit: float) -> str:
    code = finished.code
    shown = 124 if code is None else code if code >= 0 else 128 - code
    text = f"exit={shown}\n"
    for stream in (finished.out, finished.err):
        part = stream.text()
        text += part + ("\n" if part and not part.endswith("\n") else "")
    if code is None:
        text += (
            f"[Stopped after {limit:g} seconds, with everything it had started. "
            f"`timeout` can be up to {MAX_LIMIT}.]\n"
        )
    return text


def _unusable(command: str) -> str:
    if not command.strip():
        return "The command is empty. It was not executed."
    if "\0" in command:
        return "The command holds a NUL character. It was not executed."
    try:
        os.fsencode(command)
    except UnicodeEncodeError:
        return "The command holds characters that cannot be passed on (lone surrogates). It was not executed."
    return ""
