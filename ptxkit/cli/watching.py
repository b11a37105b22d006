"""Doing something again whenever files change."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from ptxkit.diagnostics import PtxkitError, render_text

INTERVAL = 0.2
"""Seconds between two looks at the files."""


def watch(files: Callable[[], list[str]], run: Callable[[list[str]], int]) -> int:
    """Run now, and whenever a file changes, comes or goes; Ctrl-C ends it."""
    seen: object = None
    while True:
        try:
            now = files()
        except PtxkitError as problem:
            now, said = [], render_text(problem.diagnostics)
        else:
            said = ""
        stamps = [(file, _stamp(file)) for file in now]
        if (stamps, said) != seen:
            if seen is not None:
                clear = "\x1b[2J\x1b[H" if sys.stdout.isatty() else "\n"
                print(f"{clear}{time.strftime('%H:%M:%S')}  changed")
            seen = stamps, said
            if said:
                print(said)
            else:
                run(now)
            sys.stdout.flush()
        time.sleep(INTERVAL)


def _stamp(file: str) -> tuple[int, int] | None:
    """When a file was written, and its size; None where it is gone."""
    try:
        found = Path(file).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
