"""Floating-point instructions on f32, f32x2 and f64. PTX ISA 9.7.3."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ptxkit.emulator.numerics import approximate, double, single
from ptxkit.emulator.numerics.bits import select
from ptxkit.emulator.operation import Modifiers, Pure, Unsupported, pure
from ptxkit.emulator.operations import definedness

ROUNDINGS = ("rn", "rz", "rm", "rp")
SATURATED = ("add", "sub", "mul", "fma", "mad")


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


def arithmetic(
    m: Modifiers, count: int, of_f32: Callable[..., Any], of_f64: Callable[..., Any], mode: str
) -> Pure:
    """An operation on `count` sources that exists for f32, f32x2 and f64 with a rounding mode."""
    kind = m.type().name
    if kind == "f64":
        return Pure((kind,), (kind,) * count, partial(of_f64, mode=mode))
    flush = m.flag("ftz")
    saturate = kind == "f32" and m.opcode in SATURATED and m.flag("sat")
    function = finish_rounded(partial(of_f32, mode=mode), EXACT.get(of_f32), mode, flush, saturate)
    if kind == "f32x2":
        undefined = definedness.by_parts(2, 64)
        return Pure((kind,), (kind,) * count, on_f32_pairs(function), undefined=undefined)
    return Pure((kind,), (kind,) * count, function)


def subtract_f32(a: Any, b: Any, mode: str) -> Any:
    """`a - b`, the sum with the negative."""
    return single.add(a, np.negative(b), mode)


@pure("add", "sub", "mul", types=("f32", "f32x2", "f64"))
def add_sub_mul(m: Modifiers) -> Pure:
    """PTX ISA 9.7.3.3 to 9.7.3.5."""
    mode = m.choose(*ROUNDINGS, default="rn") or "rn"
    functions: dict[str, tuple[Any, Any]] = {
        "add": (single.add, double.add),
        "sub": (subtract_f32, double.subtract),
        "mul": (single.multiply, double.multiply),
    }
    return arithmetic(m, 2, *functions[m.opcode], mode)


@pure("fma", types=("f32", "f32x2", "f64"))
def fma(m: Modifiers) -> Pure:
    """PTX ISA 9.7.3.6."""
    return arithmetic(m, 3, single.fma, double.fma, m.need(*ROUNDINGS))


@pure("mad", types=("f32", "f64"))
def mad(m: Modifiers) -> Pure:
    """PTX ISA 9.7.3.7."""
    # Without a mode, as files of PTX ISA 3.0 and earlier have it, ptxas takes .rn.
    return arithmetic(m, 3, single.fma, double.fma, m.choose(*ROUNDINGS, default="rn") or "rn")


@pure("div", types=("f32", "f64"))
def div(m: Modifiers) -> Pure:
    """PTX ISA 9.7.3.8."""
    mode = m.need(*ROUNDINGS, "approx", "full")
    if mode in ROUNDINGS:
        return arithmetic(m, 2, single.divide, double.divide, mode)
    m.need("f32")
    function = approximate.divide if mode == "approx" else partial(single.divide, mode="rn")
    return Pure(("f32",), ("f32", "f32"), finish(function, m.flag("ftz")))


def reciprocal_f64(a: Any, mode: str) -> Any:
    """`1 / a`."""
    return double.divide(np.ones_like(a), a, mode)


@pure("rcp", "sqrt", types=("f32", "f64"))
def rcp_sqrt(m: Modifiers) -> Pure:
    """PTX ISA 9.7.3.13 to 9.7.3.15."""
    functions = (
        (single.reciprocal, reciprocal_f64) if m.opcode == "rcp" else (single.square_root, double.square_root)
    )
    mode = m.need(*ROUNDINGS, "approx")
    if mode in ROUNDINGS:
        return arithmetic(m, 1, *functions, mode)
    if m.opcode == "rcp" and m.flag("f64"):
        m.need("ftz")
        return Pure(("f64",), ("f64",), approximate.reciprocal_f64)
    m.need("f32")
    return Pure(("f32",), ("f32",), finish(partial(functions[0], mode="rn"), m.flag("ftz")))


@pure("rsqrt", types=("f32", "f64"))
def rsqrt(m: Modifiers) -> Pure:
    """PTX ISA 9.7.3.16 and 9.7.3.17."""
    m.need("approx")
    kind, flush = m.type().name, m.flag("ftz")
    if kind == "f32":
        return Pure(("f32",), ("f32",), finish(approximate.reciprocal_square_root, flush))
    if flush:
        return Pure(("f64",), ("f64",), approximate.reciprocal_square_root_f64)
    return Pure(("f64",), ("f64",), lambda a: double.hand_on(1 / np.sqrt(a), a))


APPROXIMATIONS: dict[str, Callable[[Any], Any]] = {
    "sin": approximate.sine,
    "cos": approximate.cosine,
    "lg2": approximate.logarithm,
    "ex2": approximate.exponential,
    "tanh": approximate.tangent,
}


@pure("sin", "cos", "lg2", "ex2", "tanh", types=("f32",))
def approximation(m: Modifiers) -> Pure:
    """PTX ISA 9.7.3.18 to 9.7.3.22."""
    m.need("approx")
    m.need("f32")
    flush = m.opcode != "tanh" and m.flag("ftz")
    return Pure(("f32",), ("f32",), finish(APPROXIMATIONS[m.opcode], flush))


@pure("abs", "neg", types=("f32", "f64"))
def abs_neg(m: Modifiers) -> Pure:
    """PTX ISA 9.7.3.9 and 9.7.3.10."""
    kind = m.type().name
    turn: Callable[..., Any] = np.abs if m.opcode == "abs" else np.negative
    # The hardware adds a zero, which leaves numbers as they are, of f32 one NaN, of f64 quiet ones.
    if kind == "f64":
        return Pure((kind,), (kind,), lambda a: double.hand_on(turn(a), a))
    return Pure((kind,), (kind,), finish(lambda a: single.canonical(turn(a)), m.flag("ftz")))


@pure("min", "max", types=("f32", "f64"))
def min_max(m: Modifiers) -> Pure:
    """PTX ISA 9.7.3.11 and 9.7.3.12."""
    kind = m.type().name
    largest = m.opcode == "max"
    if kind == "f64":
        return Pure((kind,), (kind, kind), partial(double.extreme, largest=largest))
    flush, propagate_nan = m.flag("ftz"), m.flag("NaN")
    xorsign, absolute = m.flag("xorsign"), m.flag("abs")
    count = max(len(m.immediates) - 1, 2)
    if (xorsign and (not absolute or count > 2)) or (absolute and not xorsign and count < 3):
        raise Unsupported(f"`{m.opcode}` with `.abs` or `.xorsign` and {count} sources")

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

    return Pure((kind,), (kind,) * count, finish(function, flush))


@pure("testp", types=("f32", "f64"))
def testp(m: Modifiers) -> Pure:
    """PTX ISA 9.7.3.1."""
    test = m.need("finite", "infinite", "number", "notanumber", "normal", "subnormal")
    kind = m.type().name
    smallest = np.finfo(np.float32 if kind == "f32" else np.float64).smallest_normal
    functions: dict[str, Callable[[Any], Any]] = {
        "finite": np.isfinite,
        "infinite": np.isinf,
        "number": lambda a: a == a,
        "notanumber": np.isnan,
        "normal": lambda a: np.isfinite(a) & ((np.abs(a) >= smallest) | (a == 0)),
        "subnormal": lambda a: (np.abs(a) < smallest) & (a != 0),
    }
    return Pure(("pred",), (kind,), functions[test])


@pure("copysign", types=("f32", "f64"))
def copysign(m: Modifiers) -> Pure:
    """PTX ISA 9.7.3.2."""
    kind = f"b{m.type().bits}"
    word = np.uint32 if kind == "b32" else np.uint64
    sign = word(1 << int(kind[1:]) - 1)

    def function(a: Any, b: Any) -> Any:
        return (a & sign) | (b & ~sign)

    return Pure((kind,), (kind, kind), function, undefined=definedness.bitwise)
