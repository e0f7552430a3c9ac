"""How a server is configured, as a screen shows it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from hel_tui.core import protocol as p
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.session.entries import HIDDEN, Standing, entry_detail

SECRET = "sk-abcdefghijklmnopqrstuvwx"


def _detail(environ: dict[str, str], **entry: Any) -> p.EntryDetail:
    given = {"scope": "user", "file": Path("/x/mcp.json"), "transport": "stdio", "definition": {}, **entry}
    return entry_detail(Standing(ServerEntry(name="s", **given), "yours"), environ, str)


def test_variables_are_named_with_where_they_are_used_and_where_they_are_from(tmp_path: Path) -> None:
    detail = _detail(
        {"PATH": "/usr/bin", "HOME": "/h", "PORT": "80", "API_KEY": SECRET, "EMPTY": ""},
        command="${BIN:-python3}",
        args=("--port", "${PORT}", "${MISSING}"),
        env=(("KEY", "${API_KEY}"), ("K2", "${keyring:work}"), ("E", "${EMPTY:-d{x}}")),
        default_cwd=tmp_path,
    )
    assert [(one.name, one.where, one.value, one.source) for one in detail.variables] == [
        ("BIN", "command", "python3", "default"),
        ("PORT", "args.2", "80", "environment"),
        ("MISSING", "args.3", "", "unset"),
        ("API_KEY", "env.KEY", HIDDEN, "environment"),
        ("keyring:work", "env.K2", HIDDEN, "keyring"),
        ("EMPTY", "env.E", "d{x}", "default"),
    ]


def test_the_program_is_resolved_and_no_secret_is_in_what_is_shown(tmp_path: Path) -> None:
    definition = {"command": sys.executable, "args": ["${API_KEY}"], "env": {"API_TOKEN": SECRET}}
    detail = _detail(
        {"PATH": "/usr/bin", "API_KEY": SECRET, "OTHER": "x"},
        command=sys.executable,
        args=("${API_KEY}",),
        env=(("API_TOKEN", SECRET),),
        definition=definition,
        default_cwd=tmp_path,
    )
    assert (detail.resolved, detail.cwd) == (sys.executable, str(tmp_path))
    assert detail.env_names == ("API_TOKEN", "PATH") and HIDDEN in detail.command_line
    assert SECRET not in repr(detail) and json.loads(detail.text)["command"] == sys.executable
    assert len(detail.sha256) == 64


def test_the_address_of_a_remote_server_hides_what_is_secret_in_it() -> None:
    detail = _detail(
        {"TOKEN": SECRET, "HOST": "example.org"},
        transport="http",
        url="https://${HOST}/mcp?key=${TOKEN}",
        headers=(("Authorization", "Bearer ${TOKEN}"),),
    )
    assert detail.command_line == f"https://example.org/mcp?key={HIDDEN}"
    assert SECRET not in repr(detail) and detail.variables[-1].where == "headers.Authorization"
