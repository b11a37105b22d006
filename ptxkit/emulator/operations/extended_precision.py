"""Extended-precision arithmetic instructions: sums and products with a carry. PTX ISA 9.7.2."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.emulator.numerics import bits, integers
from ptxkit.emulator.operation import Modifiers, Pure, pure

WORDS = ("u32", "s32", "u64", "s64")


def add_with_carry(a: Any, b: Any, carry: Any) -> tuple[Any, Any]:
    """`a + b + carry` on unsigned words and the carry out."""
    partial = a + b
    total = partial + np.asarray(carry).astype(a.dtype)
    return total, (partial < a) | (total < partial)


def subtract_with_borrow(a: Any, b: Any, borrow: Any) -> tuple[Any, Any]:
    """`a - (b + borrow)` on unsigned words and the borrow out."""
    partial = a - b
    total = partial - np.asarray(borrow).astype(a.dtype)
    return total, (a < b) | (partial < total)


def with_carry(m: Modifiers, kind: str, sources: tuple[str, ...], step: Any) -> Pure:
    """An operation whose last act is `step`, with the carry in and out that opcode and modifiers ask for."""
    reads = m.opcode[-1] == "c"
    writes = m.flag("cc")

    def function(*operands: Any) -> Any:
        *values, carry = operands if reads else (*operands, False)
        total, out = step(*values, carry)
        return (total, out) if writes else total

    return Pure((kind,), sources, function, reads_carry=reads, writes_carry=writes)


@pure("add.cc", "addc", types=WORDS)
def addc(m: Modifiers) -> Pure:
    """PTX ISA 9.7.2.1 and 9.7.2.2."""
    kind = f"u{m.type().bits}"
    return with_carry(m, kind, (kind, kind), add_with_carry)


@pure("sub.cc", "subc", types=WORDS)
def subc(m: Modifiers) -> Pure:
    """PTX ISA 9.7.2.3 and 9.7.2.4."""
    kind = f"u{m.type().bits}"
    return with_carry(m, kind, (kind, kind), subtract_with_borrow)


@pure("mad.cc", "madc", types=WORDS)
def madc(m: Modifiers) -> Pure:
    """PTX ISA 9.7.2.5 and 9.7.2.6."""
    kind = m.type()
    signed = kind.is_signed
    multiply: Any = np.multiply if m.need("lo", "hi") == "lo" else integers.multiply_high
    word = f"u{kind.bits}"

    def step(a: Any, b: Any, c: Any, carry: Any) -> tuple[Any, Any]:
        product = bits.unsigned(multiply(bits.signed(a), bits.signed(b))) if signed else multiply(a, b)
        return add_with_carry(product, c, carry)

    return with_carry(m, word, (word,) * 3, step)
