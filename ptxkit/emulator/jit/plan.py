"""What takes the place of a hot block's steps."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ptxkit.emulator.code import CodeBlock, Exchange, MemoryTransfer
from ptxkit.emulator.jit import lowerings as all_lowerings
from ptxkit.emulator.jit.staged import Staged, either
from ptxkit.emulator.jit.transfer import CompiledTransfer
from ptxkit.emulator.lane_set import CodeToRun, LaneSet, Step

assert all_lowerings  # importing it registers the lowerings

Starts = Mapping[int, CodeBlock]
"""Where in joined blocks each but the first begins."""


def plan(
    block: CodeBlock,
    code: CodeToRun,
    starts: Starts = MappingProxyType({}),
    exchanges: frozenset[int] = frozenset(),
) -> list[Step]:
    """The steps of a block, its stretches compiled when they first run; each for lane sets of any kind.

    Args:
        code: the function.
        starts: where the block is several that are joined.
        exchanges: which of its instructions are exchanges in which no lane is missing, wherever this runs.
    """
    found: list[Staged | Step] = []
    staged = Staged(code)
    entered: list[CodeBlock] = []

    def settle() -> None:
        nonlocal staged, entered
        found.append(staged)
        staged = Staged(code)
        if entered:
            found.append(Entered(entered))
            entered = []

    for at, node in enumerate(block.ir):
        if at in starts:
            entered.append(starts[at])
        taken = node if at in exchanges or not isinstance(node, Exchange) else None
        if staged.take(at, taken):
            continue
        settle()
        if staged.take(at, taken):
            continue
        if isinstance(node, MemoryTransfer) and node.address.base is not None:
            found.append(CompiledTransfer(node, block.steps[at]))
        else:
            found.append(either(block.steps[at], block.tracked[at]))
    settle()
    found = [each for each in found if not isinstance(each, Staged) or each.has_any]
    live = block.live_after(each.end for each in found if isinstance(each, Staged))
    steps: list[Step] = []
    for each in found:
        steps += each.steps(block, live[each.end]) if isinstance(each, Staged) else [each]
    return steps


class Entered:
    """A step that makes known that a lane set has come to some blocks one after another. Their exchanges are
    behind all loads that the program has before them, and ahead of all others."""

    def __init__(self, blocks: list[CodeBlock]) -> None:
        self.blocks = blocks
        self._exchanges = any(getattr(block.sync_point, "exchanges", False) for block in blocks)

    def __call__(self, lane_set: LaneSet) -> None:
        """Count the blocks."""
        enter(lane_set, self.blocks)
        if self._exchanges:
            rows = lane_set.rows if lane_set.mask is None else lane_set.occupied_rows()
            lane_set.batch.happens_before.exchange(rows)


def enter(lane_set: LaneSet, blocks: list[CodeBlock]) -> None:
    """Count blocks as the scheduler does that a lane set comes to."""
    counts = lane_set.launch.counts
    for block in blocks:
        counts.instructions += lane_set.size * block.count
        counts.executed[block] = counts.executed.get(block, 0) + lane_set.size
    lane_set.schedule.budget -= len(blocks)
    lane_set.pc = blocks[-1].number
