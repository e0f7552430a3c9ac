"""Commands as a person runs them who may not read and write everything, also where the tests are root's."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

import pytest

_RIGHTS = "-dac_override,-dac_read_search,-fowner"
"""What root is without, so that permissions count as they do for everybody else."""


def as_a_person(argv: Sequence[str]) -> list[str]:
    """The command line; the test is skipped where it cannot be had."""
    if os.geteuid():
        return [*argv]
    if not shutil.which("setpriv"):
        pytest.skip("root may read and write everywhere, and there is no setpriv")
    return ["setpriv", "--bounding-set", _RIGHTS, "--inh-caps", _RIGHTS, *argv]
