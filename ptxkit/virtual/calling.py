"""Where a program stood when it called."""

from __future__ import annotations

import sys
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType

HOME = str(Path(__file__).parents[1])
"""ptxkit's own files, which are not shown."""
RUNNERS = ("/_pytest/", "/pluggy/", "/unittest/")
"""What runs tests, below which nothing of the program is."""
DEPTH = 6
"""Most frames that are shown."""
_LOOKED_AT = 32
_OURS = 3
"""At least so many frames of a thread that calls a library are ptxkit's own."""


class HostStack:
    """The Python frames of a thread outside ptxkit, as they stood: none of a program that is not Python.

    Each launch takes one, few are ever shown: so frames are kept as they are, and told when somebody asks.
    """

    def __init__(self, places: list[tuple[CodeType, int]]) -> None:
        """Args: places: of each frame its code and its last instruction's offset, the innermost first."""
        self._places = places

    @cached_property
    def frames(self) -> tuple[str, ...]:
        """The innermost first: `file.py:12 in main`."""
        found: list[str] = []
        for code, instruction in self._places:
            file = code.co_filename
            if len(found) == DEPTH or any(runner in file for runner in RUNNERS):
                break
            if not file.startswith((HOME, "<frozen", "<string>")):
                line = next(islice(code.co_positions(), instruction // 2, None))[0]
                found.append(f"{file}:{line} in {code.co_name}")
        return tuple(found)


NOWHERE = HostStack([])
"""Where nobody stood."""


def host_stack() -> HostStack:
    """Where the calling thread stands."""
    frame: FrameType | None = sys._getframe(_OURS)
    places: list[tuple[CodeType, int]] = []
    while frame is not None and len(places) < _LOOKED_AT:
        places.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return HostStack(places)
