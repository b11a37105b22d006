"""A GPU behind the Device protocol."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ptxkit import targets
from ptxkit.asm.tree import Module
from ptxkit.device.calls import AnyDevice
from ptxkit.diagnostics import Diagnostic, PtxkitError, error
from ptxkit.driver.clocks import Clocks, read_clocks
from ptxkit.driver.context import CudaContext
from ptxkit.driver.errors import EMULATOR, bindings, check
from ptxkit.driver.graphs import Graph
from ptxkit.driver.load import LoadOptions, capability, cuda_version, load
from ptxkit.driver.memory import DeviceBuffer
from ptxkit.driver.module import CudaModule
from ptxkit.driver.streams import Event, Stream

COMPUTE_MODES = {0: "default", 2: "prohibited", 3: "exclusive process"}
"""Which processes may use a GPU. CUDA driver API, `CUcomputemode`."""


class CudaDevice(AnyDevice):
    """One GPU, through `cuda.bindings.driver` (`ptxkit.device.protocol.Device`).

    Attributes:
        ordinal: its number among the GPUs that the driver shows to this process, from 0.
        capability: its compute capability, (9, 0).
        limits: what it can hold.
        findings: warnings so far, in order. Errors are raised.
    """

    kind = "cuda"

    def __init__(self, ordinal: int = 0) -> None:
        """Open a GPU.

        Raises:
            PtxkitError: P701, there is no driver; P702, no such GPU.
        """
        count = device_count()
        if not 0 <= ordinal < count:
            there = (
                "none" if count == 0 else "only `cuda:0`" if count == 1 else f"`cuda:0` to `cuda:{count - 1}`"
            )
            raise error(
                "P702", f"expected a GPU that is there ({there}), found `cuda:{ordinal}`", help=EMULATOR
            )
        self.ordinal = ordinal
        self.context = CudaContext(ordinal)
        self.capability = capability(ordinal)
        self.limits = _limits(self.capability)
        self.findings: list[Diagnostic] = []

    @property
    def name(self) -> str:
        """The GPU's name: `NVIDIA H200`."""
        return _name(self.context.device)

    @property
    def sm_count(self) -> int:
        """Streaming multiprocessors."""
        return self.attribute("MULTIPROCESSOR_COUNT")

    @property
    def l2_bytes(self) -> int:
        """Size of the L2 cache in bytes."""
        return self.attribute("L2_CACHE_SIZE")

    def attribute(self, name: str) -> int:
        """A device attribute: `CU_DEVICE_ATTRIBUTE_` and this name."""
        which = getattr(bindings().CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(check(bindings().cuDeviceGetAttribute(which, self.context.device), f"ask for {name}"))

    def memory(self) -> tuple[int, int]:
        """Free and total bytes of the GPU's memory."""
        with self.context:
            free, total = check(bindings().cuMemGetInfo(), "ask for free memory")
        return int(free), int(total)

    def load(
        self,
        source: str | Path | Module | bytes | Sequence[str | Path | Module | bytes],
        *,
        line_info: bool = False,
        max_registers: int | None = None,
        optimization: int | None = None,
    ) -> CudaModule:
        """Check and load PTX, a cubin or a fatbin; a list of them is linked into one module.

        Args:
            source: a path, a text (a str with a newline), a parsed module, the bytes of a cubin or fatbin.
            line_info: let profilers show the PTX lines.
            max_registers: the most 32-bit registers of a thread.
            optimization: of the driver's compiler, 0 to 4.

        Raises:
            PtxkitError: what `check` finds; P703, P704, P706, P709, P710 (`ptxkit explain`).
        """
        sources = [source] if isinstance(source, str | Path | Module | bytes) else source
        options = LoadOptions(line_info, max_registers, optimization)
        loaded = load(self.context, sources, options)
        self.findings += loaded.findings
        return CudaModule(self.context, loaded, self.limits, self.sm_count)

    def array(self, source: Any, name: str | None = None) -> DeviceBuffer:
        """A device copy of an array: numpy, `__cuda_array_interface__` or DLPack."""
        return DeviceBuffer.copy(self.context, source, name)

    def empty(self, shape: int | Sequence[int], dtype: Any, name: str | None = None) -> DeviceBuffer:
        """Memory whose content is undefined; errors call it `name`.

        Raises:
            PtxkitError: P517, no shape or type of an array; P705, out of memory.
        """
        return DeviceBuffer.empty(self.context, shape, dtype, name)

    def stream(self, non_blocking: bool = False, priority: int = 0) -> Stream:
        """A new stream: see `Stream`."""
        return Stream(self.context, non_blocking, priority)

    def event(self) -> Event:
        """A new event."""
        return Event(self.context)

    def capture(self) -> Graph:
        """A graph to be captured: see `ptxkit.driver.graphs`."""
        return Graph(self.context)

    @property
    def peak_bandwidth(self) -> float | None:
        """Bytes a second that the memory's clock and width allow; None where the driver doesn't say."""
        # Memory transfers twice a clock; the clock is in kHz, the width in bits.
        clock, width = self.attribute("MEMORY_CLOCK_RATE"), self.attribute("GLOBAL_MEMORY_BUS_WIDTH")
        return 2 * clock * 1e3 * width / 8 or None

    def clocks(self) -> Clocks | None:
        """Clocks, power and temperature now; None where the management library is missing."""
        return read_clocks(self.context.device)

    def describe(self) -> dict[str, Any]:
        """What a record of a measurement says of the GPU, JSON-able."""
        return {
            **_describe(self.ordinal),
            "l2_bytes": self.l2_bytes,
            "sm_clock_mhz": self.attribute("CLOCK_RATE") / 1e3,
            "memory_clock_mhz": self.attribute("MEMORY_CLOCK_RATE") / 1e3,
            "peak_bandwidth": self.peak_bandwidth,
        }

    def synchronize(self) -> None:
        """Wait for everything launched so far; raises what it met."""
        self.context.synchronize()

    def close(self) -> None:
        """Give everything back: buffers, modules, streams, graphs. A second call does nothing."""
        self.context.close()

    def __rich_repr__(self) -> Iterator[Any]:
        yield self.ordinal
        yield "name", self.name
        yield "capability", ".".join(map(str, self.capability))


def device_count() -> int:
    """GPUs that the driver shows to this process.

    Raises:
        PtxkitError: P701, there is no driver.
    """
    try:
        driver = bindings()
    except PtxkitError as caught:
        if caught.diagnostics[0].code == "P702":
            return 0
        raise
    return int(check(driver.cuDeviceGetCount(), "count the GPUs"))


def capabilities() -> list[tuple[int, int]]:
    """The compute capability of each GPU.

    Raises:
        PtxkitError: P701, there is no driver.
    """
    return [capability(ordinal) for ordinal in range(device_count())]


def device_uuid(ordinal: int) -> str:
    """The UUID of a GPU in hexadecimal: the same in every process of the host, whatever it calls the GPU."""
    driver = bindings()
    device = check(driver.cuDeviceGet(ordinal), f"find GPU {ordinal}")
    return bytes(check(driver.cuDeviceGetUuid(device), "ask for the GPU's UUID").bytes).hex()


def driver_version() -> targets.Version:
    """The newest CUDA version that the driver supports.

    Raises:
        PtxkitError: P701, there is no driver.
    """
    return cuda_version(check(bindings().cuDriverGetVersion(), "ask for the driver's version"))


def describe_gpus() -> list[dict[str, Any]]:
    """Each GPU's ordinal, name, capability, memory in bytes and SM count; opens no context.

    Raises:
        PtxkitError: P701, there is no driver.
    """
    return [_describe(ordinal) for ordinal in range(device_count())]


def _describe(ordinal: int) -> dict[str, Any]:
    driver = bindings()
    count = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
    device = check(driver.cuDeviceGet(ordinal), f"find GPU {ordinal}")
    which = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_MODE
    mode = check(driver.cuDeviceGetAttribute(which, device), "ask for the compute mode")
    return {
        "ordinal": ordinal,
        "name": _name(device),
        "capability": list(capability(ordinal)),
        "memory": int(check(driver.cuDeviceTotalMem(device), "ask for the GPU's memory")),
        "sm_count": int(check(driver.cuDeviceGetAttribute(count, device), "count the SMs")),
        "compute_mode": COMPUTE_MODES.get(int(mode), "unknown"),
    }


def _name(device: Any) -> str:
    raw = check(bindings().cuDeviceGetName(256, device), "ask for the GPU's name")
    return str(raw.partition(b"\0")[0].decode(errors="replace").strip())


def _limits(capability: tuple[int, int]) -> targets.Limits:
    """The limits of a compute capability; of the newest one known where it is newer still."""
    return targets.LIMITS.get(capability) or targets.limits(min(capability, max(targets.LIMITS)))
