"""Arithmetic that PTX ISA 9.2 to 9.4 brought. PTX ISA 9.7.1."""

from __future__ import annotations

from functools import reduce
from typing import Any

from ptxkit.emulator.jit.lowering import Lowerings
from ptxkit.emulator.jit.words import Words
from ptxkit.emulator.numerics.integers import EVERY_FOURTH

elementwise = Lowerings("packed").elementwise


def carryless_low(w: Words, a: Any, b: Any) -> Any:
    """See `numerics.integers.carryless_low`."""
    masks = [EVERY_FOURTH << i & 2**64 - 1 for i in range(4)]
    x, y = ([w.mask(word, mask) for mask in masks] for word in (a, b))
    parts = []
    for place, mask in enumerate(masks):
        terms = [w.multiply(x[i], y[(place - i) % 4]) for i in range(4)]
        parts.append(w.mask(reduce(w.differ, terms), mask))
    return reduce(w.either, parts)


def carryless_high(w: Words, a: Any, b: Any) -> Any:
    """See `numerics.integers.carryless_high`."""
    low = carryless_low(w, w.call("llvm.bitreverse", a), w.call("llvm.bitreverse", b))
    return w.right(w.call("llvm.bitreverse", low), 1)


elementwise("clmad.lo", lambda w, a, b, c: w.differ(carryless_low(w, a, b), c))  # PTX ISA 9.7.1.25
elementwise("clmad.hi", lambda w, a, b, c: w.differ(carryless_high(w, a, b), c))
