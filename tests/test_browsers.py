"""Where a browser is opened, and where an address is only shown."""

from __future__ import annotations

import pytest

from hel_tui.browsers import opens_in_view


@pytest.mark.parametrize(
    ("environ", "platform", "opens"),
    [
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({"WSL_DISTRO_NAME": "Debian"}, "linux", True),
        ({"BROWSER": "firefox"}, "linux", True),
        ({"BROWSER": "to-the-editor", "SSH_CONNECTION": "1 2 3 4"}, "linux", True),
        ({}, "linux", False),
        ({"DISPLAY": ""}, "linux", False),
        ({}, "darwin", True),
        ({"SSH_CONNECTION": "1 2 3 4"}, "darwin", False),
        ({"SSH_TTY": "/dev/pts/1", "DISPLAY": "localhost:10"}, "linux", False),
    ],
)
def test_a_browser_opens_only_in_front_of_the_person(
    environ: dict[str, str], platform: str, opens: bool
) -> None:
    assert opens_in_view(environ, platform) is opens
