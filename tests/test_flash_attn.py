"""flash_attn.ptx: random shapes and the edges of the problem, on the emulator in every order and on a GPU."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from command import here, refused, verified

from ptxkit.workloads.flash_attn import FlashAttn

KERNEL = "flash_attn.ptx"
ORDERS = ("lazy", "eager", "random")
SMALL = {
    "batch": 1,
    "heads": 1,
    "kv_heads": 1,
    "s_q": 70,
    "s_k": 70,
    "d": 64,
    "causal": 0,
    "packed": 0,
    "f16": 0,
}


def shape(seed: int, most: int) -> tuple[dict[str, int], tuple[object, ...]]:
    """Sizes with up to so many queries and keys, and options."""
    rng = np.random.default_rng(seed)
    kv_heads = int(rng.integers(1, 3))
    sizes = {
        "batch": int(rng.integers(1, 4)),
        "heads": kv_heads * int(rng.integers(1, 3)),
        "kv_heads": kv_heads,
        "s_q": int(rng.integers(1, most)),
        "s_k": int(rng.integers(1, most)),
        "d": (64, 128, 256)[seed % 3],
        "causal": seed // 3 % 2,
        "packed": seed // 6 % 2,
        "f16": seed // 12 % 2,
    }
    inputs = ("normal", "sharp")[seed % 2]
    return sizes, ("--grid", int(rng.integers(1, 4)), "--inputs", inputs)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_random_shapes(seed: int) -> None:
    sizes, options = shape(seed, 160)
    verified(KERNEL, sizes, *options, "--strict", "--seed", seed, "--order", ORDERS[seed % 3])


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "order"), list(itertools.product(range(2, 36), ORDERS)))
def test_more_random_shapes(seed: int, order: str) -> None:
    sizes, options = shape(seed, 500)
    verified(KERNEL, sizes, *options, "--strict", "--seed", seed, "--order", order)


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(100, 124))
def test_random_shapes_on_a_gpu(seed: int) -> None:
    sizes, options = shape(seed, 1500)
    verified(KERNEL, sizes, *options, "--seed", seed, device="cuda")


def test_values_of_the_next_sequence_do_not_count(tmp_path: Path) -> None:
    sizes = SMALL | {"batch": 2, "packed": 1}
    inputs = FlashAttn().generate(sizes, "normal", 0, frozenset())
    inputs["v"][inputs["k_starts"][1] :] = np.inf
    np.save(tmp_path / "v.npy", inputs["v"].view(np.uint16))
    verified(KERNEL, sizes, "--arg", f"v=@{tmp_path / 'v.npy'}")


@pytest.mark.parametrize(
    "changed", [{"d": 192}, {"heads": 3, "kv_heads": 2}, {"causal": 2}, {"packed": 2}, {"f16": 2}]
)
def test_sizes_that_there_are_not(changed: dict[str, int]) -> None:
    given = [part for name, value in (SMALL | changed).items() for part in ("-p", f"{name}={value}")]
    refused(here("run", KERNEL, "--device", "emu", *given), 2, "P552")
