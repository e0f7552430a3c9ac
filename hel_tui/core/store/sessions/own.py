"""Reads a file that lies in a session's folder, whatever somebody else put there or wrote into a record.

Not here: what the files say (reading).
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def read_own(folder: Path, path: Path, most: int) -> bytes:
    """At most the first `most` bytes of a file that lies in the session's folder, all links followed.

    Raises OSError, also for what lies elsewhere or is no regular file: a record may say anything.
    """
    try:
        real = Path(os.path.realpath(path))
    except ValueError as error:
        raise OSError(errno.EINVAL, "no name of a file") from error
    if not real.is_relative_to(os.path.realpath(folder)):
        raise PermissionError(errno.EACCES, "not a file of this session")
    handle = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise PermissionError(errno.EACCES, "not a regular file")
        return file.read(most)
