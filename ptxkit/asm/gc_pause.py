"""A pause of Python's garbage collector while trees grow and are read."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_paused() -> Iterator[None]:
    """Without the collector: a tree has no cycles, and it would visit all of it again and again.

    What was made goes to the oldest generation without a visit, which of millions of objects would take a
    second: most of them stay. Where somebody has frozen objects, whom that would unfreeze, it is left.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            if gc.get_freeze_count() == 0:
                gc.freeze()
                gc.unfreeze()
            gc.enable()
