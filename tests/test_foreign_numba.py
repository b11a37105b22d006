"""Kernels that numba-cuda compiled, against numpy. tools/foreign/kernels.py has their source; the PTX is by

python -m tools.foreign.numba_cuda --gather tests/data/numba_kernels.ptx
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from both_devices import Both, device, gpu

from ptxkit.emulator import Emulator
from tools.foreign.kernels import KERNELS, launch

_ = device, gpu

TEXT = Path(__file__).parent / "data" / "numba_kernels.ptx"


@pytest.mark.parametrize("name", KERNELS)
def test_it_leaves_what_numpy_does(device: Emulator | Both, name: str) -> None:
    run(device, name, 1)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", KERNELS)
def test_so_in_random_order(name: str, seed: int) -> None:
    run(Emulator("random", seed), name, seed)


def run(device: Emulator | Both, name: str, seed: int) -> None:
    kernel = KERNELS[name]
    arrays = kernel.arrays(np.random.default_rng(seed))
    wanted = kernel.wanted(*arrays).astype(arrays[0].dtype)
    found = launch(device, device.load(TEXT).kernel(name), arrays, kernel.grid, kernel.block)
    assert np.array_equal(found, wanted)
    assert device.findings == []


@pytest.mark.parametrize("name", ["llvm", "numba"])
def test_what_is_recorded_is_the_same(name: str) -> None:
    path = Path(__file__).parents[1] / "bench" / "results" / f"{name}.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    assert set(record["counts"]) == {"same"}
    assert record["counts"]["same"] >= 300
    assert record["not_the_same"] == []
