"""Arithmetic that PTX ISA 9.2 to 9.4 brought. PTX ISA 9.7.1."""

from __future__ import annotations

from typing import Any

from ptxkit.asm.decode import Decoded
from ptxkit.emulator.numerics import integers
from ptxkit.emulator.operation import Operations, Pure, computes
from ptxkit.emulator.operations.definedness import carried

operation = Operations("packed")


def carryless(product: Any, undefined: Any = None) -> Any:
    """A half of the product of `a` and `b` over GF(2), plus `c`. PTX ISA 9.7.1.25."""

    def made(form: Decoded) -> Pure:
        bits = ("b64",) * 3
        return computes(form, lambda a, b, c: product(a, b) ^ c, undefined, results=bits[:1], sources=bits)

    return made


operation("clmad.lo")(carryless(integers.carryless_low, carried))
operation("clmad.hi")(carryless(integers.carryless_high))
