"""Where lanes may still go: whether all they do is end, or whether they may come to where others are."""

from __future__ import annotations

from ptxkit.asm.flow import FunctionCode
from ptxkit.emulator.faults import Site
from ptxkit.emulator.lane_set import BlockToRun, CodeToRun, LaneSet


def ends(lane_set: LaneSet) -> bool:
    """Whether a lane set does nothing more than end its threads, there or where jumps lead it."""
    if lane_set.frames:
        return False
    blocks, at = lane_set.code.blocks, lane_set.pc
    for _ in blocks:
        sites = blocks[at].sites
        if not sites or "ends" in sites[0].row.traits:
            return bool(sites)
        if not _jumps(sites[0]):
            return False
        at = blocks[at].end(lane_set)
    return False


def may_come(lane_set: LaneSet, there: LaneSet) -> bool:
    """Whether a lane set is in the same call of a function as another one, or in one that is called from it,
    on a way that leads to where that one stands."""
    depth = len(there.frames)
    if len(lane_set.frames) < depth:
        return False
    frame = lane_set if len(lane_set.frames) == depth else lane_set.frames[depth]
    if frame.code is not there.code:
        return False
    flow = there.batch.launch.program.flow(there.code.name)
    return _leads(flow, there.code, frame.pc, there.pc)


def _jumps(site: Site) -> bool:
    """Whether an instruction does nothing but go on at one other place."""
    return site.instruction.guard is None and "branches" in site.row.traits and "tgt" in site.decoded.operands


def _leads(flow: FunctionCode, code: CodeToRun, start: int, goal: int) -> bool:
    """Whether the block `start` is on a way to the block `goal`."""
    wanted = code.blocks[goal].sites[0].instruction
    first = next((block for block in code.blocks[start:] if block.sites), None)
    if first is None:
        return False
    ahead, seen = [_number(flow, first)], set[int]()
    while ahead:
        at = ahead.pop()
        if at == len(flow.instructions) or at in seen:
            continue
        if flow.instructions[at] is wanted:
            return True
        seen.add(at)
        ahead += flow.successors(at)
    return False


def _number(flow: FunctionCode, block: BlockToRun) -> int:
    return next(at for at, one in enumerate(flow.instructions) if one is block.sites[0].instruction)
