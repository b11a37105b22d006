"""Atomic file writes: a reader finds the old content or the new, never a part."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from ptxkit.diagnostics import PtxkitError, error, reason

_FOLDER = "the folder must exist and be writable"


def check_folder(path: Path) -> None:
    """A file can be written there: said before the work rather than after it.

    Raises:
        PtxkitError: P567, there is no such folder.
    """
    if not path.parent.is_dir():
        raise error("P567", f"cannot write `{path}`: there is no folder `{path.parent}`", help=_FOLDER)


def unwritable(path: Path, problem: OSError) -> PtxkitError:
    """P567: what kept a file from being written."""
    return error("P567", f"cannot write `{path}`: {reason(problem)}", help=_FOLDER)


def write_atomically(path: Path, content: bytes | Callable[[IO[bytes]], Any]) -> None:
    """Write a file; until all of it is there, what was there before stays.

    A file that is there keeps its permissions, and a link leads where it led. A device or a pipe is written
    to as it is. Two processes that write the same file at once leave the content of one of them.

    Args:
        path: where to.
        content: what is in it, or what writes it into the open file that it is given.

    Raises:
        PtxkitError: P567, it can't be written.
    """
    try:
        _write(path, content if callable(content) else lambda file: file.write(content))
    except OSError as problem:
        raise unwritable(path, problem) from None


def _write(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
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
            part.chmod(stat.S_IMODE(path.stat().st_mode))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
