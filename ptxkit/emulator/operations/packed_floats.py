"""Sums and products of packed floats of several formats, as PTX ISA 9.4 brought them.

Four numbers of 8, 6 and 4 bits are computed exactly and rounded once; two of f16x2, bf16x2 and f32x2 at once
as the scalar instructions of mixed precision are. PTX ISA 9.7.4, 9.7.5.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from ptxkit.asm.decode import Decoded
from ptxkit.dtypes import DTYPES, DType
from ptxkit.emulator.numerics import bits, half, single
from ptxkit.emulator.numerics.formats import FORMATS, Format, encode, values
from ptxkit.emulator.numerics.rounding import f64_to_f32
from ptxkit.emulator.operation import Pure, computes
from ptxkit.emulator.operations import definedness
from ptxkit.isa.modifiers import Rounding


def format_of(packed: DType) -> Format:
    """The format of each number; those of e2m1p4 are e2m1 in the low half of a byte."""
    return FORMATS[packed.name.removesuffix(f"x{packed.lanes}").removesuffix("p4")]


@cache
def single_values(name: str) -> np.ndarray:
    """The f32 that each code of a format of up to 8 bits stands for."""
    return values(name).astype(np.float32)


def numbers(word: Any, packed: DType) -> Any:
    """The numbers of a packed word as f32, exactly, along a new last axis, the lowest first."""
    word, field = np.asarray(word)[..., None], packed.bits // packed.lanes
    if packed.name == "f32x2":
        return word.view(np.float32)
    if packed.name == "s2f6x2":
        return word.view(np.int8) * np.float32(2.0**-6)
    form = format_of(packed)
    if field == 16:
        return half.widen(word.view(np.uint16), form.name)
    # Padding bits beyond a code are ignored.
    places = (np.arange(packed.lanes) * field).astype(word.dtype)
    return single_values(form.name).take(word >> places & word.dtype.type((1 << form.bits) - 1))


def packed_word(lanes: Any, packed: DType) -> Any:
    """Numbers or codes along the last axis laid into words of a packed type."""
    if packed.name != "f32x2":
        lanes = lanes.astype(bits.UNSIGNED[packed.bits // packed.lanes])
    return np.ascontiguousarray(lanes).view(bits.UNSIGNED[packed.bits])[..., 0]


def exact_sum(a: Any, b: Any) -> Any:
    """`a + b` of f32 in f64. What that rounds off decides about no tie, for `b` is of the result's type."""
    return a.astype(np.float64) + b.astype(np.float64)


def minus(function: Callable[..., Any]) -> Callable[..., Any]:
    """A sum with its last term negated."""

    def difference(*operands: Any) -> Any:
        *others, last = operands
        return function(*others, np.negative(last))

    return difference


def by_number(instruction: Decoded, function: Callable[..., Any]) -> Pure:
    """A function of f32 arrays, as `numbers` has them, to numbers or codes of the result's type."""
    result = instruction.type_of("d")
    sources = [DTYPES[name] for _, name in instruction.values(written=False)]

    def packed(*words: Any) -> Any:
        lanes = [numbers(word, source) for word, source in zip(words, sources, strict=True)]
        return packed_word(function(*lanes), result)

    return computes(instruction, packed, definedness.by_parts(result.lanes, result.bits))


def computed(instruction: Decoded, exact: Callable[..., Any], rounded: Callable[..., Any]) -> Pure:
    """A sum or product. `exact`: it on f32 in f64, rounded so that rounding once more to eight bits
    gives what exact values do. `rounded`: it on f32, rounded by a mode, which comes last."""
    result = instruction.type_of("d")
    if result.name == "f32x2":
        return by_number(instruction, partial(rounded, mode=instruction.find(Rounding) or Rounding.RN))
    target = format_of(result)
    if result.lanes == 4:
        saturate = instruction["satfinite"] is not None

        def once(*operands: Any) -> Any:
            return encode(f64_to_f32(exact(*operands), "odd"), target, "rn", saturate=saturate)

        return by_number(instruction, once)
    flush = instruction["ftz"]

    def towards_zero(*operands: Any) -> Any:
        # Rounding toward zero twice is rounding so once.
        value = rounded(*map(single.flush, operands) if flush else operands, mode=Rounding.RZ)
        codes = encode(value, target, "rz").astype(np.uint16)
        return half.flush(codes) if flush else codes

    return by_number(instruction, towards_zero)


def add(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.4.1, 9.7.5.1."""
    return computed(instruction, exact_sum, single.add)


def sub(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.4.2, 9.7.5.2."""

    def rounded(a: Any, b: Any, mode: str) -> Any:
        return single.add(a, np.negative(b), mode)

    return computed(instruction, minus(exact_sum), rounded)


def mul(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.4.3."""
    first, second = (DTYPES[name] for _, name in instruction.values(written=False))
    if first.bits == second.bits and first.lanes == second.lanes == 2 and first.name != second.name:
        return mixed_product(instruction, first, second)
    return computed(instruction, single.exact_product, single.multiply)


def mixed_product(instruction: Decoded, first: DType, second: DType) -> Pure:
    """The product of f16x2 and bf16x2 in the type of the first, into which the second is converted before."""
    target, other = format_of(first), format_of(second)

    def function(a: Any, b: Any) -> Any:
        converted = encode(half.widen(half.halves(b), other.name), target, "rn").astype(np.uint16)
        return half.compute("mul", target.name, True, a, half.pair(converted))

    return computes(instruction, function, definedness.by_parts(2, 32))


def fma(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.4.4, 9.7.5.3."""
    return computed(instruction, single.exact_fma, single.fma)
