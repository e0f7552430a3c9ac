"""Server files: scopes, precedence, and one bad entry beside good ones."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core.mcp.config import ConfigProblem, Configuration, load_servers
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.store.places import Places, find_places

GOOD = {"command": "srv"}


class Setting:
    """A project and a home to write server files into."""

    def __init__(self, root: Path) -> None:
        self.project = root / "p"
        self.project.mkdir()
        self.places: Places = find_places({"HEL_HOME": str(root / "home")})
        self.files = {
            "local": self.places.local_servers(self.project),
            "hel": self.project / ".hel" / "mcp.json",
            "dot": self.project / ".mcp.json",
            "user": self.places.user_servers,
        }

    def write(self, which: str, content: Any) -> Path:
        path = self.files[which]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def load(self, *named: Path) -> Configuration:
        return load_servers(self.project, self.places, named_files=named, environ={})

    def one(self, raw: Any) -> ServerEntry:
        self.write("hel", {"servers": {"x": raw}})
        (entry,) = self.load().entries
        return entry

    def problem(self, raw: Any, name: str = "x") -> ConfigProblem:
        self.write("hel", {"servers": {name: raw}})
        (problem,) = self.load().problems
        assert problem.server == name
        return problem


@pytest.fixture
def at(tmp_path: Path) -> Setting:
    return Setting(tmp_path)


def test_without_files_there_is_nothing_and_no_complaint(at: Setting) -> None:
    assert at.load() == Configuration()


def test_the_first_scope_that_has_a_name_wins_whole_and_the_others_are_shadowed(at: Setting) -> None:
    at.write("local", {"mcpServers": {"a": {"command": "local"}}})
    at.write("hel", {"servers": {"a": {"command": "hel", "env": {"K": "1"}}, "b": {"command": "hel"}}})
    at.write("dot", {"mcpServers": {"b": {"command": "dot"}, "c": {"command": "dot"}}})
    at.write("user", {"mcpServers": {"c": {"command": "user"}, "d": {"command": "user"}}})
    found = at.load()
    assert [(e.name, e.command, e.scope) for e in found.entries] == [
        ("a", "local", "local"),
        ("b", "hel", "project"),
        ("c", "dot", "project"),
        ("d", "user", "user"),
    ]
    assert found.entries[0].env == ()
    assert [(lost.command, won.command) for lost, won in found.shadowed] == [
        ("hel", "local"),
        ("dot", "hel"),
        ("user", "dot"),
    ]
    assert found.problems == ()


def test_a_named_file_stands_above_all_and_must_exist(at: Setting, tmp_path: Path) -> None:
    at.write("local", {"mcpServers": {"a": {"command": "local"}}})
    named = tmp_path / "named.json"
    named.write_text(json.dumps({"mcpServers": {"a": {"command": "named"}}}))
    found = at.load(named, tmp_path / "nope.json")
    assert [(e.command, e.scope, e.default_cwd) for e in found.entries] == [
        ("named", "command line", tmp_path)
    ]
    (problem,) = found.problems
    assert problem.file == tmp_path / "nope.json" and "no such file" in problem.sentence


def test_servers_start_in_the_project_or_beside_their_file(at: Setting) -> None:
    for which in at.files:
        at.write(which, {"servers": {which: GOOD}})
    cwds = {entry.name: entry.default_cwd for entry in at.load().entries}
    assert cwds == {
        "local": at.project,
        "hel": at.project,
        "dot": at.project,
        "user": at.places.config,
    }


def test_the_hash_is_that_of_the_bytes_that_were_parsed(at: Setting) -> None:
    path = at.write("hel", '{"servers": {}}\n')
    (file,) = at.load().files
    assert file.path == path and file.data == path.read_bytes()
    assert file.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_one_bad_entry_never_hides_the_good_ones(at: Setting) -> None:
    at.write(
        "dot",
        '{"mcpServers": {\n"a": {"command": "x"},\n"b": 5,\n"c": {"command": 7},\n'
        '"d": {"url": "not a url"},\n"e": null, "bad name": {"command": "x"}, "f__g": {"command": "x"}}}',
    )
    found = at.load()
    assert [entry.name for entry in found.entries] == ["a"]
    told = {problem.server: problem.sentence for problem in found.problems}
    assert told["b"].startswith("line 3, column 1:") and "must be an object, not a number" in told["b"]
    assert told["c"].startswith("line 4, column 7:") and "`command` must be text" in told["c"]
    assert "`url`" in told["d"] and "null" in told["e"]
    assert '"bad name"' in told["bad name"] and "__" in told["f__g"]


def test_a_bad_entry_does_not_take_the_name_of_a_good_one(at: Setting) -> None:
    at.write("hel", {"servers": {"github": {"command": 7}}})
    at.write("user", {"servers": {"github": GOOD}})
    found = at.load()
    assert [entry.scope for entry in found.entries] == ["user"] and len(found.problems) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"servers": {"a": {"command": "x"}, "a": {"command": "y"}}}', "line 1, column 37"),
        ("{ nope }", "line 1, column 3"),
        ("[]", "must hold an object"),
        ('{"command": "x"}', "no `mcpServers` or `servers`"),
        ('{"mcpServers": []}', "must be an object"),
        ("", "empty"),
    ],
)
def test_a_file_that_cannot_be_used_says_where_and_why(at: Setting, text: str, said: str) -> None:
    at.write("hel", text)
    at.write("user", {"servers": {"u": GOOD}})
    found = at.load()
    assert [entry.name for entry in found.entries] == ["u"]
    (problem,) = found.problems
    assert said in problem.sentence and problem.server is None and problem.severity == "error"


def test_comments_trailing_commas_and_a_bom_are_read(at: Setting) -> None:
    at.write("dot", '\ufeff{ /* x */ "mcpServers": { "a": {"command": "x",}, // "b": {}\n }, }')
    assert [entry.name for entry in at.load().entries] == ["a"]


def test_links_and_large_files_of_a_project_are_not_read(at: Setting, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mcp.json").write_text(json.dumps({"servers": {"evil": GOOD}}))
    (at.project / ".hel").symlink_to(outside)
    (at.project / ".mcp.json").symlink_to(outside / "mcp.json")
    found = at.load()
    assert found.entries == () and found.files == ()
    assert [problem.sentence.split()[2] for problem in found.problems] == [".hel", ".mcp.json"]
    (at.project / ".mcp.json").unlink()
    at.write("dot", json.dumps({"servers": {}}) + " " * (1 << 20))
    assert "1 MiB" in at.load().problems[1].sentence


def test_both_top_level_keys_are_read(at: Setting) -> None:
    at.write("dot", {"servers": {"a": GOOD, "b": GOOD}, "mcpServers": {"b": {"command": "y"}, "c": GOOD}})
    found = at.load()
    assert [(e.name, e.command) for e in found.entries] == [("a", "srv"), ("b", "srv"), ("c", "srv")]
    (problem,) = found.problems
    assert problem.server == "b"


# ----------------------------------------------------------------- entries


def test_every_key_of_an_entry_arrives(at: Setting) -> None:
    raw = {
        "type": "stdio",
        "command": "srv",
        "args": ["--dir", "notes"],
        "env": {"A": "${B}"},
        "cwd": "~/w",
        "timeout": 600,
        "startup_timeout": 1.5,
        "tools": {"include": ["a*"], "exclude": ["b"]},
        "always_load": True,
        "trust_annotations": True,
        "reconnect": False,
        "parallel": True,
        "roots": False,
    }
    assert at.one(raw) == ServerEntry(
        "x",
        "project",
        at.project / ".hel" / "mcp.json",
        "stdio",
        raw,
        command="srv",
        args=("--dir", "notes"),
        env=(("A", "${B}"),),
        cwd="~/w",
        default_cwd=at.project,
        timeout=600.0,
        startup_timeout=1.5,
        include=("a*",),
        exclude=("b",),
        always_load=True,
        trust_annotations=True,
        reconnect=False,
        parallel=True,
        roots=False,
    )
    assert at.load().problems == ()


@pytest.mark.parametrize(
    ("raw", "transport"),
    [
        ({"command": "x"}, "stdio"),
        ({"url": "http://localhost:1/mcp"}, "http"),
        ({"type": "streamable-http", "url": "https://h/mcp"}, "http"),
        ({"type": "sse", "url": "https://h/sse"}, "sse"),
        ({"url": "${BASE}/mcp"}, "http"),
        ({"url": "https://${HOST}:${PORT}/mcp"}, "http"),
        ({"url": "https://h/${PATH_PART}", "headers": {"Authorization": "Bearer ${T}"}}, "http"),
    ],
)
def test_the_transport_follows_from_type_or_from_what_is_given(
    at: Setting, raw: dict[str, Any], transport: str
) -> None:
    assert at.one(raw).transport == transport


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({}, "neither `command` nor `url`"),
        ({"command": "x", "url": "http://h"}, "`command` and `url` are both given"),
        ({"command": ""}, "`command` is missing or empty"),
        ({"url": ""}, "`url` is missing or empty"),
        ({"type": "http"}, "`url` is missing"),
        ({"type": "ws", "url": "http://h"}, "`type` must be one of"),
        ({"type": "stdio", "url": "http://h"}, "`url` is given"),
        ({"url": "htp://x"}, "`url` must begin with http:// or https://"),
        ({"url": "localhost:3000/mcp"}, "`url`"),
        ({"url": "file:///etc/passwd"}, "`url`"),
        ({"url": "http://"}, "`url`"),
        ({"url": "http://h:x/"}, "`url`"),
        ({"url": "http://a b"}, "`url`"),
        ({"url": "ftp://${HOST}/"}, "`url`"),
        ({"command": ["npx", "-y"]}, "goes into `args`"),
        ({"command": "x", "args": "a b"}, "`args` must be a list"),
        ({"command": "x", "args": ["a", 7]}, "`args[1]` must be text, not a number"),
        ({"command": "x\x00y"}, "NUL"),
        ({"command": "x", "env": {"A": 1}}, "`env.A` must be text"),
        ({"command": "x", "env": {"A=B": "1"}}, "no variable can have"),
        ({"url": "http://h", "headers": {"A b": "1"}}, "no header can have"),
        ({"url": "http://h", "headers": {"A": "1\r\nB: 2"}}, "one line"),
        ({"command": "x", "timeout": 0}, "`timeout` must be a positive number of seconds"),
        ({"command": "x", "timeout": "60"}, "`timeout` must be a number"),
        ({"command": "x", "startup_timeout": True}, "`startup_timeout`"),
        ({"command": "x", "tools": ["*"]}, "`tools` must be an object"),
        ({"command": "x", "tools": {"include": "a"}}, "`tools.include` must be a list"),
        ({"command": "x", "sampling": "yes"}, "`sampling` must be true or false"),
        ({"command": "x", "oauth": 1}, "`oauth`"),
    ],
)
def test_a_bad_entry_names_the_field(at: Setting, raw: dict[str, Any], said: str) -> None:
    problem = at.problem(raw)
    assert said in problem.sentence and problem.severity == "error"
    assert at.load().entries == ()


@pytest.mark.parametrize("name", ["", "a b", "a__b", "ä", "x" * 33, "a.b", "a\n"])
def test_server_names_are_plain(at: Setting, name: str) -> None:
    assert "name" in at.problem(GOOD, name).sentence


@pytest.mark.parametrize(
    ("switches", "on", "noted"),
    [
        ({}, True, False),
        ({"disabled": True}, False, False),
        ({"enabled": False}, False, False),
        ({"disabled": False, "enabled": False}, False, False),
        ({"disabled": True, "enabled": True}, False, False),
        ({"disabled": "true"}, False, True),
        ({"disabled": "false"}, True, True),
        ({"enabled": "False"}, False, True),
        ({"enabled": "maybe"}, False, True),
        ({"disabled": 0}, False, True),
        ({"disabled": None}, False, True),
    ],
)
def test_a_server_is_off_if_either_switch_says_so(
    at: Setting, switches: dict[str, Any], on: bool, noted: bool
) -> None:
    assert at.one({**GOOD, **switches}).enabled is on
    assert [problem.severity for problem in at.load().problems] == (["note"] if noted else [])


def test_an_entry_that_is_off_needs_no_command(at: Setting) -> None:
    assert at.one({"disabled": True}).enabled is False


def test_unknown_keys_make_one_note_and_no_refusal(at: Setting) -> None:
    raw = {**GOOD, "foo": 1, "start_up_timeout": 3, "tools": {"only": []}}
    problem = at.problem(raw)
    assert problem.severity == "note"
    for part in ("`foo`", "did you mean `startup_timeout`?", "`tools.only`"):
        assert part in problem.sentence
    assert len(at.load().entries) == 1


def test_auto_approval_of_other_clients_is_never_approval(at: Setting) -> None:
    problem = at.problem({**GOOD, "autoApprove": ["a"], "alwaysAllow": ["x"]})
    assert "`autoApprove`, `alwaysAllow` never counts as approval" in problem.sentence


def test_a_value_that_looks_like_a_command_is_only_text(at: Setting, tmp_path: Path) -> None:
    assert at.one({**GOOD, "env": {"A": f"!touch {tmp_path}/x"}}).env == (("A", f"!touch {tmp_path}/x"),)
    assert not (tmp_path / "x").exists()


def test_a_credential_in_a_committed_file_is_warned_about_without_showing_it(at: Setting) -> None:
    raw = {**GOOD, "env": {"API_TOKEN": "verysecretvalue", "MODE": "fast"}}
    problem = at.problem(raw)
    assert "`env.API_TOKEN`" in problem.sentence and "verysecret" not in problem.sentence
    at.files["hel"].unlink()
    at.write("user", {"servers": {"x": raw}})
    assert at.load().problems == ()


def test_globs_of_author_mode_are_read_and_mean_nothing_for_a_remote_server(at: Setting) -> None:
    assert at.one({**GOOD, "watch": ["src/**"]}).watch == ("src/**",)
    problem = at.problem({"url": "https://example.com/mcp", "watch": ["src/**"]})
    assert problem.severity == "note"
    assert "`watch`" in problem.sentence and "with a `command`" in problem.sentence
    assert at.load().entries


def test_a_key_that_switches_off_what_is_not_there_needs_no_note(at: Setting) -> None:
    at.one({**GOOD, "sampling": False, "elicitation": False, "watch": []})
    assert at.load().problems == ()


def test_a_file_of_endless_servers_is_read_in_part_and_says_so_once(tmp_path: Path) -> None:
    setting = Setting(tmp_path)
    setting.write("dot", {"mcpServers": {f"s{at}": GOOD for at in range(20_000)}})
    loaded = setting.load()
    assert len(loaded.entries) == 500
    (problem,) = loaded.problems
    assert problem.sentence == "it has 20,000 servers; only the first 500 are read."


def test_one_complaint_about_many_entries_is_counted_after_ten(tmp_path: Path) -> None:
    setting = Setting(tmp_path)
    setting.write("dot", {"mcpServers": {f"s{at}": {**GOOD, "zzz": 1} for at in range(300)}})
    loaded = setting.load()
    assert len(loaded.entries) == 300 and len(loaded.problems) == 11
    assert loaded.problems[-1].sentence == "290 more entries of this file: unknown and left out: `zzz`."
    setting.write("dot", {"mcpServers": {f"s{at}": 5 for at in range(300)}})
    loaded = setting.load()
    assert len(loaded.problems) == 11 and loaded.problems[-1].sentence.startswith("290 more entries")


def test_ten_of_very_many_unknown_keys_are_named(tmp_path: Path) -> None:
    setting = Setting(tmp_path)
    keys = {f"k{at}": 1 for at in range(20_000)}
    setting.write("dot", {"mcpServers": {"a": GOOD | keys}, **keys})
    top, entry = setting.load().problems
    assert "and 19,990 more" in top.sentence and len(top.sentence) < 200
    assert "and 19,990 more" in entry.sentence and len(entry.sentence) < 200


REMOTE = {"url": "https://x.example/mcp"}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"oauth": {"callbackPort": 0}}, "`oauth.callbackPort` must be a port"),
        ({"oauth": {"grant": "password"}}, "`oauth.grant` must be one of"),
        ({"oauth": {"clientId": 5}}, "`oauth.clientId` must be text"),
        ({"oauth": "yes"}, "`oauth` must be an object"),
        ({"headersHelper": "give 'me"}, "`headersHelper` has a quote that is not closed"),
        ({"headersHelper": "  "}, "`headersHelper` is empty"),
    ],
)
def test_what_cannot_be_used_of_a_remote_entry_is_said_when_it_is_read(
    at: Setting, more: dict[str, Any], words: str
) -> None:
    problem = at.problem({**REMOTE, **more})
    assert words in problem.sentence and problem.severity == "error"
    assert at.load().entries == ()


def test_what_a_variable_will_hold_is_not_judged_before(at: Setting) -> None:
    oauth = {"callbackPort": "${PORT}", "grant": "${GRANT:-authorization_code}", "clientId": "${ID}"}
    assert at.one({**REMOTE, "oauth": oauth}).oauth == oauth
    assert at.load().problems == ()


def test_oauth_of_a_program_of_this_machine_is_left_out_whatever_it_says(at: Setting) -> None:
    problem = at.problem({**GOOD, "oauth": {"callbackPort": 0}})
    assert problem.severity == "note" and "only concerns servers with a `url`" in problem.sentence


def test_unknown_keys_and_written_out_secrets_of_oauth_are_told(at: Setting) -> None:
    key = "-----BEGIN PRIVATE KEY-----\\nMII"
    oauth = {"clientId": "a", "client_secret": "so-secret", "privateKey": key, "flow": "device"}
    at.write("hel", {"servers": {"x": {**REMOTE, "oauth": oauth}}})
    unknown, secret = (problem.sentence for problem in at.load().problems)
    assert "unknown and left out: `oauth.flow`." in unknown
    assert "`oauth.client_secret`, `oauth.privateKey` seems to hold a credential" in secret
    kept = {"clientId": "a", "clientSecret": "${keyring:shop}", "privateKey": "keys/id.pem"}
    at.write("hel", {"servers": {"x": {**REMOTE, "oauth": kept}}})
    assert at.load().problems == ()


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("\n  []", "line 2, column 3"),
        ('{\n "other": 1}', "line 2, column 2"),
        ('{"servers": {},\n  "other": 1}', "line 2, column 3"),
        ('{\n"servers": []}', "line 2, column 1"),
        ('{"servers": {\n "x": 5}}', "line 2, column 2"),
        ('{"servers": {"x": {"command": "y",\n "args": ["a", 7]}}}', "line 2, column 16"),
        ('{"servers": {\n "x": {"command": "y", "foo": 1}}}', "line 2, column 2"),
        ('{"servers": {\n "x": {"command": "y",\n  "env": {"A": 1}}}}', "line 3, column 11"),
        ('{"servers": {"x": {\n "command": "y", "command": "z"}}}', "line 2, column 18"),
        ('{"servers": {"x": {}}, "mcpServers": {\n"x": {}}}', "line 2, column 1"),
        ('{"servers": {"x": {"command": "y"}\n "z": {}}}', "line 2, column 2"),
    ],
)
def test_every_complaint_about_a_files_content_has_its_place(at: Setting, text: str, place: str) -> None:
    at.write("dot", text)
    assert any(place in problem.sentence for problem in at.load().problems), at.load().problems


def test_a_file_in_another_encoding_is_named_and_hides_no_other(at: Setting) -> None:
    at.write("user", {"servers": {"u": GOOD}})
    at.files["dot"].write_bytes(json.dumps({"mcpServers": {"a": GOOD}}).encode("utf-16"))
    found = at.load()
    assert [entry.name for entry in found.entries] == ["u"]
    (problem,) = found.problems
    assert "UTF-16; save it as UTF-8" in problem.sentence and problem.file == at.files["dot"]


def test_a_time_that_is_hardly_meant_in_seconds_and_stray_white_space_are_remarked_on(at: Setting) -> None:
    problem = at.problem({**GOOD, "timeout": 60000})
    assert problem.severity == "note" and "16.7 hours" in problem.sentence
    problem = at.problem({"url": "https://x.example", "headers": {"A": "b "}, "env": {"C": "d"}})
    assert "`headers.A` begins or ends with white space" in problem.sentence


def test_the_spelling_of_another_client_counts_and_the_definition_stays_as_written(at: Setting) -> None:
    raw = {**GOOD, "alwaysLoad": True}
    entry = at.one(raw)
    assert entry.always_load is True and entry.definition == raw
    assert at.load().problems == ()
    assert "`always_load` must be true or false" in at.problem({**GOOD, "alwaysLoad": 1}).sentence


def test_a_project_that_shadows_a_persons_server_is_shown_and_has_its_own_identity(at: Setting) -> None:
    at.write("user", {"servers": {"github": {"command": "github-mcp"}}})
    at.write("dot", {"mcpServers": {"github": {"command": "evil"}}})
    found = at.load()
    ((lost, won),) = found.shadowed
    assert (won.command, lost.command) == ("evil", "github-mcp")
    assert won.identity != lost.identity
