"""The listener a browser comes back to: one answer, nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import httpx
import pytest

from hel_tui.core.mcp.auth.asking import Refusal
from hel_tui.core.mcp.auth.callback import Listener, listen, redirects_of
from hel_tui.core.mcp.auth.settings import OAuthSettings
from tests.core.mcp.auth.conftest import LIMIT, browse, free_port


@pytest.fixture
async def listener() -> AsyncIterator[Listener]:
    one = await listen((f"http://127.0.0.1:{free_port()}/callback",))
    assert one is not None
    one.expect(lambda fields: fields.get("state") == "right")
    yield one
    one.close()


async def test_the_right_answer_is_taken_once(listener: Listener) -> None:
    page = await browse(f"{listener.redirect}?state=right&code=c%200")
    assert page.status_code == 200
    assert listener.answer.result() == {"state": "right", "code": "c 0"}
    assert (await browse(f"{listener.redirect}?state=right&code=other")).status_code == 400
    assert listener.answer.result()["code"] == "c 0"


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("?state=wrong&code=x", 400),
        ("?code=x", 400),
        ("", 400),
        ("?state=right&state=right&code=x", 400),
        ("/?state=right&code=x", 404),
        ("x?state=right&code=x", 404),
        ("?" + "a=1&" * 50 + "state=right", 400),
    ],
)
async def test_anything_else_is_sent_away(listener: Listener, end: str, status: int) -> None:
    assert (await browse(f"{listener.redirect}{end}")).status_code == status
    assert not listener.answer.done()


async def test_other_methods_are_sent_away(listener: Listener) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.post(f"{listener.redirect}?state=right&code=x")
    assert answer.status_code == 405
    assert not listener.answer.done()


@pytest.mark.parametrize(
    "sent",
    [b"", b"\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x00" * 20, b"x" * 200_000, b"GET / HTTP/1.1\r\n"],
)
async def test_noise_does_not_end_the_wait(listener: Listener, sent: bytes) -> None:
    port = int(listener.redirect.split(":")[2].split("/")[0])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    writer.write_eof()
    async with asyncio.timeout(LIMIT):
        with suppress(ConnectionError):
            await reader.read()
    writer.close()
    await browse(f"{listener.redirect}?state=right&code=x")
    assert listener.answer.result()["code"] == "x"


async def test_localhost_is_reached_by_either_address() -> None:
    one = await listen((f"http://localhost:{free_port()}/callback",))
    assert one is not None
    one.expect(lambda fields: "code" in fields)
    try:
        assert (await browse(one.redirect.replace("localhost", "127.0.0.1"))).status_code == 400
        assert (await browse(one.redirect)).status_code == 400
    finally:
        one.close()


async def test_after_closing_nobody_listens() -> None:
    one = await listen((f"http://127.0.0.1:{free_port()}/callback",))
    assert one is not None
    one.close()
    with pytest.raises(httpx.ConnectError):
        await browse(one.redirect)


def test_where_the_browser_is_sent_follows_the_entry() -> None:
    assert redirects_of(OAuthSettings(callback_port=8123)) == ("http://127.0.0.1:8123/callback",)
    assert redirects_of(OAuthSettings(client_id="a", callback_port=8123)) == (
        "http://localhost:8123/callback",
    )
    own = "http://localhost:3118/cb"
    assert redirects_of(OAuthSettings(client_id="a", redirect_uri=own)) == (own,)
    for one in ("http://127.0.0.2:3118/cb", "http://[::1]:3118/cb"):
        assert redirects_of(OAuthSettings(redirect_uri=one)) == (one,)
    assert len(redirects_of(OAuthSettings())) > 1


@pytest.mark.parametrize(
    "uri",
    [
        *(
            "https://evil.example:1/cb",
            "http://evil.example:1/cb",
            "http://localhost/cb",
            "http://localhost:x/",
        ),
        *("http://0.0.0.0:3118/cb", "http://[::]:3118/cb", "http://127.1:3118/cb", "http://[x:3118/cb"),
    ],
)
def test_a_redirect_to_elsewhere_is_refused(uri: str) -> None:
    with pytest.raises(Refusal):
        redirects_of(OAuthSettings(redirect_uri=uri))


async def test_a_browser_that_asks_twice_sees_the_same_page(listener: Listener) -> None:
    pages = [await browse(f"{listener.redirect}?state=right&code=x") for _ in range(2)]
    assert [page.status_code for page in pages] == [200, 200]
