"""The process of an engine: loading, refusing, crashing, ending; hel's own death included."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from hel_tui.core.models.served.process import NotServed, start_engine

LIMIT = 20.0


def program(tmp_path: Path, body: str) -> Path:
    file = tmp_path / "engine.py"
    file.write_text("import sys, json, os, time, signal\nwanted = json.loads(sys.stdin.readline())\n")
    with file.open("a") as out:
        out.write(textwrap.dedent(body))
    return file


async def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


SERVES = """
print(json.dumps({"address": "http://127.0.0.1:1"}), flush=True)
sys.stdin.read()
"""


async def started(program: Path, progress: list[tuple[int, int]] | None = None) -> object:
    seen = progress if progress is not None else []
    return await start_engine(Path("/m.gguf"), 0, 1_000, lambda *told: seen.append(told), program)


async def test_an_engine_gets_its_key_by_a_pipe_and_no_other_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-0123456789")
    engine = await started(program(tmp_path, SERVES))
    process = psutil.Process(engine._popen.pid)
    assert engine.base_url == "http://127.0.0.1:1/v1" and len(engine.key) == 32
    assert engine.key not in " ".join(process.cmdline())
    assert engine.key not in " ".join(process.environ().values())
    assert process.environ()["OMP_WAIT_POLICY"] == "passive"
    assert "OPENAI_API_KEY" not in process.environ()
    await engine.aclose()
    assert not psutil.pid_exists(process.pid)


async def test_one_that_cannot_load_says_why(tmp_path: Path) -> None:
    with pytest.raises(NotServed, match=r"m\.gguf could not be loaded: RuntimeError: no memory"):
        await started(program(tmp_path, 'print(json.dumps({"problem": "RuntimeError: no memory"}))'))


async def test_one_that_is_killed_while_it_loads_is_told(tmp_path: Path) -> None:
    body = 'print("ggml: out of memory", file=sys.stderr, flush=True)\nos.kill(os.getpid(), signal.SIGKILL)'
    with pytest.raises(NotServed, match=r"killed by SIGKILL.*out of memory"):
        await started(program(tmp_path, body))


async def test_loading_tells_how_far_it_is(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    body = f"while not os.path.exists({str(tmp_path / 'go')!r}): time.sleep(0.01)\n{SERVES}"
    starting = asyncio.ensure_future(started(program(tmp_path, body), seen))
    await until(lambda: seen)
    (tmp_path / "go").touch()
    engine = await starting
    await engine.aclose()
    assert all(0 < done <= size == 1_000 for done, size in seen)


async def test_giving_up_while_it_loads_ends_it(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    body = f"open({str(pid)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)"
    starting = asyncio.ensure_future(started(program(tmp_path, body)))
    await until(lambda: pid.exists() and pid.read_text())
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert not psutil.pid_exists(int(pid.read_text()))


async def test_one_that_ignores_its_end_is_killed(tmp_path: Path) -> None:
    body = (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        'print(json.dumps({"address": "http://127.0.0.1:1"}), flush=True)\ntime.sleep(600)'
    )
    engine = await started(program(tmp_path, body))
    await engine.aclose()
    assert not engine.is_alive and "SIGKILL" in engine.last_words


def test_a_hel_that_is_killed_leaves_no_engine_behind(tmp_path: Path) -> None:
    body = (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        'print(json.dumps({"address": "http://127.0.0.1:1"}), flush=True)\ntime.sleep(600)'
    )
    hel = tmp_path / "hel.py"
    hel.write_text(
        textwrap.dedent(f"""
        import asyncio
        from pathlib import Path
        from hel_tui.core.models.served.process import start_engine
        async def main():
            engine = await start_engine(
                Path("/m.gguf"), 0, 1, lambda *_: None, Path({str(program(tmp_path, body))!r})
            )
            print(engine._popen.pid, flush=True)
            await asyncio.sleep(600)
        asyncio.run(main())
        """)
    )
    root = str(Path(__file__).parents[4])
    environ = os.environ | {"PYTHONPATH": root}
    popen = subprocess.Popen([sys.executable, str(hel)], stdout=subprocess.PIPE, env=environ)
    assert popen.stdout is not None
    pid = int(popen.stdout.readline())
    assert psutil.pid_exists(pid)
    popen.send_signal(signal.SIGKILL)
    popen.wait()
    end = time.monotonic() + LIMIT
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < end, "the engine is still there"
        time.sleep(0.05)
