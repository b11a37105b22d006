"""Integer arithmetic instructions. PTX ISA 9.7.1."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ptxkit.asm.decode import Decoded
from ptxkit.dtypes import DType
from ptxkit.emulator.numerics import bits, integers
from ptxkit.emulator.operation import Operations, Pure, computes
from ptxkit.emulator.operations.definedness import by_parts, carried, moved
from ptxkit.isa.modifiers import Mode

operation, packed_operation = Operations("integer"), Operations("packed")
elementwise = operation.elementwise


def elements_of(type_: DType) -> Any:
    """The numpy type of one integer of a packed type."""
    return (bits.SIGNED if type_.is_signed else bits.UNSIGNED)[type_.bits // type_.lanes]


def by_element(instruction: Decoded, function: Any) -> Pure:
    """A function of integers for single ones and, part by part, for packed ones."""
    type_ = instruction.types[-1]
    if type_.lanes == 1:
        return computes(instruction, function)
    view = elements_of(type_)

    def packed(*operands: Any) -> Any:
        parts = [np.asarray(word)[..., None].view(view) for word in operands]
        return function(*parts).view(np.uint32)[..., 0]

    return computes(instruction, packed, by_parts(type_.lanes, 32))


@operation("add")
def add(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.1.1."""
    if instruction["sat"]:
        return computes(instruction, integers.add_saturating)
    return (
        by_element(instruction, np.add)
        if instruction.types[-1].lanes > 1
        else computes(instruction, np.add, carried)
    )


@operation("sub")
def sub(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.1.2."""
    if instruction["sat"]:
        return computes(instruction, integers.subtract_saturating)
    return computes(instruction, np.subtract, carried)


elementwise("mul.lo", np.multiply, carried)  # PTX ISA 9.7.1.3
elementwise("mul.hi", integers.multiply_high)
elementwise("mul.wide", integers.multiply_wide)
elementwise("mad.lo", lambda a, b, c: a * b + c, carried)  # 9.7.1.4
elementwise("mad.wide", lambda a, b, c: integers.multiply_wide(a, b) + c)


@operation("mad.hi")
def mad_hi(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.1.4."""
    add = integers.add_saturating if instruction["sat"] else np.add
    return computes(instruction, lambda a, b, c: add(integers.multiply_high(a, b), c))


def low_24_bits(a: Any) -> Any:
    """The lower 24 bits of 32, extended to 64."""
    eight = a.dtype.type(8)
    return (a << eight >> eight).astype(np.int64 if a.dtype.kind == "i" else np.uint64)


def multiply_24(a: Any, b: Any, low: int = 0) -> Any:
    """32 bits of the product of two 24-bit integers, from bit `low` on."""
    product = low_24_bits(a) * low_24_bits(b)
    return (product >> product.dtype.type(low)).astype(a.dtype)


elementwise("mul24.lo", multiply_24)  # 9.7.1.5
elementwise("mul24.hi", partial(multiply_24, low=16))
elementwise("mad24.lo", lambda a, b, c: multiply_24(a, b) + c)  # 9.7.1.6


@operation("mad24.hi")
def mad24_hi(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.1.6."""
    add = integers.add_saturating if instruction["sat"] else np.add
    return computes(instruction, lambda a, b, c: add(multiply_24(a, b, low=16), c))


elementwise("sad", lambda a, b, c: c + integers.absolute_difference(a, b))  # 9.7.1.7
elementwise("div", integers.divide, divides=True)  # 9.7.1.8
elementwise("rem", integers.remainder, divides=True)  # 9.7.1.9
elementwise("abs", np.abs)  # 9.7.1.10
elementwise("neg", np.negative, carried)  # 9.7.1.11


def extreme(function: Any) -> Any:
    """The operation `min` or `max`. PTX ISA 9.7.1.12 and 9.7.1.13."""

    def made(instruction: Decoded) -> Pure:
        if not instruction["relu"]:
            return by_element(instruction, function)
        return by_element(instruction, lambda a, b: np.maximum(function(a, b), a.dtype.type(0)))

    return made


operation("min")(extreme(np.minimum))
operation("max")(extreme(np.maximum))

elementwise("popc", bits.count_ones)  # 9.7.1.14


@operation("clz")
def clz(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.1.15."""
    last = np.uint32(instruction.types[0].bits - 1)
    return computes(instruction, lambda a: last - bits.highest_one(a))


@operation("bfind")
def bfind(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.1.16."""
    as_shift, last = instruction["shiftamt"], np.uint32(instruction.types[0].bits - 1)

    def function(a: Any) -> Any:
        if a.dtype.kind == "i":
            a = bits.unsigned(a ^ (a >> a.dtype.type(last)))
        position = bits.highest_one(a)
        if not as_shift:
            return position
        # 0xffffffff, for none, is the one position whose complement to `last` exceeds it.
        amount = last - position
        return amount | np.negative((amount > last).astype(np.uint32))

    return computes(instruction, function)


elementwise("fns", integers.find_nth_set)  # 9.7.1.17
elementwise("brev", bits.reverse, moved(bits.reverse))  # 9.7.1.18


@operation("bfe")
def bfe(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.1.19."""
    undefined = moved(integers.extract_field, data=1, signed=instruction.types[0].is_signed)
    return computes(instruction, integers.extract_field, undefined)


elementwise("bfi", integers.insert_field, moved(integers.insert_field, data=2))  # 9.7.1.20


@operation("szext")
def szext(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.1.21."""
    function = partial(integers.extend, wrap=instruction["mode"] is Mode.WRAP)
    return computes(instruction, function, moved(function, data=1, signed=instruction.types[0].is_signed))


@operation("bmsk")
def bmsk(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.1.22."""
    return computes(instruction, partial(integers.mask_field, wrap=instruction["mode"] is Mode.WRAP))


def dot_product(function: Any) -> Any:
    """A product of bytes or halves of words, which come as bits. PTX ISA 9.7.1.23 and 9.7.1.24."""

    def made(instruction: Decoded) -> Pure:
        signs = {"a_signed": instruction["atype"].is_signed, "b_signed": instruction["btype"].is_signed}
        return computes(instruction, partial(function, **signs), results=("b32",), sources=("b32",) * 3)

    return made


operation("dp4a")(dot_product(integers.dot_bytes))
operation("dp2a.lo")(dot_product(partial(integers.dot_halves, high=False)))
operation("dp2a.hi")(dot_product(partial(integers.dot_halves, high=True)))


def carryless(product: Any, undefined: Any = None) -> Any:
    """A half of the product of `a` and `b` over GF(2), plus `c`. PTX ISA 9.7.1.25."""

    def made(instruction: Decoded) -> Pure:
        bits = ("b64",) * 3
        return computes(
            instruction, lambda a, b, c: product(a, b) ^ c, undefined, results=bits[:1], sources=bits
        )

    return made


packed_operation("clmad.lo")(carryless(integers.carryless_low, carried))
packed_operation("clmad.hi")(carryless(integers.carryless_high))
