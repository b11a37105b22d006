"""Tensor memory and the fifth-generation tensor cores: `tcgen05.*`. PTX ISA 9.7.16.

Importing this package registers them.
"""

from ptxkit.emulator.operations.tensor_memory import allocate, copy, mma, move, synchronise

__all__ = ["allocate", "copy", "mma", "move", "synchronise"]
