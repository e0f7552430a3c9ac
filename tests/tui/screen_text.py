"""What a person sees: the text of the screen of a running app, row by row."""

from __future__ import annotations

from textual.app import App
from textual.widget import Widget


def screen_text(app: App[object], widget: Widget | None = None) -> str:
    """The visible text of the top screen, or of one widget on it, without spaces at line ends."""
    strips = app.screen._compositor.render_strips()
    rows = [strip.text for strip in strips]
    if widget is not None:
        region = widget.region
        strips = strips[region.y : region.bottom]
        rows = [strip.crop(region.x, region.right).text for strip in strips]
    return "\n".join(row.rstrip() for row in rows)
