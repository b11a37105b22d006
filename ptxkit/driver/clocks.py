"""What the management library (NVML) says of a GPU: clocks, power, temperature and what holds clocks down.

Read, never set. The library is reached through `cuda.bindings.nvml`, which newer bindings have, else through
nvidia-ml-py where that is installed. NVML API reference, device queries and clocks event reasons.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ptxkit.driver.errors import bindings, check

# By our names: what `cuda.bindings.nvml` and nvidia-ml-py call each function.
_FUNCTIONS = {
    "begin": ("init_v2", "nvmlInit"),
    "find": ("device_get_handle_by_pci_bus_id_v2", "nvmlDeviceGetHandleByPciBusId"),
    "clock": ("device_get_clock_info", "nvmlDeviceGetClockInfo"),
    "max_clock": ("device_get_max_clock_info", "nvmlDeviceGetMaxClockInfo"),
    "reasons": ("device_get_current_clocks_event_reasons", "nvmlDeviceGetCurrentClocksEventReasons"),
    "power": ("device_get_power_usage", "nvmlDeviceGetPowerUsage"),
    "temperature": ("device_get_temperature_v", "nvmlDeviceGetTemperature"),
    "driver": ("system_get_driver_version", "nvmlSystemGetDriverVersion"),
}
_LIBRARIES = ("cuda.bindings.nvml", "pynvml")

_SM, _MEMORY = 1, 2
"""`NVML_CLOCK_SM`, `NVML_CLOCK_MEM`."""
_GPU_SENSOR = 0
"""`NVML_TEMPERATURE_GPU`."""

_REASONS = {
    0x001: "idle",
    0x002: "application clocks",
    0x004: "power cap",
    0x008: "hardware slowdown",
    0x010: "sync boost",
    0x020: "software thermal slowdown",
    0x040: "hardware thermal slowdown",
    0x080: "power brake",
    0x100: "display clocks",
}
"""`nvmlClocksEventReason*`: what holds the clocks below their maximum."""

THROTTLES = frozenset(
    (
        "power cap",
        "hardware slowdown",
        "software thermal slowdown",
        "hardware thermal slowdown",
        "power brake",
    )
)
"""Reasons that make a measurement another than it would be at other times."""


@dataclass(frozen=True, slots=True)
class Clocks:
    """A GPU at one moment; None for what the library does not say.

    Attributes:
        sm_mhz, memory_mhz: clocks now.
        sm_max_mhz, memory_max_mhz: the highest ones that they can have.
        reasons: what holds them down.
        power_watts: of the board, averaged by the library.
        celsius: temperature of the GPU.
    """

    sm_mhz: int | None
    memory_mhz: int | None
    sm_max_mhz: int | None
    memory_max_mhz: int | None
    reasons: tuple[str, ...] | None
    power_watts: float | None
    celsius: int | None

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict."""
        return asdict(self)


def read_clocks(device: Any) -> Clocks | None:
    """What NVML says of a `CUdevice` now; None where there is no NVML, or it doesn't know the GPU."""
    library = _library()
    if library is None:
        return None
    raw = check(bindings().cuDeviceGetPCIBusId(32, device), "ask for the PCI bus")
    handle = library.ask("find", raw.partition(b"\0")[0].decode())
    if handle is None:
        return None
    mask, power = library.ask("reasons", handle), library.ask("power", handle)
    return Clocks(
        library.ask("clock", handle, _SM),
        library.ask("clock", handle, _MEMORY),
        library.ask("max_clock", handle, _SM),
        library.ask("max_clock", handle, _MEMORY),
        None if mask is None else reasons(mask),
        None if power is None else power / 1e3,
        library.ask("temperature", handle, _GPU_SENSOR),
    )


def reasons(mask: int) -> tuple[str, ...]:
    """The names of a mask of clocks event reasons."""
    known = [name for bit, name in _REASONS.items() if mask & bit]
    unknown = mask & ~sum(_REASONS)
    return (*known, f"reason {unknown:#x}") if unknown else tuple(known)


def management_version() -> str | None:
    """The version of the driver, `580.159.04`, as NVML tells it; None without NVML."""
    library = _library()
    version = library.ask("driver") if library else None
    return version.decode() if isinstance(version, bytes) else version


def has_binding() -> bool:
    """Whether there is a Python binding of NVML, be the library itself there or not."""
    try:
        return any(find_spec(name) for name in _LIBRARIES)
    except ModuleNotFoundError:
        return False


class _Library:
    """NVML behind either binding."""

    def __init__(self, module: Any, column: int) -> None:
        self._calls: dict[str, Callable[..., Any]] = {}
        for ours, theirs in _FUNCTIONS.items():
            call = getattr(module, theirs[column], None)
            if call is not None:
                self._calls[ours] = call
        self._error: type[Exception] = getattr(module, "NvmlError", None) or module.NVMLError

    def begin(self) -> bool:
        """Whether the library could be loaded and initialised."""
        try:
            self._calls["begin"]()
        except (self._error, RuntimeError):
            return False
        return True

    def ask(self, name: str, *args: Any) -> Any:
        """What it answers; None where this GPU, driver or binding can't say."""
        call = self._calls.get(name)
        try:
            return call(*args) if call else None
        except (self._error, RuntimeError):
            return None


@cache
def _library() -> _Library | None:
    for column, name in enumerate(_LIBRARIES):
        try:
            found = _Library(import_module(name), column)
        except ImportError:
            continue
        if found.begin():
            return found
    return None
