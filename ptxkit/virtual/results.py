"""Error codes of the driver and the runtime: numbers, names and what they say. Driver API, chapter "Data
types"."""

from __future__ import annotations

from functools import cache

from ptxkit.virtual.symbols import results


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
    return next(number for number, (driver, *_) in results().items() if driver == f"CUDA_ERROR_{name}")


def describe(number: int) -> str:
    """What the driver says of an error code; of those that it says nothing of, the name in words."""
    driver, runtime, text = results()[number]
    if text:
        return text
    words = driver.removeprefix("CUDA_ERROR_") if driver else (runtime or "").removeprefix("cudaError")
    return words.replace("_", " ").lower()
