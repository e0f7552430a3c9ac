"""Tokens that end, hels that start again, and several that share one memory."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from hel_tui.core.mcp.auth.grants import LARGEST_KEY
from hel_tui.core.mcp.auth.settings import OAuthSettings
from hel_tui.core.mcp.authorizing import Challenge
from tests.core.mcp.auth.conftest import LIMIT, HandClock, Hel
from tests.fixtures.authserver.bank import Bank, Client
from tests.fixtures.authserver.place import Place


def kinds(place: Place) -> list[str]:
    """The grants that were used, in order."""
    return [kind for kind, _ in place.bank.resources]


async def test_a_stale_token_is_renewed_right_after_a_restart_without_a_login(hel: Hel, place: Place) -> None:
    await hel.logged_in()
    place.bank.end_all()
    clock = HandClock()
    clock.ahead = 4000
    later = hel.again(clock=clock)
    assert await later.request() == 200
    assert later.person.questions == []
    assert kinds(place) == ["authorization_code", "refresh_token"]
    assert place.bank.resources[1][1] == place.mcp
    assert [one for one in later.told if one.startswith("token refreshed, valid")]


async def test_a_token_that_is_refused_is_renewed_once(hel: Hel, place: Place) -> None:
    clock = HandClock()
    hel = hel.again(clock=clock)
    await hel.logged_in()
    place.bank.end_all()
    clock.ahead = 60
    assert await hel.request() == 200
    assert kinds(place) == ["authorization_code", "refresh_token"]


async def test_a_new_token_that_is_refused_is_not_renewed_again(hel: Hel, place: Place) -> None:
    await hel.logged_in()
    place.bank.end_all()
    assert await hel.request() == 401
    assert kinds(place) == ["authorization_code"]


async def test_rotated_refresh_tokens_are_kept(hel: Hel, place: Place) -> None:
    clock = HandClock()
    hel = hel.again(clock=clock)
    await hel.logged_in()
    for _ in range(3):
        clock.ahead += 4000
        hel = hel.again(clock=clock)
        assert await hel.request() == 200
    assert kinds(place).count("refresh_token") == 3


async def test_a_refresh_token_that_is_not_rotated_stays(tmp_path: Path) -> None:
    clock = HandClock()
    with Place(bank=Bank(rotating=False)) as place:
        hel = await Hel(place.mcp, tmp_path, clock=clock).logged_in()
        for ahead in (4000, 8000):
            clock.ahead = ahead
            assert await hel.request() == 200
        assert len({one.fields["refresh_token"] for one in place.asked("/token")[1:]}) == 1


async def test_many_requests_at_once_renew_once(hel: Hel, place: Place) -> None:
    clock = HandClock()
    hel = hel.again(clock=clock)
    await hel.logged_in()
    clock.ahead = 4000
    assert await asyncio.gather(*(hel.request() for _ in range(8))) == [200] * 8
    clock.ahead = 8000
    place.bank.end_all()
    assert await asyncio.gather(*(hel.request() for _ in range(8))) == [200] * 8
    assert kinds(place).count("refresh_token") == 2


async def test_many_that_were_refused_with_the_same_token_renew_once(hel: Hel, place: Place) -> None:
    clock = HandClock()
    hel = hel.again(clock=clock)
    await hel.logged_in()
    sent = await hel.auth.headers()
    clock.ahead = 60
    place.bank.end_all()
    refusals = (hel.auth.refused(Challenge(401, "Bearer"), sent) for _ in range(8))
    assert await asyncio.gather(*refusals) == [True] * 8
    assert await hel.auth.refused(Challenge(401, "Bearer"), sent)
    assert kinds(place).count("refresh_token") == 1


@pytest.mark.parametrize("keyring", [False])
async def test_two_hels_do_not_lose_each_others_rotated_token(hel: Hel, place: Place, keyring: bool) -> None:
    clock = HandClock()
    first = await hel.again(clock=clock).logged_in()
    second = hel.again(clock=clock)
    assert await second.request() == 200
    clock.ahead = 4000
    assert await asyncio.gather(first.request(), second.request()) == [200, 200]
    assert kinds(place).count("refresh_token") == 1
    clock.ahead = 8000
    assert await second.request() == 200
    assert await first.request() == 200
    assert kinds(place).count("refresh_token") == 2
    assert "another hel has renewed the token" in first.told + second.told


async def test_a_login_of_another_hel_is_taken_over(hel: Hel, place: Place) -> None:
    waiting = hel.again()
    assert await waiting.request() == 401
    await hel.logged_in()
    assert await waiting.request() == 200
    assert waiting.person.questions == []


async def test_a_request_that_is_given_up_does_not_break_the_renewal_off(hel: Hel, place: Place) -> None:
    clock = HandClock()
    hel = hel.again(clock=clock)
    await hel.logged_in()
    clock.ahead = 4000
    reached = asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow(request: Request) -> Response:
        del place.answers["/token"]
        loop.call_soon_threadsafe(reached.set)
        time.sleep(0.2)
        asked = place.seen[-1]
        answer = place.bank.create_token_response(_as_bank_request(place, asked.fields))
        return JSONResponse(answer[1], answer[0])

    place.answers["/token"] = slow
    request = asyncio.ensure_future(hel.auth.headers())
    await asyncio.wait_for(reached.wait(), LIMIT)
    request.cancel()
    await asyncio.wait([request])
    await hel.auth.aclose()
    assert await hel.again(clock=clock).request() == 200
    assert kinds(place).count("refresh_token") == 1


def _as_bank_request(place: Place, fields: dict[str, str]) -> object:
    from tests.fixtures.authserver.bank import Request as BankRequest

    return BankRequest("POST", f"{place.origin}/token", {"Authorization": ""}, fields)


async def test_an_authorization_server_that_is_away_costs_neither_token_nor_login(
    hel: Hel, place: Place
) -> None:
    clock = HandClock()
    hel = hel.again(clock=clock)
    await hel.logged_in()
    place.answers["/token"] = Response(status_code=503)
    clock.ahead = 4000
    place.bank.end_all()
    assert await hel.request() == 401
    assert await hel.request() == 401
    assert len(place.asked("/token")) == 2, "it is left alone for a while"
    del place.answers["/token"]
    clock.ahead += 60
    assert await hel.request() == 200


async def test_a_refresh_token_that_is_gone_needs_a_login_and_is_not_tried_again(
    hel: Hel, place: Place
) -> None:
    clock = HandClock()
    hel = hel.again(clock=clock)
    await hel.logged_in()
    place.bank.end_all()
    for token in place.bank.tokens:
        token.refresh_good = False
    clock.ahead = 4000
    assert await hel.request() == 401
    clock.ahead += 60
    assert await hel.again(clock=clock).request() == 401
    assert len(place.asked("/token")) == 2
    assert "invalid_grant" in "\n".join(hel.told)
    assert await hel.login() == ""
    assert await hel.request() == 200


async def test_a_token_without_an_end_is_used_until_it_is_refused(tmp_path: Path) -> None:
    clock = HandClock()
    with Place() as place:
        place.bank.lifetime = None
        hel = await Hel(place.mcp, tmp_path, clock=clock).logged_in()
        clock.ahead = 1e6
        assert await hel.request() == 200
        assert kinds(place) == ["authorization_code"]
        place.bank.end_all()
        assert await hel.request() == 200


async def test_a_short_lived_token_is_used_for_most_of_its_life(tmp_path: Path) -> None:
    clock = HandClock()
    with Place() as place:
        place.bank.lifetime = 30
        hel = await Hel(place.mcp, tmp_path, clock=clock).logged_in()
        clock.ahead = 20
        assert await hel.request() == 200
        assert kinds(place) == ["authorization_code"]
        clock.ahead = 29
        assert await hel.request() == 200
        assert kinds(place) == ["authorization_code", "refresh_token"]


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
async def test_a_client_of_its_own_needs_no_person(place: Place, tmp_path: Path, method: str) -> None:
    place.bank.clients["bot"] = Client("bot", "bots-secret", method, grants=("client_credentials",))
    place.metadata = {"token_endpoint_auth_methods_supported": [method]}
    settings = OAuthSettings(grant="client_credentials", client_id="bot", client_secret="bots-secret")
    clock = HandClock()
    hel = Hel(place.mcp, tmp_path, settings, clock=clock)
    assert await hel.request() == 200
    assert await hel.again(clock=clock).request() == 200
    assert kinds(place) == ["client_credentials"]
    clock.ahead = 4000
    assert await hel.request() == 200
    assert kinds(place) == ["client_credentials"] * 2
    assert hel.person.questions == []


@pytest.mark.parametrize("kind", ["rsa", "ec", "ed25519"])
@pytest.mark.filterwarnings("ignore:EdDSA is deprecated")
async def test_a_client_may_sign_for_itself(place: Place, tmp_path: Path, kind: str) -> None:
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
    from joserfc.jwk import ECKey, OKPKey, RSAKey

    made = {
        "rsa": lambda: rsa.generate_private_key(65537, 2048),
        "ec": lambda: ec.generate_private_key(ec.SECP256R1()),
        "ed25519": ed25519.Ed25519PrivateKey.generate,
    }
    key = made[kind]()
    private = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()).decode()
    public = key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo).decode()
    place.bank.clients["bot"] = Client(
        "bot",
        method="client_assertion_jwt",
        grants=("client_credentials",),
        public_key={"rsa": RSAKey, "ec": ECKey, "ed25519": OKPKey}[kind].import_key(public),
    )
    file = tmp_path / "key.pem"
    file.write_text(private)
    for text in (private, str(file)):
        folder = tmp_path / str(len(text))
        settings = OAuthSettings(grant="client_credentials", client_id="bot", private_key=text)
        assert await Hel(place.mcp, folder, settings).request() == 200


async def test_a_key_that_cannot_sign_is_a_sentence(place: Place, tmp_path: Path) -> None:
    settings = OAuthSettings(grant="client_credentials", client_id="bot", private_key=str(tmp_path / "none"))
    hel = Hel(place.mcp, tmp_path, settings)
    assert await hel.request() == 401
    assert "neither a key in PEM nor a file" in await hel.login()


@pytest.mark.parametrize("kind", ["pipe", "folder", "huge", "binary", "device"])
async def test_a_file_that_can_hold_no_key_is_neither_read_nor_waited_for(
    place: Place, tmp_path: Path, kind: str
) -> None:
    file = tmp_path / "key.pem"
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    elif kind == "device":
        file.symlink_to("/dev/zero")
    else:
        file.write_bytes(b"\xff" if kind == "binary" else b"-" * (LARGEST_KEY + 1))
    settings = OAuthSettings(grant="client_credentials", client_id="bot", private_key=str(file))
    hel = Hel(place.mcp, tmp_path, settings)
    assert "neither a key in PEM nor a file" in await hel.login()


async def test_wrong_credentials_of_a_client_are_a_sentence(place: Place, tmp_path: Path) -> None:
    settings = OAuthSettings(grant="client_credentials", client_id="bot", client_secret="wrong-secret")
    hel = Hel(place.mcp, tmp_path, settings)
    assert await hel.request() == 401
    assert "invalid_client" in await hel.login()
    assert hel.person.questions == []


async def test_after_another_hel_logged_out_the_tokens_do_not_come_back(hel: Hel, place: Place) -> None:
    clock = HandClock()
    first = await hel.again(clock=clock).logged_in()
    second = hel.again(clock=clock)
    assert await second.request() == 200
    place.metadata = {"revocation_endpoint": None}
    assert await first.auth.logout(first.told.append) == ""
    clock.ahead = 4000
    place.bank.end_all()
    assert await second.request() == 401
    assert await second.auth.headers() == {}
    assert await hel.again(clock=clock).auth.headers() == {}
    assert kinds(place) == ["authorization_code"]


async def test_a_memory_that_cannot_be_written_does_not_bring_old_tokens_back(hel: Hel, place: Place) -> None:
    clock = HandClock()
    hel = await hel.again(clock=clock).logged_in()
    kept = hel.folder / "tokens.toml"
    old = kept.read_bytes()
    clock.ahead = 4000
    assert await hel.request() == 200
    kept.write_bytes(old)
    clock.ahead = 8000
    assert await hel.request() == 200
    assert kinds(place).count("refresh_token") == 2
    assert hel.person.questions[1:] == []
