"""Servers as other agents write them, in hel's keys."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core.mcp.importing.gather import Found, Gathered, gather
from hel_tui.core.mcp.importing.places import Source, usual_files
from hel_tui.core.store.places import find_places


@dataclass
class Machine:
    """A home with agents' files in it, and a project."""

    home: Path
    project: Path

    @property
    def environ(self) -> dict[str, str]:
        return {"HOME": str(self.home), "HEL_HOME": str(self.home / "hel")}

    def write(self, path: str, content: Any) -> Path:
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content, indent=2), "utf-8")
        return file

    def gather(self, source: Source, **more: Any) -> Gathered:
        return gather(source, self.project, find_places(self.environ), self.environ, **more)

    def found(self, source: Source, **more: Any) -> dict[str, Found]:
        return {one.name: one for one in self.gather(source, **more).found}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    (tmp_path / "home" / "p").mkdir(parents=True)
    return Machine(tmp_path / "home", tmp_path / "home" / "p")


def raws(found: dict[str, Found]) -> dict[str, Any]:
    assert {name: one.problem for name, one in found.items() if one.problem} == {}
    return {name: one.raw for name, one in found.items()}


def test_claude_code_has_servers_for_the_person_and_for_the_person_here(machine: Machine) -> None:
    machine.write(
        ".claude.json",
        {
            "numStartups": 12,
            "mcpServers": {
                "gh": {
                    "type": "stdio",
                    "command": "gh-mcp",
                    "args": ["x"],
                    "env": {"T": "${T}"},
                    "timeout": 60000,
                },
                "docs": {
                    "type": "http",
                    "url": "https://docs.example/mcp",
                    "headers": {"A": "b"},
                    "alwaysLoad": True,
                    "oauth": {"clientId": "abc", "callbackPort": 8080},
                },
            },
            "projects": {
                str(machine.project): {"mcpServers": {"here": {"command": "x", "timeout": 10}}},
                "/else/where": {"mcpServers": {"there": {"command": "y"}}},
            },
        },
    )
    machine.write("p/.mcp.json", {"mcpServers": {"shared": {"command": "z"}}})
    gathered = machine.gather("claude")
    found = {one.name: one for one in gathered.found}
    assert raws(found) == {
        "gh": {"type": "stdio", "command": "gh-mcp", "args": ["x"], "env": {"T": "${T}"}, "timeout": 60},
        "docs": {
            "type": "http",
            "url": "https://docs.example/mcp",
            "headers": {"A": "b"},
            "oauth": {"clientId": "abc", "callbackPort": 8080},
            "always_load": True,
        },
        "here": {"command": "x"},
    }
    assert {name: one.scope for name, one in found.items()} == {"gh": "user", "docs": "user", "here": "local"}
    assert "read by hel as it is" in gathered.problems[0]
    copied = machine.gather("claude", scope="local")
    assert [one.name for one in copied.found if one.from_project] == ["shared"]


def test_claude_desktop_and_its_platforms_folder(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = {"command": "npx", "args": ["-y", "@m/server-filesystem", "/x"], "env": {}}
    machine.write(".config/Claude/claude_desktop_config.json", {"mcpServers": {"file system": entry}})
    (one,) = machine.gather("claude-desktop").found
    assert (one.name, one.original, one.raw) == (
        "file-system",
        "file system",
        {"command": "npx", "args": ["-y", "@m/server-filesystem", "/x"]},
    )
    assert 'called "file system" there' in one.notes
    monkeypatch.setattr("sys.platform", "darwin")
    (spot,) = usual_files("claude-desktop", machine.project, machine.environ)
    assert spot.path == machine.home / "Library/Application Support/Claude/claude_desktop_config.json"


def test_codex_names_variables_in_keys_of_their_own(machine: Machine) -> None:
    machine.write(
        ".codex/config.toml",
        """
model = "o"
[mcp_servers.local]
command = "srv"
args = ["--a"]
env_vars = ["TOKEN", { name = "OTHER", source = "local" }]
cwd = "/w"
startup_timeout_sec = 10.5
tool_timeout_sec = 60
enabled_tools = ["a", "b"]
default_tools_approval_mode = "approve"
supports_parallel_tool_calls = true
[mcp_servers.local.env]
MODE = "fast"
[mcp_servers.local.tools.a]
approval_mode = "approve"
[mcp_servers.remote]
url = "https://r.example/mcp"
bearer_token_env_var = "R_TOKEN"
http_headers = { X = "y" }
env_http_headers = { Z = "ZED" }
scopes = ["read"]
oauth = { client_id = "id" }
enabled = false
disabled_tools = ["c"]
""",
    )
    found = machine.found("codex")
    assert raws(found) == {
        "local": {
            "command": "srv",
            "args": ["--a"],
            "cwd": "/w",
            "env": {"MODE": "fast", "TOKEN": "${TOKEN}", "OTHER": "${OTHER}"},
            "startup_timeout": 10.5,
            "timeout": 60,
            "tools": {"include": ["a", "b"]},
            "parallel": True,
        },
        "remote": {
            "url": "https://r.example/mcp",
            "headers": {"X": "y", "Z": "${ZED}", "Authorization": "Bearer ${R_TOKEN}"},
            "oauth": {"clientId": "id", "scopes": ["read"]},
            "tools": {"exclude": ["c"]},
            "disabled": True,
        },
    }
    said = " ".join(found["local"].notes)
    assert "approvals of single tools are never taken over" in said
    assert "`default_tools_approval_mode` is no approval for hel" in said


@pytest.mark.parametrize("generation", [1, 2])
def test_opencode_of_both_generations(machine: Machine, generation: int) -> None:
    local: dict[str, Any] = {
        "type": "local",
        "command": ["npx", "-y", "x"],
        "environment": {"A": "{env:A_KEY}", "B": "{file:~/.secret}"},
    }
    remote: dict[str, Any] = {"type": "remote", "url": "https://r.example", "oauth": False}
    remote["headers"] = {"Authorization": "Bearer {env:T}"}
    if generation == 1:
        machine.write(
            "p/opencode.jsonc",
            "// ours\n"
            + json.dumps({"mcp": {"l": {**local, "timeout": 9000}, "r": {**remote, "enabled": False}}}),
        )
    else:
        servers = {
            "l": {**local, "timeout": {"startup": 9000, "request": 60000}},
            "r": {**remote, "disabled": True},
        }
        machine.write("p/opencode.json", {"mcp": {"servers": servers}})
    found = machine.found("opencode")
    assert raws(found) == {
        "l": {
            "command": "npx",
            "args": ["-y", "x"],
            "env": {"A": "${A_KEY}", "B": "${keyring:l.B}"},
            "startup_timeout": 9,
            **({"timeout": 60} if generation == 2 else {}),
        },
        "r": {
            "url": "https://r.example",
            "headers": {"Authorization": "Bearer ${T}"},
            "oauth": False,
            "disabled": True,
        },
    }
    assert found["l"].secrets == ("l.B",) and "was read from ~/.secret" in found["l"].notes[0]
    assert found["l"].scope == "project"


def test_gemini_tells_sse_from_http_and_its_trust_is_not_taken(machine: Machine) -> None:
    machine.write(
        ".gemini/settings.json",
        {
            "theme": "x",
            "mcpServers": {
                "l": {
                    "command": "srv",
                    "args": ["$A", "${B}"],
                    "cwd": "./w",
                    "timeout": 15000,
                    "trust": True,
                    "includeTools": ["a(x)", "b"],
                },
                "s": {"url": "https://s.example/sse", "excludeTools": ["c"]},
                "h": {"httpUrl": "https://h.example/mcp", "headers": {"K": "$TOKEN"}},
                "n": {
                    "url": "https://n.example/mcp",
                    "type": "http",
                    "oauth": {"enabled": True, "clientId": "i", "tokenUrl": "t"},
                },
            },
        },
    )
    found = machine.found("gemini")
    assert raws(found) == {
        "l": {
            "command": "srv",
            "args": ["${A}", "${B}"],
            "cwd": "./w",
            "timeout": 15,
            "tools": {"include": ["a", "b"]},
        },
        "s": {"url": "https://s.example/sse", "type": "sse", "tools": {"exclude": ["c"]}},
        "h": {"headers": {"K": "${TOKEN}"}, "url": "https://h.example/mcp", "type": "http"},
        "n": {"url": "https://n.example/mcp", "type": "http", "oauth": {"clientId": "i"}},
    }
    assert "`trust` is no approval for hel: left out" in found["l"].notes
    assert "tokenUrl" in " ".join(found["n"].notes)


def test_crush_commands_in_values_are_never_run(machine: Machine, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    machine.write(
        ".config/crush/crush.json",
        {
            "permissions": {"allowed_tools": ["mcp_gh_x"]},
            "mcp": {
                "gh": {
                    "type": "http",
                    "url": "https://g.example/mcp/",
                    "headers": {"Authorization": f"Bearer $(touch {marker})", "X": "$X"},
                    "timeout": 120,
                    "disabled_tools": ["d"],
                    "disabled": True,
                    "oauth_client_id": "id",
                },
                "l": {"type": "stdio", "command": "node", "args": ["${ROOT}/s.js"], "env": {"A": "`id`"}},
            },
        },
    )
    found = machine.found("crush")
    assert raws(found) == {
        "gh": {
            "type": "http",
            "url": "https://g.example/mcp/",
            "headers": {"Authorization": "${keyring:gh.Authorization}", "X": "${X}"},
            "timeout": 120,
            "tools": {"exclude": ["d"]},
            "disabled": True,
            "oauth": {"clientId": "id"},
        },
        "l": {"type": "stdio", "command": "node", "args": ["${ROOT}/s.js"], "env": {"A": "${keyring:l.A}"}},
    }
    assert not marker.exists() and found["gh"].secrets == ("gh.Authorization",)


def test_goose_extensions_of_its_own_kinds_are_left_out(machine: Machine) -> None:
    machine.write(
        ".config/goose/config.yaml",
        """
GOOSE_PROVIDER: anthropic
extensions:
  developer:
    enabled: true
    type: builtin
    name: developer
    bundled: true
    timeout: 300
  github:
    args: ["-y", "@modelcontextprotocol/server-github"]
    cmd: npx
    description: GitHub
    enabled: true
    env_keys: [GITHUB_PERSONAL_ACCESS_TOKEN]
    envs: {MODE: fast}
    name: GitHub
    timeout: 300
    type: stdio
    available_tools: [search]
  remote:
    enabled: false
    type: streamable_http
    name: remote
    uri: https://r.example/mcp
    headers: {A: b}
    envs: {}
    env_keys: []
  old:
    {type: sse, name: old, uri: "http://localhost:1/sse", enabled: true}
""",
    )
    found = machine.found("goose")
    assert raws(found) == {
        "github": {
            "command": "npx",
            "args": ["-y", "@modelcontextprotocol/server-github"],
            "env": {
                "MODE": "fast",
                "GITHUB_PERSONAL_ACCESS_TOKEN": "${keyring:github.GITHUB_PERSONAL_ACCESS_TOKEN}",
            },
            "timeout": 300,
            "tools": {"include": ["search"]},
        },
        "remote": {"url": "https://r.example/mcp", "headers": {"A": "b"}, "type": "http", "disabled": True},
        "old": {"url": "http://localhost:1/sse", "type": "sse"},
    }


def test_cursor_of_the_project_and_of_the_person(machine: Machine) -> None:
    machine.write(
        "p/.cursor/mcp.json",
        {
            "mcpServers": {
                "a": {
                    "command": "./run",
                    "args": ["${workspaceFolder}/x", "${env:A}"],
                    "envFile": "${workspaceFolder}/.env",
                }
            }
        },
    )
    machine.write(
        ".cursor/mcp.json",
        {
            "mcpServers": {
                "b": {
                    "url": "https://b.example/mcp",
                    "headers": {"Authorization": "Bearer ${env:TOKEN}"},
                    "auth": {"CLIENT_ID": "${env:ID}", "scopes": ["read"]},
                },
                "c": {"command": "${userHome}/bin/c", "autoApprove": ["x"], "disabled": True},
            }
        },
    )
    found = machine.found("cursor")
    assert raws(found) == {
        "a": {"command": "./run", "args": ["./x", "${A}"]},
        "b": {
            "url": "https://b.example/mcp",
            "headers": {"Authorization": "Bearer ${TOKEN}"},
            "oauth": {"clientId": "${ID}", "scopes": ["read"]},
        },
        "c": {"command": "${HOME}/bin/c", "disabled": True},
    }
    assert {name: (one.scope, one.from_project) for name, one in found.items()} == {
        "a": ("project", True),
        "b": ("user", False),
        "c": ("user", False),
    }
    assert "not read by hel" in " ".join(found["a"].notes)
    here = machine.found("cursor", scope="local")["a"]
    assert here.raw["args"][0] == f"{machine.project}/x"
    assert "it is only found from there" in " ".join(machine.found("cursor", scope="user")["a"].notes)


def test_vs_code_inputs_become_kept_values_or_variables(machine: Machine) -> None:
    machine.write(
        "p/.vscode/mcp.json",
        """{
  // asked for once
  "inputs": [
    {"type": "promptString", "id": "api-key", "description": "Key", "password": true},
    {"type": "promptString", "id": "region", "description": "Region", "default": "eu"},
  ],
  "servers": {
    "Perplexity": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "p", "--region", "${input:region}"],
      "env": {"KEY": "${input:api-key}", "N": 5, "GONE": null},
      "dev": {"watch": "src/**/*.ts", "debug": {"type": "node"}},
    },
    "remote": {"type": "http", "url": "https://r.example/mcp", "headers": {"A": "Bearer ${input:api-key}"}},
  },
}""",
    )
    found = machine.found("vscode")
    assert raws(found) == {
        "Perplexity": {
            "type": "stdio",
            "command": "npx",
            "args": ["-y", "p", "--region", "${REGION:-eu}"],
            "env": {"KEY": "${keyring:Perplexity.api-key}", "N": "5"},
        },
        "remote": {
            "type": "http",
            "url": "https://r.example/mcp",
            "headers": {"A": "Bearer ${keyring:remote.api-key}"},
        },
    }
    assert "takes GONE away" in " ".join(found["Perplexity"].notes)


def test_zed_old_and_new_and_what_extensions_bring(machine: Machine) -> None:
    machine.write(
        ".config/zed/settings.json",
        """// Zed settings
{
  "theme": "One Dark",
  "context_servers": {
    "new": {"source": "custom", "enabled": true, "command": "uv", "args": ["run"], "env": {"A": "b"}},
    "old": {"source": "custom", "command": {"path": "node", "args": ["s.js"], "env": {}}},
    "remote": {"url": "https://r.example/mcp", "headers": {"Authorization": "Bearer x"}, "enabled": false},
    "by-extension": {"source": "extension", "settings": {"k": "v"}},
  },
}""",
    )
    gathered = machine.found("zed")
    assert "extension of Zed" in gathered.pop("by-extension").problem
    assert raws(gathered) == {
        "new": {"command": "uv", "args": ["run"], "env": {"A": "b"}},
        "old": {"command": "node", "args": ["s.js"]},
        "remote": {
            "url": "https://r.example/mcp",
            "headers": {"Authorization": "Bearer x"},
            "disabled": True,
        },
    }


# ------------------------------------------------------------- unknown shapes

SOURCES: tuple[Source, ...] = (
    *("claude", "claude-desktop", "codex", "opencode", "gemini", "crush", "goose", "cursor", "vscode", "zed"),
)
_KEY = {
    "codex": "mcp_servers",
    "opencode": "mcp",
    "crush": "mcp",
    "goose": "extensions",
    "vscode": "servers",
    "zed": "context_servers",
}
ODD: tuple[Any, ...] = (
    *(None, 5, "x", [], {}, True, [1]),
    {"type": 5, "command": 7, "args": "x", "env": [], "url": {}, "headers": 3, "timeout": "soon"},
    {"type": "stdio", "cmd": [1], "args": {"a": 1}, "envs": "x", "env_keys": {"a": 1}, "uri": 5},
    {"command": [], "environment": 5, "tools": 5, "oauth": 5, "includeTools": "x", "auth": 7, "dev": 1},
    {"command": {"path": 5, "args": 5}, "env_vars": 5, "http_headers": [], "scopes": 5, "enabled": "no"},
    {"command": "x", "timeout": {"startup": "x"}, "env": {"A": None, "B": [1]}, "args": [None]},
)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("odd", ODD)
def test_whatever_an_entry_is_there_is_a_sentence_and_the_good_one_is_taken(
    machine: Machine, source: Source, odd: Any
) -> None:
    good: dict[str, Any] = {"type": "stdio", "command": "srv", "cmd": "srv"}
    key = _KEY.get(source, "mcpServers")
    if source == "codex":
        import tomli_w

        try:
            text = tomli_w.dumps({key: {"odd": odd, "good": good}})
        except TypeError:
            pytest.skip("TOML has no such value")
    else:
        text = json.dumps({key: {"odd": odd, "good": good}})
    file = machine.write(f"given{'.toml' if source == 'codex' else '.json'}", text)
    gathered = machine.gather(source, file=file)
    found = {one.name: one for one in gathered.found}
    assert found["good"].problem == "" and found["good"].raw["command"] == "srv"
    if "odd" in found and found["odd"].problem == "":
        assert found["odd"].entry is not None


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"\xff\xfe",
        b"{",
        b"5",
        b"null",
        b'{"a": ',
        b"[" * 5000,
        b"- " * 3000,
        b"&a [*a]",
        b"x: *b",
        b"{a: b",
    ],
)
def test_whatever_a_file_is_there_is_a_sentence(machine: Machine, source: Source, data: bytes) -> None:
    file = machine.home / "given"
    file.write_bytes(data)
    gathered = machine.gather(source, file=file)
    assert gathered.found == ()
    assert all(str(file) in problem and "Traceback" not in problem for problem in gathered.problems)


def test_an_object_where_servers_should_be_that_is_none(machine: Machine) -> None:
    file = machine.write("given.json", {"mcpServers": ["a"]})
    assert machine.gather("cursor", file=file).problems == (
        f"{file}: `mcpServers` is not an object of servers.",
    )


def test_links_of_a_project_are_not_followed(machine: Machine) -> None:
    outside = machine.write("outside.json", {"mcpServers": {"a": {"command": "x"}}})
    (machine.project / ".cursor").mkdir()
    (machine.project / ".cursor" / "mcp.json").symlink_to(outside)
    gathered = machine.gather("cursor")
    assert gathered.found == () and "is a link" in gathered.problems[0]


def test_two_that_would_have_one_name_are_not_mixed_up(machine: Machine) -> None:
    servers = {"a b": {"command": "one"}, "a-b": {"command": "two"}, "__": {"command": "three"}}
    machine.write(".cursor/mcp.json", {"mcpServers": servers})
    found = machine.gather("cursor").found
    assert [(one.name, bool(one.problem)) for one in found] == [("a-b", False), ("a-b", True), ("__", True)]


def test_literal_credentials_are_named_and_not_shown(machine: Machine) -> None:
    servers = {"a": {"command": "x", "env": {"API_KEY": "abcdef-123456"}}}
    machine.write("p/.cursor/mcp.json", {"mcpServers": servers})
    (one,) = machine.gather("cursor").found
    said = " ".join(one.notes)
    assert "`env.API_KEY`" in said and "committed" in said and "abcdef" not in said
