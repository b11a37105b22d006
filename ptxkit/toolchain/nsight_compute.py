"""What Nsight Compute counts of each machine instruction: the source page of a report, as `ncu` prints it.

`ncu --import REPORT --page source --csv` writes for each launch a line with the kernel's name, a line of
titles, and a line for each instruction, with its address.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

SECTION = "SourceCounters"
"""The section that has these figures."""
NAME, ADDRESS, TEXT = "Kernel Name", "Address", "Source"
WARPS, THREADS = "Instructions Executed", "Thread Instructions Executed"
REQUESTS, SECTORS = "L1 Tag Requests Global", "L2 Theoretical Sectors Global"
CONFLICTS = "L1 Wavefronts Shared Excessive"
FIGURES = (WARPS, THREADS, REQUESTS, SECTORS, CONFLICTS)
STALL = "stall_"
NOT_ISSUED = " (Not Issued)"
"""How titles of the same samples end that count cycles without an instruction alone."""


@dataclass(frozen=True, slots=True)
class MachineCount:
    """What an instruction did.

    Attributes:
        address: in bytes from the start of its function.
        text: as the disassembler writes it.
        warps, threads: how often a warp, a thread executed it.
        requests, sectors: of global memory.
        conflicts: wavefronts of shared memory beyond those that are needed.
        stalls: samples of warps that stood at it, by the reason.
    """

    address: int
    text: str
    warps: int
    threads: int
    requests: int = 0
    sectors: int = 0
    conflicts: int = 0
    stalls: Mapping[str, int] = field(default_factory=dict)

    @property
    def operation(self) -> str:
        """What it is, without its guard and modifiers: `LDG`."""
        words = [word for word in self.text.split() if not word.startswith("@")]
        return words[0].partition(".")[0] if words else ""


@dataclass(frozen=True, slots=True)
class MeasuredKernel:
    """What the instructions of a launch did. `name`: of its entry, without parameters."""

    name: str
    counts: tuple[MachineCount, ...]


def read_page(lines: Iterable[str]) -> list[MeasuredKernel]:
    """The launches of a source page, in their order."""
    found: list[tuple[str, list[dict[str, str]]]] = []
    titles: list[str] = []
    for row in csv.reader(lines):
        first = row[0] if row else ""
        if first == NAME and len(row) > 1:
            found.append((row[1].partition("(")[0].split()[-1], []))
        elif ADDRESS in row and TEXT in row:
            titles = row
        elif found and titles and len(row) >= len(titles) - 1:
            values = dict(zip(titles, row, strict=False))
            if values[ADDRESS].strip():
                found[-1][1].append(values)
    return [MeasuredKernel(name, tuple(_counts(rows))) for name, rows in found]


def _counts(rows: list[dict[str, str]]) -> Iterable[MachineCount]:
    start = min((int(row[ADDRESS], 16) for row in rows), default=0)
    for row in rows:
        stalls = {
            title.removeprefix(STALL): samples
            for title in row
            if title.startswith(STALL) and not title.endswith(NOT_ISSUED)
            if (samples := _number(row, title))
        }
        warps, threads, requests, sectors, conflicts = (_number(row, title) for title in FIGURES)
        address = int(row[ADDRESS], 16) - start
        yield MachineCount(address, row[TEXT].strip(), warps, threads, requests, sectors, conflicts, stalls)


def _number(row: Mapping[str, str], title: str) -> int:
    """A count; 0 where there is none."""
    text = row.get(title, "").replace(",", "").strip()
    try:
        return round(float(text))
    except ValueError:
        return 0
