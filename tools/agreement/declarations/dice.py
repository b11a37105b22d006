"""What chooses: mostly right, and wrong now and then."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
TAME = 0.4
"""Share of the modules in which nothing is chosen from what is known to be wrong."""
SLIP = 0.12
"""How often a choice of the other modules falls on that."""


class Dice(random.Random):
    """A source of choices, the same for the same seed."""

    def __init__(self, seed: int | str) -> None:
        super().__init__(seed)
        self.wild = 0.0 if self.random() < TAME else SLIP

    def pick(self, good: Sequence[T], bad: Sequence[T] = ()) -> T:
        """One of the good ones, or now and then of the bad ones."""
        return self.choice(bad if bad and self.slip() else good)

    def maybe(self, share: float) -> bool:
        """True in this share of the cases."""
        return self.random() < share

    def slip(self) -> bool:
        """Whether to do something wrong here."""
        return self.random() < self.wild

    def some(self, good: Sequence[T], most: int) -> list[T]:
        """From none to `most` of the good ones, in any order, each once."""
        return self.sample(good, self.randrange(min(most, len(good)) + 1))
