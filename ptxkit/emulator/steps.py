"""Operations as steps: functions that execute one instruction for a lane set.

Each shape of pure operation (which operands are registers, constants, conversions; whether it is guarded) has
one factory, written as text and compiled once, so that a step holds nothing but what its instruction needs.
A `tracked` step does the same work where some register has undefined bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ptxkit.dtypes import DTYPES
from ptxkit.emulator.code import Computation, MakeSteps
from ptxkit.emulator.effect import Effect
from ptxkit.emulator.faults import EmulatorFault, Site
from ptxkit.emulator.lane_set import LaneSet, Step
from ptxkit.emulator.operands import SourceOperand, TargetOperand, lanes_of, undefined_decides
from ptxkit.emulator.operation import Pure
from ptxkit.emulator.operations import definedness
from ptxkit.emulator.past_errors import leave_out
from ptxkit.emulator.scope import Sum
from ptxkit.emulator.values import RAW, constant, dtype_of, select, select_wide, viewed


@cache
def _factory(sources: str, targets: str, guard: str, several: bool) -> Callable[..., Step]:
    """A factory of steps of one shape.

    Args:
        sources: a letter an operand: `r` register, `c` constant, `x` converted register, `i` inverted
            predicate, `f` computed.
        targets: a letter a result: `r` register, `x` converted, `b` a converted `.b128`, `-` left out.
        guard: empty, `p` or `!`.
        several: whether the function returns a tuple.
    """
    names = ["function", "select", "select_wide"]
    body = ["r = lane_set.regs"]
    if guard:
        names.append("guard")
        body.append("p = r[guard]" if guard == "p" else "p = ~r[guard]")
        body += ["if p.ndim == 0 and not p:", "    return None"]
    arguments = []
    for i, letter in enumerate(sources):
        names.append(f"s{i}")
        if letter == "c":
            arguments.append(f"s{i}")
            continue
        arguments.append(f"a{i}")
        if letter == "r":
            names.append(f"t{i}")
            body += [f"a{i} = r[s{i}]", f"if a{i}.dtype is not t{i}:", f"    a{i} = a{i}.view(t{i})"]
        elif letter == "x":
            names.append(f"t{i}")
            body.append(f"a{i} = t{i}(r[s{i}])")
        elif letter == "i":
            body.append(f"a{i} = ~r[s{i}]")
        else:
            body.append(f"a{i} = s{i}(lane_set)")
    body.append(f"v = function({', '.join(arguments)})")
    for i, letter in enumerate(targets):
        if letter == "-":
            continue
        names.append(f"d{i}")
        value = f"v[{i}]" if several else "v"
        if letter in "xb":
            names.append(f"w{i}")
            value = f"w{i}({value})"
        if guard:
            chooser = "select_wide" if letter == "b" else "select"
            value = f"{value} if p.ndim == 0 else {chooser}(p, {value}, r[d{i}])"
        body.append(f"r[d{i}] = {value}")
    lines = [f"def make({', '.join(names)}):", "    def step(lane_set):"]
    lines += [f"        {line}" for line in body]
    lines += ["    return step"]
    scope: dict[str, Any] = {}
    exec(compile("\n".join(lines), f"<step {sources}>{targets}{guard}>", "exec"), scope)
    make: Callable[..., Step] = scope["make"]
    return make


def clean_step(
    operation: Pure,
    sources: Sequence[SourceOperand],
    targets: Sequence[TargetOperand | None],
    guard: SourceOperand | None,
) -> Step:
    """The step where no operand can have undefined bits."""
    letters = ""
    bound: list[Any] = []  # what the factory's parameters stand for, in order
    for source in sources:
        if source.invert:
            letters += "i"
            bound.append(source.slot)
        elif source.slot is None:
            letters += "f" if source.compute is not None else "c"
            bound.append(source.compute if source.compute is not None else source.value)
        else:
            letters += "r" if source.convert is None else "x"
            bound += [source.slot, source.dtype if source.convert is None else source.convert]
    results = ""
    for target in targets:
        if target is None:
            results += "-"
            continue
        bound.append(target.slot)
        if target.bits == 128:
            results += "b"
            bound.append(target.convert or _unchanged)
        elif target.convert is not None:
            results += "x"
            bound.append(target.convert)
        else:
            results += "r"
    mark = "" if guard is None else "!" if guard.invert else "p"
    several = len(targets) > 1
    guards = [guard.slot] if guard is not None else []
    make = _factory(letters, results, mark, several)
    return make(operation.function, select, select_wide, *guards, *bound)


def _unchanged(value: Any) -> Any:
    return value


def checked_division(step: Step, divisor: SourceOperand, guard: SourceOperand | None, site: Site) -> Step:
    """An integer division that warns where a lane divides by zero: PTX leaves the result open."""
    read = divisor.reader
    condition = guard.reader if guard is not None else None

    def checked(lane_set: LaneSet) -> Any:
        zero = read(lane_set) == 0
        if zero.any():
            wanted = condition(lane_set) if condition is not None else None
            lanes = lanes_of(lane_set, wanted, zero.shape)
            zero = zero if lanes is None else zero & lanes
            if zero.any() and (wanted is None or wanted.ndim or wanted):
                thread = lane_set.thread(*lane_set.first(zero))
                message = f"division by zero: the result of `{site.instruction.spelling}` is unspecified"
                lane_set.launch.warn("P615", message, site, (f"{thread}",))
        return step(lane_set)

    return checked


def tracked_step(
    operation: Pure,
    sources: Sequence[SourceOperand],
    targets: Sequence[TargetOperand | None],
    guard: SourceOperand | None,
    step: Step,
    site: Site,
) -> Step:
    """The step where operands may have undefined bits: `step` and what becomes of those bits."""
    readers = [source.reader for source in sources]
    results = [DTYPES[name].bits for name in operation.results]
    written = [target.slot for target in targets if target is not None]

    def tracked(lane_set: LaneSet) -> None:
        undefined = lane_set.undefined
        condition = None
        if guard is not None:
            condition = guard.reader(lane_set)
            check_guard(lane_set, guard, site)
            if condition.ndim == 0:
                if not condition:
                    return
                condition = None
        found = [source.undefined(lane_set) for source in sources]
        if not any(found):
            if condition is None:
                step(lane_set)
                for slot in written:
                    undefined.pop(slot, None)
                return
            masks: Sequence[Any] = [None] * len(results)
            origin = 0
        else:
            values = [read(lane_set) for read in readers]
            masks = propagate(operation, values, [entry and entry[0] for entry in found], results)
            first = next(entry[1] for entry in found if entry)
            origin = lane_set.launch.origin(first, site)
        before = {slot: undefined.get(slot) for slot in written}
        step(lane_set)
        for target, mask in zip(targets, masks, strict=True):
            if target is not None:
                entry = _widened(target, mask, origin)
                _set_mask(lane_set, target, entry, before[target.slot], condition)

    return tracked


def propagate(
    operation: Pure, values: Sequence[Any], masks: Sequence[Any], results: Sequence[int]
) -> Sequence[Any]:
    """The undefined bits of each result."""
    if operation.undefined is not None:
        found = operation.undefined(values, masks)
        return found if isinstance(found, tuple) else (found,)
    lanes = {DTYPES[name].lanes for name in (*operation.results, *operation.sources)}
    if len(lanes) == 1 and lanes != {1}:
        (count,) = lanes
        return [definedness.by_parts(count, bits)(values, masks) for bits in results]
    # Of 128 bits a mask has a further axis.
    lanes_of_each = [m.any(axis=-1) if m is not None and m.ndim in (1, 3) else m for m in masks]
    return [definedness.every_bit(values, lanes_of_each, bits) for bits in results]


def _widened(target: TargetOperand, mask: Any, origin: int) -> tuple[Any, int] | None:
    """A result's mask as the register has it."""
    if mask is None or not mask.any():
        return None
    if target.convert is not None:
        mask = target.convert(viewed(mask, mask.dtype))
    raw = RAW[target.bits]
    return viewed(mask, raw), origin


def _set_mask(
    lane_set: LaneSet,
    target: TargetOperand,
    entry: tuple[Any, int] | None,
    before: tuple[Any, int] | None,
    guard: Any,
) -> None:
    if guard is not None and (entry or before):
        none = lane_set.code.defined[target.slot]
        new, origin = entry or (none, 0)
        old, earlier = before or (none, 0)
        both = (select_wide if target.bits == 128 else select)(guard, new, old)
        entry = (both, origin or earlier) if both.any() else None
    if entry is None:
        lane_set.undefined.pop(target.slot, None)
    else:
        lane_set.undefined[target.slot] = entry


def no_step(lane_set: LaneSet) -> None:
    """Nothing: what an instruction does that only says where to go on."""


def effect_step(
    effect: Effect, guard: SourceOperand | None, site: Site, written: Callable[[], Sequence[int]]
) -> Step:
    """An effect's step with its guard read. `written`: gives the slots that the instruction writes."""
    run = effect.step
    if run is None or effect.link is not None:
        return no_step
    if guard is None:

        def unguarded(lane_set: LaneSet) -> Any:
            try:
                return run(lane_set, None)
            except EmulatorFault as fault:
                return leave_out(fault, run, lane_set, None, site, written)

        return unguarded
    read = guard.reader

    def step(lane_set: LaneSet) -> Any:
        condition = read(lane_set)
        if lane_set.undefined:
            check_guard(lane_set, guard, site)
        if condition.ndim == 0:
            if not condition:
                return None
            condition = None
        try:
            return run(lane_set, condition)
        except EmulatorFault as fault:
            return leave_out(fault, run, lane_set, condition, site, written)

    return step


def check_guard(lane_set: LaneSet, guard: SourceOperand, site: Site) -> None:
    """A guard with an undefined bit in an active lane is a finding."""
    entry = lane_set.undefined.get(guard.slot) if guard.slot is not None else None
    if entry is None:
        return
    mask = entry[0]
    lanes = lanes_of(lane_set, None, mask.shape)
    if (mask if lanes is None else mask & lanes).any():
        undefined_decides(lane_set, mask, entry[1], site, f"the guard `{guard.name}`")


def computation_steps(ir: Computation, site: Site) -> tuple[Step, Step]:
    """The steps of a pure instruction."""
    step = clean_step(ir.operation, ir.sources, ir.targets, ir.guard)
    if ir.operation.divides:
        step = checked_division(step, ir.sources[1], ir.guard, site)
    return step, tracked_step(ir.operation, ir.sources, ir.targets, ir.guard, step, site)


def same_step(step: Step) -> MakeSteps:
    """What gives a step that knows by itself what is undefined."""
    return lambda: (step, step)


def made_with(make: MakeSteps, wrap: Callable[[Step], Step]) -> MakeSteps:
    """What makes the steps and wraps each."""

    def both() -> tuple[Step, Step]:
        step, tracked = make()
        return wrap(step), wrap(tracked)

    return both


def sum_step(wanted: Sum) -> Step:
    """The step that puts a sum into its slot."""
    kind, slot, bits = f"u{wanted.bits}", wanted.slot, wanted.bits
    dtype = dtype_of(kind)
    operation = Pure((kind,), (kind, kind), np.add, undefined=definedness.carried)
    sources = [
        SourceOperand(dtype, bits, slot=slot, name=wanted.name),
        SourceOperand(dtype, bits, value=constant(wanted.number, kind)),
    ]
    targets = [TargetOperand(wanted.into, bits)]
    clean = clean_step(operation, sources, targets, None)
    tracked = tracked_step(operation, sources, targets, None, clean, wanted.site)
    return lambda lane_set: (tracked if lane_set.undefined else clean)(lane_set)


def after(sums: Sequence[Step], step: Step) -> Step:
    """A step behind those of the sums that it reads."""

    def both(lane_set: LaneSet) -> Any:
        for each in sums:
            each(lane_set)
        return step(lane_set)

    return both


def behind(sums: Sequence[Step], effect: Effect) -> Effect:
    """An effect whose synchronisation point and end find the sums that they read."""
    sync_point, link = effect.sync_point, effect.link
    if sync_point is not None:
        effect = effect._replace(sync_point=after(sums, sync_point))
    if link is not None:
        effect = effect._replace(link=lambda linker: after(sums, link(linker)))
    return effect
