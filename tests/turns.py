"""Which tests have their turn, where there is not time for all of them."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256


def in_turn(names: Iterable[str], turn: str) -> list[str]:
    """Tests' names in the order of this turn, whatever order they are given in: another turn's is another
    shuffle, so that each test is as likely as any other to be among the first."""
    return sorted(names, key=lambda name: sha256(f"{turn} {name}".encode()).digest())


def one_each(names: Iterable[str], turn: str) -> set[str]:
    """Of each test the case whose turn it is: `test_x[a]` and `test_x[b]` are cases of one test."""
    return set({name.partition("[")[0]: name for name in reversed(in_turn(names, turn))}.values())
