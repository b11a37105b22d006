"""How long a multiprocessor's resources take for what is asked of them, one request after another.

Memory, tensor cores and copies; issue slots and pipes are the warps' own affair (`simulate`).
"""

from __future__ import annotations

from collections.abc import Mapping

from ptxkit.emulator.faults import Site
from ptxkit.emulator.timing.gpu import Gpu
from ptxkit.emulator.timing.parts import Cta, Multiprocessor
from ptxkit.emulator.timing.recorded import AccessCost, RecordedOperation

SECTOR = 32
RESOURCES = (
    "DRAM", "L2", "latency of L2 and DRAM", "shared memory and L1", "tensor cores", "copy engine",
    "issue slots", "pipes",
)  # fmt: skip
"""What could be faster or slower."""


class Resources:
    """The rates of a launch.

    Args:
        gpu: the figures.
        dram: the part of what L2 serves that comes from DRAM.
        active: multiprocessors that run at the same time on the GPU, which share L2 and DRAM.
        rate: cycles a second.
        costs: how much of its time each resource takes, by name; 1 where nothing is said.
    """

    def __init__(
        self, gpu: Gpu, dram: float, active: int, rate: float, costs: Mapping[str, float] | None
    ) -> None:
        self.gpu, self.dram = gpu, dram
        cost = {name: 1.0 for name in RESOURCES} | dict(costs or {})
        self.l2_rate = min(gpu["l2_sm_bytes"], gpu["l2_rate"] / rate / active) / cost["L2"]
        self.dram_rate = gpu["dram_rate"] / rate / active / cost["DRAM"]
        self.wave, self.copy = cost["shared memory and L1"], cost["copy engine"]
        self.tensor, self.pipe, self.slot = cost["tensor cores"], cost["pipes"], cost["issue slots"]
        self.l2_latency, self.dram_latency = (
            gpu[f"{name}_latency"] * cost["latency of L2 and DRAM"] for name in ("l2", "dram")
        )

    # ---- memory

    def waves(self, place: Multiprocessor, now: float, count: float) -> float:
        """When shared memory and L1 are through with so many wavefronts."""
        place.shared = max(place.shared, now) + count * self.wave
        place.busy["shared memory and L1"] += count * self.wave
        return place.shared

    def _accessed(self, place: Multiprocessor, now: float, cost: AccessCost) -> float:
        lines = max(cost.requests, cost.sectors * SECTOR / self.gpu["lsu_bytes"])
        return self.waves(place, now, cost.shared + lines)

    def load(self, place: Multiprocessor, now: float, cost: AccessCost) -> tuple[str, float]:
        """The space that a load goes to, and when its registers have come."""
        through = self._accessed(place, now, cost)
        if not cost.requests:
            return "shared", through + self.gpu["shared_latency"]
        end = through + self.gpu["l1_latency"]
        if cost.missed:
            end = max(end, self.read(place, through, cost.missed * SECTOR))
        return "global", end

    def store(self, place: Multiprocessor, now: float, cost: AccessCost) -> None:
        """A store takes its time, which nobody waits for."""
        through = self._accessed(place, now, cost)
        if cost.requests:
            self.written(place, through, cost.sectors * SECTOR)

    def read(self, place: Multiprocessor, now: float, size: float) -> float:
        """When bytes that a multiprocessor asks L2 for have come."""
        place.l2 = max(place.l2, now) + size / self.l2_rate
        place.busy["L2"] += size / self.l2_rate
        end = max(now, place.l2) + self.l2_latency
        if self.dram > 0:
            place.dram = max(place.dram, now) + size * self.dram / self.dram_rate
            place.busy["DRAM"] += size * self.dram / self.dram_rate
            latency = self.l2_latency + self.dram_latency * min(1.0, self.dram * 4)
            end = max(end, place.dram + self.l2_latency, now + latency)
        return end

    def written(self, place: Multiprocessor, now: float, size: float) -> float:
        """When bytes have been written to L2."""
        dram = size / self.dram_rate / self.gpu["dram_mixed"]
        place.l2 = max(place.l2, now) + size / self.l2_rate
        place.dram = max(place.dram, now) + dram
        place.busy["L2"] += size / self.l2_rate
        place.busy["DRAM"] += dram
        return place.l2 + self.l2_latency

    # ---- tensor cores

    def product(
        self, place: Multiprocessor, scheduler: int, now: float, multiply_adds: float, site: Site
    ) -> float:
        """When the registers of an `mma` of a warp have come."""
        rate = self.gpu["mma_flops"] / len(place.issue)
        cycles = 2 * multiply_adds / rate * _width(site) * self.tensor
        pipes = place.pipes[scheduler]
        pipes["tensor"] = max(now, pipes.get("tensor", 0.0)) + cycles
        place.busy["pipe tensor"] += cycles
        return pipes["tensor"] + self.gpu["mma_latency"]

    def _asynchronous_product(self, cta: Cta, one: RecordedOperation, now: float) -> float:
        # A product of two CTAs is done by the tensor cores of both, each half of it.
        both = one.site.decoded.match.slots.get("cta_group") == "cta_group::2"
        places = [cta.place, cta.peer.place] if both and cta.peer is not None else [cta.place]
        cycles = 2 * one.multiply_adds / self.gpu["product_flops"] * _width(one.site)
        cycles = max(cycles, one.shared / self.gpu["product_bytes"]) / len(places) * self.tensor
        end = max(now, *(place.tensor for place in places)) + cycles
        for place in places:
            place.tensor = end
            place.busy["tensor cores"] += cycles
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
        bulk, waves = "bulk" in name, one.shared / gpu["lsu_bytes"]
        engine = now
        if bulk:
            pieces = max(gpu["copy_issue"], one.pieces * gpu["copy_piece"]) * self.copy
            engine = place.copies = max(place.copies, now) + pieces
            place.busy["copy engine"] += pieces
            now = engine - pieces + gpu["copy_issue"] + gpu["copy_latency"]
        else:
            place.shared = max(place.shared, now) + waves
        end = now + gpu["shared_latency"]
        if one.read:
            end = max(self.read(place, now, one.read), engine)
        read = end + waves
        if one.written:
            end = max(self.written(place, now, one.written), read)
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
