"""Triton's tensor reductions, and its product of tensor copies and mma.sync, clean in every order."""

from __future__ import annotations

import json
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from asm_corpus import ROOT

from ptxkit.descriptors.tensor_maps import tensor_map
from ptxkit.emulator import Emulator

pytestmark = pytest.mark.skipif(not ROOT.is_dir(), reason=f"no corpus at {ROOT}; set PTXKIT_CORPUS")
ORDERS = [("lazy", 0), ("eager", 0), *(("random", seed) for seed in range(3))]


class Triton:
    """A Triton kernel on an emulator, with a descriptor for each tensor: its map, shape and strides."""

    def __init__(self, stem: str, order: str, seed: int) -> None:
        self.meta = json.loads((ROOT / "triton" / f"{stem}.json").read_text())
        self.device = Emulator(order=order, seed=seed)
        self.kernel = self.device.load(ROOT / "triton" / f"{stem}.ptx").kernel()

    def described(self, buffer: Any, number: int, dtype: str) -> list[Any]:
        box = self.meta["tensordesc_meta"][number]["block_size"]
        made = tensor_map(buffer, dtype=dtype, shape=buffer.shape, box=box, swizzle="128B")
        return [made, *buffer.shape, buffer.shape[1], 1]

    def launch(self, grid: tuple[int, int], arguments: list[Any]) -> None:
        self.kernel.launch(grid, self.meta["block"], [*arguments, 0, 0], shared=self.meta["shared_mem_bytes"])
        self.device.synchronize()
        assert self.device.findings == []


@pytest.mark.parametrize(("order", "seed"), ORDERS)
@pytest.mark.parametrize("target", ["sm90", "sm100"])
def test_tensor_reduction(target: str, order: str, seed: int) -> None:
    triton, random = Triton(f"tma_reduce_{target}_t36", order, seed), np.random.default_rng(0)
    a, x = (random.standard_normal(shape, np.float32) for shape in ((64, 96), (32, 32)))
    held = triton.device.array(a), triton.device.array(x)
    triton.launch((2, 3), [*triton.described(held[0], 0, "f32"), held[1]])
    assert np.array_equal(held[0].numpy(), a + np.tile(x, (2, 3)))


@pytest.mark.parametrize(("order", "seed"), ORDERS[:3])
def test_product(order: str, seed: int) -> None:
    triton, random = Triton("matmul_tma_host_sm120_t36", order, seed), np.random.default_rng(1)
    a, b = ((random.integers(-8, 9, s) / 4).astype(ml_dtypes.bfloat16) for s in ((128, 128), (128, 128)))
    out = triton.device.empty((128, 128), ml_dtypes.bfloat16)
    held = [triton.device.array(a), triton.device.array(b), out]
    arguments = [part for i, buffer in enumerate(held) for part in triton.described(buffer, i, "bf16")]
    triton.launch((1, 1), [*arguments, 128])
    expected = (a.astype(np.float32) @ b.astype(np.float32)).astype(ml_dtypes.bfloat16)
    assert np.array_equal(out.numpy().view(np.uint16), expected.view(np.uint16))
