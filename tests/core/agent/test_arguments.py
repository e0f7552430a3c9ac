"""Arguments of calls as a model writes them: what cannot be used is a sentence of our own."""

from __future__ import annotations

import json

import pytest

from hel_tui.core.agent.arguments import MAX_DEPTH, hidden_json, parse_arguments, shown


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"n": ' + "9" * 5000 + "}", "A number in the arguments has too many digits"),
        ('{"n": 1e999}', "1e999 is too large a number"),
        ('{"n": NaN}', "NaN is not JSON"),
        ('{"n": ' + "[" * 300 + "]" * 300 + "}", f"more than {MAX_DEPTH} levels"),
        ('{"n": ' + "[" * 100_000 + "]" * 100_000 + "}", f"more than {MAX_DEPTH} levels"),
        ("[1]", "must be a JSON object"),
    ],
)
def test_what_cannot_be_used_is_said_in_words_of_our_own(text: str, said: str) -> None:
    found = parse_arguments(text)
    assert isinstance(found, str) and said in found and found.endswith("The call was not executed.")
    assert len(found) < 200


def test_the_deepest_arguments_that_are_taken_can_be_shown() -> None:
    found = parse_arguments('{"n": ' + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1) + "}")
    assert isinstance(found, dict) and shown(found)


def test_a_secret_is_hidden_in_json_however_it_is_written() -> None:
    secret = 'quo"te\\d-한'
    text = json.dumps({"a": [f"<{secret}>", 1, None], secret: True})
    hidden = hidden_json(text, lambda value: value.replace(secret, "***"))
    assert json.loads(hidden) == {"a": ["<***>", 1, None], "***": True}
    assert hidden_json("", str) == hidden_json("{", str) == ""
