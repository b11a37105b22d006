"""Tensor copies: boxes of tensors between global and shared memory. PTX ISA 5.5, 9.7.9.27.1.

transfer   fill, conversion and reduction of elements; one copy in the emulator's memories
maps       tensor maps in memory, and whether changes of them are visible
overrides  what instructions say in place of their maps
issue      what threads issue, and whether they may
"""

from ptxkit.emulator.tensor_copies.transfer import TensorTransfer, load, reduction, store

__all__ = ["TensorTransfer", "load", "reduction", "store"]
