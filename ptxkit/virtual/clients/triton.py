"""Triton with PyTorch: kernels work on CPU tensors in place.

PyTorch's own kernels exist as machine code alone, so its tensors stay on the CPU. Triton's active driver
says which device its tensors are on, and that one here says `cpu`. A launch makes the storages of its
tensors visible to the device, each with its exact bounds, and has ended when it returns, as the CPU's own
work has.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.process import machine
from ptxkit.virtual.results import describe


def prepare(module: Any) -> None:
    """Let `triton.runtime.driver` make our driver where PyTorch is loaded; without it Triton's own will
    do."""
    created = module._create_driver

    def create() -> Any:
        return _driver() if "torch" in sys.modules else created()

    module._create_driver = create
    if "torch" in sys.modules:
        _prepare_products()


def _prepare_products() -> None:
    """Let Triton's handles of cuBLASLt compute on CPU tensors, too."""
    from triton._C.libtriton import nvidia

    library = getattr(nvidia, "cublas", None)
    if library is not None and not issubclass(library.CublasLt, TritonProducts):
        TritonProducts.handle = library.CublasLt
        library.CublasLt = TritonProducts


def _driver() -> Any:
    import torch
    from triton.backends.nvidia.driver import CudaDriver, CudaLauncher

    class TritonLauncher(CudaLauncher):
        """Launches on CPU tensors."""

        def __call__(self, *arguments: Any) -> None:
            with _launched(arguments) as shown:
                super().__call__(*shown)

    class TritonDriver(CudaDriver):
        """Triton's driver for CUDA, whose tensors are the CPU's."""

        def __init__(self) -> None:
            super().__init__()
            self.launcher_cls = TritonLauncher
            self.get_device_capability = self._get_device_capability
            self.get_current_stream = self._get_current_stream
            self.get_current_device = self._get_current_device
            self.set_current_device = self._set_current_device
            machine().initialised = True
            self.set_current_device(0)

        def get_active_torch_device(self) -> Any:
            return torch.device("cpu")

        def get_device_interface(self) -> Any:
            return TritonInterface

        def get_empty_cache_for_benchmark(self) -> Any:
            return torch.empty(1, dtype=torch.int)

        def allocate_default_profile_scratch(self, size: int, alignment: int, stream: Any) -> Any:
            return torch.zeros(size, dtype=torch.int8)

    return TritonDriver()


class TritonProducts:
    """A handle of cuBLASLt as Triton has it, on CPU tensors.

    Attributes:
        handle: Triton's own class of these.
    """

    handle: Any = None

    def __init__(self, workspace: Any) -> None:
        self._made = self.handle(workspace)

    def __getattr__(self, name: str) -> Any:
        product = getattr(self._made, name)

        def call(*arguments: Any) -> None:
            with _launched(arguments) as shown:
                product(*shown)

        return call


class TritonEvent:
    """A moment. Times are those of the emulation and mean nothing."""

    def __init__(self, enable_timing: bool = False, **_: Any) -> None:
        self._time = 0.0

    def record(self, stream: Any = None) -> None:
        """It is now."""
        self._time = time.perf_counter()

    def elapsed_time(self, other: TritonEvent) -> float:
        """Milliseconds to a later one."""
        return 1e3 * (other._time - self._time)

    def synchronize(self) -> None:
        """Launches have ended when they return."""


class TritonInterface:
    """What `torch.cuda` is to Triton's benchmarks."""

    Event = TritonEvent

    @staticmethod
    def synchronize(device: Any = None) -> None:
        """Launches have ended when they return."""

    @staticmethod
    def current_device() -> int:
        """The first."""
        return 0

    @staticmethod
    def stream(stream: Any) -> Any:
        """There is one stream."""
        return nullcontext()

    @staticmethod
    def default_stream(device: Any = None) -> None:
        """There is one stream."""


@contextmanager
def _launched(arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """`visible` for what raises the error that its work ended with."""
    made = machine()
    with visible(made, arguments) as shown:
        yield shown
    if made.current is not None and made.current.lost:
        raise RuntimeError(f"Triton Error [CUDA]: {describe(made.current.lost)}")


@contextmanager
def visible(made: Machine, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """The arguments of a launch, their tensors visible to the device until it has ended.

    A storage that lies where no device sees it is copied to where one does, and back.
    """
    memory = made.memory
    shown, moved = [], {}
    with made.schedule.lock:
        for tensor in _tensors(arguments):
            storage = tensor.untyped_storage()
            address, size = storage.data_ptr(), storage.nbytes()
            if not size or address in moved or memory.owner(address) is not None:
                continue
            if memory.reaches(address, size):
                name = f"storage of a tensor {str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
                shown.append(memory.adopt(address, size, name))
            else:
                moved[address] = memory.staged(address, size)
    try:
        yield _replaced(arguments, moved) if moved else arguments
    finally:
        with made.schedule.lock:
            made.schedule.finish_all()
            for address, (there, size) in moved.items():
                memory.unstaged(address, there, size)
            for allocation in shown:
                memory.disown(allocation)
            memory.forget_host()


def _tensors(value: Any) -> Iterator[Any]:
    """The CPU tensors of arguments, those of descriptors and tuples among them."""
    if isinstance(value, list | tuple):
        for one in value:
            yield from _tensors(one)
    elif hasattr(value, "untyped_storage"):
        if value.device.type == "cpu":
            yield value
    elif hasattr(value, "base") and hasattr(value.base, "untyped_storage"):
        yield from _tensors(value.base)


class MovedTensor:
    """A tensor at another address."""

    def __init__(self, tensor: Any, address: int) -> None:
        self._address = address
        self.dtype, self.shape = tensor.dtype, tensor.shape

    def data_ptr(self) -> int:
        """Where it is."""
        return self._address


def _replaced(value: Any, moved: dict[int, tuple[int, int]]) -> Any:
    if isinstance(value, tuple):
        return tuple(_replaced(one, moved) for one in value)
    if hasattr(value, "untyped_storage"):
        storage = value.untyped_storage().data_ptr()
        if storage in moved:
            return MovedTensor(value, moved[storage][0] + value.data_ptr() - storage)
    return value
