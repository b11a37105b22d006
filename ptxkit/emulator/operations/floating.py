"""Floating-point instructions on f32, f32x2 and f64, f32 sums with f16 or bf16 too. PTX ISA 9.7.3, 9.7.5."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ptxkit.asm.decode import Decoded
from ptxkit.emulator.numerics import approximate, double, half, single
from ptxkit.emulator.numerics.bits import UNSIGNED, select
from ptxkit.emulator.operation import Operation, Operations, Pure, Unsupported, computes
from ptxkit.emulator.operations import definedness
from ptxkit.isa.modifiers import Property, Rounding

operation, mixed = Operations("floating"), Operations("mixed")


def finish(function: Callable[..., Any], flush: bool, saturate: bool = False) -> Callable[..., Any]:
    """A function of f32 with `.ftz` on operands and result, and `.sat`."""
    if flush:
        inner = function

        def function(*operands: Any) -> Any:
            return single.flush(inner(*map(single.flush, operands)))

    return saturated(function) if saturate else function


def finish_rounded(
    function: Callable[..., Any], exact: Callable[..., Any] | None, mode: str, flush: bool, saturate: bool
) -> Callable[..., Any]:
    """`finish` of a function that rounds by `mode` what `exact` gives (`single.flush_result`)."""
    if not flush or exact is None:
        return finish(function, flush, saturate)

    def flushed(*operands: Any) -> Any:
        operands = tuple(map(single.flush, operands))
        return single.flush_result(function(*operands), lambda: exact(*operands), mode)

    return saturated(flushed) if saturate else flushed


def saturated(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of f32 with `.sat`."""

    def clamped(*operands: Any) -> Any:
        return single.saturate(function(*operands))

    return clamped


def on_f32_pairs(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of f32 as one of `f32x2`, the low word's number first."""

    def packed(*words: Any) -> Any:
        return np.ascontiguousarray(
            function(*(np.asarray(word)[..., None].view(np.float32) for word in words))
        ).view(np.uint64)[..., 0]

    return packed


EXACT: dict[Callable[..., Any], Callable[..., Any]] = {
    single.multiply: single.exact_product,
    single.fma: single.exact_fma,
    single.divide: single.exact_quotient,
    single.reciprocal: single.exact_reciprocal,
}
"""What the functions that can round up to the least normal number round; sums and roots can't."""


def rounded(of_f32: Callable[..., Any], of_f64: Callable[..., Any]) -> Operation:
    """What exists for f32, f32x2 and f64 with a rounding mode, which is `.rn` where none is written."""

    def made(instruction: Decoded) -> Pure:
        mode = instruction["rnd"] or Rounding.RN
        if instruction.types[0].name == "f64":
            return computes(instruction, partial(of_f64, mode=mode))
        function = finish_rounded(
            partial(of_f32, mode=mode), EXACT.get(of_f32), mode, instruction["ftz"], instruction["sat"]
        )
        if instruction.types[0].lanes == 2:
            return computes(instruction, on_f32_pairs(function), definedness.by_parts(2, 64))
        return computes(instruction, function)

    return made


def subtract_f32(a: Any, b: Any, mode: str) -> Any:
    """`a - b`, the sum with the negative."""
    return single.add(a, np.negative(b), mode)


operation("add")(rounded(single.add, double.add))  # PTX ISA 9.7.3.3
operation("sub")(rounded(subtract_f32, double.subtract))  # 9.7.3.4
operation("mul")(rounded(single.multiply, double.multiply))  # 9.7.3.5
operation("fma", "mad")(rounded(single.fma, double.fma))  # 9.7.3.6 and 9.7.3.7


def unrounded(function: Callable[..., Any]) -> Operation:
    """What exists for f32 alone, without a rounding mode."""
    return lambda instruction: computes(instruction, finish(function, instruction["ftz"]))


operation("div.full")(unrounded(partial(single.divide, mode="rn")))
operation("sin")(unrounded(approximate.sine))  # 9.7.3.18
operation("cos")(unrounded(approximate.cosine))  # 9.7.3.19
operation("lg2")(unrounded(approximate.logarithm))  # 9.7.3.20
operation("ex2")(unrounded(approximate.exponential))  # 9.7.3.21
operation("tanh")(unrounded(approximate.tangent))  # 9.7.3.22


@operation("div")
def div(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.3.8."""
    made = unrounded(approximate.divide) if instruction["approx"] else rounded(single.divide, double.divide)
    return made(instruction)


def reciprocal_f64(a: Any, mode: str) -> Any:
    """`1 / a`."""
    return double.divide(np.ones_like(a), a, mode)


@operation("rcp")
def rcp(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.3.13 and 9.7.3.14."""
    if instruction["flush"]:
        raise Unsupported("`rcp` with `.ftz`")
    if not instruction["approx"]:
        return rounded(single.reciprocal, reciprocal_f64)(instruction)
    if instruction.types[0].name == "f64":
        return computes(instruction, approximate.reciprocal_f64)
    return unrounded(partial(single.reciprocal, mode="rn"))(instruction)


@operation("sqrt")
def sqrt(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.3.15. `.approx` is the rounded root, too."""
    return rounded(single.square_root, double.square_root)(instruction)


@operation("rsqrt")
def rsqrt(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.3.16 and 9.7.3.17."""
    if instruction.types[0].name == "f32":
        return unrounded(approximate.reciprocal_square_root)(instruction)
    if instruction["ftz"]:
        return computes(instruction, approximate.reciprocal_square_root_f64)
    return computes(instruction, lambda a: double.hand_on(1 / np.sqrt(a), a))


def turned(turn: Callable[[Any], Any]) -> Operation:
    """`abs` and `neg`. PTX ISA 9.7.3.9 and 9.7.3.10."""

    def made(instruction: Decoded) -> Pure:
        # The hardware adds a zero, which leaves numbers as they are, of f32 one NaN, of f64 quiet ones.
        if instruction.types[0].name == "f64":
            return computes(instruction, lambda a: double.hand_on(turn(a), a))
        return unrounded(lambda a: single.canonical(turn(a)))(instruction)

    return made


operation("abs")(turned(np.abs))
operation("neg")(turned(np.negative))


def extreme(largest: bool) -> Operation:
    """`min` and `max`. PTX ISA 9.7.3.11 and 9.7.3.12."""

    def made(instruction: Decoded) -> Pure:
        if instruction.types[0].name == "f64":
            return computes(instruction, partial(double.extreme, largest=largest))
        propagate_nan, xorsign, absolute = (
            instruction["NaN"] is not None,
            instruction["xorsign"],
            instruction["abs"],
        )

        def function(*operands: Any) -> Any:
            numbers = [np.abs(operand) for operand in operands] if absolute else operands
            result = numbers[0]
            for number in numbers[1:]:
                result = single.extreme(result, number, largest, propagate_nan)
            if xorsign:
                sign = operands[0].view(np.uint32) ^ operands[1].view(np.uint32)
                signed = np.copysign(result, sign.view(np.float32))
                result = select(np.isnan(result), *np.broadcast_arrays(result, signed))
            return result

        return unrounded(function)(instruction)

    return made


operation("min")(extreme(largest=False))
operation("max")(extreme(largest=True))


@operation("testp")
def testp(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.3.1."""
    if instruction["op"] is None:
        raise Unsupported(f"`testp` needs one of {', '.join(f'`.{test}`' for test in Property)}")
    smallest = np.finfo(str(instruction.types[0].numpy)).smallest_normal
    functions: dict[Property, Callable[[Any], Any]] = {
        Property.FINITE: np.isfinite,
        Property.INFINITE: np.isinf,
        Property.NUMBER: lambda a: a == a,
        Property.NOT_A_NUMBER: np.isnan,
        Property.NORMAL: lambda a: np.isfinite(a) & ((np.abs(a) >= smallest) | (a == 0)),
        Property.SUBNORMAL: lambda a: (np.abs(a) < smallest) & (a != 0),
    }
    return computes(instruction, functions[instruction["op"]])


@operation("copysign")
def copysign(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.3.2."""
    size = instruction.types[0].bits
    word = f"b{size}"
    sign: Any = UNSIGNED[size](1 << size - 1)

    def function(a: Any, b: Any) -> Any:
        return (a & sign) | (b & ~sign)

    return computes(instruction, function, definedness.bitwise, results=(word,), sources=(word, word))


def mixed_precision(of_f32: Callable[..., Any]) -> Operation:
    """What exists for f32 with a rounding mode, of half-precision operands, widened, and f32 `c`."""

    def made(instruction: Decoded) -> Pure:
        kind, mode = instruction.type_of("a").name, instruction.find(Rounding) or Rounding.RN

        def widened(*operands: Any) -> Any:
            *halves, c = operands
            return of_f32(*(half.widen(each, kind) for each in halves), c, mode)

        return computes(instruction, finish(widened, flush=False, saturate=instruction["sat"] is not None))

    return made


mixed("add")(mixed_precision(single.add))  # PTX ISA 9.7.5.1
mixed("sub")(mixed_precision(subtract_f32))  # 9.7.5.2
mixed("fma")(mixed_precision(single.fma))  # 9.7.5.3
