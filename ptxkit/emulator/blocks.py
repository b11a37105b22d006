"""A function's compiled instructions cut into the blocks that the machine runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptxkit.asm.bit_sets import BitSets, numbers_in
from ptxkit.asm.flow import FunctionCode as Flow
from ptxkit.asm.flow import basic_blocks
from ptxkit.emulator.code import CodeBlock, IRNode, MakeSteps
from ptxkit.emulator.effect import Effect, Links
from ptxkit.emulator.faults import Site
from ptxkit.emulator.lane_set import End, LaneSet
from ptxkit.emulator.operands import SourceOperand
from ptxkit.emulator.steps import check_guard
from ptxkit.emulator.values import WARP, first_true


def _check_uniform(lane_set: LaneSet, taken: Any, rest: Any, site: Site) -> None:
    """Lanes of a warp that are together at a `.uni` branch must go the same way."""
    shape = (lane_set.n, WARP)
    split = np.broadcast_to(taken, shape).any(axis=1) & np.broadcast_to(rest, shape).any(axis=1)
    if (row := first_true(split)) is not None:
        lane = int(np.argmax(np.broadcast_to(taken, shape)[row]))
        other = int(np.argmax(np.broadcast_to(rest, shape)[row]))
        notes = (f"{lane_set.thread(row, lane)} takes the branch", f"{lane_set.thread(row, other)} does not")
        message = f"the lanes of a warp disagree at `{site.instruction.spelling}`"
        lane_set.launch.report("P626", message, site, notes, "leave `.uni` out")


def fall_through(following: int) -> End:
    """The end of a block that the next one follows."""
    return lambda lane_set: following


def guarded_end(
    guard: SourceOperand | None,
    site: Site,
    uniform: bool,
    end: End,
    number: int,
    following: int,
    target: int | None,
) -> End:
    """The end of a block whose last instruction may have a guard: lanes that it doesn't hold for go on.

    Args:
        guard: the guard, if there is one.
        uniform: whether the lanes of a warp must agree on the guard.
        end: the end without the guard.
        number: the block.
        following: the block of the lanes that go on.
        target: the one block that `end` leads to, if there is but one.
    """
    if guard is None:
        return end
    read = guard.reader

    def guarded(lane_set: LaneSet) -> int:
        condition = read(lane_set)
        if lane_set.undefined:
            check_guard(lane_set, guard, site)
        lanes = lane_set.count(condition)
        if lanes == 0:
            return following
        if lanes == lane_set.size:
            return end(lane_set)
        taken = condition if lane_set.mask is None else condition & lane_set.mask
        rest = ~condition if lane_set.mask is None else lane_set.mask & ~condition
        if uniform:
            _check_uniform(lane_set, taken, rest, site)
        ready = lane_set.schedule.ready
        ready.append(lane_set.part(rest, lane_set.size - lanes, following))
        if target is not None:
            ready.append(lane_set.part(taken, lanes, target))
            return -1
        # The block holds this instruction alone, so its live slots are what the end needs.
        parted = lane_set.part(taken, lanes, number)
        parted.pc = end(parted)
        if parted.pc >= 0:
            ready.append(parted)
        return -1

    return guarded


@dataclass(slots=True)
class Compiled:
    """An instruction before it is linked.

    Attributes:
        make: makes the steps that do its work, without and with undefined bits.
        guard: the predicate before it.
        effect: its synchronisation point, and how it ends a block.
        ir: what it does, for the `jit`.
    """

    site: Site
    make: MakeSteps
    guard: SourceOperand | None = None
    effect: Effect = field(default_factory=Effect)
    ir: IRNode = None


def cut(
    flow: Flow,
    items: Sequence[Compiled],
    reads: BitSets,
    kills: BitSets,
    assigned: int,
    behind_call: Callable[[End, int], End],
) -> tuple[list[CodeBlock], int]:
    """Cut a function into blocks.

    Args:
        flow: the function.
        items: its instructions, compiled.
        reads, kills: for each what it reads and surely overwrites, as slots.
        assigned: the slots that have a value when the function starts.
        behind_call: makes the end of a block of a call's end and the slots that are live behind it.

    Returns:
        The blocks, and the slots that may be read before they are written.
    """
    cuts: set[int] = set()
    for number, item in enumerate(items):
        effect = item.effect
        if effect.sync_point is not None:
            cuts.add(number)
        if effect.link is not None:
            cuts.add(number + 1)
            if effect.alone or (item.guard is not None and effect.target is None):
                cuts.add(number)
    ranges = basic_blocks(flow, sorted(cuts), reads, kills, assigned)
    block_at = {block.start: i for i, block in enumerate(ranges)}
    block_at[len(items)] = len(ranges)
    blocks: list[CodeBlock] = []
    for i, block in enumerate(ranges):
        own = items[block.start : block.stop]
        read_last = block.live_out | reads[block.stop - 1]
        made = CodeBlock(i, count=len(own), live=numbers_in(block.live_in), live_out=read_last)
        last = own[-1]
        if last.effect.link is not None:
            linker = Links(flow, block_at, i)
            target = linker.block(last.effect.target) if last.effect.target is not None else None
            end = last.effect.link(linker)
            if "calls" in last.site.row.traits:
                end = behind_call(end, block.live_out)
            made.end = guarded_end(last.guard, last.site, last.effect.uniform, end, i, i + 1, target)
        else:
            made.end, made.straight = fall_through(i + 1), True
        made.reads = reads.numbers[block.start : block.stop]
        made.kills = kills.numbers[block.start : block.stop]
        for item in own:
            made.makers.append(item.make)
            made.sites.append(item.site)
            made.guards.append(item.guard)
            made.ir.append(item.ir)
        made.sync_point = own[0].effect.sync_point
        blocks.append(made)
    return blocks, ranges[0].live_in & ranges[0].unassigned_in if ranges else 0
