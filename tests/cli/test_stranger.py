"""Command lines as somebody types them who does not know hel: right, nearly right, and wrong.

Each ends with the right status and one sentence, no traceback, no secret, and no file it should not touch.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core.store.places import find_places
from tests.cli.shell import HEL, ROOT, Ran, hel
from tests.cli.typed import Typed
from tests.rig import environment

SECRETS = ("so-secret-literal", "kept-secret-value", "sk-live-0123456789abcdef0123")
BROKEN = '{"mcpServers": {"a": {"command": "x"},, }}'
ODD = "сервер"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "p"
    (folder / ".hel").mkdir(parents=True)
    (folder / ".hel" / "mcp.json").write_text(
        """{
  // what the team uses
  "servers": {
    "inventory": {"command": "python3", "args": ["server.py"], "env": {"API_TOKEN": "so-secret-literal"}},
    "off": {"command": "x", "disabled": true},
    "bad": {"command": 7},
  },
}
"""
    )
    (folder / ".cursor").mkdir()
    (folder / ".cursor" / "mcp.json").write_text(
        '{"mcpServers": {"cur": {"command": "npx", "args": ["--api-key", "sk-live-0123456789abcdef0123"]}}}'
    )
    return folder


@pytest.fixture
def typed(tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> Typed:
    one = Typed(tmp_path, project, monkeypatch, capfd)
    places = find_places(one.env)
    places.user_servers.parent.mkdir(parents=True)
    places.user_servers.write_text('{"servers": {"mine": {"url": "https://x.example/mcp"}}}\n')
    places.state.mkdir(parents=True)
    (places.state / "secrets.toml").write_text('kept = "kept-secret-value"\n')
    (places.state / "secrets.toml").chmod(0o600)
    return one


def contents(folder: Path) -> dict[str, bytes]:
    """Everything below a folder that a person or a repository would miss; locks are no content."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".lock" not in path.name
    }


def assert_decent(ran: Ran) -> None:
    said = ran.out + ran.err
    assert "Traceback" not in said and "Error(" not in said
    assert not [secret for secret in SECRETS if secret in said]
    assert "\x1b" not in said
    assert all(len(line) < 1000 for line in ran.err.splitlines())


WRONG: tuple[tuple[str, int, str], ...] = (
    # commands that are none
    ("mcp", 2, "a command is needed"),
    ("mcp lsit", 2, "did you mean list?"),
    ("mcp --list", 2, "there is no command --list"),
    ("mcp delete inventory", 2, "there is no command delete"),
    ("mcp Add x -- y", 2, "did you mean add?"),
    ("mcp help", 2, "there is no command help"),
    ("mpc list", 2, "did you mean mcp?"),
    ("help mcp", 2, "there is no topic"),
    ("completion tcsh", 2, "invalid choice"),
    ("completion", 2, "SHELL"),
    # missing and superfluous words
    ("mcp get", 2, "required: SERVER"),
    ("mcp remove", 2, "required: SERVER"),
    ("mcp call inventory", 2, "required: TOOL"),
    ("mcp add", 2, "required: NAME"),
    ("mcp add new", 2, "hel mcp add new URL"),
    ("mcp add new --", 2, "no program"),
    ("mcp add new -- ''", 2, "no program"),
    ("mcp list everything", 2, "everything"),
    ("mcp get inventory mine", 2, "mine"),
    ("mcp secret", 2, "required"),
    ("mcp secret show kept", 2, "invalid choice"),
    ("mcp add-json new", 2, "required: JSON"),
    ("mcp import", 2, "required: AGENT"),
    # options
    ("mcp add new -s global -- x", 2, "invalid choice: 'global'"),
    ("mcp add new -t websocket https://x.example", 2, "invalid choice"),
    ("mcp add new --timeout soon -- x", 2, "expected seconds"),
    ("mcp add new --timeout -5 -- x", 2, "--timeout"),
    ("mcp add new -e -- x", 2, "-e"),
    ("mcp add new -e KEY -- x", 2, "NAME=VALUE"),
    ("mcp add new -e =so-secret-literal -- x", 2, "NAME=VALUE"),
    ("mcp add new -e 'A B=1' -- x", 0, ""),
    ("mcp add new --header so-secret-literal=1 https://x.example", 2, "NAME: VALUE"),
    ("mcp add new --header 'A B: 1' https://x.example", 2, "no header can have"),
    ("mcp add new --verbose -- x", 2, "unrecognized arguments: --verbose"),
    ("mcp list --jsn", 2, "unrecognized arguments: --jsn"),
    ("mcp logs -n many", 2, "invalid int value"),
    ("mcp list -C /does/not/exist", 2, "is not a folder"),
    ("mcp list --mcp-config nowhere.json", 1, "no such file"),
    # names
    ("mcp add 'my server' -- x", 2, 'may have only letters, digits, "-" and "_"'),
    (f"mcp add {ODD} -- x", 2, ODD),
    ("mcp add a__b -- x", 2, "divides server and tool"),
    ("mcp add '' -- x", 2, "needs a name"),
    ("mcp add new.one -- x", 2, "may have only letters"),
    ("mcp add https://x.example/mcp", 2, "https://x.example/mcp"),
    (f"mcp add {'n' * 33} -- x", 2, "longer than 32"),
    ("mcp get Inventory", 1, "did you mean inventory?"),
    ("mcp get inventroy", 1, "did you mean inventory?"),
    (f"mcp get {ODD}", 1, ODD),
    ("mcp remove nothing-like-it", 1, "see `hel mcp list`"),
    ("mcp remove mine -s project", 1, "has one"),
    ("mcp disable inventry", 1, "did you mean inventory?"),
    ("mcp disable bad", 1, "`command` must be text"),
    ("mcp tools inventory", 4, "hel mcp trust"),
    ("mcp tools bad", 1, "`command` must be text"),
    ("mcp call off tool", 4, "not approved"),
    ("mcp login nobody", 1, "no server named nobody"),
    ("mcp trust nobody", 1, "no server named nobody"),
    ("mcp trust bad", 1, "`command` must be text"),
    ("mcp trust --forget nobody", 1, "has no approval here"),
    # URLs and JSON
    ("mcp add new x.example/mcp", 2, "is no URL"),
    ("mcp add new htp://x.example", 2, "must begin with http:// or https://"),
    ("mcp add new file:///etc/passwd", 2, "must begin with http:// or https://"),
    ("mcp add new 'https://x example'", 2, "spaces"),
    ("mcp add new https://", 2, "must begin with"),
    ("mcp add-json new '{command: x}'", 2, "line 1, column 2"),
    ('mcp add-json new \'{"command": "x"\'', 2, "line 1, column 16"),
    ('mcp add-json new \'{"cmd": "x"}\'', 2, "neither `command` nor `url`"),
    ('mcp add-json new \'{"command": "x", "url": "https://y.example"}\'', 2, "both given"),
    ("mcp add-json new '[\"x\"]'", 2, "must be an object"),
    ('mcp add-json new \'{"command": "x", "command": "y"}\'', 2, "given twice"),
    ("mcp call mine tool '{'", 2, "JSON"),
    # what is there already, or is not
    ("mcp add inventory -s project -- x", 1, "--force replaces it"),
    ("mcp import zed", 1, "No file of zed was found"),
    ("mcp import notepad", 2, "invalid choice"),
    ("mcp import cursor nowhere.json", 2, "is not a file"),
    ("mcp import cursor --only other", 1, "no server named other"),
    ("mcp import cursor", 4, "use --yes"),
    ("mcp secret remove never-kept", 1, "nothing is kept"),
    ("mcp secret set 'a b'", 2, "may have only letters"),
    ("mcp secret set new", 1, "no value was given"),
    ("mcp add new --secret TOKEN -- x", 1, "no value was given"),
    ("mcp logs nobody", 1, "no server named nobody"),
    ("mcp logs --session 2020", 1, "has a log"),
)


@pytest.mark.parametrize(("line", "status", "part"), WRONG, ids=[line for line, _, _ in WRONG])
def test_what_is_mistyped_ends_with_a_sentence_and_changes_nothing(
    typed: Typed, project: Path, line: str, status: int, part: str
) -> None:
    home = project.parent
    before = contents(home)
    ran = typed(*shlex.split(line))
    assert_decent(ran)
    assert ran.status == status
    assert part in ran.out + ran.err
    if status:
        assert contents(home) == before
        assert len([one for one in ran.err.splitlines() if one.startswith("hel")]) <= 1 or "usage" in ran.err


RIGHT: tuple[tuple[str, str], ...] = (
    ("mcp add fs -- npx -y @modelcontextprotocol/server-filesystem /tmp", "Added fs"),
    ("mcp add --transport http notion https://mcp.example.com/mcp", "Added notion"),
    ("mcp add -t sse old https://mcp.example.com/sse --header 'X: y'", "Added old"),
    ("mcp add db -e DB_USER=me -s user -- dbmcp --flag -x", "all your projects"),
    ("mcp add quoted -- sh -c 'echo \"$HOME\" && exec srv'", "Added quoted"),
    ("mcp add unicode -e 'GREETING=안녕 🙂' -- srv 'ä ö'", "Added unicode"),
    ('mcp add-json j \'{"url": "https://x.example", "timeout": 5}\'', "Added j"),
    ("mcp list", "inventory"),
    ("mcp list --json", '"state": "untrusted"'),
    ("mcp get inventory", "API_TOKEN=••••••"),
    ("mcp get inventory --json", '"API_TOKEN": "\\u2022'),
    ("mcp get mine", "contacts  https://x.example/mcp"),
    ("mcp enable off", "Switched on"),
    ("mcp disable mine", "Switched off"),
    ("mcp remove mine", "Removed"),
    ("mcp remove bad -s project", "Removed"),
    ("mcp trust --yes", "Approved for this project: inventory"),
    ("mcp import cursor --dry-run", "cur"),
    ("mcp import cursor --yes --json", '"written": true'),
    ("mcp import cursor --yes -s local", "All of it:"),
    ("mcp secret remove kept", "Forgotten"),
    ("mcp logs", "printed anything"),
    ("mcp --help", "commands:"),
    ("mcp add --help", "hel mcp add NAME"),
    ("help servers", "# Where servers are configured"),
)


@pytest.mark.parametrize(("line", "part"), RIGHT, ids=[line for line, _ in RIGHT])
def test_what_is_right_is_done_and_said(typed: Typed, project: Path, line: str, part: str) -> None:
    before = contents(project)
    ran = typed(*shlex.split(line))
    assert_decent(ran)
    assert ran.status == 0, ran.err
    assert part in ran.out + ran.err
    after = contents(project)
    assert {name for name in before if after.get(name) != before[name]} <= {".hel/mcp.json"}
    assert b"// what the team uses" in after[".hel/mcp.json"]


@pytest.mark.parametrize(
    "line",
    ["mcp add x -s project -- y", "mcp remove a", "mcp disable a", "mcp import cursor --yes -s project"],
)
def test_a_broken_file_is_named_and_left_alone(typed: Typed, project: Path, line: str) -> None:
    (project / ".hel" / "mcp.json").write_text(BROKEN)
    before = contents(project)
    ran = typed(*shlex.split(line))
    assert_decent(ran)
    assert ran.status == 1 and contents(project) == before
    assert "line 1, column 39" in ran.out + ran.err or "no server named a" in ran.err
    assert "line 1, column 39" in typed("mcp", "list").err


def test_every_listing_has_json_that_can_be_read(typed: Typed) -> None:
    for line in (
        "list",
        "get inventory",
        "trust",
        "import cursor -n",
        "remove mine",
        "add z -- y",
        "disable z",
    ):
        words = shlex.split(line)
        at = words.index("--") if "--" in words else len(words)
        ran = typed("mcp", *words[:at], "--json", *words[at:])
        assert json.loads(ran.out) is not None, line
        assert_decent(ran)


# ------------------------------------------------------- in a process of its own


def test_a_folder_that_may_not_be_written_and_a_full_home_are_sentences(
    project: Path, tmp_path: Path
) -> None:
    env = environment(tmp_path / "home", HEL_HOME="/dev/null/hel")
    for words in (["mcp", "add", "x", "--", "y"], ["mcp", "add", "x", "-s", "user", "--", "y"]):
        ran = hel(*words, env=env, cwd=project)
        assert ran.status == 1 and len(ran.err.splitlines()) == 1
        assert_decent(ran)


def test_a_locale_without_utf_8_takes_and_shows_everything(project: Path, tmp_path: Path) -> None:
    env = environment(tmp_path, LC_ALL="C", LANG="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    ran = hel("mcp", "add", "u", "-e", "A=안녕", "--", "srv", "ä", env=env, cwd=project)
    assert ran.status == 0
    path = find_places(env).local_servers(project)
    assert json.loads(path.read_text("utf-8"))["servers"]["u"] == {
        "command": "srv",
        "args": ["ä"],
        "env": {"A": "안녕"},
    }
    ran = hel("mcp", "get", "u", env=env, cwd=project)
    assert ran.status == 0
    assert_decent(ran)


def test_output_that_nobody_takes_is_no_traceback(project: Path, tmp_path: Path) -> None:
    env = {**environment(tmp_path), "PYTHONPATH": str(ROOT)}
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*HEL, "mcp", "list", "--json"],
            cwd=project,
            env=env,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 1 and b"Traceback" not in done.stderr


def test_a_folder_that_is_gone_is_a_sentence(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    env = {**environment(tmp_path), "PYTHONPATH": str(ROOT)}
    script = f"rmdir {shlex.quote(str(gone))}; exec {shlex.join(HEL)} mcp list"
    done = subprocess.run(
        ["sh", "-c", script], cwd=gone, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and "current folder is gone" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_project_is_a_sentence(typed: Typed, project: Path) -> None:
    (project / ".hel").chmod(0o555)
    try:
        ran = typed("mcp", "add", "x", "-s", "project", "--", "y")
    finally:
        (project / ".hel").chmod(0o755)
    assert ran.status == 1 and re.search("permission denied", ran.err)
