"""Blocks that run as one: those which only warp-synchronous instructions part, where no lane is missing.

A block begins at each `shfl.sync` or `vote.sync`, as lanes may have to wait there for others. Where all lanes
of their warps are together, and the member mask names them all, nobody has to; then a block and those behind
it have one plan, with the exchanges as part of its stretches.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ptxkit.emulator.code import CodeBlock, Computation, Exchange, IRNode, MemoryTransfer
from ptxkit.emulator.faults import EmulatorFault
from ptxkit.emulator.jit.plan import enter, plan
from ptxkit.emulator.lane_set import CodeToRun, LaneSet, Step
from ptxkit.emulator.operands import SourceOperand
from ptxkit.emulator.sync_points import EVERY, WarpSyncPoint


class BlockChain:
    """A block with those behind it.

    Args:
        blocks: they; all but the last go on with the next in any case.
        code: the function.
        masks: the registers that must hold the mask of all lanes in the beginning.
        exchanges: whether the member mask of each block's first instruction is then that of all lanes.

    Attributes:
        steps: what runs; None before they first do.
    """

    def __init__(
        self, blocks: Sequence[CodeBlock], code: CodeToRun, masks: Sequence[int], exchanges: Sequence[bool]
    ) -> None:
        self.blocks = blocks
        self._code = code
        self._masks = masks
        self._exchanges = exchanges
        self.steps: list[Step] | None = None

    def __call__(self, lane_set: LaneSet) -> bool:
        """Run them for a lane set. Returns whether that could be done: else nothing has happened."""
        schedule = lane_set.schedule
        if lane_set.mask is not None or lane_set.joint is not None or schedule.ready:
            return False
        if schedule.budget <= len(self.blocks) or lane_set.launch.random is not None:
            return False  # Another one might have its turn on the way.
        regs, undefined = lane_set.regs, lane_set.undefined
        for slot in self._masks:
            if regs[slot].ndim or regs[slot] != EVERY or slot in undefined:
                return False
        if self.steps is None:
            self.steps = self._plan()
        try:
            for step in self.steps:
                step(lane_set)
        except EmulatorFault as fault:
            self._fail(lane_set, fault)
            raise
        return True

    def _plan(self) -> list[Step]:
        starts, whole = {}, []
        at = 0
        for block, exchanges in zip(self.blocks, self._exchanges, strict=True):
            if at:
                starts[at] = block
            if exchanges:
                whole.append(at)
            at += block.count
        return plan(joined(self.blocks), self._code, starts, frozenset(whole))

    def _fail(self, lane_set: LaneSet, fault: EmulatorFault) -> None:
        """An instruction ended the launch: the lane set has come to its block and no further."""
        numbers = [block.number for block in self.blocks]
        left = list(self.blocks[numbers.index(lane_set.pc) + 1 :])
        span = fault.diagnostics[0].span
        for number, block in enumerate(left):
            if any(site.span == span for site in block.sites):
                enter(lane_set, left[: number + 1])


def joined(blocks: Sequence[CodeBlock]) -> CodeBlock:
    """Blocks as one."""
    made = CodeBlock(blocks[0].number, live=blocks[0].live, live_out=blocks[-1].live_out)
    made.count = sum(block.count for block in blocks)
    made.sites = [site for block in blocks for site in block.sites]
    made.ir = [node for block in blocks for node in block.ir]
    made.reads = [each for block in blocks for each in block.reads]
    made.kills = [each for block in blocks for each in block.kills]
    made.set_steps(
        [step for block in blocks for step in block.steps],
        [step for block in blocks for step in block.tracked],
    )
    return made


def chain(block: CodeBlock, code: CodeToRun) -> BlockChain | None:
    """The longest chain that begins with a block; None where it is no more than the block's plan."""
    masks = Masks()
    exchanges = [_begins_whole(block, masks)]
    found = [block]
    masks.pass_by(block)
    while found[-1].straight:
        following = code.blocks[found[-1].number + 1]
        assert isinstance(following, CodeBlock)
        if not _begins_whole(following, masks):
            break
        masks.pass_by(following)
        found.append(following)
        exchanges.append(True)
    if len(found) == 1 and not exchanges[0]:
        return None
    return BlockChain(found, code, [*masks.asked], exchanges)


def _begins_whole(block: CodeBlock, masks: Masks) -> bool:
    """Whether a block begins with an instruction of all lanes of a warp, if the masks hold what is asked."""
    point = block.sync_point
    if not isinstance(point, WarpSyncPoint) or point.guard is not None or point.mask is None:
        return False
    return masks.whole(point.mask)


class Masks:
    """What is known of member masks on the way through blocks.

    Attributes:
        asked: the registers that must name all lanes in the beginning.
    """

    def __init__(self) -> None:
        self.asked: dict[int, None] = {}
        self._whole: set[int] = set()
        self._lost: set[int] = set()
        self._all_lost = False

    def whole(self, mask: SourceOperand) -> bool:
        """Whether a mask names all lanes, if those that are asked for do."""
        if mask.slot is None:
            return mask.value is not None and int(mask.value) == EVERY
        if mask.convert is not None:
            return False
        if mask.slot in self._whole:
            return True
        if self._all_lost or mask.slot in self._lost:
            return False
        self.asked[mask.slot] = None
        return True

    def pass_by(self, block: CodeBlock) -> None:
        """Take note of what a block writes."""
        for node, kills, guard in zip(block.ir, block.kills, block.guards, strict=True):
            for slot in _written(node, kills):
                self._whole.discard(slot)
                self._lost.add(slot)
            if node is None and guard is not None:
                self._whole.clear()
                self._all_lost = True
            if isinstance(node, Computation) and _all_lanes(node):
                (target,) = node.writes
                self._whole.add(target)


def _written(node: IRNode, kills: Sequence[int]) -> set[int]:
    """The slots that an instruction may write; of one without a node, what it surely writes."""
    if isinstance(node, Computation):
        return node.writes
    if isinstance(node, Exchange):
        return {slot for each in node.computations for slot in each.writes}
    if isinstance(node, MemoryTransfer):
        return {target.slot for target in node.targets if target is not None}
    return {*kills}


def _all_lanes(node: Computation) -> bool:
    """Whether an instruction makes a register the mask of all lanes."""
    if node.form.row.name != "mov" or node.guard is not None or len(node.sources) != 1:
        return False
    value, targets = node.sources[0].value, node.targets
    return (
        len(targets) == 1
        and targets[0] is not None
        and targets[0].convert is None
        and targets[0].bits == 32
        and isinstance(value, np.generic)
        and value.itemsize == 4
        and int(value.view(np.uint32)) == EVERY
    )
