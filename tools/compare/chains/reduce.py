"""Make a chain that differs small: statements are left out as long as it still does.

Every subset of a chain's statements is a chain, since every register has a value from the beginning, and what
a region hangs on stays as long as something in it does; but for those that read a carry which nothing sets
any more: there the emulator refuses, and the statements stay.
"""

from __future__ import annotations

from collections.abc import Callable

from compare.chains.judge import Verdict
from compare.chains.model import Chain


def reduced(
    chain: Chain, verdict: Verdict, differs: Callable[[frozenset[int]], bool], most: int
) -> frozenset[int]:
    """The numbers of statements that need not be there.

    Args:
        chain, verdict: what differs, and how.
        differs: whether the chain still does, without some statements.
        most: how often it may be asked.
    """
    numbers = [step.number for step in chain.steps]
    without: frozenset[int] = frozenset()
    asked = 0
    if verdict.differ:
        # Nothing behind the first difference matters.
        later = frozenset(number for number in numbers if number > min(verdict.differ))
        asked += 1
        if differs(later):
            without = later
    size = max(1, (len(numbers) - len(without)) // 2)
    while asked < most:
        left = [number for number in numbers if number not in without]
        smaller = False
        for start in range(0, len(left), size):
            tried = without | frozenset(left[start : start + size])
            if asked >= most or len(tried) == len(numbers):
                break
            asked += 1
            if differs(tried):
                without, smaller = tried, True
        if size == 1 and not smaller:
            break
        size = max(1, size // 2)
    return without
