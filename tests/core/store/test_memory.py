"""What hel remembers by itself."""

from pathlib import Path

from hel_tui.core.store.memory import Remembered, recall, remember
from hel_tui.core.store.places import find_places


def test_what_is_remembered_comes_back_and_the_rest_stays(tmp_path: Path) -> None:
    places = find_places({"HEL_HOME": str(tmp_path)})
    assert recall(places) == Remembered()
    assert remember(places, model="a/b", base_url="http://x") is None
    assert remember(places, model="c/d") is None
    assert recall(places) == Remembered("c/d", "http://x", (("c/d", ""), ("a/b", "http://x")))


def test_nonsense_in_the_file_is_passed_over(tmp_path: Path) -> None:
    places = find_places({"HEL_HOME": str(tmp_path)})
    places.state.mkdir()
    (places.state / "memory.toml").write_text('model = 3\nbase_url = "x"\nother = {a = -1}\n')
    assert recall(places) == Remembered(base_url="x")
