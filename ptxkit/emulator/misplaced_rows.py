"""Rows of a matrix in shared memory that lie as no descriptor could say: at another distance, or with their
pieces of 16 bytes in an order that is no swizzle."""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import product

import numpy as np

from ptxkit.emulator.contents import PIECE, ZEROS
from ptxkit.emulator.matrix_reads import MatrixRead, named
from ptxkit.layouts.swizzle import pattern

SharedSources = Callable[[np.ndarray], np.ndarray]
"""The global addresses that bytes at shared addresses came from; negative ones where that is not known."""
LINE = 128
"""Bytes of which swizzles count eight in a row: a line is the row of their pattern that its address bits 7
to 9 number."""
ROWS = 8
FEWEST = 4
"""Lines from within a tensor that show an order."""
FARTHEST = 1024


def misplaced(came: SharedSources, read: MatrixRead, pitches: Collection[int]) -> str | None:
    """How rows lie and how they are read, in words; None where they don't lie so.

    Args:
        came: where bytes come from.
        read: the matrix.
        pitches: bytes from row to row of the tensors that there are.
    """
    if read.descriptor.swizzle not in ("128B", "64B", "32B"):
        return None
    return _order(came, read) or _distance(came, read, pitches)


def rows_apart(
    came: SharedSources, addresses: np.ndarray, pitches: Collection[int], where: str
) -> str | None:
    """What is wrong with rows that an `ldmatrix` reads at one distance where they lie at another.

    Args:
        came: where bytes come from.
        addresses: of the rows, of 16 bytes each, (matrices, 8).
        pitches: bytes from row to row of the tensors that there are.
        where: the line.
    """
    numbers = np.arange(ROWS)
    for rows in addresses:
        first, read = int(came(rows[:1])[0]), int(rows[1] - rows[0])
        wanted = [first + pitch * numbers for pitch in pitches]
        if first < 0 or any((came(rows) == row).all() for row in wanted):
            continue
        if (said := _other_swizzle(came, rows)) is not None:
            return f"the `ldmatrix` at {where} {said}"
        if (rows != rows[0] + numbers * read).any():
            continue
        for distance in range(PIECE, FARTHEST + 1, PIECE):
            sources = came(rows[0] + distance * numbers)
            if any((sources == row).all() for row in wanted):
                apart = f"{read} bytes apart, and they lie {distance} bytes apart"
                return f"the `ldmatrix` at {where} reads rows {apart}"
    return None


def _other_swizzle(came: SharedSources, rows: np.ndarray) -> str | None:
    """What is wrong with eight rows that are read by another exclusive or than they were written by."""
    for width in (LINE, LINE // 2, 2 * LINE):
        lines = rows // width * width
        sources = came(lines[:, None] + np.arange(0, width, PIECE))
        if (sources < 0).any() or len(np.unique(lines)) < ROWS:
            continue
        order = (sources - sources.min(axis=1, keepdims=True)) // PIECE
        written, read = order[:, 0], (rows - lines) // PIECE
        if (order != np.arange(width // PIECE) ^ written[:, None]).any():
            continue
        if len(np.unique(written ^ read)) == 1:
            return None
        ways = (_way(pieces, lines // width) for pieces in (read, written))
        mine, its = ways
        if mine and its:
            return (
                f"reads piece p of row r at {mine}, and it was written at {its}, of pieces of {PIECE} bytes"
            )
    return None


def _way(pieces: np.ndarray, lines: np.ndarray) -> str | None:
    """Where the piece p of row r lies, by the pieces at which one of each of eight rows does."""
    for shift, bits, first in product((0, 1, 2), (0, 1, 3, 7), range(ROWS)):
        moved = lines - lines[0] + first >> shift & bits
        if len(np.unique(pieces ^ moved)) == 1:
            row = "r" if not shift else f"(r / {1 << shift})"
            return f"p ^ {row} % {bits + 1}" if bits else "p"
    return None


def _order(came: SharedSources, read: MatrixRead) -> str | None:
    """Rows at their places, with their pieces in the order of another exclusive or."""
    width = pattern(read.descriptor.swizzle).row_bytes
    count = width // PIECE
    starts = np.unique(read.bytes(read.descriptor, read.major) // width * width)
    sources = came(starts[:, None] + np.arange(0, width, PIECE))
    brought = (sources >= 0).all(axis=1)
    if (sources[~brought] != ZEROS).any() or np.count_nonzero(brought) < FEWEST:
        return None
    starts, sources = starts[brought], sources[brought]
    order = (sources - sources.min(axis=1, keepdims=True)) // PIECE
    moved = order[:, 0]
    if (order != np.arange(count) ^ moved[:, None]).any():
        return None
    numbers = starts // LINE % ROWS
    meant = numbers & count - 1
    if (moved == meant).all():
        return None
    ways = ((shift, bits) for shift, bits in product((0, 1, 2), (0, 1, 3, 7)) if bits < count)
    fits = [(shift, bits) for shift, bits in ways if (moved == numbers >> shift & bits).all()]
    if not moved.any():
        now = named(read.descriptor.swizzle)
        return f"matrix {read.name} was written without a swizzle and is read {now}"
    was = "another order than " + named(read.descriptor.swizzle)
    if fits:
        shift, bits = fits[0]
        row = "r" if not shift else f"(r / {1 << shift})"
        was = f"piece p of row r at p ^ {row} % {bits + 1}" if bits else "piece p of row r at p"
    return (
        f"matrix {read.name} was written with {was}, and its {width}-byte swizzle has it at "
        f"p ^ r % {count}, of pieces of {PIECE} bytes"
    )


def _distance(came: SharedSources, read: MatrixRead, pitches: Collection[int]) -> str | None:
    """Rows at another distance than the descriptor's groups of eight have."""
    if read.major != "K":
        return None
    start = read.descriptor.address
    first = int(came(np.array([start]))[0])
    width = pattern(read.descriptor.swizzle).row_bytes
    if first < 0:
        return None
    rows = np.arange(1, min(ROWS, read.mn))
    for distance in (width, *range(PIECE, FARTHEST + 1, PIECE)):  # that of the descriptor comes first
        reach = start // width * width + distance * rows[:, None] + np.arange(0, width, PIECE)
        sources = came(reach)
        for pitch in pitches:
            if pitch != distance and (sources == (first + pitch * rows)[:, None]).any(axis=1).all():
                if distance == width:
                    return None
                return (
                    f"rows of matrix {read.name} lie {distance} bytes apart, and its descriptor reads them "
                    f"{width} bytes apart"
                )
    return None
