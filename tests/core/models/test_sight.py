"""Which models take images: by name, by what endpoints tell, and by what they refuse."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from hel_tui.core.models.choose import resolve
from hel_tui.core.models.client import ChatClient
from hel_tui.core.models.faults import Failure, refused_images
from hel_tui.core.models.profiles import profile_of
from hel_tui.core.models.sight import asked, sees_by_name
from hel_tui.core.models.types import Finish, ModelFault, ModelInfo, Request
from hel_tui.core.vocabulary import Image, UserMessage
from tests.fixtures.models.endpoint import Endpoint, Exchange

PNG = Image("image/png", b"png", None, 3, 2)
GIF = Image("image/gif", b"gif", None, 5, 4)


@pytest.mark.parametrize(
    "name",
    [
        "gpt-4o",
        "openai/gpt-4.1-mini",
        "gpt-5.4",
        "o3",
        "o4-mini",
        "anthropic/claude-sonnet-4.5",
        "google/gemini-2.5-flash",
        "gemma3:12b",
        "google/gemma-3-27b-it",
        "llama3.2-vision",
        "meta-llama/llama-4-scout",
        "qwen2.5vl:7b",
        "qwen/qwen3-vl-235b-a22b-instruct",
        "Qwen2.5-VL-72B-Instruct",
        "llava:13b",
        "pixtral-12b",
        "z-ai/glm-4.6v",
        "deepseek-vl2",
        "moonshotai/kimi-k2.5",
    ],
)
def test_names_of_models_that_see_are_known(name: str) -> None:
    assert sees_by_name(name) is True


@pytest.mark.parametrize(
    "name",
    [
        "deepseek-chat",
        "deepseek/deepseek-v4-pro",
        "gpt-3.5-turbo",
        "gpt-4-0613",
        "gpt-4",
        "gpt-oss:20b",
        "o3-mini",
        "gemma3:1b",
        "qwen3-coder",
        "mistralai/mixtral-8x7b",
    ],
)
def test_names_of_models_that_do_not_are_known_too(name: str) -> None:
    assert sees_by_name(name) is False


@pytest.mark.parametrize("name", ["qwen3:8b", "llama3.1:8b", "my-model", "solo-3b", "vladimir", "mistral-7b"])
def test_other_names_say_nothing(name: str) -> None:
    assert sees_by_name(name) is None


def test_a_setting_decides_and_names_do_where_they_can_be_believed() -> None:
    def sees(model: str, url: str | None = None, vision: bool | None = None) -> bool | None:
        choice = resolve(model, url, environ={"HEL_API_KEY": "k"}, keyring=lambda _name: None, vision=vision)
        assert choice.info is not None
        return choice.info.sees

    assert sees("openai/gpt-4o") is True
    assert sees("deepseek/deepseek-chat") is False
    assert sees("openai/gpt-4o", vision=False) is False
    assert sees("ollama/qwen3", vision=True) is True
    assert sees("ollama/llava") is None
    assert sees("openai/gpt-4o", "http://127.0.0.1:1/v1") is None


class Telling(Endpoint):
    """An endpoint that tells of its models at other paths."""

    def __init__(self, pages: dict[str, Any]) -> None:
        super().__init__(_never)
        self.pages = pages

    async def _answer(self, exchange: Exchange) -> None:
        self.exchanges.append(exchange)
        page = self.pages.get(exchange.path.partition("?")[0])
        await exchange.answer(404 if page is None else 200, page)


async def _never(_exchange: Exchange) -> None:
    raise AssertionError("no chat was expected")


@pytest.mark.parametrize(
    ("provider", "path", "page", "sees"),
    [
        ("llamacpp", "/props", {"modalities": {"vision": True, "audio": False}}, True),
        ("llamacpp", "/props", {"modalities": {"vision": False}}, False),
        ("ollama", "/api/show", {"capabilities": ["completion", "vision"]}, True),
        ("ollama", "/api/show", {"capabilities": ["completion", "tools"]}, False),
        ("lmstudio", "/api/v0/models", {"data": [{"id": "a/m", "type": "vlm"}]}, True),
        ("lmstudio", "/api/v0/models", {"data": [{"id": "a/m", "type": "llm"}]}, False),
        (
            "openrouter",
            "/v1/models/a/m/endpoints",
            {"data": {"architecture": {"input_modalities": ["text", "image"]}}},
            True,
        ),
        ("any", "/v1/models", {"data": [{"id": "a/m", "capabilities": {"vision": True}}]}, True),
        (
            "any",
            "/v1/models",
            {"data": [{"id": "a/m", "architecture": {"input_modalities": ["text"]}}]},
            False,
        ),
        ("any", "/props", {"modalities": {"vision": True}}, True),
        ("any", "/v1/models", {"data": [{"id": "a/m"}, 7]}, None),
        ("any", "/v1/models", "<html>", None),
        ("vllm", "/v1/models", [], None),
        ("lmstudio", "/api/v0/models", {"data": 7}, None),
    ],
)
async def test_an_endpoint_that_tells_is_believed(
    provider: str, path: str, page: Any, sees: bool | None
) -> None:
    async with Telling({path: page}) as endpoint:
        assert await asked(ModelInfo(provider, "a/m", endpoint.url), "k", 10.0) is sees


async def test_an_endpoint_that_is_away_says_nothing() -> None:
    async with Telling({}) as endpoint:
        pass
    assert await asked(ModelInfo("any", "m", endpoint.url), "", 10.0) is None


def refusal(status: int, said: str) -> Failure:
    return Failure(ModelFault("request", said, status), said=said)


@pytest.mark.parametrize(
    ("status", "said", "verdict"),
    [
        (400, "Invalid content type. image_url is only supported by certain models.", "model"),
        (400, "messages[13]: unknown variant image_url, expected text at line 1", "model"),
        (500, 'Failed to parse messages: Unsupported content part type: "image_url"; messages', "model"),
        (500, "image input is not supported - hint: you may need to provide the mmproj", "model"),
        (404, "No endpoints found that support image input", "model"),
        (400, "At most 0 image(s) may be provided in one prompt.", "model"),
        (400, "this model is missing data required for image input", "model"),
        (400, "Model do not support image input. Request id: 02", "model"),
        (400, "'messages.1.content' must be a string", "model"),
        (422, '[{"loc": ["messages", 1, "content"], "msg": "Input should be a valid string"}]', "model"),
        (400, "You uploaded an unsupported image. Please make sure your image is valid.", "images"),
        (400, "Could not process image", "images"),
        (400, "image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes", "images"),
        (400, "Cannot decode or download image", "images"),
        (413, "Request Entity Too Large", "images"),
        (400, "temperature must be below 2", ""),
        (401, "no image for you", ""),
        (429, "too many image requests", ""),
    ],
)
def test_a_refusal_of_images_is_told_apart(status: int, said: str, verdict: str) -> None:
    assert refused_images(refusal(status, said)) == verdict


class Refusing(Endpoint):
    """Refuses requests with images in these words, once for each, and answers all others."""

    def __init__(self, status: int, *words: str) -> None:
        super().__init__(self._judge)
        self.words = list(words)
        self.status = status

    async def _judge(self, exchange: Exchange) -> None:
        if b"image_url" in exchange.body and self.words:
            await exchange.answer(self.status, {"error": {"message": self.words.pop(0)}})
            return
        await exchange.start()
        await exchange.delta(content="fine", finish="stop")
        await exchange.done()


async def told(model: ChatClient, images: Sequence[Image]) -> Finish:
    parts = [part async for part in model.stream(Request((UserMessage("look", tuple(images)),)))]
    assert isinstance(parts[-1], Finish)
    return parts[-1]


async def test_a_model_that_refuses_images_gets_the_request_without_and_none_later() -> None:
    async with Refusing(400, "image_url is not supported", "never said") as endpoint:
        model = ChatClient(ModelInfo("any", "m", endpoint.url, sees=True), profile_of("any"))
        finish = await told(model, [PNG])
        assert finish.message.text == "fine"
        assert finish.notes == ("any/m takes no images. They are sent as their markers only.",)
        assert model.info.sees is False
        assert (await told(model, [PNG])).notes == ()
        await model.aclose()
    assert ["image_url" in json.dumps(body) for body in endpoint.requests] == [True, False, False]


async def test_an_image_that_is_refused_is_left_out_and_others_still_go() -> None:
    async with Refusing(400, "Could not process image") as endpoint:
        model = ChatClient(ModelInfo("any", "m", endpoint.url, sees=True), profile_of("any"))
        finish = await told(model, [PNG])
        assert "Could not process image" in finish.notes[0]
        await told(model, [PNG, GIF])
        await model.aclose()
    sent = [json.dumps(body) for body in endpoint.requests]
    assert ["image/png" in body for body in sent] == [True, False, False]
    assert "image/gif" in sent[2]


async def test_an_endpoint_is_asked_once_and_only_when_there_is_an_image() -> None:
    async with Refusing(400) as endpoint:
        model = ChatClient(ModelInfo("any", "llava", endpoint.url), profile_of("any"))
        await told(model, [])
        assert [one.path for one in endpoint.exchanges] == ["/v1/chat/completions"]
        await told(model, [PNG])
        assert model.info.sees is True  # it tells nothing of it, but the name does
        count = len(endpoint.exchanges)
        await told(model, [PNG])
        assert len(endpoint.exchanges) == count + 1
        await model.aclose()
    assert "image/png" in json.dumps(endpoint.requests[-1])


async def test_a_model_nobody_knows_gets_markers_only() -> None:
    async with Refusing(400) as endpoint:
        model = ChatClient(ModelInfo("any", "my-model", endpoint.url), profile_of("any"))
        finish = await told(model, [PNG])
        assert finish.notes == (
            "Nobody says that any/my-model takes images (`vision = true` in the settings does). "
            "They are sent as their markers only.",
        )
        assert model.info.sees is False
        await model.aclose()
    assert endpoint.requests[-1]["messages"] == [{"role": "user", "content": "look"}]
