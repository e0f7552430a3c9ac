"""Where tokens are kept: the keyring when it works, a private file when it does not."""

from __future__ import annotations

import asyncio
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail, null
from keyring.errors import KeyringLocked, PasswordDeleteError

from hel_tui.core.mcp.auth import keyrings
from hel_tui.core.mcp.auth.discovery import AuthorizationServer
from hel_tui.core.mcp.auth.registration import Registration
from hel_tui.core.mcp.auth.tokens import Known, Tokens, TokenStore
from tests.core.mcp.auth.conftest import Hel
from tests.fixtures.authserver.place import Place

URL = "https://shop.example/mcp"


class Ring(KeyringBackend):
    """A keyring in memory. It may be locked, hang, or take little."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = False
        self.largest = 10_000_000
        self.hold: threading.Event | None = None
        self.calls = 0

    def _ready(self) -> None:
        self.calls += 1
        if self.hold is not None:
            self.hold.wait()
        if self.locked:
            raise KeyringLocked("locked")

    def get_password(self, service: str, username: str) -> str | None:
        self._ready()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._ready()
        assert len(password) <= self.largest
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._ready()
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError(username)


@pytest.fixture
def ring() -> Iterator[Ring]:
    before = keyring.get_keyring()
    mine = Ring()
    keyring.set_keyring(mine)
    yield mine
    keyring.set_keyring(before)


def known(access: str = "at-1", obtained: float = 1000.0) -> Known:
    return Known(
        Tokens(access, obtained, obtained + 3600, "rt-1", ("read", "write")),
        Registration(
            "client", "https://as.example", "dynamic", "client_secret_post", "hush", redirects=("x",)
        ),
        AuthorizationServer("https://as.example", "https://as.example/token", scopes=("read",)),
        URL,
        ("read",),
    )


async def test_what_is_kept_comes_back_as_it_was(tmp_path: Path, ring: Ring) -> None:
    for use in (True, False):
        store = TokenStore(tmp_path / str(use), keyring=use)
        assert await store.save(URL, known()) == ""
        assert await TokenStore(tmp_path / str(use), keyring=use).load(URL) == (known(), "")
        assert await store.load("https://shop.example/other") == (Known(), "")


async def test_with_a_keyring_no_secret_is_on_the_disk(tmp_path: Path, ring: Ring) -> None:
    await TokenStore(tmp_path).save(URL, known())
    text = (tmp_path / "tokens.toml").read_text()
    assert not [secret for secret in ("at-1", "rt-1", "hush") if secret in text]
    assert {service for service, _ in ring.kept} == {"hel-mcp"}


async def test_the_keyring_is_not_asked_about_servers_without_a_login(tmp_path: Path, ring: Ring) -> None:
    await TokenStore(tmp_path).save(URL, known())
    ring.calls = 0
    assert await TokenStore(tmp_path).load("https://another.example/mcp") == (Known(), "")
    assert ring.calls == 0


async def test_the_file_is_private(tmp_path: Path) -> None:
    await TokenStore(tmp_path / "state", keyring=False).save(URL, known())
    assert stat.S_IMODE((tmp_path / "state" / "tokens.toml").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700


async def test_a_large_token_goes_into_the_keyring_in_pieces(tmp_path: Path, ring: Ring) -> None:
    ring.largest = 1100
    store = TokenStore(tmp_path)
    for size in (5000, 9000, 10):
        assert await store.save(URL, known("x" * size)) == ""
        assert await TokenStore(tmp_path).load(URL) == (known("x" * size), "")
    assert len(ring.kept) == 1, "no old piece is left"
    await store.save(URL, known("x" * 5000))
    assert await store.forget(URL) == ""
    assert ring.kept == {}


@pytest.mark.parametrize("backend", [fail.Keyring, null.Keyring])
async def test_without_a_keyring_the_file_is_used(tmp_path: Path, ring: Ring, backend: type) -> None:
    keyring.set_keyring(backend())
    store = TokenStore(tmp_path)
    assert await store.save(URL, known()) == ""
    assert await TokenStore(tmp_path).load(URL) == (known(), "")
    assert await store.forget(URL) == ""
    assert await TokenStore(tmp_path).load(URL) == (Known(), "")


async def test_a_locked_keyring_is_left_alone_and_the_file_used(tmp_path: Path, ring: Ring) -> None:
    ring.locked = True
    store = TokenStore(tmp_path)
    assert await store.save(URL, known()) == ""
    assert await store.save(URL, known("at-2")) == ""
    assert ring.calls == 1
    assert await store.load(URL) == (known("at-2"), "")


async def test_tokens_in_a_locked_keyring_are_missed_and_that_is_said(tmp_path: Path, ring: Ring) -> None:
    await TokenStore(tmp_path).save(URL, known("old"))
    ring.locked = True
    store = TokenStore(tmp_path)
    unread, sentence = await store.load(URL)
    assert unread == Known()
    assert "keyring" in sentence
    await store.save(URL, known("new"))
    ring.locked = False
    later = TokenStore(tmp_path)
    assert await later.load(URL) == (known("new"), ""), "not the old ones that the keyring still has"
    await later.save(URL, known("newest"))
    assert "new" not in (tmp_path / "tokens.toml").read_text()
    assert await later.load(URL) == (known("newest"), "")


async def test_a_keyring_that_hangs_does_not_hold_hel_up(
    tmp_path: Path, ring: Ring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyrings, "LIMIT", 0.05)
    ring.hold = threading.Event()
    try:
        store = TokenStore(tmp_path)
        assert await store.save(URL, known()) == ""
        assert await store.load(URL) == (known(), "")
        assert await store.forget(URL) == "the keyring did not forget the tokens"
    finally:
        ring.hold.set()


@pytest.mark.parametrize(
    "text", ["", "not toml [", '["https://shop.example/mcp"]\ntokens = 5', '"https://shop.example/mcp" = "x"']
)
async def test_a_damaged_file_is_nothing_known(tmp_path: Path, text: str) -> None:
    (tmp_path / "tokens.toml").write_text(text)
    store = TokenStore(tmp_path, keyring=False)
    assert (await store.load(URL))[0] == Known()
    assert await store.save(URL, known()) == ""
    assert await store.load(URL) == (known(), "")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"tokens": {"access": 5}}', '{"pieces": ["gone"]}'])
async def test_a_damaged_entry_of_the_keyring_is_nothing_known(tmp_path: Path, ring: Ring, text: str) -> None:
    store = TokenStore(tmp_path)
    await store.save(URL, known())
    ring.kept["hel-mcp", URL] = text
    assert (await store.load(URL))[0] == Known()
    assert await store.save(URL, known()) == ""
    assert await store.load(URL) == (known(), "")


async def test_tokens_that_cannot_be_kept_hold_for_this_run_and_that_is_told(
    place: Place, tmp_path: Path
) -> None:
    (tmp_path / "state").write_text("a file, no folder")
    hel = await Hel(place.mcp, tmp_path / "state").logged_in()
    assert [one for one in hel.told if one.startswith("the tokens hold for this run only")]
    assert await hel.request() == 200


async def test_only_one_at_a_time_has_the_turn(tmp_path: Path) -> None:
    first, second = TokenStore(tmp_path, keyring=False), TokenStore(tmp_path, keyring=False)
    order: list[str] = []
    inside = asyncio.Event()

    async def take(store: TokenStore, name: str) -> None:
        async with store.turn(URL):
            order.append(f"{name} in")
            inside.set()
            await store.save(URL, known(name))
            order.append(f"{name} out")

    one = asyncio.ensure_future(take(first, "a"))
    await inside.wait()
    await asyncio.gather(one, take(second, "b"))
    assert order == ["a in", "a out", "b in", "b out"]


async def test_a_turn_that_is_not_waited_for_any_more_is_given_back(tmp_path: Path) -> None:
    first, second, third = (TokenStore(tmp_path, keyring=False) for _ in range(3))

    async def take(store: TokenStore) -> None:
        async with store.turn(URL):
            pass

    async with first.turn(URL):
        waiting = asyncio.ensure_future(take(second))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
    async with asyncio.timeout(20):
        await take(third)


async def test_a_whole_login_lives_in_the_keyring(place: Place, tmp_path: Path, ring: Ring) -> None:
    hel = await Hel(place.mcp, tmp_path, keyring=True).logged_in()
    assert place.bank.tokens[0].access not in (tmp_path / "tokens.toml").read_text()
    assert await hel.again().request() == 200
    assert await hel.auth.logout(hel.told.append) == ""
    assert ring.kept == {}
