"""Handles and their settings, versions, status texts. cuBLAS's manual, "cuBLAS helper function reference"."""

from __future__ import annotations

from typing import Any, ClassVar

from ptxkit.virtual.abi import Int, Pointer, lasting_text, put
from ptxkit.virtual.blas import blas
from ptxkit.virtual.blas.status import VERSION, status_name, status_text
from ptxkit.virtual.driver import initialization
from ptxkit.virtual.gpu.context import VirtualContext, VirtualStream
from ptxkit.virtual.gpu.handles import Object
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.results import failure
from ptxkit.virtual.runtime.state import state

HOST, DEVICE = 0, 1
"""`cublasPointerMode_t`."""
WORKSPACE_ALIGNMENT = 256
NUMBER = sum(part * 100**power for power, part in enumerate(reversed(VERSION)))
"""`CUBLAS_VERSION`."""

MATH_MODES = {base | flag for base in (0, 1, 2, 3, 4, 8) for flag in (0, 16)}
SETTINGS: dict[str, tuple[int, Any]] = {
    "PointerMode": (HOST, {HOST, DEVICE}),
    "AtomicsMode": (0, {0, 1}),
    "MathMode": (0, MATH_MODES),
    "SmCountTarget": (0, range(1 << 16)),
    "EmulationStrategy": (0, {0, 1, 2}),
    "EmulationSpecialValuesSupport": (0xFFFF, range(1 << 16)),
    "FixedPointEmulationMantissaControl": (0, {0, 1}),
    "FixedPointEmulationMaxMantissaBitCount": (0, range(1 << 16)),
    "FixedPointEmulationMantissaBitOffset": (0, range(-(1 << 16), 1 << 16)),
}
"""What `cublasSet..` sets: what it is at first, and what it may be. Only the first changes anything here."""
REVISED = {"PointerMode"}
"""Those whose functions are `.._v2`."""


class BlasLtHandle(Object):
    """A handle of cuBLASLt.

    Attributes:
        context: where it was made.
    """

    noun: ClassVar[str] = "cuBLAS context"
    error: ClassVar[str] = "NOT_INITIALIZED"

    def __init__(self, context: VirtualContext) -> None:
        self.context = context


class BlasHandle(BlasLtHandle):
    """A handle of cuBLAS, which is one of cuBLASLt, too.

    Attributes:
        settings: by the names of `SETTINGS`.
        stream_handle: of the stream that takes its work.
    """

    def __init__(self, context: VirtualContext) -> None:
        super().__init__(context)
        self.settings = {name: first for name, (first, _) in SETTINGS.items()}
        self.stream_handle = 0

    @property
    def stream(self) -> VirtualStream:
        """What takes its work."""
        self.context.check()
        return self.context.stream(self.stream_handle)


@blas("cublasCreate_v2")
def create(machine: Machine, handle: int) -> None:
    """A handle for the current device."""
    context = state.context(machine)
    put(handle, Pointer, context.own(BlasHandle(context)))


@blas("cublasLtCreate")
def create_light(machine: Machine, handle: int) -> None:
    """A handle of cuBLASLt for the current device."""
    context = state.context(machine)
    put(handle, Pointer, context.own(BlasLtHandle(context)))


@blas("cublasDestroy_v2")
def destroy(machine: Machine, handle: int) -> None:
    """The device's work happens first: the memory of a handle is freed."""
    found = machine.handles.get(BlasHandle, handle)
    found.context.disown(found)
    found.context.synchronise()


@blas("cublasLtDestroy")
def destroy_light(machine: Machine, handle: int) -> None:
    """A handle of cuBLASLt goes."""
    found = machine.handles.get(BlasLtHandle, handle)
    found.context.disown(found)


@blas("cublasSetStream_v2")
def set_stream(machine: Machine, handle: int, stream: int) -> None:
    """Which stream takes the work from now on."""
    found = machine.handles.get(BlasHandle, handle)
    found.context.stream(stream)
    found.stream_handle = stream


@blas("cublasGetStream_v2")
def get_stream(machine: Machine, handle: int, stream: int) -> None:
    """Which stream takes it."""
    put(stream, Pointer, machine.handles.get(BlasHandle, handle).stream_handle)


@blas("cublasSetWorkspace_v2")
def set_workspace(machine: Machine, handle: int, workspace: int, size: int) -> None:
    """Memory for intermediate results, of which there are none."""
    machine.handles.get(BlasHandle, handle)
    if workspace % WORKSPACE_ALIGNMENT:
        why = f"a workspace lies at multiples of {WORKSPACE_ALIGNMENT}, found {workspace:#x}"
        raise failure("INVALID_VALUE", why)


def _register_setting(name: str, allowed: Any) -> None:
    suffix = "_v2" if name in REVISED else ""

    def put_setting(machine: Machine, handle: int, value: int) -> None:
        found = machine.handles.get(BlasHandle, handle)
        if value not in allowed:
            raise failure("INVALID_VALUE", f"{name}: {value} is none")
        found.settings[name] = value

    def get_setting(machine: Machine, handle: int, place: int) -> None:
        put(place, Int, machine.handles.get(BlasHandle, handle).settings[name])

    blas(f"cublasSet{name}{suffix}")(put_setting)
    blas(f"cublasGet{name}{suffix}")(get_setting)


for _name, (_, _allowed) in SETTINGS.items():
    _register_setting(_name, _allowed)


@blas("cublasGetVersion_v2")
def version(machine: Machine, handle: int, place: int) -> None:
    """The library's version; any handle will do."""
    put(place, Int, NUMBER)


@blas("cublasLtGetVersion")
def version_number(machine: Machine) -> int:
    """The library's version."""
    return NUMBER


@blas("cublasGetCudartVersion", "cublasLtGetCudartVersion")
def runtime_version(machine: Machine) -> int:
    """The version of the CUDA runtime."""
    return initialization.VERSION


@blas("cublasGetProperty", "cublasLtGetProperty")
def library_property(machine: Machine, kind: int, place: int) -> None:
    """`libraryPropertyType`: a part of the version."""
    if kind not in range(len(VERSION)):
        raise failure("INVALID_VALUE", f"there is no library property {kind}")
    put(place, Int, VERSION[kind])


@blas("cublasGetStatusName", "cublasLtGetStatusName")
def name_of_status(machine: Machine, status: int) -> int:
    """A status by name."""
    return lasting_text(status_name(status))


@blas("cublasGetStatusString", "cublasLtGetStatusString")
def text_of_status(machine: Machine, status: int) -> int:
    """What a status says."""
    return lasting_text(status_text(status))
