"""Text that arrives in pieces shows no known secret, and nothing of the text is lost."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.store.redact import MARK, Redactor
from hel_tui.core.store.sessions.masking import Veil

SECRETS = ("abcabcab1", "b1xyzxyz", "hunter2-hunter2")
LETTERS = st.text("abc1xyzhunter2- ", max_size=8)
TEXTS = st.lists(st.one_of(LETTERS, st.sampled_from(SECRETS)), max_size=8).map("".join)


def cut(text: str, places: list[int]) -> list[str]:
    ends = sorted({min(place, len(text)) for place in places} | {0, len(text)})
    return [text[a:b] for a, b in itertools.pairwise(ends)]


@given(TEXTS, st.lists(st.integers(0, 80), max_size=20))
def test_pieces_come_out_as_the_whole_would(text: str, places: list[int]) -> None:
    redactor = Redactor(SECRETS)
    veil = Veil(redactor)
    shown = "".join(veil.take(piece) for piece in cut(text, places)) + veil.end()
    assert shown == redactor.known(text)
    assert not any(secret in shown for secret in SECRETS)


def test_only_what_may_begin_a_secret_is_held_back() -> None:
    veil = Veil(Redactor(["hunter2-hunter2"]))
    assert veil.take("my password is ") == "my password is "
    assert veil.take("hunter") == ""
    assert veil.take("s are out") == "hunters are out"
    assert veil.take(" hunter2-") == " "
    assert veil.take("hunter2!") == f"{MARK}!"
    assert veil.end() == ""


def test_a_token_is_held_until_it_is_whole() -> None:
    veil = Veil(Redactor())
    pieces = ["the key: ", "sk", "-", "abcdefgh", "ijklmnopqrst", " is", " it"]
    shown = [veil.take(piece) for piece in pieces]
    assert shown == ["the key: ", "", "", "", "", "sk-abcdefghijklmnopqrst is", " it"]
    assert MARK in Redactor()(shown[5])
