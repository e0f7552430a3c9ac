"""Headers made by a command: run when needed, kept until refused, silent about what it printed."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from hel_tui.core.mcp.authorizing import Challenge, NoCredentials
from hel_tui.core.mcp.http.helper import FAILED_FOR, HeadersHelper
from tests.core.mcp.conftest import runs
from tests.core.mcp.http.driving import Bench, text_of, until

REFUSED = Challenge(401)


class Hidden:
    """Remembers what was to be hidden."""

    def __init__(self) -> None:
        self.values: list[str] = []

    def __call__(self, *values: str) -> None:
        self.values += values


def helper(folder: Path, code: str, hidden: Hidden | None = None, **options: Any) -> HeadersHelper:
    """A helper that runs Python code in `folder`."""
    (folder / "helper.py").write_text(code)
    command = (sys.executable, "-S", "-E", "helper.py")
    return HeadersHelper(command, {"WORD": "blue", "PATH": "/bin"}, folder, hidden or Hidden(), **options)


COUNTING = """
import json, pathlib
count = pathlib.Path("count")
count.write_text(number := str(int(count.read_text() if count.exists() else 0) + 1))
print(json.dumps({"Authorization": f"Bearer token-{number}"}))
"""


async def test_it_runs_in_its_folder_with_its_environment_and_its_output_is_hidden(tmp_path: Path) -> None:
    hidden = Hidden()
    code = """
import json, os
given = {"X": os.environ["WORD"], "Y": os.getcwd(), "A": "Bearer s3cret", "X-Api-Key": "key-one-two"}
print(json.dumps(given | {"X-Session": "session-one", "Accept": "application/json", "X-Date": "2024-11-05"}))
"""
    made = helper(tmp_path, code, hidden)
    headers = await made.headers()
    assert (headers["X"], headers["Y"], headers["A"]) == ("blue", str(tmp_path), "Bearer s3cret")
    assert set(hidden.values) == {"Bearer s3cret", "s3cret", "key-one-two", "session-one"}


async def test_it_is_run_once_until_its_headers_are_refused(tmp_path: Path) -> None:
    made = helper(tmp_path, COUNTING)
    first = await made.headers()
    assert await made.headers() == first == {"Authorization": "Bearer token-1"}
    assert await made.refused(REFUSED, first)
    assert await made.headers() == {"Authorization": "Bearer token-2"}
    assert await made.refused(REFUSED, first), "somebody else was refused with the old ones: the new ones do"
    assert (tmp_path / "count").read_text() == "2"


async def test_the_same_headers_again_are_not_worth_another_try(tmp_path: Path) -> None:
    made = helper(tmp_path, 'print(\'{"A": "b"}\')')
    assert not await made.refused(REFUSED, await made.headers())


async def test_a_403_is_not_about_old_headers(tmp_path: Path) -> None:
    made = helper(tmp_path, COUNTING)
    assert not await made.refused(Challenge(403), await made.headers())
    assert (tmp_path / "count").read_text() == "1"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("print('s3cret')", "printed something that is not JSON"),
        ("print('[\"s3cret\"]')", "must print a JSON object whose values are strings"),
        ("print('{\"A\": 5}')", "must print a JSON object whose values are strings"),
        ('print(\'{"A b": "s3cret"}\')', "`A b` is not the name of a header"),
        ('print(\'{"A": "s3\\\\ncret"}\')', "has a line break"),
        ("print('s3cret'); raise SystemExit(3)", "failed (exit 3)"),
        ("print('s3cret' * 20000)", "printed more than 65,536 bytes"),
    ],
)
async def test_what_goes_wrong_is_told_without_the_output(tmp_path: Path, code: str, words: str) -> None:
    with pytest.raises(NoCredentials) as caught:
        await helper(tmp_path, code).headers()
    assert words in str(caught.value) and "cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("no-such-program", "x"), "could not be started: no-such-program: No such file or directory"),
        (("",), "is empty"),
    ],
)
async def test_a_command_that_cannot_be_run_is_told_so(
    tmp_path: Path, command: tuple[str, ...], words: str
) -> None:
    with pytest.raises(NoCredentials, match=words):
        await HeadersHelper(command, {"PATH": "/bin"}, tmp_path, Hidden()).headers()


async def test_no_shell_reads_the_command(tmp_path: Path) -> None:
    made = HeadersHelper(("/bin/echo", '{"A": "$HOME;x"}'), {}, tmp_path, Hidden())
    assert await made.headers() == {"A": "$HOME;x"}


async def test_one_that_hangs_is_ended_with_all_it_started(tmp_path: Path) -> None:
    code = """
import pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])
pathlib.Path("child").write_text(str(child.pid))
time.sleep(60)
"""
    made = helper(tmp_path, code, limit=1.0)
    with pytest.raises(NoCredentials, match="did not end within 1 s"):
        await made.headers()
    child = int((tmp_path / "child").read_text())
    await until(lambda: not psutil.pid_exists(child) or psutil.Process(child).status() == "zombie")


async def test_a_failure_stands_for_a_moment_and_the_command_is_not_run_for_each_request(
    tmp_path: Path,
) -> None:
    now = 0.0
    made = helper(tmp_path, COUNTING + "raise SystemExit(3)", clock=lambda: now)
    for _ in range(3):
        with pytest.raises(NoCredentials, match="exit 3"):
            await made.headers()
        assert not await made.refused(REFUSED, {})
    assert (tmp_path / "count").read_text() == "1"
    now = FAILED_FOR + 1
    (tmp_path / "helper.py").write_text(COUNTING)
    assert await made.headers() == {"Authorization": "Bearer token-2"}


HEL = """
import asyncio, os, sys
from pathlib import Path
from hel_tui.core.guard import Guard
from hel_tui.core.mcp.http.helper import HeadersHelper

command = ("/bin/sh", "-c", "sleep 300 & echo $! > child; echo $$ > leader; exec sleep 300")
made = HeadersHelper(command, dict(os.environ), Path(sys.argv[1]), print, guard=Guard(), limit=300)
asyncio.run(made.headers())
"""


async def test_it_does_not_outlive_a_hel_that_is_killed(tmp_path: Path) -> None:
    hel = await asyncio.create_subprocess_exec(sys.executable, "-c", HEL, str(tmp_path))
    noted = [tmp_path / "child", tmp_path / "leader"]
    await until(lambda: all(file.exists() and file.read_text().endswith("\n") for file in noted))
    pids = [int(file.read_text()) for file in noted]
    hel.kill()
    await hel.wait()
    await until(lambda: not any(runs(pid) for pid in pids))


async def test_a_link_sends_what_the_helper_gives_and_asks_again_when_it_is_refused(bench: Bench) -> None:
    site = bench.serve("401")
    code = COUNTING.replace("token-{number}", "{'good' if number == '2' else 'stale'}")
    peer = bench.peer(site, helper(bench.folder, code))
    await peer.greet()
    assert text_of(await peer.call()) == "{}"
    sent = [one["headers"]["authorization"] for one in site.received("POST")]
    assert sent == ["Bearer stale", "Bearer good", "Bearer good", "Bearer good"]
    assert json.loads(site.received("POST")[0]["body"])["method"] == "initialize"
