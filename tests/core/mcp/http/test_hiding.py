"""Which values of headers are credentials: cookies too, each by itself."""

from __future__ import annotations

import pytest

from hel_tui.core.mcp.http.hiding import header_secrets


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("Set-Cookie", "sid=CookieSecretQQ99; Path=/; HttpOnly", "CookieSecretQQ99"),
        ("Cookie", "theme=dark; sid=ReqCookieQQ55", "ReqCookieQQ55"),
        ("Authorization", "Bearer abcdef123456", "abcdef123456"),
    ],
)
def test_what_is_secret_in_a_header_stands_alone(name: str, value: str, secret: str) -> None:
    assert secret in header_secrets([(name, value)])


def test_what_a_cookie_says_of_itself_is_no_secret() -> None:
    found = header_secrets(
        [("Set-Cookie", "sid=CookieSecretQQ99; Path=/somewhere-long; Domain=x.example.com")]
    )
    assert "/somewhere-long" not in found and "x.example.com" not in found
