"""A call becomes a check in a file of its own, which says the same when it is read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.checks.check import FOLDER, Check
from hel_tui.core.checks.comparing import compare
from hel_tui.core.checks.reading import read_checks
from hel_tui.core.checks.running import Runner
from hel_tui.core.checks.saving import NotSaved, expected_of, save
from hel_tui.core.store.redact import Redactor

KINDS = ("exact", "subset", "schema", "snapshot")


def saved(
    project: Path, result: dict[str, Any], kind: str = "exact", name: str = "a check", **arguments: Any
) -> Check:
    check = Check(name, "s", "t", Path(), arguments, expected_of(result, kind))
    save(project, check, result, Redactor())
    return next(one for one in read_checks(project) if one.name == name)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_saved_passes_and_a_change_fails(tmp_path: Path, kind: str) -> None:
    result = {"content": [], "structuredContent": {"n": 1, "none": None, "text": 'a\n"""b'}}
    check = saved(tmp_path, result, kind, q=[1, {"x": "y"}])
    assert (check.problem, check.arguments) == ("", {"q": [1, {"x": "y"}]})
    runner = Runner(tmp_path, {})
    assert not runner.judge(check, result)
    result["structuredContent"]["n"] = "one"
    assert runner.judge(check, result)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), json_values, max_size=4))
def test_any_json_survives_the_file(value: dict[str, Any]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        result = {"content": [], "structuredContent": value}
        check = Check("n", "s", "t", Path(), {"v": value}, expected_of(result, "exact"))
        save(Path(folder), check, result, lambda text: text)
        (read,) = read_checks(Path(folder))
        if not read.problem:  # what looks like a credential is refused, wherever it comes from
            assert read.arguments == {"v": value}
            assert not compare(read, result)


def test_the_text_of_a_result_is_expected_where_it_has_no_value(tmp_path: Path) -> None:
    check = saved(tmp_path, {"content": [{"type": "text", "text": "one\ntwo"}]})
    assert check.expected.text == "one\ntwo"
    assert 'text = """' in (tmp_path / FOLDER / f"a-check-{check.file.stem[-6:]}.toml").read_text()


def test_no_file_that_is_there_is_touched(tmp_path: Path) -> None:
    first = saved(tmp_path, {"content": []}, name="one")
    before = (tmp_path / first.file).read_text()
    with pytest.raises(NotSaved, match="already"):
        saved(tmp_path, {"content": [{"type": "text", "text": "x"}]}, name="one")
    assert (tmp_path / first.file).read_text() == before


def test_names_of_all_languages_make_files(tmp_path: Path) -> None:
    assert saved(tmp_path, {"content": []}, name="포트 확인").file.name.startswith("포트-확인")
    assert saved(tmp_path, {"content": []}, name="../../x").file.parent == FOLDER


def test_a_credential_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(NotSaved, match=re.escape("${VAR}")):
        saved(tmp_path, {"content": []}, api_key="abcd1234efgh")
    with pytest.raises(NotSaved, match="credential"):
        saved(tmp_path, {"content": [{"type": "text", "text": "token ghp_0123456789abcdefghij"}]})
    assert read_checks(tmp_path) == ()


def test_a_link_in_the_place_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".hel").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotSaved, match="link"):
        saved(tmp_path, {"content": []})
    assert list((tmp_path / "elsewhere").iterdir()) == []
