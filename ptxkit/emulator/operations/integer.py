"""Integer arithmetic instructions. PTX ISA 9.7.1."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ptxkit.emulator.numerics import bits, integers
from ptxkit.emulator.operation import Modifiers, Pure, Unsupported, pure
from ptxkit.emulator.operations import definedness

SCALARS = ("u16", "u32", "u64", "s16", "s32", "s64")
SIGNED = ("s16", "s32", "s64")
PAIRS = ("u16x2", "s16x2")
WIDE = {"u16": "u32", "u32": "u64", "s16": "s32", "s32": "s64"}


def on_pairs(function: Any, signed: bool) -> Any:
    """A function of 16-bit words as one of 32-bit words that hold two each."""
    view = np.int16 if signed else np.uint16

    def packed(*operands: Any) -> Any:
        halves = [np.asarray(word)[..., None].view(view) for word in operands]
        return function(*halves).view(np.uint32)[..., 0]

    return packed


@pure("add", "sub", types=SCALARS + PAIRS)
def add_sub(m: Modifiers) -> Pure:
    """PTX ISA 9.7.1.1 and 9.7.1.2."""
    kind = m.type().name
    function: Any = np.add if m.opcode == "add" else np.subtract
    if kind in PAIRS:
        if m.opcode == "sub":
            raise Unsupported(f"`sub.{kind}`")
        pairwise = on_pairs(function, kind == "s16x2")
        return Pure((kind,), (kind, kind), pairwise, undefined=definedness.by_parts(2, 32))
    undefined = definedness.carried
    if m.flag("sat"):
        if kind != "s32":
            raise Unsupported(f"`{m.opcode}.sat.{kind}`")
        function = integers.add_saturating if m.opcode == "add" else integers.subtract_saturating
        return Pure((kind,), (kind, kind), function)
    return Pure((kind,), (kind, kind), function, undefined=undefined)


def product(m: Modifiers, kind: str) -> tuple[str, Any]:
    """The part of the product that `.lo`, `.hi`, `.wide` select: its type and the function."""
    match m.need("lo", "hi", "wide"):
        case "lo":
            return kind, np.multiply
        case "hi":
            return kind, integers.multiply_high
        case _:
            if kind not in WIDE:
                raise Unsupported(f"`{m.opcode}.wide.{kind}`")
            return WIDE[kind], integers.multiply_wide


@pure("mul", types=SCALARS)
def mul(m: Modifiers) -> Pure:
    """PTX ISA 9.7.1.3."""
    kind = m.type().name
    result, function = product(m, kind)
    carried = definedness.carried if function is np.multiply else None
    return Pure((result,), (kind, kind), function, undefined=carried)


@pure("mad", types=SCALARS)
def mad(m: Modifiers) -> Pure:
    """PTX ISA 9.7.1.4."""
    kind = m.type().name
    result, multiply = product(m, kind)
    if m.flag("sat"):
        if kind != "s32" or multiply is not integers.multiply_high:
            raise Unsupported(f"`mad.sat.{kind}`")
        return Pure((kind,), (kind,) * 3, lambda a, b, c: integers.add_saturating(multiply(a, b), c))
    carried = definedness.carried if multiply is np.multiply else None
    return Pure((result,), (kind, kind, result), lambda a, b, c: multiply(a, b) + c, undefined=carried)


@pure("mul24", "mad24", types=("u32", "s32"))
def mul24(m: Modifiers) -> Pure:
    """PTX ISA 9.7.1.5 and 9.7.1.6."""
    kind = m.type().name
    high = m.need("lo", "hi") == "hi"
    saturate = m.flag("sat")
    if saturate and (m.opcode, kind, high) != ("mad24", "s32", True):
        raise Unsupported(f"`{m.opcode}.sat.{kind}`")
    wide = np.int64 if kind == "s32" else np.uint64
    narrow = np.int32 if kind == "s32" else np.uint32

    def low_bits(a: Any) -> Any:
        return (a << narrow(8) >> narrow(8)).astype(wide)

    def multiply(a: Any, b: Any) -> Any:
        full = low_bits(a) * low_bits(b)
        return (full >> wide(16) if high else full).astype(narrow)

    if m.opcode == "mul24":
        return Pure((kind,), (kind, kind), multiply)
    add = integers.add_saturating if saturate else np.add
    return Pure((kind,), (kind,) * 3, lambda a, b, c: add(multiply(a, b), c))


@pure("sad", types=SCALARS)
def sad(m: Modifiers) -> Pure:
    """PTX ISA 9.7.1.7."""
    kind = m.type().name
    return Pure((kind,), (kind,) * 3, lambda a, b, c: c + integers.absolute_difference(a, b))


@pure("div", "rem", types=SCALARS)
def div_rem(m: Modifiers) -> Pure:
    """PTX ISA 9.7.1.8 and 9.7.1.9."""
    kind = m.type().name
    return Pure((kind,), (kind, kind), integers.divide if m.opcode == "div" else integers.remainder)


@pure("abs", "neg", types=SIGNED)
def abs_neg(m: Modifiers) -> Pure:
    """PTX ISA 9.7.1.10 and 9.7.1.11."""
    kind = m.type().name
    if m.opcode == "abs":
        return Pure((kind,), (kind,), np.abs)
    return Pure((kind,), (kind,), np.negative, undefined=definedness.carried)


@pure("min", "max", types=SCALARS + PAIRS)
def min_max(m: Modifiers) -> Pure:
    """PTX ISA 9.7.1.12 and 9.7.1.13."""
    kind = m.type().name
    function: Any = np.minimum if m.opcode == "min" else np.maximum
    if m.flag("relu"):
        if kind not in ("s32", "s16x2"):
            raise Unsupported(f"`{m.opcode}.relu.{kind}`")
        extreme = function

        def function(a: Any, b: Any) -> Any:
            return np.maximum(extreme(a, b), a.dtype.type(0))

    if kind in PAIRS:
        pairwise = on_pairs(function, kind == "s16x2")
        return Pure((kind,), (kind, kind), pairwise, undefined=definedness.by_parts(2, 32))
    return Pure((kind,), (kind, kind), function)


@pure("popc", "clz", types=("b32", "b64"))
def popc_clz(m: Modifiers) -> Pure:
    """PTX ISA 9.7.1.14 and 9.7.1.15."""
    kind = m.type().name
    if m.opcode == "popc":
        return Pure(("u32",), (kind,), bits.count_ones)
    last = np.uint32(int(kind[1:]) - 1)
    return Pure(("u32",), (kind,), lambda a: last - bits.highest_one(a))


@pure("bfind", types=("u32", "u64", "s32", "s64"))
def bfind(m: Modifiers) -> Pure:
    """PTX ISA 9.7.1.16."""
    kind = m.type().name
    as_shift = m.flag("shiftamt")
    last = np.uint32(int(kind[1:]) - 1)

    def function(a: Any) -> Any:
        if a.dtype.kind == "i":
            a = bits.unsigned(a ^ (a >> a.dtype.type(last)))
        position = bits.highest_one(a)
        if not as_shift:
            return position
        # 0xffffffff, for none, is the one position whose complement to `last` exceeds it.
        amount = last - position
        return amount | np.negative((amount > last).astype(np.uint32))

    return Pure(("u32",), (kind,), function)


@pure("fns", types=("b32",))
def fns(m: Modifiers) -> Pure:
    """PTX ISA 9.7.1.17."""
    m.type()
    return Pure(("b32",), ("b32", "u32", "s32"), integers.find_nth_set)


@pure("brev", types=("b32", "b64"))
def brev(m: Modifiers) -> Pure:
    """PTX ISA 9.7.1.18."""
    kind = m.type().name
    return Pure((kind,), (kind,), bits.reverse, undefined=definedness.moved(bits.reverse))


@pure("bfe", types=("u32", "u64", "s32", "s64"))
def bfe(m: Modifiers) -> Pure:
    """PTX ISA 9.7.1.19."""
    kind = m.type().name
    undefined = definedness.moved(integers.extract_field, data=1, signed=kind[0] == "s")
    return Pure((kind,), (kind, "u32", "u32"), integers.extract_field, undefined=undefined)


@pure("bfi", types=("b32", "b64"))
def bfi(m: Modifiers) -> Pure:
    """PTX ISA 9.7.1.20."""
    kind = m.type().name
    undefined = definedness.moved(integers.insert_field, data=2)
    return Pure((kind,), (kind, kind, "u32", "u32"), integers.insert_field, undefined=undefined)


@pure("szext", types=("u32", "s32"))
def szext(m: Modifiers) -> Pure:
    """PTX ISA 9.7.1.21."""
    kind = m.type().name
    function = partial(integers.extend, wrap=m.need("clamp", "wrap") == "wrap")
    undefined = definedness.moved(function, data=1, signed=kind == "s32")
    return Pure((kind,), (kind, "u32"), function, undefined=undefined)


@pure("bmsk", types=("b32",))
def bmsk(m: Modifiers) -> Pure:
    """PTX ISA 9.7.1.22."""
    m.type()
    function = partial(integers.mask_field, wrap=m.need("clamp", "wrap") == "wrap")
    return Pure(("b32",), ("u32", "u32"), function)


@pure("dp4a", "dp2a")
def dot_product(m: Modifiers) -> Pure:
    """PTX ISA 9.7.1.23 and 9.7.1.24."""
    kinds = m.need("u32", "s32"), m.need("u32", "s32")
    function: Any = partial(integers.dot_bytes, a_signed=kinds[0] == "s32", b_signed=kinds[1] == "s32")
    if m.opcode == "dp2a":
        function = partial(
            integers.dot_halves,
            a_signed=kinds[0] == "s32",
            b_signed=kinds[1] == "s32",
            high=m.need("lo", "hi") == "hi",
        )
    return Pure(("b32",), ("b32",) * 3, function)
