"""A login from the refusal to the token, against a real authorization server."""

from __future__ import annotations

import asyncio
import base64
import logging
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from starlette.responses import JSONResponse, Response

from hel_tui.core.mcp.auth.settings import OAuthSettings
from hel_tui.core.protocol import LoginAnswer, LoginQuestion, NotAnswered
from tests.core.mcp.auth.conftest import LIMIT, HandClock, Hel, browse, end_of, free_port
from tests.fixtures.authserver.bank import Client
from tests.fixtures.authserver.place import Place


def asked_for(hel: Hel, number: int = 0) -> dict[str, str]:
    """The fields of the address a person was shown."""
    query = parse_qs(urlsplit(hel.person.questions[number].url).query)
    return {name: values[0] for name, values in query.items()}


async def test_a_refused_server_lets_hel_in_after_a_login_in_the_browser(hel: Hel, place: Place) -> None:
    await hel.logged_in()
    question = hel.person.questions[0]
    assert (question.server, question.issuer) == ("shop", place.issuer)
    assert question.redirect == f"http://127.0.0.1:{hel.settings.callback_port}/callback"
    assert any("registered as client" in step for step in question.steps)
    assert hel.person.taken_back == 1
    page = await hel.person.browsing[0]
    assert page.status_code == 200
    assert "You may close this page" in page.text


async def test_each_step_is_told(hel: Hel, place: Place) -> None:
    await hel.logged_in()
    told = "\n".join(hel.told)
    assert f"asked {place.origin}/.well-known/oauth-protected-resource/mcp: 200" in told
    assert f"asked {place.origin}/.well-known/oauth-authorization-server: 200" in told
    assert f"asked {place.origin}/token: 200" in told
    assert "logged in, valid 60 min" in told


async def test_no_token_code_verifier_or_secret_is_ever_told_or_logged(
    hel: Hel, place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    place.bank.registered_method = "client_secret_post"
    clock = HandClock()
    hel = hel.again(clock=clock)
    await hel.logged_in()
    clock.ahead = 4000
    assert await hel.request() == 200
    assert await hel.auth.logout(hel.told.append) == ""
    others = ("httpx", "httpcore", "authlib")  # browser and server; hel's are httpx2 and httpcore2
    logged = [one.getMessage() for one in caplog.records if one.name.partition(".")[0] not in others]
    assert any("/token" in line for line in logged)
    steps = [step for one in hel.person.questions for step in one.steps]
    told = "\n".join([*hel.told, *steps, *logged])
    secrets = {token.access for token in place.bank.tokens} | {token.refresh for token in place.bank.tokens}
    for request in place.asked("/token"):
        named = ("code", "code_verifier", "client_secret", "refresh_token")
        secrets |= {request.fields[name] for name in named if name in request.fields}
    secrets.add(asked_for(hel)["state"])
    assert len(secrets) > 6
    assert not [secret for secret in secrets if secret in told]
    assert secrets - {asked_for(hel)["state"]} <= set(hel.hidden)


async def test_the_token_is_asked_for_the_server_it_is_used_with(hel: Hel, place: Place) -> None:
    await hel.logged_in()
    assert asked_for(hel)["resource"] == place.mcp
    assert place.bank.resources == [("authorization_code", place.mcp)]


async def test_a_pasted_url_finishes_a_login_whose_browser_is_elsewhere(hel: Hel) -> None:
    hel.person.pastes = [lambda question: end_of(question.url)]
    await hel.logged_in()


async def test_a_pasted_code_is_enough(hel: Hel) -> None:
    async def code(question: LoginQuestion) -> str:
        return parse_qs(urlsplit(await end_of(question.url)).query)["code"][0]

    hel.person.pastes = [code]
    await hel.logged_in()


async def test_after_a_wrong_paste_the_person_is_asked_again_and_told_why(hel: Hel) -> None:
    async def of_another_login(question: LoginQuestion) -> str:
        url = urlsplit(await end_of(question.url))
        return f"{url.scheme}://{url.netloc}{url.path}?{urlencode({'code': 'x', 'state': 'another'})}"

    hel.person.pastes = [
        lambda question: question.url,
        of_another_login,
        lambda question: "two words",
        lambda question: end_of(question.url),
    ]
    await hel.logged_in()
    assert len(hel.person.questions) == 4
    assert "holds no code" in hel.person.questions[1].steps[-1]
    assert "another login" in hel.person.questions[2].steps[-1]
    assert len({question.id for question in hel.person.questions}) == 4


async def test_when_the_port_is_taken_a_paste_still_works(place: Place, tmp_path: Path) -> None:
    async def nothing(*_: object) -> None:
        pass

    port = free_port()
    other = await asyncio.start_server(nothing, "127.0.0.1", port)
    async with other:
        hel = Hel(place.mcp, tmp_path, OAuthSettings(callback_port=port))
        hel.person.pastes = [lambda question: end_of(question.url)]
        await hel.logged_in()
        assert "is in use: paste" in "\n".join(hel.told)


async def test_of_several_ports_the_first_free_one_is_used(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(*_: object) -> None:
        pass

    ports = (free_port(), free_port())
    monkeypatch.setattr("hel_tui.core.mcp.auth.callback.PORTS", ports)
    async with await asyncio.start_server(nothing, "127.0.0.1", ports[0]):
        hel = Hel(place.mcp, tmp_path, OAuthSettings())
        await hel.logged_in()
    assert f":{ports[1]}/callback" in hel.person.questions[0].redirect


async def test_an_empty_answer_gives_the_login_up(hel: Hel, place: Place) -> None:
    hel.person.pastes = [lambda question: ""]
    assert await hel.request() == 401
    assert await hel.login() == "the login was given up"
    assert place.asked("/token") == []


async def test_nobody_to_answer_means_no_login(hel: Hel) -> None:
    async def nobody(question: LoginQuestion) -> NotAnswered:
        return NotAnswered("headless")

    assert await hel.request() == 401
    assert await hel.auth.login(nobody, hel.told.append) == "the login was given up"


async def test_a_cancelled_login_takes_the_question_back_and_frees_the_port(hel: Hel) -> None:
    asked = asyncio.Event()
    ended = asyncio.Event()

    async def ask(question: LoginQuestion) -> LoginAnswer:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return LoginAnswer()

    login = asyncio.ensure_future(hel.auth.login(ask, hel.told.append))
    await asyncio.wait_for(asked.wait(), LIMIT)
    login.cancel()
    with pytest.raises(asyncio.CancelledError):
        await login
    assert ended.is_set()
    async with await asyncio.start_server(lambda *_: None, "127.0.0.1", hel.settings.callback_port):
        pass


async def test_there_is_one_login_at_a_time(hel: Hel) -> None:
    asked = asyncio.Event()

    async def ask(question: LoginQuestion) -> LoginAnswer:
        asked.set()
        await asyncio.Event().wait()
        return LoginAnswer()

    first = asyncio.ensure_future(hel.auth.login(ask, hel.told.append))
    await asyncio.wait_for(asked.wait(), LIMIT)
    assert "under way" in await hel.login()
    first.cancel()
    await asyncio.wait([first])


async def test_access_that_is_not_given_ends_the_login_with_that(hel: Hel, place: Place) -> None:
    place.consents = False
    assert await hel.request() == 401
    assert (await hel.login()).startswith("access was not given")


async def test_a_server_that_was_not_asked_yet_is_asked_for_its_challenge(hel: Hel, place: Place) -> None:
    place.prm_at = ("/somewhere/else.json",)
    assert await hel.login() == ""
    assert place.seen[0].path == "/mcp"
    assert "authorization" not in place.seen[0].headers
    assert place.asked("/somewhere/else.json")


async def test_a_server_that_asks_for_nothing_needs_no_login(hel: Hel, place: Place) -> None:
    place.answers["/mcp"] = JSONResponse({})
    place.prm_at, place.metadata_at = (), ()
    assert await hel.login() == "the server does not ask for a login"
    assert place.asked("/register") == []


async def test_a_server_that_cannot_be_reached_is_a_sentence(tmp_path: Path) -> None:
    hel = Hel(f"http://127.0.0.1:{free_port()}/mcp", tmp_path)
    assert "cannot be reached" in await hel.login()


async def test_without_s256_there_is_no_login(hel: Hel, place: Place) -> None:
    place.metadata = {"code_challenge_methods_supported": ["plain"]}
    assert await hel.request() == 401
    assert "PKCE" in await hel.login()
    assert hel.person.questions == []


async def test_a_server_silent_about_pkce_gets_it_all_the_same(hel: Hel, place: Place) -> None:
    place.metadata = {"code_challenge_methods_supported": None}
    await hel.logged_in()
    assert asked_for(hel)["code_challenge_method"] == "S256"


@pytest.mark.parametrize("sent", ["right", "none", "wrong", "slash"])
@pytest.mark.parametrize("promised", [True, False])
async def test_the_issuer_of_an_answer_is_compared_as_it_is(
    hel: Hel, place: Place, sent: str, promised: bool
) -> None:
    place.metadata = {"authorization_response_iss_parameter_supported": promised}
    said = {"right": place.issuer, "none": "", "wrong": "https://evil.example", "slash": f"{place.issuer}/"}
    place.issuer_sent = said[sent]
    assert await hel.request() == 401
    sentence = await hel.login()
    good = sent == "right" or (sent == "none" and not promised)
    assert (sentence == "") is good
    assert bool(place.asked("/token")) is good


async def test_what_another_issuer_says_is_not_shown(hel: Hel, place: Place) -> None:
    place.consents = False
    place.issuer_sent = "https://evil.example"
    assert await hel.request() == 401
    assert "access" not in await hel.login()


async def test_a_bare_code_does_not_do_where_the_issuer_must_be_compared(hel: Hel, place: Place) -> None:
    place.metadata = {"authorization_response_iss_parameter_supported": True}
    place.issuer_sent = place.issuer
    hel.person.pastes = [lambda question: "some-code", lambda question: end_of(question.url)]
    await hel.logged_in()
    assert "whole URL" in hel.person.questions[1].steps[-1]


async def test_a_client_that_a_person_registered_is_used_with_its_secret(
    place: Place, tmp_path: Path
) -> None:
    port = free_port()
    redirect = f"http://localhost:{port}/callback"
    place.bank.clients["mine"] = Client("mine", "s3cr3t: %/", "client_secret_basic", (redirect,))
    settings = OAuthSettings(client_id="mine", client_secret="s3cr3t: %/", callback_port=port)
    clock = HandClock()
    hel = await Hel(place.mcp, tmp_path, settings).logged_in()
    assert place.asked("/register") == []
    assert "s3cr3t" not in (tmp_path / "tokens.toml").read_text()
    clock.ahead = 4000
    assert await hel.again(clock=clock).request() == 200
    basic = place.asked("/token")[-1].headers["authorization"].removeprefix("Basic ")
    assert base64.b64decode(basic) == b"mine:s3cr3t%3A%20%25%2F"


async def test_a_client_with_a_redirect_of_its_own_is_used_with_that(place: Place, tmp_path: Path) -> None:
    redirect = f"http://127.0.0.1:{free_port()}/cb/hel"
    place.bank.clients["mine"] = Client("mine", redirects=(redirect,))
    settings = OAuthSettings(client_id="mine", redirect_uri=redirect)
    await Hel(place.mcp, tmp_path, settings).logged_in()


async def test_tokens_of_another_client_are_not_used(hel: Hel, place: Place) -> None:
    await hel.logged_in()
    other = hel.again(settings=replace(hel.settings, client_id="mine"))
    assert await other.auth.headers() == {}


async def test_switched_off_there_is_neither_token_nor_login(hel: Hel, place: Place) -> None:
    await hel.logged_in()
    off = hel.again(settings=OAuthSettings(enabled=False))
    assert await off.auth.headers() == {}
    assert await off.request() == 401
    assert "switched off" in await off.login()


async def test_logging_out_revokes_and_forgets(hel: Hel, place: Place) -> None:
    await hel.logged_in()
    sent = dict(await hel.auth.headers())
    assert await hel.auth.logout(hel.told.append) == ""
    assert not any(token.access_good or token.refresh_good for token in place.bank.tokens)
    assert await hel.auth.headers() == {}
    assert await hel.again().auth.headers() == {}
    async with httpx.AsyncClient(trust_env=False) as client:
        assert (await client.post(place.mcp, headers=sent)).status_code == 401


async def test_a_logout_that_cannot_revoke_forgets_and_says_so(hel: Hel, place: Place) -> None:
    await hel.logged_in()
    place.answers["/revoke"] = Response(status_code=503)
    assert "did not revoke" in await hel.auth.logout(hel.told.append)
    assert await hel.again().auth.headers() == {}


async def test_the_page_in_the_browser_says_nothing_that_came_with_the_answer(hel: Hel, place: Place) -> None:
    async def ask(question: LoginQuestion) -> LoginAnswer:
        end = await end_of(question.url)
        page = await browse(f"{end}&note=%3Cscript%3Ealert(1)%3C/script%3E")
        assert "script" not in page.text
        assert page.headers["content-security-policy"] == "default-src 'none'"
        await asyncio.Event().wait()
        return LoginAnswer()

    assert await hel.request() == 401
    assert await hel.auth.login(ask, hel.told.append) == ""
