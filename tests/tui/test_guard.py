"""The end of the process that comes in any case after a signal."""

from __future__ import annotations

import subprocess
import sys


def test_a_process_that_does_not_end_by_itself_is_ended_with_its_status() -> None:
    program = (
        "import time; from hel_tui.tui.guard import end_by; "
        "end_by(0.1, 143, lambda: print('servers ended', flush=True)); time.sleep(600)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (143, "servers ended\n")
