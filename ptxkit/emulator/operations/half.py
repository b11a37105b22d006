"""Half-precision floating-point instructions on f16, bf16 and pairs of them. PTX ISA 9.7.4."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from ptxkit.asm.decode import Decoded
from ptxkit.emulator.numerics import half
from ptxkit.emulator.operation import Operations, Pure, Unsupported, computes
from ptxkit.emulator.operations import definedness
from ptxkit.isa.modifiers import Rounding

operation = Operations("half")

LEAST_NORMAL = 0x0400
OUT_OF_BOUNDS = 0x7FF7
"""The `OOB NaN` of f16 and bf16 (5.5.2), with either sign, as measured on an H200 over all codes."""


def computes_codes(instruction: Decoded, function: Callable[..., Any]) -> Pure:
    """A function of words, in which each half of a pair spoils itself alone."""
    return computes(
        instruction, function, definedness.by_parts(2, 32) if instruction.types[0].lanes == 2 else None
    )


def kind_of(instruction: Decoded) -> tuple[str, bool]:
    """The type of one number, and whether a word holds two."""
    return instruction.types[0].name.removesuffix("x2"), instruction.types[0].lanes == 2


def per_code(function: Callable[..., Any], is_pair: bool) -> Callable[..., Any]:
    """A function of uint16 codes for single codes or for pairs."""
    return half.on_codes(function) if is_pair else function


def flush_tiny(result: Any, a: Any, b: Any, c: Any = None) -> Any:
    """`.ftz` of an f16 product (plus `c`) that subnormal rounding made the least normal number: as measured
    on an H200 it is flushed, too, unless rounding to 11 bits would do the same."""
    least = half.absolute(result) == LEAST_NORMAL
    if not np.any(least):
        return result
    exact = half.widen(a, "f16").astype(np.float64) * half.widen(b, "f16")
    if c is not None:
        exact = exact + half.widen(c, "f16")
    tiny = least & (np.abs(exact) < 2.0**-14 - 2.0**-26)
    return np.where(tiny, result & np.uint16(0x8000), result)


def modified(instruction: Decoded, function: Callable[..., Any], is_product: bool = False) -> Pure:
    """A function with the instruction's `.ftz`, `.sat`, `.relu`, `.oob` around it."""
    kind, is_pair = kind_of(instruction)
    flush, oob = instruction["ftz"], instruction["oob"]
    finishing: list[Callable[..., Any]] = []
    if flush:
        finishing.append(half.flush)
    if instruction["sat"]:
        finishing.append(per_code(half.saturate, is_pair))
    if instruction["relu"]:
        finishing.append(per_code(partial(half.relu, infinity=half.INFINITY[kind]), is_pair))

    def wrapped(*operands: Any) -> Any:
        if flush:
            operands = tuple(map(half.flush, operands))
        result = function(*operands)
        if flush and is_product:
            result = per_code(flush_tiny, is_pair)(result, *operands)
        for finish in finishing:
            result = finish(result)
        return outside(result, *operands) if oob else result

    def outside_code(result: Any, *operands: Any) -> Any:
        # As measured on an H200, an addend that is the OOB NaN is a NaN like any other.
        a, b, _ = map(half.absolute, operands)
        return result * ~((a == OUT_OF_BOUNDS) | (b == OUT_OF_BOUNDS))

    outside = per_code(outside_code, is_pair)
    return computes_codes(instruction, wrapped if finishing or oob else function)


def compute(instruction: Decoded, name: str) -> Callable[..., Any]:
    """`half.compute` of one name for the instruction's type."""
    return partial(half.compute, name, *kind_of(instruction))


operation("add")(lambda instruction: modified(instruction, compute(instruction, "add")))  # PTX ISA 9.7.4.1
operation("mul")(
    lambda instruction: modified(instruction, compute(instruction, "mul"), is_product=True)
)  # 9.7.4.3


@operation("sub")
def sub(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.4.2."""
    function = compute(instruction, "add")
    return modified(instruction, lambda a, b: function(a, half.negate(b)))


@operation("fma")
def fma(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.4.4."""
    if instruction["rnd"] is not Rounding.RN:
        # ptxas takes the other modes of bf16; the manual has none of them.
        raise Unsupported("`fma` on `.bf16` without `.rn`")
    return modified(instruction, compute(instruction, "fma"), is_product=True)


def turned(turn: Callable[[Any], Any]) -> Callable[[Decoded], Pure]:
    """`neg` and `abs`. PTX ISA 9.7.4.5 and 9.7.4.6."""

    def made(instruction: Decoded) -> Pure:
        kind, is_pair = kind_of(instruction)
        # The hardware adds a zero, which leaves numbers as they are and no NaN but one.
        canonical = per_code(partial(half.canonical, infinity=half.INFINITY[kind]), is_pair)
        flush = instruction["ftz"]
        return computes_codes(instruction, lambda a: canonical(turn(half.flush(a) if flush else a)))

    return made


operation("neg")(turned(half.negate))
operation("abs")(turned(half.absolute))


def extreme(largest: bool) -> Callable[[Decoded], Pure]:
    """`min` and `max`. PTX ISA 9.7.4.7 and 9.7.4.8."""

    def made(instruction: Decoded) -> Pure:
        kind, is_pair = kind_of(instruction)
        propagate_nan, xorsign, infinity = (
            instruction["NaN"] is not None,
            instruction["xorsign"],
            half.INFINITY[kind],
        )

        def function(a: Any, b: Any) -> Any:
            if not xorsign:
                return half.extreme(a, b, largest, propagate_nan, infinity)
            magnitude = half.extreme(half.absolute(a), half.absolute(b), largest, propagate_nan, infinity)
            return magnitude | (a ^ b) & np.uint16(0x8000) * (magnitude <= infinity)

        coded = per_code(function, is_pair)
        if not instruction["ftz"]:
            return computes_codes(instruction, coded)
        return computes_codes(instruction, lambda a, b: coded(half.flush(a), half.flush(b)))

    return made


operation("min")(extreme(largest=False))
operation("max")(extreme(largest=True))


@cache
def approximation_table(function: np.ufunc, kind: str, flushes: bool) -> np.ndarray:
    """The code of a function of each of the 65536 codes; subnormal ones are zeros where it flushes."""
    codes = np.arange(65536, dtype=np.uint32)
    with np.errstate(all="ignore"):
        if flushes:
            codes = np.where(codes & 0x7F80, codes, codes & 0x8000).astype(np.uint32)
        values = half.widen(codes, kind).astype(np.float64)
        table = half.narrow(function(values), kind)
        if flushes:
            table = np.where(table & 0x7F80, table, table & 0x8000).astype(np.uint16)
    return table


def approximation(function: np.ufunc, flushed: str = "") -> Callable[[Decoded], Pure]:
    """`tanh` and `ex2`, which flushes subnormal numbers of one type. PTX ISA 9.7.4.9 and 9.7.4.10."""

    def made(instruction: Decoded) -> Pure:
        kind, is_pair = kind_of(instruction)
        table = approximation_table(function, kind, kind == flushed)
        return computes_codes(instruction, per_code(table.take, is_pair))

    return made


operation("tanh")(approximation(np.tanh))
operation("ex2")(approximation(np.exp2, flushed="bf16"))
