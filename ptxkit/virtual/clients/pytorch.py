"""PyTorch beside a virtual GPU: the torch device `cuda` is the CPU, whose memory the GPU sees.

PyTorch's own kernels exist as machine code alone, so its tensors stay on the CPU. Where a program asks for
`cuda` it gets a tensor there, and a copy where it moves one between the two; `torch.cuda` answers what is
asked of devices, timing and synchronisation, and refuses the rest by name.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

from ptxkit.virtual.clients.scaled_products import scaled_product
from ptxkit.virtual.clients.storages import named
from ptxkit.virtual.gpu.attributes import device_attribute
from ptxkit.virtual.process import machine

INSTEAD = (
    "PyTorch's tensors stay on the CPU under `ptxkit exec`, and torch.cuda has devices, streams, events and "
    "synchronisation there: leave the call out, or write it for the CPU"
)


ALIGNMENT = 512
"""Bytes at whose multiples PyTorch's memory on a GPU begins; on the CPU they are 64."""


def prepare(torch: ModuleType) -> None:
    """Let PyTorch take the CPU where a program says `cuda`, from its import on."""
    from torch.overrides import TorchFunctionMode

    tensor = torch.Tensor
    moves = {tensor.to, tensor.cuda, tensor.cpu}
    pinned, is_cuda = {tensor.pin_memory}, tensor.is_cuda.__get__

    def here(value: Any) -> Any:
        if not isinstance(value, torch.device) or value.type != "cuda":
            return value
        _begin()
        return torch.device("cpu")

    class CudaIsTheCpu(TorchFunctionMode):
        """While it is active, the device `cuda` is the CPU."""

        def __torch_function__(
            self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
        ) -> Any:
            kwargs = dict(kwargs or {})
            if function == is_cuda:  # a new wrapper each time
                return args[0].device.type == "cpu"
            if function is tensor.data_ptr:
                named.name(machine(), args[0])
                return function(*args)
            if function in pinned:
                return args[0]
            if function is torch._scaled_mm:
                return scaled_product(torch, function, *args, **kwargs)
            if function in moves:
                return moved(function, args, kwargs)
            if kwargs.get("device") is not None:
                device = torch.device(kwargs["device"])
                kwargs["device"] = here(device)
                kwargs.pop("pin_memory", None)
                result = function(*(here(value) for value in args), **kwargs)
                return aligned(result) if device.type == "cuda" and fresh(result, args) else result
            return function(*(here(value) for value in args), **kwargs)

    def fresh(result: Any, args: tuple[Any, ...]) -> bool:
        if type(result) is not tensor or result.layout is not torch.strided:
            return False
        given = [one.untyped_storage().data_ptr() for one in args if type(one) is tensor]
        return result.untyped_storage().data_ptr() not in given

    def moved(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        source, *rest = args
        if function is tensor.to:
            if rest and isinstance(rest[0], str | int):
                rest[0] = torch.device(rest[0])
            rest = [here(one) for one in rest]
            if kwargs.get("device") is not None:
                kwargs["device"] = here(torch.device(kwargs["device"]))
            named = any(isinstance(one, torch.device) for one in (*rest, kwargs.get("device")))
            result = source.to(*rest, **kwargs)
        else:
            named, result = True, source
            if function is tensor.cuda:
                _begin()
        if not named:
            return result
        # A move between a GPU and its host makes a tensor of its own.
        made = result.clone(memory_format=torch.preserve_format) if result is source else result
        return aligned(made) if fresh(made, args) else made

    def aligned(made: Any) -> Any:
        storage = made.untyped_storage()
        size = storage.nbytes()
        if size and storage.data_ptr() % ALIGNMENT:
            room = torch.empty(size + ALIGNMENT, dtype=torch.uint8).untyped_storage()
            start = -room.data_ptr() % ALIGNMENT
            place = room[start : start + size]
            place.copy_(storage)
            shape = made.storage_offset(), made.size(), made.stride()
            made.data = torch.empty(0, dtype=made.dtype).set_(place, *shape)
        return made

    CudaIsTheCpu().__enter__()
    set_default = torch.set_default_device
    torch.set_default_device = lambda device: set_default(  # type: ignore[attr-defined]
        device if device is None else here(torch.device(device))
    )
    _serve(torch)
    # `getattr(torch, device.type)` is how scripts find what a device has.
    torch.cpu.set_stream = lambda stream: None
    torch.version.cuda = torch.version.cuda or "13.0"


class TorchEvent:
    """A moment. Times are those of the emulation and mean nothing."""

    def __init__(self, enable_timing: bool = False, **_: Any) -> None:
        self._time: float | None = None

    def record(self, stream: Any = None) -> None:
        """It is now."""
        self._time = time.perf_counter()

    def elapsed_time(self, other: TorchEvent) -> float:
        """Milliseconds to a later one.

        Raises:
            RuntimeError: one of the two was not recorded.
        """
        if self._time is None or other._time is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        return 1e3 * (other._time - self._time)

    def synchronize(self) -> None:
        """What PyTorch and Triton do has ended when they return."""

    def wait(self, stream: Any = None) -> None:
        """The same."""

    def query(self) -> bool:
        """It has happened."""
        return True


class TorchStream:
    """A stream: work that is queued in one has ended when the call returns."""

    cuda_stream = 0

    def __init__(self, device: Any = None, priority: int = 0, **_: Any) -> None:
        self.priority = priority

    def synchronize(self) -> None:
        """Nothing is queued."""

    def wait_stream(self, stream: TorchStream) -> None:
        """Nothing is queued."""

    def wait_event(self, event: TorchEvent) -> None:
        """It has happened."""

    def record_event(self, event: TorchEvent | None = None) -> TorchEvent:
        """A moment of this stream."""
        event = event or TorchEvent()
        event.record(self)
        return event

    def query(self) -> bool:
        """Nothing is queued."""
        return True


def _current_device() -> int:
    """The number of the device whose context is current to this thread."""
    context = machine().current
    return 0 if context is None else context.device.ordinal


def _index(device: Any = None) -> int:
    """The number of a device: an int, a name, a torch device or None, which is the current one."""
    if isinstance(device, int):
        return device
    if isinstance(device, str):
        number = device.partition(":")[2]
    else:
        number = "" if device is None or device.index is None else str(device.index)
    return int(number) if number else _current_device()


def _set_device(device: Any) -> None:
    made = machine()
    chosen = made.device(_index(device))
    made.initialised = True
    context = made.primary(chosen) or made.retain_primary(chosen)
    made.stack[-1:] = [context]


def _begin() -> None:
    """A thread's first use of a GPU makes the primary context current to it."""
    if machine().current is None:
        _set_device(None)


@contextmanager
def _on_device(device: Any) -> Iterator[None]:
    before = _current_device()
    _set_device(device)
    try:
        yield
    finally:
        _set_device(before)


@contextmanager
def _in_stream(stream: Any) -> Iterator[Any]:
    yield stream


PROPERTIES = {
    "major": 75,
    "minor": 76,
    "multi_processor_count": 16,
    "warp_size": 10,
    "max_threads_per_multi_processor": 39,
    "max_threads_per_block": 1,
    "regs_per_multiprocessor": 82,
    "shared_memory_per_block": 8,
    "shared_memory_per_block_optin": 97,
    "shared_memory_per_multiprocessor": 81,
    "L2_cache_size": 38,
    "is_integrated": 18,
    "is_multi_gpu_board": 84,
    "clock_rate": 13,
    "memory_clock_rate": 36,
    "memory_bus_width": 37,
}
"""What PyTorch tells of a device, by the driver's attributes."""


def _properties(device: Any = None) -> Any:
    one = machine().device(_index(device))
    told = {name: device_attribute(one, attribute) for name, attribute in PROPERTIES.items()}
    return SimpleNamespace(name=one.name, total_memory=one.total_memory, gcnArchName="", **told)


def _capability(device: Any = None) -> tuple[int, int]:
    return machine().device(_index(device)).target.capability


def _served(torch: ModuleType) -> Mapping[str, Any]:
    """What `torch.cuda` has here."""
    only = TorchStream()

    def seed(value: int) -> None:
        torch.default_generator.manual_seed(value)

    return {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "init": lambda: None,
        "device_count": lambda: len(machine().devices),
        "current_device": _current_device,
        "set_device": _set_device,
        "device": _on_device,
        "get_device_name": lambda device=None: _properties(device).name,
        "get_device_capability": _capability,
        "get_device_properties": _properties,
        "get_arch_list": lambda: ["sm_{}{}".format(*_capability())],
        "is_bf16_supported": lambda including_emulation=True: _capability() >= (8, 0),
        "can_device_access_peer": lambda device, peer: True,
        "synchronize": lambda device=None: None,
        "Event": TorchEvent,
        "Stream": TorchStream,
        "stream": _in_stream,
        "current_stream": lambda device=None: only,
        "default_stream": lambda device=None: only,
        "set_stream": lambda stream: None,
        "is_current_stream_capturing": lambda: False,
        "empty_cache": lambda: None,
        "ipc_collect": lambda: None,
        "manual_seed": seed,
        "manual_seed_all": seed,
        "seed": torch.default_generator.seed,
        "seed_all": torch.default_generator.seed,
        "initial_seed": torch.default_generator.initial_seed,
        "get_rng_state": lambda device=None: torch.default_generator.get_state(),
        "set_rng_state": lambda state, device=None: torch.default_generator.set_state(state),
        "is_tf32_supported": lambda: _capability() >= (8, 0),
    }


KEPT = frozenset("amp nvtx cudart CudaError DeferredCudaCallError device_of StreamContext".split())
"""What is left as PyTorch has it: it asks nothing of a device, or what is served here."""


BEGINNING = frozenset("init current_device current_stream default_stream synchronize".split())
"""What makes a context current that has none."""


def _serve(torch: ModuleType) -> None:
    """Put our answers into `torch.cuda`, and refusals for what there is none of."""
    served, cuda = _served(torch), torch.cuda
    for name in cuda.__all__:
        found = getattr(cuda, name, None)
        if name not in served and name not in KEPT and callable(found):
            if isinstance(found, type) and name.endswith(("Tensor", "Storage")):
                continue  # types that `isinstance` asks for
            setattr(cuda, name, _refusal(name, isinstance(found, type)))
    for name, value in served.items():
        setattr(cuda, name, _beginning(value) if name in BEGINNING else value)


def _beginning(function: Any) -> Any:
    def begin_and_answer(*arguments: Any, **named: Any) -> Any:
        _begin()
        return function(*arguments, **named)

    return begin_and_answer


def _refusal(name: str, as_type: bool) -> Any:
    def refused(*_: Any, **__: Any) -> Any:
        raise RuntimeError(f"torch.cuda.{name} is not served on a virtual GPU: {INSTEAD}")

    return type(name, (), {"__new__": refused}) if as_type else refused
