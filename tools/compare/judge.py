"""Whether two devices agree: bit for bit, a NaN too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from compare import approximate
from compare.cases import Case
from ptxkit.dtypes import DTYPES

Array = np.ndarray

SWAPPED = frozenset("add sub mul fma mad min max".split())
"""Opcodes of f64 whose operands ptxas puts in another order, so that of two NaN it is the other one that is
handed on (docs/emulator/hardware.md)."""
QUIET = np.uint64(1 << 51)
"""The bit that makes a NaN of f64 quiet."""
NAN = {
    #       a NaN is what is above this, without its sign
    "f16": (16, 0x7C00),
    "bf16": (16, 0x7F80),
    "tf32": (32, 0x7F800000),
    "f32": (32, 0x7F800000),
    "f64": (64, 0x7FF0000000000000),
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What comparing a case gave.

    Attributes:
        how: `bits` or `documented error`.
        wrong: for each thread whether the results disagree.
        compared: for how many threads there was something to compare.
        swapped: in how many threads the results are the NaN of different operands, where ptxas swaps them.
        against: for a documented error, which side is wrong where: `emulator`, `gpu`.
    """

    how: str
    wrong: Array
    compared: int
    swapped: int = 0
    against: tuple[tuple[str, Array], ...] = ()


def element(type_: str) -> str:
    """The type of one lane: `f16` of `f16x2`."""
    return type_[:-2] if type_ in DTYPES and DTYPES[type_].lanes > 1 else type_


def swaps(case: Case) -> bool:
    """Whether ptxas may put the operands of a statement in another order, and a NaN shows it."""
    return case.opcode in SWAPPED and not case.memory and case.outputs[0].type == "f64"


def other_nan(inputs: Sequence[Array], emulated: Array, measured: Array) -> Array:
    """Where two results of f64 are those NaNs, made quiet, of different operands."""
    of_operand = [(measured == bits | QUIET) & _is_nan(bits) for bits in inputs]
    return _is_nan(emulated) & (emulated != measured) & np.any(of_operand, axis=0)


def _is_nan(bits: Array) -> Array:
    return bits & np.uint64((1 << 63) - 1) > np.uint64(NAN["f64"][1])


def compare(
    case: Case, inputs: Sequence[Array], emulated: Sequence[Array], measured: Sequence[Array] | None
) -> Verdict:
    """Compare the results of a case.

    Args:
        case: what was executed.
        inputs, emulated, measured: bits, an array a register; `measured` is None where there is no GPU: then
            only a documented error can be wrong.
    """
    (first, *_) = case.outputs
    type_ = element(first.type)
    if approximate.is_approximate(case):
        return _documented(case, type_, inputs, emulated[0], measured[0] if measured else None)
    wrong = np.zeros(len(emulated[0]), bool)
    for register, left, right in zip(case.outputs, emulated, measured or emulated, strict=True):
        wrong |= (left ^ right) & np.uint64((1 << max(register.bits, 8)) - 1) != 0
    swapped = other_nan(inputs, emulated[0], (measured or emulated)[0]) if swaps(case) else np.zeros(1, bool)
    return Verdict("bits", wrong & ~swapped, len(wrong), int(swapped.sum()))


def _documented(
    case: Case, type_: str, inputs: Sequence[Array], emulated: Array, measured: Array | None
) -> Verdict:
    width = DTYPES[type_].bits
    sides = [("emulator", emulated)] + ([("gpu", measured)] if measured is not None else [])
    wrong = np.zeros(len(emulated), bool)
    promised = np.zeros(len(emulated), bool)
    against = []
    for side, bits in sides:
        bad = np.zeros(len(emulated), bool)
        for lane in range(DTYPES[case.outputs[0].type].bits // width):
            numbers = tuple(decoded(type_, each, lane) for each in inputs)
            outside, claimed = approximate.outside(case, type_, numbers, decoded(type_, bits, lane))
            bad |= outside
            promised |= claimed
        against.append((side, bad))
        wrong |= bad
    return Verdict("documented error", wrong, int(promised.sum()), against=tuple(against))


def decoded(type_: str, bits: Array, lane: int = 0) -> Array:
    """A lane of a register as float64."""
    width = DTYPES[type_].bits
    words = (bits >> np.uint64(lane * width)).astype(f"u{width // 8}")
    real = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}[type_]
    with np.errstate(invalid="ignore"):
        return words.view(real).astype(np.float64)
