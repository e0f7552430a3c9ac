"""Which addresses are this machine, however they are written."""

from __future__ import annotations

import pytest

from hel_tui.core.addresses import is_loopback, without_secrets


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "127.9.9.9", "[::1]", "0.0.0.0", "[::]"),
        *("127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"),
    ],
)
def test_this_machine_is_recognised_however_its_address_is_written(host: str) -> None:
    assert is_loopback(f"https://{host}/")
    assert is_loopback(f"http://{host}:8080/path")


@pytest.mark.parametrize(
    "host",
    ["example.com", "127.example.com", "128.1", "10.0.0.1", "[::2]", "[::ffff:10.0.0.1]", "16777343", ""],
)
def test_another_machine_is_not_this_one(host: str) -> None:
    assert not is_loopback(f"https://{host}/")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:pass@example.com:8443/v1?key=abc#part", "https://example.com:8443/v1"),
        ("https://us@er:p@ss@example.com/", "https://example.com/"),
        ("//user:pass@example.com/v1", "//example.com/v1"),
        ("/v2/chat", "/v2/chat"),
        ("https://[broken", ""),
    ],
)
def test_an_address_for_a_sentence_has_nothing_that_may_be_a_secret(url: str, shown: str) -> None:
    assert without_secrets(url) == shown
