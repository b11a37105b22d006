"""The `.approx` functions: computed in f64 and rounded once, so well inside the documented error.

PTX ISA 9.7.3.8, 9.7.3.13 to 9.7.3.22, 9.7.4.9, 9.7.4.10. Special values follow the manual's tables, which
f64 arithmetic gives by itself except where a function says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxkit.emulator.numerics import single
from ptxkit.emulator.numerics.bits import any_lane, unsigned

Function = Callable[[Any], Any]


def by_f64(function: Function) -> Function:
    """A function of f64 as one of f32."""
    return lambda a: single.canonical(function(a.astype(np.float64)).astype(np.float32))


reciprocal_square_root = by_f64(lambda a: 1 / np.sqrt(a))
exponential = by_f64(np.exp2)
logarithm = by_f64(np.log2)
sine = by_f64(np.sin)
cosine = by_f64(np.cos)
tangent = by_f64(np.tanh)


def divide(a: Any, b: Any) -> Any:
    """`div.approx`: from 2^126 on a divisor has the reciprocal zero."""
    quotient = a / b
    huge = np.abs(b) > np.float32(2.0**126)
    if any_lane(huge):
        quotient = np.where(huge, a * np.copysign(np.float32(0), b), quotient)
    return single.canonical(quotient)


def by_high_word(function: Function) -> Function:
    """`rcp.approx.ftz.f64` and its like: only high words count, subnormals are zeros."""
    high = np.uint64(0xFFFFFFFF00000000)

    def truncated(a: Any) -> Any:
        result = unsigned(function(flushed(unsigned(a) & high).view(np.float64)))
        result = np.where(
            np.isnan(result.view(np.float64)), np.uint64(0x7FFFFFFF00000000), flushed(result & high)
        )
        return result.view(np.float64)

    def flushed(words: Any) -> Any:
        subnormal = words & np.uint64(0x7FF0000000000000) == 0
        return np.where(subnormal, words & np.uint64(1 << 63), words)

    return truncated


reciprocal_f64 = by_high_word(lambda a: 1 / a)
reciprocal_square_root_f64 = by_high_word(lambda a: 1 / np.sqrt(a))
