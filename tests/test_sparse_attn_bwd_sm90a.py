"""sparse_attn_bwd_sm90a.ptx: random sizes and lists that no generator makes, on the emulator and on a GPU."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from command import verified

KERNEL = "sparse_attn_bwd_sm90a.ptx"
ORDERS = ("lazy", "eager", "random")


def shape(seed: int, most: int) -> tuple[dict[str, int], tuple[object, ...]]:
    """Sizes with up to so many queries, and options."""
    rng = np.random.default_rng(seed)
    sizes = {
        "s_q": int(rng.integers(1, most)),
        "s_kv": int(rng.integers(1, 40 * most)),
        "topk": 64 * int(rng.integers(1, 2 + most // 4)),
        "heads": (64, 128)[seed % 2],
        "d_qk": (576, 512)[seed // 2 % 2],
    }
    return sizes, ("--inputs", ("mixed", "wide", "valid")[seed % 3])


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "order"), list(itertools.product(range(12), ORDERS)))
def test_random_sizes(seed: int, order: str) -> None:
    sizes, options = shape(seed, 5)
    verified(KERNEL, sizes, *options, "--strict", "--seed", seed, "--order", order)


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(100, 112))
def test_random_sizes_on_a_gpu(seed: int) -> None:
    sizes, options = shape(seed, 40)
    verified(KERNEL, sizes, *options, "--seed", seed, device="cuda")


def lengths(tmp_path: Path) -> tuple[dict[str, int], tuple[object, ...]]:
    """Lists that end at and beside the end of a block, past the list's own end, and before its beginning."""
    ends = np.array([1, 63, 64, 65, 128, 200, 0, -5, 2**31 - 1], np.int32)
    np.save(tmp_path / "lengths.npy", ends)
    sizes = {"s_q": len(ends), "s_kv": 50, "topk": 128}
    return sizes, ("--inputs", "valid", "--arg", f"topk_length=@{tmp_path}/lengths.npy")


@pytest.mark.slow
@pytest.mark.parametrize(("heads", "depth"), [(64, 576), (128, 512), (128, 576), (64, 512)])
def test_lists_end_at_and_beside_the_end_of_a_block(tmp_path: Path, heads: int, depth: int) -> None:
    sizes, options = lengths(tmp_path)
    verified(KERNEL, sizes | {"heads": heads, "d_qk": depth}, *options, "--strict")


@pytest.mark.gpu
@pytest.mark.parametrize(("heads", "depth"), [(64, 576), (128, 512), (128, 576), (64, 512)])
def test_lists_end_beside_the_end_of_a_block_on_a_gpu(tmp_path: Path, heads: int, depth: int) -> None:
    sizes, options = lengths(tmp_path)
    verified(KERNEL, sizes | {"heads": heads, "d_qk": depth}, *options, device="cuda")
