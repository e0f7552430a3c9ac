"""Text of the transcript, laid out: Markdown, code and cards as rows of spans.

Pure functions and data that know cells but no colours and no widgets. Not here: painting (widgets).
"""

from __future__ import annotations


def warm_up() -> None:
    """Import the parsers of Markdown and code now, so that the first answer does not wait for them."""
    from hel_tui.tui.text.markdown import render_markdown

    render_markdown("*a*\n\n```python\nb\n```\n\n```json\n{}\n```", 20)
