"""Warp-level matrix instructions: `mma`, `wmma`, `ldmatrix`, `stmatrix`, `movmatrix`. PTX ISA 9.7.14.

Importing this package registers them.
"""

from ptxkit.emulator.operations.matrix import mma, move, wmma

__all__ = ["mma", "move", "wmma"]
