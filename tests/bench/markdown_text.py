"""Mixed Markdown of a given size, the same at every run."""

from __future__ import annotations

import random

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
