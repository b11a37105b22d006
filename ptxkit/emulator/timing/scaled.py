"""From what some CTAs of a launch did to what all of them do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ptxkit.emulator.timing.gpu import Gpu
from ptxkit.emulator.timing.recorded import LaunchStreams

TOGETHER = 4
"""CTAs of a grid of several rounds that ask for a line while it is under way, for each that brings it."""


@dataclass(frozen=True, slots=True)
class Scaled:
    """What the sampled CTAs of a launch say of all of them.

    Attributes:
        memory: bytes that DRAM delivers and takes.
        dram: by the address of an allocation the part of what multiprocessors ask for that comes from DRAM.
        waits: by the address of an allocation the part of its reads that wait for DRAM: for what they are the
            first to read, or what somebody else has asked for at the same time.
        back: the part of what they write that goes there.
        shared: the part of what they ask for that others ask for, too.
        active: multiprocessors that work.
        kept: bytes that a CTA may touch until L2 has lost what it touched before.
        common: whether L1 keeps for the next CTAs what all of them touch.
        contended: by the address of an allocation how many of its sectors all CTAs change.
        brought: so, bytes that DRAM delivers for each that is touched.
    """

    memory: float
    dram: dict[int, float]
    waits: dict[int, float]
    back: float
    shared: float
    active: int
    kept: float
    common: bool = False
    contended: Mapping[int, int] = field(default_factory=dict)
    brought: Mapping[int, float] = field(default_factory=dict)

    @staticmethod
    def of(streams: LaunchStreams, gpu: Gpu, warm: bool, l1: float = 0.0) -> Scaled:
        """The scale of a launch. `warm`: what fits into L2 is there; `l1`: bytes that L1 has room for."""
        sampled, part = len(streams.ctas), streams.part
        times = streams.times
        near = gpu["l2_size"] / 2
        active = min(int(gpu["sm_count"]), streams.total)
        once = {at: one.of_all(sampled, streams.total, part) for at, one in streams.read.items()}
        # What all others touch in the meantime, as far as it is not the same.
        first = sum(one.bytes for one in streams.read.values())
        all_of_it = sum(once.values())
        # Each half of L2 has what its multiprocessors ask for: what only one asks for is there once.
        alone = min(all_of_it / max(first * times, 1.0), 1.0)
        kept = near * (1.0 + alone) / max(min(active, all_of_it / max(first, 1)), 1.0)
        fits = warm and all_of_it < near
        read, dram, waits, asked = 0.0, {}, {}, 0.0
        own = sum(one.requested for one in streams.read.values()) / max(sampled, 1) / part
        common = own < l1
        for at, one in streams.read.items():
            far = sum(size for power, size in one.again.items() if 1.5 * 2.0**power > kept)
            # What comes again comes for all that share it.
            first_time = 0.0 if fits else min(once[at] * one.brought, one.size)
            come = first_time + far * one.brought * min(once[at] / max(one.bytes, 1), times)
            # What comes back to the CTA that had it comes from L2, while that has it.
            back = sum(size for power, size in one.returned.items() if 1.5 * 2.0**power <= kept)
            new = (one.requested - back - common * one.common) * times
            dram[at] = min(come / max(new, 1.0), one.brought)
            waits[at] = min(dram[at] / one.brought * TOGETHER, 1.0)
            if streams.alone and dram[at]:
                # CTAs that begin together ask together: until a line has come all wait that want it.
                waits[at] = max(waits[at], one.bytes / (one.bytes + sum(one.returned.values())))
            read += come
            asked += one.requested * times
        written = sum(one.of_all(sampled, streams.total, part) for one in streams.written.values())
        # What is written stays in L2 for as long as there is room for it.
        more = max(written - gpu["l2_dirty"], 0.0)
        contended = {at: one.changed for at, one in streams.written.items() if one.changed}
        brought = {at: one.brought for at, one in streams.read.items()}
        shared = 1.0 - min(read / max(asked, 1.0), 1.0)
        return Scaled(
            read + more,
            dram,
            waits,
            more / max(written, 1.0),
            shared,
            active,
            kept,
            common,
            contended,
            brought,
        )
