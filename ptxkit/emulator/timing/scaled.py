"""From what some CTAs of a launch did to what all of them do."""

from __future__ import annotations

from dataclasses import dataclass

from ptxkit.emulator.timing.gpu import Gpu
from ptxkit.emulator.timing.recorded import LaunchStreams


@dataclass(frozen=True, slots=True)
class Scaled:
    """What the sampled CTAs of a launch say of all of them.

    Attributes:
        memory: bytes that DRAM delivers and takes.
        dram: the part of what multiprocessors ask for that comes from DRAM.
        back: the part of what they write that goes there.
        shared: the part of what they ask for that others ask for, too.
        active: multiprocessors that work.
    """

    memory: float
    dram: float
    back: float
    shared: float
    active: int

    @staticmethod
    def of(streams: LaunchStreams, gpu: Gpu, warm: bool) -> Scaled:
        """The scale of a launch. `warm`: what fits into L2 is there."""
        sampled, part = len(streams.ctas), streams.part
        read, written = (
            sum(one.of_all(sampled, streams.total, part) for one in each.values())
            for each in (streams.read, streams.written)
        )
        near = gpu["l2_size"] / 2
        active = min(int(gpu["sm_count"]), streams.total)
        # What all others touch in the meantime, as far as it is not the same.
        first = sum(one.bytes for one in streams.read.values())
        spread = max(min(active, read / max(first, 1)), 1.0)
        if warm and read < near:
            read = 0.0
        far = sum(size for power, size in streams.again.items() if 1.5 * 2.0**power * spread > near)
        read += far * streams.total / max(sampled, 1) / part
        requested = max(streams.requested * streams.total / max(sampled, 1) / part, 1.0)
        dram = min(read / requested, 1.0)
        # What is written stays in L2 for as long as there is room for it.
        back = max(written - gpu["l2_dirty"], 0.0)
        return Scaled(read + back, dram, back / max(written, 1.0), 1.0 - dram, active)
