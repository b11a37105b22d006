"""Error codes of the driver and the runtime: numbers, names and what they say. Driver API, chapter "Data
types"."""

from __future__ import annotations

from functools import cache

from ptxkit.virtual.symbols import results

TEXTS = {
    0: "no error",
    1: "invalid argument",
    2: "out of memory",
    3: "initialization error",
    4: "driver shutting down",
    98: "invalid device function",
    9: "invalid configuration argument",
    100: "no CUDA-capable device is detected",
    101: "invalid device ordinal",
    200: "device kernel image is invalid",
    201: "invalid device context",
    209: "no kernel image is available for execution on the device",
    217: "peer access is not supported between these two devices",
    218: "a PTX JIT compilation failed",
    222: "the provided PTX was compiled with an unsupported toolchain.",
    400: "invalid resource handle",
    401: "the operation cannot be performed in the present state",
    500: "named symbol not found",
    600: "device not ready",
    700: "an illegal memory access was encountered",
    701: "too many resources requested for launch",
    702: "the launch timed out and was terminated",
    704: "peer access is already enabled",
    705: "peer access has not been enabled",
    708: "cannot set while device is active in this process",
    709: "context is destroyed",
    710: "device-side assert triggered",
    712: "part or all of the requested memory range is already mapped",
    713: "pointer does not correspond to a registered memory region",
    714: "hardware stack error",
    715: "an illegal instruction was encountered",
    716: "misaligned address",
    717: "operation not supported on global/shared address space",
    718: "invalid program counter",
    719: "unspecified launch failure",
    720: "too many blocks in cooperative launch",
    800: "operation not permitted",
    801: "operation not supported",
    802: "system not yet initialized",
    900: "operation not permitted when stream is capturing",
    901: "operation failed due to a previous error during capture",
    903: "capture sequence did not begin in this stream",
    904: "capturing stream has unjoined work",
    905: "dependency created on uncaptured work in another stream",
    906: "operation would make the legacy stream depend on a capturing blocking stream",
    907: "operation not permitted on an event last recorded in a capturing stream",
    908: "attempt to terminate a thread-local capture sequence from another thread",
    910: "the graph update was not performed because it included changes which violated constraints "
    "specific to instantiated graph update",
    912: "the requested cluster size is invalid",
    999: "unknown error",
}
"""What the driver says of its codes; of the others their name in words."""


class DriverError(Exception):
    """What a function of the driver returns.

    Attributes:
        code: the number.
        why: what was wrong, for the report; empty where the code says it all.
    """

    def __init__(self, code: int, why: str = "") -> None:
        super().__init__(code, why)
        self.code = code
        self.why = why


def failure(name: str, why: str = "") -> DriverError:
    """A `DriverError` by its name without `CUDA_ERROR_`, ready to raise."""
    return DriverError(code(name), why)


@cache
def code(name: str) -> int:
    """The number of `CUDA_ERROR_` and a name."""
    return next(number for number, (driver, _) in results().items() if driver == f"CUDA_ERROR_{name}")


def describe(number: int) -> str:
    """What an error code says."""
    if number in TEXTS:
        return TEXTS[number]
    driver, runtime = results()[number]
    words = driver.removeprefix("CUDA_ERROR_") if driver else (runtime or "").removeprefix("cudaError")
    return words.replace("_", " ").lower()
