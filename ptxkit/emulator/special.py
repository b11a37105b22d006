"""The values of the special registers, for all rows of a batch; clocks, for a launch. PTX ISA chapter 10."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from ptxkit.emulator.addresses import COOPERATIVE_GROUPS
from ptxkit.emulator.ctas import Ctas
from ptxkit.emulator.faults import Dim3
from ptxkit.emulator.launch_state import LaunchState
from ptxkit.emulator.values import WARP

Value = Callable[["Ctas"], Any]


class BatchShape(NamedTuple):
    """What values hang on that are the same for all batches of a launch but the last: threads of a CTA along
    each axis, its warps, how many CTAs."""

    block: Dim3
    warps_per_cta: int
    ctas: int

    @property
    def rows(self) -> int:
        """Warps of all CTAs."""
        return self.warps_per_cta * self.ctas


def shape_of(batch: Ctas) -> BatchShape:
    """That of a batch."""
    return BatchShape(batch.launch.shape.block, batch.warps_per_cta, len(batch.ctas))


def _u32(number: int) -> Any:
    return np.uint32(number)


def _lane(shape: BatchShape) -> Any:
    return np.arange(WARP, dtype=np.uint32).reshape(1, WARP)


def _warp(shape: BatchShape) -> Any:
    if shape.warps_per_cta == 1:
        return _u32(0)
    return np.tile(np.arange(shape.warps_per_cta, dtype=np.uint32), shape.ctas).reshape(-1, 1)


def _thread_number(shape: BatchShape) -> Any:
    """The linear number of each thread in its CTA."""
    return _warp(shape) * np.uint32(WARP) + _lane(shape)


def _total_shared(batch: Ctas) -> Any:
    """In units of 128 bytes, of 256 up to sm_75 (10.30)."""
    unit = 256 if batch.launch.program.capability < (8, 0) else 128
    return _u32(-(-batch.launch.shared.used // unit) * unit)


def _tid(axis: int, shape: BatchShape) -> Any:
    x, y, z = shape.block
    if (x, y, z)[axis] == 1:
        return _u32(0)
    number = _thread_number(shape)
    if axis == 0:
        return number if y * z == 1 else number % np.uint32(x)
    if axis == 1:
        return number // np.uint32(x) if z == 1 else number // np.uint32(x) % np.uint32(y)
    return number // np.uint32(x * y)


def _by_cta(batch: Ctas, numbers: np.ndarray) -> Any:
    """A number for each CTA of the batch, as a scalar where all are the same, else a column of the rows."""
    if (numbers == numbers[0]).all():
        return _u32(int(numbers[0]))
    return np.repeat(numbers.astype(np.uint32), batch.warps_per_cta).reshape(-1, 1)


def _ctaids(batch: Ctas, axis: int) -> np.ndarray:
    x, y, _ = batch.launch.shape.grid
    numbers: np.ndarray = (batch.ctas % x, batch.ctas // x % y, batch.ctas // (x * y))[axis]
    return numbers


def _cta_memory(batch: Ctas) -> Any:
    """The address of each CTA's slice of the memory that `.minperctamemory` asks for (10.34)."""
    addresses = batch.launch.cta_memory + batch.ctas * batch.launch.program.cta_memory
    return np.repeat(addresses.astype(np.uint64), batch.warps_per_cta).reshape(-1, 1)


def _lane_mask(function: Callable[[np.ndarray], np.ndarray]) -> Value:
    bit = np.uint64(1) << np.arange(WARP, dtype=np.uint64)
    mask = (function(bit) & np.uint64(0xFFFF_FFFF)).astype(np.uint32).reshape(1, WARP)
    return lambda batch: mask


_ONE = np.uint64(1)


def _first_records(batch: Ctas) -> Any:
    """For the first thread of each warp its CTA's number and its own in that, as race records have them."""
    thread = np.arange(0, batch.warps_per_cta * WARP, WARP, dtype=np.uint64).reshape(1, -1)
    numbers = (batch.ctas + batch.launch.first_cta).astype(np.uint64).reshape(-1, 1)
    return ((numbers & np.uint64((1 << 24) - 1)) << np.uint64(10) | thread).reshape(-1, 1)


def _records(batch: Ctas) -> Any:
    """The same for each thread."""
    return _first_records(batch) | np.arange(WARP, dtype=np.uint64)


OF_SHAPE: dict[str, Callable[[BatchShape], Any]] = {
    **{f"%tid.{'xyz'[i]}": partial(_tid, i) for i in range(3)},
    "%laneid": _lane,
    "%warpid": _warp,
    # The emulator's own: each row's CTA in the batch, its first thread's number in the CTA, and each thread's
    # number there and in the batch.
    "cta": lambda shape: np.repeat(np.arange(shape.ctas), shape.warps_per_cta).reshape(-1, 1),
    "first slot": lambda shape: np.tile(
        np.arange(0, shape.warps_per_cta * WARP, WARP, dtype=np.uint32), shape.ctas
    ).reshape(-1, 1),
    "own slot": lambda shape: np.tile(
        np.arange(shape.warps_per_cta * WARP, dtype=np.uint32), shape.ctas
    ).reshape(-1, WARP),
    "thread": lambda shape: np.arange(shape.rows * WARP).reshape(-1, WARP),
}
"""By name: what computes a value that hangs on the batch's shape alone."""


@lru_cache(maxsize=32)
def _of_shape(name: str, shape: BatchShape) -> Any:
    """Such a value. It outlasts the batch: the next ones, and those of the next launch, need the same. Nobody
    writes into it."""
    return OF_SHAPE[name](shape)


BY_AXIS: dict[str, Callable[[int, Ctas], Any]] = {
    "tid": lambda axis, batch: _tid(axis, shape_of(batch)),
    "ntid": lambda axis, batch: _u32(batch.launch.shape.block[axis]),
    "ctaid": lambda axis, batch: _by_cta(batch, _ctaids(batch, axis)),
    "nctaid": lambda axis, batch: _u32(batch.launch.shape.grid[axis]),
    "clusterid": lambda axis, batch: _by_cta(batch, _ctaids(batch, axis) // batch.launch.shape.cluster[axis]),
    "nclusterid": lambda axis, batch: _u32(batch.launch.shape.grid[axis] // batch.launch.shape.cluster[axis]),
    "cluster_ctaid": lambda axis, batch: _by_cta(
        batch, _ctaids(batch, axis) % batch.launch.shape.cluster[axis]
    ),
    "cluster_nctaid": lambda axis, batch: _u32(batch.launch.shape.cluster[axis]),
}
"""Registers that are vectors, by name: what computes a component; `.w` is 0."""

SPECIAL: dict[str, Value] = {
    **{f"%{name}.{'xyz'[i]}": partial(value, i) for name, value in BY_AXIS.items() for i in range(3)},
    **{f"%{name}.w": lambda batch: _u32(0) for name in BY_AXIS},
    **{name: partial(lambda name, batch: _of_shape(name, shape_of(batch)), name) for name in OF_SHAPE},
    "%nwarpid": lambda batch: _u32(batch.launch.limits.warps_per_sm),
    "%smid": lambda batch: _by_cta(batch, batch.ctas % batch.launch.sm_count),
    "%nsmid": lambda batch: _u32(batch.launch.sm_count),
    "%gridid": lambda batch: np.uint64(batch.launch.number),
    "%lanemask_eq": _lane_mask(lambda bit: bit),
    "%lanemask_le": _lane_mask(lambda bit: (bit << _ONE) - _ONE),
    "%lanemask_lt": _lane_mask(lambda bit: bit - _ONE),
    "%lanemask_ge": _lane_mask(lambda bit: ~(bit - _ONE)),
    "%lanemask_gt": _lane_mask(lambda bit: ~((bit << _ONE) - _ONE)),
    "%total_smem_size": _total_shared,
    "%aggr_smem_size": lambda batch: _u32(batch.launch.shared.used + batch.launch.limits.shared_reserved),
    "%dynamic_smem_size": lambda batch: _u32(batch.launch.shared.dynamic),
    **{f"%envreg{i}": lambda batch: _u32(0) for i in range(32)},
    # Where cooperative groups find the workspace of a cooperative launch.
    "%envreg1": lambda batch: _u32(batch.launch.workspace >> 32),
    "%envreg2": lambda batch: _u32(batch.launch.workspace & 0xFFFF_FFFF),
    "%reserved_smem_offset_begin": lambda batch: _u32(0),
    "%reserved_smem_offset_end": lambda batch: _u32(batch.launch.limits.shared_reserved),
    "%reserved_smem_offset_cap": lambda batch: _u32(batch.launch.limits.shared_reserved),
    "%reserved_smem_offset_0": lambda batch: _u32(0),
    "%reserved_smem_offset_1": lambda batch: _u32(COOPERATIVE_GROUPS),
    **{f"%pm{i}": lambda batch: _u32(0) for i in range(8)},
    **{f"%pm{i}_64": lambda batch: np.uint64(0) for i in range(8)},
    "%is_explicit_cluster": lambda batch: np.bool_(batch.launch.shape.clustered),
    "%cluster_ctarank": lambda batch: _by_cta(batch, np.arange(len(batch.ctas)) % batch.cluster),
    "%cluster_nctarank": lambda batch: _u32(batch.cluster),
    "%current_graph_exec": lambda batch: np.uint64(0),
    "%perctamemoryoffset": _cta_memory,
    "%perctamemorysize": lambda batch: _u32(batch.launch.program.cta_memory),
    # The machine is one locality domain, and has no multiprocessors beyond those it guarantees.
    "%locality_domain_id": lambda batch: _u32(0),
    "%locality_domain_supplemental_sm": lambda batch: _u32(0),
    # The emulator's own, beside `cta`, `own slot` and `thread`: threads' numbers for race records.
    "own record": _records,
    "first record": _first_records,
}
"""By name: what computes the value for a batch, of a shape that broadcasts against (rows, 32)."""


def value_of(batch: Ctas, name: str) -> Any:
    """A special register, or another value that hangs on the row and lane alone."""
    try:
        return batch.values[name]
    except KeyError:
        value = batch.values[name] = SPECIAL[name](batch)
        return value


def _ticks(launch: LaunchState) -> int:
    """Time as a kernel sees it: it passes with what the launch has executed, and with every look at it."""
    launch.clock += 32
    return clocks(launch)


def clocks(launch: LaunchState) -> int:
    """What a launch has counted of it so far."""
    return launch.clock + launch.counts.instructions // (WARP * launch.sm_count)


VARYING: dict[str, Callable[[LaunchState], Any]] = {
    "%clock": lambda launch: np.uint32(_ticks(launch) & 0xFFFF_FFFF),
    "%clock_hi": lambda launch: np.uint32(_ticks(launch) >> 32),
    "%clock64": lambda launch: np.uint64(_ticks(launch)),
    "%globaltimer": lambda launch: np.uint64(START_OF_TIME + _ticks(launch)),
    "%globaltimer_lo": lambda launch: np.uint32((START_OF_TIME + _ticks(launch)) & 0xFFFF_FFFF),
    "%globaltimer_hi": lambda launch: np.uint32((START_OF_TIME + _ticks(launch)) >> 32),
}
"""Special registers that are read anew each time: what computes the value for a launch."""
START_OF_TIME = 1_700_000_000 * 10**9
"""`%globaltimer` at the first launch: nanoseconds, and the same in every run."""
