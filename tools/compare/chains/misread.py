"""Pairs of statements of which ptxas 13.0 and driver 580.159.04 make something else than what stands there.

Each was found by a chain that differed, and is seen in the SASS (docs/emulator/hardware.md). Where a chain
has such a pair, the value goes from the one to the other through `xor` with a zero that ptxas doesn't know.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pair:
    """What ptxas takes together, and wrongly.

    Attributes:
        wrote: what the label of the statement that wrote a register last looks like.
        reads: what that of the one that reads it looks like.
        bits: the register's width.
    """

    wrote: re.Pattern[str]
    reads: re.Pattern[str]
    bits: int


PAIRS = tuple(
    Pair(re.compile(wrote), re.compile(reads), bits)
    for wrote, reads, bits in (
        # -32768 becomes 32768 and is not extended again.
        (r"(abs|neg)\.s16", r".*\.s16\b.*", 16),
        # The shift is by a register that nothing wrote.
        (r"cnot\.b32", r"sh[lr]\.[bsu]16", 32),
        # The second `.sat`, of a float, is dropped for the sake of the first one, of an integer.
        (r".*\.sat\b.*", r"cvt\..*sat.*\.f32", 32),
        # The negated value is added, which carries differently where it is 0.
        (r"abs\.s64", r"sub(\.cc|c|c\.cc)\.s64", 64),
        # `all` of the negation is taken for `any` of the predicate, which is true.
        (r"elect\.sync", r"vote\.sync\.all\.pred", 1),
        # It is true where all lanes are known to have the same value; what it guards against is executed.
        (r"match\.all\..*", r"guard", 1),
    )
)


def misread(wrote: str, reads: str, bits: int) -> bool:
    """Whether the labels of what wrote a register last, and of what reads it, are a pair."""
    return any(
        pair.bits == bits and pair.wrote.fullmatch(wrote) and pair.reads.fullmatch(reads) for pair in PAIRS
    )
