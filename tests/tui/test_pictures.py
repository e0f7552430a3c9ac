"""The pictures of the README: all there, none left over, small, and free of anything from outside."""

from __future__ import annotations

import re
from pathlib import Path

from screenshots import make

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "screenshots"
LARGEST = 60_000


def test_the_folder_holds_exactly_the_pictures_that_the_script_makes():
    assert {file.stem for file in FOLDER.glob("*.svg")} == set(make.PICTURES)
    assert {file.name for file in FOLDER.iterdir() if file.is_file() and file.suffix != ".svg"} == {"make.py"}


def test_every_picture_is_made_by_one_walk():
    made = [name for pictures in make.WALKS.values() for name in pictures]
    assert sorted(made) == sorted(make.PICTURES)


def test_texts_refer_only_to_pictures_that_exist():
    for file in ROOT.glob("*.md"):
        for name in re.findall(r"screenshots/([\w.-]+\.(?:svg|png))", file.read_text("utf-8")):
            assert (FOLDER / name).is_file(), f"{file.name} shows screenshots/{name}"


def test_a_picture_loads_nothing_and_tells_nothing_of_the_machine_it_was_made_on():
    for file in FOLDER.glob("*.svg"):
        text = file.read_text("utf-8")
        assert len(text) <= LARGEST, file.name
        assert not re.search(r"url\(\"|@import|<script|/tmp/|/root/", text), file.name
        assert str(ROOT) not in text, file.name


def test_a_run_is_cut_where_the_width_of_its_characters_changes():
    run = '<text class="r1" x="12.2" y="20" textLength="99" clip-path="url(#line-0)">a&#160;포트&lt;</text>'
    assert make.slim(f"<svg>{run}</svg>").splitlines()[1:-1] == [
        '<text class="r1" x="12.2" y="20" textLength="24.4">a </text>',
        '<text class="r1" x="36.6" y="20" textLength="48.8">포트</text>',
        '<text class="r1" x="85.4" y="20" textLength="12.2">&lt;</text>',
    ]
