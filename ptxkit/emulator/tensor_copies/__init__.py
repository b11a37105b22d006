"""Tensor copies: boxes of tensors between global and shared memory. PTX ISA 5.5, 9.7.9.27.1.

elements   fill, conversion and reduction of elements; whole copies on plain byte arrays
transfer   one copy in the emulator's memories, with undefined bits
maps       tensor maps in memory, and whether changes of them are visible
issue      what threads issue, and whether they may
"""

from ptxkit.emulator.tensor_copies.elements import load, reduction, store
from ptxkit.emulator.tensor_copies.transfer import TensorTransfer

__all__ = ["TensorTransfer", "load", "reduction", "store"]
