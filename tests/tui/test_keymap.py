"""The key table: no clash in it, and a person's file that is wrong becomes sentences."""

import pytest

from hel_tui.tui import keymap


@pytest.fixture
def load(tmp_path):
    def load(text: str):
        file = tmp_path / "keymap.toml"
        file.write_text(text, "utf-8")
        return keymap.load(file)

    return load


def test_the_defaults_do_not_clash():
    assert keymap.clashes({}) == []


def test_ids_are_unique():
    ids = [action.id for action in keymap.ACTIONS]
    assert len(ids) == len(set(ids))


def test_a_key_is_replaced(load):
    found, problems = load('"app.palette" = "ctrl+k"\n[approval]\nonce = "ctrl+y"')
    assert problems == []
    assert found == {"app.palette": "ctrl+k", "approval.once": "ctrl+y"}
    keymap.use(found)
    try:
        assert keymap.keys("app.palette") == ["ctrl+k"]
        assert keymap.by_key("approval")["ctrl+y"] == "once"
        assert "y" not in keymap.by_key("approval")
        assert keymap.label("app.palette") == "Ctrl+K"
    finally:
        keymap.use({})


def test_an_unknown_action_is_told_and_the_rest_holds(load):
    found, problems = load('"app.palettte" = "ctrl+k"\n"app.keys" = "f9"')
    assert found == {"app.keys": "f9"}
    assert len(problems) == 1 and "app.palettte" in problems[0]


def test_a_clash_is_told_and_the_change_left_out(load):
    found, problems = load('"app.keys" = "f2"')
    assert found == {}
    assert "F2" in problems[0] and "app.servers" in problems[0]


def test_swapping_two_keys_is_no_clash(load):
    found, problems = load('"app.keys" = "f2"\n"app.servers" = "f1"')
    assert problems == []
    assert len(found) == 2


@pytest.mark.parametrize("key", ["enter", "space", "y,enter"])
def test_nothing_that_allows_can_be_put_on_a_key_that_is_pressed_without_thought(load, key):
    found, problems = load(f'"approval.once" = "{key}"')
    assert found == {} and len(problems) == 1


@pytest.mark.parametrize(
    "text", ["= broken", '"app.keys" = 3', '"app.keys" = ""', "a = " + "9" * 5000, "a = " + "[" * 9000]
)
def test_what_cannot_be_read_is_a_sentence(load, text):
    found, problems = load(text)
    assert found == {} and len(problems) == 1


def test_no_file_is_no_problem(tmp_path):
    assert keymap.load(tmp_path / "none.toml") == ({}, [])


@pytest.mark.parametrize(
    ("key", "shown"), [("ctrl+j", "Ctrl+J"), ("slash", "/"), ("escape", "Esc"), ("G", "G"), ("f1", "F1")]
)
def test_keys_are_shown_as_a_person_writes_them(key, shown):
    assert keymap.pretty(key) == shown


def test_keys_are_named_as_people_write_them():
    names = {
        "right_square_bracket": "]",
        "slash": "/",
        "space": "Space",
        "G": "G",
        "ctrl+d": "Ctrl+D",
        "alt+up": "Alt+Up",
        "ctrl+right_square_bracket": "Ctrl+]",
    }
    assert {key: keymap.pretty(key) for key in names} == names
    shown = [keymap.pretty(key) for action in keymap.ACTIONS for key in keymap.keys(action.id)]
    assert not [name for name in shown if "_" in name]
