"""Barriers, pipelines, bulk copies and clusters of libcu++ and cooperative groups, as nvcc compiles them, in
every order and on a GPU. tests/data/asynchrony_nvcc.cu has the source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ptxkit.emulator import Emulator
from ptxkit.running.devices import open_device

TEXT = Path(__file__).parent / "data" / "asynchrony_nvcc.ptx"
DEVICES = ["lazy", "eager", "random-1", "random-2", pytest.param("cuda", marks=pytest.mark.gpu)]


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param == "cuda":
        opened: Any = open_device("cuda")
    else:
        order, _, seed = request.param.partition("-")
        opened = Emulator(order, int(seed or 0))
    yield opened
    if isinstance(opened, Emulator):
        assert opened.findings == []
    opened.close()


@dataclass(frozen=True)
class Kernel:
    """How a kernel is launched, and what it computes from an argument of this shape, below this number."""

    grid: int
    block: int
    shape: tuple[int, ...]
    wanted: Callable[[np.ndarray], np.ndarray]
    most: int = 100
    more: tuple[int, ...] = ()
    cooperative: bool = False


def doubled(x: np.ndarray) -> np.ndarray:
    """Three rounds of: the neighbour's value and twice one's own."""
    for _ in range(3):
        x = np.roll(x, -1, axis=1) + x * 2
    return x


KERNELS = {
    "pipe2": Kernel(4, 128, (4, 5, 128), lambda x: np.roll(x, -1, axis=2).sum(axis=1), more=(5,)),
    "pipet": Kernel(3, 64, (3, 4, 64, 4), lambda x: x.sum(axis=1)),
    "tokens": Kernel(3, 128, (3, 128), doubled),
    "tx": Kernel(5, 64, (5, 256), lambda x: x + 1),
    "hist": Kernel(
        6, 64, (3, 500), lambda x: np.stack([np.bincount(r & 127, minlength=128) for r in x]), 999, (500,)
    ),
    "cgcopy": Kernel(3, 256, (3, 256), lambda x: x[:, ::-1]),
    "roles": Kernel(2, 96, (2, 7, 64), lambda x: x[:, :, ::-1].sum(axis=1), more=(7,)),
    "remote": Kernel(8, 32, (2, 4, 32), lambda x: x[:, [3, 0, 1, 2], ::-1]),
    "gridsync": Kernel(6, 64, (6, 64), lambda x: np.roll(x + 1, -1, axis=0), cooperative=True),
}


@pytest.mark.parametrize("name", KERNELS)
def test_compiled_kernels(device: Any, name: str) -> None:
    kernel = KERNELS[name]
    x = np.random.default_rng(0).integers(0, kernel.most, kernel.shape, np.int32)
    wanted = kernel.wanted(x).astype(np.int32)
    argument, out = device.array(x), device.array(np.zeros(wanted.size, np.int32))
    loaded = device.load(TEXT).kernel(name)
    loaded.launch(kernel.grid, kernel.block, [argument, out, *kernel.more], cooperative=kernel.cooperative)
    device.synchronize()
    np.testing.assert_array_equal(out.numpy(), wanted.reshape(-1))
