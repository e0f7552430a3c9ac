"""Files of the person's in a message, in a pseudo-terminal: `@`, a dropped image, the clipboard."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.session.test_own_files import PNG, clipboard, sees
from tests.e2e.program import hel, submit
from tests.e2e.terminal import Terminal
from tests.fixtures.models.endpoint import Json, ScriptedModel, say

DROPPED = "\x1b[200~{}\x1b[201~"
"""How a terminal hands on what is dropped on it: a paste in brackets."""


def lay(folder: Path) -> Path:
    """A project with a text and an image, and another image in the clipboard's program."""
    project = folder / "project"
    (project / "src").mkdir(parents=True)
    (project / "src" / "settings.py").write_text("PORT = 7000\n")
    (folder / "my shot.png").write_bytes(PNG)
    (folder / "copied.png").write_bytes(PNG)
    return project


def opened(folder: Path, url: str, size: tuple[int, int]) -> Terminal:
    body = f'case "$*" in --list-types) echo image/png;; *image/png*) cat {folder}/copied.png;; esac'
    path = clipboard(folder / "bin", body)["PATH"]
    return hel(folder, "--no-mcp", url=url, size=size, PATH=path, WAYLAND_DISPLAY="wayland-0")


def content(body: Json) -> list[Json]:
    return [message["content"] for message in body["messages"] if message["role"] == "user"][-1]


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["120x40", "80x24"])
def test_a_file_a_dropped_image_and_a_copied_one_go_along(tmp_path: Path, size: tuple[int, int]) -> None:
    lay(tmp_path)
    sees(tmp_path, True)
    with ScriptedModel([say("I see them.")]) as model, opened(tmp_path, model.url, size) as terminal:
        terminal.wait("ask, /command, @file or resource, !shell")
        terminal.type("what of @sett")
        terminal.wait("@src/settings.py")
        terminal.press("enter")
        terminal.wait(r"▤ src/settings\.py")
        terminal.press(DROPPED.format(str(tmp_path / "my shot.png").replace(" ", "\\ ")))
        terminal.wait(r"▤ .*(my shot\.png|\+1)")
        terminal.press("\x16")
        terminal.wait(r"▤ .*(pasted-1|\+2)")
        terminal.wait_idle(0.3)
        terminal.press("enter")
        terminal.wait(r"I see them\.")
    text, *images = content(model.requests[0])
    assert text["text"].startswith("what of @src/settings.py")
    assert "[file src/settings.py]\nPORT = 7000\n" in text["text"]
    assert [image["type"] for image in images] == ["image_url"] * 2


def test_a_model_that_sees_nothing_is_told_of_before_the_message_is_sent(tmp_path: Path) -> None:
    lay(tmp_path)
    sees(tmp_path, False)
    with ScriptedModel([say("I read of them.")]) as model, opened(tmp_path, model.url, (80, 24)) as terminal:
        submit(terminal, "/paste")
        terminal.wait("Of pasted-1 it")
        assert model.requests == []
        submit(terminal, "what is it?")
        terminal.wait(r"I read of them\.")
    assert "[image pasted-1, png 1×1, saved: " in str(content(model.requests[0]))
    assert "image_url" not in str(model.requests[0])
