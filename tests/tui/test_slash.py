"""Slash commands: how a typed line is read, and what completes it."""

import pytest

from hel_tui.core import protocol as p
from hel_tui.tui import slash
from hel_tui.tui.slash import Mistake, Shell, Slash, parse, parse_call


@pytest.mark.parametrize("text", ["hello", "/etc/hosts is what?", "a /help", "", "//", "/"])
def test_what_is_no_command_is_a_message(text):
    assert parse(text) is None


def test_commands_and_their_rest():
    assert parse("/model openai/gpt-5 http://127.0.0.1:1") == Slash(
        "model", "openai/gpt-5 http://127.0.0.1:1"
    )
    assert parse("  /HELP ") == Slash("help", "")


def test_a_shell_command():
    assert parse("! ls -l") == Shell("ls -l")
    assert isinstance(parse("!"), Mistake)


def test_an_unknown_command_names_the_nearest():
    mistake = parse("/modle x")
    assert isinstance(mistake, Mistake) and "/model" in mistake.sentence


def test_a_missing_argument_shows_the_usage():
    mistake = parse("/call")
    assert isinstance(mistake, Mistake) and "SERVER.TOOL" in mistake.sentence


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("srv.tool", ("srv.tool", "")),
        ('srv.a.b {"x": [1, 2]}', ("srv.a.b", '{"x": [1, 2]}')),
        ('srv.tool{"x": 1}', ("srv.tool", '{"x": 1}')),
        ('srv.tool   {"x": "a b"}  ', ("srv.tool", '{"x": "a b"}')),
    ],
)
def test_a_call_by_hand(rest, expected):
    assert parse_call(rest) == expected


@pytest.mark.parametrize(
    ("rest", "part"), [("s.t {x", "line 1"), ("s.t [1]", "object"), ("s.t " + "[" * 100_000, "nested")]
)
def test_bad_arguments_of_a_call_are_sentences(rest, part):
    mistake = parse_call(rest)
    assert isinstance(mistake, Mistake) and part in mistake.sentence


KNOWN = {"tools": [("srv.one", "first"), ("srv.two", "")], "level": [("auto", ""), ("confirm", "")]}


def offered(line: str) -> list[str]:
    return [c.insert for c in slash.candidates(line, lambda takes: KNOWN.get(takes, []))]


def test_commands_are_completed():
    assert offered("/loa") == ["/load "]
    assert set(offered("/")) >= {"/help", "/call "}
    assert offered("help") == [] and offered("/lo\nx") == []


def test_arguments_are_completed_and_those_before_are_kept():
    assert offered("/access a") == ["/access auto"]
    assert offered("/load srv.one tw") == ["/load srv.one srv.two "]
    assert offered('/call srv.one {"a') == []


NAMES = {
    "server": [("ownold", ""), ("own", ""), ("Own", ""), ("my-own", "")],
    "log server": [("ownold", ""), ("own", "")],
}


def test_a_whole_name_comes_before_longer_ones():
    def shown(line: str) -> list[str]:
        return [one.shown for one in slash.candidates(line, lambda takes: NAMES.get(takes, []))]

    assert shown("/mcp own") == ["own", "Own", "ownold", "my-own"]
    assert shown("/logout OWN") == ["Own", "own", "ownold", "my-own"]
    assert shown("/logout my-own") == []
    assert shown("/loglevel own") == ["own", "ownold"]


def test_a_prompt_named_whole_comes_before_those_whose_case_or_length_differs():
    prompts = [p.PromptRow("n", name, f"mcp__n__{name}") for name in ("SUM", "summary", "sum")]
    found = slash.candidates("/mcp__n__sum", lambda _takes: [], prompts)
    assert [one.insert for one in found] == ["/mcp__n__sum", "/mcp__n__SUM", "/mcp__n__summary"]


FIELDS = (p.FormField("note", "text", required=True), p.FormField("style", "text"))
SUMMARY = p.PromptRow("notes", "summary", "mcp__Notes__summary", "Summary", fields=FIELDS)
ONE = p.PromptRow("notes", "one", "mcp__Notes__one", fields=FIELDS[:1])
PROMPTS = (SUMMARY, ONE)


@pytest.mark.parametrize(
    ("line", "prompt", "given"),
    [
        ("/mcp__Notes__summary", SUMMARY, ()),
        ("/MCP__notes__Summary note=a", SUMMARY, (("note", "a"),)),
        ("/mcp__Notes__summary note='a b' style=", SUMMARY, (("note", "a b"), ("style", ""))),
        ("/mcp__Notes__summary note=a=b", SUMMARY, (("note", "a=b"),)),
        ("/mcp__Notes__one what it's called", ONE, (("note", "what it's called"),)),
        ("/mcp__Notes__one note=x", ONE, (("note", "x"),)),
    ],
)
def test_a_prompt_is_read_with_its_arguments(line, prompt, given):
    assert slash.parse(line, PROMPTS) == slash.UsePrompt(prompt, given)


@pytest.mark.parametrize(
    "line", ["/mcp__Notes__summary a", "/mcp__Notes__summary x=1", "/mcp__Notes__summary note='a"]
)
def test_arguments_of_a_prompt_that_are_not_clear_are_a_mistake(line):
    assert isinstance(slash.parse(line, PROMPTS), slash.Mistake)


def test_prompts_and_the_names_of_their_arguments_are_completed():
    def shown(line: str) -> list[str]:
        return [one.insert for one in slash.candidates(line, lambda _takes: [], PROMPTS)]

    assert shown("/summ") == ["/mcp__Notes__summary"]
    assert shown("/mcp__Notes__summary st") == ["/mcp__Notes__summary style="]
    assert shown("/mcp__Notes__summary note=a no") == []
    assert shown("/mcp__Notes__summary ") == []


def test_a_log_level_is_completed_after_its_server():
    known = {"log server": [("notes", "ready")], "log level": [("debug", ""), ("info", "")]}
    found = slash.candidates("/loglevel notes de", lambda takes: known.get(takes, []))
    assert [one.insert for one in found] == ["/loglevel notes debug"]


def test_every_command_has_words_and_code():
    from hel_tui.tui.screens.typed import Typed

    for spec in slash.SPECS:
        assert spec.help
        assert callable(getattr(Typed, f"_do_{spec.name}"))


def test_a_number_of_too_many_digits_is_a_sentence_with_its_place():
    said = slash.check_object('{\n "n": ' + "9" * 5000 + "}")
    assert "line 2, column 7" in said
