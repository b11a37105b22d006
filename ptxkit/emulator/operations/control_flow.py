"""Control flow: `bra`, `brx.idx`, `call`, `ret`, `exit`, and the traps. PTX ISA 9.7.12, 9.7.19."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.asm import tree
from ptxkit.emulator.calls import leave
from ptxkit.emulator.effect import Effect, Effects, Links, hint
from ptxkit.emulator.faults import fault
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.issuers import Issuers, by_thread
from ptxkit.emulator.lane_set import End, LaneSet
from ptxkit.emulator.operands import lanes_of, undefined_decides
from ptxkit.emulator.operation import Unsupported
from ptxkit.emulator.values import distinct
from ptxkit.isa.modifiers import GridAction

effect = Effects("control")
synchronization = Effects("synchronization")
miscellaneous, later = Effects("miscellaneous"), Effects("memory")


@effect("bra")
def bra(instruction: ScopedInstruction) -> Effect:
    """`bra{.uni} target`."""
    operand = instruction.operands["tgt"]
    label = instruction.scope.meaning(operand) if isinstance(operand, tree.Name) else None
    if label is None or label not in instruction.scope.flow.at:
        raise Unsupported("a branch to something that is no label")

    def link(linker: Links) -> End:
        target = linker.block(label)
        return lambda lane_set: target

    return Effect(link=link, target=label, uniform=instruction["uni"] is not None)


@effect("brx.idx")
def brx(instruction: ScopedInstruction) -> Effect:
    """`brx.idx{.uni} index, targets`."""
    table = instruction.operands["tlist"]
    symbol = instruction.scope.meaning(table) if isinstance(table, tree.Name) else None
    labels = instruction.scope.flow.table(symbol) if symbol is not None else None
    if not labels:
        raise Unsupported("a branch through something that is no list of labels")
    source = instruction.source("index")
    read, site = source.reader, instruction.site

    def link(linker: Links) -> End:
        targets = [linker.block(label) for label in labels]

        def end(lane_set: LaneSet) -> int:
            value = read(lane_set)
            entry = source.undefined(lane_set)
            if entry is not None:
                _check(lane_set, entry, site, f"the branch index `{source.name}`")
            return _fan_out(lane_set, value, lambda number: _target(lane_set, number, value))

        def _target(lane_set: LaneSet, number: int, value: Any) -> int:
            if number < len(targets):
                return targets[number]
            thread = lane_set.thread(*lane_set.first(value == value.dtype.type(number)))
            message = f"branch index out of range: expected less than {len(targets)}, found {number}"
            raise fault("P614", message, site, (f"{thread}",))

        return end

    return Effect(link=link)


def _check(lane_set: LaneSet, entry: tuple[Any, int], site: Any, what: str) -> None:
    mask, origin = entry
    lanes = lanes_of(lane_set, None, mask.shape)
    if (mask if lanes is None else (mask != 0) & lanes).any():
        undefined_decides(lane_set, mask, origin, site, what)


def _fan_out(lane_set: LaneSet, value: Any, where: Any) -> int:
    """Part a lane set by a value; `where` gives the block for each."""
    lanes = lanes_of(lane_set, None, value.shape)
    if value.ndim == 0:
        return int(where(int(value)))
    found = distinct(value if lanes is None else value[lanes])
    if len(found) == 1:
        return int(where(int(found[0])))
    for number in found:
        same = value == number
        mask = same if lane_set.mask is None else same & lane_set.mask
        pc = where(int(number))
        lane_set.schedule.ready.append(lane_set.part(mask, lane_set.count(same), pc))
    return -1


@effect("exit")
def exit_(instruction: ScopedInstruction) -> Effect:
    """`exit`."""

    def end(lane_set: LaneSet) -> int:
        lane_set.schedule.retire(lane_set)
        return -1

    return Effect(link=lambda linker: end)


@effect("ret")
def ret(instruction: ScopedInstruction) -> Effect:
    """`ret{.uni}`."""
    return Effect(link=lambda linker: leave)


@miscellaneous("trap")
def trap(instruction: ScopedInstruction) -> Effect:
    """`trap`."""
    site = instruction.site

    def end(lane_set: LaneSet) -> int:
        thread = lane_set.thread(*lane_set.first(np.True_))
        raise fault("P610", "trap: the kernel stopped itself", site, (f"{thread}",))

    return Effect(link=lambda linker: end)


later("trace.mark")(hint)  # Nothing listens to these.
miscellaneous("brkpt", "pmevent")(hint)


@synchronization("griddepcontrol")
def griddepcontrol(instruction: ScopedInstruction) -> Effect:
    """`griddepcontrol.action`. Launches run one after the other; but only who has waited may count on it."""
    if instruction["action"] is GridAction.LAUNCH_DEPENDENTS:
        instruction.scope.program.launches_dependents = True
        return hint(instruction)

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        lane_set.batch.happens_before.launches_done(distinct(issuers.rows))

    return Effect(by_thread(step))


@miscellaneous("nanosleep")
def nanosleep(instruction: ScopedInstruction) -> Effect:
    """`nanosleep.u32 t`: others have their turn, and the clock moves on."""
    read = instruction.source("t").reader

    def step(lane_set: LaneSet, guard: Any) -> None:
        longest = int(read(lane_set).max())
        lane_set.launch.clock += min(longest, 1_000_000)
        lane_set.schedule.poll(lane_set, lane_set.polled)

    return Effect(step)
