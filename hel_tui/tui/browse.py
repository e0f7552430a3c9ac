"""Which web addresses may be opened for a person who asked for it by key.

Not here: showing the address (dialogs), whether a browser would open (hel_tui.browsers).
"""

from __future__ import annotations

from urllib.parse import urlsplit

from hel_tui.tui.safe import is_clean


def is_web(url: str) -> bool:
    """Whether `url` is one that may be handed to a browser: http or https, with a host, all of it visible."""
    try:
        parts = urlsplit(url)
        has_place = parts.scheme.lower() in ("http", "https") and bool(parts.hostname)
        return has_place and is_clean(url) and "\\" not in url
    except ValueError:
        return False
