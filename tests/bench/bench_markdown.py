"""Processor time of an answer that streams into the conversation, the painting of Textual included.

    python tests/bench/bench_markdown.py [TOKENS] [PIECES]

Prints ten lines of JSON. A measurement, not a test: compare runs of one machine with each other.
"""

from __future__ import annotations

import asyncio
import json
import random
import resource
import sys
import time

from textual.app import App, ComposeResult

from hel_tui.tui.state import AnswerItem, Item, UserItem
from hel_tui.tui.widgets.conversation import Conversation

WORDS = ["server", "tool", "answer", "request", "context", "result", "value", "parser", "stream", "window"]
WORDS += ["because", "therefore", "which", "reads", "writes", "configuration", "between", "without", "every"]


def _sentence(rng: random.Random) -> str:
    words = [rng.choice(WORDS) for _ in range(rng.randint(6, 16))]
    words[rng.randrange(len(words))] = rng.choice(
        ("**important**", "`code_name`", "*perhaps*", "[docs](https://x.example)")
    )
    return " ".join(words).capitalize() + "."


def _block(rng: random.Random) -> str:
    kind = rng.choice(("text", "text", "text", "list", "code", "table", "quote", "heading"))
    if kind == "list":
        return "\n".join(f"- {_sentence(rng)}" for _ in range(rng.randint(3, 8)))
    if kind == "code":
        rows = [
            f"    value_{n} = call({n}, name='{rng.choice(WORDS)}')  # step {n}"
            for n in range(rng.randint(4, 15))
        ]
        return "```python\ndef example():\n" + "\n".join(rows) + "\n```"
    if kind == "table":
        rows = [
            f"| {rng.choice(WORDS)} | {rng.randint(1, 9999)} | {_sentence(rng)} |"
            for _ in range(rng.randint(3, 8))
        ]
        return "| name | value | note |\n|---|--:|---|\n" + "\n".join(rows)
    if kind == "quote":
        return f"> {_sentence(rng)}\n> {_sentence(rng)}"
    if kind == "heading":
        return f"## {' '.join(rng.choice(WORDS) for _ in range(4))}"
    return " ".join(_sentence(rng) for _ in range(rng.randint(2, 5)))


def answer(tokens: int, seed: int = 1) -> str:
    """Mixed Markdown of about `tokens` tokens (four characters each)."""
    rng = random.Random(seed)
    blocks: list[str] = []
    size = 0
    while size < tokens * 4:
        blocks.append(_block(rng))
        size += len(blocks[-1]) + 2
    return "\n\n".join(blocks)


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
