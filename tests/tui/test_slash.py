"""Slash commands: how a typed line is read, and what completes it."""

import pytest

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


def test_every_command_has_words_and_code():
    from hel_tui.tui.screens.commands import Commands

    for spec in slash.SPECS:
        assert spec.help
        assert callable(getattr(Commands, f"_do_{spec.name}"))


def test_a_number_of_too_many_digits_is_a_sentence_with_its_place():
    said = slash.check_object('{\n "n": ' + "9" * 5000 + "}")
    assert "line 2, column 7" in said
