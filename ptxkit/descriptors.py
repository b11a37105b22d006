"""Descriptors: the words by which PTX tells the hardware where matrices lie and what to do with them.

Each is a class (`ptxkit.bits.Word`): construct to encode, `decode` to read, `diagnose` and `rows` to
explain. `KINDS` names them as `ptxkit desc` does.

    int(SmemDescTcgen05(address=0x400, leading_byte_offset=16, stride_byte_offset=1024, swizzle="128B"))
    InstrDescF16(m=128, n=256, a="bf16", b="bf16", d="f32").hex
    bytes(tensor_map(buffer, dtype="bf16", shape=[4096, 4096], box=[128, 64], swizzle="128B"))
"""

from __future__ import annotations

from ptxkit.encodings.block_scaled import InstrDescMXF4, InstrDescMXF4NVF4, InstrDescMXF8F6F4
from ptxkit.encodings.instruction import (
    INSTRUCTION_DESCRIPTORS,
    InstrDescF8F6F4,
    InstrDescF16,
    InstrDescI8,
    InstrDescTF32,
    InstrDescTI16,
)
from ptxkit.encodings.instruction_base import InstructionDescriptor
from ptxkit.encodings.kinds import KINDS
from ptxkit.encodings.shared_memory import SmemDescTcgen05, SmemDescWgmma, base_offset
from ptxkit.encodings.tensor_maps import Im2colTensorMap, TensorMap, TiledTensorMap, tensor_map
from ptxkit.encodings.tensor_memory import TensorMemoryAddress
from ptxkit.encodings.zero_column_mask import ZeroColumnMask

__all__ = [
    "INSTRUCTION_DESCRIPTORS",
    "KINDS",
    "Im2colTensorMap",
    "InstrDescF8F6F4",
    "InstrDescF16",
    "InstrDescI8",
    "InstrDescMXF4",
    "InstrDescMXF4NVF4",
    "InstrDescMXF8F6F4",
    "InstrDescTF32",
    "InstrDescTI16",
    "InstructionDescriptor",
    "SmemDescTcgen05",
    "SmemDescWgmma",
    "TensorMap",
    "TensorMemoryAddress",
    "TiledTensorMap",
    "ZeroColumnMask",
    "base_offset",
    "tensor_map",
]
