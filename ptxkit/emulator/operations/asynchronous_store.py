"""Asynchronous stores and reductions: `st.async`, `red.async`. PTX ISA 9.7.9.12, 9.7.13.7."""

from __future__ import annotations

import numpy as np

from ptxkit.diagnostics import counted
from ptxkit.dtypes import DType
from ptxkit.emulator.asynchronous.operation import AsyncOperation, Transaction
from ptxkit.emulator.asynchronous.region import Data, Region, load, save
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.issuers import AddressResolver, Issuers, by_thread
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operation import Unsupported
from ptxkit.emulator.operations.atomic import atom
from ptxkit.emulator.operations.load_store import st
from ptxkit.emulator.operations.mbarrier import mbarrier_at
from ptxkit.emulator.reductions import combiner
from ptxkit.emulator.values import RAW, dtype_of, viewed
from ptxkit.isa.modifiers import MemoryOperation, StateSpace

store, reduction, later = Effects("movement"), Effects("synchronization"), Effects("memory")

COMPLETES = "mbarrier::complete_tx::bytes"


@later("st.async")
@store("st.async")
def st_async(instruction: ScopedInstruction) -> Effect:
    """`st.async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes{.vec}.type [a], b, [mbar]`.

    `st.async.release.scope.global`, which has no mbarrier, is a release store: no thread can tell
    when it happens.
    """
    return _to_cluster(instruction) if instruction[COMPLETES] else st(instruction)


@reduction("red.async")
def red_async(instruction: ScopedInstruction) -> Effect:
    """`red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.op.type [a], b, [mbar]`."""
    return _to_cluster(instruction) if instruction[COMPLETES] else atom(instruction)


def _nothing(instruction: ScopedInstruction) -> Effect:
    """The form without an mbarrier, which the manual lacks: ptxas 13.0 makes no machine code of it."""
    site = instruction.site

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        message = f"`{site.instruction.spelling}` without an mbarrier does nothing: ptxas leaves it out"
        lane_set.launch.warn("P222", message, site)

    return Effect(by_thread(step))


def _to_cluster(instruction: ScopedInstruction) -> Effect:
    """Data of registers goes to shared memory of the cluster, its bytes to an mbarrier there."""
    kind, operator, stored = instruction.the(DType), instruction.find(MemoryOperation), instruction.parts("b")
    if "mbar" not in instruction.operands:
        return _nothing(instruction)
    if len(stored) != (instruction["vec"] or 1):
        # ptxas stores as many registers as `.vec` says, the named ones and whatever stands behind them.
        raise Unsupported(f"{counted(len(stored), 'register')} where `.vec` says {instruction['vec'] or 1}")
    sources = [instruction.source(part, f"b{kind.bits}") for part in stored]
    size = kind.bytes * len(sources)
    to = AddressResolver(instruction.address("a"), StateSpace.SHARED_CLUSTER, size, instruction.site)
    mbarrier = mbarrier_at(instruction, "mbar", StateSpace.SHARED_CLUSTER)
    combine = combiner(operator, kind, False) if operator is not None else None
    program = instruction.scope.program
    program.asynchronous = True
    program.touches("shared", kind.bytes)
    raw, dtype, site, wide = RAW[kind.bits], dtype_of(kind.name), instruction.site, kind.bits == 128

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        batch = lane_set.batch
        launch = batch.launch
        places = to(lane_set, issuers)
        slots = batch.mbarriers.find_beside(issuers, mbarrier(lane_set, issuers), places, site)
        if combine is not None:
            own = ~issuers.remote(places)
            issuers.refuse(own, "P664", site, "`red.async` must go to another CTA of the cluster")
        values = np.stack([issuers.take(viewed(s.reader(lane_set), raw), wide) for s in sources], axis=1)
        data = Data(np.ascontiguousarray(values).view(np.uint8).reshape(-1))
        known = [source.undefined(lane_set) for source in sources] if lane_set.undefined else []
        if any(known):
            masks = [issuers.take(raw.type(0) if entry is None else entry[0], wide) for entry in known]
            undefined = np.ascontiguousarray(np.stack(masks, axis=1).astype(raw)).view(np.uint8).reshape(-1)
            origin = launch.origin(next(e[1] for e in known if e), site)
            data = Data(data.data, undefined, np.full(len(undefined), origin, np.uint32))
        launch.counts.store("shared", size * len(issuers))
        write = Region(batch.shared, places, size)

        def deliver(stored: Data) -> None:
            if combine is not None:
                for item in range(len(places)):
                    one = Region(batch.shared, places[item : item + 1], size)
                    old, new = load(one), stored.data[item * size : (item + 1) * size]
                    result = combine(old.data.view(dtype), new.view(dtype)).view(np.uint8)
                    save(one, Data(result, old.undefined, old.origins), site, launch)
                return
            save(write, stored, site, launch)

        batch.queue.issue(
            AsyncOperation(
                site,
                *issuers.who,
                writes=(write,),
                fetch=lambda: data,
                deliver=deliver,
                signal=Transaction(slots, np.full(len(issuers), size)),
                proxy="generic",
                reduces=combine is not None,
            )
        )

    return Effect(by_thread(step))
