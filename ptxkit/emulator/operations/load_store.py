"""Loads, stores and addresses: `ld`, `ldu`, `st`, `cvta`, `isspacep`, `prefetch`, .. PTX ISA 9.7.9."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.asm import tree
from ptxkit.asm.decode import Decoded
from ptxkit.diagnostics import counted
from ptxkit.dtypes import DType
from ptxkit.emulator.accessor import Accessor
from ptxkit.emulator.addresses import CLUSTER_STEP, WINDOW, WINDOWS, plain_space
from ptxkit.emulator.call_abi import gather, scatter
from ptxkit.emulator.code import MemoryTransfer
from ptxkit.emulator.effect import Effect, Effects, hint
from ptxkit.emulator.faults import fault
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operands import lanes_of, put
from ptxkit.emulator.operation import Operations, Pure, Unsupported, computes
from ptxkit.emulator.operations import definedness
from ptxkit.emulator.values import RAW, WARP, dtype_of, viewed
from ptxkit.isa.modifiers import MemoryOrder, StateSpace

MOST_BULK = 1 << 24
"""Most bytes of a `st.bulk`."""
POLICY = np.uint64(0x14F0_0000_0000_0000)
"""What every cache policy reads as; its bits mean nothing to a program."""

effect, operation = Effects("movement"), Operations("movement")
later = Effects("memory")


def _space(instruction: ScopedInstruction) -> StateSpace:
    """The state space that an access reaches: a device function's own parameters are local memory wherever
    they have an address, and `.param` in it means them unless `::entry` is said (9.7.9.8)."""
    space = instruction.space_of("a")
    own = instruction.scope.function.kind == "func" and space in (StateSpace.PARAM, StateSpace.PARAM_FUNC)
    return StateSpace.LOCAL if own else space


def order_of(instruction: ScopedInstruction, strong: MemoryOrder) -> MemoryOrder:
    """How an access orders others: `strong` where it is that, else relaxed (as volatile is), or weak."""
    orders = {*instruction.all(MemoryOrder)} - {MemoryOrder.WEAK}
    return strong if strong in orders else MemoryOrder.RELAXED if orders else MemoryOrder.WEAK


@later("ld")
@effect("ld", "ldu")
def ld(instruction: ScopedInstruction) -> Effect:
    """`ld{.weak}{.ss}{.cop}{.vec}.type d, [a]` and its volatile, relaxed and acquire forms; through the
    read-only proxy it takes what is in global or constant memory."""
    kind, count, loaded = instruction.the(DType), instruction["vec"] or 1, instruction.parts("d")
    if len(loaded) != count:
        raise Unsupported(f"{counted(len(loaded), 'destination')} where it loads {count}")
    width = kind.bytes
    dtype, raw = dtype_of(kind.name), RAW[width * 8]
    targets = [instruction.target(part, kind.name) for part in loaded]
    sliced = instruction.scope.parameters.place_of(instruction)
    if sliced is not None:
        return _load_parameter(instruction, *sliced, width, targets, dtype)
    address, space = instruction.address("a"), _space(instruction)
    accessor = Accessor(address, space, width * count, instruction.site)
    order, readonly = order_of(instruction, MemoryOrder.ACQUIRE), "proxy::readonly" in instruction.match.slots
    strong = order is not MemoryOrder.WEAK
    instruction.scope.program.touches(plain_space(space), width * count)

    def step(lane_set: LaneSet, guard: Any) -> bool:
        accesses = accessor(lane_set, guard)
        if strong:
            lane_set.schedule.poll(lane_set, instruction.site)
        tainted = False
        for access in accesses:
            if readonly and access.space not in ("global", "const"):
                access.refuse("reads", "and the read-only proxy has global and constant memory alone")
            lane_set.launch.counts.load(access.space, access.lanes * width * count)
            access.count_traffic(width * count, "loaded")
            values, masks = access.load(width, count, order)
            chosen = access.guard
            for i, target in enumerate(targets):
                if target is None:
                    continue
                mask = None
                if masks is not None and masks[i].any():
                    mask = (_extended(target, masks[i], dtype), access.origin(width * count))
                    tainted = True
                target.write(lane_set, viewed(values[i], dtype if width < 16 else raw), mask, chosen)
        return tainted

    if strong or readonly or width == 16:
        return Effect(step)
    return Effect(
        step,
        ir=MemoryTransfer(address, accessor, width, count, dtype, targets, None, instruction.guard),
    )


def _extended(target: Any, mask: Any, dtype: np.dtype) -> Any:
    """A loaded value's undefined bits as the register has them; sign extension spreads an undefined sign."""
    if target.convert is None:
        return mask
    return viewed(target.convert(viewed(mask, dtype)), RAW[target.bits])


def _load_parameter(
    instruction: ScopedInstruction, symbol: Any, offset: int, width: int, targets: list[Any], dtype: np.dtype
) -> Effect:
    """`ld.param` of a device function's parameter or return value."""
    parameters = instruction.scope.parameters
    places = [
        (target, offset + i * width, parameters.covering(symbol, offset + i * width, width))
        for i, target in enumerate(targets)
        if target is not None
    ]

    def step(lane_set: LaneSet, guard: Any) -> bool:
        tainted = False
        loaded = [
            (t, gather(lane_set.regs, lane_set.undefined, pieces, at, width)) for t, at, pieces in places
        ]
        for target, (value, mask, origin) in loaded:
            entry = None
            if mask is not None:
                entry = (_extended(target, mask, dtype), origin)
                tainted = True
            target.write(lane_set, value if width == 16 else viewed(value, dtype), entry, guard)
        return tainted

    return Effect(step)


@later("st")
@effect("st")
def st(instruction: ScopedInstruction) -> Effect:
    """`st{.weak}{.ss}{.cop}{.vec}.type [a], b` and its volatile, relaxed and release forms."""
    return store(instruction, Accessor)


def store(instruction: ScopedInstruction, access_by: type[Accessor]) -> Effect:
    """The same of whatever places an accessor finds."""
    kind, count = instruction.the(DType), instruction["vec"] or 1
    width, raw = kind.bytes, RAW[kind.bits]
    # A literal is read in the instruction's own type, a register as raw bits.
    sources = [
        instruction.source(part, f"b{kind.bits}" if isinstance(part, tree.Name) else kind.name)
        for part in instruction.parts("b")[:count]
    ]
    readers = [source.reader for source in sources]
    sliced = instruction.scope.parameters.place_of(instruction)
    if sliced is not None:
        return _store_parameter(instruction, *sliced, width, sources)
    address, space = instruction.address("a"), _space(instruction)
    accessor = access_by(address, space, width * count, instruction.site)
    order = order_of(instruction, MemoryOrder.RELEASE)
    instruction.scope.program.touches(plain_space(space), width * count)

    def step(lane_set: LaneSet, guard: Any) -> None:
        values = tuple(viewed(read(lane_set), raw) for read in readers)
        masks, origin = None, 0
        if lane_set.undefined:
            found = [source.undefined(lane_set) for source in sources]
            if any(found):
                masks = tuple(raw.type(0) if entry is None else viewed(entry[0], raw) for entry in found)
                first = next(entry[1] for entry in found if entry)
                origin = lane_set.launch.origin_of_store(first, instruction.site)
        for access in accessor(lane_set, guard):
            lane_set.launch.counts.store(access.space, access.lanes * width * count)
            access.count_traffic(width * count, "stored")
            access.store(values, masks, width, origin, order)

    if order is not MemoryOrder.WEAK or width == 16 or access_by is not Accessor:
        return Effect(step)
    return Effect(
        step, ir=MemoryTransfer(address, accessor, width, count, raw, (), sources, instruction.guard)
    )


@effect("st.bulk")
def st_bulk(instruction: ScopedInstruction) -> Effect:
    """`st.bulk{.weak}{.shared::cta} [a], size, initval`: zeros, `size` bytes of them in each lane."""
    read = instruction.checked_source("size", f"u{instruction.type_of('size').bits}")
    accessor = Accessor(instruction.address("a"), instruction.space_of("a"), 8, instruction.site)
    instruction.scope.program.touches("shared", 8)
    site = instruction.site

    def step(lane_set: LaneSet, guard: Any) -> None:
        sizes = np.broadcast_to(read(lane_set), (lane_set.n, WARP)).astype(np.int64)
        active = lanes_of(lane_set, guard, sizes.shape)
        longest = int((sizes if active is None else np.where(active, sizes, 0)).max())
        if longest % 8 or longest > MOST_BULK:
            message = f"bulk store: expected a multiple of 8 bytes up to {MOST_BULK}, found {longest}"
            raise fault("P603", message, site, (f"{lane_set.thread(*lane_set.first(sizes == longest))}",))
        for offset in range(0, longest, 8):
            reached = sizes > offset if guard is None else guard & (sizes > offset)
            for access in accessor(lane_set, reached, offset):
                if access.space != "shared":
                    access.refuse("clears", "and works on the CTA's own shared memory alone")
                access.store((np.uint64(0),), None, 8)

    return Effect(step)


def _store_parameter(
    instruction: ScopedInstruction, symbol: Any, offset: int, width: int, sources: list[Any]
) -> Effect:
    """`st.param` to an argument or a return value."""
    parameters = instruction.scope.parameters
    raw = RAW[width * 8]
    places = [
        (source, source.reader, offset + i * width, parameters.covering(symbol, offset + i * width, width))
        for i, source in enumerate(sources)
    ]

    def step(lane_set: LaneSet, guard: Any) -> None:
        for source, read, at, pieces in places:
            entry = source.undefined(lane_set)
            mask, origin = (None, 0) if entry is None else (viewed(entry[0], raw), entry[1])
            scatter(lane_set, pieces, at, width, (viewed(read(lane_set), raw), mask, origin), guard)

    return Effect(step)


effect("prefetch", "prefetchu", "applypriority")(hint)


@later("createpolicy.range.fabric")
@effect("createpolicy.range", "createpolicy.fractional", "createpolicy.cvt")
def createpolicy(instruction: ScopedInstruction) -> Effect:
    """`createpolicy.kind.. cache-policy, ..`: an opaque number, and a hint to whoever takes it."""
    target = instruction.target("policy")

    def step(lane_set: LaneSet, guard: Any) -> None:
        put(target, lane_set, POLICY, None, guard)

    return Effect(step)


@later("prefetch")
def prefetch_valid(instruction: ScopedInstruction) -> Effect:
    """`prefetch{.global}.L1::32B.valid_addr [a]`: a hint, whose address must be that of a byte of global
    memory."""
    accessor = Accessor(instruction.address("a"), instruction.space_of("a"), 1, instruction.site)

    def step(lane_set: LaneSet, guard: Any) -> None:
        for access in accessor(lane_set, guard):
            if access.space != "global":
                access.refuse("prefetches from", "and `.valid_addr` needs an address of global memory")

    return Effect(step)


@effect("discard")
def discard(instruction: ScopedInstruction) -> Effect:
    """`discard.global.L2 [a], size`: what lies there is undefined from then on."""
    size = instruction.number("size")
    accessor = Accessor(instruction.address("a"), "global", size, instruction.site)

    def step(lane_set: LaneSet, guard: Any) -> None:
        for access in accessor(lane_set, guard):
            access.discard(size)

    return Effect(step)


# ---- addresses


def window(instruction: Decoded) -> int:
    """What `cvta` adds to an address."""
    base = WINDOWS.get(plain_space(instruction["space"]), 0)
    return -base if "from_generic" in instruction.row.traits else base


@operation("cvta", "cvta.to")
def cvta(instruction: Decoded) -> Pure:
    """`cvta{.to}.space.size p, a`."""
    step = np.uint64(window(instruction) % (1 << 64))
    if not step:
        return computes(instruction, lambda a: a, definedness.same)
    return computes(instruction, lambda a: a + step)


@effect("isspacep")
def isspacep(instruction: ScopedInstruction) -> Effect:
    """`isspacep.space p, a`. Parameters count as global, constants don't; a 32-bit address is in no window.
    Only `.shared::cluster` has the memory of other CTAs."""
    named = instruction["space"]
    space = plain_space(named)
    # To ptxas a number is an address of 32 bits.
    source = instruction.source("a", None if isinstance(instruction.operands["a"], tree.Name) else "u32")
    target, read, site = instruction.target("p"), source.reader, instruction.site
    others = [np.uint64(WINDOWS[name]) for name in ("const", "shared", "local")]

    def step(lane_set: LaneSet, guard: Any) -> bool:
        address = read(lane_set).astype(np.uint64)
        if space == "global":
            inside = ~np.logical_or.reduce([address - base < np.uint64(WINDOW) for base in others])
        else:
            inside = address - np.uint64(WINDOWS[space]) < np.uint64(WINDOW)
            if space == "shared" and named is not StateSpace.SHARED_CLUSTER and lane_set.batch.cluster > 1:
                rank = (address - np.uint64(WINDOWS[space])) // np.uint64(CLUSTER_STEP)
                inside = inside & (rank == lane_set.special("%cluster_ctarank"))
        entry, mask = source.undefined(lane_set), None
        if entry is not None:
            mask = (entry[0] != 0, lane_set.launch.origin(entry[1], site))
        put(target, lane_set, inside, mask, guard)
        return mask is not None

    return Effect(step)
