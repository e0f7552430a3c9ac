"""Reaching a server: addresses, proxies, certificates, and what is told when it cannot be reached."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trustme

from hel_tui.core.mcp.http.target import Target, open_client, proxy_for, target_of
from hel_tui.core.mcp.link import LinkFault
from hel_tui.core.mcp.messages import Answer
from tests.core.mcp.http.driving import Bench, text_of

# ------------------------------------------------------------------------ addresses


def test_an_address_is_parted_from_its_credentials_which_are_not_shown() -> None:
    target = target_of(" HTTPS://me:secret%21@example.com:8443/mcp?x=1#part ")
    assert target.url == "https://example.com:8443/mcp?x=1"
    assert target.headers == (("Authorization", "Basic bWU6c2VjcmV0IQ=="),)
    assert target.host == "example.com:8443"
    assert "Basic" not in repr(target)


def test_a_header_of_the_entry_wins_over_credentials_in_the_address() -> None:
    target = target_of("http://me:secret@example.com", [("authorization", " Bearer abc\n")])
    assert target.headers == (("authorization", "Bearer abc"),)
    assert target.url == "http://example.com/"


@pytest.mark.parametrize(
    ("url", "headers"),
    [
        ("ftp://example.com", []),
        ("example.com/mcp", []),
        ("https://", []),
        ("http://host:port/", []),
        ("https://example.com", [("bad name", "x")]),
        ("https://example.com", [("X", "secret\r\nY: z")]),
    ],
)
def test_what_cannot_be_sent_is_told_without_its_value(url: str, headers: list[tuple[str, str]]) -> None:
    with pytest.raises(ValueError) as caught:
        target_of(url, headers)
    assert "secret" not in str(caught.value)


# -------------------------------------------------------------------------- proxies


@pytest.mark.parametrize(
    ("url", "environ", "proxy"),
    [
        ("https://a.example/", {"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        ("https://a.example/", {"https_proxy": "p:1", "HTTPS_PROXY": "http://other:1"}, "http://p:1"),
        ("http://a.example/", {"HTTPS_PROXY": "http://p:1"}, None),
        ("http://a.example/", {"ALL_PROXY": "http://p:1"}, "http://p:1"),
        ("http://a.example/", {"HTTP_PROXY": "http://p:1", "REQUEST_METHOD": "GET"}, None),
        ("https://a.example/", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "b.example, .example"}, None),
        ("https://a.example/", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*.example"}, None),
        ("https://a.example/", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "a.example:80"}, "http://p:1"),
        ("https://a.example/", {"HTTPS_PROXY": "http://p:1", "no_proxy": "a.example:443"}, None),
        ("https://aaa.example/", {"HTTPS_PROXY": "http://p:1", "no_proxy": "aa.example"}, "http://p:1"),
        ("https://a.example/", {"HTTPS_PROXY": "http://p:1", "no_proxy": "*"}, None),
        ("https://10.1.2.3/", {"HTTPS_PROXY": "http://p:1", "no_proxy": "10.0.0.0/8"}, None),
        ("https://11.1.2.3/", {"HTTPS_PROXY": "http://p:1", "no_proxy": "10.0.0.0/8"}, "http://p:1"),
        ("http://127.0.0.1:8000/", {"HTTP_PROXY": "http://p:1", "ALL_PROXY": "http://p:1"}, None),
        ("http://localhost/", {"HTTP_PROXY": "http://p:1"}, None),
        ("http://[::1]/", {"HTTP_PROXY": "http://p:1"}, None),
    ],
)
def test_proxy_variables_are_honoured_and_this_machine_is_never_proxied(
    url: str, environ: dict[str, str], proxy: str | None
) -> None:
    assert proxy_for(url, environ) == proxy


async def test_requests_go_through_the_proxy_that_the_environment_names(bench: Bench) -> None:
    site = bench.serve("proxied")
    environ = {"HTTP_PROXY": site.url.replace("http://", "http://me:secret@")}
    peer = bench.peer(Target("http://server.example/mcp", environ=environ))
    await peer.greet()
    assert text_of(await peer.call()) == "{}"
    first = site.received()[0]
    assert first["path"] == "http://server.example/mcp"
    assert first["headers"]["proxy-authorization"] == "Basic bWU6c2VjcmV0"


async def test_a_proxy_that_is_not_there_is_named_without_its_password(bench: Bench) -> None:
    port = free_port()
    peer = bench.peer(
        Target("https://server.example/mcp", environ={"HTTPS_PROXY": f"http://me:secret@127.0.0.1:{port}"})
    )
    fault = await peer.ask("ping")
    assert fault.kind == "unreachable"
    assert fault.sentence == f"nothing listens at the proxy 127.0.0.1:{port}"


async def test_a_proxy_that_refuses_the_tunnel_says_why(bench: Bench) -> None:
    site = bench.serve("proxied")
    peer = bench.peer(Target("https://server.example/mcp", environ={"HTTPS_PROXY": site.url}))
    fault = await peer.ask("tools/call")
    assert fault.kind == "unreachable"
    assert fault.sentence.startswith(f"the proxy 127.0.0.1:{site.port} refused: 501 Unsupported method")


def test_a_socks_proxy_is_refused_with_a_sentence() -> None:
    target = Target("https://server.example/", environ={"ALL_PROXY": "socks5://me:secret@p:1080"})
    with pytest.raises(ValueError, match="the proxy p:1080 is a SOCKS proxy, which hel cannot use"):
        open_client(target)


# ---------------------------------------------------------------------- certificates


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def certificate(authority: trustme.CA, folder: Path, *names: str, **more: datetime) -> str:
    """A PEM file with key and certificate for `names`."""
    made = authority.issue_cert(*names, **more)
    path = folder / "server.pem"
    path.write_bytes(made.private_key_and_cert_chain_pem.bytes())
    return str(path)


@pytest.fixture
def ca(authority: trustme.CA, tmp_path: Path) -> Path:
    path = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return path


async def test_a_private_authority_is_trusted_for_the_server_that_names_it(
    bench: Bench, authority: trustme.CA, ca: Path
) -> None:
    site = bench.serve("ok", CERT=certificate(authority, bench.folder, "127.0.0.1"))
    peer = bench.peer(Target(site.url, ca=ca))
    await peer.greet()
    assert text_of(await peer.call()) == "{}"


async def test_the_usual_variable_names_an_authority_too(
    bench: Bench, authority: trustme.CA, ca: Path
) -> None:
    site = bench.serve("ok", CERT=certificate(authority, bench.folder, "127.0.0.1"))
    peer = bench.peer(Target(site.url, environ={"SSL_CERT_FILE": str(ca)}))
    await peer.greet()


async def test_certificates_are_left_unchecked_only_where_that_is_said(
    bench: Bench, authority: trustme.CA
) -> None:
    site = bench.serve("ok", CERT=certificate(authority, bench.folder, "elsewhere.example"))
    peer = bench.peer(Target(site.url, insecure=True))
    await peer.greet()


async def test_an_unknown_authority_is_told_with_what_to_do(bench: Bench, authority: trustme.CA) -> None:
    site = bench.serve("ok", CERT=certificate(authority, bench.folder, "127.0.0.1"))
    peer = bench.peer(site)
    fault = await peer.ask("initialize", {})
    assert fault.kind == "unreachable"
    assert fault.sentence == (
        f"the certificate of 127.0.0.1:{site.port} was issued by an authority that this system does not know; "
        "name that authority's certificate under `ca` or in SSL_CERT_FILE"
    )


async def test_a_certificate_for_another_host_is_told_so(
    bench: Bench, authority: trustme.CA, ca: Path
) -> None:
    site = bench.serve("ok", CERT=certificate(authority, bench.folder, "other.example"))
    peer = bench.peer(Target(site.url, ca=ca))
    fault = await peer.ask("initialize", {})
    assert fault.sentence == f"the certificate of 127.0.0.1:{site.port} is for another host"


async def test_an_expired_certificate_is_told_so(bench: Bench, authority: trustme.CA, ca: Path) -> None:
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    site = bench.serve("ok", CERT=certificate(authority, bench.folder, "127.0.0.1", not_after=long_ago))
    peer = bench.peer(Target(site.url, ca=ca))
    fault = await peer.ask("initialize", {})
    assert fault.sentence == f"the certificate of 127.0.0.1:{site.port} has expired"


async def test_a_self_signed_certificate_is_told_so_and_can_be_named(bench: Bench) -> None:
    pem = self_signed(bench.folder)
    site = bench.serve("ok", CERT=pem)
    fault = await bench.peer(site).ask("initialize", {})
    assert fault.sentence == (
        f"the certificate of 127.0.0.1:{site.port} is self-signed; "
        "if it is meant to be, name its certificate under `ca`"
    )
    await bench.peer(Target(site.url, ca=Path(pem))).greet()


async def test_tls_with_a_server_that_speaks_none_is_told_so(bench: Bench) -> None:
    site = bench.serve("ok")
    peer = bench.peer(Target(site.url.replace("http:", "https:")))
    fault = await peer.ask("initialize", {})
    assert "does not speak TLS: should the url begin with http://?" in fault.sentence


@pytest.mark.parametrize("content", [None, "no certificate"])
async def test_certificates_that_cannot_be_read_are_named(bench: Bench, content: str | None) -> None:
    path = bench.folder / "mine.pem"
    if content is not None:
        path.write_text(content)
    peer = bench.peer(Target("https://127.0.0.1:1/", ca=path))
    fault = await peer.ask("ping")
    assert fault.kind == "unreachable"
    assert fault.sentence.startswith(f"the certificates in `ca` {path} cannot be read: ")


# ----------------------------------------------------------------------- unreachable


async def test_a_server_that_is_not_there_fails_requests_and_not_the_link(bench: Bench) -> None:
    port = free_port()
    peer = bench.peer(Target(f"http://127.0.0.1:{port}/mcp"))
    for _ in range(2):
        fault = await peer.ask("tools/list")
        assert fault == LinkFault("unreachable", f"nothing listens at 127.0.0.1:{port}")
    assert peer.running is not None and not peer.running.done()
    assert [one for one in peer.remarks() if one.startswith("unreachable")] == [
        f"unreachable: nothing listens at 127.0.0.1:{port}"
    ]


async def test_a_host_name_nobody_knows_is_told_so(bench: Bench) -> None:
    peer = bench.peer(Target("http://no-such-host.invalid:8000/mcp"))
    fault = await peer.ask("initialize", {})
    assert fault.kind == "unreachable"
    assert fault.sentence == "the host name of no-such-host.invalid:8000 is not known"


@pytest.fixture
def slammer() -> Iterator[int]:
    """A port that takes connections and closes each at once; yields it."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                listener.accept()[0].close()
            except OSError:
                return

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


async def test_a_connection_that_closes_at_once_is_tried_again_only_for_safe_requests(
    bench: Bench, slammer: int
) -> None:
    peer = bench.peer(Target(f"http://127.0.0.1:{slammer}/mcp"))
    assert (await peer.ask("tools/list")).kind == "lost"
    assert peer.waits == [0.5, 1.0]
    fault = await peer.call()
    assert fault.kind == "lost" and f"127.0.0.1:{slammer} ended before the answer" in fault.sentence
    assert peer.waits == [0.5, 1.0]


async def test_a_failure_ends_one_request_and_not_those_beside_it(bench: Bench) -> None:
    peer, _ = await bench.greeted("closes")
    assert isinstance(await peer.call(), LinkFault)
    assert isinstance(await peer.ask("ping"), Answer)


def free_port() -> int:
    """A port nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def self_signed(folder: Path) -> str:
    """A PEM file with key and certificate for 127.0.0.1 that nobody else signed."""
    import ipaddress
    from datetime import timedelta

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "box")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .sign(key, hashes.SHA256())
    )
    path = folder / "self.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return str(path)
