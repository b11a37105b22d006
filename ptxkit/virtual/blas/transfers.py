"""Vectors and matrices between host and device: copies of rows. cuBLAS's manual, `cublasSetVector` to
`cublasGetMatrixAsync`."""

from __future__ import annotations

from ptxkit.virtual.blas import blas
from ptxkit.virtual.driver.copies import checked, submit
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.work import Copy
from ptxkit.virtual.results import DriverError, failure
from ptxkit.virtual.runtime.state import state


def _transfer(
    machine: Machine,
    to_host: bool,
    lines: tuple[int, int],
    src: tuple[int, int],
    dst: tuple[int, int],
    stream: int | None,
) -> None:
    """Copy lines.

    Args:
        machine: where.
        to_host: whether the host has the destination, not the source.
        lines: bytes of a line, and how many there are.
        src, dst: the address of the first, and the bytes from one to the next.
        stream: where to queue it; None: the call waits for it.

    Raises:
        DriverError: MAP_FAILED, some of it is not in an allocation of a device.
    """
    context = state.context(machine)
    width, height = lines
    copy = Copy(machine, dst[0], src[0], width, height, 1, dst[1], src[1])
    if width == src[1] == dst[1]:
        copy = Copy(machine, dst[0], src[0], width * height)
    try:
        checked(machine, copy, to_host, not to_host)
    except DriverError as problem:
        raise failure("MAP_FAILED", problem.why) from None
    submit(machine, copy, context.stream(stream or 0), stream is None)


def _check(size: int, **given: int) -> None:
    if size <= 0 or any(value < (0 if name in ("n", "rows", "cols") else 1) for name, value in given.items()):
        told = ", ".join(f"{name} {value}" for name, value in {"elemSize": size, **given}.items())
        raise failure("INVALID_VALUE", f"sizes and increments must not be negative or 0, found {told}")


def _register(name: str, to_host: bool) -> None:
    def vector(
        machine: Machine, n: int, size: int, x: int, incx: int, y: int, incy: int, stream: int | None = None
    ) -> None:
        _check(size, n=n, incx=incx, incy=incy)
        _transfer(machine, to_host, (size, n), (x, incx * size), (y, incy * size), stream)

    def matrix(
        machine: Machine,
        rows: int,
        columns: int,
        size: int,
        a: int,
        lda: int,
        b: int,
        ldb: int,
        stream: int | None = None,
    ) -> None:
        _check(size, rows=rows, cols=columns, lda=lda, ldb=ldb)
        if rows > min(lda, ldb):
            raise failure("INVALID_VALUE", f"columns of {rows} elements are {min(lda, ldb)} apart")
        _transfer(machine, to_host, (rows * size, columns), (a, lda * size), (b, ldb * size), stream)

    for each in ("", "_64", "Async", "Async_64"):
        blas(f"cublas{name}Vector{each}")(vector)
        blas(f"cublas{name}Matrix{each}")(matrix)


_register("Set", to_host=False)
_register("Get", to_host=True)
