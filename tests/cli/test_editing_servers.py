"""`hel mcp add`, `get`, `remove`, `enable`, `disable`: what is written where, and what is left alone."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core.store.places import Places, find_places
from tests.cli.shell import Ran
from tests.cli.typed import Typed

Hel = Callable[..., Ran]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "p").mkdir()
    return tmp_path / "p"


@pytest.fixture
def typed(tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> Typed:
    return Typed(tmp_path, project, monkeypatch, capfd)


@pytest.fixture
def places(typed: Typed) -> Places:
    return find_places(typed.env)


def servers(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text())["servers"]


def test_what_follows_the_two_dashes_is_verbatim_and_the_scope_is_local(
    typed: Typed, project: Path, places: Places
) -> None:
    ran = typed("mcp", "add", "weather", "--", "cmd", "--", "-s", "user", "--json", "a b", "$HOME", "")
    assert ran.status == 0
    path = places.local_servers(project)
    assert servers(path) == {
        "weather": {"command": "cmd", "args": ["--", "-s", "user", "--json", "a b", "$HOME", ""]}
    }
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert str(path) in ran.out and "local" in ran.out
    assert list(project.iterdir()) == []


def test_options_may_stand_anywhere_before(typed: Typed, project: Path, places: Places) -> None:
    assert typed("mcp", "add", "-e", "K=V=W", "db", "-s", "user", "-e", "E=", "--", "db", "-x").status == 0
    assert servers(places.user_servers)["db"] == {
        "command": "db",
        "args": ["-x"],
        "env": {"K": "V=W", "E": ""},
    }
    assert typed("mcp", "add", "n", "--header", "A: b: c", "https://x.example/m", "-H", "B:d").status == 0
    assert typed("mcp", "add", "--transport", "sse", "s", "https://x.example/s", "--timeout", "5").status == 0
    assert servers(places.local_servers(project)) == {
        "n": {"type": "http", "url": "https://x.example/m", "headers": {"A": "b: c", "B": "d"}},
        "s": {"type": "sse", "url": "https://x.example/s", "timeout": 5},
    }


def test_a_project_server_is_written_for_all_and_still_asked_about(typed: Typed, project: Path) -> None:
    ran = typed("mcp", "add", "notes", "-s", "project", "--", "notes-mcp")
    assert ran.status == 0 and "hel mcp trust notes" in ran.out
    path = project / ".hel" / "mcp.json"
    assert servers(path) == {"notes": {"command": "notes-mcp"}}
    assert json.loads(typed("mcp", "list", "--json").out)[0]["state"] == "untrusted"


def test_a_name_that_is_there_is_only_replaced_with_force(
    typed: Typed, project: Path, places: Places
) -> None:
    typed("mcp", "add", "a", "--", "one")
    ran = typed("mcp", "add", "a", "--", "two")
    assert ran.status == 1 and "--force" in ran.err
    assert typed("mcp", "add", "a", "--force", "--", "two").status == 0
    assert servers(places.local_servers(project)) == {"a": {"command": "two"}}


def test_a_program_that_is_not_there_is_pointed_out(typed: Typed) -> None:
    assert "no-such-program is not found" in typed("mcp", "add", "a", "--", "no-such-program").err
    assert "not found" not in typed("mcp", "add", "b", "--", "sh").err
    assert "not found" not in typed("mcp", "add", "c", "--", "${SERVER}").err


def test_it_is_said_which_of_two_scopes_counts(typed: Typed) -> None:
    assert "shadow" not in typed("mcp", "add", "a", "-s", "user", "--", "x").out
    assert "in place of the one in" in typed("mcp", "add", "a", "--", "y").out
    assert "It is shadowed" in typed("mcp", "add", "a", "-s", "project", "--", "z").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["bad name", "--", "x"], "may have only letters"),
        (["a__b", "--", "x"], '"__"'),
        (["a", "htp://x"], "must begin with http:// or https://"),
        (["a", "npx", "pkg"], "hel mcp add a -- npx pkg"),
        (["a"], "hel mcp add a URL"),
        (["a", "--"], "no program"),
        (["a", "https://x.example", "--", "y"], "one of them"),
        (["a", "https://x.example", "-e", "K=V"], "--env is for programs"),
        (["a", "-H", "K: V", "--", "y"], "headers are for remote servers"),
        (["a", "-H", "KV", "https://x.example"], "NAME: VALUE"),
        (["a", "-H", "K: a\nb", "https://x.example"], "must be one line"),
        (["a", "-e", "KV", "--", "y"], "NAME=VALUE"),
        (["a", "-t", "http", "--", "y"], "wants a URL"),
        (["a", "-t", "stdio", "https://x.example"], "wants a program"),
        (["a", "--secret", "K=V", "--", "y"], "only the name"),
    ],
)
def test_what_makes_no_entry_is_refused_before_anything_is_written(
    typed: Typed, project: Path, places: Places, words: list[str], said: str
) -> None:
    ran = typed("mcp", "add", *words)
    assert ran.status == 2 and said in ran.err and ran.out == ""
    assert not places.local_servers(project).exists()


def test_json_as_documentation_shows_it_is_taken_with_its_own_places(
    typed: Typed, project: Path, places: Places
) -> None:
    whole = '{"mcpServers": {"gh": {"command": "gh-mcp", "autoApprove": ["x"]}}} // from a README'
    ran = typed("mcp", "add-json", "github", whole)
    assert ran.status == 0 and "never counts as approval" in ran.err
    assert servers(places.local_servers(project))["github"]["command"] == "gh-mcp"
    assert typed("mcp", "add-json", "b", "-", stdin='{"url": "https://x.example"}').status == 0
    for bad, said in (
        ('{"command": }', "line 1, column 13"),
        ("[]", "an object"),
        ('{"command": 5}', "`command` must be text"),
        ('{"mcpServers": {"a": {}, "b": {}}}', "one server"),
    ):
        ran = typed("mcp", "add-json", "c", bad)
        assert ran.status == 2 and said in ran.err


# ------------------------------------------------------------------- secrets


def test_a_secret_is_read_from_stdin_kept_and_only_referred_to(
    typed: Typed, project: Path, places: Places
) -> None:
    value = "not-to-be-seen-1"
    ran = typed("mcp", "add", "gh", "--secret", "TOKEN", "-s", "project", "--", "gh", stdin=value + "\n")
    assert ran.status == 0 and "gh.TOKEN" in ran.out
    assert servers(project / ".hel" / "mcp.json")["gh"]["env"] == {"TOKEN": "${keyring:gh.TOKEN}"}
    told = [ran, typed("mcp", "list"), typed("mcp", "get", "gh"), typed("mcp", "get", "gh", "--json")]
    assert not any(value in one.out + one.err for one in told)
    holders = [
        path for path in places.state.parent.rglob("*") if path.is_file() and value in path.read_text()
    ]
    assert holders == [places.state / "secrets.toml"]
    assert stat.S_IMODE(holders[0].stat().st_mode) == 0o600


def test_a_secret_header_may_have_a_word_before_it(typed: Typed, project: Path, places: Places) -> None:
    words = ("--secret-header", "Authorization: Bearer", "--secret-header", "X-Key", "https://x.example")
    assert typed("mcp", "add", "r", *words, stdin="one-value\ntwo-value\n").status == 0
    assert servers(places.local_servers(project))["r"]["headers"] == {
        "Authorization": "Bearer ${keyring:r.Authorization}",
        "X-Key": "${keyring:r.X-Key}",
    }
    facts = json.loads(typed("mcp", "get", "r", "--json").out)
    assert [(need["name"], need["set"]) for need in facts["needs"]] == [
        ("r.Authorization", True),
        ("r.X-Key", True),
    ]


def test_another_value_of_that_name_is_not_lost(typed: Typed, places: Places) -> None:
    typed("mcp", "add", "gh", "--secret", "T", "--", "x", stdin="first-value")
    ran = typed("mcp", "add", "gh", "-s", "user", "--secret", "T", "--", "x", stdin="second-value")
    assert ran.status == 1 and "another value is kept as gh.T" in ran.err
    assert "second-value" not in ran.err and not places.user_servers.exists()
    assert (
        typed("mcp", "add", "gh", "-s", "user", "--secret", "T", "--", "x", stdin="first-value").status == 0
    )


def test_without_a_value_nothing_is_written(typed: Typed, project: Path, places: Places) -> None:
    ran = typed("mcp", "add", "gh", "--secret", "T", "--", "x", stdin="")
    assert ran.status == 1 and "no value was given for T" in ran.err
    assert not places.local_servers(project).exists()


def test_a_value_is_taken_back_when_the_entry_could_not_be_written(
    typed: Typed, project: Path, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hel_tui.cli.mcp import adding
    from hel_tui.core.mcp.editing import NotEdited

    monkeypatch.setattr(adding, "put_entries", lambda *_, **__: NotEdited("the disk is full."))
    assert typed("mcp", "add", "gh", "--secret", "T", "--", "x", stdin="a-value").status == 1
    assert "a-value" not in (places.state / "secrets.toml").read_text()


def test_a_literal_credential_in_a_project_file_is_warned_about(typed: Typed, project: Path) -> None:
    ran = typed("mcp", "add", "gh", "-s", "project", "-e", "API_TOKEN=so-very-secret", "--", "x")
    assert ran.status == 0
    assert "seems to hold a credential" in ran.err and "so-very-secret" not in ran.out + ran.err
    assert "credential" not in typed("mcp", "add", "gh", "-e", "API_TOKEN=so-very-secret", "--", "x").err


def test_values_can_be_set_and_forgotten_on_their_own(typed: Typed) -> None:
    typed("mcp", "add", "gh", "-e", "T=${keyring:shared}", "--", "x")
    assert typed("mcp", "secret", "set", "${keyring:shared}", stdin="the-value\n").status == 0
    assert "(set)" in typed("mcp", "get", "gh").out
    ran = typed("mcp", "secret", "remove", "shared")
    assert ran.status == 0 and "gh" in ran.err
    assert typed("mcp", "secret", "remove", "shared").status == 1
    assert typed("mcp", "secret", "set", "a/b", stdin="x").status == 2


def test_a_value_of_several_lines_is_kept_whole(typed: Typed, places: Places) -> None:
    key = "-----BEGIN KEY-----\r\nabc\r\n-----END KEY-----\r\n"
    assert typed("mcp", "secret", "set", "pem", stdin=key).status == 0
    import tomllib

    kept = tomllib.loads((places.state / "secrets.toml").read_text())
    assert kept == {"pem": "-----BEGIN KEY-----\nabc\n-----END KEY-----"}


# ---------------------------------------------------------------------- get


def test_get_tells_origin_needs_and_what_it_shadows_and_masks_values(typed: Typed, project: Path) -> None:
    entry = {
        "command": "sh",
        "args": ["--token", "abcdefgh1234"],
        "env": {"PLAIN": "literal-value", "REF": "${NOT_SET_HERE}", "DEF": "${NOR_THIS:-x}"},
        "tools": {"exclude": ["drop*"]},
        "always_load": True,
    }
    typed("mcp", "add", "a", "-s", "user", "--", "other")
    typed("mcp", "add-json", "a", json.dumps(entry), "-s", "project")
    ran = typed("mcp", "get", "a")
    assert ran.status == 0
    for part in (
        "project",
        "untrusted",
        "REF=${NOT_SET_HERE}",
        "NOT SET",
        "its default",
        "exclude drop*",
        "shadows",
    ):
        assert part in ran.out, part
    assert "literal-value" not in ran.out and "abcdefgh1234" not in ran.out
    facts = json.loads(typed("mcp", "get", "a", "--json").out)
    assert facts["resolved"].endswith("/sh") and facts["cwd"] == str(project)
    assert facts["env"]["PLAIN"] == "••••••" and facts["options"] == {"always_load": True}
    assert [(need["name"], need["set"], need["has_default"]) for need in facts["needs"]] == [
        ("NOT_SET_HERE", False, False),
        ("NOR_THIS", False, True),
    ]
    assert [other["scope"] for other in facts["others"]] == ["user"]


def test_get_of_an_entry_that_cannot_be_used_says_why(typed: Typed, project: Path) -> None:
    (project / ".mcp.json").write_text('{"mcpServers": {"bad": {"command": 7}}}')
    ran = typed("mcp", "get", "bad")
    assert ran.status == 1 and "`command` must be text" in ran.out and "line 1, column" in ran.out
    assert json.loads(typed("mcp", "get", "bad", "--json").out)["state"] == "invalid"


# ------------------------------------------------------- remove, enable, disable


def test_remove_takes_one_entry_and_leaves_the_rest_of_the_file(typed: Typed, project: Path) -> None:
    text = (
        '// ours\n{"mcpServers": {\n  "a": {"command": "x"}, // first\n  "b": {"command": "y"},\n}, "z": 1}\n'
    )
    (project / ".mcp.json").write_text(text)
    assert typed("mcp", "remove", "b").status == 0
    assert (project / ".mcp.json").read_text() == text.replace('  "b": {"command": "y"},\n', "")
    ran = typed("mcp", "remove", "b")
    assert ran.status == 1 and "there is no server named b" in ran.err


def test_remove_asks_for_the_scope_where_there_are_several(typed: Typed, places: Places) -> None:
    typed("mcp", "add", "a", "-s", "user", "--", "x")
    typed("mcp", "add", "a", "--", "y")
    ran = typed("mcp", "remove", "a")
    assert ran.status == 2 and "local (" in ran.err and "user (" in ran.err
    ran = typed("mcp", "remove", "a", "-s", "local")
    assert ran.status == 0 and f"Now the one in {places.user_servers} (user) counts" in ran.out
    assert typed("mcp", "remove", "a", "-s", "project").status == 1
    assert typed("mcp", "remove", "a").status == 0


def test_a_bad_entry_can_be_removed_and_a_broken_file_is_said(typed: Typed, project: Path) -> None:
    (project / ".mcp.json").write_text('{"mcpServers": {"bad name": 5}}')
    assert typed("mcp", "remove", "bad name").status == 0
    (project / ".mcp.json").write_text('{"mcpServers": {"a": 5,,}}')
    ran = typed("mcp", "remove", "a")
    assert ran.status == 1 and "line 1, column" in ran.err
    assert (project / ".mcp.json").read_text() == '{"mcpServers": {"a": 5,,}}'


def test_an_approval_ends_with_its_server_and_kept_values_are_pointed_out(typed: Typed) -> None:
    typed("mcp", "add", "a", "-s", "project", "--secret", "T", "--", "x", stdin="a-value")
    assert typed("mcp", "trust", "--yes").status == 0
    ran = typed("mcp", "remove", "a")
    assert ran.status == 0 and "hel mcp secret remove a.T" in ran.err
    assert typed("mcp", "trust", "--forget").out == "Nothing is approved here.\n"


def test_switching_off_and_on_is_shown_by_the_list(typed: Typed, project: Path) -> None:
    (project / ".mcp.json").write_text('{"mcpServers": {"a": {"command": "x"}}} // end')
    before = (project / ".mcp.json").read_text()
    ran = typed("mcp", "disable", "a")
    assert ran.status == 0 and "still trusted" in ran.err  # nothing of it is left to ask about
    assert json.loads(typed("mcp", "list", "--json").out)[0]["state"] == "off"
    assert typed("mcp", "enable", "a").status == 0
    assert (project / ".mcp.json").read_text() == before


@pytest.mark.parametrize("approves", [True, False])
def test_what_becomes_of_trust_by_a_switch_is_what_the_list_says(
    typed: Typed, project: Path, approves: bool
) -> None:
    (project / ".mcp.json").write_text('{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}')
    if approves:
        assert typed("mcp", "trust", "--yes").status == 0
    for command in ("disable", "enable"):
        ran = typed("mcp", command, "a")
        rows = json.loads(typed("mcp", "list", "--json").out)
        untrusted = [row["name"] for row in rows if row["state"] == "untrusted"]
        said = (
            f"hel asks before these run (hel mcp trust): {', '.join(untrusted)}."
            if untrusted
            else "still trusted."
        )
        assert ran.err.rstrip().endswith(said)


# -------------------------------------------------------------- trust, names


def test_approvals_are_taken_back_by_name_or_all(typed: Typed, project: Path) -> None:
    (project / ".mcp.json").write_text('{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}')
    told = json.loads(typed("mcp", "trust", "--yes", "--json").out)
    assert told["approved"] == ["a", "b"] and told["waiting"] == []
    assert json.loads(typed("mcp", "trust", "--forget", "a", "--json").out)["forgotten"] == ["a"]
    states = {row["name"]: row["state"] for row in json.loads(typed("mcp", "list", "--json").out)}
    assert states == {"a": "untrusted", "b": "trusted"}
    assert typed("mcp", "trust", "--forget", "a").status == 1
    assert typed("mcp", "trust", "--forget").status == 0
    waiting = typed("mcp", "trust", "--json")
    assert waiting.status == 4
    assert [one["name"] for one in json.loads(waiting.out)["waiting"]] == ["a", "b"]


def test_a_name_that_is_nearly_right_is_suggested(typed: Typed) -> None:
    typed("mcp", "add", "inventory", "--", "x")
    for words in (
        ("get", "inventroy"),
        ("remove", "Inventory2"),
        ("disable", "invntory"),
        ("tools", "inventry"),
    ):
        ran = typed("mcp", *words)
        assert ran.status == 1 and "did you mean inventory?" in ran.err
    assert "did you mean list?" in typed("mcp", "lsit").err


def test_names_for_completion_are_those_that_count(typed: Typed, project: Path) -> None:
    (project / ".mcp.json").write_text('{"mcpServers": {"b": {"command": "x"}, "bad": 5}}')
    typed("mcp", "add", "a", "-s", "user", "--", "x")
    typed("mcp", "add", "b", "-s", "user", "--", "x")
    assert typed("mcp", "list", "--names").out == "a\nb\n"


def test_settings_that_loosen_are_approved_and_taken_back_beside_servers(typed: Typed, project: Path) -> None:
    (project / ".hel").mkdir()
    (project / ".hel" / "config.toml").write_text('access = "auto"\n')
    ran = typed("mcp", "trust")
    assert ran.status == 4 and 'access = "auto"' in ran.out
    (waiting,) = json.loads(typed("mcp", "trust", "--json").out)["waiting"]
    assert (waiting["name"], waiting["kind"]) == (".hel/config.toml", "settings")
    assert typed("mcp", "trust", "--yes").status == 0
    assert typed("mcp", "trust").out == "Nothing waits for approval here.\n"
    assert typed("mcp", "trust", "--forget", ".hel/config.toml").status == 0
    assert typed("mcp", "trust").status == 4
