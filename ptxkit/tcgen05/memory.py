"""Tensor memory around the product: allocation, loads and stores, copies of scales and metadata, commit.

PTX ISA 9.7.16.7 (allocation), 9.7.16.8 (ld, st), 9.7.16.9 (cp), 9.7.16.12 (commit).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.diagnostics import counted, error, listing
from ptxkit.encodings.shared_memory import SmemDescTcgen05
from ptxkit.encodings.tensor_memory import TensorMemoryAddress
from ptxkit.layouts.scales import ATOM_BYTES, ATOM_ROWS, atom_descriptor
from ptxkit.layouts.tensor_memory import COLUMNS, MOVE_SHAPES, QUARTER, address
from ptxkit.tcgen05.parts import PLACE, SIZE, tensor_columns

COLUMN_COUNT = "P486"
MOVE = "P487"
COPY = "P488"
COMMIT = "P489"


def allocation_columns(
    columns: int, exact: bool = True, exclusive: bool = False, target: str | None = None
) -> int:
    """The columns to ask `tcgen05.alloc` for: a power of two from 32 to 512.

    Args:
        columns: those needed.
        exact: refuse any other number; else round up.
        exclusive: for `tcgen05.alloc.exclusive`, which takes every multiple of 32.
        target: 512 columns are the most, but on sm_107 576 of an exclusive allocation.

    Raises:
        PtxkitError: P486.
    """
    most = tensor_columns(target) if exclusive else COLUMNS
    legal = range(32, most + 1, 32) if exclusive else (32, 64, 128, 256, 512)
    section = "PTX ISA 9.4 9.7.18.7.1" if exclusive else "PTX ISA 9.7.16.7.1"
    if exact:
        if columns not in legal:
            which = f"a multiple of 32 up to {most}" if exclusive else "32, 64, 128, 256 or 512"
            message = f"an exact allocation must be {which} columns, found {columns}"
            raise error(COLUMN_COUNT, message, notes=(section,), help="pass exact=False to round up")
        return columns
    rounded = next((one for one in legal if one >= columns > 0), None)
    if rounded is None:
        whole = f" (allocated as {1 << (columns - 1).bit_length()})" if columns > 0 and not exclusive else ""
        found = whole or ("" if exclusive else " (allocated as 0)")
        message = f"tensor memory has {most} columns, found {columns}{found}"
        raise error(COLUMN_COUNT, message, notes=(section,))
    return rounded


def slice_columns(first: int, count: int, packing: int = 1) -> int:
    """The TMEM column at which columns `first` .. `first + count` of a matrix begin.

    Args:
        first, count: matrix columns; both begin and end at whole registers of every move, multiples of 8.
        packing: elements to a 32-bit cell: 1, 2 or 4.

    Raises:
        PtxkitError: P485.
    """
    if packing not in (1, 2, 4, 8) or first % 8 or count % 8 or first < 0 or count <= 0:
        found = f"{first} and {count} with {packing} to a cell"
        raise error(PLACE, f"a slice must begin and end at multiples of 8 columns, found {found}")
    return first // packing


# ---- ld and st


@dataclass(frozen=True)
class PlannedMove:
    """One `tcgen05.ld` or `tcgen05.st`, executed by every warp of a warpgroup on its own 32 lanes.

    Attributes:
        opcode: with all modifiers, up to `.b32`.
        address: TMEM address relative to the matrix, for warp 0; warp w adds `address(32 * w, 0)`.
        registers: the first and the count of the registers that it moves.
        shape, num, packed: as in the opcode.
    """

    opcode: str
    address: int
    registers: tuple[int, int]
    shape: str
    num: int
    packed: bool

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"opcode": self.opcode, "address": self.address, "registers": list(self.registers)}


def plan_move(
    operation: str, columns: int, shape: str = "32x32b", packed: bool = False, most_registers: int = 32
) -> list[PlannedMove]:
    """The instructions that move a matrix of 128 lanes by `columns` columns between TMEM and registers.

    Args:
        operation: `ld` or `st`.
        columns: columns of tensor memory.
        shape: `32x32b`, `16x64b`, `16x128b` or `16x256b`; those of 16 lanes take two passes.
        packed: two 16-bit values, each in the low half of a column, share a register (`.pack::16b`,
            `.unpack::16b`).
        most_registers: most registers of one instruction; larger ones spill where registers are scarce.

    Returns:
        Instructions by lane half, then by columns.

    Raises:
        PtxkitError: P487, no such shape, or columns that it can't cover.
    """
    if operation not in ("ld", "st"):
        raise error(MOVE, f"`operation` must be ld or st, found {operation}")
    if shape not in MOVE_SHAPES or shape == "16x32bx2":
        names = ", ".join(name for name in MOVE_SHAPES if name != "16x32bx2")
        raise error(MOVE, f"`shape` must be one of {names}, found {shape}", notes=("PTX ISA 9.7.16.2.3",))
    move = MOVE_SHAPES[shape]
    unit = move.columns * (2 if packed else 1)
    if columns <= 0 or columns % unit or columns > COLUMNS:
        way = " packed" if packed else ""
        message = f"`.{shape}`{way} moves a multiple of {counted(unit, 'column')}, found {columns}"
        raise error(MOVE, message, notes=("PTX ISA 9.7.16.8",))
    if most_registers < move.registers:
        raise error(
            MOVE, f"`.{shape}` moves at least {counted(move.registers, 'register')}, found {most_registers}"
        )
    modifier = {"ld": ".pack::16b", "st": ".unpack::16b"}[operation] if packed else ""
    plan, register = [], 0
    for lane in range(0, QUARTER, move.lanes):
        done = 0
        while done < columns // unit:
            fitting = [
                n for n in move.nums if n <= columns // unit - done and n * move.registers <= most_registers
            ]
            num = max(fitting)
            text = f"tcgen05.{operation}.sync.aligned.{shape}.x{num}{modifier}.b32"
            count = num * move.registers
            plan.append(PlannedMove(text, address(lane, done * unit), (register, count), shape, num, packed))
            register += count
            done += num
    return plan


def move_cells(plan: list[PlannedMove]) -> tuple[np.ndarray, np.ndarray]:
    """The lane (0 .. 127) and column that each register of each thread of a warpgroup holds.

    Returns:
        Two int64 arrays (128 threads, registers); the lower of the two columns where packed.
    """
    lanes, columns = [], []
    for move in plan:
        lane, column = MOVE_SHAPES[move.shape].cells(move.num)
        start = TensorMemoryAddress.decode(move.address)
        lanes.append(lane + start.lane)
        columns.append(column * (2 if move.packed else 1) + start.column)
    lane, column = np.concatenate(lanes, axis=1), np.concatenate(columns, axis=1)
    by_warp = [lane + QUARTER * warp for warp in range(4)]
    return np.concatenate(by_warp), np.concatenate([column] * 4)


# ---- cp


@dataclass(frozen=True)
class PlannedCopy:
    """One `tcgen05.cp` from shared memory.

    Attributes:
        opcode: with all modifiers.
        column: TMEM column offset of the destination.
        source: the descriptor for a source at shared address 0.
    """

    opcode: str
    column: int
    source: SmemDescTcgen05

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"opcode": self.opcode, "column": self.column, "source": self.source.hex}


def plan_scale_copy(rows: int, blocks: int, cta_group: int = 1, lanes: int = 32) -> list[PlannedCopy]:
    """The copies of blocked scale factors (`layouts.scales.to_blocked`) to tensor memory.

    Args:
        rows: M of A, N of B; a multiple of 128, at most 256.
        blocks: scales of a row, a multiple of 4.
        lanes: 128 where rows of A have lanes of their own, as sm_107 may have it. The source holds 16 bytes a
            row then, pieces of 128 rows one after another, and `blocks` is a multiple of 16.

    Raises:
        PtxkitError: P488.
    """
    if rows not in (ATOM_ROWS, 2 * ATOM_ROWS):
        raise error(COPY, f"scales are copied for 128 or 256 rows, found {rows}", help="pad the rows")
    if blocks <= 0 or blocks % 4:
        raise error(COPY, f"scales are copied 4 blocks at a time, found {blocks}", help="pad K")
    if lanes == 128:
        if rows != ATOM_ROWS or blocks % 16:
            found = f"{rows} rows of {blocks}"
            raise error(COPY, f"lanes of their own have 128 rows of a multiple of 16 scales, found {found}")
        return plan_metadata_copy(blocks // 4, cta_group)
    tiles, words = rows // ATOM_ROWS, blocks // 4
    return [
        PlannedCopy(
            f"tcgen05.cp.cta_group::{cta_group}.32x128b.warpx4",
            4 * (word * tiles + tile),
            atom_descriptor((tile * words + word) * ATOM_BYTES),
        )
        for tile in range(tiles)
        for word in range(words)
    ]


def plan_metadata_copy(columns: int, cta_group: int = 1) -> list[PlannedCopy]:
    """The copies of sparsity metadata to tensor memory.

    The source holds it as tensor memory will: pieces of 128 lanes by 4 columns, 16 bytes a lane, one
    after another (`layouts.sparsity.metadata_cells` gives lane, column and bit of every nibble).

    Args:
        columns: TMEM columns, a multiple of 4.
    """
    if columns <= 0 or columns % 4:
        raise error(COPY, f"metadata is copied 4 columns at a time, found {columns}")
    return [
        PlannedCopy(
            f"tcgen05.cp.cta_group::{cta_group}.128x128b",
            column,
            SmemDescTcgen05(
                address=column // 4 * 128 * 16, leading_byte_offset=0, stride_byte_offset=128, swizzle="none"
            ),
        )
        for column in range(0, columns, 4)
    ]


# ---- commit


@dataclass(frozen=True)
class PlannedCommit:
    """The `tcgen05.commit` that lets an mbarrier follow the work before it.

    Attributes:
        opcode: with all modifiers.
        mask: the CTAs of the cluster whose mbarrier is signalled, a bit each; None: this CTA's alone.
        mask_bits: of the mask, 16 or 32.
    """

    opcode: str
    mask: int | None
    mask_bits: int = 16


def plan_commit(
    cta_group: int = 1,
    ranks: tuple[int, ...] | None = None,
    reads_of_a: bool = False,
    mask_bits: int = 16,
) -> PlannedCommit:
    """The commit of `cta_group`; with `ranks` the signal is multicast to those CTAs of the cluster.

    Args:
        cta_group: of the work.
        ranks: the CTAs that are told, None for this one.
        reads_of_a: tell that matrix A has been read from shared memory, and nothing else (`sm_107f`).
        mask_bits: 32 for ranks up to 31 (`sm_107f`).

    Raises:
        PtxkitError: P489, a rank beyond the mask.
    """
    multicast = ""
    mask = None
    if mask_bits not in (16, 32):
        raise error(COMMIT, f"`mask_bits` must be 16 or 32, found {mask_bits}")
    if ranks is not None:
        if not ranks or any(not 0 <= rank < mask_bits for rank in ranks):
            message = f"a commit is multicast to CTAs of rank 0 .. {mask_bits - 1}, found {ranks}"
            raise error(COMMIT, message)
        width = "::32b" if mask_bits == 32 else ""
        multicast, mask = f".multicast::cluster{width}", sum(1 << rank for rank in set(ranks))
    restricted = ".sync_restrict::shared::read::mma::a" if reads_of_a else ""
    mechanism = f".mbarrier::arrive::one{restricted}.shared::cluster"
    return PlannedCommit(f"tcgen05.commit.cta_group::{cta_group}{mechanism}{multicast}.b64", mask, mask_bits)


@dataclass(frozen=True)
class Budget:
    """Where the parts of a product lie in one allocation of tensor memory.

    Attributes:
        d, a, scale_a, scale_b, metadata, lut: first columns, None where absent.
        columns: the allocation.
    """

    d: int
    a: int | None
    scale_a: int | None
    scale_b: int | None
    metadata: int | None
    columns: int
    lut: int | None = None


def plan_columns(
    parts: dict[str, int], exact: bool = False, exclusive: bool = False, target: str | None = None
) -> Budget:
    """Lay parts of tensor memory side by side, each at a multiple of 4 columns, and round the sum up.

    Args:
        parts: columns of `d`, and of `a`, `scale_a`, `scale_b`, `metadata`, `lut` where needed.
        exact, exclusive, target: see `allocation_columns`.

    Raises:
        PtxkitError: P485 an unknown part, P486 too many columns.
    """
    names = ("a", "scale_a", "scale_b", "metadata", "lut")
    if set(parts) - {"d", *names} or "d" not in parts:
        listed = listing(("d", *names))
        raise error(PLACE, f"`parts` must be {listed}, found {', '.join(parts)}")
    starts: dict[str, int] = {}
    used = 0
    for name, columns in parts.items():
        if columns <= 0:
            raise error(SIZE, f"`{name}` must take columns, found {columns}")
        starts[name] = used
        used += -(-columns // 4) * 4
    columns = allocation_columns(used, exact, exclusive, target)
    return Budget(d=starts["d"], columns=columns, **{name: starts.get(name) for name in names})
