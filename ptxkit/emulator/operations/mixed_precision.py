"""Mixed-precision floating-point instructions: f32 sums with f16 or bf16 operands. PTX ISA 9.7.5."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.asm.decode import Decoded
from ptxkit.emulator.numerics import half, single
from ptxkit.emulator.operation import Operations, Pure, computes
from ptxkit.emulator.operations.floating import finish
from ptxkit.isa.modifiers import Rounding

operation = Operations("mixed")


def rounded(form: Decoded, function: Any) -> Pure:
    """A function of half-precision operands, widened, of f32 `c` and of the rounding mode."""
    kind, mode = form.type_of("a").name, form.find(Rounding) or Rounding.RN

    def widened(*operands: Any) -> Any:
        *halves, c = operands
        return function(*(half.widen(each, kind) for each in halves), c, mode)

    return computes(form, finish(widened, flush=False, saturate=form["sat"] is not None))


@operation("add")
def add(form: Decoded) -> Pure:
    """PTX ISA 9.7.5.1."""
    return rounded(form, single.add)


@operation("sub")
def sub(form: Decoded) -> Pure:
    """PTX ISA 9.7.5.2."""
    return rounded(form, lambda a, c, mode: single.add(a, np.negative(c), mode))


@operation("fma")
def fma(form: Decoded) -> Pure:
    """PTX ISA 9.7.5.3."""
    return rounded(form, single.fma)
