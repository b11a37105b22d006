"""Matrix products with `tcgen05` that Triton made, in every order."""

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

ORDERS = ("lazy", "eager", "random")


class Triton:
    """A Triton kernel on the emulator."""

    def __init__(self, path: Path, order: str) -> None:
        self.meta = json.loads(path.with_suffix(".json").read_text())
        self.device = Emulator(order=order, seed=3)
        self.kernel = self.device.load(path).kernel()

    def launch(self, grid: tuple[int, int], arguments: list[Any]) -> None:
        """One launch, without a finding."""
        shared = self.meta["shared_mem_bytes"]
        self.kernel.launch(grid, self.meta["block"], [*arguments, 0, 0], shared=shared)
        self.device.synchronize()
        assert self.device.findings == []


def quarters(random: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Multiples of 1/4 up to 2, so that sums are exact."""
    numbers: np.ndarray = (random.integers(-8, 9, shape) / 4).astype(ml_dtypes.bfloat16)
    return numbers


@pytest.mark.parametrize("order", ORDERS)
@each_build("matmul_bf16", "sm100")
def test_bf16(path: Path, order: str) -> None:
    m, n, k = 200, 160, 192
    triton, random = Triton(path, order), np.random.default_rng(0)
    a, b = quarters(random, (m, k)), quarters(random, (k, n))
    held = [triton.device.array(a), triton.device.array(b), triton.device.empty((m, n), ml_dtypes.bfloat16)]
    tiles = triton.meta["constexprs"]
    triton.launch((-(-m // tiles["BM"]), -(-n // tiles["BN"])), [*held, m, n, k, k, n, n])
    expected = (a.astype(np.float32) @ b.astype(np.float32)).astype(ml_dtypes.bfloat16)
    assert np.array_equal(held[2].numpy().view(np.uint16), expected.view(np.uint16))


@pytest.mark.parametrize("order", ORDERS)
@each_build("matmul_tma_host", "sm100")
def test_bf16_with_tensor_copies(path: Path, order: str) -> None:
    m, n, k = 256, 128, 192
    triton, random = Triton(path, order), np.random.default_rng(1)
    a, b = quarters(random, (m, k)), quarters(random, (k, n))
    held = [triton.device.array(a), triton.device.array(b), triton.device.empty((m, n), ml_dtypes.bfloat16)]
    arguments: list[Any] = []
    for buffer, described in zip(held, triton.meta["tensordesc_meta"], strict=True):
        made = tensor_map(
            buffer, dtype="bf16", shape=buffer.shape, box=described["block_size"], swizzle="128B"
        )
        arguments += [made, *buffer.shape, buffer.shape[1], 1]
    triton.launch((m // 128, n // 128), [*arguments, k])
    expected = (a.astype(np.float32) @ b.astype(np.float32)).astype(ml_dtypes.bfloat16)
    assert np.array_equal(held[2].numpy().view(np.uint16), expected.view(np.uint16))


@pytest.mark.parametrize("order", ORDERS)
@each_build("matmul_scaled_mxfp8", "sm100")
def test_block_scaled_mxfp8(path: Path, order: str) -> None:
    size, k = 128, 256
    triton, random = Triton(path, order), np.random.default_rng(2)
    a, b = random.standard_normal((2, size, k)).astype(ml_dtypes.float8_e4m3fn)
    scales = random.integers(120, 134, (2, size, k // 32)).astype(np.uint8)
    array = triton.device.array
    c = triton.device.empty((size, size), np.float32)
    held = [array(a.view(np.uint8)), array(b.view(np.uint8)), array(scales[0]), array(scales[1]), c]
    triton.launch((1, 1), [*held, size, k])
    factors = np.repeat(2.0 ** (scales.astype(np.float64) - 127), 32, axis=2)
    exact = (a.astype(np.float64) * factors[0]) @ (b.astype(np.float64) * factors[1]).T
    assert np.allclose(c.numpy(), exact, rtol=2.0**-16, atol=2.0**-16 * np.abs(exact).max())
