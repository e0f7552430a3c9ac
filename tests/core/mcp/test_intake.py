"""What becomes of the bytes of a stream: lines, also in floods, halves and progress bars."""

from __future__ import annotations

import stat
from pathlib import Path

from hel_tui.core.mcp.intake import LogIntake, Mirror
from hel_tui.core.mcp.logs import LINE_LENGTH, LogStore


def texts(store: LogStore) -> list[str]:
    return [line.text for line in store.lines(store.first, store.end)]


def test_the_beginning_of_a_line_is_shown_and_then_replaced_by_the_whole() -> None:
    store = LogStore()
    intake = LogIntake(store, "stderr")
    intake.feed(b"ok to proceed? (y/n)")
    assert texts(store) == []
    intake.flush()
    assert texts(store) == ["ok to proceed? (y/n)"]
    intake.feed(b" y\nnext\n")
    assert texts(store) == ["ok to proceed? (y/n) y", "next"]


def test_characters_split_between_chunks_and_undecodable_bytes_survive() -> None:
    store = LogStore()
    intake = LogIntake(store, "stderr")
    for byte in "서울\n".encode() + b"\xff\xfe\n":
        intake.feed(bytes([byte]))
    assert texts(store) == ["서울", "\ufffd\ufffd"]


def test_secrets_are_masked_before_they_are_kept() -> None:
    store = LogStore()
    intake = LogIntake(store, "stderr", mask=lambda text: text.replace("s3cret", "•••"))
    intake.feed(b"token s3c")
    intake.feed(b"ret\nlast s3cret")
    intake.close()
    assert texts(store) == ["token •••", "last •••"]


def test_a_long_line_is_cut_and_says_so() -> None:
    store = LogStore()
    LogIntake(store, "stderr").feed(b"y" * 20_000 + b"\n")
    (line,) = texts(store)
    assert len(line) < LINE_LENGTH + 50
    assert "20,000 characters" in line


def test_a_line_without_end_does_not_grow_memory() -> None:
    store = LogStore()
    intake = LogIntake(store, "stderr")
    for _ in range(100):
        intake.feed(b"z" * 65536)
    assert len(intake._rest) < 1_000_000


def test_a_flood_is_counted_and_its_last_lines_are_kept() -> None:
    store, now = LogStore(), [0.0]
    intake = LogIntake(store, "stderr", clock=lambda: now[0])
    for n in range(100):
        intake.feed(b"".join(b"line %d.%d\n" % (n, m) for m in range(1000)))
    intake.feed(b"the last word\n")
    intake.close()
    kept = texts(store)
    assert len(kept) < 21_000
    assert kept[-1] == "the last word"
    skipped = next(int(line.split()[1].replace(",", "")) for line in kept if line.endswith("lines skipped"))
    assert skipped + len(kept) - 1 == 100_001


def test_after_a_flood_lines_are_taken_again() -> None:
    store, now = LogStore(), [0.0]
    intake = LogIntake(store, "stderr", clock=lambda: now[0])
    intake.feed(b"x\n" * 30_000)
    now[0] = 2.0
    intake.feed(b"quiet\n")
    assert texts(store)[-1] == "quiet"
    assert any(line.endswith("lines skipped") for line in texts(store))


def test_the_mirror_file_is_private_and_bounded(tmp_path: Path) -> None:
    path = tmp_path / "s.log"
    mirror = Mirror(path, limit=100)
    for _ in range(50):
        mirror.write(["0123456789"])
    assert path.stat().st_size < 150
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text().endswith("(the rest was not kept)\n")


def test_a_mirror_that_cannot_be_written_does_not_matter(tmp_path: Path) -> None:
    Mirror(tmp_path / "missing" / "s.log").write(["line"])


def test_a_line_that_rewrites_itself_is_shown_in_its_last_state() -> None:
    store = LogStore()
    intake = LogIntake(store, "stderr")
    intake.feed(b"10%\r50%\r100%\n" + b"abcdef\rxy\n" + b"long line\r\x1b[Kdone\r\n")
    assert texts(store) == ["100%", "xycdef", "\x1b[Kdone"]


def test_a_progress_bar_without_a_line_break_does_not_grow_and_its_end_counts() -> None:
    store = LogStore()
    intake = LogIntake(store, "stderr")
    for step in range(20_000):
        intake.feed(b"\rworking %5d of 20000" % step)
    assert len(intake._rest) < 2 * LINE_LENGTH
    intake.feed(b"\n")
    assert texts(store) == ["working 19999 of 20000"]


def test_colours_nuls_and_binary_are_kept_for_the_screen_to_judge() -> None:
    store = LogStore()
    LogIntake(store, "stderr").feed(b"\x1b[31mred\x1b[0m\n\x00\x01\x80\n")
    assert texts(store) == ["\x1b[31mred\x1b[0m", "\x00\x01\ufffd"]


def test_lines_of_a_traceback_are_errors_and_what_follows_is_not() -> None:
    store = LogStore()
    LogIntake(store, "stderr").feed(
        b"INFO begin\nTraceback (most recent call last):\n  File \"a.py\"\n    go()\nKeyError: 'x'\nplain\n"
    )
    levels = [line.level for line in store.lines(0, 99)]
    assert levels == ["info", "error", "error", "error", "error", ""]
