"""The driver's bindings, loaded when first needed, and its status codes as diagnostics.

Every call goes through `check`, which turns a status other than `CUDA_SUCCESS` into a `PtxkitError`. A
*sticky* error belongs to the context: after it every call of the process fails in the same way, so the
process can only end (exit code 5).

CUDA driver API, `CUresult`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

from ptxkit.diagnostics import Diagnostic, PtxkitError, error

EMULATOR = 'the emulator needs no GPU: `--device emu`, `open_device("emu")`'

_EMULATE = (
    "run the same inputs on the emulator, `--device emu`, which names the line, the thread and the address, "
    "or under compute-sanitizer, `--sanitize`"
)

# CUresult without `CUDA_ERROR_`: code, what it means, what to do.
_MEANINGS: dict[str, tuple[str, str, str | None]] = {
    "STUB_LIBRARY": ("P701", "the toolkit's stub was loaded in place of the driver's library", EMULATOR),
    "COMPAT_NOT_SUPPORTED_ON_DEVICE": ("P701", "the compatibility library can't drive this GPU", EMULATOR),
    "SYSTEM_DRIVER_MISMATCH": ("P701", "the driver's library and its kernel module are of different versions",
                               "restart the machine, or install one version of both"),
    "OPERATING_SYSTEM": ("P701", "the operating system keeps the driver from working", EMULATOR),
    "NO_DEVICE": ("P702", "the driver finds no GPU", EMULATOR),
    "NOT_INITIALIZED": ("P712", "the process was forked after it had begun to use the driver",
                        "start processes with `multiprocessing`'s `spawn`"),
    "INVALID_DEVICE": ("P702", "there is no GPU of that number", "`ptxkit doctor` lists the GPUs"),
    "DEVICE_NOT_LICENSED": ("P702", "the GPU is not licensed", EMULATOR),
    "DEVICE_UNAVAILABLE": ("P702", "the GPU is busy or set to be used by no or one process", EMULATOR),
    "SYSTEM_NOT_READY": ("P702", "the system is not ready: a driver service does not run", EMULATOR),
    "OUT_OF_MEMORY": ("P705", "out of device memory", "free buffers, or end what else runs on the GPU"),
    "UNSUPPORTED_PTX_VERSION": ("P703", "the driver's compiler is older than the file's `.version`", None),
    "NO_BINARY_FOR_GPU": ("P704", "nothing in the module runs on this GPU",
                          "make machine code for it with `ptxkit asm`, or load PTX"),
    "INVALID_PTX": ("P706", "the driver's compiler refused the PTX", None),
    "INVALID_SOURCE": ("P706", "the driver's compiler refused the source", None),
    "JIT_COMPILER_NOT_FOUND": ("P701", "the driver's PTX compiler, libnvidia-ptxjitcompiler, is missing",
                               "install the whole driver, or load cubins: `ptxkit asm FILE -o OUT.cubin`"),
    "JIT_COMPILATION_DISABLED": ("P706", "CUDA_DISABLE_PTX_JIT forbids the driver to compile PTX",
                                 "unset it, or load cubins: `ptxkit asm FILE -o OUT.cubin`"),
    "SHARED_OBJECT_SYMBOL_NOT_FOUND": ("P709", "the module refers to something undefined", None),
    "INVALID_IMAGE": ("P710", "the file is no module that the driver can load", None),
    "LAUNCH_OUT_OF_RESOURCES": ("P713", "a CTA does not fit a multiprocessor",
                                "use fewer threads, registers or less shared memory"),
    "COOPERATIVE_LAUNCH_TOO_LARGE": ("P516", "more CTAs than the device holds at once", None),
    "INVALID_CLUSTER_SIZE": ("P513", "the device can't hold a cluster of this kernel of this size", None),
    "STREAM_CAPTURE_UNSUPPORTED": ("P715", "this can't be captured into a graph", None),
    "STREAM_CAPTURE_INVALIDATED": ("P715", "an earlier error invalidated the capture", None),
    "STREAM_CAPTURE_ISOLATION": ("P715", "captured work depends on work that is not captured", None),
    "STREAM_CAPTURE_IMPLICIT": ("P715", "the default stream can't be used while a graph is captured",
                                "launch with `stream=graph.stream`; copy before or after"),
    "STREAM_CAPTURE_UNJOINED": ("P715", "a stream that joined the capture was not joined back", None),
    "CAPTURED_EVENT": ("P715", "an event recorded during a capture can't be waited for", None),
    "ILLEGAL_ADDRESS": ("P720", "illegal address", _EMULATE),
    "MISALIGNED_ADDRESS": ("P721", "misaligned address", _EMULATE),
    "LAUNCH_FAILED": ("P722", "`trap`, or a failure that the device does not explain", _EMULATE),
    "ASSERT": ("P723", "an assertion failed", _EMULATE),
    "ILLEGAL_INSTRUCTION": ("P724", "illegal instruction, descriptor or operand", _EMULATE),
    "INVALID_ADDRESS_SPACE": ("P725", "address of another state space", _EMULATE),
    "INVALID_PC": ("P726", "the program counter left the code", _EMULATE),
    "HARDWARE_STACK_ERROR": ("P726", "the call stack overflowed or was destroyed", _EMULATE),
    "LAUNCH_TIMEOUT": ("P727", "stopped by the system after running too long", _EMULATE),
    "ECC_UNCORRECTABLE": ("P728", "uncorrectable memory error", None),
    "NVLINK_UNCORRECTABLE": ("P728", "uncorrectable NVLink error", None),
    "CONTAINED": ("P728", "uncorrectable memory error, contained to this process", None),
    "EXTERNAL_DEVICE": ("P728", "an error on another device that shares memory with this one", None),
    "TENSOR_MEMORY_LEAK": ("P729", "Tensor Memory was not deallocated", _EMULATE),
}  # fmt: skip

OLDEST_DRIVER = 12000
"""The oldest driver, as `cuDriverGetVersion` counts, that has every call we make."""

STICKY = frozenset(f"P{number}" for number in range(720, 730))
"""Codes after which the process can't use the GPU any more."""

_GONE = ("CUDA_ERROR_DEINITIALIZED", "CUDA_ERROR_CONTEXT_IS_DESTROYED")


@cache
def bindings() -> ModuleType:
    """`cuda.bindings.driver`, with the driver initialised.

    Raises:
        PtxkitError: P701, the bindings or the driver are missing or don't work; P702, there is no GPU.
    """
    if sys.platform == "darwin":
        raise error("P701", "there is no NVIDIA driver for macOS", help=EMULATOR)
    try:
        from cuda.bindings import driver
    except ImportError as missing:
        message = f"the driver's Python bindings can't be imported: {missing}"
        raise error("P701", message, help=f"`pip install cuda-bindings`, or {EMULATOR}") from None
    try:
        result = driver.cuInit(0)
    except RuntimeError as missing:
        message = "the NVIDIA driver's library `libcuda` can't be loaded"
        notes = (str(missing).splitlines()[0],)
        raise error("P701", message, notes=notes, help=f"install the NVIDIA driver, or {EMULATOR}") from None
    assert isinstance(driver, ModuleType)
    status = result[0]
    if status:
        raise PtxkitError(_diagnostic(driver, status, "initialise the driver", ()))
    version = check(driver.cuDriverGetVersion(), "ask for the driver's version")
    if version < OLDEST_DRIVER:
        found, oldest = (f"{v // 1000}.{v % 1000 // 10}" for v in (version, OLDEST_DRIVER))
        message = f"expected a driver for CUDA {oldest} or newer, found one for CUDA {found}"
        raise error("P701", message, help=f"update the NVIDIA driver, or {EMULATOR}")
    return driver


def check(result: tuple[Any, ...], doing: str, notes: tuple[str, ...] = ()) -> Any:
    """The value of a driver call: nothing, the one value, or a tuple of several.

    Args:
        result: what the bindings returned, the status first.
        doing: for the message, what the call was to do: `allocate memory`.
        notes: facts to add.

    Raises:
        PtxkitError: P7xx by the status.
    """
    status = result[0]
    if status:
        raise failure(status, doing, notes)
    if len(result) == 2:
        return result[1]
    return result[1:] or None


def call_newer(cuda: str, call: Callable[..., tuple[Any, ...]], *args: Any) -> tuple[Any, ...]:
    """What a call returns that drivers have only since a CUDA version.

    Raises:
        PtxkitError: P701, this driver hasn't it.
    """
    try:
        return tuple(call(*args))
    except RuntimeError as missing:
        message = f"expected a driver for CUDA {cuda} or newer: {missing}"
        raise error("P701", message, help=f"update the NVIDIA driver, or {EMULATOR}") from None


def failure(status: Any, doing: str, notes: tuple[str, ...] = ()) -> PtxkitError:
    """The error of a status other than `CUDA_SUCCESS`, with what the driver's own log says of it."""
    driver = bindings()
    return PtxkitError(_diagnostic(driver, status, doing, (*notes, *_driver_log().new_lines())))


def ignorable(status: Any) -> bool:
    """Whether a failure to give something back means that it is gone already: the context has died."""
    return status.name in _GONE or code_of(status) in STICKY


def code_of(status: Any) -> str:
    """The diagnostic code of a status."""
    return _MEANINGS.get(status.name.removeprefix("CUDA_ERROR_"), ("P712",))[0]


def _diagnostic(driver: ModuleType, status: Any, doing: str, notes: tuple[str, ...]) -> Diagnostic:
    row = _MEANINGS.get(status.name.removeprefix("CUDA_ERROR_"))
    code, meaning, help = row or ("P712", _description(driver, status), None)
    if code in STICKY:
        message = f"the GPU stopped: {meaning} ({status.name})"
        notes = (f"met while trying to {doing}", "this process can't use the GPU any more", *notes)
    else:
        message = f"can't {doing}: {meaning} ({status.name})"
    return Diagnostic(code, message, notes=notes, help=help)


def _description(driver: ModuleType, status: Any) -> str:
    failed, text = driver.cuGetErrorString(status)
    return "no description" if failed or text is None else text.decode(errors="replace")


class _DriverLog:
    """The driver's own log, where driver and bindings have one (CUDA 12.9)."""

    SIZE = 25600
    """Most bytes that the driver keeps."""

    def __init__(self, driver: ModuleType) -> None:
        self._driver = driver
        self._iterator: Any = None
        try:
            status, iterator = driver.cuLogsCurrent(0)
        except RuntimeError:
            return
        if not status:
            self._iterator = iterator

    def new_lines(self) -> tuple[str, ...]:
        """What the driver has logged since the last call, oldest first."""
        if self._iterator is None:
            return ()
        buffer = bytes(self.SIZE)
        status, iterator, size = self._driver.cuLogsDumpToMemory(self._iterator, buffer, self.SIZE, 0)
        if status:
            return ()
        self._iterator = iterator
        lines = buffer[:size].decode(errors="replace").splitlines()
        return tuple(f"driver: {line}" for line in lines if line.strip())


@cache
def _driver_log() -> _DriverLog:
    return _DriverLog(bindings())
