"""`cvt` to and from narrow formats, as PTX ISA 9.1 to 9.4 brought it. PTX ISA 9.7.9.21."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ptxkit.asm.decode import Decoded
from ptxkit.dtypes import DTYPES, DType
from ptxkit.emulator.numerics import bits, single
from ptxkit.emulator.numerics.formats import FORMATS, encode, encoder
from ptxkit.emulator.numerics.rounding import f64_to_f32
from ptxkit.emulator.operation import Operations, Pure, computes
from ptxkit.emulator.operations import definedness
from ptxkit.emulator.operations.packed_floats import format_of, numbers, packed_word
from ptxkit.isa.modifiers import Rounding

operation = Operations("narrow")


@operation("cvt")
def cvt(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.9.21."""
    result, source = instruction.types
    if result.lanes == 1:
        return to_one(instruction)
    widens = source.lanes == 2 and source.bits < result.bits
    function = widened(instruction) if widens else narrowed(instruction)
    has_scale = "sf" in instruction.operands
    sources = [DTYPES[name] for _, name in instruction.values(written=False)]

    def pairs(*operands: Any) -> Any:
        scale = scales(operands[-1], sources[-1]) if has_scale else None
        inputs = operands[:-1] if has_scale else operands
        # Of two operands the first one is the upper number.
        if len(inputs) == 2:
            return function(np.stack(np.broadcast_arrays(*reversed(inputs)), axis=-1), scale)
        return function(numbers(inputs[0], source), scale)

    return computes(instruction, pairs, undefined_pairs(sources, result))


def scales(word: Any, kind: DType) -> Any:
    """The scale factors, of type ue8m0, in f64: one for each number, or one for both."""
    if kind.lanes == 2:
        return numbers(word, kind).astype(np.float64)
    return numbers(word.astype(np.uint16), DTYPES["ue8m0x2"])[..., :1].astype(np.float64)


def undefined_pairs(sources: Sequence[DType], result: DType) -> definedness.Propagate:
    """Each number of the result hangs on its own source, and on its own scale factor or the common one."""
    scalars = [index for index, source in enumerate(sources) if source.name == "f32"]

    def part(index: int, mask: Any, lane: int) -> Any:
        if index in scalars:
            return mask if scalars.index(index) == 1 - lane else None
        if sources[index].lanes == 1:
            return mask
        step, word = bits.width(mask) // 2, mask.dtype.type
        return mask >> word(lane * step) & word((1 << step) - 1)

    def propagate(values: Sequence[Any], masks: Sequence[Any]) -> Any:
        lanes = []
        for lane in (0, 1):
            parts = [part(index, mask, lane) for index, mask in enumerate(masks) if mask is not None]
            lanes.append(definedness.every_bit(values, parts, 1))
        return definedness.undefined_parts(result.bits, lanes)

    return propagate


def positive_zero(code: Any, sign: int) -> Any:
    """`.pzo`: codes with -0 made +0."""
    return code * (code != sign)


def narrowed(instruction: Decoded) -> Callable[[Any, Any], Any]:
    """From f32, or f16 and bf16 widened to it, divided by the scale factor, which is rounded once with the
    conversion; a scale factor for both numbers makes subnormal ones zero before (`.scaled::n1::ue8m0`)."""
    result, source = instruction.types
    field, word = np.uint32(result.bits // 2), bits.UNSIGNED[result.bits]
    flushes = "sf" in instruction.operands and instruction.type_of("sf").lanes == 1
    mode, relu, saturates = instruction.the(Rounding), instruction["relu"], instruction["satfinite"]
    if result.name == "s2f6x2":
        return lambda value, scale: packed_word(to_fixed(value, scale, mode, relu), result)
    target = format_of(result)
    code = encoder(target, mode, relu, saturates)

    def function(value: Any, scale: Any) -> Any:
        if flushes:
            value = flushed(value, source)
        if scale is not None:
            value = f64_to_f32(value.astype(np.float64) / scale, "odd")
        if not target.signed:
            value = np.abs(value)
        codes = code(value)
        if instruction["pzo"]:
            codes = positive_zero(codes, target.sign)
        return (codes[..., 1] << field | codes[..., 0]).astype(word)

    return function


def flushed(value: Any, source: DType) -> Any:
    """Numbers with those that are subnormal in their own type made zero, keeping the sign."""
    if source.name != "f16x2":
        return single.flush(value)
    return np.where(np.abs(value) < np.float32(2.0**-14), np.copysign(np.float32(0), value), value)


def to_fixed(value: Any, scale: Any, mode: Rounding, relu: bool | None) -> Any:
    """s2f6: f32 divided by the scale factor, in 64ths, as the low 8 bits; NaN is the largest number."""
    parts = value.astype(np.float64) * np.float64(64)
    if scale is not None:
        parts = parts / scale
    rounded = np.rint(parts) if mode is Rounding.RN else np.trunc(parts)
    limited = np.clip(rounded, 0 if relu else -128, 127)
    return np.where(np.isnan(parts), 127, limited).astype(np.int8).view(np.uint8)


def widened(instruction: Decoded) -> Callable[[Any, Any], Any]:
    """To f16x2 and bf16x2, multiplied by the scale factor, and rounded to nearest even."""
    result = instruction.types[0]
    target, saturates, relu = format_of(result), instruction["satfinite"], instruction["relu"]

    def function(value: Any, scale: Any) -> Any:
        if scale is not None:
            # Exact but for an overflow: f32 has every number of a few bits down to 2^-149.
            value = (value * scale).astype(np.float32)
        return packed_word(encode(value, target, "rn", saturate=saturates, relu=relu), result)

    return function


def to_one(instruction: Decoded) -> Pure:
    """`.pzo` from f32 to f16, bf16 or tf32, whose thirteen low bits are zero."""
    result = instruction.types[0]
    target = FORMATS[result.name]
    code = encoder(target, instruction.the(Rounding), instruction["relu"], instruction["satfinite"])

    def function(a: Any) -> Any:
        codes = positive_zero(code(a), target.sign)
        return codes << np.uint32(13) if result.name == "tf32" else codes.astype(np.uint16)

    return computes(instruction, function)
