"""Floating-point instructions on f32, f32x2 and f64, rounded to nearest. PTX ISA 9.7.3."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ptxkit.asm.decode import Decoded
from ptxkit.emulator.jit.lowering import Lowering, Lowerings, Maker
from ptxkit.emulator.jit.words import Words
from ptxkit.emulator.numerics import exact
from ptxkit.isa.modifiers import Rounding

lowers = Lowerings("floating")

NAN = {32: 0x7FFFFFFF, 64: exact.NAN}
"""The NaN that arithmetic returns: on f32 the only one, on f64 where no operand is one."""
QUIET = 1 << 51
"""The bit that makes a NaN of f64 quiet."""

Numbers = Callable[..., Any]
"""Takes `Words` and floats, returns a float."""


def is_nan(w: Words, word: Any) -> Any:
    """Whether a word's bits are those of a NaN."""
    return w.relate("uno", w.number(word), w.number(word))


def canonical(w: Words, word: Any) -> Any:
    """Every NaN of f32 made the one that the hardware's arithmetic returns."""
    return w.choose(is_nan(w, word), w.constant(32, NAN[32]), word)


def quiet(w: Words, word: Any) -> Any:
    """Every NaN of f64 made quiet, with its sign and payload."""
    return w.choose(is_nan(w, word), w.either(word, w.constant(64, QUIET)), word)


def hand_on(w: Words, result: Any, operands: Sequence[Any]) -> Any:
    """An f64, where it is a NaN that of the first operand that is one, made quiet (`numerics.double`)."""
    nan = w.constant(64, NAN[64])
    for operand in reversed(operands):
        nan = w.choose(is_nan(w, operand), w.either(operand, w.constant(64, QUIET)), nan)
    return w.choose(is_nan(w, result), nan, result)


def flush(w: Words, word: Any) -> Any:
    """An f32 with `.ftz`: a subnormal number made zero, keeping its sign."""
    subnormal = w.compare("==", w.mask(word, 0x7F800000), w.constant(32, 0))
    return w.choose(subnormal, w.mask(word, 0x80000000), word)


def arithmetic(compute: Numbers, flushes: bool = False) -> Lowering:
    """A function of floats on words, its NaN the hardware's."""

    def lower(w: Words, *words: Any) -> Any:
        if flushes:
            words = tuple(flush(w, word) for word in words)
        result = w.word(compute(w, *(w.number(word) for word in words)))
        if w.bits(result) == 64:
            return hand_on(w, result, [words[place] for place in FIRST_NAN.get(compute, (0,))])
        result = canonical(w, result)
        return flush(w, result) if flushes else result

    return lower


def on_pairs(lower: Lowering) -> Lowering:
    """A function of f32 as one of `f32x2`."""

    def packed(w: Words, *words: Any) -> Any:
        low = lower(w, *(w.resize(word, 32) for word in words))
        high = lower(w, *(w.resize(w.right(word, 32), 32) for word in words))
        return w.either(w.resize(low, 64), w.left(w.resize(high, 64), 32))

    return packed


def add(w: Words, a: Any, b: Any) -> Any:
    """`a + b`."""
    return w.binary("fadd", a, b)


def subtract(w: Words, a: Any, b: Any) -> Any:
    """`a - b`."""
    return w.binary("fsub", a, b)


def multiply(w: Words, a: Any, b: Any) -> Any:
    """`a * b`."""
    return w.binary("fmul", a, b)


def divide(w: Words, a: Any, b: Any) -> Any:
    """`a / b`."""
    return w.binary("fdiv", a, b)


def multiply_add(w: Words, a: Any, b: Any, c: Any) -> Any:
    """`a * b + c` with one rounding."""
    return w.call("llvm.fma", a, b, c)


FIRST_NAN: dict[Numbers, tuple[int, ...]] = {
    add: (1, 0),
    subtract: (1, 0),
    multiply: (1, 0),
    divide: (0, 1),
    multiply_add: (1, 2, 0),
}
"""In which order the operands hand on their NaN, on f64."""


def reciprocal(bits: int) -> Numbers:
    """`1 / a`."""
    return lambda w, a: divide(w, w.number_constant(bits, 1.0), a)


def square_root(w: Words, a: Any) -> Any:
    """The square root."""
    return w.call("llvm.sqrt", a)


def nearest(compute: Numbers) -> Maker:
    """What exists for f32, f32x2 and f64, where it rounds to nearest, without `.sat`."""

    def made(instruction: Decoded) -> Lowering | None:
        # The products of `.ftz` have a rule of their own (`numerics.single.flush_result`); sums have not.
        unlike = instruction["ftz"] and compute not in (add, subtract)
        if instruction["rnd"] not in (None, Rounding.RN) or instruction["sat"] or unlike:
            return None
        lower = arithmetic(compute, instruction["ftz"])
        return on_pairs(lower) if instruction.types[0].lanes == 2 else lower

    return made


def approximate(compute: Numbers) -> Maker:
    """`.approx` on f32 where it is the rounded value, or what `nearest` does."""

    def made(instruction: Decoded) -> Lowering | None:
        if not instruction["approx"]:
            return nearest(compute)(instruction)
        return arithmetic(compute, instruction["ftz"]) if instruction.types[0].bits == 32 else None

    return made


lowers("add")(nearest(add))  # PTX ISA 9.7.3.3
lowers("sub")(nearest(subtract))  # 9.7.3.4
lowers("mul")(nearest(multiply))  # 9.7.3.5
lowers("fma", "mad")(nearest(multiply_add))  # 9.7.3.6 and 9.7.3.7
lowers("div")(lambda instruction: None if instruction["approx"] else nearest(divide)(instruction))  # 9.7.3.8
lowers("div.full")(lambda instruction: arithmetic(divide, instruction["ftz"]))
lowers("rcp")(lambda instruction: approximate(reciprocal(instruction.types[0].bits))(instruction))  # 9.7.3.13
lowers("sqrt")(approximate(square_root))  # 9.7.3.15


def turned(turn: Lowering) -> Maker:
    """`abs` or `neg`: `turn` of a word and its sign bit. PTX ISA 9.7.3.9 and 9.7.3.10."""

    def made(instruction: Decoded) -> Lowering:
        bits, flushes = instruction.types[0].bits, instruction["ftz"]

        def lower(w: Words, a: Any) -> Any:
            result = turn(w, flush(w, a) if flushes else a, 1 << bits - 1)
            if bits == 64:
                return w.choose(is_nan(w, a), w.either(a, w.constant(64, QUIET)), result)
            result = canonical(w, result)
            return flush(w, result) if flushes else result

        return lower

    return made


lowers("abs")(turned(lambda w, a, sign: w.mask(a, sign - 1)))
lowers("neg")(turned(lambda w, a, sign: w.differ(a, w.constant(w.bits(a), sign))))


def least_or_largest(largest: bool) -> Maker:
    """`min` or `max`. PTX ISA 9.7.3.11 and 9.7.3.12."""

    def made(instruction: Decoded) -> Lowering | None:
        flushes, propagates = instruction["ftz"], instruction["NaN"]
        if instruction["abs"]:
            return None

        def lower(w: Words, *words: Any) -> Any:
            if flushes:
                words = tuple(flush(w, word) for word in words)
            result = words[0]
            for word in words[1:]:
                result = extreme(w, result, word, largest, propagates)
            return flush(w, result) if flushes else result

        return lower

    return made


lowers("min")(least_or_largest(largest=False))
lowers("max")(least_or_largest(largest=True))


def extreme(w: Words, a: Any, b: Any, largest: bool, propagates: bool) -> Any:
    """`max` or `min`: -0 below +0; a NaN loses against a number, or wins with `propagates`."""
    x, y = w.number(a), w.number(b)
    chosen = w.choose(w.relate("ogt" if largest else "olt", x, y), a, b)
    # Equal numbers differ in the sign of zero at most.
    equal = w.both(a, b) if largest else w.either(a, b)
    chosen = w.choose(w.relate("oeq", x, y), equal, chosen)
    a_nan, b_nan = is_nan(w, a), is_nan(w, b)
    if propagates:
        bits = w.bits(a)
        return w.choose(w.either(a_nan, b_nan), w.constant(bits, NAN[bits]), chosen)
    settled = quiet if w.bits(a) == 64 else canonical
    return settled(w, w.choose(a_nan, b, w.choose(b_nan, a, chosen)))


@lowers("copysign")
def copysign(instruction: Decoded) -> Lowering:
    """PTX ISA 9.7.3.2."""
    sign = 1 << instruction.types[0].bits - 1
    return lambda w, a, b: w.either(w.mask(a, sign), w.mask(b, sign - 1))
