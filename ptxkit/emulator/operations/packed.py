"""Arithmetic that PTX ISA 9.2 to 9.4 brought: packed integers here, packed floats in `packed_floats`.
PTX ISA 9.7.1, 9.7.6."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.asm.decode import Decoded
from ptxkit.emulator.numerics import bits, integers
from ptxkit.emulator.operation import Operations, Pure
from ptxkit.emulator.operations import packed_floats
from ptxkit.emulator.operations.comparison import INTEGER
from ptxkit.emulator.operations.integer import by_element, elements_of, extreme

operation = Operations("packed")


@operation("add")
def add(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.1.1."""
    if instruction.types[0].is_float:
        return packed_floats.add(instruction)
    return by_element(instruction, integers.add_saturating if instruction["sat"] else np.add)


@operation("sub")
def sub(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.1.2."""
    if instruction.types[0].is_float:
        return packed_floats.sub(instruction)
    return by_element(instruction, integers.subtract_saturating if instruction["sat"] else np.subtract)


operation("mul")(packed_floats.mul)
operation("fma")(packed_floats.fma)
operation("neg")(lambda instruction: by_element(instruction, np.negative))  # PTX ISA 9.7.1.11
operation("min")(extreme(np.minimum))  # 9.7.1.12
operation("max")(extreme(np.maximum))  # 9.7.1.13


@operation("set")
def set_(instruction: Decoded) -> Pure:
    """All ones in each part for which the comparison holds. PTX ISA 9.7.6.1."""
    compare, type_ = INTEGER[instruction["CmpOp"]], instruction["type"]
    size = type_.bits // type_.lanes

    def function(a: Any, b: Any) -> Any:
        return bits.ones_where(compare(a, b), size).view(elements_of(type_))

    return by_element(instruction, function)
