"""Whether two devices agree: bit for bit, but for what PTX leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from compare import approximate
from compare.cases import Case, Register
from ptxkit.dtypes import DTYPES

Array = np.ndarray

MOVED = frozenset("mov selp slct copysign set prmt shfl and or xor not lop3 redux match".split())
"""Opcodes whose floating-point results are bits that were there before, or constants."""
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
        how: `bits`, `bits, any NaN` or `documented error`.
        wrong: for each thread whether the results disagree.
        compared: for how many threads there was something to compare.
        payloads: in how many threads both results are NaN with other bits, where that is left open.
        against: for a documented error, which side is wrong where: `emulator`, `gpu`.
    """

    how: str
    wrong: Array
    compared: int
    payloads: int = 0
    against: tuple[tuple[str, Array], ...] = ()


def element(type_: str) -> str:
    """The type of one lane: `f16` of `f16x2`."""
    return type_[:-2] if type_ in DTYPES and DTYPES[type_].lanes > 1 else type_


def nan_open(case: Case, register: Register) -> bool:
    """Whether the bits of a NaN in this result are left open: not for what is moved, and not where the manual
    says that the NaN is canonical (`.NaN`, `.relu`, `.satfinite`)."""
    if element(register.type) not in NAN or case.opcode in MOVED:
        return False
    return not {"NaN", "relu", "satfinite"} & set(case.modifiers)


def nans(type_: str, bits: Array) -> list[tuple[Array, int]]:
    """For each lane of a register, where it is NaN, and the mask of its bits."""
    width, infinity = NAN[element(type_)]
    lanes = DTYPES[type_].bits // width
    found = []
    for lane in range(lanes):
        value = bits >> np.uint64(lane * width) & np.uint64((1 << width - 1) - 1)
        found.append((value > np.uint64(infinity), ((1 << width) - 1) << lane * width))
    return found


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
    payloads = np.zeros(len(wrong), bool)
    how = "bits"
    for register, left, right in zip(case.outputs, emulated, measured or emulated, strict=True):
        different = (left ^ right) & np.uint64((1 << max(register.bits, 8)) - 1)
        if nan_open(case, register):
            how = "bits, any NaN"
            for (is_nan, mask), (also, _) in zip(
                nans(register.type, left), nans(register.type, right), strict=True
            ):
                both = is_nan & also
                payloads |= both & (different & np.uint64(mask) != 0)
                different = np.where(both, different & ~np.uint64(mask), different)
        wrong |= different != 0
    return Verdict(how, wrong, len(wrong), int(payloads.sum()))


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
