"""Scrolling by keys, the same in every part of a screen that scrolls.

Not here: which keys go where (keymap).
"""

from __future__ import annotations

from textual.widget import Widget


def scroll_by_key(widget: Widget, key: str, *, space: bool = False) -> bool:
    """Scroll `widget` by a key of the arrow block or its letters; say whether it was one for that.

    With `space` the space bar turns a page.
    """
    page = max(widget.size.height - 1, 1)
    steps = {"up": -1, "down": 1, "k": -1, "j": 1, "pageup": -page, "pagedown": page}
    if space:
        steps["space"] = page
    if key in steps:
        widget.scroll_relative(y=steps[key], animate=False, immediate=True, force=True)
    elif key in ("home", "g"):
        widget.scroll_home(animate=False, immediate=True, force=True)
    elif key in ("end", "G"):
        widget.scroll_end(animate=False, immediate=True, force=True)
    else:
        return False
    return True
