"""Matrices between shared memory and registers: `ldmatrix`, `stmatrix`, `movmatrix`.

PTX ISA 9.7.14.5.15 to .17. A matrix in shared memory is rows of 16 bytes, of 8 where its elements are s4; one
lane gives the address of each. The manual has pictures alone of the 8-bit matrices: their formulas follow
CUTLASS (`copy_sm100.hpp`, `copy_traits_sm100.hpp`) and what `mma` takes; those of s4 a test that vLLM's
developers report to pass on an H100.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.dtypes import DTYPES
from ptxkit.emulator.access import Access
from ptxkit.emulator.accessor import Accessor
from ptxkit.emulator.addresses import plain_space
from ptxkit.emulator.aligned import AlignedSyncPoint, check_whole_warps
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operands import put
from ptxkit.emulator.values import WARP
from ptxkit.isa.modifiers import PackedSource, Shape, StateSpace

effect, later = Effects("matrix"), Effects("compression")

ROW = 16
"""Bytes of a matrix's row."""
S4_ROW = 8
"""Bytes of a row of 16 elements of 4 bits that are not padded."""
M8N8, M8N16, M16N16, M16N8 = Shape(8, 8, 0), Shape(8, 16, 0), Shape(16, 16, 0), Shape(16, 8, 0)
ROWS = {M8N8: 8, M8N16: 8, M16N16: 16, M16N8: 8}
"""Rows of one matrix in shared memory, and so addresses; for m16n8 they are its columns."""


# ---- rows and registers


def registers_of(rows: np.ndarray, shape: Shape, trans: bool) -> list[np.ndarray]:
    """What a warp gets of one matrix.

    A lane with group g and thread t gets the elements 2t and 2t + 1 (of b16), or 4t to 4t + 3 (of b8), of row
    g; of a transposed matrix rows and columns change places. The 16 columns of m16n16 are two registers.

    Args:
        rows: uint8 (n, 8 or 16, 16).
        shape: of the matrix.
        trans: `.trans`.

    Returns:
        Registers, uint32 (n, 32).
    """
    n = len(rows)
    if shape == M16N16:
        columns = np.ascontiguousarray(rows.transpose(0, 2, 1)).view(np.uint32)
        return [columns[:, half : half + 8].reshape(n, WARP) for half in (0, 8)]
    if trans:
        rows = np.ascontiguousarray(rows.view(np.uint16).transpose(0, 2, 1)).view(np.uint8)
    return [np.ascontiguousarray(rows).view(np.uint32).reshape(n, WARP)]


def rows_of(register: np.ndarray, shape: Shape, trans: bool) -> np.ndarray:
    """The rows, uint8 (n, 8, 16), that a warp stores of one matrix; undoes `registers_of` for m8n8.

    m16n8 is stored transposed: its four elements of a lane are those of an accumulator of `mma.m16n8`, each
    row in memory a column of 16.
    """
    n = len(register)
    words = np.ascontiguousarray(register)
    if shape == M16N8:
        # group, thread, upper half, column of two -> thread, column of two, upper half, group
        return words.view(np.uint8).reshape(n, 8, 4, 2, 2).transpose(0, 2, 4, 3, 1).reshape(n, 8, ROW)
    if trans:
        words = np.ascontiguousarray(words.view(np.uint16).reshape(n, 8, 8).transpose(0, 2, 1))
    return words.view(np.uint8).reshape(n, 8, ROW)


def decompressed(rows: np.ndarray, source: PackedSource) -> np.ndarray:
    """Rows of 16 elements of 4 or 6 bits, padded to 16 bytes, with each element in the low bits of a byte."""
    if source is PackedSource.B4X16_P64:
        return np.stack([rows[..., :8] & np.uint8(0xF), rows[..., :8] >> np.uint8(4)], -1).reshape(rows.shape)
    bits = np.unpackbits(rows[..., :12], axis=-1, bitorder="little").reshape(*rows.shape, 6)
    return np.packbits(bits, axis=-1, bitorder="little")[..., 0]


def sign_extended(rows: np.ndarray) -> np.ndarray:
    """Rows of 16 signed elements of 4 bits, in 8 bytes, with each element in a byte of its own."""
    nibbles = np.stack([rows & np.uint8(0xF), rows >> np.uint8(4)], -1).reshape(*rows.shape[:-1], ROW)
    return (nibbles ^ np.uint8(8)) - np.uint8(8)


# ---- addresses


class RowAccess:
    """Access to the rows, of `size` bytes, whose addresses the first `count` lanes give.

    The others' addresses don't matter; up to sm_75 they must be valid too (9.7.14.5.15).
    """

    def __init__(self, instruction: ScopedInstruction, count: int, size: int = ROW) -> None:
        space = plain_space(instruction["ss"] or StateSpace.GENERIC)
        self.site: Site = instruction.site
        self.size = size
        checked = WARP if instruction.scope.program.capability <= (7, 5) else count
        self.lanes = np.arange(WARP)[None] < checked
        self.accessor = Accessor(instruction.address("p"), space, size, instruction.site)
        instruction.scope.program.touches("shared", size)

    def __call__(self, lane_set: LaneSet, guard: Any) -> list[Access]:
        """The accesses, to shared memory alone. Raises P602, an address lies elsewhere; P603, it is no
        multiple of a row's size."""
        lanes = np.broadcast_to(self.lanes, (lane_set.n, WARP))
        if guard is not None:
            lanes = lanes & guard
        accesses = self.accessor(lane_set, lanes)
        for access in accesses:
            if access.space != "shared":
                thread = lane_set.thread(*lane_set.first(access.guard))
                name = self.site.name
                message = f"out of bounds: expected an address of shared memory for `{name}`"
                message += f", found one of {access.space} memory"
                raise fault("P602", message, self.site, (f"{thread}",))
        return accesses

    def load(self, lane_set: LaneSet, guard: Any) -> tuple[np.ndarray, np.ndarray | None, int]:
        """The rows, uint8 (n, 32, size), their undefined bits, and the origin of these."""
        rows = np.zeros((lane_set.n, WARP, self.size), np.uint8)
        unknown: np.ndarray | None = None
        origin, words = 0, self.size // 4
        for access in self(lane_set, guard):
            lane_set.launch.counts.load(access.space, access.lanes * self.size)
            access.count_traffic(self.size, "loaded")
            if lane_set.launch.layouts is not None and self.size == ROW:
                places = np.broadcast_to(access.index, (lane_set.n, WARP))[:, self.lanes[0]]
                for each in places.astype(np.int64):
                    lane_set.launch.layouts.rows(
                        lane_set.batch, self.site.where, each.reshape(-1, ROWS[M8N8])
                    )
            values, masks = access.load(4, words)
            for i in range(words):
                rows.view(np.uint32)[..., i] = values[i]
            if masks is not None:
                unknown = np.zeros_like(rows)
                for i in range(words):
                    unknown.view(np.uint32)[..., i] = masks[i]
                origin = access.origin(self.size)
        return rows, unknown, origin

    def store(
        self, lane_set: LaneSet, guard: Any, rows: np.ndarray, mask: np.ndarray | None, origin: int
    ) -> None:
        """Store rows, uint8 (n, 32, 16), some of whose bits may be undefined."""
        for access in self(lane_set, guard):
            lane_set.launch.counts.store(access.space, access.lanes * ROW)
            access.count_traffic(ROW, "stored")
            access.store(_words(rows), None if mask is None else _words(mask), 4, origin)


def _words(rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """Rows as four words of each lane."""
    words = rows.view(np.uint32)
    return tuple(np.ascontiguousarray(words[..., i]) for i in range(4))


# ---- instructions


@later("ldmatrix")
@effect("ldmatrix")
def ldmatrix(instruction: ScopedInstruction) -> Effect:
    """`ldmatrix.sync.aligned.shape.num{.trans}{.ss}.type r, [p]`; `.b8x16.src_fmt` decompresses, and `.s8.s4`
    extends signs."""
    shape, count, trans, packed = (
        instruction.the(Shape),
        instruction["num"],
        instruction["trans"] is not None,
        instruction["src_fmt"],
    )
    height = ROWS[shape]
    targets = [instruction.target(part, "b32") for part in instruction.parts("r")]
    signed = DTYPES["s4"] in instruction.types
    access, site = RowAccess(instruction, count * height, S4_ROW if signed else ROW), instruction.site

    def arranged(rows: np.ndarray) -> list[np.ndarray]:
        if packed is not None:
            rows = decompressed(rows, packed)
        elif signed:
            rows = sign_extended(rows)
        matrices = (rows[:, at * height : (at + 1) * height] for at in range(count))
        return [register for matrix in matrices for register in registers_of(matrix, shape, trans)]

    def step(lane_set: LaneSet, guard: Any) -> bool:
        check_whole_warps(lane_set, guard, site)
        rows, unknown, origin = access.load(lane_set, guard)
        masks = None if unknown is None else arranged(unknown)
        for i, (target, value) in enumerate(zip(targets, arranged(rows), strict=True)):
            if target is not None:
                entry = (masks[i], origin) if masks is not None and masks[i].any() else None
                target.write(lane_set, value, entry, guard)
        return masks is not None

    return Effect(step, AlignedSyncPoint(instruction))


@effect("stmatrix")
def stmatrix(instruction: ScopedInstruction) -> Effect:
    """`stmatrix.sync.aligned.shape.num{.trans}{.ss}.type [p], r`."""
    shape, count, trans = instruction.the(Shape), instruction["num"], instruction["trans"] is not None
    sources = [instruction.source(part, "b32") for part in instruction.parts("r")]
    access, site = RowAccess(instruction, 8 * count), instruction.site

    def arranged(registers: list[Any], n: int) -> np.ndarray:
        rows = np.zeros((n, WARP, ROW), np.uint8)
        for at, register in enumerate(registers):
            rows[:, 8 * at : 8 * at + 8] = rows_of(np.broadcast_to(register, (n, WARP)), shape, trans)
        return rows

    def step(lane_set: LaneSet, guard: Any) -> None:
        check_whole_warps(lane_set, guard, site)
        rows = arranged([source.reader(lane_set) for source in sources], lane_set.n)
        mask, origin = None, 0
        found = [source.undefined(lane_set) for source in sources] if lane_set.undefined else []
        if any(found):
            mask = arranged([np.uint32(0) if entry is None else entry[0] for entry in found], lane_set.n)
            launch = lane_set.launch
            first = next(entry[1] for entry in found if entry)
            origin = launch.origin_of_store(first, site)
        access.store(lane_set, guard, rows, mask, origin)

    return Effect(step, AlignedSyncPoint(instruction))


@effect("movmatrix")
def movmatrix(instruction: ScopedInstruction) -> Effect:
    """`movmatrix.sync.aligned.m8n8.trans.b16 d, a`."""
    source, target, site = instruction.source("a"), instruction.target("d"), instruction.site
    read = source.reader

    def moved(lane_set: LaneSet, value: Any) -> np.ndarray:
        rows = rows_of(np.broadcast_to(value, (lane_set.n, WARP)), M8N8, trans=False)
        return registers_of(rows, M8N8, trans=True)[0]

    def step(lane_set: LaneSet, guard: Any) -> bool:
        check_whole_warps(lane_set, guard, site)
        entry = source.undefined(lane_set) if lane_set.undefined else None
        mask = None if entry is None else (moved(lane_set, entry[0]), entry[1])
        if mask is not None and not mask[0].any():
            mask = None
        put(target, lane_set, moved(lane_set, read(lane_set)), mask, guard)
        return mask is not None

    return Effect(step, AlignedSyncPoint(instruction))
