"""Extended-precision arithmetic instructions: sums and products with a carry. PTX ISA 9.7.2.

There is one flag, CC.CF, with one meaning: the carry out of the last addition. The manual calls what `sub.cc`
leaves a borrow; the machine computes `a + ~b + 1` and keeps the carry out of that, the borrow's inverse. A
chain of `sub.cc` and `subc` cannot tell, but `addc` after `sub.cc` reads a 1 where there was no borrow.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ptxkit.asm.decode import Decoded
from ptxkit.emulator.numerics import bits, integers
from ptxkit.emulator.operation import Operations, Pure, computes

operation = Operations("extended")


def add(a: Any, b: Any, carry: Any) -> tuple[Any, Any]:
    """`a + b + carry` on unsigned words and the carry out; without a carry in where that is None."""
    partial = a + b
    if carry is None:
        return partial, partial < a
    total = partial + np.asarray(carry).astype(a.dtype)
    return total, (partial < a) | (total < partial)


def subtract(a: Any, b: Any, carry: Any) -> tuple[Any, Any]:
    """`a + ~b + carry`, which is `a - b` less a borrow of `1 - carry`, and the carry out.

    None for the carry in borrows nothing.
    """
    return (a - b, a >= b) if carry is None else add(a, ~b, carry)


def with_carry(instruction: Decoded, step: Any) -> Pure:
    """An operation whose last act is `step`, with the carry in and out that the instruction has. `step`:
    takes the operands, as unsigned words, and the carry in or None; gives result and carry out."""
    reads, writes = instruction.reads_carry, instruction.writes_carry
    word = f"u{instruction.types[0].bits}"

    def function(*operands: Any) -> Any:
        *values, carry = operands if reads else (*operands, None)
        total, out = step(*values, carry)
        return (total, out) if writes else total

    return computes(
        instruction, function, results=(word,), sources=(word,) * len(instruction.values(written=False))
    )


operation("add", "addc")(partial(with_carry, step=add))  # PTX ISA 9.7.2.1 and 9.7.2.2
operation("sub", "subc")(partial(with_carry, step=subtract))  # 9.7.2.3 and 9.7.2.4


def high_part(size: int) -> Any:
    """What `.hi` takes of a product.

    Of 16 bits, which only ptxas has, it is what a multiplication of 32 bits leaves above bit 31: the sign.
    """
    if size != 16:
        return integers.multiply_high

    def sign(a: Any, b: Any) -> Any:
        product = a.astype(np.int32) * b.astype(np.int32)
        return (product >> np.int32(31)).astype(a.dtype) if a.dtype.kind == "i" else np.zeros_like(a & b)

    return sign


def multiply_add(instruction: Decoded, multiply: Any) -> Pure:
    """A product, then a sum with carry. PTX ISA 9.7.2.5 and 9.7.2.6."""
    signed = instruction.types[0].is_signed

    def step(a: Any, b: Any, c: Any, carry: Any) -> tuple[Any, Any]:
        product = bits.unsigned(multiply(bits.signed(a), bits.signed(b))) if signed else multiply(a, b)
        return add(product, c, carry)

    return with_carry(instruction, step)


operation("mad.lo", "madc.lo")(partial(multiply_add, multiply=np.multiply))
operation("mad.hi", "madc.hi")(
    lambda instruction: multiply_add(instruction, high_part(instruction.types[0].bits))
)
