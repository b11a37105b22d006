"""Moving, packing and permuting: `mov`, `prmt`, `cvt.pack`. PTX ISA 9.7.9."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ptxkit.asm.decode import Decoded
from ptxkit.dtypes import DType, Kind
from ptxkit.emulator.numerics import bits
from ptxkit.emulator.operation import Operations, Pure, Unsupported, computes
from ptxkit.emulator.operations import definedness
from ptxkit.isa.modifiers import Mode, PackedInteger

operation, conversion = Operations("movement"), Operations("conversion")


@operation("mov")
def mov(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.9.3 and 9.7.9.4."""
    kind = instruction.the(DType)
    pieces, packed = (len(instruction.values(written)) for written in (True, False))
    if pieces == packed == 1:
        return computes(instruction, lambda a: a, definedness.same)
    if pieces == packed and instruction["vec"]:
        return computes(instruction, lambda *elements: elements, lambda values, masks: tuple(masks))
    size, count = kind.bits, max(pieces, packed)
    if kind.kind is not Kind.BITS or min(pieces, packed) > 1 or size // count not in bits.UNSIGNED:
        raise Unsupported(f"`mov.{kind.name}` between vectors of {pieces} and {packed} elements")
    elements = [f"b{size // count}"] * count
    if packed > 1:
        return computes(
            instruction, lambda *parts: pack(size, parts), partial(pack_masks, size), sources=elements
        )
    split = partial(unpack, size, count)
    return computes(instruction, split, lambda values, masks: split(masks[0]), results=elements)


def pack(size: int, parts: Sequence[Any]) -> Any:
    """Words laid side by side in a word of `size` bits, the first lowest."""
    step = size // len(parts)
    if size == 128:
        half = len(parts) // 2
        words = parts if half == 1 else (pack(64, parts[:half]), pack(64, parts[half:]))
        return np.stack(np.broadcast_arrays(*words), axis=-1)
    word = bits.UNSIGNED[size]
    packed = parts[0].astype(word)
    for index, part in enumerate(parts[1:], 1):
        packed = packed | part.astype(word) << word(index * step)
    return packed


def pack_masks(size: int, values: Sequence[Any], masks: Sequence[Any]) -> Any:
    """`pack` of the masks of undefined bits."""
    return pack(size, [definedness.known(value, mask) for value, mask in zip(values, masks, strict=True)])


def unpack(size: int, count: int, word: Any) -> tuple[Any, ...]:
    """The `count` parts of a word of `size` bits, lowest first."""
    if size == 128:
        halves = word[..., 0], word[..., 1]
        return (
            halves if count == 2 else tuple(part for half in halves for part in unpack(64, count // 2, half))
        )
    step = size // count
    part = bits.UNSIGNED[step]
    return (
        word.astype(part),
        *((word >> word.dtype.type(index * step)).astype(part) for index in range(1, count)),
    )


PRMT_MODES: dict[Mode, Callable[[int], tuple[int, ...]]] = {
    Mode.F4E: lambda s: tuple(s + i for i in range(4)),
    Mode.B4E: lambda s: tuple((s - i) & 7 for i in range(4)),
    Mode.RC8: lambda s: (s,) * 4,
    Mode.ECL: lambda s: tuple(max(s, i) for i in range(4)),
    Mode.ECR: lambda s: tuple(min(s, i) for i in range(4)),
    Mode.RC16: lambda s: (2 * (s & 1), 2 * (s & 1) + 1) * 2,
}
"""The source byte of each destination byte, lowest first, by mode and the two low bits of `c`."""


def permute(a: Any, b: Any, selectors: Any) -> Any:
    """`prmt`: byte i of the result is chosen by bits 4i+3..4i of `selectors`, bit 3 replicating its sign."""
    if np.ndim(a) == 0 and np.ndim(b) == 0 and np.ndim(selectors):
        return permutations(int(a), int(b)).take(selectors & np.uint32(0xFFFF))
    pair = a.astype(np.uint64) | b.astype(np.uint64) << np.uint64(32)
    distances = selectors << np.uint32(3)
    replicating = bits.any_lane(selectors & np.uint32(0x8888))
    result: Any = np.uint32(0)
    for index in range(4):
        distance = distances >> np.uint32(4 * index) & np.uint32(0x38)
        byte = (pair >> distance.astype(np.uint64)).astype(np.uint8)
        if replicating:
            sign = (byte.view(np.int8) >> np.int8(7)).view(np.uint8)
            byte = bits.select(selectors & np.uint32(8 << 4 * index) != 0, sign, byte)
        result = result | byte.astype(np.uint32) << np.uint32(8 * index)
    return result


@lru_cache(maxsize=16)
def permutations(a: int, b: int) -> np.ndarray:
    """The result of `prmt` on two given words for each of the 65536 selectors."""
    source = [(b << 32 | a) >> 8 * index & 0xFF for index in range(8)]
    bytes_of = np.array(source + [0xFF if byte & 0x80 else 0 for byte in source], np.uint32)
    selectors = np.arange(65536)
    return np.bitwise_or.reduce([bytes_of[selectors >> 4 * i & 15] << np.uint32(8 * i) for i in range(4)])


def fixed_permute(selectors: int) -> Callable[[Any, Any], Any]:
    """`permute` for constant selectors: bytes that move the same way move together."""
    together: dict[tuple[int, int], int] = {}
    signs: list[tuple[int, int]] = []
    for index in range(4):
        selector = selectors >> 4 * index & 15
        source = selector & 7
        if selector > 7:
            signs.append((source, index))
        else:
            key = (source // 4, 8 * (index - source % 4))
            together[key] = together.get(key, 0) | 0xFF << 8 * index

    def function(a: Any, b: Any) -> Any:
        result: Any = None
        for (operand, distance), mask in together.items():
            word = b if operand else a
            if distance > 0:
                word = word << np.uint32(distance)
            elif distance < 0:
                word = word >> np.uint32(-distance)
            shifted_in = (0xFFFFFFFF << distance if distance > 0 else 0xFFFFFFFF >> -distance) & 0xFFFFFFFF
            if mask != shifted_in:
                word = word & np.uint32(mask)
            result = word if result is None else result | word
        for source, index in signs:
            word = bits.signed((b if source > 3 else a) << np.uint32(24 - 8 * (source % 4)))
            sign = bits.unsigned(word >> np.int32(31)) & np.uint32(0xFF << 8 * index)
            result = sign if result is None else result | sign
        return result

    return function


@operation("prmt")
def prmt(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.9.7."""
    mode, constant = instruction["mode"], instruction.constant("c")
    table = None
    if mode is not None:
        sources = [PRMT_MODES[mode](s) for s in range(4)]
        table = np.array([sum(byte << 4 * i for i, byte in enumerate(row)) for row in sources], np.uint32)
        constant = None if constant is None else int(table[constant & 3])
    if constant is not None:
        fixed = fixed_permute(constant & 0xFFFF)

        def function(a: Any, b: Any, c: Any) -> Any:
            return fixed(a, b)

    else:

        def function(a: Any, b: Any, c: Any) -> Any:
            return permute(a, b, c if table is None else table[c & np.uint32(3)])

    return computes(instruction, function, definedness.moved(function, data=2))


@conversion("cvt.pack")
def cvt_pack(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.9.22."""
    signed, size = instruction.the(PackedInteger)
    low, high = (-1 << size - 1, (1 << size - 1) - 1) if signed else (0, (1 << size) - 1)
    field = np.uint32((1 << size) - 1)

    def function(a: Any, b: Any, c: Any = None) -> Any:
        upper, lower = (np.clip(x, np.int32(low), np.int32(high)).view(np.uint32) & field for x in (a, b))
        packed = upper << np.uint32(size) | lower
        return packed if c is None else packed | c << np.uint32(2 * size)

    return computes(instruction, function, results=["b32"])
