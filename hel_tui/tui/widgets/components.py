"""Styles of parts of a widget, made when one is first used.

Textual's COMPONENT_CLASSES are all styled anew at every pass over a widget, drawn or not; with a dozen
styles in as many widgets that was half of the time before the first paint. The CSS is written as for
Textual's own (`Widget > .name`). Not here: which styles there are, and keeping them.
"""

from __future__ import annotations

from rich.style import Style
from textual.dom import DOMNode
from textual.widget import Widget


def component_style(widget: Widget, name: str) -> Style:
    """The Rich style of the class `name` inside `widget`, on its background.

    Keep it until the widget's `notify_style_update`: each call goes through the style sheet.
    """
    node = DOMNode(classes=name)
    node._attach(widget)
    widget.app.stylesheet.apply(node)
    return node.rich_style
