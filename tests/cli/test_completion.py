"""`hel completion`: scripts that real shells take, and what they complete."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hel_tui.cli.mcp.arguments import COMMANDS, SOURCES
from tests.cli.shell import ROOT, hel, loaded_modules
from tests.rig import environment

HEAVY = ("textual", "rich", "mcp", "httpx", "keyring", "yaml", "jsonschema", "hel_tui.core.mcp.host")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A folder with two servers configured and the scripts, and an environment with `hel` on its PATH."""
    folder = tmp_path_factory.mktemp("shell")
    env = environment(folder, PYTHONPATH=str(ROOT))
    program = folder / "bin" / "hel"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m hel_tui "$@"\n')
    program.chmod(0o755)
    env["PATH"] = f"{program.parent}{os.pathsep}{env['PATH']}"
    (folder / ".mcp.json").write_text('{"mcpServers": {"notes": {"command": "x"}, "db": {"command": "y"}}}')
    for shell in ("bash", "zsh", "fish"):
        ran = hel("completion", shell, env=env, cwd=folder)
        assert ran.status == 0
        (folder / shell).write_text(ran.out)
    return folder, env


def shell(name: str, script: str, place: tuple[Path, dict[str, str]], *words: str) -> str:
    """What a shell says to a script."""
    if shutil.which(name) is None:
        pytest.skip(f"there is no {name} here")
    folder, env = place
    done = subprocess.run(
        [name, "-c", script, *words],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


CASES = (
    (["hel", "m"], {"mcp", "models"}),
    (["hel", "mcp", ""], set(COMMANDS)),
    (["hel", "sessions", "s"], {"show", "search"}),
    (["hel", "sessions", "fork", "x", "--t"], {"--turn"}),
    (["hel", "mcp", "add", "x", "-s", ""], {"local", "user", "project"}),
    (["hel", "mcp", "remove", "--sc"], {"--scope"}),
    (["hel", "mcp", "remove", ""], {"notes", "db"}),
    (["hel", "mcp", "get", "no"], {"notes"}),
    (["hel", "help", "tru"], {"trust"}),
    (["hel", "run", "--access", "re"], {"read-only"}),
)


@pytest.mark.parametrize(("words", "found"), [*CASES, (["hel", "mcp", "import", ""], set(SOURCES))])
def test_bash_completes_commands_options_and_servers(place, words: list[str], found: set[str]) -> None:
    script = (
        "source ./bash; compopt() { :; }\n"
        'COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _hel; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    assert set(shell("bash", script, place, "bash", *words).split()) == found


def test_bash_leaves_the_servers_own_words_alone(place) -> None:
    script = (
        "source ./bash; compopt() { echo own; }\n"
        'COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _hel; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    assert shell("bash", script, place, "bash", "hel", "mcp", "add", "x", "--", "npx", "--s").split() == [
        "own"
    ]


@pytest.mark.parametrize(("words", "found"), CASES)
def test_fish_completes_the_same(place, words: list[str], found: set[str]) -> None:
    said = shell("fish", f"source ./fish; complete -C '{' '.join(words)}'", place)
    assert {line.partition("\t")[0] for line in said.splitlines()} == found


def test_zsh_takes_its_script(place) -> None:
    assert shell(
        "zsh", "autoload -Uz compinit; compinit -u -D; source ./zsh; echo ${_comps[hel]}", place
    ).strip()


def test_names_of_servers_cost_nothing_heavy() -> None:
    code = (
        "import contextlib, io\nfrom hel_tui.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit): "
        "main(['mcp', 'list', '--names', '-C', '/'])"
    )
    assert loaded_modules(f"import os; os.environ['HEL_HOME'] = '/nowhere'\n{code}", HEAVY) == []
