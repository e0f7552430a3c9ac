"""Values kept in the keyring."""

from collections.abc import Iterator

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked

from hel_tui.core.store.secrets import SERVICE, keyring_value


class Ring(KeyringBackend):
    priority = 1

    def get_password(self, service: str, username: str) -> str | None:
        if username == "locked":
            raise KeyringLocked("locked")
        return {(SERVICE, "github"): "s3cret"}.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        raise NotImplementedError


@pytest.fixture(autouse=True)
def ring() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(Ring())
    yield
    keyring.set_keyring(before)


def test_a_value_is_found_by_its_name() -> None:
    assert keyring_value("github") == "s3cret"


def test_an_unknown_value_and_a_locked_keyring_are_nothing() -> None:
    assert keyring_value("other") is None and keyring_value("locked") is None
