"""The emulator and a GPU side by side, as one device, for tests that run on either."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ptxkit import targets
from ptxkit.asm import parse
from ptxkit.driver import CudaDevice
from ptxkit.emulator import Counts, Emulator


class Both:
    """Does everything on an emulator and on a GPU; arrays that are read back are the GPU's.

    Attributes:
        emulator: it plays the GPU's own target.
        exact: whether both must leave the same bits; False where an operation of the kernel is approximate,
            or its result depends on the order of threads.
    """

    def __init__(self, gpu: CudaDevice) -> None:
        self.gpu = gpu
        target = targets.for_capability(gpu.capability, "a") or targets.for_capability(gpu.capability)
        self.emulator = Emulator(arch=str(target))
        self.exact = True

    @property
    def findings(self) -> list[Any]:
        """The emulator's: the GPU's are about its compiler."""
        return self.emulator.findings

    @property
    def counts(self) -> Counts:
        """The emulator's."""
        return self.emulator.counts

    def synchronize(self) -> None:
        """Wait for both."""
        self.emulator.synchronize()
        self.gpu.synchronize()

    def load(self, source: Any) -> _Module:
        """On both; the test is skipped where the file is not for this GPU."""
        module = parse(source)
        target = targets.parse(module.target or "")
        if target is None or not target.runs_on(self.gpu.capability):
            pytest.skip(f"{module.target} does not run on {self.gpu.name}")
        return _Module(self, module)

    def array(self, source: Any) -> _Buffer:
        """On both."""
        return _Buffer(self, self.emulator.array(source), self.gpu.array(source))

    def empty(self, shape: Any, dtype: Any) -> _Buffer:
        """On both, with the same content."""
        emulated = self.emulator.empty(shape, dtype)
        return _Buffer(self, emulated, self.gpu.array(emulated.numpy()))


class _Module:
    def __init__(self, both: Both, module: Any) -> None:
        self.both, self.loaded = both, (both.emulator.load(module), both.gpu.load(module))

    def kernel(self, name: str | None = None) -> _Kernel:
        return _Kernel(self.both, [loaded.kernel(name) for loaded in self.loaded])


class _Kernel:
    def __init__(self, both: Both, kernels: list[Any]) -> None:
        self.both, self.kernels = both, kernels

    def launch(self, grid: Any, block: Any, args: Any = (), **rest: Any) -> None:
        for side, kernel in enumerate(self.kernels):
            mine = [arg.sides[side] if isinstance(arg, _Buffer) else arg for arg in args]
            kernel.launch(grid, block, mine, **rest)
        self.both.gpu.synchronize()


class _Buffer:
    def __init__(self, both: Both, emulated: Any, real: Any) -> None:
        self.both, self.sides = both, (emulated, real)

    def numpy(self) -> np.ndarray:
        emulated, real = (side.numpy() for side in self.sides)
        if self.both.exact and emulated.tobytes() != real.tobytes():
            mine, theirs = (np.frombuffer(array.tobytes(), np.uint8) for array in (emulated, real))
            element = int(np.flatnonzero(mine != theirs)[0]) // real.itemsize
            values = f"{emulated.reshape(-1)[element]!r} on the emulator, {real.reshape(-1)[element]!r}"
            pytest.fail(f"element {element} is {values} on {self.both.gpu.name}")
        return real


@pytest.fixture(scope="session")
def gpu() -> Iterator[CudaDevice]:
    """The first GPU."""
    with CudaDevice() as opened:
        yield opened


@pytest.fixture(params=["emu", pytest.param("gpu", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Emulator | Both:
    """A fresh emulator; and once more, it and a GPU together."""
    return Emulator() if request.param == "emu" else Both(request.getfixturevalue("gpu"))


def in_order(device: Emulator | Both) -> bool:
    """Whether threads take their turns in order, as on the emulator alone, unless its order is random."""
    return isinstance(device, Emulator) and device.options.order != "random"
