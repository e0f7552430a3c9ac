"""Values kept in the keyring, and in a private file where there is none."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail, null
from keyring.errors import KeyringLocked, PasswordDeleteError

from hel_tui.core.store import secrets
from hel_tui.core.store.secrets import (
    FILE,
    SERVICE,
    forget_value,
    is_name,
    keep_value,
    kept_value,
    keyring_value,
)


class Ring(KeyringBackend):
    priority = 1

    def __init__(self) -> None:
        super().__init__()
        self.kept = {(SERVICE, "github"): "s3cret"}

    def get_password(self, service: str, username: str) -> str | None:
        if username == "locked":
            raise KeyringLocked("locked")
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        if username == "locked":
            raise KeyringLocked("locked")
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError("no such password")


@pytest.fixture(autouse=True)
def ring() -> Iterator[Ring]:
    before = keyring.get_keyring()
    one = Ring()
    keyring.set_keyring(one)
    yield one
    keyring.set_keyring(before)


def test_a_value_is_found_by_its_name() -> None:
    assert keyring_value("github") == "s3cret"


def test_an_unknown_value_and_a_locked_keyring_are_nothing() -> None:
    assert keyring_value("other") is None and keyring_value("locked") is None


def test_a_value_goes_into_the_keyring_and_no_file_is_made(tmp_path: Path, ring: Ring) -> None:
    assert keep_value("notes.TOKEN", "abc", tmp_path) == "keyring"
    assert kept_value("notes.TOKEN", tmp_path) == "abc" and list(tmp_path.iterdir()) == []
    assert forget_value("notes.TOKEN", tmp_path) is True
    assert forget_value("notes.TOKEN", tmp_path) is False
    assert kept_value("notes.TOKEN", tmp_path) is None


@pytest.mark.parametrize("none", [fail.Keyring(), null.Keyring()])
def test_without_a_keyring_a_file_only_the_person_can_read_has_it(
    tmp_path: Path, none: KeyringBackend
) -> None:
    keyring.set_keyring(none)
    assert keep_value("notes.TOKEN", 'a"\n€', tmp_path) == "file"
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert kept_value("notes.TOKEN", tmp_path) == 'a"\n€' and kept_value("other", tmp_path) is None
    assert forget_value("notes.TOKEN", tmp_path) is True
    assert kept_value("notes.TOKEN", tmp_path) is None


def test_a_locked_keyring_leaves_the_value_to_the_file(tmp_path: Path) -> None:
    assert keep_value("locked", "abc", tmp_path) == "file"
    assert kept_value("locked", tmp_path) == "abc"


def test_a_keyring_that_hangs_is_given_up(
    tmp_path: Path, ring: Ring, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    for_ever = threading.Event()
    monkeypatch.setattr(ring, "set_password", lambda *_: for_ever.wait())
    monkeypatch.setattr(secrets, "LIMIT", 0.01)
    assert keep_value("notes.TOKEN", "abc", tmp_path) == "file"
    for_ever.set()


def test_a_value_that_moves_into_the_keyring_leaves_the_file(tmp_path: Path, ring: Ring) -> None:
    keyring.set_keyring(null.Keyring())
    keep_value("a", "old", tmp_path)
    keep_value("b", "stays", tmp_path)
    keyring.set_keyring(ring)
    assert keep_value("a", "new", tmp_path) == "keyring"
    assert kept_value("a", tmp_path) == "new" and kept_value("b", tmp_path) == "stays"


@pytest.mark.parametrize(
    ("name", "good"), [("notes.API_KEY", True), ("a-b", True), ("a/b", False), ("", False), ("a b", False)]
)
def test_a_name_is_one_that_a_server_file_can_refer_to(name: str, good: bool) -> None:
    assert is_name(name) is good
