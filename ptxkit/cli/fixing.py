"""Changing files so that findings go away: what `check --fix` does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ptxkit.asm.fix import apply, fixes
from ptxkit.diagnostics import Diagnostic, Source
from ptxkit.support.atomic_file import write_atomically

ROUNDS = 10
"""How often a file is checked again: a fix may uncover what the next one is for."""


def fix(file: str, check: Callable[[str], list[Diagnostic]]) -> int:
    """Make the changes that are sure in a file, as long as there are any; how many were made.

    A shipped kernel that is found by its name alone is not changed.
    """
    path, made = Path(file), 0
    if not path.is_file():
        return 0
    for _ in range(ROUNDS):
        found = check(file)
        text = path.read_bytes().decode("utf-8", errors="surrogateescape")
        source = Source(file, text)
        sure = {change for each in found for change in fixes(each, source)[:1] if change.sure}
        changed = apply(source, sure)
        if changed == text:
            break
        made += len(sure)
        write_atomically(path, changed.encode("utf-8", errors="surrogateescape"))
    return made
