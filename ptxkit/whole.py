"""Files written whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from shutil import copymode
from typing import IO, Any


def write_whole(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    """Have a file written; until all of it is there, what was there before stays.

    A file that is there keeps its permissions, and a link leads where it led. A device or a pipe is written
    to as it is. Two processes that write the same file at once leave the content of one of them.

    Args:
        path: where to.
        write: writes the content into the open file that it is given.

    Raises:
        OSError: it can't be written.
    """
    if "\0" in str(path):
        raise OSError(errno.EINVAL, "the name has a NUL character", str(path))
    if path.is_dir():
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            write(file)
        return
    path = path.resolve()
    part = path.with_name(f".{os.urandom(8).hex()}.part")
    try:
        with part.open("xb") as file:
            write(file)
        if path.exists():
            copymode(path, part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
