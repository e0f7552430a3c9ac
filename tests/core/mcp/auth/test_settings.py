"""The `oauth` of an entry, in the words of several clients."""

from __future__ import annotations

from typing import Any

import pytest

from hel_tui.core.mcp.auth.settings import InvalidSettings, OAuthSettings, filled, read_settings


def test_without_anything_hel_finds_out() -> None:
    assert read_settings(None) == read_settings(True) == read_settings({}) == (OAuthSettings(), ())
    assert not read_settings(False)[0].enabled
    assert not read_settings({"enabled": False})[0].enabled


def test_both_spellings_are_read() -> None:
    camel = {
        "clientId": "a",
        "clientSecret": "b",
        "callbackPort": 8080,
        "scopes": "read write",
        "clientMetadataUrl": "https://x/y",
        "authServerMetadataUrl": "https://as/z",
        "redirectUri": "http://localhost:1/cb",
    }
    snake = {
        "client_id": "a",
        "client_secret": "b",
        "callback_port": "8080",
        "scope": ["read", "write"],
        "client_metadata_url": "https://x/y",
        "auth_server_metadata_url": "https://as/z",
        "redirect_uri": "http://localhost:1/cb",
    }
    assert read_settings(camel) == read_settings(snake)
    assert read_settings(camel)[0].callback_port == 8080


def test_unknown_keys_are_named() -> None:
    assert read_settings({"clientId": "a", "flow": "device"})[1] == ("flow",)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("yes", "object"),
        ([], "object"),
        ({"clientId": 5}, "oauth.clientId"),
        ({"callbackPort": 0}, "port"),
        ({"callbackPort": 65536}, "port"),
        ({"callbackPort": True}, "port"),
        ({"callbackPort": "x"}, "port"),
        ({"scopes": [1]}, "oauth.scopes"),
        ({"enabled": "no"}, "true or false"),
        ({"grant": "password"}, "oauth.grant"),
        ({"grant": "client_credentials"}, "oauth.clientId"),
        ({"tokenEndpointAuthMethod": "magic"}, "must be one of"),
        ({"clientId": "a", "tokenEndpointAuthMethod": "private_key_jwt"}, "oauth.privateKey"),
        ({"clientSecret": "a"}, "clientId"),
    ],
)
def test_what_cannot_be_used_is_a_sentence_with_its_key(raw: Any, said: str) -> None:
    with pytest.raises(InvalidSettings, match=said):
        read_settings(raw)


def test_variables_are_filled_in_where_they_may_stand() -> None:
    settings, _ = read_settings({"clientId": "${ID}", "clientSecret": "${keyring:shop}", "scopes": "${S}"})
    full = filled(settings, lambda text: text.replace("${ID}", "me").replace("${keyring:shop}", "hush"))
    assert (full.client_id, full.client_secret, full.scopes) == ("me", "hush", ("${S}",))
    assert full.secrets == ("hush",)
