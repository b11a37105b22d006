"""Sums of products that the next product overwrites before anybody has them, and products of both signs."""

from __future__ import annotations

Accumulator = tuple[int, int | tuple[int, ...], int]
"""The number of a batch, its warpgroup, or its CTAs, and which accumulator of these it is."""


class LostSums:
    """What products leave in accumulators, and whether somebody takes it.

    Attributes:
        lost: the first product that does not add to sums which nobody has taken, in words.
        mixed: products that add to the same sums with different signs, in words.
    """

    def __init__(self) -> None:
        self.lost: str | None = None
        self.mixed: str | None = None
        self._pending: dict[Accumulator, tuple[str, bool]] = {}

    def added(self, accumulator: Accumulator, where: str, adds: bool, negated: bool) -> None:
        """A product at a line adds to an accumulator, or begins anew; `negated`: it subtracts."""
        before = self._pending.get(accumulator)
        if before is not None and not adds and self.lost is None:
            self.lost = (
                f"the product at {where} does not add to the sums in its accumulator but overwrites those of "
                f"the product at {before[0]}, which nobody has read"
            )
        if before is not None and adds and negated != before[1] and self.mixed is None:
            less, more = (where, before[0]) if negated else (before[0], where)
            self.mixed = (
                f"the product at {less} negates one of its matrices, and the one at {more}, which adds to "
                "the same sums, does not"
            )
        self._pending[accumulator] = where, negated

    @property
    def suspicion(self) -> str | None:
        """What is wrong, if it was not meant so."""
        return self.lost or self.mixed

    def taken(self, by: set[tuple[int, int]]) -> None:
        """Somebody has the sums of warpgroups, or of CTAs: each by its batch's number and its own."""
        for accumulator in list(self._pending):
            batch, whose, _ = accumulator
            each = whose if isinstance(whose, tuple) else (whose,)
            if any((batch, one) in by for one in each):
                del self._pending[accumulator]
