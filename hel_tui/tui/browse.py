"""Opening a web address for a person who asked for it by key. Nothing else in the screen opens one.

Not here: showing the address (dialogs).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from urllib.parse import urlsplit

from hel_tui.tui.safe import is_clean


def is_web(url: str) -> bool:
    """Whether `url` is one that may be handed to a browser: http or https, with a host, all of it visible."""
    try:
        parts = urlsplit(url)
        return parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and is_clean(url)
    except ValueError:
        return False


def has_browser(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> bool:
    """Whether a browser with a window of its own can be expected.

    On a machine without a display Python would start a browser that draws over hel's screen.
    """
    if environ.get("BROWSER"):
        return True
    if platform == "darwin":  # over SSH it would open on a screen nobody sits at
        return not environ.get("SSH_CONNECTION")
    return any(environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"))
