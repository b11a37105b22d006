"""The stack: `alloca`, `stacksave`, `stackrestore`. PTX ISA 9.7.17.

A stack pointer counts from the running function's local variables, and grows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.emulator.calls import reach_local
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operands import TargetOperand, put, undefined_decides
from ptxkit.emulator.values import dtype_of

effect = Effects("stack")


@effect("alloca")
def alloca(instruction: ScopedInstruction) -> Effect:
    """`alloca.type ptr, size{, immAlign}`."""
    align = np.uint64(max(instruction.constant("immAlign") or 8, 8))
    read, target, site = instruction.checked_source("size"), instruction.target("ptr"), instruction.site
    pointer = instruction.scope.stack_pointer
    keeper = TargetOperand(pointer, 64)
    dtype = dtype_of(instruction["type"].name)

    def step(lane_set: LaneSet, guard: Any) -> None:
        begin = lane_set.regs[pointer] + np.uint64(lane_set.local)
        begin = (begin + (align - np.uint64(1))) & ~(align - np.uint64(1))
        amount = read(lane_set).astype(np.uint64)
        end = np.where(amount > ~begin, ~np.uint64(0), begin + amount)
        active = lane_set.active(guard)
        furthest = end if end.ndim == 0 or active is None else np.where(active, end, np.uint64(0))
        top = max(lane_set.top, int(furthest.max()))
        reach_local(lane_set, top, site)
        lane_set.top = top
        keeper.write_raw(lane_set, end - np.uint64(lane_set.local), None, guard)
        put(target, lane_set, begin.astype(dtype), None, guard)

    return Effect(step)


@effect("stacksave")
def stacksave(instruction: ScopedInstruction) -> Effect:
    """`stacksave.type d`."""
    target = instruction.target("d")
    pointer, dtype = instruction.scope.stack_pointer, dtype_of(instruction["type"].name)

    def step(lane_set: LaneSet, guard: Any) -> None:
        if target is not None:
            target.write(
                lane_set, (lane_set.regs[pointer] + np.uint64(lane_set.local)).astype(dtype), None, guard
            )

    return Effect(step)


@effect("stackrestore")
def stackrestore(instruction: ScopedInstruction) -> Effect:
    """`stackrestore.type a`."""
    source = instruction.source("a")
    read, site = source.reader, instruction.site
    keeper = TargetOperand(instruction.scope.stack_pointer, 64)

    def step(lane_set: LaneSet, guard: Any) -> None:
        entry = source.undefined(lane_set)
        if entry is not None:
            undefined_decides(lane_set, entry[0], entry[1], site, f"the stack pointer `{source.name}`")
        keeper.write_raw(lane_set, read(lane_set).astype(np.uint64) - np.uint64(lane_set.local), None, guard)

    return Effect(step)
