"""Mixed-precision floating-point instructions: f32 sums with f16 or bf16 operands. PTX ISA 9.7.5."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.emulator.numerics import half, single
from ptxkit.emulator.operation import Modifiers, Pure, pure
from ptxkit.emulator.operations.floating import ROUNDINGS, finish

TYPES = ("f32.f16", "f32.bf16")


@pure("add", "sub", types=TYPES)
def add_sub(m: Modifiers) -> Pure:
    """PTX ISA 9.7.5.1 and 9.7.5.2."""
    mode = m.choose(*ROUNDINGS, default="rn") or "rn"
    m.need("f32")
    kind = m.need("f16", "bf16")
    negative = m.opcode == "sub"

    def function(a: Any, c: Any) -> Any:
        return single.add(half.widen(a, kind), np.negative(c) if negative else c, mode)

    return Pure(("f32",), (kind, "f32"), finish(function, flush=False, saturate=m.flag("sat")))


@pure("fma", types=TYPES)
def fma(m: Modifiers) -> Pure:
    """PTX ISA 9.7.5.3."""
    mode = m.need(*ROUNDINGS)
    m.need("f32")
    kind = m.need("f16", "bf16")

    def function(a: Any, b: Any, c: Any) -> Any:
        return single.fma(half.widen(a, kind), half.widen(b, kind), c, mode)

    return Pure(("f32",), (kind, kind, "f32"), finish(function, flush=False, saturate=m.flag("sat")))
