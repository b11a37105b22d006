"""Shared memory as the tile that a person thinks of: by rows, a matrix descriptor, or a tensor map's box."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ptxkit.debugger.refusals import RefusedError
from ptxkit.diagnostics import PtxkitError
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.inspection import KnownBits
from ptxkit.encodings.shared_memory import SmemDescTcgen05, SmemDescWgmma
from ptxkit.encodings.tensor_maps import TensorMap, TiledTensorMap
from ptxkit.layouts.bitpacking import gather
from ptxkit.layouts.shared_memory import operand_bits
from ptxkit.layouts.swizzle import PATTERNS, swizzle_address
from ptxkit.layouts.tensor_copy import tensor_copy

ROWS, COLUMNS = 16, 8
"""Rows and columns of a tile that are shown at once."""
_SIZE = re.compile(r"(\d+)x(\d+)")


@dataclass(frozen=True, slots=True)
class MemoryTile:
    """A matrix in shared memory.

    Attributes:
        name: what it is, in words.
        places: int64 (rows, columns), the bit address of each element.
        kind: the PTX type of an element.
    """

    name: str
    places: np.ndarray
    kind: str

    def element(self, batch: CtaBatch, cta: int, row: int, column: int) -> KnownBits:
        """An element in the memory of a CTA of a batch. Raises RefusedError: it lies outside."""
        bits = DTYPES[self.kind].bits
        launch, bank = batch.launch, batch.shared
        at = int(self.places[row, column]) - launch.shared.start * 8
        if not 0 <= at <= launch.shared.total * 8 - bits:
            first, last = launch.shared.start, launch.shared.start + launch.shared.total - 1
            place = int(self.places[row, column]) // 8
            where = f"{place:#x}, not within {first:#x} to {last:#x}"
            raise RefusedError(f"element {row}, {column} lies at {where}")
        places = np.array([at + cta * bank.stride * 8])
        masks = int(gather(bank.shadow, places, bits)[0]) if bank.shadow is not None else 0
        return KnownBits(int(gather(bank.data, places, bits)[0]), masks)


def size_of(text: str) -> tuple[int, int]:
    """`ROWSxCOLUMNS`."""
    found = _SIZE.fullmatch(text)
    if found is None or "0" in found.groups():
        raise RefusedError(f"expected rows and columns such as `64x16`, found `{text}`")
    return int(found[1]), int(found[2])


def by_rows(address: int, size: tuple[int, int], kind: str, swizzle: str) -> MemoryTile:
    """A tile of rows one after another, swizzled as a copy swizzles what it writes."""
    if swizzle not in PATTERNS:
        raise RefusedError(f"expected a swizzle, one of {', '.join(PATTERNS)}; found `{swizzle}`")
    bits = DTYPES[kind].bits
    row, column = np.indices(size)
    linear = address * 8 + (row * size[1] + column) * bits
    places = swizzle_address(linear // 8, swizzle) * 8 + linear % 8
    return MemoryTile(f"{size[0]}x{size[1]} {kind} at {address:#x}, swizzle {swizzle}", places, kind)


def by_descriptor(
    word: int, size: tuple[int, int], kind: str, major: str, capability: tuple[int, int]
) -> MemoryTile:
    """What an instruction reads through a matrix descriptor: `wgmma`'s up to sm_90, else `tcgen05`'s.

    Args:
        size: elements along M or N, and along K.
        major: `K` or `MN`.
    """
    layout = SmemDescTcgen05 if capability >= (10, 0) else SmemDescWgmma
    if major not in ("K", "MN"):
        raise RefusedError(f"expected `K` or `MN`, found `{major}`")
    try:
        descriptor = layout.decode(word)
        places = operand_bits(descriptor, *size, kind, major)
    except PtxkitError as problem:
        raise RefusedError(f"{word:#x} is no matrix descriptor: {problem.diagnostics[0].message}") from None
    fields = ", ".join(f"{name} {value}" for name, value in descriptor.fields().items() if value is not None)
    text = f"{size[0]}x{size[1]} {kind}, {major}-major, through {word:#018x}: {fields}"
    return MemoryTile(text, places, kind)


def by_map(name: str, tensor_map: TensorMap, address: int) -> MemoryTile:
    """The box of a tensor map that a copy puts at an address; outer dimensions one after another."""
    if not isinstance(tensor_map, TiledTensorMap):
        raise RefusedError(f"expected a tensor map with a box, found `{name}`")
    kind = tensor_map.dtype
    copy = tensor_copy(bytes(tensor_map))
    if copy.slice or copy.padded:
        raise RefusedError(f"`{name}` has an interleaved or padded layout, which has no rows to show")
    moves = copy.moves([0] * tensor_map.rank, address)
    rows, bits = copy.count(()), DTYPES[kind].bits
    within = np.arange(copy.inner) * bits // 8
    units = moves.places.reshape(rows, -1)
    places = units[:, within // moves.unit] + within % moves.unit
    box = ", ".join(map(str, tensor_map.box))
    text = f"box [{box}] {kind} of `{name}` at {address:#x}, swizzle {tensor_map.swizzle}"
    return MemoryTile(text, places * 8 + np.arange(copy.inner) * bits % 8, kind)
