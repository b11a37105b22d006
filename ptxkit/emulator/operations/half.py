"""Half-precision floating-point instructions on f16, bf16 and pairs of them. PTX ISA 9.7.4."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from ptxkit.emulator.numerics import half
from ptxkit.emulator.operation import Modifiers, Pure, Unsupported, pure
from ptxkit.emulator.operations import definedness

TYPES = ("f16", "f16x2", "bf16", "bf16x2")
INFINITY = {"f16": 0x7C00, "bf16": 0x7F80}
LEAST_NORMAL = 0x0400
OUT_OF_BOUNDS = 0x7FF7
"""The `OOB NaN` of f16 and bf16 (5.5.2), with either sign, as measured on an H200 over all codes."""


def spoiled(is_pair: bool) -> definedness.Propagate | None:
    """How undefined bits pass through: in a pair each half spoils itself alone."""
    return definedness.by_parts(2, 32) if is_pair else None


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


def modified(m: Modifiers, function: Callable[..., Any], kind: str, is_pair: bool) -> Callable[..., Any]:
    """A function with the instruction's `.ftz`, `.sat`, `.relu`, `.oob` around it."""
    flush, saturate, relu, oob = m.flag("ftz"), m.flag("sat"), m.flag("relu"), m.flag("oob")
    if (kind == "bf16" and (flush or saturate)) or (saturate and (relu or oob)):
        raise Unsupported(f"`{m.opcode}.{kind}` with these modifiers")
    if (relu or oob) and m.opcode != "fma":
        raise Unsupported(f"`{m.opcode}.{kind}` with `.relu` or `.oob`")
    finishing: list[Callable[..., Any]] = []
    if flush:
        finishing.append(half.flush)
    if saturate:
        finishing.append(per_code(half.saturate, is_pair))
    if relu:
        finishing.append(per_code(partial(half.relu, infinity=INFINITY[kind]), is_pair))

    def wrapped(*operands: Any) -> Any:
        if flush:
            operands = tuple(map(half.flush, operands))
        result = function(*operands)
        if flush and m.opcode in ("mul", "fma"):
            result = per_code(flush_tiny, is_pair)(result, *operands)
        for finish in finishing:
            result = finish(result)
        return outside(result, *operands) if oob else result

    def outside_code(result: Any, *operands: Any) -> Any:
        # As measured on an H200, an addend that is the OOB NaN is a NaN like any other.
        a, b, _ = map(half.absolute, operands)
        return result * ~((a == OUT_OF_BOUNDS) | (b == OUT_OF_BOUNDS))

    outside = per_code(outside_code, is_pair)
    return wrapped if finishing or oob else function


@pure("add", "sub", "mul", types=TYPES)
def add_sub_mul(m: Modifiers) -> Pure:
    """PTX ISA 9.7.4.1 to 9.7.4.3."""
    m.flag("rn")
    name = m.type().name
    kind, is_pair = name.removesuffix("x2"), name.endswith("x2")
    function: Callable[..., Any] = partial(half.compute, "mul" if m.opcode == "mul" else "add", kind, is_pair)
    if m.opcode == "sub":
        add = function

        def function(a: Any, b: Any) -> Any:
            return add(a, half.negate(b))

    return Pure((name,), (name, name), modified(m, function, kind, is_pair), undefined=spoiled(is_pair))


@pure("fma", types=TYPES)
def fma(m: Modifiers) -> Pure:
    """PTX ISA 9.7.4.4."""
    m.need("rn")
    name = m.type().name
    kind, is_pair = name.removesuffix("x2"), name.endswith("x2")
    function = partial(half.compute, "fma", kind, is_pair)
    return Pure((name,), (name,) * 3, modified(m, function, kind, is_pair), undefined=spoiled(is_pair))


@pure("neg", "abs", types=TYPES)
def neg_abs(m: Modifiers) -> Pure:
    """PTX ISA 9.7.4.5 and 9.7.4.6."""
    name = m.type().name
    kind, is_pair = name.removesuffix("x2"), name.endswith("x2")
    turn = half.negate if m.opcode == "neg" else half.absolute
    # The hardware adds a zero, which leaves numbers as they are and no NaN but one.
    canonical = per_code(partial(half.canonical, infinity=INFINITY[kind]), is_pair)
    flush = m.flag("ftz")
    if flush and kind == "bf16":
        raise Unsupported(f"`{m.opcode}.ftz.{name}`")

    def function(a: Any) -> Any:
        return canonical(turn(half.flush(a) if flush else a))

    return Pure((name,), (name,), function, undefined=spoiled(is_pair))


@pure("min", "max", types=TYPES)
def min_max(m: Modifiers) -> Pure:
    """PTX ISA 9.7.4.7 and 9.7.4.8."""
    name = m.type().name
    kind, is_pair = name.removesuffix("x2"), name.endswith("x2")
    flush, propagate_nan = m.flag("ftz"), m.flag("NaN")
    xorsign, absolute = m.flag("xorsign"), m.flag("abs")
    if xorsign != absolute or (flush and kind == "bf16"):
        raise Unsupported(f"`{m.opcode}.{name}` with these modifiers")
    largest, infinity = m.opcode == "max", INFINITY[kind]

    def function(a: Any, b: Any) -> Any:
        if not xorsign:
            return half.extreme(a, b, largest, propagate_nan, infinity)
        magnitude = half.extreme(half.absolute(a), half.absolute(b), largest, propagate_nan, infinity)
        return magnitude | (a ^ b) & np.uint16(0x8000) * (magnitude <= infinity)

    coded = per_code(function, is_pair)
    if flush:
        unflushed = coded

        def coded(a: Any, b: Any) -> Any:
            return unflushed(half.flush(a), half.flush(b))

    return Pure((name,), (name, name), coded, undefined=spoiled(is_pair))


@cache
def approximation_table(opcode: str, kind: str) -> np.ndarray:
    """The code of `ex2` or `tanh` for each of the 65536 codes."""
    codes = np.arange(65536, dtype=np.uint32)
    with np.errstate(all="ignore"):
        if opcode == "ex2" and kind == "bf16":
            codes = np.where(codes & 0x7F80, codes, codes & 0x8000).astype(np.uint32)
        values = half.widen(codes, kind).astype(np.float64)
        values = (np.exp2 if opcode == "ex2" else np.tanh)(values)
        table = half.narrow(values, kind)
        if opcode == "ex2" and kind == "bf16":
            table = np.where(table & 0x7F80, table, table & 0x8000).astype(np.uint16)
    return table


@pure("ex2", "tanh", types=TYPES)
def approximation(m: Modifiers) -> Pure:
    """PTX ISA 9.7.4.9 and 9.7.4.10."""
    m.need("approx")
    name = m.type().name
    kind, is_pair = name.removesuffix("x2"), name.endswith("x2")
    if m.opcode == "ex2" and kind == "bf16":
        m.need("ftz")
    table = approximation_table(m.opcode, kind)
    return Pure((name,), (name,), per_code(table.take, is_pair), undefined=spoiled(is_pair))
