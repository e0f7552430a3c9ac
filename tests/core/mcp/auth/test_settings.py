"""The `oauth` of an entry, in the words of several clients."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core.mcp.auth.settings import InvalidSettings, OAuthSettings, located, read_settings


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


def test_a_key_itself_is_a_secret_and_where_it_is_kept_is_none(tmp_path: Path) -> None:
    settings, _ = read_settings({"clientId": "a", "clientSecret": "hush", "privateKey": "keys/id.pem"})
    assert settings.secrets == ("hush",)
    assert located(settings, tmp_path, {}).private_key == str(tmp_path / "keys/id.pem")
    at_home = replace(settings, private_key="~/id.pem")
    assert located(at_home, tmp_path, {"HOME": "/home/ada"}).private_key == "/home/ada/id.pem"
    key = replace(settings, private_key="-----BEGIN PRIVATE KEY-----...")
    assert located(key, tmp_path, {}) == key
    assert key.secrets == ("hush", key.private_key)
