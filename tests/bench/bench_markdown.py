"""Processor time of an answer that streams into the conversation, the painting of Textual included.

    python tests/bench/bench_markdown.py [TOKENS] [PIECES]

Prints ten lines of JSON. A measurement, not a test: compare runs of one machine with each other.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from textual.app import App, ComposeResult

from hel_tui.tui.state import AnswerItem, Item, UserItem
from hel_tui.tui.widgets.conversation import Conversation
from tests.bench.markdown_text import answer


class Bench(App[None]):
    def compose(self) -> ComposeResult:
        yield Conversation(detail=lambda _call_id: None)


async def measure(text: str, pieces: int) -> dict[str, object]:
    """Stream `text` in `pieces` frames, each painted; CPU seconds of the process."""
    app = Bench()
    async with app.run_test(size=(120, 40)) as pilot:
        conversation = app.query_one(Conversation)
        item = AnswerItem("answer")
        items: list[Item] = [UserItem("user", "go"), item]
        conversation.sync(items, {"user", "answer"})
        await pilot.pause()
        sync = longest = 0.0
        step = -(-len(text) // pieces)
        before = time.process_time()
        for start in range(0, len(text), step):
            item.text += text[start : start + step]
            item.version += 1
            began = time.process_time()
            conversation.sync(items, {"answer"})
            spent = time.process_time() - began
            sync += spent
            longest = max(longest, spent)
            # One frame: what the paint timer would do.
            app.screen._on_timer_update()
            await asyncio.sleep(0)
        item.done = True
        conversation.sync(items, {"answer"})
        app.screen._on_timer_update()
        total = time.process_time() - before
        return {
            "tokens": len(text) // 4,
            "frames": pieces,
            "rows": conversation.transcript.heights.total,
            "cpu_seconds": round(total, 3),
            "cpu_seconds_sync": round(sync, 3),
            "ms_per_frame": round(total / pieces * 1000, 2),
            "longest_sync_ms": round(longest * 1000, 2),
            "max_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        }


def main() -> None:
    tokens = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    pieces = int(sys.argv[2]) if len(sys.argv) > 2 else 160
    text = answer(tokens)
    print(json.dumps(asyncio.run(measure(text, pieces)), indent=1))


if __name__ == "__main__":
    main()
