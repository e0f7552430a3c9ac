"""Files of the person's in a message: text with its path, images as images, and what is refused."""

from __future__ import annotations

import base64
import contextlib
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.images import MAX_BYTES
from tests.fixtures.models.endpoint import ScriptedModel, say
from tests.rig import KEY, Driver, environment

Open = Callable[..., Driver]
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def user(body: dict[str, Any]) -> Any:
    """What the newest message of the person has."""
    return [message["content"] for message in body["messages"] if message["role"] == "user"][-1]


def sees(tmp_path: Path, on: bool) -> None:
    file = tmp_path / "hel" / "config" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"vision = {str(on).lower()}\n")


def test_a_mentioned_file_joins_with_its_path(play: Open, model: ScriptedModel, project: Path) -> None:
    (project / "notes").mkdir()
    (project / "notes" / "my plan.md").write_text("# plan\nstep one\n")
    with play(say("ok"), servers={}) as driver:
        assert driver.ask('compare @config.ini, and @"notes/my plan.md".').reason == "done"
    said = user(model.requests[0])
    assert said.startswith('compare @config.ini, and @"notes/my plan.md".')
    assert "[file config.ini]\nport=7000\n\n[end of file config.ini]" in said
    assert "[file notes/my plan.md]\n# plan\nstep one\n\n[end of file notes/my plan.md]" in said


@pytest.mark.parametrize(
    "text", ["ask me@config.ini", "@nothing.txt", "@/etc/hostname", "@../x", "@.", "a @ b"]
)
def test_what_names_no_file_of_the_project_stays_a_word(play: Open, model: ScriptedModel, text: str) -> None:
    with play(say("ok"), servers={}) as driver:
        assert driver.ask(text).reason == "done"
    assert user(model.requests[0]) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "see @nosuch.txt, please",
            ["@nosuch.txt is no file of the project: it goes to the model as a word."],
        ),
        (
            "@src/../gone/a.PY",
            ["@src/../gone/a.PY is no file of the project: it goes to the model as a word."],
        ),
        ("@app.route @pytest.fixture @alice.example me@nosuch.txt @word @nowhere:a.txt @types/node", []),
        ("@config.ini @config.ini.", []),
    ],
)
def test_a_file_that_is_meant_and_is_not_there_is_told(play: Open, text: str, said: list[str]) -> None:
    with play(say("ok"), servers={}) as driver:
        assert driver.ask(text).reason == "done"
        assert [one.text for one in driver.of(p.Notice)] == said


@pytest.mark.parametrize("named", ["fifo", "sock", "folder", "out", "x\ufffd", "folder/"])
def test_what_is_there_and_is_no_file_of_the_project_is_told_once(
    play: Open, model: ScriptedModel, project: Path, tmp_path: Path, named: str
) -> None:
    os.mkfifo(project / "fifo")
    with socket.socket(socket.AF_UNIX) as listening, contextlib.chdir(project):
        listening.bind("sock")
    (project / "folder").mkdir()
    (tmp_path / "outside").write_text("private")
    (project / "out").symlink_to(tmp_path / "outside")
    (project / os.fsdecode(b"x\xff")).write_text("odd")
    with play(say("ok"), servers={}) as driver:
        assert driver.ask(f"see @{named} and @{named}, @nobody @. @..").reason == "done"
        assert [one.text for one in driver.of(p.Notice)] == [
            f"@{named} is no file of the project: it goes to the model as a word."
        ]
    assert user(model.requests[0]) == f"see @{named} and @{named}, @nobody @. @.."


def test_a_path_elsewhere_is_told_like_any_other(play: Open, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("private")
    with play(say("ok"), servers={}) as driver:
        for named in ("/etc/passwd", "../outside", "~"):
            driver.ask(f"see @{named}")
            assert driver.of(p.Notice)[-1].text.startswith(f"@{named} is no file of the project")


def test_what_leads_out_of_the_project_or_into_hels_own_folder_stays_a_word(
    play: Open, model: ScriptedModel, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside.txt").write_text("private")
    (project / "link.txt").symlink_to(tmp_path / "outside.txt")
    (project / ".hel").mkdir()
    (project / ".hel" / "x.txt").write_text("own")
    with play(say("ok"), servers={}) as driver:
        driver.ask("see @link.txt and @.hel/x.txt")
    assert user(model.requests[0]) == "see @link.txt and @.hel/x.txt"


def test_an_image_goes_to_a_model_that_sees(
    play: Open, model: ScriptedModel, project: Path, tmp_path: Path
) -> None:
    sees(tmp_path, True)
    (project / "shot.dat").write_bytes(PNG)  # its bytes tell what it is, not its name
    with play(say("ok"), servers={}) as driver:
        driver.send(p.Attach("", "shot.dat"))
        driver.wait(lambda _: driver.of(p.AttachmentsChanged), "the attachment")
        (shown,) = driver.of(p.AttachmentsChanged)[-1].attachments
        assert (shown.server, shown.name, shown.mime, shown.size) == ("", "shot.dat", "image/png", len(PNG))
        driver.ask("what is this?")
        assert driver.of(p.TurnStarted)[-1].attachments == ("shot.dat",)
    text, image = user(model.requests[0])
    assert "[image shot.dat, png 1×1, saved: " in text["text"]
    assert image["image_url"]["url"].startswith("data:image/png;base64,")


def test_a_model_that_sees_nothing_is_told_of_before_anything_is_sent(
    play: Open, project: Path, tmp_path: Path
) -> None:
    sees(tmp_path, False)
    (project / "shot.png").write_bytes(PNG)
    with play(servers={}) as driver:
        driver.wait(lambda _: driver.of(p.ModelChanged), "the model")
        driver.send(p.Attach("", "shot.png"))
        driver.wait(lambda _: any("takes no images" in one.text for one in driver.of(p.Notice)), "a word")
        assert not driver.of(p.TurnStarted)


def test_an_endpoint_is_asked_beforehand_whether_a_model_nobody_knows_sees(
    play: Open, model: ScriptedModel, project: Path
) -> None:
    (project / "shot.png").write_bytes(PNG)
    with play(say("ok"), servers={}) as driver:
        driver.wait(lambda _: driver.of(p.ModelChanged), "the model")
        driver.send(p.Attach("", "shot.png"))
        driver.wait(lambda _: any("Nobody says that" in one.text for one in driver.of(p.Notice)), "a word")
        assert not driver.of(p.TurnStarted) and not model.requests
        driver.ask("what is this?")
        assert len([one for one in driver.of(p.Notice) if "Nobody says that" in one.text]) == 1
    assert isinstance(user(model.requests[0]), str)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("big.png", PNG + bytes(MAX_BYTES), "over 5 MiB"),
        ("program", b"\x7fELF\0\0\0\0" * 100, "neither text nor"),
        ("gone.txt", None, "no gone.txt"),
    ],
)
def test_what_cannot_be_attached_is_refused_in_a_sentence(
    play: Open, model: ScriptedModel, project: Path, name: str, content: bytes | None, said: str
) -> None:
    if content is not None:
        (project / name).write_bytes(content)
    with play(servers={}) as driver:
        driver.send(p.Attach("", name))
        driver.wait(lambda _: any(said in one.text for one in driver.of(p.Notice)), said)
        assert not driver.of(p.AttachmentsChanged)


def test_a_mentioned_file_that_cannot_be_sent_holds_the_message_back(
    play: Open, model: ScriptedModel, project: Path
) -> None:
    (project / "program").write_bytes(b"\x7fELF\0\0\0\0" * 100)
    with play(servers={}) as driver:
        end = driver.ask("run @program")
        assert end.reason == "failed" and end.message.endswith("Nothing was sent.")
    assert model.requests == []


def test_a_file_from_elsewhere_is_attached_when_the_person_names_it(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere.txt").write_text("from elsewhere")
    with play(say("ok"), servers={}) as driver:
        driver.send(p.Attach("", str(tmp_path / "elsewhere.txt")))
        driver.wait(lambda _: driver.of(p.AttachmentsChanged), "the attachment")
        driver.ask("look")
    assert "from elsewhere" in user(model.requests[0])


def test_a_long_file_goes_in_part_and_says_where_the_rest_is(
    play: Open, model: ScriptedModel, project: Path
) -> None:
    (project / "long.txt").write_text("begin\n" + "x" * 80_000 + "\nend")
    with play(say("ok"), servers={}) as driver:
        driver.send(p.Attach("", "long.txt"))
        driver.wait(lambda _: driver.of(p.AttachmentsChanged), "the attachment")
        assert driver.of(p.AttachmentsChanged)[-1].attachments[0].in_part
        driver.ask("look")
    said = user(model.requests[0])
    assert len(said) < 25_000 and "begin" in said and "end\n[end of file" in said
    assert "characters are left out here: read_file" in said


def test_a_secret_in_a_file_does_not_reach_the_model(play: Open, model: ScriptedModel, project: Path) -> None:
    (project / "keys.txt").write_text(f"key = {KEY}")
    with play(say("ok"), servers={}) as driver:
        driver.ask("see @keys.txt")
    assert KEY not in str(model.requests[0])


def test_files_are_found_by_name(play: Open, project: Path) -> None:
    with play(servers={}) as driver:
        driver.send(p.FindFiles("conf"))
        driver.wait(lambda _: driver.of(p.FilesFound), "files")
        assert driver.of(p.FilesFound)[-1] == p.FilesFound("conf", ("config.ini",))


# -------------------------------------------------------------------- clipboard


def clipboard(folder: Path, body: str) -> dict[str, str]:
    """A Wayland session whose wl-paste is this script."""
    folder.mkdir()
    program = folder / "wl-paste"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    path = f"{folder}:/usr/bin:/bin"
    return environment(folder.parent, HEL_API_KEY=KEY, WAYLAND_DISPLAY="wayland-0") | {"PATH": path}


def test_an_image_in_the_clipboard_is_attached(play: Open, tmp_path: Path) -> None:
    (tmp_path / "shot").write_bytes(PNG)
    body = f'case "$*" in --list-types) echo image/png;; *image/png*) cat {tmp_path}/shot;; esac'
    more = clipboard(tmp_path / "bin", body)
    with play(servers={}, environ=more) as driver:
        driver.send(p.PasteClipboard())
        driver.wait(lambda _: driver.of(p.AttachmentsChanged), "the attachment")
        (shown,) = driver.of(p.AttachmentsChanged)[-1].attachments
        assert (shown.name, shown.mime) == ("pasted-1", "image/png")


def test_text_in_the_clipboard_is_handed_on(play: Open, tmp_path: Path) -> None:
    body = 'case "$*" in --list-types) echo text/plain;; *) printf "some text";; esac'
    with play(servers={}, environ=clipboard(tmp_path / "bin", body)) as driver:
        driver.send(p.PasteClipboard())
        driver.wait(lambda _: p.Pasted("some text") in driver.events, "the text")


def test_without_a_program_the_person_is_told_what_to_install(play: Open, tmp_path: Path) -> None:
    with play(servers={}, environ=environment(tmp_path) | {"PATH": str(tmp_path)}) as driver:
        driver.send(p.PasteClipboard())
        driver.wait(lambda _: any("wl-clipboard" in one.text for one in driver.of(p.Notice)), "a word")


def test_without_a_program_what_was_copied_in_hel_is_pasted(play: Open, tmp_path: Path) -> None:
    with play(servers={}, environ=environment(tmp_path) | {"PATH": str(tmp_path)}) as driver:
        driver.send(p.PasteClipboard("copied here"))
        driver.wait(lambda _: p.Pasted("copied here") in driver.events, "the text")
        assert not driver.of(p.Notice)


def test_an_image_that_is_too_large_is_told_and_nothing_else_pasted(play: Open, tmp_path: Path) -> None:
    (tmp_path / "shot").write_bytes(PNG + bytes(MAX_BYTES))
    body = f'case "$*" in --list-types) echo image/png;; *image/png*) cat {tmp_path}/shot;; esac'
    with play(servers={}, environ=clipboard(tmp_path / "bin", body)) as driver:
        driver.send(p.PasteClipboard("copied here"))
        driver.wait(lambda _: any("over 5 MiB" in one.text for one in driver.of(p.Notice)), "a word")
        assert not driver.of(p.Pasted)
