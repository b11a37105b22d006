"""Lanes of a warp that see one another's values. PTX ISA 9.7.9.6, 9.7.13.9-14."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.emulator.code import Computation
from ptxkit.emulator.jit.extents import Extent
from ptxkit.emulator.jit.lowering import Across, Exchanges
from ptxkit.emulator.jit.words import Words
from ptxkit.emulator.operations.warp import source_lanes
from ptxkit.emulator.values import WARP
from ptxkit.isa.modifiers import MemoryOperation, Mode

movement, synchronization = Exchanges("movement"), Exchanges("synchronization")


@movement("shfl")
def shfl(computation: Computation) -> Across | None:
    """PTX ISA 9.7.9.6."""
    mode = computation.form["mode"]
    if computation.operation.results == ("pred",):
        return Across(lambda w, b, c: _source_lanes(w, mode, b, c)[1], _between_lanes, (0, 1))
    if computation.sources[0].slot is None or computation.sources[0].convert is not None:
        return None

    def lower(w: Words, a: Any, b: Any, c: Any) -> Any:
        lanes = _source_lanes(w, mode, b, c)[0]
        return w.permuted(a, lanes) if isinstance(lanes, list) else w.gathered(a, lanes)

    def extent(a: Extent, b: Extent, c: Extent) -> Extent:
        return a | b | c if a & Extent.LANES else a

    return Across(lower, extent, (1, 2), moves=True)


def _between_lanes(b: Extent, c: Extent) -> Extent:
    return b | c | Extent.LANES


def _source_lanes(w: Words, mode: Mode, b: Any, c: Any) -> tuple[Any, Any]:
    """`operations.warp.source_lanes`: the lanes as a list where they are known, else in words."""
    known = w.known(b), w.known(c)
    if known[0] is not None and known[1] is not None:
        lanes, valid = source_lanes(mode, np.uint32(known[0]), np.uint32(known[1]))
        return lanes[0].tolist(), w.each(1, valid[0].tolist())
    lane = w.each(32, [*range(WARP)])
    offset, clamp, segment = w.mask(b, 31), w.mask(c, 31), w.mask(w.right(c, 8), 31)
    low = w.both(lane, segment)
    high = w.either(low, w.both(clamp, w.invert(segment)))
    wanted = {
        Mode.UP: lambda: w.subtract(lane, offset),
        Mode.DOWN: lambda: w.add(lane, offset),
        Mode.BFLY: lambda: w.differ(lane, offset),
        Mode.IDX: lambda: w.either(low, w.both(offset, w.invert(segment))),
    }[mode]()
    valid = w.compare(">=" if mode is Mode.UP else "<=", wanted, high, signed=True)
    return w.choose(valid, wanted, lane), valid


@synchronization("vote")
def vote(computation: Computation) -> Across | None:
    """PTX ISA 9.7.13.9."""
    mode = computation.form["mode"]

    def lower(w: Words, a: Any) -> Any:
        true = w.ballot(a)
        single = w.single
        none, every = (single.compare("==", true, single.constant(32, bits)) for bits in (0, -1))
        if mode is None:
            return true
        if mode is Mode.ANY:
            return single.invert(none)
        return every if mode is Mode.ALL else single.either(none, every)

    return Across(lower, _of_rows)


REDUCTIONS = {
    MemoryOperation.ADD: "add",
    MemoryOperation.AND: "and",
    MemoryOperation.OR: "or",
    MemoryOperation.XOR: "xor",
    MemoryOperation.MIN: "min",
    MemoryOperation.MAX: "max",
}


@synchronization("redux")
def redux(computation: Computation) -> Across | None:
    """PTX ISA 9.7.13.13; of integers."""
    (kind,), name = computation.operation.results, REDUCTIONS[computation.form["op"]]
    if kind.startswith("f"):
        return None
    if name in ("min", "max"):
        name = ("s" if kind.startswith("s") else "u") + name
    return Across(lambda w, a: w.reduced(name, a), _of_rows)


def _of_rows(*sources: Extent) -> Extent:
    return Extent.ROWS
