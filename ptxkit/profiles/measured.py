"""The same profile from a GPU: what Nsight Compute counts of machine instructions, by their PTX lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ptxkit.diagnostics import Source, Span
from ptxkit.emulator.profile import SiteProfile, WaitCount
from ptxkit.profiles import LinePlace, LineProfile, Profile, summed_sources
from ptxkit.toolchain.nsight_compute import MachineCount, MeasuredKernel

AXIS = (
    "counted on a GPU by Nsight Compute: a line of PTX was executed as often as that one of its machine "
    "instructions which was executed most; waits are samples of warps that could not go on"
)
ISSUED = "selected"
"""The reason of samples in which a warp did go on."""
KINDS = {"LDGSTS": "copied", "ST": "stored", "STG": "stored", "STS": "stored", "STL": "stored"}
"""What instructions do with memory; those that are not here load, atomic ones reduce."""
ATOMIC = ("ATOM", "ATOMG", "ATOMS", "RED", "REDG", "REDUX")


def measured(
    kernels: Sequence[MeasuredKernel], lines: Mapping[str, Mapping[int, int]], source: Source | None
) -> Profile:
    """Sum up what machine instructions did, by line.

    Args:
        kernels: what was counted of each launch.
        lines: by function and place in its machine code, the line of PTX.
        source: the PTX that was assembled.
    """
    texts: dict[str, Source] = {}
    found: dict[LinePlace, LineProfile] = {}
    total = SiteProfile()
    for kernel in kernels:
        by_line: dict[int, list[MachineCount]] = {}
        places = lines.get(kernel.name, {})
        for count in kernel.counts:
            by_line.setdefault(places.get(count.address, 0), []).append(count)
        for number, counts in by_line.items():
            did = _summed(counts)
            line = _line(found, texts, source, number)
            if kernel.name not in line.functions:
                line.functions.append(kernel.name)
            line.did.add(did)
            total.add(did)
    ordered = sorted(found.values(), key=lambda line: line.place)
    names = [kernel.name for kernel in kernels]
    return Profile(
        names, total.wait_steps, ordered, summed_sources(ordered), texts, total, axis=AXIS, unit="samples"
    )


def _line(
    found: dict[LinePlace, LineProfile], texts: dict[str, Source], source: Source | None, number: int
) -> LineProfile:
    """The profile of a line of the PTX, 0 for instructions of no line."""
    if source is None or not number:
        return found.setdefault(LinePlace("", 0), LineProfile(LinePlace("", 0), ""))
    written, span, _ = source.origin(Span(number, 1, number, 1))
    texts[written.name] = written
    place = LinePlace(written.name, span.line)
    if place not in found:
        text = (written.line(span.line) or "").strip()
        found[place] = LineProfile(place, text, compiled_from=written.compiled_from(span.line))
    return found[place]


def _summed(counts: Sequence[MachineCount]) -> SiteProfile:
    """What the machine instructions of one line of a launch did."""
    most = max(counts, key=lambda count: count.warps)
    did = SiteProfile(most.warps, most.threads)
    for count in counts:
        kind = "reduced" if count.operation in ATOMIC else KINDS.get(count.operation, "loaded")
        figures: dict[str, Any] = {
            f"global_requests_{kind}": count.requests,
            f"global_sectors_{kind}": count.sectors,
            f"shared_bank_conflicts_{kind}": count.conflicts,
        }
        did.traffic.update({name: figure for name, figure in figures.items() if figure})
        for reason, samples in count.stalls.items():
            if reason != ISSUED:
                did.waits.setdefault(reason, WaitCount()).steps += samples
    return did
