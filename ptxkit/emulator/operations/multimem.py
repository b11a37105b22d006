"""Accesses of all copies behind a multimem address. PTX ISA 9.7.10.13 to 15, 9.7.14.8."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from ptxkit.dtypes import DType
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.multimem_access import MultimemAccessor
from ptxkit.emulator.numerics import half, single
from ptxkit.emulator.numerics.formats import Format, encode, values
from ptxkit.emulator.numerics.rounding import f64_to_f32
from ptxkit.emulator.operations.atomic import reduction
from ptxkit.emulator.operations.load_store import order_of, store
from ptxkit.emulator.operations.packed_floats import format_of, numbers, packed_word
from ptxkit.emulator.reductions import CHAINED, combiner
from ptxkit.emulator.values import RAW, dtype_of, ones, viewed
from ptxkit.isa.modifiers import MemoryOperation, MemoryOrder

movement, later = Effects("movement"), Effects("memory")

Reduce = Callable[[list[Any]], Any]
"""The word of a list of words, one of each device."""


@movement("multimem.st")
@later("multimem.st.async")
def multimem_st(instruction: ScopedInstruction) -> Effect:
    """`multimem.st{.sem.scope}{.global}{.vec}.type [a], b`; `multimem.st.async.release.scope{.global}.type
    [a], b`, which no thread can tell from it."""
    return store(instruction, MultimemAccessor)


@movement("multimem.red")
@later("multimem.red.async")
def multimem_red(instruction: ScopedInstruction) -> Effect:
    """`multimem.red{.sem.scope}{.global}.op{.vec}.type [a], b`;
    `multimem.red.async.release.scope{.global}.add.type [a], b`."""
    return reduction(instruction, MultimemAccessor)


@movement("multimem.ld_reduce")
def ld_reduce(instruction: ScopedInstruction) -> Effect:
    """`multimem.ld_reduce{.sem.scope}{.global}.op{.acc_prec}{.vec}.type d, [a]`.

    The copies are reduced in the order of the team's devices, in random order as the seed chooses.
    """
    kind, operator = instruction.the(DType), instruction.the(MemoryOperation)
    count, width = instruction["vec"] or 1, kind.bytes
    raw, dtype, site = RAW[width * 8], dtype_of(kind.name), instruction.site
    targets = [instruction.target(part, kind.name) for part in instruction.parts("d")]
    accessor = MultimemAccessor(instruction.address("a"), instruction.space_of("a"), width * count, site)
    order = order_of(instruction, MemoryOrder.ACQUIRE)
    reduced = reduction_of(operator, kind, instruction["acc_prec"])
    seen = seen_as(kind)
    instruction.scope.program.touches("global", width * count)

    def step(lane_set: LaneSet, guard: Any) -> bool:
        launch = lane_set.launch
        if order is not MemoryOrder.WEAK:
            lane_set.schedule.poll(lane_set, site)
        accesses = accessor(lane_set, guard)
        if not accesses:
            return False
        loaded, tainted = [], False
        for access in accesses:
            launch.counts.load("global", access.lanes * width * count)
            access.count_traffic(width * count, "loaded")
            loaded.append((access, *access.load(width, count, order)))
        if launch.random is not None:
            loaded = [loaded[at] for at in launch.random.permutation(len(loaded))]
        for i, target in enumerate(targets):
            if target is None:
                continue
            word = reduced([viewed(words[i], seen) for _, words, _ in loaded])
            mask, origin = _undefined([(access, masks) for access, _, masks in loaded], i, width * count)
            if mask is not None:
                if operator not in (MemoryOperation.AND, MemoryOperation.OR, MemoryOperation.XOR):
                    mask = np.where(mask != 0, ones(width * 8), raw.type(0))
                tainted = True
            target.write(lane_set, viewed(word, dtype), None if mask is None else (mask, origin), guard)
        return tainted

    return Effect(step)


def seen_as(kind: DType) -> Any:
    """The type of numpy's that words are reduced in: integers and wide floats as they are, others as bits."""
    return dtype_of(kind.name) if kind.is_integer or kind.name in ("f32", "f64") else RAW[kind.bits]


def _undefined(loaded: list[Any], element: int, size: int) -> tuple[Any, int]:
    """The undefined bits of an element in any of the copies, and their origin; None where there are none."""
    found, origin = None, 0
    for access, masks in loaded:
        if masks is not None and masks[element].any():
            origin = origin or access.origin(size)
            found = masks[element] if found is None else found | masks[element]
    return found, origin


def reduction_of(operator: MemoryOperation, kind: DType, precision: Any) -> Reduce:
    """How words of a type are reduced to one."""
    if kind.is_integer or not kind.is_float:
        return lambda words: reduce(CHAINED[operator], words)
    if kind.bits // kind.lanes == 8:
        return _of_bytes(operator, kind, precision is not None)
    if precision is not None:
        name = kind.name.removesuffix("x2")

        def in_single(words: list[Any]) -> Any:
            if len(words) == 1:
                return words[0]
            total = reduce(lambda a, b: single.add(a, b, "rn"), [numbers(word, kind) for word in words])
            return packed_word(half.narrow(total.astype(np.float64), name), kind)

        return in_single
    combine = combiner(operator, kind, False)
    return lambda words: reduce(combine, words)


def _of_bytes(operator: MemoryOperation, kind: DType, in_half: bool) -> Reduce:
    """Numbers of 8 bits: of sums every one is rounded to the type, or to f16 and only the last to it."""
    form = format_of(kind)
    pick = {MemoryOperation.MAX: np.fmax, MemoryOperation.MIN: np.fmin}.get(operator)

    def reduced(words: list[Any]) -> Any:
        if len(words) == 1:
            return words[0]
        total, *others = [numbers(word, kind).astype(np.float64) for word in words]
        for part in others:
            if pick is not None:
                total = pick(total, part)
            elif in_half:
                total = (total + part).astype(np.float16).astype(np.float64)
            else:
                total = values(form.name)[_codes(total + part, form)]
        return packed_word(_codes(total, form), kind)

    return reduced


def _codes(exact: Any, form: Format) -> Any:
    """Numbers rounded to a format once, to nearest even."""
    return encode(f64_to_f32(exact, "odd"), form, "rn")
