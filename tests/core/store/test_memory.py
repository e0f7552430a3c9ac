"""What hel remembers by itself."""

from pathlib import Path

from hel_tui.core.store.memory import Remembered, recall, remember
from hel_tui.core.store.places import find_places


def test_what_is_remembered_comes_back_and_the_rest_stays(tmp_path: Path) -> None:
    places = find_places({"HEL_HOME": str(tmp_path)})
    assert recall(places) == Remembered()
    assert remember(places, model="a/b", panes={"right": 30}) is None
    assert remember(places, theme="ash", panes={"log": 9}) is None
    assert recall(places) == Remembered("a/b", "", "ash", {"right": 30, "log": 9})


def test_nonsense_in_the_file_is_passed_over(tmp_path: Path) -> None:
    places = find_places({"HEL_HOME": str(tmp_path)})
    places.state.mkdir()
    (places.state / "memory.toml").write_text('model = 3\ntheme = "x"\npanes = {a = -1, b = true, c = 4}\n')
    assert recall(places) == Remembered(theme="x", panes={"c": 4})
