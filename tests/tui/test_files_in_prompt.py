"""Files in the prompt: completing `@`, pasted paths of images, the system's clipboard."""

from __future__ import annotations

from pathlib import Path

import pytest

from hel_tui.core import protocol as p
from hel_tui.tui import mentions
from tests.tui import scenes
from tests.tui.driving import opened
from tests.tui.screen_text import screen_text


async def test_files_are_offered_as_they_are_found_and_enter_attaches_one():
    async with opened(scenes.busy_core()) as d:
        await d.type("see @ap")
        await d.until(lambda: p.FindFiles("ap") in d.core.commands)
        await d.put(p.FilesFound("ap", ("src/app.py", "docs/my app.md")))
        await d.until(lambda: "@src/app.py" in screen_text(d.app))
        await d.press("down", "enter", after=1)
        assert d.app.main.prompt.text == 'see @"docs/my app.md" '
        assert d.core.sent(p.Attach) == [p.Attach("", "docs/my app.md")]


async def test_what_was_found_for_another_word_is_offered_only_where_it_fits():
    async with opened(scenes.busy_core()) as d:
        await d.type("@a")
        await d.put(p.FilesFound("a", ("app.py", "main.py")))
        await d.type("p")
        assert "@app.py" in screen_text(d.app) and "@main.py" not in screen_text(d.app)
        asked = [one for one in d.core.commands if isinstance(one, p.FindFiles)]
        assert asked[-1] == p.FindFiles("ap"), "the core is asked again"


async def test_a_files_chip_has_its_path_and_goes_by_key():
    async with opened(scenes.busy_core()) as d:
        await d.put(
            p.AttachmentsChanged((p.Attachment("", "a/shot.png", "a/shot.png", "image/png", 9, 1_000),))
        )
        await d.until(lambda: "▤ a/shot.png" in screen_text(d.app))
        await d.press("alt+d")
        assert d.core.sent(p.Detach) == [p.Detach("", "a/shot.png")]


async def test_the_path_of_an_image_that_is_dropped_on_the_terminal_is_attached(tmp_path: Path):
    shot = tmp_path / "my shot.png"
    shot.write_bytes(b"x")
    async with opened(scenes.busy_core()) as d:
        d.app.main.prompt.take_paste(str(shot).replace(" ", "\\ ") + " ")
        await d.until(lambda: d.core.sent(p.Attach) == [p.Attach("", str(shot))])
        assert d.app.main.prompt.text == ""
        d.app.main.prompt.take_paste("/no/such/picture.png")
        assert d.app.main.prompt.text == "/no/such/picture.png", "what is no file is text"


async def test_pasting_from_the_system_asks_the_core_and_puts_text_in():
    async with opened(scenes.busy_core()) as d:
        d.app.copy_to_clipboard("copied in hel")
        await d.press("ctrl+v")
        await d.until(lambda: d.core.sent(p.PasteClipboard) == [p.PasteClipboard("copied in hel")])
        await d.put(p.Pasted("from the system"))
        await d.until(lambda: d.app.main.prompt.text == "from the system")


async def test_files_are_attached_and_the_clipboard_pasted_by_command():
    async with opened(scenes.busy_core()) as d:
        await d.type('/attach "~/my shot.png"')
        await d.press("enter", after=1)
        await d.type("/paste")
        await d.press("enter", after=1)
        assert d.core.sent(p.Attach) == [p.Attach("", "~/my shot.png")]
        assert d.core.sent(p.PasteClipboard)


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("/a/b.png", ["/a/b.png"]),
        ("'/a/my b.png'", ["/a/my b.png"]),
        ("/a/my\\ b.png", ["/a/my b.png"]),
        ("/a/my b.png", ["/a/my b.png"]),
        ("file:///a/my%20b.png", ["/a/my b.png"]),
        ("/a/b.png /c/d.JPG\n", ["/a/b.png", "/c/d.JPG"]),
        ("~/b.webp", ["~/b.webp"]),
        ("see /a/b.png", []),
        ("/a/b.txt", []),
        ("b.png", []),
        ("/a/b.png\nand more", []),
        ("'/a/b.png", []),
        ("", []),
    ],
)
def test_only_what_is_nothing_but_paths_of_images_counts_as_such(text, paths):
    assert mentions.pasted_files(text) == paths


async def test_a_message_that_is_back_in_the_prompt_is_sent_by_enter_though_it_ends_in_a_mention():
    async with opened(scenes.busy_core()) as d:
        await d.put(p.Unqueued("see @ap"))
        await d.until(lambda: d.app.main.prompt.text == "see @ap")
        await d.put(p.FilesFound("ap", ("src/app.py",)))
        await d.press("enter", after=1)
        await d.until(lambda: d.core.sent(p.Submit) == [p.Submit("see @ap")])
        assert not d.core.sent(p.Attach)
