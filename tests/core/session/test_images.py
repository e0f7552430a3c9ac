"""Images on their way: from a tool to a model that sees, to the card, to the record, and no further."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hel_tui.core.store.places import find_places
from tests.fixtures.models.endpoint import ScriptedModel, call, calls, say
from tests.rig import Driver, environment

IMAGE, MISMATCH = "mcp__fix__image", "mcp__fix__mismatch"

PNG = base64.b64encode(
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (640).to_bytes(4, "big") + (480).to_bytes(4, "big") + b"\0" * 9
).decode()
"""What the server's tool `image` returns."""

Open = Callable[..., Driver]


def load(*names: str) -> dict[str, Any]:
    return call("load_mcp_tool", {"names": list(names)})


def settings(home: Path, text: str) -> None:
    folder = find_places(environment(home)).user_settings
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text(text)


def test_an_image_of_a_tool_goes_to_a_model_that_sees_and_to_the_record_as_a_path(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    settings(tmp_path, "vision = true\n")
    script = (load(IMAGE), calls(call(IMAGE, id="a"), call(IMAGE, id="b")), say("seen"))
    with play(*script, servers={"fix": "lists:weird-results"}, access="auto") as driver:
        assert driver.ask("look").reason == "done"
        card = driver.core.call("a")
    last = model.requests[2]["messages"][-1]
    assert last["role"] == "user"
    urls = [part["image_url"]["url"] for part in last["content"] if part["type"] == "image_url"]
    assert urls == [f"data:image/png;base64,{PNG}"] * 2
    assert card is not None and len(card.images) == 1
    assert f"[image png 640×480, saved: {card.images[0]}]" in card.result
    assert Path(card.images[0]).read_bytes() == base64.b64decode(PNG)
    (record,) = tmp_path.rglob("record.jsonl")
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    shots = [line["images"] for line in lines if line["kind"] == "result" and "images" in line]
    assert shots[0] == [{"image": "png 640×480", "bytes": 33, "path": card.images[0]}]
    assert PNG not in record.read_text()


def test_a_model_that_does_not_see_reads_the_marker(play: Open, model: ScriptedModel, tmp_path: Path) -> None:
    settings(tmp_path, "vision = false\n")
    script = (load(IMAGE), call(IMAGE), say("not seen"))
    with play(*script, servers={"fix": "lists:weird-results"}, access="auto") as driver:
        driver.ask("look")
    last = model.requests[2]["messages"][-1]
    assert last["role"] == "tool"
    assert "[image png 640×480, saved: " in last["content"]
    assert "image_url" not in json.dumps(model.requests)


def test_what_is_odd_about_a_result_stands_on_its_card_and_not_in_the_models_way(
    play: Open, model: ScriptedModel
) -> None:
    script = (load(MISMATCH), call(MISMATCH, id="a"), say("done"))
    with play(*script, servers={"fix": "lists:weird-results"}, access="auto") as driver:
        driver.ask("go")
        card = driver.core.call("a")
    assert card is not None
    (warning,) = card.warnings
    assert "does not fit its output schema: structuredContent.port" in warning
    assert '{"port": "8437"}' in model.requests[2]["messages"][-1]["content"]
    assert "schema" not in model.requests[2]["messages"][-1]["content"]
