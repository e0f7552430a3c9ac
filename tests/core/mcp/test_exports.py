"""A trace or a log as a file: complete, redacted, private, never over another."""

from __future__ import annotations

import io
import json
import stat
from pathlib import Path

import pytest

from hel_tui.core.mcp.bodies import LONGEST
from hel_tui.core.mcp.exports import (
    NotExported,
    Written,
    messages,
    to_file,
    write_har,
    write_jsonl,
    write_log,
)
from hel_tui.core.mcp.frames import FrameStore
from hel_tui.core.mcp.logs import LogStore
from hel_tui.core.protocol import FrameQuery, HttpExchange, LogQuery


def _mask(text: str) -> str:
    return text.replace("s3cret", "•")


def _http() -> FrameStore:
    store = FrameStore(mask=_mask)
    asked = store.add("out", "request", b'{"id": 1, "k": "s3cret"}', method="tools/call", id="1", tool="t")
    number = store.add("out", "http", b"", method="POST", summary="/mcp", size=24)
    store.carried(asked, number)
    headers = (("content-type", "application/json"),)
    store.exchanged(number, HttpExchange("POST", "http://x/mcp?a=1", 200, "", 0.25, headers, headers, 24))
    store.add("in", "result", b'{"id": 1, "result": {}}', answers=asked, exchange=number, method="tools/call")
    other = store.add("out", "http", b"", method="GET", summary="/mcp")
    store.exchanged(other, HttpExchange("GET", "http://x/mcp", 405, "", 0.1))
    return store


def test_json_lines_have_a_frame_each_with_its_body_as_json() -> None:
    file = io.StringIO()
    assert write_jsonl(_http(), None, file) == Written(4)
    rows = [json.loads(line) for line in file.getvalue().splitlines()]
    assert rows[0]["body"] == {"id": 1, "k": "•"} and rows[0]["pair"] == 2
    assert (rows[0]["direction"], rows[0]["kind"], rows[0]["tool"]) == ("out", "request", "t")
    assert rows[1]["http"]["status"] == 200 and rows[2]["exchange"] == 1
    assert rows[0]["at"].endswith("Z") and "s3cret" not in file.getvalue()


def test_only_the_wanted_frames_are_written() -> None:
    file = io.StringIO()
    assert write_jsonl(_http(), FrameQuery(method="tools/"), file) == Written(2)


def test_an_archive_has_the_exchanges_with_the_messages_as_bodies() -> None:
    file = io.StringIO()
    assert write_har(_http(), None, file) == Written(2)
    log = json.loads(file.getvalue())["log"]
    assert (log["version"], log["creator"]["name"]) == ("1.2", "hel")
    post = log["entries"][0]
    assert (post["request"]["method"], post["response"]["status"], post["time"]) == ("POST", 200, 250)
    assert json.loads(post["request"]["postData"]["text"]) == {"id": 1, "k": "•"}
    assert json.loads(post["response"]["content"]["text"]) == {"id": 1, "result": {}}
    assert post["request"]["queryString"] == [{"name": "a", "value": "1"}]
    for key in ("startedDateTime", "cache", "timings"):
        assert key in post


def test_an_exchange_is_wanted_for_the_message_it_carried() -> None:
    file = io.StringIO()
    assert write_har(_http(), FrameQuery(tool="t"), file) == Written(1)


def test_without_http_there_is_no_archive_and_no_file_is_left(tmp_path: Path) -> None:
    store = FrameStore()
    store.add("out", "request", b"{}")
    path = tmp_path / "a.har"
    with pytest.raises(NotExported, match="no exchanges"):
        to_file(path, lambda file: write_har(store, None, file))
    assert not path.exists()


def test_a_file_is_private_and_none_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "log"
    assert to_file(path, lambda file: file.write("x")) == 1
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(NotExported, match="already"):
        to_file(path, lambda file: file.write("y"))
    assert path.read_text() == "x"
    with pytest.raises(NotExported):
        to_file(tmp_path / "no" / "such", lambda file: file.write("y"))


def test_a_log_is_text_with_times_and_without_colours() -> None:
    together = LogStore()
    one = LogStore(server="one", also=together)
    one.append(["\x1b[31mred s3cret\x1b[0m", "plain"], "stderr", levels=["error", ""])
    file = io.StringIO()
    assert write_log(together, None, _mask, file, whose=True) == Written(2)
    first, second = file.getvalue().splitlines()
    assert first.endswith(" one stderr error red •") and second.endswith(" one stderr plain")
    file = io.StringIO()
    assert write_log(one, LogQuery(level="error"), _mask, file, whose=False) == Written(1)
    assert " stderr error red" in file.getvalue()


def test_bodies_that_are_not_kept_whole_are_counted_and_marked() -> None:
    store = FrameStore()
    long = json.dumps({"result": "x" * LONGEST}).encode()
    for body in (b'{"id": 1}', b'{"id": 2}', long, b'{"id": 4}'):
        store.add("out", "request", body)
    store.bodies.forget_before(1)
    file = io.StringIO()
    assert write_jsonl(store, None, file) == Written(4, gaps=2)
    rows = [json.loads(line) for line in file.getvalue().splitlines()]
    assert [row.get("body_kept", True) for row in rows] == [False, True, False, True]
    assert rows[0]["body"] == "" and rows[1]["body"] == {"id": 2}
    said, gaps = messages(store, None)
    assert ([body for _, _, body in said], gaps) == (['{"id": 2}', '{"id": 4}'], 2)


def test_an_archive_counts_the_messages_whose_body_is_gone() -> None:
    store = _http()
    store.bodies.forget_before(1)
    assert write_har(store, None, io.StringIO()) == Written(2, gaps=1)
