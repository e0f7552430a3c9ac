"""Becoming known to an authorization server, and what it may decide otherwise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from hel_tui.core.mcp.auth.settings import OAuthSettings
from tests.core.mcp.auth.conftest import Hel, free_port
from tests.fixtures.authserver.bank import Client
from tests.fixtures.authserver.place import Place


async def test_hel_registers_as_a_native_program_that_renews_its_tokens(hel: Hel, place: Place) -> None:
    await hel.logged_in()
    asked = place.bank.registrations[0]
    assert asked["client_name"] == "hel"
    assert asked["application_type"] == "native"
    assert asked["grant_types"] == ["authorization_code", "refresh_token"]
    assert asked["redirect_uris"] == [f"http://127.0.0.1:{hel.settings.callback_port}/callback"]


@pytest.mark.parametrize("method", ["none", "client_secret_basic", "client_secret_post"])
async def test_hel_authenticates_itself_as_the_server_supports(hel: Hel, place: Place, method: str) -> None:
    place.metadata = {"token_endpoint_auth_methods_supported": [method]}
    await hel.logged_in()
    (client,) = place.bank.clients.values()
    assert client.method == method
    request = place.asked("/token")[0]
    assert ("authorization" in request.headers) is (method == "client_secret_basic")
    assert ("client_secret" in request.fields) is (method == "client_secret_post")


@pytest.mark.parametrize("method", ["none", "client_secret_basic", "client_secret_post"])
async def test_a_method_the_server_decides_on_is_taken(hel: Hel, place: Place, method: str) -> None:
    place.bank.registered_method = method
    await hel.logged_in()


async def test_a_method_hel_cannot_do_ends_with_a_sentence(hel: Hel, place: Place) -> None:
    place.answers["/register"] = JSONResponse(
        {"client_id": "x", "token_endpoint_auth_method": "tls_client_auth"}, 201
    )
    assert await hel.request() == 401
    assert "by tls_client_auth, which it cannot" in await hel.login()


async def test_a_secret_that_is_missing_ends_with_a_sentence(hel: Hel, place: Place) -> None:
    place.answers["/register"] = JSONResponse(
        {"client_id": "x", "token_endpoint_auth_method": "client_secret_post"}, 201
    )
    assert await hel.request() == 401
    assert "by a secret, but got none" in await hel.login()


async def test_the_registration_is_kept_for_the_next_login(hel: Hel, place: Place) -> None:
    await hel.logged_in()
    later = hel.again()
    assert await later.login() == ""
    assert len(place.bank.registrations) == 1
    assert "known there as client" in "\n".join(later.told)


async def test_after_a_login_that_never_came_back_hel_registers_anew(hel: Hel, place: Place) -> None:
    await hel.logged_in()
    place.bank.clients.clear()
    later = hel.again()
    later.person.pastes = [lambda question: ""]
    assert await later.login() == "the login was given up"
    assert await hel.again().login() == ""
    assert len(place.bank.registrations) == 2


async def test_a_server_that_forgot_hel_is_told_its_name_again(hel: Hel, place: Place) -> None:
    await hel.logged_in()
    refused = JSONResponse({"error": "invalid_client"}, 401)

    def once(_: Request) -> Response:
        del place.answers["/token"]
        return refused

    place.answers["/token"] = once
    later = hel.again()
    assert await later.login() == ""
    assert len(place.bank.registrations) == 2
    assert len(later.person.questions) == 2


async def test_another_authorization_server_is_never_shown_the_client_of_the_first(tmp_path: Path) -> None:
    with Place() as first, Place() as second, Place() as shop:
        shop.bank, shop.prm = first.bank, {"authorization_servers": [first.issuer]}
        hel = await Hel(shop.mcp, tmp_path).logged_in()
        shop.bank, shop.prm = second.bank, {"authorization_servers": [second.issuer]}
        assert await hel.request() == 401
        assert await hel.login() == ""
        assert await hel.request() == 200
        mine = set(first.bank.clients)
        assert len(second.bank.registrations) == 1
        assert not [one for one in second.seen if mine & set(one.fields.values())]


async def test_a_configured_client_is_not_shown_to_another_authorization_server(tmp_path: Path) -> None:
    port = free_port()
    settings = OAuthSettings(client_id="mine", callback_port=port)
    with Place() as first, Place() as second, Place() as shop:
        first.bank.clients["mine"] = Client("mine", redirects=(f"http://localhost:{port}/callback",))
        shop.bank, shop.prm = first.bank, {"authorization_servers": [first.issuer]}
        hel = await Hel(shop.mcp, tmp_path, settings).logged_in()
        shop.bank, shop.prm = second.bank, {"authorization_servers": [second.issuer]}
        later = hel.again()
        assert await later.request() == 401
        assert "log out first" in await later.login()
        assert later.person.questions == []


async def test_without_registration_the_sentence_says_what_to_do(hel: Hel, place: Place) -> None:
    place.metadata = {"registration_endpoint": None}
    assert await hel.request() == 401
    assert "`oauth.clientId`" in await hel.login()


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (
            403,
            {"error": "access_denied", "error_description": "no \x1b[31mrobots"},
            "access_denied no robots",
        ),
        (404, {}, "there is no registration"),
        (500, {}, "try again later"),
        (201, {}, "no client id"),
    ],
)
async def test_a_refused_registration_is_told(
    hel: Hel, place: Place, status: int, body: dict[str, Any], said: str
) -> None:
    place.answers["/register"] = JSONResponse(body, status)
    assert await hel.request() == 401
    sentence = await hel.login()
    assert said in sentence
    assert "\x1b" not in sentence


async def test_a_server_that_takes_only_localhost_gets_localhost(hel: Hel, place: Place) -> None:
    def picky(request: Request) -> Response:
        body = json.loads(place.seen[-1].body)
        if any("127.0.0.1" in uri for uri in body["redirect_uris"]):
            return JSONResponse({"error": "invalid_redirect_uri"}, 400)
        place.bank.clients["picky"] = Client("picky", redirects=tuple(body["redirect_uris"]))
        return JSONResponse({"client_id": "picky", **body}, 201)

    place.answers["/register"] = picky
    await hel.logged_in()
    assert hel.person.questions[0].redirect.startswith("http://localhost:")
    assert await hel.again().login() == ""
    assert len(place.asked("/register")) == 2, "refused once, then known"


async def test_a_metadata_url_is_the_client_where_the_server_takes_those(
    place: Place, tmp_path: Path
) -> None:
    url = "https://hel.example/client.json"
    port = free_port()
    place.metadata = {"client_id_metadata_document_supported": True}
    place.bank.clients[url] = Client(url, redirects=(f"http://localhost:{port}/callback",))
    settings = OAuthSettings(client_metadata_url=url, callback_port=port)
    await Hel(place.mcp, tmp_path, settings).logged_in()
    assert place.asked("/register") == []


async def test_a_metadata_url_is_no_use_where_the_server_does_not_take_it(
    place: Place, tmp_path: Path
) -> None:
    settings = OAuthSettings(client_metadata_url="https://hel.example/c.json", callback_port=free_port())
    await Hel(place.mcp, tmp_path, settings).logged_in()
    assert len(place.bank.registrations) == 1


async def test_a_registration_whose_secret_ended_is_not_used(hel: Hel, place: Place) -> None:
    def registered(request: Request) -> Response:
        body = json.loads(place.seen[-1].body)
        client = Client("old", "a-secret", "client_secret_post", tuple(body["redirect_uris"]))
        place.bank.clients["old"] = client
        kind = {"token_endpoint_auth_method": "client_secret_post"}
        return JSONResponse(
            {**body, "client_id": "old", "client_secret": "a-secret", "client_secret_expires_at": 5, **kind},
            201,
        )

    place.answers["/register"] = registered
    await hel.logged_in()
    del place.answers["/register"]
    assert await hel.again().login() == ""
    assert len(place.bank.registrations) == 1
