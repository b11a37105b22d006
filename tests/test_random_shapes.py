"""Hopper's matrix and vector products over random shapes, on the emulator in every order and on a GPU.

attn_dist.ptx has tests/test_attn_dist.py.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from command import here, refused, verified

ORDERS = ("lazy", "eager", "random")
KERNELS = ("gemm_wgmma.ptx", "gemv.ptx")


def shape(kernel: str, seed: int, most: int) -> tuple[dict[str, int], tuple[object, ...]]:
    """Sizes of up to so many tiles or slices in each direction, and options."""
    rng = np.random.default_rng(seed)
    if kernel == "gemm_wgmma.ptx":
        sizes = {
            "M": int(rng.integers(1, 256 * most + 1)),
            "N": 8 * int(rng.integers(1, 32 * most + 1)),
            "K": 64 * int(rng.integers(1, 4 * most + 1)),
        }
        return sizes, ("--grid", 2 * int(rng.integers(1, most * most + 1)))
    blocks = (16, 64, 64)[seed % 3]
    sizes = {
        "M": int(rng.integers(1, 40 * most + 1)),
        "K": blocks * int(rng.integers(1, 4096 * most // blocks + 1)),
        "L": int(rng.integers(1, 2 + seed % 4)),
    }
    return sizes, ("--inputs", ("full", "contest")[seed % 2])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("seed", range(6))
def test_random_shapes(kernel: str, seed: int) -> None:
    sizes, options = shape(kernel, seed, 2)
    verified(kernel, sizes, *options, "--seed", seed, "--order", ORDERS[seed % 3])


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("seed", "order"), list(itertools.product(range(6, 26), ORDERS)))
def test_more_random_shapes(kernel: str, seed: int, order: str) -> None:
    sizes, options = shape(kernel, seed, 3)
    verified(kernel, sizes, *options, "--seed", seed, "--order", order)


@pytest.mark.gpu
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("seed", range(100, 116))
def test_random_shapes_on_a_gpu(kernel: str, seed: int) -> None:
    sizes, options = shape(kernel, seed, 12)
    verified(kernel, sizes, *options, "--seed", seed, device="cuda")


@pytest.mark.parametrize(
    "sizes",
    [
        {"M": 0},
        {"N": 0},
        {"N": 12},
        {"K": 0},
        {"K": 32},
        {"K": 2**31 + 64},
    ],
    ids=str,
)
def test_sizes_that_gemm_wgmma_does_not_take(sizes: dict[str, int]) -> None:
    given = [
        part
        for name, value in ({"M": 1, "N": 8, "K": 64} | sizes).items()
        for part in ("-p", f"{name}={value}")
    ]
    refused(here("run", "gemm_wgmma.ptx", "--device", "emu", *given), 2, "P561")


@pytest.mark.parametrize("sizes", [{"M": 1, "N": 8, "K": 64}, {"M": 257, "N": 264, "K": 64}], ids=str)
def test_the_least_and_one_more_than_a_tile(sizes: dict[str, int]) -> None:
    verified("gemm_wgmma.ptx", sizes)
