"""Structured sparsity: packing matrix A, its metadata, and where `tcgen05.mma.sp` finds both.

PTX ISA 9.7.14.6.1 (mma.sp), 9.7.16.10.8 (tcgen05). Of each chunk of a row half the elements are zero;
the others are stored, and a nibble a chunk says where they were. The layouts in tensor memory are
pictures in the manual; the formulas follow CUTLASS's layout algebra for M = 128 and `.ws`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ptxkit.diagnostics import error
from ptxkit.layouts.swizzle import LAYOUT_ARGUMENT
from ptxkit.layouts.tensor_memory import LANES, DataPath

NOT_SPARSE = "P473"


class Granularity(NamedTuple):
    """How a kind is sparse (the table of 9.7.16.10.8).

    Attributes:
        chunk: elements of a chunk.
        group: neighbours that are zero or not together.
    """

    chunk: int
    group: int


GRANULARITY = {
    "tf32": Granularity(2, 1),
    "f16": Granularity(4, 1),
    "f8f6f4": Granularity(4, 1),
    "i8": Granularity(4, 1),
    "ti16": Granularity(4, 1),
    "mxf8f6f4": Granularity(4, 1),
    "mxf4": Granularity(8, 2),
    "mxf4nvf4": Granularity(8, 2),
}

MEANINGFUL = {"tf32": (0b1110, 0b0100), "other": (0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b0110, 0b1110)}
"""The only metadata nibbles that mean anything (9.7.16.10.8.1 to .3)."""


def granularity(kind: str, version: int = 0) -> Granularity:
    """The granularity of an MMA kind (without `.kind::`).

    `version`: the sparsity version, 1 where packed 4-bit elements go one by one, as on sm_107a (PTX ISA 9.4).
    """
    if kind not in GRANULARITY:
        raise error(LAYOUT_ARGUMENT, f"`kind` must be one of {', '.join(GRANULARITY)}, found {kind}")
    return Granularity(4, 1) if version and GRANULARITY[kind].group == 2 else GRANULARITY[kind]


def compress(matrix: np.ndarray, kind: str, version: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Matrix A as `.sp` takes it.

    Args:
        matrix: (m, k) with k a multiple of the chunk; any type in which zero is zero bits or equals 0.
        kind: the MMA kind.
        version: the sparsity version.

    Returns:
        The stored elements (m, k / 2) and the metadata nibbles, uint8 (m, k / chunk).

    Raises:
        PtxkitError: P473, a chunk has more non-zero elements than are stored.
    """
    chunk, group = granularity(kind, version)
    m, k = matrix.shape
    if k % chunk:
        raise error(LAYOUT_ARGUMENT, f"`k` of sparse `{kind}` must be a multiple of {chunk}, found {k}")
    cells = matrix.reshape(m, k // chunk, chunk // group, group)
    used = (cells != 0).any(axis=-1)
    keep = chunk // group // 2
    too_many = np.argwhere(used.sum(axis=-1) > keep)
    if len(too_many):
        row, where = (int(i) for i in too_many[0])
        limit = f"{keep * group} of each {chunk} elements of a row"
        raise error(
            NOT_SPARSE, f"A must have at most {limit} non-zero, found more in row {row} from {where * chunk}"
        )
    # used places first, in order; unused ones fill up, also in order
    order = np.argsort(~used, axis=-1, kind="stable")[..., :keep]
    places = np.sort(order, axis=-1)
    stored = np.take_along_axis(cells, places[..., None], axis=2).reshape(m, k // 2)
    if kind == "tf32":
        nibbles = np.where(places[..., 0] == 0, 0b0100, 0b1110)
    else:
        nibbles = places[..., 0] | places[..., 1] << 2
    return stored, nibbles.astype(np.uint8)


def decompress(stored: np.ndarray, nibbles: np.ndarray, kind: str, version: int = 0) -> np.ndarray:
    """The dense matrix (m, k) again, by a kind and sparsity version.

    Raises:
        PtxkitError: P473, a nibble without meaning.
    """
    chunk, group = granularity(kind, version)
    meaningful = MEANINGFUL.get(kind, MEANINGFUL["other"])
    bad = np.argwhere(~np.isin(nibbles, meaningful))
    if len(bad):
        found = int(nibbles[tuple(bad[0])])
        allowed = " or ".join(f"0b{n:04b}" for n in meaningful)
        raise error(NOT_SPARSE, f"metadata of `{kind}` must be {allowed}, found 0b{found:04b}")
    m, chunks = nibbles.shape
    keep = chunk // group // 2
    if kind == "tf32":
        places = (nibbles == 0b1110).astype(np.int64)[..., None]
    else:
        places = np.stack([nibbles & 3, nibbles >> 2], axis=-1).astype(np.int64)
    dense = np.zeros((m, chunks, chunk // group, group), dtype=stored.dtype)
    np.put_along_axis(dense, places[..., None], stored.reshape(m, chunks, keep, group), axis=2)
    return dense.reshape(m, chunks * chunk)


def metadata_columns(kind: str, k: int, version: int = 0) -> int:
    """TMEM columns that the metadata of K dense elements takes: 4 bits a chunk, 32 a column."""
    return -(-(k // granularity(kind, version).chunk * 4) // 32)


def metadata_cells(
    kind: str, path: DataPath, k: int, version: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the metadata nibbles lie in TMEM: lane, column and lowest bit, with all copies.

    f16, ti16 and tf32 interleave: a lane holds 16 bits of two rows 8 apart, neighbouring groups of 8 lanes
    the two halves of a step of K (32 elements of f16, 16 of tf32). The other kinds hold a row a lane.

    Args:
        kind: the MMA kind.
        path: the data path of D (`tensor_memory.data_path`). For layouts C and F the rows spread as D's
            do, which 9.7.16.10.8.5 implies and no formula states.
        k: dense elements along K.
        version: the sparsity version.

    Returns:
        Three int64 arrays (copies, path.rows, k / chunk).
    """
    chunk, _ = granularity(kind, version)
    copies = path.groups
    copy, row, place = np.indices((copies, path.rows, k // chunk))
    group_of_16, in_16 = np.divmod(row, 16)
    if kind in ("f16", "tf32", "ti16"):
        word, bit = np.divmod(place * 4, 32)
        half, bit = np.divmod(bit, 16)
        lane = in_16 % 8 + 8 * half
        bit = bit + 16 * (in_16 // 8)
    else:
        word, bit = np.divmod(place * 4, 32)
        lane = in_16
    lane = lane + group_of_16 * path.lane_of_16 + copy * (LANES // copies)
    return lane, word, bit
