"""From a server to its authorization server: where metadata is looked for, and what is not believed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import JSONResponse, RedirectResponse, Response

from hel_tui.core.mcp.auth.asking import Asker
from hel_tui.core.mcp.auth.settings import OAuthSettings
from tests.core.mcp.auth.conftest import Hel, free_port
from tests.fixtures.authserver.place import Place

PRM = "/.well-known/oauth-protected-resource"
AS = "/.well-known/oauth-authorization-server"
OIDC = "/.well-known/openid-configuration"


async def refused_login(hel: Hel) -> str:
    """The sentence of a login that must not even get to the question."""
    assert await hel.request() == 401
    sentence = await hel.login()
    assert sentence
    assert hel.person.questions == []
    return sentence


async def test_the_address_in_the_challenge_is_asked_and_no_other(hel: Hel, place: Place) -> None:
    place.prm_at = ("/custom/place.json",)
    await hel.logged_in()
    assert [path for path in place.paths if "/.well-known/oauth-pro" in path] == []


@pytest.mark.parametrize("at", [f"{PRM}/mcp", PRM])
async def test_without_it_the_path_is_tried_before_the_root(hel: Hel, place: Place, at: str) -> None:
    place.names_metadata, place.prm_at = False, (at,)
    await hel.logged_in()
    tried = [path for path in place.paths if path.startswith(PRM)]
    assert tried == [f"{PRM}/mcp", PRM][: 1 if at != PRM else 2]


@pytest.mark.parametrize(
    ("path", "at"),
    [
        ("", AS),
        ("", OIDC),
        ("/auth/v1", f"{AS}/auth/v1"),
        ("/auth/v1", f"{OIDC}/auth/v1"),
        ("/auth/v1", f"/auth/v1{OIDC}"),
        ("/auth/v1", f"/auth/v1{AS}"),
        ("/auth/v1", AS),
    ],
)
async def test_metadata_is_found_wherever_servers_put_it(tmp_path: Path, path: str, at: str) -> None:
    with Place(issuer_path=path, metadata_at=(at,)) as place:
        hel = await Hel(place.mcp, tmp_path).logged_in()
        assert place.asked(f"{path}/register")
        assert hel.person.questions[0].issuer == place.issuer


async def test_an_issuer_with_a_path_is_asked_in_the_order_of_the_specification(tmp_path: Path) -> None:
    with Place(issuer_path="/t", metadata_at=(f"/t{OIDC}",)) as place:
        await Hel(place.mcp, tmp_path).logged_in()
        assert [one for one in place.paths if "well-known/o" in one and "protected" not in one] == [
            f"{AS}/t",
            f"{OIDC}/t",
            f"/t{OIDC}",
        ]


async def test_a_server_of_2025_03_26_is_its_own_authorization_server(tmp_path: Path) -> None:
    with Place(prm_at=(), names_metadata=False) as place:
        place.metadata = {"authorization_endpoint": f"{place.origin}/authorize"}
        await Hel(place.mcp, tmp_path).logged_in()


async def test_without_any_metadata_the_default_endpoints_are_used(tmp_path: Path) -> None:
    with Place(prm_at=(), names_metadata=False, metadata_at=()) as place:
        await Hel(place.mcp, tmp_path).logged_in()
        assert place.asked("/register")


async def test_a_metadata_address_that_answers_401_itself_ends_with_a_sentence(
    hel: Hel, place: Place
) -> None:
    closed = Response(
        status_code=401, headers={"WWW-Authenticate": f'Bearer resource_metadata="{place.mcp}"'}
    )
    place.answers = dict.fromkeys((f"{PRM}/mcp", PRM, AS, OIDC), closed)
    sentence = await refused_login(hel)
    assert "keeps closed where it would say how" in sentence
    assert len(place.paths) == 4


async def test_metadata_for_another_server_is_refused(hel: Hel, place: Place) -> None:
    place.prm = {"resource": "https://evil.example/mcp"}
    assert "for another server: https://evil.example/mcp" in await refused_login(hel)
    assert place.asked("/register") == []


async def test_a_resource_that_the_entry_names_itself_is_believed(place: Place, tmp_path: Path) -> None:
    place.prm = {"resource": "https://shop.example/v2"}
    settings = OAuthSettings(callback_port=free_port(), resource="https://shop.example/v2")
    await Hel(place.mcp, tmp_path, settings).logged_in()
    assert place.bank.resources[0][1] == "https://shop.example/v2"


async def test_an_empty_resource_of_the_entry_leaves_the_parameter_out(place: Place, tmp_path: Path) -> None:
    settings = OAuthSettings(callback_port=free_port(), resource="")
    hel = await Hel(place.mcp, tmp_path, settings).logged_in()
    assert place.bank.resources[0][1] == ""
    assert "resource" not in hel.person.questions[0].url


async def test_metadata_for_the_whole_origin_is_good(hel: Hel, place: Place) -> None:
    place.prm = {"resource": place.origin}
    await hel.logged_in()
    assert place.bank.resources[0][1] == place.origin


async def test_metadata_of_another_issuer_is_refused(hel: Hel, place: Place) -> None:
    place.metadata = {"issuer": "https://evil.example"}
    assert "calls itself https://evil.example" in await refused_login(hel)


async def test_a_slash_at_the_end_of_a_root_issuer_does_not_matter(hel: Hel, place: Place) -> None:
    place.prm = {"authorization_servers": [f"{place.origin}/"]}
    await hel.logged_in()


async def test_members_hel_does_not_need_cannot_spoil_metadata(hel: Hel, place: Place) -> None:
    place.metadata = {"service_documentation": "", "scopes_supported": [1, None], "jwks_uri": 5}
    place.prm = {"bearer_methods_supported": "header", "resource_documentation": ""}
    await hel.logged_in()


async def test_the_next_authorization_server_is_taken_when_the_first_does_not_answer(
    hel: Hel, place: Place
) -> None:
    place.prm = {"authorization_servers": [f"http://127.0.0.1:{free_port()}", place.issuer]}
    await hel.logged_in()


async def test_an_authorization_server_elsewhere_is_asked_there(tmp_path: Path) -> None:
    with Place() as home, Place() as shop:
        shop.bank = home.bank
        shop.prm = {"authorization_servers": [home.issuer]}
        hel = await Hel(shop.mcp, tmp_path).logged_in()
        assert hel.person.questions[0].issuer == home.issuer
        assert shop.asked("/token") == []


async def test_a_metadata_url_of_the_entry_is_used_in_place_of_discovery(
    place: Place, tmp_path: Path
) -> None:
    place.metadata_at = ("/odd/place",)
    place.prm = {"authorization_servers": ["https://nowhere.example"]}
    settings = OAuthSettings(callback_port=free_port(), metadata_url=f"{place.origin}/odd/place")
    await Hel(place.mcp, tmp_path, settings).logged_in()


@pytest.mark.parametrize("status", [500, 503, 429])
async def test_an_error_that_may_pass_is_not_taken_for_missing_metadata(
    hel: Hel, place: Place, status: int
) -> None:
    place.answers[f"{PRM}/mcp"] = Response(status_code=status)
    assert "try again later" in await refused_login(hel)
    assert place.asked("/register") == []


@pytest.mark.parametrize(
    "member", ["authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"]
)
@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "http://elsewhere.example/x",
        "file:///etc/passwd",
        "https://a:b@shop.example/",
        "x",
    ],
)
async def test_endpoints_that_must_not_be_asked_or_opened_end_the_login(
    hel: Hel, place: Place, member: str, address: str
) -> None:
    place.metadata = {member: address}
    assert "names an endpoint" in await refused_login(hel)
    assert place.asked("/register") == []


@pytest.mark.parametrize(
    "body",
    [
        b"x" * 300_000,
        b"<html>hello</html>",
        b"[" * 100_000,
        b"[]",
        b'{"resource": 5}',
        b"\xff\xfe\x00",
        json.dumps({"issuer": ["x"], "token_endpoint": {}}).encode(),
        b"",
    ],
    ids=["large", "html", "deep", "list", "number", "bytes", "types", "empty"],
)
async def test_hostile_metadata_ends_with_a_sentence(hel: Hel, place: Place, body: bytes) -> None:
    for path in (f"{PRM}/mcp", PRM, AS, OIDC):
        place.answers[path] = Response(body, media_type="application/json")
    place.answers["/register"] = Response(body, media_type="application/json")
    assert await refused_login(hel)


async def test_a_redirect_within_the_origin_is_followed(hel: Hel, place: Place) -> None:
    place.prm_at = (f"{PRM}/mcp/",)
    place.names_metadata = False
    place.answers[f"{PRM}/mcp"] = RedirectResponse(f"{place.origin}{PRM}/mcp/")
    await hel.logged_in()


async def test_a_redirect_elsewhere_is_not_followed(hel: Hel, place: Place) -> None:
    with Place() as other:
        place.answers[f"{PRM}/mcp"] = RedirectResponse(f"{other.origin}{PRM}/mcp")
        place.answers[AS] = RedirectResponse(f"{other.origin}{AS}")
        await refused_login_or_own(hel)
        assert other.seen == []
        assert "not followed" in "\n".join(hel.told)


async def refused_login_or_own(hel: Hel) -> None:
    """A login that may fall back to the server itself, but goes nowhere else."""
    assert await hel.request() == 401
    await hel.login()


async def test_a_redirect_in_a_circle_ends(hel: Hel, place: Place) -> None:
    place.answers[f"{PRM}/mcp"] = RedirectResponse(f"{place.origin}{PRM}/mcp")
    assert await hel.request() == 401
    await hel.login()
    assert len(place.asked(f"{PRM}/mcp")) == 4


async def test_a_document_far_too_large_is_not_read(hel: Hel, place: Place) -> None:
    place.metadata = {"op_policy_uri": "x" * 300_000}
    assert "no usable metadata" in await refused_login(hel)


async def test_a_request_with_a_body_is_redirected_only_where_the_body_goes_along(
    tmp_path: Path,
) -> None:
    for status, works in ((307, True), (308, True), (302, False), (303, False)):
        with Place() as place:
            place.metadata = {"registration_endpoint": f"{place.origin}/register/"}
            place.answers["/register/"] = RedirectResponse("/register", status)
            hel = Hel(place.mcp, tmp_path / str(status))
            assert await hel.request() == 401
            assert (await hel.login() == "") is works


async def test_a_token_request_goes_to_no_other_place(hel: Hel, place: Place) -> None:
    with Place() as other:
        place.answers["/token"] = RedirectResponse(f"{other.origin}/token", 307)
        assert await hel.request() == 401
        assert "gave no token (HTTP 307" in await hel.login()
        assert other.seen == []


def judged(server: str, url: str) -> str:
    def nothing(*_: Any) -> Any:
        raise AssertionError("nothing is sent")

    return Asker(server, nothing, nothing).problem(url)


@pytest.mark.parametrize(
    ("server", "url", "may"),
    [
        ("https://shop.example/mcp", "https://shop.example/x", True),
        ("https://shop.example/mcp", "https://login.example/x", True),
        ("https://shop.example/mcp", "http://login.example/x", False),
        ("https://shop.example/mcp", "http://shop.example/x", False),
        ("https://shop.example/mcp", "http://127.0.0.1:8080/x", False),
        ("https://shop.example/mcp", "https://localhost/x", False),
        ("https://shop.example/mcp", "https://[::1]/x", False),
        ("https://shop.example/mcp", "https://127.1/x", False),
        ("https://shop.example/mcp", "https://2130706433/x", False),
        ("https://shop.example/mcp", "https://[::ffff:127.0.0.1]/x", False),
        ("http://intranet/mcp", "http://intranet/x", True),
        ("http://intranet/mcp", "http://intranet:81/x", False),
        ("http://127.0.0.1:1/mcp", "http://127.0.0.1:2/x", True),
        ("http://127.0.0.1:1/mcp", "http://localhost:2/x", True),
        ("http://127.0.0.1:1/mcp", "https://login.example/x", True),
        ("http://127.0.0.1:1/mcp", "http://login.example/x", False),
        ("https://shop.example/mcp", "https://shop.example:99999/x", False),
        ("https://shop.example/mcp", "https://shop.example/a b", False),
        ("https://shop.example/mcp", "//shop.example/x", False),
        ("https://shop.example/mcp", "data:text/html,x", False),
    ],
)
def test_only_encrypted_addresses_or_those_of_this_machine_are_asked(
    server: str, url: str, may: bool
) -> None:
    assert (judged(server, url) == "") is may


async def test_nothing_is_sent_along_that_was_meant_for_the_server(hel: Hel, place: Place) -> None:
    await hel.logged_in()
    for request in place.seen:
        if request.path != "/mcp":
            assert "authorization" not in request.headers


async def test_a_json_list_of_another_kind_is_no_metadata(hel: Hel, place: Place) -> None:
    place.answers[f"{PRM}/mcp"] = JSONResponse(["resource"])
    place.prm_at = (PRM,)
    await hel.logged_in()
