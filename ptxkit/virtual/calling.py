"""Where a program stood when it called."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from types import FrameType

HOME = str(Path(__file__).parents[1])
"""ptxkit's own files, which are not shown."""
RUNNERS = ("/_pytest/", "/pluggy/", "/unittest/")
"""What runs tests, below which nothing of the program is."""
DEPTH = 6
"""Most frames that are kept."""
_LOOKED_AT = 64


def host_stack() -> tuple[str, ...]:
    """The Python frames of the calling thread outside ptxkit, the innermost first: `file.py:12 in main`.

    Empty for a program that is not Python.
    """
    frame: FrameType | None = sys._getframe(1)
    found: list[str] = []
    for _ in range(_LOOKED_AT):
        if frame is None or len(found) == DEPTH:
            break
        file = frame.f_code.co_filename
        runs, shown = _told(file)
        if runs:
            break
        if shown:
            found.append(f"{file}:{frame.f_lineno} in {frame.f_code.co_name}")
        frame = frame.f_back
    return tuple(found)


@cache
def _told(file: str) -> tuple[bool, bool]:
    """Whether a file's frames are of what runs tests, and whether they are shown."""
    runs = any(runner in file for runner in RUNNERS)
    return runs, not file.startswith((HOME, "<frozen", "<string>"))
