"""Triton's tensor reductions, and its product of tensor copies and mma.sync, clean in every order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from asm_corpus import each_build

from ptxkit.emulator import Emulator
from ptxkit.encodings.tensor_maps import tensor_map

ORDERS = [("lazy", 0), ("eager", 0), *(("random", seed) for seed in range(3))]


class Triton:
    """A Triton kernel on an emulator, with a descriptor for each tensor: its map, shape and strides."""

    def __init__(self, path: Path, order: str, seed: int) -> None:
        self.meta = json.loads(path.with_suffix(".json").read_text())
        self.device = Emulator(order=order, seed=seed)
        self.kernel = self.device.load(path).kernel()

    def described(self, buffer: Any, number: int, dtype: str) -> list[Any]:
        box = self.meta["tensordesc_meta"][number]["block_size"]
        made = tensor_map(buffer, dtype=dtype, shape=buffer.shape, box=box, swizzle="128B")
        return [made, *buffer.shape, buffer.shape[1], 1]

    def launch(self, grid: tuple[int, int], arguments: list[Any]) -> None:
        self.kernel.launch(grid, self.meta["block"], [*arguments, 0, 0], shared=self.meta["shared_mem_bytes"])
        self.device.synchronize()
        assert self.device.findings == []


@pytest.mark.parametrize(("order", "seed"), ORDERS)
@each_build("tma_reduce")
def test_tensor_reduction(path: Path, order: str, seed: int) -> None:
    triton, random = Triton(path, order, seed), np.random.default_rng(0)
    a, x = (random.standard_normal(shape, np.float32) for shape in ((64, 96), (32, 32)))
    held = triton.device.array(a), triton.device.array(x)
    triton.launch((2, 3), [*triton.described(held[0], 0, "f32"), held[1]])
    assert np.array_equal(held[0].numpy(), a + np.tile(x, (2, 3)))


@pytest.mark.parametrize(("order", "seed"), ORDERS[:3])
@each_build("matmul_tma_host", "sm120")
def test_product(path: Path, order: str, seed: int) -> None:
    triton, random = Triton(path, order, seed), np.random.default_rng(1)
    a, b = ((random.integers(-8, 9, s) / 4).astype(ml_dtypes.bfloat16) for s in ((128, 128), (128, 128)))
    out = triton.device.empty((128, 128), ml_dtypes.bfloat16)
    held = [triton.device.array(a), triton.device.array(b), out]
    arguments = [part for i, buffer in enumerate(held) for part in triton.described(buffer, i, "bf16")]
    tiles = triton.meta["constexprs"]
    triton.launch((128 // tiles["BM"], 128 // tiles["BN"]), [*arguments, 128])
    expected = (a.astype(np.float32) @ b.astype(np.float32)).astype(ml_dtypes.bfloat16)
    assert np.array_equal(out.numpy().view(np.uint16), expected.view(np.uint16))
