"""Moving, packing, permuting, and addresses of other windows: `mov`, `prmt`, `cvta`. PTX ISA 9.7.9."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from ptxkit.asm.decode import Decoded
from ptxkit.dtypes import DType
from ptxkit.emulator.jit.lowering import Lowering, Lowerings, same
from ptxkit.emulator.jit.words import Words, repeated
from ptxkit.emulator.operations.load_store import window

lowers = Lowerings("movement")


@lowers("mov")
def mov(instruction: Decoded) -> Lowering | None:
    """PTX ISA 9.7.9.3 and 9.7.9.4."""
    bits = instruction.the(DType).bits
    pieces, packed = (len(instruction.values(written)) for written in (True, False))
    if bits > 64:
        return None
    if pieces == packed:
        return same if pieces == 1 else lambda w, *elements: elements
    if packed > 1:
        return lambda w, *parts: packed_word(w, parts, bits)
    step = bits // pieces
    return lambda w, a: tuple(w.resize(w.right(a, at), step) for at in range(0, bits, step))


def packed_word(w: Words, parts: tuple[Any, ...], bits: int) -> Any:
    """Words laid side by side in a word of `bits` bits, the first lowest."""
    step = bits // len(parts)
    packed = w.resize(parts[0], bits)
    for at, part in enumerate(parts[1:], 1):
        packed = w.either(packed, w.left(w.resize(part, bits), at * step))
    return packed


@lowers("prmt")
def prmt(instruction: Decoded) -> Lowering | None:
    """PTX ISA 9.7.9.7."""
    return None if instruction["mode"] else permute


def permute(w: Words, a: Any, b: Any, selectors: Any) -> Any:
    """Byte i of the result is chosen by bits 4i+3..4i of `selectors`, bit 3 replicating its sign."""
    # A selector to a byte.
    choices = w.mask(selectors, 0xFFFF)
    choices = w.mask(w.either(choices, w.left(choices, 8)), 0x00FF00FF)
    choices = w.mask(w.either(choices, w.left(choices, 4)), 0x0F0F0F0F)
    chooser = w.split(choices, 8)
    count = chooser.type.count

    def every(value: int) -> Any:
        return repeated(chooser.type.element, value, count)

    def is_set(bit: int) -> Any:
        return w.builder.icmp_unsigned("!=", w.builder.and_(chooser, every(bit)), every(0))

    places = ir.VectorType(ir.IntType(32), count)
    candidates = []
    for word in (a, b):
        data = w.split(word, 8)
        for byte in range(4):
            places_of = ir.Constant(places, [place // 4 * 4 + byte for place in range(count)])
            candidates.append(w.builder.shuffle_vector(data, data, places_of))
    for bit in (1, 2, 4):
        condition = is_set(bit)
        candidates = [
            w.builder.select(condition, other, one)
            for one, other in zip(candidates[::2], candidates[1::2], strict=True)
        ]
    (chosen,) = candidates
    sign = w.builder.ashr(chosen, every(7))
    return w.join(w.builder.select(is_set(8), sign, chosen), 32)


@lowers("cvta", "cvta.to")
def cvta(instruction: Decoded) -> Lowering:
    """PTX ISA 9.7.9.20."""
    step = window(instruction)
    return (lambda w, a: w.add(a, w.constant(64, step))) if step else same
