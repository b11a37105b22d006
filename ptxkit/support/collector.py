"""Python's collector of garbage cycles, in the process of a command."""

from __future__ import annotations

import gc

FIRST, LATER = 300_000, 10_000
"""After how many new objects it looks for cycles: while a command imports, reads and builds, whose hundred
thousand objects stay, and from its first launch on, whose arrays may hang on cycles."""


def command() -> None:
    """A command runs, and is all that its process is for: elsewhere the collector is not ours."""
    gc.set_threshold(FIRST)


def launch() -> None:
    """A launch begins: in a command's process, what there is stays, and is not looked at again."""
    if gc.get_threshold()[0] == FIRST:
        gc.set_threshold(LATER)
        if gc.get_freeze_count() == 0:
            gc.freeze()
