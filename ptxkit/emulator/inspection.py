"""What registers and memories hold while a launch stands still, with the bits that nobody wrote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.asm.flow import written_names
from ptxkit.diagnostics import counted
from ptxkit.dtypes import DTYPES, numpy_dtype
from ptxkit.emulator.barriers import Barriers
from ptxkit.emulator.code_places import CodePlace, index_in, lanes_in
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.global_memory import BASE, Allocation, GlobalMemory
from ptxkit.emulator.memory import Bank
from ptxkit.emulator.special import SPECIAL
from ptxkit.emulator.tensor_memory.cells import PITCH
from ptxkit.emulator.tensor_memory.engine import Engine
from ptxkit.emulator.values import WARP
from ptxkit.emulator.warpgroup.in_flight import Warpgroups
from ptxkit.emulator.warpgroup.members import warpgroup_of

DEAD = "nothing reads it from here on"
IN_FLIGHT = "`wgmma` in flight writes it"


@dataclass(frozen=True, slots=True)
class KnownBits:
    """Bits, and those of them that are undefined."""

    bits: int
    undefined: int = 0


@dataclass(frozen=True, slots=True)
class RegisterState:
    """A register of a warp.

    Attributes:
        name, type: as declared.
        values: of 32 lanes; None for a lane that is elsewhere.
        lost: why there is no value to show; empty where there is.
    """

    name: str
    type: str
    values: tuple[KnownBits | None, ...] = ()
    lost: str = ""


def registers(place: CodePlace, row: int, only: str | None = None) -> Iterator[RegisterState]:
    """The registers of a row of the batch where its lane set stands, in the order of their first use.

    A register that is dead has lost its value: lane sets keep only what will be read. `only`: those of that
    name; a variable of `.param` space has several pieces.
    """
    lane_set = place.lane_set
    code = lane_set.code
    flow = lane_set.launch.program.flow(code.name)
    types = {symbol.name: symbol.type for symbol in flow.registers}
    known = {code.names[slot] for slot in place.block.live}
    for site in place.block.sites[: place.index]:
        written = [flow.meaning(name) for name in written_names(site.instruction)]
        known |= {symbol.name for symbol in written if symbol is not None}
    lanes = lanes_in(lane_set, row)
    at = index_in(lane_set, row)
    for slot, name in enumerate(code.names):
        declared = name if name in types else name.rpartition(".")[0]
        if only is not None and only not in (name, declared):
            continue
        kind = types.get(declared) or _raw_type(code.blank[slot], slot in code.wide)
        if lanes is None or at is None or (name not in known and declared not in known):
            yield RegisterState(name, kind, lost=DEAD)
        elif _in_flight(lane_set.batch, code.number, slot, row):
            yield RegisterState(name, kind, lost=IN_FLIGHT)
        else:
            wide = slot in code.wide
            bits = _by_lane(lane_set.regs[slot], lane_set.n, at, wide)
            masks = [0] * WARP
            if slot in lane_set.undefined:
                masks = _by_lane(lane_set.undefined[slot][0], lane_set.n, at, wide)
            values = (
                KnownBits(value, mask) if on else None
                for value, mask, on in zip(bits, masks, lanes.tolist(), strict=True)
            )
            yield RegisterState(name, kind, tuple(values))


def special_register(place: CodePlace, row: int, name: str) -> RegisterState | None:
    """`%tid.x` and others that hang on the thread alone; None where there is no such one."""
    lane_set = place.lane_set
    lanes, at = lanes_in(lane_set, row), index_in(lane_set, row)
    if name not in SPECIAL or lanes is None or at is None:
        return None
    value = np.asarray(lane_set.special(name))
    bits = _by_lane(value, lane_set.n, at, False)
    kind = f"u{value.dtype.itemsize * 8}"
    return RegisterState(
        name,
        kind,
        tuple(KnownBits(one) if on else None for one, on in zip(bits, lanes.tolist(), strict=True)),
    )


def _raw_type(blank: Any, wide: bool) -> str:
    if wide:
        return "b128"
    return "pred" if blank.dtype == bool else f"b{blank.dtype.itemsize * 8}"


def _by_lane(value: Any, n: int, at: int, wide: bool) -> list[int]:
    if wide:
        pairs = np.broadcast_to(value, (n, WARP, 2))[at]
        return [int(low) | int(high) << 64 for low, high in pairs]
    row = np.ascontiguousarray(np.broadcast_to(np.asarray(value), (n, WARP))[at])
    return [int(one) for one in row.view(f"u{row.dtype.itemsize}")]


def _in_flight(batch: CtaBatch, function: int, slot: int, row: int) -> bool:
    warpgroups = batch.found(Warpgroups)
    if warpgroups is None:
        return False
    which = int(warpgroup_of(batch, np.array([row]))[0])
    return any(
        number == function and slot in accumulator.slots and bool(accumulator.active[which])
        for (number, _, _), accumulator in warpgroups.accumulators.items()
    )


# ---- memory


def words(bank: Bank, start: int, width: int, count: int) -> list[KnownBits]:
    """`count` elements of `width` bytes of a bank from offset `start` on."""

    def numbers(data: np.ndarray) -> list[int]:
        raw = data[start : start + width * count].tobytes()
        return [int.from_bytes(raw[at : at + width], "little") for at in range(0, len(raw), width)]

    masks = numbers(bank.shadow) if bank.shadow is not None else [0] * count
    return [KnownBits(*pair) for pair in zip(numbers(bank.data), masks, strict=True)]


def shared_words(batch: CtaBatch, cta: int, address: int, width: int, count: int) -> list[KnownBits]:
    """Elements of the shared memory of a CTA of the batch; fewer than `count` at its end.

    Args:
        cta: the CTA's number in it.
        address: as `ld.shared` has it.
        width: bytes of an element.
        count: how many.
    """
    launch = batch.launch
    offset = address - launch.shared.start
    if not 0 <= offset < launch.shared.total:
        return []
    count = min(count, (launch.shared.total - offset) // width)
    return words(batch.shared, cta * batch.shared.stride + offset, width, count)


def global_words(
    memory: GlobalMemory, address: int, width: int, count: int
) -> tuple[list[KnownBits], Allocation | None]:
    """Elements of global memory with the allocation that they lie in; fewer than `count` at its end."""
    owner = memory.find(address)
    if owner is None or not owner.live or address >= owner.end:
        return [], owner
    count = min(count, (owner.end - address) // width)
    return words(memory, address - BASE, width, count), owner


def tensor_words(batch: CtaBatch, cta: int, lane: int, column: int, count: int) -> list[KnownBits]:
    """Cells of a lane of tensor memory from a column on; none where nothing has used tensor memory."""
    tensor = batch.found(Engine)
    if tensor is None:
        return []
    cells = lane * PITCH + np.arange(column, min(column + count, tensor.columns))
    memory = tensor.memory
    masks = memory.undefined(cta, cells)
    hidden = masks.tolist() if masks is not None else [0] * len(cells)
    return [KnownBits(*pair) for pair in zip(memory.load(cta, cells).tolist(), hidden, strict=True)]


def shown(value: KnownBits, kind: str) -> str:
    """A value as its type is written: floats and integers in decimal, `.b32` and its like in hexadecimal."""
    bits = DTYPES[kind].bits
    everything = (1 << bits) - 1
    if value.undefined & everything == everything:
        return "undefined"
    if value.undefined:
        return f"{value.bits:#0{bits // 4 + 2}x} with undefined bits {value.undefined:#x}"
    if kind == "pred":
        return "true" if value.bits else "false"
    if kind[0] == "b" and kind[1:].isdecimal():
        return f"{value.bits:#0{bits // 4 + 2}x}"
    if kind[0] in "us" and kind[1:].isdecimal():
        signed = kind[0] == "s" and value.bits >> (bits - 1)
        return str(value.bits - (1 << bits) if signed else value.bits)
    dtype = numpy_dtype(kind)
    return str(np.frombuffer(value.bits.to_bytes(bits // 8, "little"), dtype)[0])


def can_show(kind: str) -> bool:
    """Whether memory can be shown as elements of a type: whole bytes, not packed."""
    known = DTYPES.get(kind)
    if known is None or known.bits % 8 or known.lanes != 1:
        return False
    return known.numpy is not None or kind[1:].isdecimal()


# ---- barriers and what is in flight


def mbarriers(batch: CtaBatch, cta: int) -> Iterator[tuple[int, str]]:
    """The address of each live mbarrier of a CTA of the batch, and its state in words."""
    found = batch.mbarriers
    for slot in np.argsort(found.place).tolist():
        tile, offset = divmod(int(found.place[slot]), batch.shared.stride)
        if tile != cta or not found.live[slot]:
            continue
        phase = int(found.phase[slot])
        yield (
            offset + batch.launch.shared.start,
            f"phase {phase} (parity {phase & 1}), pending count {found.pending[slot]} of "
            f"{found.expected[slot]}, tx-count {found.tx[slot]}{found.report_of(slot)}",
        )


def barriers(batch: CtaBatch, cta: int) -> Iterator[str]:
    """The barriers of a CTA that somebody has arrived at."""
    rows = slice(cta * batch.warps_per_cta, (cta + 1) * batch.warps_per_cta)
    for number, barrier in sorted(batch.own(Barriers).by_number.items()):
        expected = int(barrier.expected[cta])
        if expected < 0:
            continue
        here = np.flatnonzero(barrier.arrived[rows].any(axis=1)).tolist()
        wanted = f"{counted(expected, 'thread')}" if expected else "all warps"
        yield f"barrier {number}: expects {wanted}; here are warps {', '.join(map(str, here))}"


def in_flight(batch: CtaBatch, cta: int) -> Iterator[str]:
    """The asynchronous operations of a CTA of the batch that are not done, or that nobody has seen done."""
    queue = batch.queue
    for operation in dict.fromkeys((*queue.pending, *queue.hazards.in_flight)):
        mine = np.flatnonzero(operation.rows // batch.warps_per_cta == cta)
        if not len(mine):
            continue
        who = operation.thread(int(mine[0]))
        who = who if len(mine) == 1 else f"{len(mine)} items, {who} first"
        done = "has read its source" if operation.fetched else "has not begun"
        if operation.delivered:
            done = "is done, and has not been waited for"
        slots = getattr(operation.signal, "slots", None)
        signal = f", signals {batch.mbarriers.name(int(slots[mine[0]]))}" if slots is not None else ""
        sizes = sum(
            region.of_items(np.isin(np.arange(operation.count), mine)).total for region in operation.writes
        )
        amount = f", {counted(sizes, 'byte')}" if sizes else ""
        yield f"`{operation.spelling}` at {operation.site.where}: {who}{amount}: {done}{signal}"
