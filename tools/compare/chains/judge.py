"""Whether two devices agree about a chain: every register that a statement wrote, and memory at the end."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from compare.chains.model import LEFT, THREADS, WARP, Chain, Step

REASONS = {
    "swapped": "two operands of an f64 sum, product or extreme are NaN: ptxas swaps operands (hardware.md)",
    "folded": "the result of abs or neg is a NaN: ptxas makes it a part of another statement (hardware.md)",
}
"""Why a result is not compared, by `Step.why`."""


@dataclass(slots=True)
class Verdict:
    """What comparing a chain gave.

    Attributes:
        statements: compared.
        results: registers compared, one a thread.
        open: results that are not, by reason.
        differ: the first statement of each thread that differs, and how many threads begin to differ there.
        left: bytes that differ in what is left in registers and memory at the end, where no statement does.
        example: of the first statement: the thread, its label and text, both results.
        optimized: whether nothing differs where the driver's compiler does not optimise: then it is this
            compiler that is wrong.
        unoptimized: why the chain was executed so at once, where it was.
        failed: why a device did not execute it.
        small: the text of a part of it that still differs.
    """

    statements: int = 0
    results: int = 0
    open: dict[str, int] = field(default_factory=dict)
    differ: dict[int, int] = field(default_factory=dict)
    left: int = 0
    example: dict[str, object] = field(default_factory=dict)
    optimized: bool = False
    unoptimized: str = ""
    failed: str = ""
    small: str = ""

    @property
    def wrong(self) -> bool:
        """Whether anything differs."""
        return bool(self.differ or self.left)


def compare(
    chain: Chain, emulated: np.ndarray, measured: np.ndarray, without: Collection[int] = ()
) -> Verdict:
    """Compare what a chain left on two devices, `uint64` words as `text` lays them out."""
    found = Verdict()
    count = chain.rows * THREADS
    ours, theirs = (words[:count].reshape(chain.rows, THREADS) for words in (emulated, measured))
    spoilt = np.zeros(THREADS, bool)
    for step in chain.steps:
        if step.number in without:
            continue
        found.statements += 1
        rows = slice(step.row, step.row + len(step.results))
        different = ours[rows] != theirs[rows]
        found.results += different.size
        if step.open >= 0:
            ignored = (ours[step.open] != 0) & (theirs[step.open] != 0)
            found.open[step.why] = found.open.get(step.why, 0) + int(ignored.sum())
            different[:-1] &= ~ignored
        differs = different.any(axis=0)
        if not differs.any():
            continue
        if step.together:
            # What one lane hands to the others is spoilt in all of them.
            spoilt = np.repeat(spoilt.reshape(-1, WARP).any(axis=1), WARP)
        new = differs & ~spoilt
        if new.any():
            found.differ[step.number] = int(new.sum())
            if not found.example:
                found.example = _example(step, int(np.argmax(new)), ours, theirs)
        spoilt |= differs
    if not spoilt.any():
        sides = [
            np.concatenate([side[-LEFT:].ravel(), words[count:]])
            for side, words in ((ours, emulated), (theirs, measured))
        ]
        found.left = int((sides[0].view(np.uint8) != sides[1].view(np.uint8)).sum())
    return found


def _example(step: Step, thread: int, ours: np.ndarray, theirs: np.ndarray) -> dict[str, object]:
    def shown(side: np.ndarray) -> dict[str, str]:
        return {r.name: f"{int(side[step.row + place, thread]):#x}" for place, r in enumerate(step.results)}

    return {
        "statement": step.number,
        "label": step.label,
        "text": list(step.lines),
        "thread": thread,
        "emulator": shown(ours),
        "gpu": shown(theirs),
    }
