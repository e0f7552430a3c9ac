"""No secret is shown in part: wherever foreign text is cut, what is secret is taken out before."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator

import pytest

from hel_tui.core.mcp.exchanges import Exchanges
from hel_tui.core.mcp.exports import write_jsonl
from hel_tui.core.mcp.frames import FrameStore
from hel_tui.core.mcp.gist import of_error, of_noise, of_params, of_result
from hel_tui.core.mcp.http.faults import told_by
from hel_tui.core.mcp.intake import LogIntake
from hel_tui.core.mcp.logs import LogStore
from hel_tui.core.mcp.messages import parse_line
from hel_tui.core.mcp.trace import Trace
from hel_tui.core.protocol import FrameQuery
from hel_tui.core.store.redact import LEAST_MARGIN, MARGIN, Redactor, head
from hel_tui.core.vocabulary import Json

SECRET = "Zq7wLp2xVb9nRt4k"
MASK = Redactor([SECRET])
PARTS = [SECRET[at : at + 6] for at in range(len(SECRET) - 5)]
PROSE = "ab cd ef, "


def _at(offset: int) -> str:
    """Prose with the secret at this offset, and much behind it."""
    before = (PROSE * (offset // len(PROSE) + 1))[:offset]
    return before + SECRET + PROSE * 1000


def _around(cut: int) -> Iterator[int]:
    yield from range(max(cut - len(SECRET) - 3, 0), cut + 4)


def _leaks(text: str) -> bool:
    return any(part in text for part in PARTS)


def _http_headers(text: str) -> str:
    return repr(Exchanges(Trace(FrameStore(mask=MASK))).shown([("x-said", text), (text, "x")]))


def _log(text: str, *, write: Callable[[LogStore, str], None]) -> str:
    log = LogStore(mask=MASK)
    write(log, text)
    return "\n".join(line.text for line in log.lines(0, log.end))


def _stderr(log: LogStore, text: str) -> None:
    intake = LogIntake(log, "stderr", mask=MASK)
    intake.feed(text.encode())
    intake.close()


SINKS: dict[str, tuple[Callable[[str], str], tuple[int, ...]]] = {
    "a result": (
        lambda text: of_result("tools/call", {"content": [{"type": "text", "text": text}]}, MASK),
        (200, 400, 400 + MARGIN),
    ),
    "an error": (lambda text: of_error({"code": -1, "message": text}, MASK), (197, 200, 397, 400)),
    "a log message": (
        lambda text: of_params("notifications/message", {"level": "info", "data": text}, MASK),
        (195, 200, 395, 400),
    ),
    "noise": (lambda text: of_noise(text, MASK), (200, 400)),
    "a header": (_http_headers, (200, 2000)),
    "a page": (lambda text: told_by(text.encode(), "text/plain", MASK), (300,)),
    "a page in JSON": (
        lambda text: told_by(json.dumps({"message": text}).encode(), "application/json", MASK),
        (300,),
    ),
    "a remark": (lambda text: _log(text, write=LogStore.remark), (8192, 16384)),
    "a start": (lambda text: _log(text, write=LogStore.started), (8192,)),
    "stderr": (lambda text: _log(text, write=_stderr), (8192,)),
}


@pytest.mark.parametrize("sink", SINKS)
def test_a_secret_across_a_cut_is_not_shown_in_part(sink: str) -> None:
    shown, cuts = SINKS[sink]
    for cut in cuts:
        for offset in _around(cut):
            assert not _leaks(shown(_at(offset))), offset


@pytest.mark.parametrize("longest", [16, 1500])
def test_a_long_secret_across_a_cut_is_not_shown_in_part(longest: int) -> None:
    long = "".join(f"{number:05}" for number in range(longest // 5 + 1))[:longest]
    mask = Redactor([long])
    for offset in (0, 100, 185, 199, 200):
        shown = head("." * offset + long + "." * 9000, 200, mask)
        assert not any(digit in shown for digit in "0123456789"), offset


@pytest.mark.parametrize("length", [20, 200])
def test_secrets_before_a_cut_do_not_pull_the_beginning_of_another_into_sight(length: int) -> None:
    for offset in (*_around(length + MARGIN), *_around(length + LEAST_MARGIN)):
        text = (
            (SECRET + " ") * (offset // (len(SECRET) + 1)) + " " * (offset % (len(SECRET) + 1)) + SECRET * 9
        )
        assert not _leaks(head(text, length, MASK)), offset


def _line(text: str, **rest: object) -> bytes:
    return json.dumps(
        {"jsonrpc": "2.0", **rest} | ({"method": text} if "result" not in rest else {})
    ).encode()


@pytest.mark.parametrize("offset", [0, 3, 190, 198])
def test_no_row_and_no_line_of_an_export_has_a_secret(offset: int) -> None:
    text = _at(offset)[: offset + 300]
    trace = Trace(FrameStore(mask=MASK))
    call = {"name": text, "arguments": {}}
    trace.repeated(json.dumps({"id": 1, "method": "tools/call", "params": call}).encode())
    result: Json = {"content": [{"type": "text", "text": text}]}
    for line in (
        _line("", id=1, result=result),
        _line(text, id=text, params={}),
        _line(text, params={"message": text}),
        _line("notifications/message", params={"level": "info", "logger": text, "data": text}),
        _line("", id=2, error={"code": 1, "message": text}, result=None),
        text.encode(),
    ):
        trace.came(parse_line(line), line)
    assert trace.store.end == 7
    assert not _leaks(repr(trace.store.frames(0, 7)))
    assert not _leaks(repr(trace.figures.rows()))
    file = io.StringIO()
    assert write_jsonl(trace.store, None, file).count == 7
    assert not _leaks(file.getvalue())
    assert len(trace.store.matches(FrameQuery(errors=True), 0, 7)) == 2


def test_a_line_that_is_too_long_shows_no_part_of_a_secret() -> None:
    from hel_tui.core.mcp.framing import LineSplitter

    for offset in (*_around(200), *_around(8192)):
        (line,) = (splitter := LineSplitter(9000)).feed(_at(offset).encode() + b"x" * 9000 + b"\n")
        del splitter
        trace = Trace(FrameStore(mask=MASK))
        trace.came(parse_line(line), b"")
        assert not _leaks(repr(trace.store.frames(0, 9)))


@pytest.mark.parametrize("cut", [16 * 8192, 16 * 8192 + 4096])
def test_a_line_of_stderr_that_comes_in_pieces_shows_no_part_of_a_secret(cut: int) -> None:
    for offset in _around(cut):
        log = LogStore(mask=MASK)
        intake = LogIntake(log, "stderr", mask=MASK)
        text = _at(offset).encode()
        intake.feed(text[: cut + 1])
        intake.feed(text[cut + 1 :] + b"\nthe end\n")
        intake.close()
        lines = [line.text for line in log.lines(0, log.end)]
        assert not _leaks("\n".join(lines)), offset
        assert lines[-1] == "the end"


def test_a_log_message_and_a_progress_show_no_part_of_a_secret() -> None:
    from hel_tui.core.agent.ledger import Ledger
    from hel_tui.core.mcp.notes import MOST_TEXT, Notes
    from hel_tui.core.vocabulary import ToolCall
    from tests.core.agent.test_ledger import NoRecord

    said: list[str] = []
    for offset in (*_around(100), *_around(16_384), *_around(MOST_TEXT)):
        notes = Notes(lambda _level, text: said.append(head(text, 16_384, MASK)), print, print, said.append)
        text = _at(offset)
        notes.take("notifications/message", {"level": "info", "logger": text, "data": text})
        notes.take("notifications/message", {"level": "info", "data": [text]})
        notes.take(text, {})
    events: list[object] = []
    ledger = Ledger(events.append, NoRecord(), MASK)
    for offset in _around(200):
        card = ledger.open(1, ToolCall("a", "b", "{}"), None)
        ledger.progress(card)(1, 2, _at(offset))
    assert said and events
    assert not _leaks(repr(said)) and not _leaks(repr(events))
