"""Whatever metadata, registrations and tokens say, in whatever field: a login ends in a sentence."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import Response

from hel_tui.core.protocol import Answer, LoginAnswer, LoginQuestion
from tests.core.mcp.auth.conftest import Hel, end_of
from tests.fixtures.authserver.place import Place

HUGE = 10**400
FIELDS: dict[str, tuple[str, ...]] = {
    "resource": ("resource", "authorization_servers", "scopes_supported"),
    "server": (
        "issuer",
        "authorization_endpoint",
        "token_endpoint",
        "registration_endpoint",
        "revocation_endpoint",
        "scopes_supported",
        "code_challenge_methods_supported",
        "token_endpoint_auth_methods_supported",
        "authorization_response_iss_parameter_supported",
        "client_id_metadata_document_supported",
    ),
    "registration": (
        "client_id",
        "client_secret",
        "client_secret_expires_at",
        "redirect_uris",
        "token_endpoint_auth_method",
        "error",
    ),
    "token": ("access_token", "token_type", "expires_in", "refresh_token", "scope", "error"),
}
ODD_TEXTS = (
    *("", "http://[x", "//", "javascript:alert(1)", "http://127.0.0.1:1/", "http://127.0.0.1:99999/"),
    *("\ud800", "a\x00b\nc", "{origin}/\ud800", "{origin}/[", "{origin}:x/", "{origin}/?a=b#c", "{origin}"),
    *("none", "client_secret_basic", "private_key_jwt", "offline_access", "S256", "Bearer", "1e999", "nan"),
)
ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([HUGE, -HUGE])
    | st.floats()
    | st.sampled_from(ODD_TEXTS)
    | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
SAID = st.sampled_from(sorted(FIELDS)).flatmap(
    lambda which: st.tuples(
        st.just(which), st.dictionaries(st.sampled_from(FIELDS[which]), ODD, min_size=1, max_size=3)
    )
)


def filled(value: Any, origin: str) -> Any:
    """`value` with the origin of the place in its texts."""
    if isinstance(value, str):
        return value.replace("{origin}", origin)
    if isinstance(value, dict):
        return {key: filled(item, origin) for key, item in value.items()}
    return [filled(item, origin) for item in value] if isinstance(value, list) else value


def spoil(place: Place, which: str, said: dict[str, Any]) -> None:
    """Let one kind of answer say something else in some fields."""
    plain: dict[str, Callable[[Request], dict[str, Any]]] = {
        "resource": lambda _: {"resource": place.mcp, "authorization_servers": [place.issuer]},
        "server": lambda _: place.document(),
        "registration": lambda request: {"client_id": "known", "token_endpoint_auth_method": "none"},
        "token": lambda _: {"access_token": "a-token", "token_type": "Bearer", "expires_in": 60},
    }
    paths = {
        "resource": "/.well-known/oauth-protected-resource/mcp",
        "server": "/.well-known/oauth-authorization-server",
        "registration": "/register",
        "token": "/token",
    }

    def answer(request: Request) -> Response:
        body = {**plain[which](request), **filled(said, place.origin)}
        return Response(json.dumps(body), 200, media_type="application/json")

    place.answers[paths[which]] = answer


async def paste(question: LoginQuestion) -> Answer:
    """Paste where the browser ends; give up where it cannot go."""
    try:
        return LoginAnswer(await end_of(question.url))
    except (httpx.HTTPError, httpx.InvalidURL, KeyError, ValueError):
        return LoginAnswer("")


async def a_life(place: Place, folder: Path) -> list[str]:
    """Log in, ask, come back as another hel, log out; the sentences of what came to nothing."""
    hel = Hel(place.mcp, folder)
    await hel.request()
    told = [await hel.auth.login(paste, hel.told.append)]
    await hel.request()
    later = hel.again()
    await later.request()
    return [*told, await later.auth.logout(later.told.append), *hel.told, *later.told]


@pytest.fixture(scope="module")
def stage() -> Any:
    with Place() as place:
        yield place


@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(SAID)
@example(("resource", {"resource": "http://[x"}))
@example(("resource", {"authorization_servers": ["http://[x", "\ud800"]}))
@example(("server", {"issuer": "{origin}/\ud800"}))
@example(("registration", {"client_secret": "s3cret-one", "client_secret_expires_at": HUGE}))
@example(("registration", {"client_id": "\ud800"}))
@example(("token", {"expires_in": HUGE}))
@example(("token", {"refresh_token": "\ud800"}))
def test_a_login_ends_in_a_sentence_whatever_is_answered(
    stage: Place, said: tuple[str, dict[str, Any]]
) -> None:
    stage.answers.clear()
    spoil(stage, *said)
    with tempfile.TemporaryDirectory() as folder:
        lines = asyncio.run(a_life(stage, Path(folder)))
    for line in lines:
        line.encode()
        assert "\n" not in line and len(line) < 2000


@pytest.mark.parametrize(
    ("which", "said", "sentence"),
    [
        (
            "resource",
            {"resource": "http://[x"},
            "the metadata is for another server: an address that is none",
        ),
        ("token", {"access_token": "\ud800"}, "characters that no request can carry"),
        ("registration", {"client_id": ""}, "gave it no client id"),
    ],
)
async def test_what_cannot_be_meant_is_refused_in_words(
    place: Place, tmp_path: Path, which: str, said: dict[str, Any], sentence: str
) -> None:
    spoil(place, which, said)
    hel = Hel(place.mcp, tmp_path)
    assert sentence in await hel.auth.login(paste, hel.told.append)


@pytest.mark.parametrize("life", [HUGE, "1e999", float("nan"), True, [60], -5])
async def test_a_life_of_a_token_that_is_none_is_not_believed(
    place: Place, tmp_path: Path, life: Any
) -> None:
    spoil(place, "token", {"expires_in": life})
    hel = Hel(place.mcp, tmp_path)
    assert await hel.auth.login(paste, hel.told.append) == ""
    assert "logged in, valid until it is refused" in hel.told
