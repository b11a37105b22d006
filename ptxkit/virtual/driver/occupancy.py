"""Occupancy: by threads, CTAs and shared memory; registers are not known."""

from __future__ import annotations

import ctypes
from math import prod
from typing import Any

from ptxkit.virtual.abi import Int, LaunchConfig, Size, pointed, put
from ptxkit.virtual.driver import driver
from ptxkit.virtual.driver.execution import Attributes
from ptxkit.virtual.gpu.library import function_of
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.module import CLUSTER_WIDTH, MAX_DYNAMIC_SHARED, NON_PORTABLE_CLUSTER, VirtualFunction
from ptxkit.virtual.results import failure


def resident(function: VirtualFunction, threads: int, shared: int) -> int:
    """CTAs of a kernel that a multiprocessor holds at once; 0 where not even one fits."""
    limits = function.device.limits
    if threads < 1:
        raise failure("INVALID_VALUE", f"a CTA of {threads} threads")
    if threads > limits.threads_per_cta or shared > limits.shared_per_cta:
        return 0
    return function.kernel.resident_ctas(threads, shared) // (limits.sm_count or 1)


def _check(flags: int) -> None:
    if flags not in (0, 1):
        raise failure("INVALID_VALUE", f"there are no flags {flags:#x} of occupancy")


@driver("cuOccupancyMaxActiveBlocksPerMultiprocessor", "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags")
def cuOccupancyMaxActiveBlocksPerMultiprocessor(
    machine: Machine, count: int, function: int, threads: int, shared: int, flags: int = 0
) -> None:
    _check(flags)
    put(count, Int, resident(function_of(machine, function), threads, shared))


@driver("cuOccupancyMaxPotentialBlockSize", "cuOccupancyMaxPotentialBlockSizeWithFlags")
def cuOccupancyMaxPotentialBlockSize(
    machine: Machine,
    grid: int,
    block: int,
    function: int,
    shared_of: int,
    shared: int,
    limit: int,
    flags: int = 0,
) -> None:
    _check(flags)
    found = function_of(machine, function)
    if limit < 0:
        raise failure("INVALID_VALUE", f"a CTA of at most {limit} threads")
    per_block = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)(shared_of) if shared_of else None
    most = min(limit or found.attribute(0), found.attribute(0))
    best = (0, 0, 0)
    for threads in range(32, most + 1, 32):
        ctas = resident(found, threads, per_block(threads) if per_block else shared)
        best = max(best, (ctas * threads, threads, ctas))
    put(block, Int, best[1])
    put(grid, Int, best[2] * (found.device.limits.sm_count or 1))


@driver()
def cuOccupancyAvailableDynamicSMemPerBlock(
    machine: Machine, size: int, function: int, blocks: int, threads: int
) -> None:
    found = function_of(machine, function)
    limits = found.device.limits
    if not 1 <= blocks <= resident(found, threads, 0):
        raise failure("INVALID_VALUE", f"{blocks} CTAs of {threads} threads")
    each = limits.shared_per_sm // blocks - limits.shared_reserved - found.attribute(1)
    put(size, Size, max(0, min(each, found.attribute(MAX_DYNAMIC_SHARED))))


@driver()
def cuOccupancyMaxPotentialClusterSize(machine: Machine, size: int, function: int, config: int) -> None:
    if not function:
        raise failure("INVALID_VALUE", "the kernel is null")
    found, given = function_of(machine, function), pointed(LaunchConfig, config)
    if not given.block_x * given.block_y * given.block_z:
        raise failure("INVALID_VALUE", "CTAs of no threads")
    portable = min(8, found.device.limits.cluster)
    put(size, Int, found.device.limits.cluster if found.attribute(NON_PORTABLE_CLUSTER) else portable)


@driver()
def cuOccupancyMaxActiveClusters(machine: Machine, count: int, function: int, config: int) -> None:
    put(count, Int, active_clusters(function_of(machine, function), pointed(LaunchConfig, config)))


def active_clusters(found: VirtualFunction, given: Any) -> int:
    """Clusters of a launch that a device holds at once."""
    cluster = Attributes(given.attributes, given.count).cluster
    if cluster is None:
        width = found.attribute(CLUSTER_WIDTH)
        cluster = (width, found.attribute(12), found.attribute(13)) if width else (1, 1, 1)
    extents = (given.grid_x, given.grid_y, given.grid_z)
    if not all(cluster) or any(grid % side for grid, side in zip(extents, cluster, strict=True)):
        raise failure("INVALID_CLUSTER_SIZE", f"clusters of {cluster} don't divide a grid of {extents}")
    ctas = resident(found, given.block_x * given.block_y * given.block_z, given.shared)
    return ctas * (found.device.limits.sm_count or 1) // prod(cluster)
