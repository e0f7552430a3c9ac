"""A person at a terminal who logs in: the address is shown, a browser may open, a paste is read.

Nothing is opened without a display or over SSH. Not here: what a login is (core.mcp.auth).
"""

from __future__ import annotations

import asyncio
import os
import sys
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from hel_tui.browsers import opens_in_view
from hel_tui.cli.streams import steer
from hel_tui.core.protocol import Answer, LoginAnswer, LoginQuestion, NotAnswered, Question
from hel_tui.core.threads import in_thread
from hel_tui.foreign import is_clean, printable

PATIENCE = 300.0
"""Seconds the browser has when no terminal is there to give the login up."""
LONGEST = 20_000
"""Characters of a paste."""
ECHOED = 40
"""Characters of it that are shown."""
_ERASE, _ENTER = "\x7f\b", "\r\n\x04"


class Person:
    """Answers the questions of a login. Used in one event loop."""

    def __init__(self, environ: Mapping[str, str], *, browser: bool) -> None:
        """`browser` allows one to be opened, where that makes sense."""
        self._is_there = sys.stdin.isatty() and sys.stderr.isatty()
        self._opens = browser and self._is_there and opens_in_view(environ)
        self._shown = ""

    async def __call__(self, question: Question) -> Answer:
        """Show the address and wait for what is pasted; the login goes on when the browser comes back."""
        if not isinstance(question, LoginQuestion):
            return NotAnswered("only a login is asked about here")
        if question.url == self._shown:
            _say("  Please paste again.")
        else:
            self._shown = question.url
            await self._show(question)
        if self._is_there:
            with _long_line() as line:
                return LoginAnswer(await line)
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await asyncio.Event().wait()
        return NotAnswered("the browser did not come back")

    async def _show(self, question: LoginQuestion) -> None:
        scopes = f" Asked for: {', '.join(question.scopes)}." if question.scopes else ""
        _say(f"\nTo log in at {question.server}, go to this address of {question.issuer}.{scopes}\n")
        _say(f"{question.url}\n")
        if self._opens:
            _say("  Opening it in your browser.")
            await in_thread(lambda: _open(question.url), "hel-browser")
        if self._is_there:
            _say("  If the browser is on another machine, paste the address it ends at (an error page is")
            _say("  fine), and press Enter. Enter alone gives up.")
        else:
            _say(f"  Waiting {PATIENCE / 60:.0f} min for the browser to come back to {question.redirect}.")
            _say("  From another machine: run this command in a terminal, where you can paste the address.")


def _open(url: str) -> None:
    import webbrowser

    try:
        if webbrowser.open(url):
            return
    except (webbrowser.Error, OSError):
        pass
    _say("  No browser could be opened.")


def _say(text: str) -> None:
    sys.stderr.write("\n".join(printable(line) for line in text.split("\n")) + "\n")
    sys.stderr.flush()


class _Line:
    """One line as it is typed or pasted. Only its beginning is echoed: a paste holds a code."""

    def __init__(self, done: asyncio.Future[str]) -> None:
        self._done = done
        self._typed: list[str] = []

    def take(self, characters: str) -> None:
        """Take what came; the line is done with Enter, Ctrl+D or the end of the input."""
        for character in characters:
            if self._done.done():
                return
            if character in _ENTER or len(self._typed) >= LONGEST:
                _echo("\n")
                self._done.set_result("".join(self._typed))
            elif character in _ERASE:
                if self._typed and len(self._typed) <= ECHOED:
                    _echo("\b \b")
                del self._typed[-1:]
            elif is_clean(character):
                self._typed.append(character)
                if len(self._typed) <= ECHOED:
                    _echo(character if len(self._typed) < ECHOED else "…")


def _echo(text: str) -> None:
    steer(sys.stderr, text)
    sys.stderr.flush()


@contextmanager
def _long_line() -> Iterator[asyncio.Future[str]]:
    """A line from the terminal, of any length: by itself it keeps only 1,024 to 4,096 characters of one."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[str] = loop.create_future()
    line = _Line(done)
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    raw = termios.tcgetattr(terminal)
    raw[3] &= ~(termios.ICANON | termios.ECHO)

    def read() -> None:
        try:
            data = os.read(terminal, LONGEST)
        except OSError:
            data = b""
        line.take(data.decode("utf-8", "replace") or "\n")

    termios.tcsetattr(terminal, termios.TCSADRAIN, raw)
    loop.add_reader(terminal, read)
    try:
        yield done
    finally:
        loop.remove_reader(terminal)
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
