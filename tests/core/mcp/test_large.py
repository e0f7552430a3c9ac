"""Large JSON read in pieces says the same as read at once, and lets other threads have their turn."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hel_tui.core.mcp import large
from hel_tui.core.mcp.large import JsonText, read_large, same_but_space
from hel_tui.core.mcp.messages import Answer, parse_line
from hel_tui.core.mcp.results import to_outcome
from hel_tui.core.store.files import SessionFiles

HERE = ("result", "structuredContent")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=30,
)


@pytest.fixture
def small_windows() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large, "WINDOW", 7)
        yield


in_small_windows = pytest.mark.usefixtures("small_windows")


@in_small_windows
@given(JSON, st.booleans(), st.sampled_from([None, 1]))
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pieces_say_what_the_whole_says(value: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert read_large(f" {text}\n", ("nowhere",)) == value


@in_small_windows
@given(st.text(alphabet='{}[]",:\\ud8 1e-.ntrue', max_size=40))
@settings(max_examples=500, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_no_json_at_once_is_none_in_pieces(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(ValueError):
            read_large(text, HERE)
    else:
        assert read_large(text, HERE) == expected


@pytest.mark.parametrize("item", ["1.25", "null", '"a, [b]"', "[1, 2]", '{"a": 1}'])
def test_long_arrays_are_read_in_bulk(item: str) -> None:
    text = f'{{"result": [{", ".join([item] * 200_000)}], "id": 1}}'

    def cost(read: Callable[[], Any]) -> float:
        began = time.process_time()
        assert len(read()["result"]) == 200_000
        return time.process_time() - began

    at_once = min(cost(lambda: json.loads(text)) for _ in range(3))
    in_pieces = min(cost(lambda: read_large(text, HERE)) for _ in range(3))
    assert in_pieces < 15 * max(at_once, 0.005)


@in_small_windows
def test_a_large_structured_result_stays_text_and_a_small_one_does_not() -> None:
    structured = {"rows": [{"id": n, "name": "é\n"} for n in range(5)]}
    read = read_large(json.dumps({"id": 1, "result": {"content": [], "structuredContent": structured}}), HERE)
    kept = read["result"]["structuredContent"]
    assert isinstance(kept, JsonText) and json.loads(kept) == structured
    assert read_large('{"result": {"structuredContent": {}}}', HERE) == {"result": {"structuredContent": {}}}
    with pytest.raises(ValueError):
        read_large('{"result": {"structuredContent": {"rows": [1, 2, 3,, 4]}}}', HERE)


@in_small_windows
def test_texts_are_compared_without_their_white_space() -> None:
    value = {"a": list(range(50))}
    assert same_but_space(json.dumps(value, indent=2), json.dumps(value))
    assert not same_but_space(json.dumps(value), json.dumps({"a": list(range(51))}))


def _answer(rows: int, *, with_text: bool = False) -> bytes:
    structured = {"rows": [{"id": n, "name": f"row {n}", "v": [1, 2, 3]} for n in range(rows)]}
    content = [{"type": "text", "text": json.dumps(structured, indent=1)}] if with_text else []
    result = {"content": content, "structuredContent": structured}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()


def test_a_large_answer_becomes_a_result_with_its_text_once(tmp_path: Any) -> None:
    for with_text in (False, True):
        (answer,) = parse_line(_answer(40_000, with_text=with_text))
        assert isinstance(answer, Answer)
        outcome = to_outcome("s", "t", answer.result, SessionFiles(tmp_path))
        assert outcome.full is not None and outcome.full.count('"row 39999"') == 1
        assert len(json.loads(outcome.full)["rows"]) == 40_000
        assert len(outcome.text) < 10_000


def test_other_threads_go_on_while_a_large_answer_is_read() -> None:
    line = _answer(120_000)
    turns, over = 0, threading.Event()

    def count() -> None:
        nonlocal turns
        while not over.wait(0.001):
            turns += 1

    other = threading.Thread(target=count)
    other.start()
    parse_line(line)
    over.set()
    other.join()
    assert turns > 10, "read at once, another thread would have hardly a turn"
