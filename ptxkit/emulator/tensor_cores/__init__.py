"""The arithmetic of the tensor cores, for mma, wmma, wgmma and tcgen05 alike.

models     a row an architecture, instruction and type: how products are summed
elements   codes of every format decoded, scale factors
multiply   D = A * B + C by a model, in f64 or plain float32, or of integers
fused      the truncated fused sum, with exact groups of 16 too

All take arrays of codes with K as the first axis, so that a multiplication of thousands of tiles is a few
array operations.
"""

from __future__ import annotations

from ptxkit.emulator.tensor_cores.elements import Elements, Scales, container, decode, decode_scales
from ptxkit.emulator.tensor_cores.models import MODELS, Evidence, Model, Order, find
from ptxkit.emulator.tensor_cores.multiply import multiply, multiply_bits, multiply_f64, multiply_integers

__all__ = [
    "MODELS",
    "Elements",
    "Evidence",
    "Model",
    "Order",
    "Scales",
    "container",
    "decode",
    "decode_scales",
    "find",
    "multiply",
    "multiply_bits",
    "multiply_f64",
    "multiply_integers",
]
