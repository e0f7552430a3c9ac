"""Which scopes are asked for: least rights first, more when the server says so, never in circles."""

from __future__ import annotations

from pathlib import Path

import pytest

from hel_tui.core.mcp.auth.settings import OAuthSettings
from hel_tui.core.mcp.authorizing import Challenge
from tests.core.mcp.auth.conftest import Hel, free_port
from tests.core.mcp.auth.test_login import asked_for
from tests.fixtures.authserver.bank import Client
from tests.fixtures.authserver.place import Place


async def test_the_scopes_of_the_challenge_come_first(hel: Hel, place: Place) -> None:
    place.challenge = {"scope": "read"}
    place.prm = {"scopes_supported": ["read", "write"]}
    await hel.logged_in()
    assert asked_for(hel)["scope"] == "read"


async def test_else_those_of_the_resource_are_asked_for(hel: Hel, place: Place) -> None:
    place.prm = {"scopes_supported": ["read", "write"]}
    await hel.logged_in()
    assert asked_for(hel)["scope"] == "read write"


async def test_else_none_is_asked_for(hel: Hel, place: Place) -> None:
    place.metadata = {"scopes_supported": ["admin", "offline_access"]}
    await hel.logged_in()
    assert "scope" not in asked_for(hel)


async def test_the_entry_has_the_last_word(place: Place, tmp_path: Path) -> None:
    place.challenge = {"scope": "read"}
    hel = Hel(place.mcp, tmp_path, OAuthSettings(scopes=("mine",), callback_port=free_port()))
    await hel.logged_in()
    assert asked_for(hel)["scope"] == "mine"


@pytest.mark.parametrize("supported", [True, False])
async def test_a_refresh_token_is_asked_for_where_that_is_a_scope(
    hel: Hel, place: Place, supported: bool
) -> None:
    place.challenge = {"scope": "read"}
    place.metadata = {"scopes_supported": ["read", *(["offline_access"] if supported else [])]}
    await hel.logged_in()
    assert asked_for(hel)["scope"] == ("read offline_access" if supported else "read")
    assert asked_for(hel).get("prompt") == ("consent" if supported else None)


async def test_more_scopes_are_asked_for_beside_those_of_before(hel: Hel, place: Place) -> None:
    place.challenge = {"scope": "read"}
    await hel.logged_in()
    place.scope_needed = "write"
    assert await hel.request() == 403
    assert await hel.login() == ""
    assert asked_for(hel, 1)["scope"] == "read write"
    assert await hel.request() == 200


async def test_more_scopes_are_asked_for_beside_those_of_an_earlier_run(hel: Hel, place: Place) -> None:
    place.challenge = {"scope": "read"}
    await hel.logged_in()
    place.scope_needed = "write"
    later = hel.again()
    assert await later.request() == 403
    assert await later.login() == ""
    assert asked_for(later)["scope"] == "read write"


async def test_scopes_that_are_never_enough_end_the_circle(hel: Hel, place: Place) -> None:
    place.challenge = {"scope": "read"}
    place.bank.granted = "read"
    await hel.logged_in()
    place.scope_needed = "write"
    for _ in range(3):
        assert await hel.request() == 403
        assert await hel.login() == ""
    assert "not given: write" in hel.told
    assert await hel.request() == 403
    assert "although each login asked for it" in await hel.login()
    assert len(hel.person.questions) == 4


async def test_scopes_that_the_server_does_not_know_are_told_with_what_to_do(hel: Hel, place: Place) -> None:
    place.challenge = {"scope": "magic"}
    place.bank.scopes_supported = ["read"]
    assert await hel.request() == 401
    sentence = await hel.login()
    assert "invalid_scope" in sentence
    assert "`oauth.scopes`" in sentence


async def test_a_plain_403_is_no_matter_of_tokens(hel: Hel, place: Place) -> None:
    await hel.logged_in()
    sent = await hel.auth.headers()
    assert not await hel.auth.refused(Challenge(403, ""), sent)
    assert await hel.auth.headers() == sent


async def test_a_client_of_its_own_widens_its_scopes_by_itself_and_once(place: Place, tmp_path: Path) -> None:
    place.bank.clients["bot"] = Client(
        "bot", "bots-secret", "client_secret_basic", grants=("client_credentials",)
    )
    place.challenge = {"scope": "read"}
    settings = OAuthSettings(grant="client_credentials", client_id="bot", client_secret="bots-secret")
    hel = Hel(place.mcp, tmp_path, settings)
    assert await hel.request() == 200
    place.scope_needed = "write"
    assert await hel.request() == 200
    assert place.asked("/token")[-1].fields["scope"] == "read write"
    place.bank.granted = "read"
    place.scope_needed = "admin"
    assert await hel.request() == 403
    assert len(place.asked("/token")) == 3
