"""How long a multiprocessor's resources take for what is asked of them, one request after another.

Memory, tensor cores and copies; issue slots and pipes are the warps' own affair (`simulate`).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log

from ptxkit.emulator.faults import Site
from ptxkit.emulator.timing.atomics import Change
from ptxkit.emulator.timing.gpu import Gpu
from ptxkit.emulator.timing.parts import Cta, Multiprocessor
from ptxkit.emulator.timing.recorded import AccessCost, RecordedOperation
from ptxkit.emulator.timing.scaled import Scaled

SECTOR, LINE = 32, 128
LATELY = 2000.0
"""Cycles over which the load of DRAM is averaged."""
MOST_LOAD = 0.9
"""Beyond this share of the time its queue does not grow: warps have no more to ask for."""
RESOURCES = (
    "DRAM", "L2", "latency of L2 and DRAM", "shared memory and L1", "tensor cores", "copy engine",
    "issue slots", "pipes",
)  # fmt: skip
"""What could be faster or slower."""


ATOMICS = "atomics on the same words"
QUEUE, WRITES = 64, 1000
"""Cycles of work that wait for shared memory and L1 before they hold back who brings more; and for L2 and
DRAM before they hold back who writes more."""


class Resources:
    """The rates of a launch.

    Args:
        gpu: the figures.
        scaled: what all multiprocessors together ask for.
        rate: cycles a second.
        costs: how much of its time each resource takes, by name; 1 where nothing is said.
        cluster: CTAs of a cluster.
        spills: the parts of what goes to local memory that L1, and L2, have no room for.
        signals: whether CTAs say that grids which depend on theirs may begin.
    """

    def __init__(
        self,
        gpu: Gpu,
        scaled: Scaled,
        rate: float,
        costs: Mapping[str, float] | None,
        cluster: int = 1,
        spills: tuple[float, float] = (0.0, 0.0),
        signals: bool = False,
    ) -> None:
        self.spills = spills
        self.gpu, self.dram, self.late = gpu, scaled.dram, scaled.waits
        self.back, self.kept, self.common = scaled.back, scaled.kept, scaled.common
        self.brought = scaled.brought
        self.contended, self.active = scaled.contended, scaled.active
        active = scaled.active
        cost = {name: 1.0 for name in RESOURCES} | dict(costs or {})
        # On their way requests for the same line meet, so that L2 serves one for several.
        alone = 1.0 - (1.0 - gpu["l2_coalesced"]) * scaled.shared
        self.l2_rate = min(gpu["l2_sm_bytes"], gpu["l2_rate"] / alone / rate / active) / cost["L2"]
        self.l2_write_rate, self.l2_change_rate = (
            min(gpu["l2_sm_bytes"], gpu[f"l2_{name}_rate"] / rate / active) / cost["L2"]
            for name in ("write", "change")
        )
        self.l2_line_rate, self.l2_sent_rate = (
            gpu[f"l2_{name}"] / rate / active / cost["L2"] for name in ("lines", "written_lines")
        )
        self.dram_rate = gpu["dram_rate"] / rate / active / cost["DRAM"]
        self.wave, self.copy = cost["shared memory and L1"], cost["copy engine"]
        self.tensor, self.pipe, self.slot = cost["tensor cores"], cost["pipes"], cost["issue slots"]
        # One after another CTAs are given to multiprocessors; a cluster takes one more turn, and so does what
        # a CTA says of grids that depend on its own.
        several = (cluster + 1) / cluster if cluster > 1 else 1.0
        each = gpu["cta_dispatch"] * several + (gpu["cta_signal"] if signals else 0.0)
        self.dispatch = each * active
        self.l2_latency, self.dram_latency = (
            gpu[f"{name}_latency"] * cost["latency of L2 and DRAM"] for name in ("l2", "dram")
        )

    # ---- memory

    def waves(self, place: Multiprocessor, now: float, count: float) -> float:
        """When shared memory and L1 are through with so many wavefronts."""
        place.shared = max(place.shared, now) + count * self.wave
        place.busy["shared memory and L1"] += count * self.wave
        return place.shared

    def tried(self, cost: AccessCost, change: Change | None) -> float:
        """For how long a warp is in the loop that changes words of shared memory: lanes that change the same
        one take turns."""
        if change is None or not change.looped or cost.requests:
            return 0.0
        return (1.0 + cost.again) * self.gpu[f"shared_try_{change.looped}"]

    def held(self, place: Multiprocessor, writes: bool = False) -> float:
        """Until when queues hold back a warp that has something for them."""
        full = max(place.shared, place.constants) - QUEUE
        return max(full, max(place.l2, place.dram, place.atomics) - WRITES) if writes else full

    def _accessed(
        self,
        place: Multiprocessor,
        now: float,
        cost: AccessCost,
        part: float = 1.0,
        width: int = 0,
        change: Change | None = None,
    ) -> float:
        again = cost.again * self.gpu["shared_atomic_again"]
        # Loads that became one take what that does; it is as many parts of the first of them as there are.
        shared = part * ({8: cost.wide8, 16: cost.wide16}.get(width, 0.0) or cost.shared)
        if change is not None and (change.merged or change.looped):
            shared, again = cost.apart, (1.0 + 2.0 * cost.again) * cost.apart if change.looped else 0.0
        return self.waves(place, now, shared + again + part * max(cost.requests, cost.waves))

    def load(
        self,
        place: Multiprocessor,
        now: float,
        cost: AccessCost,
        part: float = 1.0,
        width: int = 0,
        change: Change | None = None,
    ) -> tuple[str, float]:
        """The space that a load goes to, and when its registers have come. `part`: of a machine instruction
        of `width` bytes a lane."""
        if cost.constants:
            takes = cost.constants * self.gpu["constant"]
            place.constants = max(place.constants, now) + takes
            place.busy["constants"] += takes
            return "constant", place.constants + self.gpu["constant_latency"]
        through = self._accessed(place, now, cost, part, width, change)
        if not cost.requests:
            return "shared", max(through, now + self.tried(cost, change)) + self.gpu["shared_latency"]
        end = through + self.gpu["l1_latency"]
        if change is not None:
            end = max(end, self._in_turn(place, through, cost, change) + self.l2_latency)
        if cost.missed:
            lines = cost.lines / max(cost.sectors, 1.0)
            near = cost.returned if 1.5 * cost.between <= self.kept * cost.returned else 0.0
            far = cost.missed - near - (cost.common if self.common and place.warm else 0.0)
            for sectors, owner in ((near, None), (far, cost.owner)):
                if sectors > 0:
                    end = max(end, self.read(place, through, sectors * SECTOR, owner, lines * sectors))
        return "global", end

    def store(self, place: Multiprocessor, now: float, cost: AccessCost, change: Change | None) -> None:
        """A store takes its time, which nobody waits for. `change`: by an operation on what is there."""
        through = self._accessed(place, now, cost, change=change)
        if cost.requests:
            if change is not None:
                self._in_turn(place, through, cost, change)
            more = 0.0 if change is not None else cost.partial * self.gpu["l2_partial"]
            self.written(place, through, cost.sectors * SECTOR, change is not None, more * SECTOR, cost.sent)

    def _in_turn(self, place: Multiprocessor, now: float, cost: AccessCost, change: Change) -> float:
        """When words that CTAs of all multiprocessors change have been changed: a part of L2 does it for one
        sector after another, and for a word only when the last change of it is through."""
        sectors = self.contended.get(cost.owner)
        if sectors is None:
            return now
        each = self.gpu["l2_turn_float" if change.floats else "l2_turn"] / sectors
        regions = max(sectors * SECTOR / self.gpu["l2_region"], 1.0)
        takes = max(each, self.gpu["l2_turn_sector"] / regions) * change.turns(cost) * self.active
        place.atomics = max(place.atomics, now) + takes
        place.busy[ATOMICS] += takes
        return place.atomics

    def read(
        self,
        place: Multiprocessor,
        now: float,
        size: float,
        owner: int | None,
        lines: float = 0.0,
        asked: float = 0.0,
    ) -> float:
        """When bytes, of so many lines, that a multiprocessor wants of L2 have come. `owner`: the allocation,
        a part of which DRAM delivers; None where L2 has them. `asked`: bytes that it asks for, if more."""
        takes = max(max(size, asked) / self.l2_rate, lines / self.l2_line_rate)
        place.l2 = max(place.l2, now) + takes
        place.busy["L2"] += takes
        end = max(now, place.l2) + self.l2_latency
        dram = self.dram.get(owner, 0.0) if owner is not None else 0.0
        if owner is not None and dram > 0:
            place.dram = max(place.dram, now) + size * dram / self.dram_rate
            place.busy["DRAM"] += size * dram / self.dram_rate
            latency = self.l2_latency + self.dram_latency * self.late[owner]
            if lines:  # Of a sector at a time every other one has come with the one before it.
                sectors = size / SECTOR / lines * self.brought.get(owner, 1.0)
                latency -= self.dram_latency * self.late[owner] * max(1.0 - sectors / 2, 0.0)
            latency += self._queue(place, now, size * dram, max(lines, size / LINE))
            end = max(end, place.dram + self.l2_latency, now + latency)
        return end

    def _queue(self, place: Multiprocessor, now: float, size: float, lines: float) -> float:
        """Cycles that a read of DRAM waits for others, which come at random: of the share of the time that
        DRAM is busy lately the mean wait in a queue, of several lines the longest of their waits."""
        self._loaded(place, now, size / self.dram_rate)
        share = min(place.load, MOST_LOAD)
        longest = 1.0 + log(max(lines, 1.0)) / 2
        return self.gpu["dram_queue"] * longest * share / (1.0 - share)

    def _loaded(self, place: Multiprocessor, now: float, takes: float) -> None:
        """DRAM has something to do for so many cycles."""
        place.load *= exp(-(max(now - place.seen, 0.0)) / LATELY)
        place.load += takes / LATELY
        place.seen = max(now, place.seen)

    def spill(self, place: Multiprocessor, now: float, loads: float, stores: float) -> float:
        """A warp's words go to local memory, where neighbouring threads have theirs side by side, and others
        come back: when these have. What L1 has no room for goes to L2, and on to DRAM."""
        end = self.waves(place, now, loads + stores) + self.gpu["l1_latency"]
        past_l1, past_l2 = self.spills
        if past_l1:
            came, went = loads * LINE * past_l1, stores * LINE * past_l1
            self.written(place, now, went, back=past_l2)
            takes, slow = came / self.l2_rate, came * past_l2 / self.dram_rate
            place.l2 = max(place.l2, now) + takes
            place.busy["L2"] += takes
            end = place.l2 + self.l2_latency
            if past_l2:
                place.dram = max(place.dram, now) + slow
                place.busy["DRAM"] += slow
                place.spilled += (came + went) * past_l2
                trip = self.l2_latency + self.dram_latency * past_l2
                trip += self._queue(place, now, came * past_l2, loads)
                end = max(end, place.dram + self.l2_latency, now + trip)
        return end

    def written(
        self,
        place: Multiprocessor,
        now: float,
        size: float,
        changes: bool = False,
        more: float = 0.0,
        lines: float = 0.0,
        back: float | None = None,
    ) -> float:
        """When bytes, of so many lines, have been written to L2, which takes it as long as if they were some
        more. `changes`: by atomic operations and reductions. `back`: the part that goes to DRAM, of local
        memory."""
        dram = size * (self.back if back is None else back) / self.dram_rate / self.gpu["dram_mixed"]
        takes = (size + more) / (self.l2_change_rate if changes else self.l2_write_rate)
        takes = max(takes, lines / self.l2_sent_rate)
        place.l2 = max(place.l2, now) + takes
        place.dram = max(place.dram, now) + dram
        place.busy["L2"] += takes
        place.busy["DRAM"] += dram
        self._loaded(place, now, dram)
        return place.l2 + self.l2_latency

    # ---- tensor cores

    def product(
        self, place: Multiprocessor, scheduler: int, now: float, multiply_adds: float, site: Site
    ) -> tuple[float, float]:
        """When an `mma` of a warp begins, which does not go on before, and when its registers have come."""
        rate = self.gpu["mma_flops"] / len(place.issue)
        cycles = 2 * multiply_adds / rate * _width(site) * self.tensor
        pipes = place.pipes[scheduler]
        begin = max(now, pipes.get("tensor", 0.0))
        pipes["tensor"] = begin + cycles
        place.busy["pipe tensor"] += cycles
        return begin, begin + cycles + self.gpu["mma_latency"]

    def _asynchronous_product(self, cta: Cta, one: RecordedOperation, now: float) -> float:
        # A product of two CTAs is done by the tensor cores of both, each half of it.
        both = one.site.decoded.match.slots.get("cta_group") == "cta_group::2"
        places = [cta.place, cta.peer.place] if both and cta.peer is not None else [cta.place]
        cycles = 2 * one.multiply_adds / self.gpu["product_flops"] * _width(one.site) / len(places)
        reads = one.shared / self.gpu["product_bytes"] / len(places)
        end = max(now, *(place.tensor for place in places)) + max(cycles, reads) * self.tensor
        for place in places:
            place.tensor = end
            place.busy["tensor cores"] += cycles * self.tensor
            place.busy["shared memory and L1"] += reads
        return end + self.gpu["product_tail"]

    # ---- asynchronous operations

    def operation(self, cta: Cta, one: RecordedOperation, now: float) -> tuple[float, float, float]:
        """When an operation begins, has read what it reads, and is over."""
        place, gpu, name = cta.place, self.gpu, one.site.name
        if name.startswith(("wgmma", "tcgen05.mma")):
            end = self._asynchronous_product(cta, one, now)
            return now, end, end
        if not (one.read or one.written or one.shared):
            return now, now, now + gpu["mbarrier_arrive"]
        bulk, waves = "bulk" in name, max(one.shared / gpu["lsu_bytes"], one.waves)
        engine = now
        if bulk:
            pieces = max(gpu["copy_issue"], one.pieces * gpu["copy_piece"]) * self.copy
            engine = place.copies = max(place.copies, now) + pieces
            place.busy["copy engine"] += pieces
            now = engine - pieces + gpu["copy_latency"]
            if "tensor" in name and one.site not in place.maps:
                place.maps.add(one.site)  # The map itself comes from DRAM.
                now += self.l2_latency + self.dram_latency
        else:
            place.shared = max(place.shared, now) + waves
            place.busy["shared memory and L1"] += one.waves
        end = now + gpu["shared_latency"]
        if one.read:
            end = max(self.read(place, now, one.read, one.owner, one.lines, one.asked), engine)
        read = end + waves
        if one.written:
            end = max(self.written(place, now, one.written, "reduce" in name), read)
            # Shared memory is read no faster than L2 takes what is in it.
            read = max(read, end - self.l2_latency)
        return now, read, end


_WIDTHS = {"f16": 2.0, "tf32": 4.0, "f8f6f4": 1.0, "mxf8f6f4": 1.0, "i8": 1.0, "mxf4": 0.5, "mxf4nvf4": 0.5}
"""Bytes of an element by the kind of `tcgen05.mma`."""


def _width(site: Site) -> float:
    """Bytes of an element as the tensor cores count them."""
    kind = site.decoded.match.slots.get("kind")
    if kind is not None and site.name.startswith("tcgen05"):
        return _WIDTHS.get(kind.removeprefix("kind::"), 1.0)
    bits = max((one.bits for one in site.decoded.types[1:3]), default=16)
    return {4: 0.5, 6: 1.0, 8: 1.0, 16: 2.0, 19: 4.0, 32: 4.0}.get(bits, bits / 8)
