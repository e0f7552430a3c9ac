"""An hour of somebody who writes a server, in the real program: from a server that does not start to a call of
the model followed to its wire and its log.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.shell import hel as shell
from tests.e2e.program import decide, hel, submit
from tests.fixtures.models.endpoint import ScriptedModel, call, calls, say
from tests.rig import SERVERS, environment

BROKEN = """\
import os, sys
print("weather: reading its settings", file=sys.stderr, flush=True)
os.environ["WEATHER_KEY"]
"""
WELL = f"""\
import sys
sys.path.insert(0, {str(SERVERS)!r})
from stdio_server import Server, main, text

CITY = {{"type": "object", "properties": {{"city": {{"type": "string", "description": "Its name."}}}}, "required": ["city"]}}

class Weather(Server):
    tools = [{{"name": "today", "description": "Tell the weather of a city today.", "inputSchema": CITY}}]

    def call(self, identity, name, arguments, params):
        print("asked for " + arguments["city"], file=sys.stderr, flush=True)
        self.answer(identity, text(arguments["city"] + ": rain"))

sys.argv = ["weather", "weather"]
main({{"weather": Weather}})
"""
BETTER = WELL.replace('"Tell the weather of a city today."', '"Tell the weather of a city today, in a word."')
TODAY = "mcp__weather__today"


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as endpoint:
        yield endpoint


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".hel").mkdir(parents=True)
    (folder / "weather.py").write_text(BROKEN)
    entry = {"command": sys.executable, "args": ["weather.py"], "watch": ["*.py"]}
    (folder / ".hel" / "mcp.json").write_text(json.dumps({"servers": {"weather": entry}}))
    return folder


def save(file: Path, text: str) -> None:
    """As editors do: a new file in place of the old one."""
    new = file.with_suffix(".new")
    new.write_text(text)
    new.replace(file)


def test_from_a_server_that_does_not_start_to_a_call_followed_to_its_wire(
    tmp_path: Path, project: Path, model: ScriptedModel
) -> None:
    model.replies[:] = [
        calls(call("load_mcp_tool", {"names": [TODAY]})),
        call(TODAY, {"city": "Bergen"}),
        say("It rains in Bergen."),
    ]
    with hel(tmp_path, url=model.url) as terminal:
        decide(terminal, "y remember", "y")
        # it does not start, and its card says why
        terminal.wait(r"weather failed.*KeyError: 'WEATHER_KEY'.*r restart")
        # mended and saved: it is started by itself
        save(project / "weather.py", WELL)
        terminal.wait(r"● weather +1 tool")
        # called by hand, in a form
        terminal.press("f2")
        terminal.wait("Overview.*Tools 1")
        terminal.press("2")
        terminal.wait("today")
        terminal.press("n")
        terminal.wait("city")
        terminal.wait_idle(0.5)
        terminal.type("Oslo")
        terminal.press("ctrl+s")
        terminal.wait("Oslo: rain")
        # kept as a check
        terminal.wait_idle(0.3)
        terminal.press("s")
        terminal.wait("name")
        terminal.press("ctrl+s")
        terminal.wait_for(lambda: list((project / ".hel" / "checks").glob("*.toml")))
        # saved once more: the new one takes over, its changed tool is shown, the check runs again
        save(project / "weather.py", BETTER)
        terminal.press("escape")
        terminal.wait_idle(0.3)
        terminal.press("escape")
        terminal.wait(r"weather: the new one answers; 1 called again.*check today passes")
        terminal.wait(r"weather has other tools")
        env = environment(tmp_path)
        ran = shell("mcp", "test", env=env, cwd=project)
        assert ran.status == 0, ran
        # the model uses it, and its call is followed
        submit(terminal, "What is the weather in Bergen?")
        decide(terminal, r"weather · today.*y once", "y")
        terminal.wait("It rains in Bergen.")
        terminal.wait_idle(0.3)
        terminal.press("tab", "w")
        terminal.wait(r"tools/call.*today.*Bergen: rain")
        terminal.press("l")
        terminal.wait(r"▌.*asked for Bergen")
        terminal.press("o")
        terminal.wait("ask, /command, @file or resource, !shell")
        terminal.wait("It rains in Bergen.")
        terminal.press("ctrl+q")
        assert terminal.wait_end() == 0
        assert terminal.is_restored()
