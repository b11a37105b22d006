"""Layouts: index maps between matrices and the places where the hardware keeps their elements.

shared_memory   canonical matrix operands of wgmma and tcgen05, their LBO, SBO and descriptors
swizzle         how chunks of rows are permuted
fragments       registers of mma, wgmma, ldmatrix, stmatrix
tensor_copy     boxes of tensor maps in global and in shared memory
tensor_memory   data paths A to G, the shapes of tcgen05.ld, st and cp
scales          scale factors: row-major, blocked, in tensor memory
sparsity        compressed matrix A and its metadata

All are pure numpy: arrays of indices that scatter a matrix to its place and gather it again.
"""

from __future__ import annotations

from ptxkit.layouts.shared_memory import SharedTile, operand_bits
from ptxkit.layouts.swizzle import PATTERNS, swizzle_address
from ptxkit.layouts.tensor_memory import DATA_PATHS, MOVE_SHAPES, accumulator_cells, copy_cells, data_path

__all__ = [
    "DATA_PATHS",
    "MOVE_SHAPES",
    "PATTERNS",
    "SharedTile",
    "accumulator_cells",
    "copy_cells",
    "data_path",
    "operand_bits",
    "swizzle_address",
]
