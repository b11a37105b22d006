"""Triton with PyTorch: kernels work on CPU tensors in place.

Triton's active driver says which device its tensors are on, and that one here says `cpu`. A launch makes the
storages of its tensors visible to the device and has ended when it returns, as the CPU's own work has.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ptxkit.virtual.clients.storages import AlignedTensor, visible
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
    from triton.runtime import _allocation

    _allocation._allocator = AligningAllocator(_allocation._allocator)

    class TritonLauncher(CudaLauncher):
        """Launches on CPU tensors, those that it allocates among them."""

        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            own: Any = self
            launch = own.launch

            def visibly(*arguments: Any) -> None:
                with _launched(arguments) as shown:
                    launch(*shown)

            own.launch = visibly

    class TritonDriver(CudaDriver):
        """Triton's driver for CUDA, whose tensors are the CPU's."""

        def __init__(self) -> None:
            super().__init__()
            self.launcher_cls = TritonLauncher
            # Before 3.7 PyTorch's own, of a build with CUDA.
            own_stream = getattr(self, "_get_current_stream", None)
            self.get_current_stream = own_stream or _current_stream
            self.set_current_device(self.get_current_device())
            properties = self.utils.get_device_properties
            # The CPU has no number.
            self.utils.get_device_properties = lambda device: properties(device or 0)

        def get_active_torch_device(self) -> Any:
            return torch.device("cpu")

        def get_benchmarker(self) -> Any:
            return run_once

        def get_empty_cache_for_benchmark(self) -> Any:
            return torch.empty(1, dtype=torch.int)

        def allocate_default_profile_scratch(self, size: int, alignment: int, stream: Any) -> Any:
            return torch.zeros(size, dtype=torch.int8)

    return TritonDriver()


def _current_stream(device: int | None) -> int:
    """The handle of PyTorch's current stream."""
    import torch

    return torch.cuda.current_stream(device).cuda_stream


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


@contextmanager
def _launched(arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """`visible` for what raises the error that its work ended with."""
    made = machine()
    with visible(made, arguments) as shown:
        yield shown
    if made.current is not None and made.current.lost:
        raise RuntimeError(f"Triton Error [CUDA]: {describe(made.current.lost)}")


class AligningAllocator:
    """Triton's variable for the allocator that a program sets: what that one gives is at a multiple of the
    bytes that it is asked for. The CPU's tensors begin at multiples of 64 bytes, a GPU's at those of 512."""

    def __init__(self, variable: Any) -> None:
        self.set = variable.set
        self._variable = variable

    def get(self) -> Callable[[int, int, Any], Any]:
        """The allocator."""
        allocate = self._variable.get()

        def aligned(size: int, alignment: int, stream: Any) -> Any:
            tensor = allocate(size, alignment, stream)
            return AlignedTensor(tensor) if tensor.data_ptr() % alignment else tensor

        return aligned


def run_once(kernel_call: Callable[[], Any], quantiles: Any = None, **_: Any) -> Any:
    """What the autotuner measures a configuration by: milliseconds of its emulation, which mean nothing of
    a GPU, so that one run is enough."""
    start = time.perf_counter()
    kernel_call()
    taken = 1e3 * (time.perf_counter() - start)
    return taken if quantiles is None else [taken] * len(quantiles)
