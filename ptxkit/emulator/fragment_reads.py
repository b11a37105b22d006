"""Matrices that a warp multiplies out of its registers: which elements of tensors they hold, by contents.

However they came there, 16 bytes in a row that are nowhere else in global memory tell where they came from. A
right `mma` has the same elements of A and B along K, in whatever order, and each row of one from one row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ptxkit.dtypes import numpy_dtype
from ptxkit.emulator.contents import PIECE, GlobalContents
from ptxkit.emulator.matrix_reads import KnownTensor
from ptxkit.emulator.taken_elements import TakenElements

BITS = (8, 16, 32)
"""Of elements whose pieces are looked for."""


@dataclass(frozen=True, slots=True)
class RegisterMatrix:
    """One operand of an `mma`.

    Attributes:
        name: `A` or `B`.
        dtype: of an element.
        bits: of an element.
        codes: the elements of each warp's, (k, mn, warps), or of each warpgroup's.
    """

    name: str
    dtype: str
    bits: int
    codes: np.ndarray

    @property
    def numbers(self) -> np.ndarray:
        """The elements of the first warp's or warpgroup's, (mn, k), as numbers."""
        codes = self.codes[..., 0].T.astype(f"u{self.bits // 8}")
        found: np.ndarray = codes.view(numpy_dtype(self.dtype)).astype(np.float32)
        return found


@dataclass(frozen=True, slots=True)
class FoundPieces:
    """Where the pieces of one warp's matrix come from, if all are found.

    Attributes:
        name: of the operand.
        major: `K` where a piece lies along K, else `MN`.
        count: elements of a piece.
        rows, columns: of the tensor, (lines, pieces), for each line along `major`.
        extent: elements along the tensor's columns.
        height: its rows.
    """

    name: str
    major: str
    count: int
    rows: np.ndarray
    columns: np.ndarray
    extent: int
    height: int

    @property
    def along_k(self) -> list[int]:
        """The elements along K of the tensor, those that begin a piece, in the order of the matrix; of lines
        across it, each."""
        return (self.columns[0] if self.major == "K" else self.rows[:, 0]).tolist()


def multiplied(
    where: str,
    matrices: Sequence[RegisterMatrix],
    contents: GlobalContents,
    tensors: Sequence[KnownTensor],
    elements: TakenElements,
) -> str | None:
    """What is wrong with a product of several warps; what they take along K is taken down.

    Args:
        where: the line.
        matrices: A and B.
        contents: of global memory.
        tensors: of the launch.
        elements: takes down what products take.
    """
    cause = None
    for a, b in zip(*(found_pieces(one, contents, tensors) for one in matrices), strict=True):
        straight = next((one for one in (a, b) if one is not None and one.major == "K"), None)
        if a is None or b is None or straight is None:
            elements.unknown()
            continue
        cause = cause or mismatch(where, a, b)
        firsts = straight.along_k
        elements.along_k(min(firsts), straight.count * len(firsts), straight.extent)
    return cause


def misplaced_in_registers(
    where: str,
    a: RegisterMatrix,
    contents: GlobalContents,
    tensors: Sequence[KnownTensor],
    begin: tuple[int, int] | None,
) -> str | None:
    """What is wrong with matrix A of a warpgroup, out of its registers, whose B is in shared memory.

    Args:
        where: the line of the product.
        a: the matrix.
        contents: of global memory.
        tensors: of the launch.
        begin: the element along K of its tensor with which B begins, and how many that has, if known.
    """
    (held,) = found_pieces(a, contents, tensors)
    if held is None or held.major != "K":
        return None
    if (said := _torn(where, held)) is not None:
        return said
    if begin is None or begin[1] != held.extent:
        return None
    mine, its = held.along_k, [begin[0] + piece * held.count for piece in range(len(held.along_k))]
    return None if mine == its else _apart(where, held, mine, its, "B", "A")


def found_pieces(
    matrix: RegisterMatrix, contents: GlobalContents, tensors: Sequence[KnownTensor]
) -> list[FoundPieces | None]:
    """Of each warp where its matrix comes from; None where that is not known of all of it."""
    count = 8 * PIECE // matrix.bits
    warps = matrix.codes.shape[-1]
    found: list[FoundPieces | None] = [None] * warps
    if matrix.bits not in BITS:
        return found
    width = np.dtype(f"u{matrix.bits // 8}")
    for major, axes in (("K", (2, 1, 0)), ("MN", (2, 0, 1))):
        lines = np.ascontiguousarray(matrix.codes.transpose(axes)).astype(width)
        if lines.shape[2] % count:
            continue
        pieces = lines.view(np.uint8).reshape(-1, PIECE)
        came = contents.find(pieces).reshape(warps, lines.shape[1], -1)
        for warp in range(warps):
            if found[warp] is None and (came[warp] >= 0).all():
                found[warp] = _placed(matrix, major, count, came[warp], tensors)
    return found


def _placed(
    matrix: RegisterMatrix, major: str, count: int, came: np.ndarray, tensors: Sequence[KnownTensor]
) -> FoundPieces | None:
    first = int(came[0, 0])
    tensor = next((one for one in tensors if one.address <= first < one.address + one.size), None)
    if tensor is None or len(tensor.shape) < 2 or not tensor.strides:
        return None
    offsets = came - tensor.address
    if (offsets < 0).any() or (offsets >= tensor.size).any():
        return None
    rows, columns = np.divmod(offsets, tensor.strides[-1])
    columns = columns * 8 // matrix.bits
    return FoundPieces(matrix.name, major, count, rows, columns, tensor.shape[-1], tensor.shape[-2])


def mismatch(where: str, a: FoundPieces, b: FoundPieces) -> str | None:
    """What is wrong with a product of two matrices; None where nothing is known to be."""
    mine, its = a.along_k, b.along_k
    if a.major != b.major:
        across, straight = (a, b) if b.major == "K" else (b, a)
        if across.height != straight.extent:
            return (
                f"matrix {across.name} of the product at {where} is transposed: along K it has elements of "
                f"rows of its tensor, of which there are {across.height}, and {straight.name} has "
                f"{straight.extent} along K"
            )
        every = across.along_k[:: straight.count]
        mine, its = (every, its) if across is a else (mine, every)
    for one in (a, b):
        if (said := _torn(where, one)) is not None:
            return said
    if mine == its:
        return None
    return _apart(where, a, mine, its, b.name, a.name if _ascends(its) else b.name)


def _apart(where: str, a: FoundPieces, mine: list[int], its: list[int], other: str, unordered: str) -> str:
    """In words that two matrices have other elements along K, or, of one, in another order."""
    if sorted(mine) == sorted(its):
        name, order = unordered, mine if unordered == a.name else its
        listed = ", ".join(f"{first} to {first + a.count - 1}" for first in order)
        return f"matrix {name} of the product at {where} has its elements along K in the order {listed}"
    last, end = mine[-1] + a.count - 1, its[-1] + a.count - 1
    return (
        f"the product at {where} multiplies elements {mine[0]} to {last} of {a.name} along K with elements "
        f"{its[0]} to {end} of {other}"
    )


def _ascends(firsts: list[int]) -> bool:
    return firsts == sorted(firsts)


def _torn(where: str, one: FoundPieces) -> str | None:
    """What is wrong where a line has pieces of several rows, or other columns than the lines beside it."""
    columns = one.columns
    bad = (one.rows != one.rows[:, :1]) | (columns != columns[0])
    if not bad.any():
        return None
    line, piece = (int(index[0]) for index in np.nonzero(bad))
    along = "along K" if one.major == "K" else f"along {'M' if one.name == 'A' else 'N'}"
    row, column, last = int(one.rows[line, piece]), int(columns[line, piece]), one.count - 1
    within = bool((one.rows[line] == one.rows[line, 0]).all())
    meant = int(columns[0, piece] if within else columns[0, 0] + piece * one.count)
    return (
        f"line {line} of matrix {one.name} {along} has, in the product at {where}, elements {column} to "
        f"{column + last} of row {row} of its tensor where elements {meant} to {meant + last} of row "
        f"{int(one.rows[line, 0])} belong"
    )
