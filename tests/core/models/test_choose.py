"""Which model and which key: what was named, what is found, and what is said when there is none."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from hel_tui.core.models import choose
from hel_tui.core.models.choose import (
    Choice,
    Opened,
    client_for,
    keys_found,
    list_models,
    no_model_note,
    open_model,
    resolve,
)
from hel_tui.core.models.local import LocalEngine, find_local, listed_models, local_places
from hel_tui.core.models.profiles import PROFILES, Profile, profile_of
from hel_tui.core.models.types import FREE, Finish, Prices, Rate, Request
from hel_tui.core.vocabulary import UserMessage
from tests.fixtures.models.endpoint import Endpoint, Exchange, ScriptedModel, say
from tests.fixtures.models.modes import MODES

URL = "http://127.0.0.1:9/v1"
NOTHING: dict[str, str] = {}


def no_keyring(_: str) -> None:
    return None


def chosen(model: str | None, base_url: str | None = None, environ: Mapping[str, str] = NOTHING) -> Choice:
    return resolve(model, base_url, environ=environ, keyring=no_keyring)


def test_a_known_provider_brings_its_address_key_and_window() -> None:
    choice = chosen("openai/gpt-4.1", environ={"OPENAI_API_KEY": "k"})
    assert choice.info is not None
    assert (choice.info.label, choice.info.base_url) == ("openai/gpt-4.1", "https://api.openai.com/v1")
    assert choice.info.window == 1_000_000
    assert choice.info.prices == Prices((Rate(2.0, 0.5, 8.0),))
    assert (choice.key, choice.key_source) == ("k", "OPENAI_API_KEY")


def test_a_name_tells_the_longest_answer_and_the_efforts() -> None:
    info = chosen("anthropic/claude-opus-4-8", environ={"ANTHROPIC_API_KEY": "k"}).info
    assert info is not None
    assert (info.window, info.max_output, info.thinks, info.sees) == (1_000_000, 128_000, True, True)
    assert info.efforts == ("none", "low", "medium", "high", "xhigh", "max")
    assert chosen("openai-responses/gpt-4.1", environ={"OPENAI_API_KEY": "k"}).info is not None
    unknown = chosen("acme/x", URL).info
    assert unknown is not None
    assert (unknown.window, unknown.max_output, unknown.thinks, unknown.efforts) == (0, 0, None, ())


@pytest.mark.parametrize("path", ["/chat/completions", "/messages", "/responses/"])
def test_an_address_with_the_path_of_an_api_is_its_base(path: str) -> None:
    info = chosen("anthropic/m", URL + path).info
    assert info is not None
    assert info.base_url == URL


def test_a_name_may_hold_slashes() -> None:
    choice = chosen("openrouter/deepseek/deepseek-v4", environ={"OPENROUTER_API_KEY": "k"})
    assert choice.info is not None
    assert (choice.info.provider, choice.info.name) == ("openrouter", "deepseek/deepseek-v4")


@pytest.mark.parametrize(
    ("environ", "key"),
    [
        ({"HEL_API_KEY": "h", "DEEPSEEK_API_KEY": "d"}, "h"),
        ({"DEEPSEEK_API_KEY": "d"}, "d"),
        ({"HEL_API_KEY": "  "}, ""),
        ({}, ""),
    ],
)
def test_with_a_base_url_hels_own_key_comes_first_and_none_is_fine(environ: dict[str, str], key: str) -> None:
    choice = chosen("deepseek/deepseek-flash", URL, environ)
    assert choice.info is not None
    assert choice.key == key


def test_without_a_base_url_the_providers_own_key_comes_first() -> None:
    environ = {"HEL_API_KEY": "h", "DEEPSEEK_API_KEY": "d"}
    assert chosen("deepseek/x", environ=environ).key == "d"
    assert chosen("deepseek/x", environ={"HEL_API_KEY": "h"}).key == "h"
    assert chosen("ollama/x", environ={"HEL_API_KEY": "h"}).key == ""


def test_what_runs_on_this_machine_costs_nothing_and_what_is_handed_on_has_no_known_price() -> None:
    def prices(model: str, url: str | None = None) -> Prices | None:
        info = chosen(model, url).info
        assert info is not None
        return info.prices

    assert prices("ollama/qwen3:8b") == prices("llamacpp/any") == FREE
    assert prices("ollama/gpt-oss:120b-cloud") is None
    assert prices("ollama/qwen3:8b", "http://127.0.0.1:9/v1") is None, "it may lead anywhere"


def test_the_keyring_is_asked_last_under_the_providers_name() -> None:
    asked: list[str] = []

    def keyring(name: str) -> str:
        asked.append(name)
        return "from the keyring"

    choice = resolve("deepseek/x", None, environ={}, keyring=keyring)
    assert (choice.key, choice.key_source) == ("from the keyring", "keyring hel deepseek")
    resolve("deepseek/x", None, environ={"DEEPSEEK_API_KEY": "d"}, keyring=keyring)
    assert asked == ["deepseek"]


def test_a_missing_key_is_named_with_what_to_do() -> None:
    choice = chosen("deepseek/deepseek-chat")
    assert choice.info is None
    assert "DEEPSEEK_API_KEY" in choice.note


@pytest.mark.parametrize(
    ("model", "base_url", "words"),
    [
        ("gpt-4", None, "PROVIDER/NAME"),
        ("/x", None, "PROVIDER/NAME"),
        ("acme/x", None, "--base-url"),
        ("acme/x", "localhost:8000", "http://"),
        ("acme/x", "http://[::1/v1", "http://"),
        ("acme/x", "http://host:99999/v1", "http://"),
        ("acme/x", "http:///v1", "http://"),
        ("acme/x", "http://me:secret@host/v1", "HEL_API_KEY"),
    ],
)
def test_what_cannot_be_used_is_said(model: str, base_url: str | None, words: str) -> None:
    choice = chosen(model, base_url)
    assert choice.info is None
    assert words in choice.note
    assert "secret" not in choice.note


def test_an_unknown_provider_with_a_base_url_takes_a_variable_of_its_own_name() -> None:
    choice = chosen("my-co/x", f" {URL}/chat/completions/ ", {"MY_CO_API_KEY": "m"})
    assert choice.info is not None
    assert choice.info.base_url == URL
    assert choice.key == "m"


def test_keys_are_named_and_never_shown() -> None:
    environ = {"DEEPSEEK_API_KEY": "sk-secret", "OPENAI_API_KEY": "", "OTHER_API_KEY": "x"}
    assert keys_found(environ) == (("deepseek", "DEEPSEEK_API_KEY"),)
    note = no_model_note(environ, (LocalEngine("ollama", URL, ("qwen3:8b",)),))
    assert "DEEPSEEK_API_KEY" in note
    assert "--model ollama/qwen3:8b" in note
    assert "sk-secret" not in note
    assert "sk-secret" not in repr(chosen("deepseek/x", environ=environ))
    assert "\n" not in note
    assert "--model PROVIDER/NAME" in no_model_note({})


# ------------------------------------------------------------ on this machine


async def test_local_engines_are_found_with_their_models_and_quiet_ports_are_not() -> None:
    async with ScriptedModel() as closed:
        pass
    async with ScriptedModel(models=["qwen3:8b", "a\x1b[31mb"]) as engine:
        found = await find_local(2.0, [("ollama", engine.url), ("vllm", closed.url)])
    assert found == (LocalEngine("ollama", engine.url, ("qwen3:8b", "ab")),)


async def test_an_engine_that_does_not_answer_is_not_waited_for() -> None:
    silent = await asyncio.start_server(lambda _reader, _writer: asyncio.sleep(5), "127.0.0.1", 0)
    url = f"http://127.0.0.1:{silent.sockets[0].getsockname()[1]}/v1"
    async with asyncio.timeout(4):
        assert await find_local(0.1, [("ollama", url)]) == ()
    silent.close()


@pytest.mark.parametrize("page", ["<html>hello</html>", "{}", '{"data": 7}', "[" * 100_000])
async def test_a_service_that_is_no_engine_is_not_taken_for_one(page: str) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if await reader.readline():
            writer.write(f"HTTP/1.0 200 OK\r\nContent-Length: {len(page)}\r\n\r\n{page}".encode())
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    assert await find_local(2.0, [("llamacpp", url)]) == ()
    assert "the OpenAI way" in (await listed_models(url, "", 2.0))[1]
    server.close()


def test_the_usual_ports_are_looked_at() -> None:
    assert [url.split(":")[2] for _, url in local_places()] == ["11434/v1", "1234/v1", "8080/v1", "8000/v1"]


async def test_models_are_listed_for_a_picker() -> None:
    async with ScriptedModel(models=["a", "b"]) as endpoint:
        listing = await list_models(chosen("my/x", endpoint.url, {"HEL_API_KEY": "k"}))
        assert endpoint.exchanges[0].headers["authorization"] == "Bearer k"
    assert listing.names == ("a", "b")
    gone = await list_models(chosen("my/x", endpoint.url))
    assert gone.names == ()
    assert "could not be asked" in gone.problem


@pytest.mark.parametrize(
    ("provider", "header", "query", "listed"),
    [
        (
            "anthropic",
            "x-api-key",
            "?limit=1000",
            {
                "data": [{"type": "model", "id": "claude-opus-5-5", "max_input_tokens": 1000}],
                "has_more": False,
            },
        ),
        (
            "gemini",
            "x-goog-api-key",
            "?pageSize=1000",
            {
                "models": [
                    {
                        "name": "models/gemini-3-flash",
                        "inputTokenLimit": 1000,
                        "supportedGenerationMethods": ["generateContent"],
                    },
                    {"name": "models/embedding-1", "supportedGenerationMethods": ["embedContent"]},
                ]
            },
        ),
    ],
)
async def test_models_are_listed_in_the_way_of_each_api(
    monkeypatch: pytest.MonkeyPatch, provider: str, header: str, query: str, listed: object
) -> None:
    async def lists(endpoint: Endpoint, exchange: Exchange) -> None:
        endpoint.exchanges.append(exchange)
        await exchange.answer(200, listed)

    monkeypatch.setattr(Endpoint, "_answer", lists)
    async with Endpoint(MODES["ok-text"]) as endpoint:
        choice = chosen(f"{provider}/x", endpoint.url, {"HEL_API_KEY": "k"})
        found, problem = await listed_models(endpoint.url, "k", 5.0, profile_of(provider).dialect.api)
        assert (await list_models(choice)).names == tuple(one.name for one in found)
    assert problem == ""
    assert [one.window for one in found] == [1000]
    assert endpoint.exchanges[0].headers[header] == "k"
    assert endpoint.exchanges[0].path == f"/v1/models{query}"


# --------------------------------------------------------------------- opening


async def opened(model: str | None, base_url: str | None, environ: Mapping[str, str] = NOTHING) -> Opened:
    return await open_model(model, base_url, environ=environ, keyring=no_keyring)


async def test_an_opened_model_answers() -> None:
    async with ScriptedModel([say("hi")]) as endpoint:
        result = await opened("openai-compatible/scripted", endpoint.url, {"HEL_API_KEY": "k"})
        assert result.model is not None
        parts = [part async for part in result.model.stream(Request((UserMessage("hi"),)))]
        await result.model.aclose()
    assert isinstance(parts[-1], Finish)
    assert endpoint.exchanges[0].headers["authorization"] == "Bearer k"


async def test_opening_a_named_model_contacts_nobody() -> None:
    async with Endpoint(MODES["ok-text"]) as endpoint:
        result = await opened("deepseek/deepseek-flash", endpoint.url)
        assert result.model is not None
        await result.model.aclose()
        assert endpoint.connections == 0


async def test_a_local_engine_is_asked_for_the_window_of_its_model(monkeypatch: pytest.MonkeyPatch) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if await reader.readline():
            data = '{"data": [{"id": "m", "max_model_len": 4096}, {"id": "n", "meta": {"n_ctx": 2048}}, {}]}'
            writer.write(f"HTTP/1.0 200 OK\r\nContent-Length: {len(data)}\r\n\r\n{data}".encode())
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    monkeypatch.setitem(PROFILES, "vllm", Profile("vllm", url))
    monkeypatch.setattr(choose, "ASK_LIMIT", 5.0)
    for name, window in (("m", 4096), ("n", 2048), ("absent", 0)):
        result = await opened(f"vllm/{name}", None)
        assert result.model is not None
        assert result.model.info.window == window
        assert result.note == ("" if window else "vllm does not list absent; its models: m, n.")
        await result.model.aclose()
    server.close()


async def test_a_base_url_alone_takes_the_one_model_it_has() -> None:
    async with ScriptedModel(models=["only"]) as endpoint:
        result = await opened(None, endpoint.url)
        assert result.model is not None
        assert result.model.info.label == "openai-compatible/only"
        await result.model.aclose()
    async with ScriptedModel(models=["a", "b"]) as endpoint:
        assert (await opened(None, endpoint.url)).note.endswith("The endpoint has: a, b")


async def test_a_choice_without_a_model_opens_nothing() -> None:
    assert (await opened("deepseek/x", None)).model is None
    with pytest.raises(ValueError, match="no model"):
        client_for(Choice())
