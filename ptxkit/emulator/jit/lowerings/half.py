"""Half-precision instructions on f16 and f16x2. PTX ISA 9.7.4.

A product of two f16 is exact in f32, and f32 has the 2p + 2 bits with which rounding a sum twice does no
harm; where a sum may be subnormal in f16 it is exact. For `fma` f64 rounded to odd takes the place of f32.
"""

from __future__ import annotations

from typing import Any

from ptxkit.asm.decode import Decoded
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.jit.lowering import Lowering, Lowerings
from ptxkit.emulator.jit.lowerings import floating
from ptxkit.emulator.jit.words import Words

lowers = Lowerings("half")
F16 = (DTYPES["f16"], DTYPES["f16x2"])


def widen(w: Words, code: Any) -> Any:
    """The f16 in the low half of a word of 32 bits as the bits of an f32, NaN and infinities included."""
    shifted = w.mask(w.right(w.left(code, 16), 3, signed=True), 0x8FFFE000)
    value = w.word(w.binary("fmul", w.number(shifted), w.number_constant(32, 2.0**112)))
    # What looks like a number from 2^16 on is none.
    special = w.compare(">=", w.mask(value, 0x7FFFFFFF), w.constant(32, 0x47800000))
    return w.choose(special, w.either(value, w.constant(32, 0x7F800000)), value)


def narrow(w: Words, word: Any) -> Any:
    """An f32's bits as the code of the nearest f16, in the low half of a word; NaN becomes 0x7fff."""
    magnitude = w.mask(word, 0x7FFFFFFF)
    odd = w.mask(w.right(magnitude, 13), 1)
    rounded = w.add(w.add(magnitude, odd), w.constant(32, 0x0FFF - (112 << 23)))
    code = w.right(rounded, 13)
    # Beside 0.5 an f32 has the spacing of f16's subnormal numbers, so the sum rounds to one of them.
    half = 0x3F000000
    sum_ = w.word(w.binary("fadd", w.number(magnitude), w.number_constant(32, 0.5)))
    tiny = w.compare("<", magnitude, w.constant(32, 0x38800000))
    code = w.choose(tiny, w.subtract(sum_, w.constant(32, half)), code)
    code = w.choose(w.compare(">=", magnitude, w.constant(32, 0x477FF000)), w.constant(32, 0x7C00), code)
    code = w.either(code, w.mask(w.right(word, 16), 0x8000))
    return w.choose(w.compare(">", magnitude, w.constant(32, 0x7F800000)), w.constant(32, 0x7FFF), code)


def to_odd(w: Words, total: Any) -> Any:
    """An f64 as the bits of an f32, rounded to odd; NaN stays one."""
    nearest = w.convert("fptrunc", total, 32, floating=True)
    back = w.convert("fpext", nearest, 64, floating=True)
    word = w.word(nearest)
    magnitudes = [w.mask(w.word(number), (1 << 63) - 1) for number in (back, total)]
    beyond = w.compare(">", *magnitudes)
    inexact = w.relate("one", back, total)
    word = w.subtract(word, w.resize(w.both(beyond, inexact), 32))
    return w.either(word, w.resize(inexact, 32))


def product_sum(w: Words, a: Any, b: Any, c: Any) -> Any:
    """`a * b + c` of f32, as the bits of an f32 that rounds to f16 as the exact value does."""
    a, b, c = (w.convert("fpext", number, 64, floating=True) for number in (a, b, c))
    return to_odd(w, w.binary("fadd", w.binary("fmul", a, b), c))


def arithmetic(compute: Any) -> Any:
    """A function of f32, which gives the bits of one, on f16 and pairs of them."""

    def on_codes(w: Words, *codes: Any) -> Any:
        return narrow(w, compute(w, *(w.number(widen(w, code)) for code in codes)))

    def made(instruction: Decoded) -> Lowering | None:
        if instruction.types[0] not in F16 or any(
            instruction[slot] for slot in ("ftz", "sat", "relu", "oob")
        ):
            return None

        def lower(w: Words, *words: Any) -> Any:
            low = on_codes(w, *(w.resize(word, 32) for word in words))
            if instruction.types[0].lanes == 1:
                return w.resize(low, 16)
            return w.either(low, w.left(on_codes(w, *(w.right(word, 16) for word in words)), 16))

        return lower

    return made


lowers("add")(arithmetic(lambda w, a, b: w.word(floating.add(w, a, b))))  # PTX ISA 9.7.4.1
lowers("sub")(arithmetic(lambda w, a, b: w.word(floating.subtract(w, a, b))))  # 9.7.4.2
lowers("mul")(arithmetic(lambda w, a, b: w.word(floating.multiply(w, a, b))))  # 9.7.4.3
lowers("fma")(arithmetic(product_sum))  # 9.7.4.4
