"""`cvt` between integers, f16, bf16, tf32, f32 and f64. PTX ISA 9.7.9.21."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ptxkit.emulator.numerics import bits, double, half, integers, single
from ptxkit.emulator.numerics.formats import FORMATS, Format, encode, encode_nearest
from ptxkit.emulator.numerics.rounding import f64_to_f32, integer_to_f64
from ptxkit.emulator.operation import Modifiers, Pure, Unsupported, pure
from ptxkit.emulator.operations import definedness

INTEGERS = tuple(f"{sign}{size}" for sign in "us" for size in (8, 16, 32, 64))
FLOATS = ("f16", "bf16", "f32", "f64")
FLOAT_ROUNDINGS = ("rn", "rz", "rm", "rp")
INTEGER_ROUNDINGS: dict[str, Callable[[Any], Any]] = {
    "rni": np.rint,
    "rzi": np.trunc,
    "rmi": np.floor,
    "rpi": np.ceil,
}


def numpy_integer(kind: str) -> Any:
    """The numpy type of an integer type."""
    return (bits.SIGNED if kind[0] == "s" else bits.UNSIGNED)[int(kind[1:])]


def pairs_of(*kinds_from: tuple[Sequence[str], Sequence[str]]) -> tuple[str, ...]:
    """Keys `to.from` for each destination with each source."""
    return tuple(f"{to}.{source}" for tos, sources in kinds_from for to in tos for source in sources)


@pure("cvt", types=pairs_of((INTEGERS, INTEGERS)))
def integer_to_integer(m: Modifiers) -> Pure:
    """Extension, chopping, `.sat`."""
    result, source = m.type().name, m.type().name
    target = numpy_integer(result)
    if m.flag("sat"):
        return Pure((result,), (source,), lambda a: integers.clamp(a, target))
    if result == source:
        return Pure((result,), (source,), lambda a: a, undefined=definedness.same)
    signed = source[0] == "s"

    def undefined(values: Sequence[Any], masks: Sequence[Any]) -> Any:
        mask = bits.signed(masks[0]) if signed else masks[0]
        return bits.unsigned(mask.astype(target))

    return Pure((result,), (source,), lambda a: a.astype(target), undefined=undefined)


def saturate_code(kind: str) -> Callable[[Any], Any]:
    """`.sat` for a floating-point type."""
    if kind == "bf16":
        raise Unsupported("`cvt.sat` to `.bf16`")
    functions = {"f16": half.saturate, "f32": single.saturate, "f64": clamp_f64}
    return functions[kind]


def clamp_f64(value: Any) -> Any:
    """`.sat` on f64: clamped to [+0, 1], a quiet NaN to +0."""
    return np.minimum(np.fmax(value, np.float64(0)) + np.float64(0), np.float64(1))


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


@pure("cvt", types=pairs_of((FLOATS, INTEGERS)))
def integer_to_float(m: Modifiers) -> Pure:
    """With a rounding mode."""
    mode = m.need(*FLOAT_ROUNDINGS)
    result, source = m.type().name, m.type().name
    if result == "f32":
        m.flag("ftz")
    saturate = saturate_code(result) if m.flag("sat") else None
    direct = {"f32": np.float32, "f64": np.float64}.get(result)
    if mode == "rn" and direct is not None:
        kind = direct

        def function(a: Any) -> Any:
            return a.astype(kind)

    else:
        narrow = from_f64(result, mode)
        first = mode if result == "f64" else "odd"

        def function(a: Any) -> Any:
            return narrow(integer_to_f64(a, first))

    return Pure((result,), (source,), function if saturate is None else lambda a: saturate(function(a)))


@pure("cvt", types=pairs_of((INTEGERS, FLOATS)))
def float_to_integer(m: Modifiers) -> Pure:
    """Always clamped; NaN as the manual says."""
    rounded = INTEGER_ROUNDINGS[m.need(*INTEGER_ROUNDINGS)]
    result, source = m.type().name, m.type().name
    flush = source == "f32" and m.flag("ftz")
    m.flag("sat")
    target = numpy_integer(result)
    size = int(result[1:])
    limits = np.iinfo(target)
    of_nan = target(limits.min) if result[0] == "s" else target(1 << size - 1)
    if source != "f64" and size < 64:
        of_nan = target(0)
    widen = to_f64(source)
    step = np.int32 if size < 32 or result == "s32" else np.int64

    def function(a: Any) -> Any:
        value = rounded(widen(single.flush(a) if flush else a))
        if size < 64:
            clipped = np.minimum(np.maximum(value, np.float64(limits.min)), np.float64(limits.max))
            converted = clipped.astype(step).astype(target)
        else:
            # The limit itself, 2^63 or 2^64, is one past the largest integer.
            bound = np.float64(2.0 ** (size if result[0] == "u" else size - 1))
            beyond = value >= bound
            below = value < limits.min
            inside = np.where(beyond | below, 0.0, value).astype(target)
            converted = np.where(beyond, target(limits.max), np.where(below, target(limits.min), inside))
        nan = np.isnan(value)
        return np.where(nan, of_nan, converted) if bits.any_lane(nan) else converted

    return Pure((result,), (source,), function)


RANK = {"f16": 0, "bf16": 0, "f32": 1, "f64": 2}


@pure("cvt", types=pairs_of((FLOATS, FLOATS)))
def float_to_float(m: Modifiers) -> Pure:
    """Between f16, bf16, f32 and f64, and to integral values."""
    mode = m.choose(*FLOAT_ROUNDINGS, *INTEGER_ROUNDINGS)
    result, source = m.type().name, m.type().name
    flush = "f32" in (result, source) and m.flag("ftz")
    if result == "f16":
        # As measured on an H200: ptxas 13.0 drops `.ftz` here, and rp and rm show it.
        flush = False
    relu, satfinite, saturate = m.flag("relu"), m.flag("satfinite"), m.flag("sat")
    across = {result, source} == {"f16", "bf16"}
    narrowing = RANK[result] < RANK[source] or across
    if across and mode is None:
        # ptxas doesn't insist on a mode here.
        mode = "rn"
    rounds = narrowing or (source == "bf16" and RANK[result] > 0 and mode in FLOAT_ROUNDINGS)
    if (mode in FLOAT_ROUNDINGS) != rounds or (mode in INTEGER_ROUNDINGS and result != source):
        raise Unsupported(f"`cvt{f'.{mode}' if mode else ''}.{result}.{source}`")
    if (relu or satfinite) and (source != "f32" or RANK[result] or mode not in ("rn", "rz") or saturate):
        raise Unsupported(f"`cvt.{result}.{source}` with `.relu` or `.satfinite`")
    function: Callable[[Any], Any]
    if relu or satfinite:
        function = to_16_bits(result, mode or "", relu, satfinite)
    elif mode in INTEGER_ROUNDINGS:
        function = to_integral(source, INTEGER_ROUNDINGS[mode])
    elif narrowing:
        function = narrow_float(result, source, mode or "")
    elif result == source:
        # Of 16 bits the hardware adds a zero, of whose NaN one is left.
        function = partial(half.canonical, infinity=half.INFINITY[result]) if RANK[result] == 0 else same
    elif result == "f64":
        function = to_f64(source)
    else:
        function = to_f32(source)

    stages: list[Callable[[Any], Any]] = []
    if flush and source == "f32":
        # To f32 and f64 by way of f32 arithmetic, which has but one NaN.
        stages += [single.flush] if RANK[result] == 0 else [single.flush, single.canonical]
    stages.append(function)
    if flush and result == "f32" and function is not same:
        stages[-1:] = (
            [flushed_f64(function, mode or "")]
            if source == "f64"
            else [function, single.flush, single.canonical]
        )
    if saturate:
        if function is same:
            stages.append(single.canonical if result == "f32" else double.quiet)
        stages.append(saturate_code(result))
    return Pure((result,), (source,), chain(stages), undefined=definedness.same if stages == [same] else None)


def flushed_f64(function: Callable[[Any], Any], mode: str) -> Callable[[Any], Any]:
    """A conversion of f64 to f32 with `.ftz`."""
    return lambda a: single.flush_result(function(a), lambda: a, mode)


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


def narrow_float(result: str, source: str, mode: str) -> Callable[[Any], Any]:
    """A float to a smaller one, or to the other one of 16 bits."""
    if source == "f64":
        return from_f64(result, mode)
    if source == "f32":
        return to_16_bits(result, mode, relu=False, satfinite=False)
    form = FORMATS[result]
    return lambda a: encode(half.widen(a, source), form, mode).astype(np.uint16)


def to_16_bits(kind: str, mode: str, relu: bool, satfinite: bool) -> Callable[[Any], Any]:
    """f32 to the codes of f16 or bf16."""
    code = encoder(FORMATS[kind], mode, relu, satfinite)
    return lambda a: code(a).astype(np.uint16)


def encoder(form: Format, mode: str, relu: bool, saturate: bool) -> Callable[[Any], Any]:
    """f32 to the codes of a format, as uint32."""
    if mode == "rn" and not relu:
        return partial(encode_nearest, form=form, saturate=saturate)
    return partial(encode, form=form, mode=mode, relu=relu, saturate=saturate)


@pure("cvt", types=pairs_of((("f16x2", "bf16x2"), ("f32",))))
def to_16_bit_pair(m: Modifiers) -> Pure:
    """f32 to f16x2 and bf16x2: the first source goes to the upper half."""
    mode = m.need("rn", "rz", "rs")
    name = m.type().name
    m.need("f32")
    form = FORMATS[name.removesuffix("x2")]
    options: dict[str, Any] = {"relu": m.flag("relu"), "saturate": m.flag("satfinite")}
    if mode != "rs":
        code = encoder(form, mode, **options)

        def function(a: Any, b: Any) -> Any:
            return code(a) << np.uint32(16) | code(b)

        return Pure((name,), ("f32", "f32"), function, undefined=definedness.each_a_part(2, 32))
    count = 13 if form.name == "f16" else 16

    def with_random(a: Any, b: Any, rbits: Any) -> Any:
        upper = encode(a, form, mode, random=(rbits >> np.uint32(16), count), **options)
        return upper << np.uint32(16) | encode(b, form, mode, random=(rbits, count), **options)

    return Pure((name,), ("f32", "f32", "b32"), with_random, undefined=definedness.each_a_part(2, 32))


@pure("cvt", types=("tf32.f32",))
def to_tf32(m: Modifiers) -> Pure:
    """f32 to tf32, whose thirteen low bits are zero."""
    mode = m.need("rna", "rn", "rz")
    m.need("tf32")
    m.need("f32")
    relu, saturate = mode != "rna" and m.flag("relu"), m.flag("satfinite")
    if mode == "rna":
        return Pure(("b32",), ("f32",), finite_tf32 if saturate else round_to_tf32)
    code = encoder(FORMATS["tf32"], mode, relu, saturate)
    return Pure(("b32",), ("f32",), lambda a: code(a) << np.uint32(13))


def round_to_tf32(value: Any) -> Any:
    """`cvt.rna.tf32.f32` as ptxas has it done: half a unit added to what is finite, the low bits cleared."""
    words = bits.unsigned(value)
    return words + np.isfinite(value) * np.uint32(0x1000) & np.uint32(0xFFFFE000)


def finite_tf32(value: Any) -> Any:
    """`cvt.rna.satfinite.tf32.f32` as ptxas has it done, as measured on an H200: what is infinite or NaN
    after rounding becomes the code below, so that the least NaNs end as the largest number."""
    words = round_to_tf32(value)
    return words - np.uint32(0x2000) * (words & np.uint32(0x7F800000) == 0x7F800000)
