"""A pause of Python's garbage collector while trees grow and are read."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

FEW = 50_000
"""Objects among which what is dropped is not looked for yet."""


class _Promoted:
    """What pauses have made since the last full collection.

    Attributes:
        objects: how many, without those that are gone already.
        others: how many objects there were at that collection.
    """

    objects = 0
    others = 0


@contextmanager
def gc_paused() -> Iterator[None]:
    """Without the collector: a tree has no cycles, and it would visit all of it again and again.

    What was made goes to the oldest generation without a visit, which of millions of objects would take a
    second: most of them stay. That begins the collector's own count anew, so that it would never visit that
    generation where one tree is made after another; before a pause that is done here, by its own rule: once
    a quarter as many have come as there were. Where somebody has frozen objects, whom that would unfreeze, it
    is left.
    """
    collecting = gc.isenabled()
    if collecting and _Promoted.objects > max(FEW, _Promoted.others // 4) and gc.get_freeze_count() == 0:
        gc.collect()
        gc.freeze()
        _Promoted.objects, _Promoted.others = 0, gc.get_freeze_count()
        gc.unfreeze()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            if gc.get_freeze_count() == 0:
                _Promoted.objects += gc.get_count()[0]
                gc.freeze()
                gc.unfreeze()
            gc.enable()
