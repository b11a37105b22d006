"""Liveness and assignment over basic blocks, with sets of registers as bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from ptxkit.asm.bit_sets import BitSets, bits_of


@dataclass(slots=True)
class BasicBlock:
    """Instructions `start` to `stop` (exclusive), entered only at the first, left only at the last.

    Attributes:
        successors: block numbers; `len(blocks)` stands for the function's end.
        predecessors: block numbers.
        live_in, live_out: registers that may still be read, as bits.
        unassigned_in: registers that some path from the entry leaves unwritten, as bits; of those alone that
            some block reads before it writes them. Others are never read unassigned.
    """

    start: int
    stop: int
    successors: tuple[int, ...] = ()
    predecessors: tuple[int, ...] = ()
    live_in: int = 0
    live_out: int = 0
    unassigned_in: int = 0


def summaries(blocks: Sequence[BasicBlock], reads: BitSets, kills: BitSets) -> tuple[list[int], list[int]]:
    """For each block what it reads before it overwrites it, and which of what any block so reads it surely
    overwrites, as bits. What blocks use for themselves alone, most of a kernel's registers, is in neither."""
    first: list[set[int]] = []
    written: list[set[int]] = []
    for block in blocks:
        read, killed = set[int](), set[int]()
        for number in range(block.start, block.stop):
            read.update(one for one in reads.numbers[number] if one not in killed)
            killed.update(kills.numbers[number])
        first.append(read)
        written.append(killed)
    shared = set[int]().union(*first)
    return [bits_of(read) for read in first], [bits_of(killed & shared) for killed in written]


def solve_liveness(blocks: list[BasicBlock], exposed: list[int], killed: list[int]) -> None:
    """Find what is live at the start and the end of each block.

    Args:
        exposed, killed: `summaries`.
    """
    waiting = [-i for i in range(len(blocks))]  # a heap: the last block first
    heapify(waiting)
    queued = [True] * len(blocks)
    while waiting:
        i = -heappop(waiting)
        queued[i] = False
        block = blocks[i]
        out = 0
        for successor in block.successors:
            if successor < len(blocks):
                out |= blocks[successor].live_in
        block.live_out = out
        live = exposed[i] | (out & ~killed[i])
        if live != block.live_in:
            block.live_in = live
            for before in block.predecessors:
                if not queued[before]:
                    queued[before] = True
                    heappush(waiting, -before)


def solve_assignment(blocks: list[BasicBlock], killed: list[int]) -> None:
    """Find what may be unassigned at the start of each block, from what is so at the start of the first."""
    waiting = [0]
    queued = {0}
    while waiting:
        i = heappop(waiting)
        queued.remove(i)
        left = blocks[i].unassigned_in & ~killed[i]
        for successor in blocks[i].successors:
            if successor < len(blocks) and left & ~blocks[successor].unassigned_in:
                blocks[successor].unassigned_in |= left
                if successor not in queued:
                    queued.add(successor)
                    heappush(waiting, successor)
