"""Tensor maps as instructions find them in memory: their bytes, and whether changes of them are visible.

A map in global memory that the kernel itself changes is read through the tensormap proxy, so the thread that
changed it must release it there (`fence.proxy.tensormap::generic.release`, `tensormap.cp_fenceproxy`), and
the thread that uses it must acquire it (`.acquire`). PTX ISA 9.7.13.4.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptxkit.diagnostics import PtxkitError, counted
from ptxkit.emulator.accessor import Accessor
from ptxkit.emulator.asynchronous.operation import AsyncOperation, Transaction
from ptxkit.emulator.faults import Site, fault, label_at
from ptxkit.emulator.global_memory import BASE, Allocation
from ptxkit.emulator.issuers import Issuers
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operands import AddressOperand, undefined_decides
from ptxkit.emulator.tensor_copies.overrides import Given, Override
from ptxkit.emulator.values import WARP
from ptxkit.encodings.tensor_maps.codes import SUB_BYTE
from ptxkit.layouts.tensor_copy import TensorCopy, tensor_copy

MAP_BYTES = 128
ALIGNED = 64
SPACES = ("param", "const", "global")
INVALID, MISALIGNED, UNFENCED, IN_FLIGHT = "P619", "P623", "P625", "P627"
Warp = tuple[int, int]
"""The number of a CTA in the grid, and of a warp in it."""


@dataclass(slots=True, eq=False)
class MapFences:
    """What has been released to the tensormap proxy, and acquired from it, in a launch.

    Attributes:
        released: by warp, the events of its releases, in order.
        acquired: by warp and address, the event of the last acquire of that map.
        using: operations that read maps in global memory, with the address of the map of each item.
    """

    released: dict[Warp, list[int]] = field(default_factory=dict)
    acquired: dict[tuple[Warp, int], int] = field(default_factory=dict)
    using: list[tuple[AsyncOperation, np.ndarray]] = field(default_factory=list)

    def release(self, issuers: Issuers, number: int) -> None:
        """Some threads release what they have written."""
        for warp in warps_of(issuers):
            events = self.released.setdefault(warp, [])
            if events[-1:] != [number]:
                events.append(number)

    def acquire(self, issuers: Issuers, addresses: np.ndarray, number: int) -> None:
        """Some threads acquire a map each."""
        for warp, address in zip(warps_of(issuers), addresses.tolist(), strict=True):
            self.acquired[warp, address] = number

    def use(self, operation: AsyncOperation, addresses: np.ndarray) -> None:
        """Remember which maps an operation reads; -1 for those outside of global memory."""
        self.using = [(other, at) for other, at in self.using if _busy(other)]
        if (addresses >= 0).any():
            self.using.append((operation, addresses))

    def check_free(self, issuers: Issuers, addresses: np.ndarray, site: Site) -> None:
        """Maps that are about to change must not be in use. Raises P627, a copy in flight reads one."""
        for operation, held in self.using:
            if not _busy(operation):
                continue
            for item, address in enumerate(addresses.tolist()):
                if address in held:
                    at = int(np.argmax(held == address))
                    other = operation.site
                    issuers.lane_set.launch.report(
                        IN_FLIGHT,
                        f"the map at {address:#x} changes while a copy reads it",
                        site,
                        (issuers.name(item), f"{operation.thread(at)} issued the copy at {other.where}"),
                        "wait for the copies that use a tensor map before it is changed",
                        label_at(other, "the copy"),
                    )

    def check(self, issuers: Issuers, item: int, address: int, owner: Allocation, site: Site) -> None:
        """What this launch has written to a map must have been released and acquired. Raises P625."""
        history = owner.history
        if history is None or not history.has("write"):
            return
        first = history.granules(address - BASE)
        records = history.take(
            "write", np.arange(first, history.granules(address - BASE + MAP_BYTES - 1) + 1)
        )
        written = records[records != 0]
        if not len(written):
            return
        last = written[np.argmax(history.number(written))]
        number = int(history.number(last))
        thread = int(history.thread(last))
        launch = issuers.lane_set.launch
        cta, inside = thread >> 10, thread & 1023
        acquired = self.acquired.get((warps_of(issuers)[item], address), 0)
        releases = self.released.get((cta, inside // WARP), [])
        at = bisect_right(releases, number)
        released = releases[at] if at < len(releases) else 0
        writer = launch.events.site(number)
        labels = label_at(writer, "changed here")
        notes = [issuers.name(item)]
        if writer is not None:
            who = launch.thread(cta, inside)
            notes.append(f"{who} changed it by `{writer.instruction.spelling}` at {writer.where}")
        if released and (acquired > released or self._acquired_before(issuers, item, address, released)):
            return
        if not released:
            lack = "`fence.proxy.tensormap::generic.release` by the thread that changed it, after the change"
        else:
            lack = "`fence.proxy.tensormap::generic.acquire` of it by this thread, after the release"
        launch.report(
            UNFENCED,
            f"the tensor map at {address:#x} was changed in this kernel, and nothing "
            "makes that visible to tensor copies",
            site,
            [*notes, f"missing: {lack}"],
            "release it where it is changed, synchronise, acquire it with `[addr], 128` where it is used",
            labels,
        )

    def _acquired_before(self, issuers: Issuers, item: int, address: int, released: int) -> bool:
        """Whether another thread has acquired a map after its release, and this one is ordered behind that.

        Kernels of Triton and CUTLASS let one warp acquire for all; the manual leaves it open, so that nothing
        is said unless the device is strict.
        """
        batch = issuers.lane_set.batch
        if batch.launch.strict:
            return False
        for (warp, place), number in self.acquired.items():
            if place != address or number <= released:
                continue
            position = int(batch.position(np.array([warp[0]]))[0])
            if position < 0:
                continue
            row = np.array([position * batch.warps_per_cta + warp[1]])
            if batch.happens_before.covers(issuers.rows[item : item + 1], row, np.array([number]))[0]:
                return True
        return False


def _busy(operation: AsyncOperation) -> bool:
    """Whether nobody has seen that a copy has read its map: its mbarrier's phase, a wait for its reads."""
    waits = isinstance(operation.signal, Transaction) and bool(operation.unwritten.any())
    return not operation.delivered or waits or bool(operation.unread.any())


def warps_of(issuers: Issuers) -> list[Warp]:
    """The CTA in the grid and the warp of each thread."""
    batch = issuers.lane_set.batch
    ctas = batch.ctas[issuers.ctas]
    return list(zip(ctas.tolist(), (issuers.rows % batch.warps_per_cta).tolist(), strict=True))


class MapOperand:
    """The operand `[tensorMap, tensorCoords]`'s first half: a generic address of a tensor map.

    Args:
        mode: `.load_mode`.
        rank: `.dim`.
        override: what stands in place of what the map says.
    """

    def __init__(
        self, address: AddressOperand, mode: str, rank: int, site: Site, override: Override | None = None
    ) -> None:
        self.accessor = Accessor(address, "generic", MAP_BYTES, site, 1)
        self.mode, self.rank, self.site, self.override = mode, rank, site, override

    def __call__(self, lane_set: LaneSet, issuers: Issuers) -> tuple[list[TensorCopy], np.ndarray]:
        """The copies of each thread's map, and the maps' addresses in global memory (-1 elsewhere). Raises
        P602, P604, P605, P619, P623, P625."""
        copies: list[TensorCopy | None] = [None] * len(issuers)
        addresses = np.full(len(issuers), -1, np.int64)
        known: dict[tuple[str, int], TensorCopy] = {}
        launch = lane_set.launch
        for access in self.accessor(lane_set, issuers.mask if len(issuers) < lane_set.size else None):
            mine = np.ones(len(issuers), bool) if access.guard is None else issuers.take(access.guard)
            index = issuers.take(access.index).astype(np.int64)
            for item in np.flatnonzero(mine).tolist():
                at = int(index[item])
                key = (access.space, at)
                if key not in known:
                    known[key] = self._decoded(issuers, item, access, at)
                copies[item] = known[key]
                if access.space == "global":
                    addresses[item] = at + BASE
                    if launch.sanitize and isinstance(access.owner, Allocation):
                        fences = launch.own(MapFences)
                        fences.check(issuers, item, at + BASE, access.owner, self.site)
        found = [copy for copy in copies if copy is not None]
        if self.override is not None:
            given = self.override(lane_set, issuers)
            changed = {
                pair: self._overridden(issuers, item, *pair)
                for item, pair in enumerate(zip(found, given, strict=True))
            }
            found = [changed[pair] for pair in zip(found, given, strict=True)]
        return found, addresses

    def _overridden(self, issuers: Issuers, item: int, copy: TensorCopy, given: Given) -> TensorCopy:
        """The copy of a map with other values."""
        try:
            return tensor_copy(bytes(given.applied(copy.map)), self.mode)
        except PtxkitError as wrong:
            raise self._refused(issuers, item, wrong.diagnostics[0].message) from None

    def _decoded(self, issuers: Issuers, item: int, access: Any, at: int) -> TensorCopy:
        if access.space not in SPACES:
            raise self._refused(issuers, item, f"it lies in {access.space} memory")
        if (at + (BASE if access.space == "global" else 0)) % ALIGNED:
            raise fault(
                MISALIGNED,
                f"expected a tensor map at a multiple of {ALIGNED}, found {at + BASE:#x}",
                self.site,
                (issuers.name(item),),
                "declare it `.align 64`, 128 where kernels change it",
            )
        bank = access.bank
        if bank.shadow is not None and access.suspect and bank.shadow[at : at + 64].any():
            lane_set = issuers.lane_set
            mask = np.zeros((lane_set.n, WARP), np.uint8)
            mask[issuers.at[0][item], issuers.at[1][item]] = 1
            origin = int(bank.origins[at >> 2]) if bank.origins is not None else 0
            origin = origin or access.origin(MAP_BYTES)
            undefined_decides(lane_set, mask, origin, self.site, "the tensor map")
        data = bank.data[at : at + MAP_BYTES].tobytes()
        try:
            copy = tensor_copy(data, self.mode)
        except PtxkitError as wrong:
            raise self._refused(issuers, item, wrong.diagnostics[0].message) from None
        if copy.rank != self.rank:
            why = f"it has {counted(copy.rank, 'dimension')}, the instruction {self.rank}"
            raise self._refused(issuers, item, why)
        if issuers.lane_set.launch.program.capability < (10, 0):
            made = copy.map
            if made.dtype in SUB_BYTE or "atom" in made.swizzle:
                raise self._refused(issuers, item, "its type or swizzle needs sm_100 or later")
        return copy

    def _refused(self, issuers: Issuers, item: int, why: str) -> PtxkitError:
        return fault(
            INVALID,
            f"no tensor map for `{self.site.instruction.spelling}`: {why}",
            self.site,
            (issuers.name(item),),
            "`ptxkit explain tensor-map` shows what the 128 bytes say",
        )
