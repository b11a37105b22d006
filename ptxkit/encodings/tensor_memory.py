"""Addresses of tensor memory."""

from __future__ import annotations

from ptxkit.bits import Word32, bits


class TensorMemoryAddress(Word32):
    """An address of tensor memory: a CTA has 128 lanes of 512 columns of 32 bits."""

    KIND = "tensor-memory-address"
    SECTION = "PTX ISA 9.7.16.1.1"

    column = bits[15:0].about("column").default(0)
    lane = bits[31:16].about("lane").default(0)
