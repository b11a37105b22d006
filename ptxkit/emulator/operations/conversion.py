"""`cvt` between integers, f16, bf16, tf32, f32 and f64. PTX ISA 9.7.9.21."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial, reduce
from typing import Any

import numpy as np

from ptxkit.asm.decode import Decoded
from ptxkit.dtypes import DTYPES, DType
from ptxkit.emulator.numerics import bits, double, half, integers, single
from ptxkit.emulator.numerics.formats import FORMATS, Format, encode, encoder, values
from ptxkit.emulator.numerics.rounding import f64_to_f32, integer_to_f64
from ptxkit.emulator.operation import Operations, Pure, computes
from ptxkit.emulator.operations import definedness
from ptxkit.isa.modifiers import IntegerRounding, Rounding


def field_of(packed: DType) -> int:
    """The bits that each code has in a packed type: a byte where it is shorter, but for e2m1."""
    return packed.bits // packed.lanes


def format_of(packed: DType) -> Format:
    """The format of each code in a packed type."""
    return FORMATS[packed.name.removesuffix(f"x{packed.lanes}")]


def to_pair(instruction: Decoded) -> Pure:
    """To pairs: the first source, or the upper half, to the upper place."""
    result, source = instruction.types
    code: Callable[[Any], Any]
    if result.name == "ue8m0x2":
        code = partial(
            encode_ue8m0, up=instruction["frnd3"] is Rounding.RP, saturate=instruction["satfinite"]
        )
    else:
        code = encoder(
            format_of(result), instruction.the(Rounding), instruction["relu"], instruction["satfinite"]
        )
    shift, word = np.uint32(field_of(result)), bits.UNSIGNED[result.bits]

    def function(a: Any, b: Any) -> Any:
        return (code(a) << shift | code(b)).astype(word, copy=False)

    if source.lanes == 1:
        return computes(instruction, function, definedness.each_a_part(2, result.bits))
    kind = source.name.removesuffix("x2")

    def from_halves(a: Any) -> Any:
        return function(half.widen(a >> np.uint32(16), kind), half.widen(a & np.uint32(0xFFFF), kind))

    return computes(instruction, from_halves, definedness.by_parts(2, result.bits))


RANDOM = {"f16x2": ((16, 0), 13), "bf16x2": ((16, 0), 16), "e2m1x4": ((24, 8, 16, 0), 8)}
"""Where in the random word the bits of a, b, e, f begin, and how many there are for each."""


def stochastic(instruction: Decoded) -> Pure:
    """Several f32, rounded by random bits, the first to the highest place."""
    result = instruction.types[0]
    places, count = RANDOM.get(result.name, ((16, 16, 0, 0), 16))
    code = partial(
        encode, form=format_of(result), mode="rs", relu=instruction["relu"], saturate=instruction["satfinite"]
    )
    shift, word = np.uint32(field_of(result)), bits.UNSIGNED[result.bits]

    def function(*operands: Any) -> Any:
        *numbers, rbits = operands
        codes = [
            code(number, random=(rbits >> np.uint32(place), count))
            for number, place in zip(numbers, places, strict=True)
        ]
        return reduce(lambda upper, lower: upper << shift | lower, codes).astype(word, copy=False)

    return computes(instruction, function, definedness.each_a_part(result.lanes, result.bits))


def from_pair(instruction: Decoded) -> Pure:
    """From pairs of 8, 6 and 4 bits to f16x2, from those of ue8m0 to bf16x2, exactly."""
    source = instruction.types[1].name
    function = from_ue8m0 if source == "ue8m0x2" else pair_table(source, instruction["relu"] is not None).take
    return computes(instruction, function, definedness.by_parts(2, 32))


@cache
def pair_table(name: str, relu: bool) -> np.ndarray:
    """The f16x2 for each pair of codes of a small format."""
    form, field = format_of(DTYPES[name]), field_of(DTYPES[name])
    single_codes = half.narrow(values(form.name), "f16")
    if relu:
        single_codes = half.relu(single_codes, 0x7C00)
    # Padding bits beyond a code are ignored.
    table = single_codes[np.arange(1 << field) & (1 << form.bits) - 1].astype(np.uint32)
    return (table[:, None] << np.uint32(16) | table).reshape(-1)


def encode_ue8m0(value: Any, up: bool, saturate: bool) -> Any:
    """The exponent of f32 values' magnitudes, as ue8m0 codes in uint32."""
    magnitude = bits.unsigned(value) & np.uint32(0x7FFFFFFF)
    if up:
        # 0x00400000 is 2^-127, code 0; between there and 2^-126 lies what rounds up to code 1.
        rounded = magnitude + np.uint32(0x007FFFFF)
        code = np.where(magnitude <= 0x00400000, np.uint32(0), rounded >> np.uint32(23))
    else:
        code = magnitude >> np.uint32(23)
    top = np.uint32(0xFE if saturate else 0xFF)
    return np.where(magnitude > 0x7F800000, np.uint32(0xFF), np.where(code > 0xFE, top, code))


def from_ue8m0(a: Any) -> Any:
    """The bf16x2 of pairs of ue8m0."""
    upper, lower = (a >> np.uint16(8)).astype(np.uint32), (a & np.uint16(0xFF)).astype(np.uint32)
    return bf16_of_ue8m0(upper) << np.uint32(16) | bf16_of_ue8m0(lower)


def bf16_of_ue8m0(code: Any) -> Any:
    """The bf16 codes of ue8m0 codes, both in uint32."""
    return np.where(
        code == 0, np.uint32(0x40), np.where(code == 0xFF, np.uint32(0x7FFF), code << np.uint32(7))
    )


operation = Operations("conversion")

INTEGER_ROUNDINGS: dict[IntegerRounding, Callable[[Any], Any]] = {
    IntegerRounding.RNI: np.rint,
    IntegerRounding.RZI: np.trunc,
    IntegerRounding.RMI: np.floor,
    IntegerRounding.RPI: np.ceil,
}


@operation("cvt")
def cvt(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.9.21."""
    result, source = instruction.types
    if instruction.find(Rounding) is Rounding.RS:
        return stochastic(instruction)
    if result.lanes == 2:
        widens = source.lanes == 2 and result.name in ("f16x2", "bf16x2")
        return from_pair(instruction) if widens else to_pair(instruction)
    if result.name == "tf32":
        return to_tf32(instruction)
    if source.is_integer:
        return integer_to_integer(instruction) if result.is_integer else integer_to_float(instruction)
    return float_to_integer(instruction) if result.is_integer else float_to_float(instruction)


def numpy_integer(kind: DType) -> Any:
    """The numpy type of an integer type."""
    return (bits.SIGNED if kind.is_signed else bits.UNSIGNED)[kind.bits]


def integer_to_integer(instruction: Decoded) -> Pure:
    """Extension, chopping, `.sat`."""
    result, source = instruction.types
    target = numpy_integer(result)
    if instruction["sat"]:
        return computes(instruction, lambda a: integers.clamp(a, target))
    if result == source:
        return computes(instruction, lambda a: a, definedness.same)

    def undefined(values: Sequence[Any], masks: Sequence[Any]) -> Any:
        mask = bits.signed(masks[0]) if source.is_signed else masks[0]
        return bits.unsigned(mask.astype(target))

    return computes(instruction, lambda a: a.astype(target), undefined)


def clamp_f64(value: Any) -> Any:
    """`.sat` on f64: clamped to [+0, 1], a quiet NaN to +0."""
    return np.minimum(np.fmax(value, np.float64(0)) + np.float64(0), np.float64(1))


SATURATE: dict[str, Callable[[Any], Any]] = {"f16": half.saturate, "f32": single.saturate, "f64": clamp_f64}
"""`.sat` of each floating-point type that has it."""


def from_f64(kind: str, mode: str) -> Callable[[Any], Any]:
    """Rounding f64 to a floating-point type, as its codes for the 16-bit ones."""
    match kind:
        case "f64":
            return lambda a: a
        case "f32":
            return lambda a: double.narrowed(bits.unsigned(f64_to_f32(a, mode)), a, 23).view(np.float32)
        case _:
            form = FORMATS[kind]

            def code(a: Any) -> Any:
                words = encode(f64_to_f32(a, "odd"), form, mode).astype(np.uint16)
                return double.narrowed(words, a, form.fraction_bits)

            return code


def to_f64(kind: str) -> Callable[[Any], Any]:
    """A floating-point type's values as f64, exactly."""
    if kind in ("f16", "bf16"):
        return lambda a: half.widen(a, kind).astype(np.float64)
    return lambda a: a.astype(np.float64)


def integer_to_float(instruction: Decoded) -> Pure:
    """With a rounding mode."""
    mode, result = instruction.the(Rounding), instruction.types[0].name
    direct: Any = {"f32": np.float32, "f64": np.float64}.get(result)

    if mode is Rounding.RN and direct is not None:

        def function(a: Any) -> Any:
            return a.astype(direct)

    else:
        narrow, first = from_f64(result, mode), mode if result == "f64" else "odd"

        def function(a: Any) -> Any:
            return narrow(integer_to_f64(a, first))

    return computes(instruction, chain([function, SATURATE[result]]) if instruction["sat"] else function)


def float_to_integer(instruction: Decoded) -> Pure:
    """Always clamped; NaN as the manual says."""
    rounded, flush = INTEGER_ROUNDINGS[instruction["irnd"]], instruction["ftz"]
    result, source = instruction.types
    target, size = numpy_integer(result), result.bits
    limits = np.iinfo(target)
    of_nan = target(limits.min) if result.is_signed else target(1 << size - 1)
    if source.name != "f64" and size < 64:
        of_nan = target(0)
    widen = to_f64(source.name)
    step = np.int32 if size < 32 or result.name == "s32" else np.int64

    def function(a: Any) -> Any:
        value = rounded(widen(single.flush(a) if flush else a))
        if size < 64:
            clipped = np.minimum(np.maximum(value, np.float64(limits.min)), np.float64(limits.max))
            converted = clipped.astype(step).astype(target)
        else:
            # The limit itself, 2^63 or 2^64, is one past the largest integer.
            bound = np.float64(2.0 ** (size - result.is_signed))
            beyond = value >= bound
            below = value < limits.min
            inside = np.where(beyond | below, 0.0, value).astype(target)
            converted = np.where(beyond, target(limits.max), np.where(below, target(limits.min), inside))
        nan = np.isnan(value)
        return np.where(nan, of_nan, converted) if bits.any_lane(nan) else converted

    return computes(instruction, function)


def float_to_float(instruction: Decoded) -> Pure:
    """Between f16, bf16, f32 and f64, and to integral values."""
    result, source = (each.name for each in instruction.types)
    # As measured on an H200: ptxas 13.0 drops `.ftz` to f16, and rp and rm show it.
    flush = instruction["ftz"] and result != "f16"
    function = resized(instruction)
    stages: list[Callable[[Any], Any]] = []
    if flush and source == "f32":
        # To f32 and f64 by way of f32 arithmetic, which has but one NaN.
        stages += [single.flush] if result == "bf16" else [single.flush, single.canonical]
    if flush and source == "f64":
        stages.append(lambda a: single.flush_result(function(a), lambda: a, instruction.the(Rounding)))
    elif flush and result == "f32" and function is not same:
        stages += [function, single.flush, single.canonical]
    else:
        stages.append(function)
    if instruction["sat"]:
        if function is same:
            stages.append(single.canonical if result == "f32" else double.quiet)
        stages.append(SATURATE[result])
    return computes(instruction, chain(stages), definedness.same if stages == [same] else None)


def resized(instruction: Decoded) -> Callable[[Any], Any]:
    """A float rounded to an integral value, to a smaller type or to the other one of 16 bits, or widened."""
    result, source = instruction.types
    if instruction["irnd"]:
        return to_integral(source.name, INTEGER_ROUNDINGS[instruction["irnd"]])
    if result == source:
        # Of 16 bits the hardware adds a zero, of whose NaN one is left.
        return partial(half.canonical, infinity=half.INFINITY[result.name]) if result.bits == 16 else same
    if result.bits > source.bits:
        return to_f64(source.name) if result.name == "f64" else to_f32(source.name)
    # ptxas doesn't insist on a mode between f16 and bf16.
    mode = instruction.find(Rounding) or Rounding.RN
    if source.name == "f64":
        return from_f64(result.name, mode)
    code = encoder(FORMATS[result.name], mode, instruction["relu"], instruction["satfinite"])
    if source.name == "f32":
        return lambda a: code(a).astype(np.uint16)
    return lambda a: code(half.widen(a, source.name)).astype(np.uint16)


def same(a: Any) -> Any:
    """The value itself."""
    return a


def chain(stages: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """One function after the other."""
    if len(stages) == 1:
        return stages[0]

    def chained(a: Any) -> Any:
        for stage in stages:
            a = stage(a)
        return a

    return chained


def to_integral(kind: str, rounded: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Rounding a float to an integral value in its own format."""
    if kind in ("f16", "bf16"):
        return lambda a: half.narrow(rounded(to_f64(kind)(a)), kind)
    settled = single.canonical if kind == "f32" else double.quiet
    return lambda a: settled(rounded(a))


def to_f32(kind: str) -> Callable[[Any], Any]:
    """f16 or bf16 to f32: the hardware shifts a bf16, and adds a zero to an f16, of whose NaN one is left."""
    if kind == "bf16":
        return lambda a: half.widen(a, kind)
    return lambda a: single.canonical(half.widen(a, kind))


def to_tf32(instruction: Decoded) -> Pure:
    """f32 to tf32, whose thirteen low bits are zero."""
    if instruction["rna"]:
        return computes(instruction, finite_tf32 if instruction["satfinite"] else round_to_tf32)
    code = encoder(FORMATS["tf32"], instruction["frnd2"], instruction["relu"], instruction["satfinite"])
    return computes(instruction, lambda a: code(a) << np.uint32(13))


def round_to_tf32(value: Any) -> Any:
    """`cvt.rna.tf32.f32` as ptxas has it done: half a unit added to what is finite, the low bits cleared."""
    words = bits.unsigned(value)
    return words + np.isfinite(value) * np.uint32(0x1000) & np.uint32(0xFFFFE000)


def finite_tf32(value: Any) -> Any:
    """`cvt.rna.satfinite.tf32.f32` as ptxas has it done, as measured on an H200: what is infinite or NaN
    after rounding becomes the code below, so that the least NaNs end as the largest number."""
    words = round_to_tf32(value)
    return words - np.uint32(0x2000) * (words & np.uint32(0x7F800000) == 0x7F800000)
