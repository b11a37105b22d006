"""Profiles of launches: what each line did, of the PTX and of what it was compiled from.

`make` sums up what `ptxkit.emulator.profile.Profiler` took down, `measured` what a GPU's profiler counted;
`listing`, `page` and `speedscope` show it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ptxkit.diagnostics import Source
from ptxkit.diagnostics.line_table import SourceLocation
from ptxkit.emulator.faults import Site
from ptxkit.emulator.profile import Profiler, SiteProfile

SCHEMA = 1
"""Version of the JSON document."""
AXIS = (
    "time is not modelled: a step is an instruction that a group of warps executes together, and waits are "
    "those of the order that was chosen"
)
ACCESSES = ("loaded", "stored", "reduced", "copied")
"""What `Traffic` tells apart."""


class LinePlace(NamedTuple):
    """A line of a text.

    Attributes:
        file: its name; empty where the launch was of no file.
        line: from 1.
    """

    file: str
    line: int


@dataclass(slots=True)
class LineProfile:
    """What the instructions of a line did.

    Attributes:
        place: the line.
        text: the line itself, without what is blank round it; empty where it is not at hand.
        functions: in which it was executed.
        compiled_from: of a line of PTX that a compiler wrote, the innermost function first.
        did: all of it.
    """

    place: LinePlace
    text: str
    functions: list[str] = field(default_factory=list)
    compiled_from: tuple[SourceLocation, ...] = ()
    did: SiteProfile = field(default_factory=SiteProfile)

    @property
    def lanes(self) -> float:
        """How many lanes of a warp executed it, on the average."""
        return self.did.threads / self.did.warps if self.did.warps else 0.0

    @property
    def sectors_per_request(self) -> float | None:
        """Sectors of global memory that a request took, on the average; None where it made none."""
        requests = _sum(self.did, "global_requests_")
        return _sum(self.did, "global_sectors_") / requests if requests else None

    @property
    def bank_conflicts(self) -> int:
        """Wavefronts of shared memory beyond those that its accesses need."""
        return _sum(self.did, "shared_bank_conflicts_")

    def to_json(self) -> dict[str, Any]:
        """As `docs/schemas/profile.json` has it."""
        did = self.did
        return {
            "file": self.place.file,
            "line": self.place.line,
            "text": self.text,
            "functions": self.functions,
            "compiled_from": [place._asdict() for place in self.compiled_from],
            **figures(did),
            "lanes": round(self.lanes, 4),
            "sectors_per_request": _rounded(self.sectors_per_request),
            "waits": [
                {"for": what, "times": wait.times, "steps": wait.steps} for what, wait in did.waits.items()
            ],
        }


@dataclass(frozen=True, slots=True)
class Profile:
    """What launches did, line by line.

    Attributes:
        launches: the entry of each launch.
        steps: how many there were.
        lines: of PTX, in the order of the text.
        sources: of what it was compiled from, the innermost place of each line of PTX, most executed first.
        texts: whole files, by name, as far as they are at hand.
        total: all of it.
        axis: how it was counted, in a sentence.
        unit: what waits are counted in.
    """

    launches: list[str]
    steps: int
    lines: list[LineProfile]
    sources: list[LineProfile]
    texts: dict[str, Source]
    total: SiteProfile
    axis: str = AXIS
    unit: str = "steps"

    def hottest(self, count: int) -> list[LineProfile]:
        """The lines that did most: executed most often, or waited longest, each as a share of all."""
        return sorted(self.lines, key=lambda line: -max(self.shares(line)))[:count]

    def shares(self, line: LineProfile) -> tuple[float, float]:
        """A line's share of what warps executed, and of what they waited."""
        warps, waits = self.total.warps, self.total.wait_steps
        return (
            line.did.warps / warps if warps else 0.0,
            line.did.wait_steps / waits if waits else 0.0,
        )

    def to_json(self) -> dict[str, Any]:
        """As `docs/schemas/profile.json` has it."""
        return {
            "schema": SCHEMA,
            "producer": "ptxkit profile",
            "axis": self.axis,
            "launches": self.launches,
            "steps": self.steps,
            "total": figures(self.total),
            "lines": [line.to_json() for line in self.lines],
            "sources": [line.to_json() for line in self.sources],
        }


def make(profiler: Profiler) -> Profile:
    """Sum up what instructions did, by line."""
    lines: dict[LinePlace, LineProfile] = {}
    texts: dict[str, Source] = {}
    total = SiteProfile()
    for site, did in profiler.sites.items():
        source, number = _written(site)
        place = LinePlace(source.name if source is not None else "", number)
        line = lines.get(place)
        if line is None:
            text = (source.line(number) or "") if source is not None else ""
            frames = source.compiled_from(number) if source is not None else ()
            line = lines[place] = LineProfile(place, text.strip(), compiled_from=frames)
        if source is not None:
            texts[source.name] = source
        if site.function not in line.functions:
            line.functions.append(site.function)
        line.did.add(did)
        total.add(did)
    ordered = sorted(lines.values(), key=lambda line: line.place)
    return Profile(profiler.launches, profiler.now, ordered, summed_sources(ordered), texts, total)


def figures(did: SiteProfile) -> dict[str, Any]:
    """The numbers of what was done, by name."""
    return {
        "warps": did.warps,
        "threads": did.threads,
        "bytes_loaded": dict(sorted(did.loaded.items())),
        "bytes_stored": dict(sorted(did.stored.items())),
        "traffic": dict(sorted(did.traffic.items())),
        "operations_issued": did.issued,
        "tensor_multiply_adds": did.multiply_adds,
        "wait_times": did.wait_times,
        "wait_steps": did.wait_steps,
    }


def _written(site: Site) -> tuple[Source | None, int]:
    """The text and line that an instruction was written in."""
    if site.span is None:
        return None, 0
    if site.source is None:
        return None, site.span.line
    source, span, _ = site.source.origin(site.span)
    return source, span.line


def summed_sources(lines: Iterable[LineProfile]) -> list[LineProfile]:
    """Lines by the innermost place that they were compiled from."""
    found: dict[LinePlace, LineProfile] = {}
    for line in lines:
        if not line.compiled_from:
            continue
        inner, *_ = line.compiled_from
        place = LinePlace(inner.file, inner.line)
        if place not in found:
            text = inner.text(line.place.file) or ""
            found[place] = LineProfile(place, text.strip(), compiled_from=line.compiled_from)
        mine = found[place]
        mine.functions += [name for name in line.functions if name not in mine.functions]
        mine.did.add(line.did)

    return sorted(found.values(), key=lambda line: -line.did.warps)


def _sum(did: SiteProfile, prefix: str) -> int:
    return sum(did.traffic[prefix + what] for what in ACCESSES)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
