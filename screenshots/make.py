"""Makes the pictures in this folder from the running app: `python screenshots/make.py [NAME…]`.

The real screen on the real core with the scripted model, driven by keys. What differs from run to run
(times, process ids, paths of this machine) is replaced on its way to the screen. Not here: what is shown.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, fields, is_dataclass, replace
from html import escape, unescape
from pathlib import Path
from typing import Any, TypeVar, cast
from unittest.mock import patch

from rich.cells import cell_len
from textual.pilot import Pilot

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))

from hel_tui.core import protocol as p  # noqa: E402
from hel_tui.core.options import Options  # noqa: E402
from hel_tui.core.runtime import Runtime  # noqa: E402
from hel_tui.samples import lay  # noqa: E402
from hel_tui.tui.app import HelApp  # noqa: E402
from hel_tui.tui.dialogs.base import Dialog  # noqa: E402
from hel_tui.tui.state import CallItem  # noqa: E402

T = TypeVar("T")
THEMES = ("fjord", "ember", "paper", "frost", "contrast", "terminal")
PICTURES = (
    "main",
    "trust",
    "approval",
    "markdown",
    "palette",
    "tool",
    "keys",
    "failed",
    "overview",
    "wire",
    "call",
    "context",
    "sessions",
    "small",
    "korean",
    "form",
    "resources",
    "login",
    *(f"theme-{name}" for name in THEMES),
)
"""Every picture, by the name of its file without `.svg`."""

HOME = "/home/robin"
"""The home folder that the pictures show."""
NOON = 1_782_302_400.0
"""A Unix time for everything that is shown with one."""
LIMIT = 60.0
ENGLISH = "Look up the port of the service api on the inventory server and put it into config.ini."
KOREAN = "inventory 서버에서 api 서비스에 배정된 포트를 찾아 config.ini의 port에 넣어 줘."
WEATHER = """\
import os
import sys

print("weather: reading its settings", file=sys.stderr)
if "WEATHER_KEY" not in os.environ:
    sys.exit("weather: WEATHER_KEY is not set; put it into this server's env")
"""
"""A server that ends before it has said a word."""

NOTES = """\
from typing import Annotated, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic import BaseModel, Field

notes = MCPServer("notes")


class Ticket(BaseModel):
    title: Annotated[str, Field(title="Title", description="One line that says what is wrong.")]
    machines: Annotated[int, Field(title="Machines concerned", ge=1, le=500)] = 3
    urgent: Annotated[bool, Field(title="Urgent")] = True
    kind: Annotated[Literal["bug", "question", "idea"], Field(title="Kind")] = "bug"


@notes.tool()
async def file_ticket(ctx: Context) -> str:
    answer = await ctx.elicit("To file the ticket I need a few facts. The whole team will see them.", Ticket)
    return answer.action


@notes.resource("note://guide.md", title="Guide", mime_type="text/markdown", description="How to write one.")
def guide() -> str:
    return "# Guide\\n\\nWrite **short** notes."


@notes.resource("note://shape.json", title="Shape", mime_type="application/json", description="What it has.")
def shape() -> str:
    return '{"title": "text", "tags": ["text"]}'


@notes.resource("note://days/{day}", title="A day", mime_type="text/plain", description="One day's notes.")
def day(day: str) -> str:
    return day


notes.run()
"""
"""A server that has resources and asks its person."""

LOGIN = p.LoginQuestion(
    "login",
    "tracker",
    "https://login.example.com/authorize?response_type=code&client_id=hel-4711&code_challenge=E9Melhoa2OwvFrEMTJguCHa"
    "oeK1t8URWbuGJSstw-cM&code_challenge_method=S256&redirect_uri=http%3A%2F%2F127.0.0.1%3A41001%2Fcallback"
    "&scope=issues%3Aread&resource=https%3A%2F%2Ftracker.example.com%2Fmcp",
    "https://login.example.com",
    "http://127.0.0.1:41001/callback",
    ("issues:read",),
    (
        "tracker.example.com asks for a login",
        "login.example.com logs people in for it",
        "registered hel there",
    ),
)
"""A login as the core asks for it: no authorization server is run for a picture."""


# ------------------------------------------------------------ the same every time


class Still:
    """A core whose times, process ids and paths are the same in every run."""

    def __init__(self, core: Runtime, home: Path) -> None:
        self._core = core
        self.more: list[p.Event] = []
        """Events that are not the core's."""
        self._paths = {str(home): HOME, sys.executable: "/usr/bin/python3"}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._core, name)

    def drain(self) -> list[p.Event]:
        more, self.more = self.more, []
        return [self.still(event) for event in [*self._core.drain(), *more]]

    def tools(self) -> tuple[p.ToolRow, ...]:
        return self.still(self._core.tools())

    def sessions(self) -> tuple[p.SessionRow, ...]:
        return self.still(self._core.sessions())

    def call(self, call_id: str) -> p.CallDetail | None:
        return self.still(self._core.call(call_id))

    def failure(self, server: str) -> p.ServerFailure | None:
        return self.still(self._core.failure(server))

    def failed(self, number: int) -> p.ServerFailure | None:
        return self.still(self._core.failed(number))

    def inside(self, server: str) -> p.ServerInside | None:
        return self.still(self._core.inside(server))

    def frames(self, server: str) -> StillFrames | None:
        window = self._core.frames(server)
        return StillFrames(window) if window else None

    def log(self, server: str) -> StillLog | None:
        window = self._core.log(server)
        return StillLog(window, self.still) if window else None

    def still(self, value: T) -> T:
        """`value` without what belongs to this run."""
        return cast("T", self._still(value))

    def _still(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._still_text(value)
        if isinstance(value, tuple | frozenset):
            return type(value)(self.still(one) for one in value)
        if not is_dataclass(value) or isinstance(value, type):
            return value
        changed = {field.name: self.still(getattr(value, field.name)) for field in fields(value)}
        match value:
            case p.ServerChanged():
                changed |= {
                    "since": 0.0,
                    "pid": 4711 if value.pid else 0,
                    "latency": 0.003 if value.latency else 0.0,
                }
            case p.MethodFigures():
                same = (0.003, 0.004, 0.002)[: value.count]
                changed |= {"median": 0.003, "p95": 0.004, "recent": same}
            case p.CallChanged():
                changed["seconds"] = 0.004 if value.seconds else 0.0
            case p.TurnEnded():
                changed["seconds"] = 1.0
            case p.SessionRow():
                changed |= {"created": NOON, "updated": NOON, "size": 4_800 * value.turns}
        return replace(value, **changed)

    def _still_text(self, text: str) -> str:
        for here, shown in self._paths.items():
            text = text.replace(here, shown)
        text = re.sub(r"\b\d+(\.\d+)? ?s\b", "0.1 s", text)
        return re.sub(r"\bpid \d+", "pid 4711", text)


@dataclass(frozen=True)
class StillLog:
    """A server's log, a line a second from noon."""

    window: p.LogWindow
    still: Callable[[p.LogLine], p.LogLine]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.window, name)

    def lines(self, start: int, stop: int) -> list[p.LogLine]:
        lines = self.window.lines(start, stop)
        return [replace(self.still(line), time=NOON + start + i) for i, line in enumerate(lines)]


@dataclass(frozen=True)
class StillFrames:
    """The wire of a server, a message every tenth of a second from noon, each answered in 4 ms."""

    window: p.FrameWindow

    def __getattr__(self, name: str) -> Any:
        return getattr(self.window, name)

    def frames(self, start: int, stop: int) -> list[p.Frame]:
        return [
            replace(
                frame,
                time=NOON + frame.number / 10,
                latency=0.004 if frame.latency else 0.0,
                size=len(self.window.body(frame.number)),
            )
            for frame in self.window.frames(start, stop)
        ]


# ------------------------------------------------------------------- a person


class Person:
    """Somebody at the keyboard of one open app."""

    def __init__(self, app: HelApp, pilot: Pilot[int], wanted: frozenset[str]) -> None:
        self.app, self.pilot, self.wanted = app, pilot, wanted
        self.state = app.bridge.state
        app.main.status.clock = lambda: self.state.turn_began + 3

    async def until(self, true: Callable[[], object], what: str) -> None:
        end = time.monotonic() + LIMIT
        while not true():
            if time.monotonic() > end:
                raise TimeoutError(f"waited in vain for {what}")
            await self.pilot.pause(0.02)
        await self.rest(0.15)

    async def rest(self, seconds: float) -> None:
        await self.pilot.pause(seconds)

    async def dialog(self) -> None:
        """Wait until a decision is asked for and the dialog hears."""
        await self.until(lambda: isinstance(self.app.screen, Dialog), "a dialog")
        await self.rest(0.6)

    async def decide(self, key: str) -> None:
        """Press a key in the next dialog and let it settle."""
        await self.dialog()
        asked = self.app.screen
        await self.pilot.press("end")  # what is long must have been seen to its end
        await self.rest(0.3)
        await self.pilot.press(key)
        await self.until(lambda: self.app.screen is not asked, "the end of the dialog")

    async def say(self, text: str) -> None:
        self.app.main.prompt.write(text)
        await self.pilot.press("enter")

    async def done(self) -> None:
        """Wait for the end of a turn."""
        await self.until(lambda: self.state.turn and not self.state.busy, "the end of the turn")

    async def ready(self, count: int) -> None:
        """Wait until no server is on its way any more and so many have been heard of."""
        settled = ("ready", "failed", "off")
        await self.until(
            lambda: (
                len(self.state.servers) >= count
                and all(s.phase in settled for s in self.state.servers.values())
                and self.state.tools
            ),
            "the servers",
        )

    async def port_task(self, text: str, shot: str = "") -> None:
        """The walk-through: two calls to the server, one edit."""
        await self.say(text)
        await self.decide("y")
        await self.decide("y")
        if shot:
            await self.dialog()
            self.shoot(shot)
        await self.decide("y")
        await self.done()

    def shoot(self, name: str) -> None:
        """Keep what the screen shows now."""
        if name in self.wanted:
            (FOLDER / f"{name}.svg").write_text(slim(self.app.export_screenshot(title="hel", simplify=True)))


def fresh_project() -> tuple[Path, Path]:
    """A home folder of its own and the sample project in it."""
    home = Path(tempfile.mkdtemp(prefix="hel-")).resolve()
    return home, lay(home / "inventory", sys.executable)


@contextlib.asynccontextmanager
async def opened(
    wanted: frozenset[str],
    size: tuple[int, int] = (120, 36),
    language: str = "en",
    lay_more: Callable[[Path], None] | None = None,
) -> AsyncIterator[Person]:
    """The app on a fresh copy of the sample project."""
    home, project = fresh_project()
    if lay_more:
        lay_more(project)
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "HEL_HOME": f"{home}/hel", "LANG": "C.UTF-8"}
    before = os.environ.get("HOME", "")
    os.environ.update(HOME=HOME, HEL_LANG=language, TZ="UTC")
    time.tzset()
    core = Runtime(Options(project=project, environ=environ, model="demo/walk-through"))
    app = HelApp(Still(core, home))
    try:
        async with app.run_test(size=size, notifications=False) as pilot:
            yield Person(app, pilot, wanted)
            core.stop()
    finally:
        os.environ["HOME"] = before
        shutil.rmtree(home, ignore_errors=True)


# ------------------------------------------------------------------- the walks


async def walk(wanted: frozenset[str]) -> None:
    """Trust, the task, a long answer, and what looks over it."""
    async with opened(wanted) as person:
        await person.dialog()
        person.shoot("trust")
        await person.decide("y")
        await person.ready(1)
        await person.port_task(ENGLISH, shot="approval")
        person.shoot("main")
        for theme in THEMES:
            person.app.use_theme(theme)
            await person.rest(0.2)
            person.shoot(f"theme-{theme}")
        person.app.use_theme(THEMES[0])
        await person.pilot.press("f4", "enter")
        await person.rest(0.5)
        person.shoot("tool")
        await person.pilot.press("escape")
        person.app.main.prompt.focus()
        await person.say("/context")
        await person.rest(0.5)
        person.shoot("context")
        await person.pilot.press("escape", "ctrl+p")
        await person.rest(0.5)
        person.shoot("palette")
        await person.pilot.press("escape", "f1")
        await person.rest(0.3)
        person.shoot("keys")
        await person.pilot.press("escape")
        await person.say("Show me some Markdown.")
        await person.rest(0.3)
        await person.done()
        person.shoot("markdown")
        await person.say("/new")
        await person.until(lambda: not person.state.items, "a new session")
        await person.say("Which services are there?")
        await person.decide("y")
        await person.done()
        with patch("hel_tui.tui.screens.sessions.screen.now", lambda: NOON + 7200):
            await person.pilot.press("ctrl+s")
            await person.rest(0.5)
            await person.pilot.press("down")
            await person.rest(0.5)
            person.shoot("sessions")


async def failed(wanted: frozenset[str]) -> None:
    """A server that ends at once, and the sheet that says why."""

    def lay_weather(project: Path) -> None:
        (project / ".hel" / "mcp" / "weather.py").write_text(WEATHER)
        config = project / ".hel" / "mcp.json"
        servers = json.loads(config.read_text())
        servers["servers"]["weather"] = {"command": sys.executable, "args": [".hel/mcp/weather.py"]}
        config.write_text(json.dumps(servers, indent=2))

    async with opened(wanted, lay_more=lay_weather) as person:
        await person.dialog()
        await person.decide("y")
        await person.ready(2)
        await person.pilot.press("f2")
        await person.rest(0.5)
        person.shoot("failed")


async def inside(wanted: frozenset[str]) -> None:
    """A server laid open after the task: what both sides can, its wire, a call by hand."""
    async with opened(wanted, size=(120, 31)) as person:
        await person.decide("y")
        await person.ready(1)
        await person.port_task(ENGLISH)
        await person.pilot.press("f2")
        await person.rest(0.5)
        person.shoot("overview")
        await person.pilot.press("w")
        await person.rest(0.5)
        await person.pilot.press("k", "enter")
        await person.rest(0.5)
        person.shoot("wire")
        await person.pilot.press("escape", "2", "j", "n")
        await person.rest(0.5)
        await person.pilot.press(*"api", "ctrl+s")
        await person.until(
            lambda: isinstance(person.app.screen, Dialog) or _last_call(person) == "ok", "the call"
        )
        if isinstance(person.app.screen, Dialog):
            await person.decide("y")
        await person.until(lambda: _last_call(person) == "ok", "the end of the call")
        person.shoot("call")


def _last_call(person: Person) -> str:
    """How the newest call stands."""
    calls = [item for item in person.state.items if isinstance(item, CallItem)]
    return calls[-1].state if calls and calls[-1].by_hand else ""


async def asked(wanted: frozenset[str]) -> None:
    """A server that asks for a form and has resources, and a login."""

    def lay_notes(project: Path) -> None:
        (project / ".hel" / "mcp" / "notes.py").write_text(NOTES)
        config = project / ".hel" / "mcp.json"
        servers = json.loads(config.read_text())
        entry = {"command": sys.executable, "args": [".hel/mcp/notes.py"], "protocol": "handshake"}
        servers["servers"]["notes"] = entry
        config.write_text(json.dumps(servers, indent=2))

    async with opened(wanted, lay_more=lay_notes) as person:
        await person.decide("y")
        await person.ready(2)
        await person.pilot.press("f5")
        await person.until(lambda: person.state.listed, "the lists")
        await person.pilot.press("down")
        await person.rest(0.3)
        person.shoot("resources")
        await person.pilot.press("escape")
        await person.say("/call notes.file_ticket {}")
        await person.decide("y")
        await person.dialog()
        await person.pilot.press(*"The disk of web-3 is full", "tab", "tab")
        await person.rest(0.3)
        person.shoot("form")
        await person.pilot.press("ctrl+c")
        await person.until(lambda: _last_call(person) in ("ok", "failed"), "the end of the call")
        cast("Still", person.app.core).more.append(p.Asked(LOGIN))
        await person.dialog()
        person.shoot("login")


async def small(wanted: frozenset[str]) -> None:
    """The smallest terminal."""
    async with opened(wanted, size=(80, 24)) as person:
        await person.decide("y")
        await person.ready(1)
        await person.port_task(ENGLISH)
        person.shoot("small")


async def korean(wanted: frozenset[str]) -> None:
    """The same in Korean."""
    async with opened(wanted, language="ko") as person:
        await person.decide("y")
        await person.ready(1)
        await person.port_task(KOREAN)
        person.shoot("korean")


WALKS: dict[Callable[[frozenset[str]], Coroutine[Any, Any, None]], frozenset[str]] = {
    failed: frozenset({"failed"}),
    inside: frozenset({"overview", "wire", "call"}),
    small: frozenset({"small"}),
    korean: frozenset({"korean"}),
    asked: frozenset({"form", "resources", "login"}),
    walk: frozenset(PICTURES)
    - {"failed", "overview", "wire", "call", "small", "korean", "form", "resources", "login"},
}


# -------------------------------------------------------------------- drawing

CELL = 12.2
"""Width of a cell in the picture's units, as Rich draws it."""
_RUN = re.compile(r'<text( class="r\d+" )x="([^"]*)"( y="[^"]*") textLength="[^"]*">([^<]*)</text>')
_PIECE = re.compile(r"[\x20-\x7e]+|[\u1100-\u11ff\u3000-\ud7a3\uff00-\uffef]+|(.)\1*", re.S)
"""Plain characters, wide letters, and each other sign alone: fonts do not agree on its width."""
FONTS = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', 'Noto Sans Mono CJK KR', monospace"


def slim(svg: str) -> str:
    """A picture that loads nothing, measures wide characters rightly and has short names."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S)
    svg = svg.replace("Fira Code, monospace", FONTS).replace("font-family: arial", "font-family: sans-serif")
    svg = svg.replace("font-size: 20px", f"font-size: {CELL / 0.602:.2f}px")  # so wide are most fonts' cells
    svg = re.sub(r"terminal-\d+-", "", svg)
    svg = re.sub(r"\b\d{8}-\d{6}-[0-9a-f]{8}\b", "20260624-120000-5eed5eed", svg)  # ids of sessions
    svg = re.sub(r' clip-path="url\(#line-\d+\)"', "", svg)
    svg = re.sub(r'<clipPath id="line-\d+">.*?</clipPath>\s*', "", svg, flags=re.S)
    svg = _RUN.sub(_measured, svg)
    svg = svg.replace('<g class="matrix">', '<g class="matrix" xml:space="preserve">')
    svg = re.sub(r"(?<=>)\s*\n\s*(?=<)", "\n", svg).replace("><", ">\n<")
    return "\n".join(line.strip() for line in svg.splitlines() if line.strip()) + "\n"


def _measured(found: re.Match[str]) -> str:
    """One run of text, cut where the width of characters changes, each piece at its own cell."""
    pieces, at = [], float(found[2])
    for match in _PIECE.finditer(unescape(found[4]).replace("\xa0", " ")):
        piece, width = match[0], cell_len(match[0]) * CELL
        if piece.strip():
            head = f'<text{found[1]}x="{at:g}"{found[3]} textLength="{width:g}">'
            pieces.append(f"{head}{escape(piece, quote=False)}</text>")
        at += width
    return "".join(pieces)


def main(names: list[str]) -> int:
    """Make the named pictures, or all."""
    if unknown := set(names) - set(PICTURES):
        sys.stderr.write(f"no picture {', '.join(sorted(unknown))}; there are {', '.join(PICTURES)}\n")
        return 2
    wanted = frozenset(names or PICTURES)
    for made, pictures in WALKS.items():
        if wanted & pictures:
            asyncio.run(made(wanted))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
