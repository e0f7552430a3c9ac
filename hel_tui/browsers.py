"""Whether a web browser would open in front of the person.

Not here: which addresses may be opened (tui.browse), opening one (the screen, cli).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME")


def opens_in_view(environ: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Whether a browser with a window of its own can be expected, on a screen the person sits at.

    Over SSH it would open elsewhere, unless `BROWSER` names one, as editors do that reach the person's own.
    Without a display Python would start a browser that draws over the terminal.
    """
    if environ.get("BROWSER"):
        return True
    if environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"):
        return False
    return platform == "darwin" or any(environ.get(name) for name in _DISPLAYS)
