"""Arithmetic on f16 and bf16, alone and in pairs. PTX ISA 9.7.4.

Numbers travel as codes: uint16 alone, uint32 in pairs. The computation runs on f32, exact operands first: a
bf16 is one by a mere shift; an f16 shifted into place is one too small by 2^112, subnormals included, and
that scale stays, so that shifting back is all the end needs. Two things can go wrong then, and send a lane
to `exact_codes`: an f16 infinity or NaN looks like a number from 2^16 on, and f32's own rounding may have
made or broken a tie between two codes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxkit.emulator.numerics.bits import any_lane, select, signed, unsigned
from ptxkit.emulator.numerics.rounding import correct, f64_to_f32, two_sum

HIGH = np.uint32(0xFFFF0000)
SCALE = np.float32(2.0**112)

INFINITY = {"f16": 0x7C00, "bf16": 0x7F80}
"""The code of infinity of each type; greater ones, without their sign, are NaN."""


def halves(word: Any) -> Any:
    """A pair's two codes as uint16 along a new last axis, the low one first."""
    return np.asarray(word)[..., None].view(np.uint16)


def pair(codes: Any) -> Any:
    """The pairs of `halves`."""
    return np.ascontiguousarray(codes).view(np.uint32)[..., 0]


def on_codes(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of uint16 codes as one of pairs."""

    def packed(*words: Any) -> Any:
        return pair(function(*map(halves, words)))

    return packed


def widen(code: Any, kind: str) -> Any:
    """An f16 or bf16 in the low 16 bits of unsigned words as f32, NaN and infinities included."""
    word = code.astype(np.uint32)
    if kind == "bf16":
        return (word << np.uint32(16)).view(np.float32)
    value = scaled(word << np.uint32(16)) * SCALE
    magnitude = np.abs(value)
    if np.max(magnitude) >= 65536:
        special = (unsigned(value) | np.uint32(0x7F800000)).view(np.float32)
        value = select(magnitude >= 65536, special, value)
    return value


def scaled(word: Any) -> Any:
    """The f16 in the high half of a word, times 2^-112, as f32. Infinities and NaN: numbers from 2^-96."""
    value = signed(word) >> np.int32(3)
    value &= np.int32(-0x70002000)
    return value.view(np.float32)


def exact_codes(operation: str, kind: str, *codes: Any) -> Any:
    """`add`, `mul` or `fma` on codes of one axis, slowly and surely."""
    if kind == "f16":
        a, b, *c = (code.view(np.float16).astype(np.float64) for code in codes)
        # f64 holds each product, and each sum but those where the smaller term is past deciding anything.
        total = a + b if operation == "add" else a * b if operation == "mul" else a * b + c[0]
        result = total.astype(np.float16).view(np.uint16)
        return np.where(np.isnan(total), np.uint16(0x7FFF), result)
    a, b, *c = (widen(code, kind).astype(np.float64) for code in codes)
    total, error = (
        two_sum(a, b) if operation == "add" else (a * b, 0.0) if operation == "mul" else two_sum(a * b, c[0])
    )
    words = unsigned(f64_to_f32(correct(total, error, "odd"), "odd"))
    return np.where(
        np.isnan(total), np.uint16(0x7FFF), (nearest_even(words, 16) >> np.uint32(16)).astype(np.uint16)
    )


def nearest_even(words: Any, drop: int) -> Any:
    """Words of sign and magnitude rounded to multiples of 2^drop; the bits below it are arbitrary."""
    rounded = words >> np.uint32(drop)
    rounded &= np.uint32(1)
    rounded += words
    rounded += np.uint32((1 << drop - 1) - 1)
    return rounded


def near_tie(words: Any, drop: int) -> Any:
    """The lanes whose `drop` low bits are within one of the middle."""
    return words - np.uint32((1 << drop - 1) - 2) & np.uint32((1 << drop) - 4) == 0


def high_f16(operation: str, careful: bool, words: tuple[Any, ...]) -> tuple[Any, Any]:
    """The operation on the f16 in the words' high halves: its code there, and the doubtful lanes or None."""
    a, b, *c = map(scaled, words)
    doubtful = None
    match operation:
        case "add":
            result = unsigned(a + b)
            rounded = nearest_even(result, 13)
        case "mul":
            result = unsigned(a * SCALE * b)
            rounded = nearest_even(result, 13)
            tiny = result & np.uint32(0x7F800000) == 0
            if any_lane(tiny):
                doubtful = tiny & near_tie(result, 13)
        case _:
            # The factor that keeps every product normal is undone after the sum.
            total = a * np.float32(2.0**127) * b + c[0] * np.float32(2.0**15)
            result = unsigned(total * np.float32(2.0**-15))
            rounded = result + np.uint32(0x1000)
            doubtful = near_tie(result, 13)
    if careful:
        special = (result & np.uint32(0x7FFFFFFF)) >= 0x0F7FF000
        for word in words:
            special = special | (word & np.uint32(0x7C000000) == 0x7C000000)
        doubtful = special if doubtful is None else doubtful | special
    sign = rounded & np.uint32(0x80000000)
    rounded <<= np.uint32(3)
    rounded &= np.uint32(0x7FFF0000)
    rounded |= sign
    return rounded, doubtful


def high_bf16(operation: str, words: tuple[Any, ...]) -> tuple[Any, Any]:
    """The operation on the bf16 in the words' high halves: its code there, and the doubtful lanes or None."""
    a, b, *c = ((word & HIGH).view(np.float32) for word in words)
    total = a + b if operation == "add" else a * b if operation == "mul" else a * b + c[0]
    result = unsigned(total)
    rounded = nearest_even(result, 16)
    doubtful = None
    if operation == "fma":
        doubtful = near_tie(result, 16)
        zero = total == 0
        if any_lane(zero):
            # The sign of a product that underflowed is lost in a sum with zero.
            doubtful = doubtful | zero & (a != 0) & (b != 0)
    elif operation == "mul":
        tiny = result & np.uint32(0x7F800000) == 0
        if any_lane(tiny):
            doubtful = tiny & near_tie(result, 16)
    finite = np.isfinite(total)
    if not np.all(finite):
        doubtful = ~finite if doubtful is None else doubtful | ~finite
    return rounded & HIGH, doubtful


def compute(operation: str, kind: str, is_pair: bool, *operands: Any) -> Any:
    """`add`, `mul` or `fma`, rounded to nearest even: on codes, or on pairs of them."""
    words = operands if is_pair else tuple(code.astype(np.uint32) << np.uint32(16) for code in operands)
    if kind == "f16":
        careful = may_overflow(operation, operands)
        sides = [high_f16(operation, careful, words)]
        if is_pair:
            sides.append(high_f16(operation, careful, tuple(word << np.uint32(16) for word in words)))
    else:
        sides = [high_bf16(operation, words)]
        if is_pair:
            sides.append(high_bf16(operation, tuple(word << np.uint32(16) for word in words)))
    result = (
        sides[0][0] | sides[1][0] >> np.uint32(16)
        if is_pair
        else (sides[0][0] >> np.uint32(16)).astype(np.uint16)
    )
    if all(doubtful is None or not any_lane(doubtful) for _, doubtful in sides):
        return result
    shape = np.shape(result)
    codes = halves(result).reshape(-1, 2) if is_pair else np.asarray(result).reshape(-1, 1)
    doubtful = np.zeros(codes.shape, bool)
    for column, (_, lanes) in zip((1, 0) if is_pair else (0,), sides, strict=True):
        if lanes is not None:
            doubtful[:, column] = lanes.reshape(-1)
    chosen = np.flatnonzero(doubtful)
    sources = []
    for operand in operands:
        each = np.broadcast_to(operand, shape)
        sources.append((halves(each) if is_pair else each).reshape(-1)[chosen])
    fixed = codes.reshape(-1).copy()
    fixed[chosen] = exact_codes(operation, kind, *sources)
    return fixed.view(result.dtype).reshape(shape)


def may_overflow(operation: str, operands: tuple[Any, ...]) -> bool:
    """Whether f16 operands hold infinities or NaN, or are so large together that the result may overflow."""
    largest = [np.max(halves(operand) & np.uint16(0x7FFF)) for operand in operands]
    if max(largest) >= 0x7C00:
        return True
    a, b, *c = (float(code.view(np.float16)) for code in largest)
    return (a + b if operation == "add" else a * b + sum(c)) >= 65504


def negate(code: Any) -> Any:
    """The sign of each code turned, of both in a pair."""
    return code ^ (np.uint16(0x8000) if code.dtype == np.uint16 else np.uint32(0x80008000))


def absolute(code: Any) -> Any:
    """Codes without their signs."""
    return code & (np.uint16(0x7FFF) if code.dtype == np.uint16 else np.uint32(0x7FFF7FFF))


def canonical(code: Any, infinity: int) -> Any:
    """Every NaN among uint16 codes made 0x7fff."""
    magnitude = code & np.uint16(0x7FFF)
    if np.max(magnitude) <= infinity:
        return code
    return select(magnitude > infinity, np.uint16(0x7FFF), code)


def flush(code: Any) -> Any:
    """f16 subnormals made zero, keeping their sign; alone or in pairs."""
    both = 0x00010001 if code.dtype == np.uint32 else 1
    word = code.dtype.type
    # A field that isn't zero carries into the place of the sign.
    normal = (code & word(both * 0x7C00)) + word(both * 0x7C00) >> word(15) & word(both)
    return code & (normal * word(0xFFFF) | word(both * 0x8000))


def saturate(code: Any) -> Any:
    """`.sat` on f16 codes as uint16: clamped to [+0, 1], NaN to +0."""
    below = (code >= 0x8000) | (code > 0x7C00)
    return np.minimum(code, np.uint16(0x3C00)) * ~below


def relu(code: Any, infinity: int) -> Any:
    """`.relu` on codes as uint16: negative to +0, NaN to the canonical one."""
    nan = code & np.uint16(0x7FFF) > infinity
    return np.where(nan, np.uint16(0x7FFF), code * (code < 0x8000))


def extreme(a: Any, b: Any, largest: bool, propagate_nan: bool, infinity: int) -> Any:
    """`max` or `min` on uint16 codes: -0 below +0; a NaN loses, with `propagate_nan` wins, over numbers."""
    x, y = signed(a), signed(b)
    x, y = x ^ (x >> np.int16(15) & np.int16(0x7FFF)), y ^ (y >> np.int16(15) & np.int16(0x7FFF))
    chosen = np.maximum(x, y) if largest else np.minimum(x, y)
    result = unsigned(chosen ^ (chosen >> np.int16(15) & np.int16(0x7FFF)))
    a_nan, b_nan = absolute(a) > infinity, absolute(b) > infinity
    if any_lane(a_nan) or any_lane(b_nan):
        nan = a_nan | b_nan if propagate_nan else a_nan & b_nan
        result = np.where(nan, np.uint16(0x7FFF), np.where(a_nan, b, np.where(b_nan, a, result)))
    return result


def narrow(value: Any, kind: str) -> Any:
    """The uint16 codes of f64 values, rounded to nearest even; NaN becomes 0x7fff."""
    if kind == "f16":
        code = value.astype(np.float16).view(np.uint16)
    else:
        code = (nearest_even(unsigned(f64_to_f32(value, "odd")), 16) >> np.uint32(16)).astype(np.uint16)
    return np.where(np.isnan(value), np.uint16(0x7FFF), code)
