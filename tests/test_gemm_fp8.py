"""gemm_fp8.ptx: each of its kernels, random shapes and edges, on the emulator in every order and on a GPU."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from command import codes, here, refused, verified

from ptxkit.shipped import kernels
from ptxkit.workloads.block_scaled_gemm import BlockScaledGemm

KERNEL = "gemm_fp8.ptx"
TEXT = kernels.shipped()[KERNEL].read_text()
ENTRIES = list(dict.fromkeys(re.findall(r"^#define ENTRY (\w+)$", TEXT, re.MULTILINE)))
MOST_ROWS = {"few": 8, "half": 64, "one": 128}
"""Rows of a tile by the kind of the entry; 256 where the name has none."""
ORDERS = ("lazy", "eager", "random")


def any_sizes(folder: Path) -> Path:
    """The kernel with a card in which every launch takes all sizes, so that `--entry` chooses."""
    path = folder / KERNEL
    path.write_text(re.sub(r"^// (when = .*)$", '// when = "M > 0"', TEXT, flags=re.MULTILINE))
    return path


def shape(seed: int, entry: str) -> tuple[dict[str, int], tuple[object, ...]]:
    """Sizes of a tile's rows at most, or a few more, and options."""
    rng = np.random.default_rng(seed)
    rows = MOST_ROWS.get(entry.split("_")[2], 256)
    sizes = {
        "M": int(rng.integers(1, rows + rows // 4 if rows > 8 else rows, endpoint=True)),
        "N": 8 * int(rng.integers(1, 50)),
        "K": 16 * int(rng.integers(1, 70)),
    }
    width = int(entry.rsplit("_", 1)[1])
    ctas = 2 if rows == 256 else int(rng.choice([1, 2, 4])) if rows in (8, 64) and width < 192 else 1
    tiles = -(-sizes["M"] // rows) * -(-sizes["N"] // width)
    grid = ctas * (tiles if rows in (8, 64) and ctas > 1 else min(tiles, 2))
    return sizes, ("--entry", entry, "--cluster", ctas, "--grid", grid)


@pytest.mark.long
@pytest.mark.parametrize("number", range(3))
def test_entries(tmp_path: Path, number: int) -> None:
    """A third of the entries each; `test_all_entries` takes all of them, more often."""
    entry = ENTRIES[number::3][-1]
    sizes, options = shape(number, entry)
    verified(str(any_sizes(tmp_path)), sizes, *options, "--strict", "--order", ORDERS[number])


@pytest.mark.slow
@pytest.mark.parametrize(("entry", "seed", "order"), list(itertools.product(ENTRIES, range(4), ORDERS)))
def test_all_entries(tmp_path: Path, entry: str, seed: int, order: str) -> None:
    sizes, options = shape(seed, entry)
    verified(str(any_sizes(tmp_path)), sizes, *options, "--strict", "--seed", seed, "--order", order)


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES)
def test_the_border_between_scales(tmp_path: Path, entry: str) -> None:
    """Where tiles touch two rows of scales of b each column has its own; a border elsewhere is wrong."""
    sizes = {"M": 8, "N": 8 * 73, "K": 256}
    path = any_sizes(tmp_path)
    given = [part for name, value in sizes.items() for part in ("-p", f"{name}={value}")]
    width = int(entry.rsplit("_", 1)[1])
    verified(str(path), sizes, "--entry", entry)
    path.write_text(path.read_text().replace("sub.u32 %border, 8, %border;", "sub.u32 %border, 4, %border;"))
    done = here("run", path, "--device", "emu", *given, "--entry", entry)
    assert codes(done.stderr + done.stdout)[:1] == (["P801"] if 128 % width and width < 256 else [])


@pytest.mark.gpu
@pytest.mark.parametrize(("entry", "seed"), list(itertools.product(ENTRIES, range(100, 106))))
def test_entries_on_a_gpu(tmp_path: Path, entry: str, seed: int) -> None:
    sizes, options = shape(seed, entry)
    verified(str(any_sizes(tmp_path)), sizes, *options, "--seed", seed, device="cuda")


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(200, 240))
def test_random_shapes_on_a_gpu(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = int(rng.choice([8, 64, 128, 1500]))
    sizes = {
        "M": int(rng.integers(1, rows, endpoint=True)),
        "N": 8 * int(rng.integers(1, 800)),
        "K": 16 * int(rng.integers(1, 300)),
    }
    verified(KERNEL, sizes, "--seed", seed, device="cuda")


def test_sums_of_ones_are_exact() -> None:
    verified(KERNEL, {"M": 5, "N": 136, "K": 272}, "--inputs", "ones")


@pytest.mark.parametrize("changed", [{"N": 12}, {"K": 24}, {"M": 0}])
def test_sizes_that_there_are_not(changed: dict[str, int]) -> None:
    sizes = {"M": 16, "N": 16, "K": 16} | changed
    given = [part for name, value in sizes.items() for part in ("-p", f"{name}={value}")]
    refused(here("run", KERNEL, "--device", "emu", *given), 2, "P552")


def test_the_reference_is_the_sum_block_by_block() -> None:
    """Element by element, with each number scaled before it is multiplied."""
    sizes = {"M": 3, "N": 136, "K": 272}
    inputs = BlockScaledGemm().generate(sizes, "normal", 7, frozenset())
    expected = BlockScaledGemm().reference(sizes, inputs)["d"]
    k, n = np.arange(sizes["K"]), np.arange(sizes["N"])
    a = inputs["a"].astype(np.float64) * inputs["sa"][k // 128, : sizes["M"]].T
    b = inputs["b"].astype(np.float64) * inputs["sb"][n[:, None] // 128, k // 128]
    assert np.allclose(expected.values, a @ b.T, rtol=1e-6, atol=1e-6)
    assert np.all(expected.slack > 0)
    assert inputs["a"].dtype == ml_dtypes.float8_e4m3fn
    assert np.isnan(inputs["sa"][:, sizes["M"] :]).all()
