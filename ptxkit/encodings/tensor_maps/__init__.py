"""Tensor maps: 128 bytes by which the tensor memory accelerator reads a tensor, made without a driver.

word        the bits that all tensor maps share, and their rules
base        arguments to bits: a class for each mode and rank
modes       tiles of rank 1 to 5, and im2col of rank 3 to 5
make        `tensor_map`: the map of a buffer
codes       the codes of types, swizzles and so on, and sizes that follow from them
arguments   forms of arguments, and the findings that name them

Bit layout: read off ptxas's lowering of `tensormap.replace` and confirmed byte for byte by maps that the
driver made (tests/data/tensor_maps.txt, tests/data/im2col_tensor_maps.txt). What is refused is what the
driver of an H200 refuses, and for later targets what the CUDA driver API says of them.

Maps for `.im2col::w` and `.im2col::w::128` are neither made nor read: no text gives their bits, and drivers
make them for sm_100 and later alone.
"""

from __future__ import annotations

from ptxkit.encodings.tensor_maps.base import TensorMap
from ptxkit.encodings.tensor_maps.make import tensor_map
from ptxkit.encodings.tensor_maps.modes import Im2colTensorMap, TiledTensorMap

__all__ = ["Im2colTensorMap", "TensorMap", "TiledTensorMap", "tensor_map"]
