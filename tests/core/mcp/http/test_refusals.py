"""What a server may answer in place of an answer: statuses, pages, redirects, demands for credentials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from hel_tui.core.mcp.authorizing import Challenge, NoCredentials
from hel_tui.core.mcp.http.target import Target, target_of
from hel_tui.core.mcp.link import LinkFault
from hel_tui.core.mcp.messages import Answer
from tests.core.mcp.http.driving import Bench, text_of

# ------------------------------------------------------------------------ statuses


async def test_lists_are_asked_again_after_the_time_the_server_wants(bench: Bench) -> None:
    peer, site = await bench.greeted("429")
    assert isinstance(await peer.ask("tools/list"), Answer)
    assert len(site.received("POST", "tools/list")) == 3
    assert peer.waits == [3.0, 3.0]


async def test_a_call_is_sent_once_and_told_how_long_to_wait(bench: Bench) -> None:
    peer, site = await bench.greeted("429")
    fault = await peer.call()
    assert fault == LinkFault(
        "refused",
        "it answered 429 Too Many Requests and wants to be left alone for 3 s",
        "slow down",
        429,
        3.0,
    )
    assert len(site.received("POST", "tools/call")) == 1


async def test_a_wait_that_is_too_long_is_handed_on_and_not_sat_out(bench: Bench) -> None:
    peer, site = await bench.greeted("429-long")
    fault = await peer.ask("tools/list")
    assert fault.retry_after == 120.0 and peer.waits == []
    assert len(site.received("POST", "tools/list")) == 1


async def test_a_gateway_that_is_down_is_asked_three_times_and_its_page_shortened(bench: Bench) -> None:
    peer, site = await bench.greeted("502")
    fault = await peer.ask("tools/list")
    assert (fault.kind, fault.status, fault.told) == ("refused", 502, "502 Bad Gateway")
    assert fault.sentence == "it answered 502 Bad Gateway"
    assert len(site.received("POST", "tools/list")) == 3 and peer.waits == [0.5, 1.0]


async def test_an_error_answer_under_a_status_that_passes_is_asked_again_and_then_told(bench: Bench) -> None:
    peer, site = await bench.greeted("503")
    assert (await peer.ask("tools/list")).error["message"] == "warming up"
    assert len(site.received("POST", "tools/list")) == 3
    assert (await peer.call()).error["message"] == "warming up"
    assert len(site.received("POST", "tools/call")) == 1


async def test_a_page_in_place_of_an_answer_is_told_as_text(bench: Bench) -> None:
    peer, _ = await bench.greeted("html")
    fault = await peer.call()
    assert fault.kind == "refused" and fault.told == "Please log in"
    assert fault.sentence == "it answered with text/html, which is no protocol message"


async def test_an_error_answer_counts_whatever_its_status_is(bench: Bench) -> None:
    peer, _ = await bench.greeted("error-400")
    assert (await peer.call()).error == {"code": -32602, "message": "no such tool", "data": None}


async def test_a_request_that_was_only_accepted_will_not_be_answered(bench: Bench) -> None:
    peer, _ = await bench.greeted("accepted")
    fault = await peer.call()
    assert fault.sentence == "it took the request (202 Accepted) but sends no answer to it"


async def test_a_status_at_initialize_tells_whether_this_transport_is_spoken(bench: Bench) -> None:
    peer = bench.peer(bench.serve("404"))
    fault = await peer.ask("initialize", {})
    assert (fault.kind, fault.status, fault.told) == ("refused", 404, "Not Found")


# ---------------------------------------------------------------------------- bodies


@pytest.mark.parametrize(("mode", "text"), [("latin", "café"), ("no-type", "bare"), ("too-long", "whole")])
async def test_odd_bodies_that_can_be_read_are_read(bench: Bench, mode: str, text: str) -> None:
    peer, _ = await bench.greeted(mode)
    assert text_of(await peer.call()) == text


@pytest.mark.parametrize(
    ("mode", "kind", "words"),
    [
        ("broken", "refused", "its answer is no protocol message"),
        ("empty", "refused", "its answer (200 OK) is empty"),
        ("closes", "lost", "ended before the answer"),
        ("closes-after-headers", "lost", "ended before the answer"),
    ],
)
async def test_bodies_that_cannot_be_read_fail_their_call_and_nothing_else(
    bench: Bench, mode: str, kind: str, words: str
) -> None:
    peer, site = await bench.greeted(mode)
    fault = await peer.call()
    assert isinstance(fault, LinkFault) and fault.kind == kind and words in fault.sentence
    assert isinstance(await peer.ask("ping"), Answer)
    assert len(site.received("POST", "tools/call")) == 1


# ------------------------------------------------------------------------- redirects


async def test_a_redirect_within_the_origin_is_followed_with_method_body_and_credentials(
    bench: Bench,
) -> None:
    site = bench.serve("redirect-same")
    peer = bench.peer(Target(site.url, (("Authorization", "Bearer key"),)))
    await peer.greet()
    assert text_of(await peer.call("echo", a=1)) == '{"a": 1}'
    last = site.received("POST", "tools/call")[-1]
    assert last["path"] == "/mcp/" and last["headers"]["authorization"] == "Bearer key"


async def test_a_redirect_elsewhere_is_told_and_nothing_goes_there(bench: Bench) -> None:
    other = bench.serve("ok")
    site = bench.serve("redirect-cross", ELSEWHERE=f"{other.url}?key=1")
    peer = bench.peer(Target(site.url, (("Authorization", "Bearer key"),)))
    fault = await peer.ask("initialize", {})
    assert fault.kind == "refused" and fault.status == 307 and fault.told == other.url
    assert fault.sentence == (
        "it redirects (307 Temporary Redirect) and hel did not follow, for it is another place; "
        "if that is where the server is, use it as url"
    )
    assert other.received() == []


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("redirect-302", "it would lose what is sent"),
        ("redirect-loop", "it redirected 5 times"),
        ("redirect-user", "it is another place"),
    ],
)
async def test_redirects_that_lead_nowhere_good_are_not_followed(bench: Bench, mode: str, words: str) -> None:
    peer = bench.peer(bench.serve(mode))
    fault = await peer.ask("initialize", {})
    assert words in fault.sentence and "secret" not in fault.told


# ----------------------------------------------------------------------- credentials


@dataclass
class Credentials:
    """Gives the tokens one after another; the last one stays."""

    tokens: list[str]
    refusals: list[tuple[Challenge, Mapping[str, str]]] = field(default_factory=list)

    async def headers(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self.tokens[0]}"}

    async def refused(self, challenge: Challenge, sent: Mapping[str, str]) -> bool:
        self.refusals.append((challenge, sent))
        if len(self.tokens) == 1:
            return False
        self.tokens.pop(0)
        return True


async def test_refused_credentials_are_replaced_and_the_request_sent_once_more(bench: Bench) -> None:
    site = bench.serve("401")
    credentials = Credentials(["stale", "good"])
    peer = bench.peer(site, credentials)
    await peer.greet()
    assert text_of(await peer.call()) == "{}"
    [(challenge, sent)] = credentials.refusals
    assert challenge.status == 401 and "resource_metadata=" in challenge.www_authenticate
    assert challenge.body == "unauthorized" and sent == {"Authorization": "Bearer stale"}
    assert len(site.received("POST", "initialize")) == 2


async def test_credentials_that_are_refused_twice_end_in_a_wish_to_log_in(bench: Bench) -> None:
    site = bench.serve("401")
    peer = bench.peer(site, Credentials(["stale", "also stale", "third"]))
    fault = await peer.ask("initialize", {})
    assert fault.kind == "login" and fault.status == 401
    assert fault.sentence == "it did not accept the credentials it was given (401 Unauthorized)"
    assert len(site.received("POST")) == 2


async def test_a_server_that_wants_credentials_says_so_where_none_were_given(bench: Bench) -> None:
    peer = bench.peer(bench.serve("401"))
    fault = await peer.ask("initialize", {})
    assert fault.kind == "login" and fault.sentence == "it wants a login (401 Unauthorized)"


async def test_a_refused_header_of_the_entry_is_named_without_its_value(bench: Bench) -> None:
    site = bench.serve("401")
    peer = bench.peer(target_of(site.url, [("Authorization", "Bearer wrong-value")]))
    fault = await peer.ask("initialize", {})
    assert fault.sentence == "it did not accept the credentials it was given (401 Unauthorized)"
    assert "wrong-value" not in repr(fault)


async def test_a_403_ends_one_call_with_what_the_server_said(bench: Bench) -> None:
    peer, _ = await bench.greeted("403")
    fault = await peer.call()
    assert (fault.kind, fault.status, fault.told) == ("login", 403, "not for you")
    assert isinstance(await peer.ask("ping"), Answer)


async def test_without_credentials_nothing_is_sent(bench: Bench) -> None:
    class None_(Credentials):
        async def headers(self) -> Mapping[str, str]:
            raise NoCredentials("the helper failed (exit 1)")

    site = bench.serve("ok")
    peer = bench.peer(site, None_([]))
    fault = await peer.ask("initialize", {})
    assert fault == LinkFault("login", "the helper failed (exit 1)")
    assert site.received() == []


async def test_a_token_that_cannot_be_sent_is_not_shown(bench: Bench) -> None:
    site = bench.serve("ok")
    peer = bench.peer(site, Credentials(["s3cret\nvalue"]))
    fault = await peer.ask("initialize", {})
    assert fault.kind == "unreachable" and "s3cret" not in repr(fault)
    assert "its headers are not what HTTP allows" in fault.sentence
    assert site.received() == []


async def test_headers_of_the_entry_go_along_and_cannot_break_the_protocol(bench: Bench) -> None:
    site = bench.serve("ok")
    headers = [("X-Team", "blue"), ("Content-Type", "text/plain"), ("mcp-session-id", "mine")]
    peer = bench.peer(target_of(site.url.replace("http://", "http://me:p%40ss@"), headers))
    await peer.greet()
    await peer.call()
    call = site.received("POST", "tools/call")[0]["headers"]
    assert call["x-team"] == "blue" and call["content-type"] == "application/json"
    assert call["mcp-session-id"].startswith("session-1")
    assert call["authorization"] == "Basic bWU6cEBzcw=="
