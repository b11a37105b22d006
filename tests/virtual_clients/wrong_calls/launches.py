"""Launches: the limits of grids, CTAs, clusters and shared memory, and parameters that are missing."""

from __future__ import annotations

from typing import Any

from bindings import check
from cuda.bindings import driver as cuda
from kernels import begin

from wrong_calls.fixtures import Call, Fixtures, halves, misused, place, raw

__all__ = ["CALLS", "KERNELS", "begin", "kernel"]

KERNELS = b"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry plain(.param .u64 a, .param .u64 b) { ret; }
.visible .entry required(.param .u64 a, .param .u64 b) .reqntid 64, 1, 1 { ret; }
.visible .entry most(.param .u64 a, .param .u64 b) .maxntid 64, 1, 1 { ret; }
.visible .entry clustered(.param .u64 a, .param .u64 b) .explicitcluster .reqnctapercluster 2, 1, 1 { ret; }
.visible .entry any_cluster(.param .u64 a, .param .u64 b) .explicitcluster { ret; }
.visible .entry without() { ret; }
"""
"""Kernels that do nothing, so that a launch which is accepted does no harm."""

IGNORE, WINDOW, COOPERATIVE, SYNCHRONIZATION, CLUSTER, POLICY, PROGRAMMATIC = range(7)
PROGRAMMATIC_EVENT, PRIORITY = 7, 8
UPDATABLE, SHARED_CARVEOUT = 13, 14


def kernel(name: bytes) -> Any:
    """One of the kernels."""
    return check(cuda.cuModuleGetFunction(check(cuda.cuModuleLoadData(KERNELS)), name))


def _launch(
    f: Fixtures,
    name: bytes = b"plain",
    grid: tuple[int, int, int] = (1, 1, 1),
    block: tuple[int, int, int] = (32, 1, 1),
    shared: int = 0,
    stream: Any = 0,
    parameters: int | None = None,
) -> tuple[int]:
    given = f.parameters if parameters is None else parameters
    return raw("cuLaunchKernel", kernel(name), *grid, *block, shared, stream, given, 0)


def _cooperative(
    f: Fixtures, grid: int, block: int, name: bytes = b"plain", stream: Any = 0, shared: int = 0
) -> tuple[int]:
    return raw(
        "cuLaunchCooperativeKernel",
        kernel(name),
        *(grid, 1, 1, block, 1, 1, shared, stream, f.parameters),
    )


def _configured(
    f: Fixtures,
    *attributes: tuple[int, ...],
    name: bytes = b"plain",
    grid: int = 4,
    count: int | None = None,
    stream: Any = 0,
    allowed: bool = False,
) -> tuple[int]:
    """A launch by a configuration with attributes, each a number and the words of its value."""
    words: list[int] = []
    for number, *value in attributes:
        words += [number, 0, *value, *[0] * (16 - len(value))]
    at = place(*words) if attributes else 0
    handle = int(stream)
    number = len(attributes) if count is None else count
    configuration = place(
        *(grid, 1, 1, 32, 1, 1, 0, 0),
        *(*halves(handle), *halves(at), number, 0),
    )
    function = kernel(name)
    if allowed:
        check(cuda.cuFuncSetAttribute(function, cuda.CUfunction_attribute(14), 1))
    return raw("cuLaunchKernelEx", configuration, function, f.parameters, 0)


def _with_buffer(size: int) -> tuple[int]:
    """A launch whose parameters are a buffer of so many bytes; it takes 16."""
    buffer, length = place(), place(size)
    extra = place(
        *(1, 0, *halves(buffer), 2, 0, *halves(length), 0, 0),
    )
    return raw("cuLaunchKernel", kernel(b"plain"), 1, 1, 1, 32, 1, 1, 0, 0, 0, extra)


def _both(f: Fixtures) -> tuple[int]:
    """A launch with parameters and with a buffer of them."""
    buffer, length = place(), place(16)
    extra = place(
        *(1, 0, *halves(buffer), 2, 0, *halves(length), 0, 0),
    )
    return raw("cuLaunchKernel", kernel(b"plain"), 1, 1, 1, 32, 1, 1, 0, 0, f.parameters, extra)


CALLS: dict[str, Call] = {
    "an empty grid": lambda f: _launch(f, grid=(0, 1, 1)),
    "a grid of no rows": lambda f: _launch(f, grid=(1, 0, 1)),
    "a grid of no planes": lambda f: _launch(f, grid=(1, 1, 0)),
    "a grid that is too wide": lambda f: _launch(f, grid=(1 << 31, 1, 1)),
    "a grid of too many rows": lambda f: _launch(f, grid=(1, 65536, 1)),
    "a grid of too many planes": lambda f: _launch(f, grid=(1, 1, 65536)),
    "an empty CTA": lambda f: _launch(f, block=(0, 1, 1)),
    "a CTA of no rows": lambda f: _launch(f, block=(32, 0, 1)),
    "a CTA of no planes": lambda f: _launch(f, block=(32, 1, 0)),
    "a CTA of too many threads": lambda f: _launch(f, block=(1025, 1, 1)),
    "a CTA of too many threads in all": lambda f: _launch(f, block=(32, 32, 2)),
    "a CTA of too many planes": lambda f: _launch(f, block=(1, 1, 65)),
    "more threads than .maxntid": lambda f: _launch(f, b"most", block=(128, 1, 1)),
    "fewer threads than .reqntid": lambda f: _launch(f, b"required", block=(32, 1, 1)),
    "more threads than .reqntid": lambda f: _launch(f, b"required", block=(128, 1, 1)),
    "shared memory without opting in": lambda f: _launch(f, shared=48 * 1024 + 1),
    "too much shared memory": lambda f: _launch(f, shared=1 << 20),
    "as much shared memory as can be said": lambda f: _launch(f, shared=(1 << 32) - 1),
    "no kernel": lambda f: raw("cuLaunchKernel", 0, 1, 1, 1, 32, 1, 1, 0, 0, f.parameters, 0),
    "a kernel whose module is gone": lambda f: raw(
        "cuLaunchKernel", f.gone_function, 1, 1, 1, 32, 1, 1, 0, 0, f.parameters, 0
    ),
    "a module as a kernel": lambda f: raw(
        "cuLaunchKernel", misused(f.module), 1, 1, 1, 32, 1, 1, 0, 0, f.parameters, 0
    ),
    "a destroyed stream": lambda f: _launch(f, stream=f.destroyed_stream),
    "an event as a stream": lambda f: _launch(f, stream=misused(f.event)),
    "no parameters": lambda f: _launch(f, parameters=0),
    "no parameters for a kernel without": lambda f: _launch(f, b"without", parameters=0),
    "a buffer of too few parameters": lambda _: _with_buffer(8),
    "a buffer of no parameters": lambda _: _with_buffer(0),
    "a buffer of too many parameters": lambda _: _with_buffer(24),
    "parameters twice": _both,
    "a cluster's kernel by a grid that it does not divide": lambda f: _launch(
        f, b"clustered", grid=(3, 1, 1)
    ),
    "a kernel that needs a cluster, without": lambda f: _launch(f, b"any_cluster", grid=(4, 1, 1)),
    "more CTAs at once than fit": lambda f: _cooperative(f, 1 << 20, 1024),
    "more CTAs at once than a grid has": lambda f: _cooperative(f, 1 << 31, 32),
    "no CTAs at once": lambda f: _cooperative(f, 0, 32),
    "too many threads at once": lambda f: _cooperative(f, 1, 2048),
    "too much shared memory at once": lambda f: _cooperative(f, 1, 32, shared=1 << 20),
    "CTAs at once in a destroyed stream": lambda f: _cooperative(f, 1, 32, stream=f.destroyed_stream),
    "no configuration": lambda f: raw("cuLaunchKernelEx", 0, kernel(b"plain"), f.parameters, 0),
    "a configuration for no kernel": lambda f: raw("cuLaunchKernelEx", place(1, 1, 1, 1, 1, 1), 0, 0, 0),
    "a configuration of zeroes": lambda f: raw(
        "cuLaunchKernelEx", place(), kernel(b"plain"), f.parameters, 0
    ),
    "an attribute that there is not": lambda f: _configured(f, (777, 1)),
    "attributes, from nowhere": lambda f: _configured(f, count=1),
    "a cluster that does not divide the grid": lambda f: _configured(f, (CLUSTER, 3, 1, 1)),
    "a cluster of 0": lambda f: _configured(f, (CLUSTER, 0, 1, 1)),
    "a cluster of zeroes": lambda f: _configured(f, (CLUSTER, 0, 0, 0)),
    "a cluster of 16 that is not allowed": lambda f: _configured(f, (CLUSTER, 16, 1, 1), grid=16),
    "a cluster of 32": lambda f: _configured(f, (CLUSTER, 32, 1, 1), grid=32, allowed=True),
    "a cluster of 2 for a kernel without": lambda f: _configured(f, (CLUSTER, 2, 1, 1)),
    "a cluster of 4 for a kernel of 2": lambda f: _configured(f, (CLUSTER, 4, 1, 1), name=b"clustered"),
    "a cluster twice": lambda f: _configured(f, (CLUSTER, 2, 1, 1), (CLUSTER, 4, 1, 1)),
    "a policy of clusters that there is not": lambda f: _configured(f, (CLUSTER, 2, 1, 1), (POLICY, 77)),
    "a preferred cluster without one": lambda f: _configured(f, (11, 4, 1, 1)),
    "a preferred cluster that is no multiple": lambda f: _configured(
        f, (CLUSTER, 2, 1, 1), (11, 3, 1, 1), grid=12
    ),
    "cooperative and programmatic": lambda f: _configured(f, (COOPERATIVE, 1), (PROGRAMMATIC, 1)),
    "programmatic, 77": lambda f: _configured(f, (PROGRAMMATIC, 77)),
    "a priority out of range": lambda f: _configured(f, (PRIORITY, 77)),
    "a policy of synchronization that there is not": lambda f: _configured(f, (SYNCHRONIZATION, 77)),
    "a programmatic event that is none": lambda f: _configured(f, (PROGRAMMATIC_EVENT, 0, 0, 0, 0)),
    "a carveout of 1000 percent": lambda f: _configured(f, (SHARED_CARVEOUT, 1000)),
    "updatable, outside of a capture": lambda f: _configured(f, (UPDATABLE, 1)),
    "a memory domain that there is not": lambda f: _configured(f, (10, 77)),
    "a configuration of a destroyed stream": lambda f: _configured(f, stream=f.destroyed_stream),
}
