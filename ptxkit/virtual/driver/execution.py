"""Execution control: launches, and what is set of a kernel."""

from __future__ import annotations

from typing import Any

from ptxkit.virtual.abi import (
    ATTRIBUTE_BYTES,
    Int,
    LaunchConfig,
    Pointer,
    get,
    memory,
    put,
    several,
)
from ptxkit.virtual.calling import host_stack
from ptxkit.virtual.driver import driver
from ptxkit.virtual.driver.context import check_choice
from ptxkit.virtual.gpu.library import function_of
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.module import KernelWork, VirtualFunction
from ptxkit.virtual.gpu.work import Dim3
from ptxkit.virtual.results import DriverError, failure

COOPERATIVE, CLUSTER_DIMENSION, PROGRAMMATIC, PREFERRED_CLUSTER = 2, 4, 6, 11
PROGRAMMATIC_EVENT, COMPLETION_EVENT, CLUSTER_POLICY = 7, 12, 5
ATTRIBUTES = 18
"""`CUlaunchAttributeID`, and the last of them."""
HARMLESS = {0, 1, 3, 5, 8, 9, 10, 14, 16}
"""Attributes that change no result: cache windows, policies, priorities, domains, carveouts, .."""
RANGES = {3: range(5), CLUSTER_POLICY: range(3), 10: range(2), 14: range(-1, 101)}
"""What those may be: the policies of waits and of clusters, the memory's domain, the carveout."""
BUFFER_UNIT = 8
"""Structures of parameters end at a multiple of so many bytes."""
BUFFER, BUFFER_SIZE = 1, 2
"""The marks of `extra`, CU_LAUNCH_PARAM_BUFFER_POINTER and _SIZE."""


def arguments(function: VirtualFunction, parameters: int, extra: int) -> bytes:
    """The bytes of the parameter space, from an array of the parameters' addresses or from one buffer.

    Raises:
        DriverError: INVALID_VALUE; LAUNCH_OUT_OF_RESOURCES, the buffer is too large.
    """
    if parameters:
        if extra:
            raise failure("INVALID_VALUE", "parameters are given twice")
        return function.gather(parameters)
    signature = function.kernel.signature
    if not extra:
        if len(signature):
            raise failure(
                "INVALID_VALUE", f"`{function.name}` has parameters, and nothing was given for them"
            )
        return b""
    found: dict[int, int] = {}
    while mark := get(extra, Pointer):
        found[mark] = get(extra + 8, Pointer)
        extra += 16
    if BUFFER not in found or BUFFER_SIZE not in found:
        raise failure("INVALID_VALUE", "expected a buffer of parameters and its size")
    size = get(found[BUFFER_SIZE], Pointer)
    if size < signature.size:
        why = f"`{function.name}` takes {signature.size} bytes of parameters, found {size}"
        raise failure("INVALID_VALUE", why)
    if size > -(-signature.size // BUFFER_UNIT) * BUFFER_UNIT:
        why = f"`{function.name}` takes {signature.size} bytes of parameters, found {size}"
        raise failure("LAUNCH_OUT_OF_RESOURCES", why)
    return memory(found[BUFFER], signature.size)


def _check_preferred(preferred: Dim3, cluster: Dim3 | None) -> None:
    """Refuse a wish for clusters that are no multiples of the others. Raises DriverError."""
    if cluster is None or any(wish % side for wish, side in zip(preferred, cluster, strict=True)):
        raise failure("INVALID_CLUSTER_SIZE", f"preferred clusters {preferred} of clusters {cluster}")


def launch(
    machine: Machine,
    handle: int,
    grid: Dim3,
    block: Dim3,
    shared: int,
    stream: int,
    parameters: int,
    extra: int,
    *,
    cluster: Dim3 | None = None,
    cooperative: bool = False,
    programmatic: bool = False,
    preferred: Dim3 | None = None,
) -> None:
    """Queue a launch; of the clusters that it can do with, that of `preferred` is a wish."""
    context = machine.context()
    place = context.stream(stream)
    function = function_of(machine, handle)
    if cluster is None and function.settings:
        cluster = function.cluster
    requirements = function.kernel.requirements
    own = requirements.required_cluster
    if preferred is not None:
        _check_preferred(preferred, cluster or own)
    if own is not None and requirements.grid_in_clusters:
        grid = grid[0] * own[0], grid[1] * own[1], grid[2] * own[2]
    work = KernelWork(
        function,
        grid,
        block,
        cluster,
        shared,
        arguments(function, parameters, extra),
        cooperative,
        programmatic,
        host_stack(),
    )
    try:
        function.check(work)
    except DriverError:
        if place.capture is not None:
            place.capture.invalidate()
        raise
    place.add(work)


@driver()
def cuLaunchKernel(
    machine: Machine,
    function: int,
    grid_x: int,
    grid_y: int,
    grid_z: int,
    block_x: int,
    block_y: int,
    block_z: int,
    shared: int,
    stream: int,
    parameters: int,
    extra: int,
) -> None:
    grid, block = (grid_x, grid_y, grid_z), (block_x, block_y, block_z)
    launch(machine, function, grid, block, shared, stream, parameters, extra)


@driver()
def cuLaunchCooperativeKernel(machine: Machine, function: int, *given: int) -> None:
    grid, block, (shared, stream, parameters) = given[:3], given[3:6], given[6:]
    launch(machine, function, _dim3(grid), _dim3(block), shared, stream, parameters, 0, cooperative=True)


def _dim3(given: tuple[int, ...]) -> Dim3:
    x, y, z = given
    return x, y, z


def _cluster(address: int) -> Dim3 | None:
    """A cluster, of which zeroes are none. Raises DriverError: INVALID_CLUSTER_SIZE."""
    x, y, z = several(address, Int, 3)
    if not (x and y and z) and (x or y or z):
        raise failure("INVALID_CLUSTER_SIZE", f"a cluster of {x} x {y} x {z}")
    return (x, y, z) if x else None


class Attributes:
    """The attributes of a launch: `CUlaunchAttribute`.

    Raises:
        DriverError: NOT_SUPPORTED, one that would change what happens.
    """

    def __init__(self, address: int, count: int) -> None:
        self.cluster: Dim3 | None = None
        self.preferred: Dim3 | None = None
        self.cooperative = self.programmatic = False
        for at in range(address, address + ATTRIBUTE_BYTES * count, ATTRIBUTE_BYTES):
            identifier, value = get(at, Int), at + 8
            number = get(value, Int)
            if number not in RANGES.get(identifier, (number,)):
                raise failure("INVALID_VALUE", f"the launch attribute {identifier} can't be {number}")
            if identifier == CLUSTER_DIMENSION:
                self.cluster = _cluster(value)
            elif identifier == COOPERATIVE:
                self.cooperative = bool(get(value, Int))
            elif identifier == PROGRAMMATIC:
                self.programmatic = bool(get(value, Int))
            elif identifier == PREFERRED_CLUSTER:
                self.preferred = _cluster(value)
            elif not 0 <= identifier <= ATTRIBUTES:
                raise failure("INVALID_VALUE", f"a launch has no attribute {identifier}")
            elif identifier not in HARMLESS:
                raise failure("NOT_SUPPORTED", f"the launch attribute {identifier}")


def configured(kind: Any, config: int) -> dict[str, Any]:
    """What a structure says of a launch, `CUlaunchConfig` or `cudaLaunchConfig_t`, as `launch` takes it.

    Raises:
        DriverError: INVALID_VALUE, there is none; NOT_SUPPORTED, an attribute.
    """
    if not config:
        raise failure("INVALID_VALUE", "the configuration is null")
    given = kind.from_address(config)
    grid, block = (given.grid_x, given.grid_y, given.grid_z), (given.block_x, given.block_y, given.block_z)
    attributes = vars(Attributes(given.attributes, given.count))
    return {"grid": grid, "block": block, "shared": given.shared, "stream": given.stream, **attributes}


@driver()
def cuLaunchKernelEx(machine: Machine, config: int, function: int, parameters: int, extra: int) -> None:
    launch(machine, function, parameters=parameters, extra=extra, **configured(LaunchConfig, config))


@driver()
def cuFuncGetAttribute(machine: Machine, value: int, attribute: int, function: int) -> None:
    found = function_of(machine, function)
    found.module.context.check()
    put(value, Int, found.attribute(attribute))


@driver()
def cuFuncSetAttribute(machine: Machine, function: int, attribute: int, value: int) -> None:
    function_of(machine, function).set_attribute(attribute, value)


@driver("cuFuncSetCacheConfig", "cuFuncSetSharedMemConfig")
def cuFuncSetCacheConfig(machine: Machine, function: int, config: int) -> None:
    function_of(machine, function)
    check_choice(config)
