"""The phases of a barrier that a part of the warps come to: who meets whom. PTX ISA 9.7.13.1.

A phase is complete when as many threads have arrived as it expects, and orders those alone. Where more
arrive than one phase takes, and nothing orders their arrivals, it is the schedule's choice which of them
meet. A warp is then sure of what it learns whomever it meets, and of nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ptxkit.emulator.faults import Site
from ptxkit.emulator.happens_before import HappensBefore

TABLES = ("clocks", "proxied", "acquired", "fenced", "initialised", "completed")
"""What `HappensBefore` keeps of each row, and a barrier hands on."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """More arrivals than a phase takes, which nothing orders.

    Attributes:
        number: the event that completed one of their phases.
        expected: threads of a phase.
        site: the instruction by which the first of them arrived.
        rows: who came.
    """

    number: int
    expected: int
    site: Site
    rows: frozenset[int]


@dataclass(slots=True, eq=False)
class Phases:
    """Who took part in which phase of a barrier, for all CTAs of a batch.

    Attributes:
        last: by CTA and row, the event that completed the last phase in which the row took part, and the rows
            that waited for that.
        coming: rows that arrive together with those of the phase at hand, but after these.
        before: what all rows knew when they came, while `coming` is kept.
        crowds: by CTA the last one.
    """

    last: dict[int, dict[int, tuple[int, list[int]]]] = field(default_factory=dict)
    coming: frozenset[int] = frozenset()
    before: dict[str, np.ndarray] | None = None
    crowds: dict[int, Crowd] = field(default_factory=dict)

    def meet(
        self,
        happens_before: HappensBefore,
        cta: int,
        arrived: np.ndarray,
        waiting: np.ndarray,
        covered: np.ndarray,
        number: int,
        expected: int,
        site: Site,
    ) -> None:
        """A phase of a CTA is complete.

        Args:
            happens_before: the clocks.
            cta: the CTA.
            arrived: rows that took part.
            waiting: those of them that waited.
            covered: for each of `arrived`, the number up to which its accesses are covered.
            number: the event of the completion.
            expected: threads of a phase.
            site: the instruction by which the first of them arrived.
        """
        last = self.last.setdefault(cta, {})
        here = arrived.tolist()
        others = self._others(happens_before, last, here, cta)
        if others:
            self._meet_some(happens_before, arrived, waiting, covered, others, number)
            self.crowds[cta] = Crowd(number, expected, site, frozenset((*here, *others)))
        else:
            happens_before.meet(arrived, waiting, covered)
        last.update(dict.fromkeys(here, (number, waiting.tolist())))

    def _others(
        self, happens_before: HappensBefore, last: dict[int, tuple[int, list[int]]], here: list[int], cta: int
    ) -> list[int]:
        """The rows of the CTA that might have come in place of one that did."""
        absent = last.keys() - here
        if not absent and not self.coming:
            return []
        coming = [row for row in self.coming if row // happens_before.batch.warps_per_cta == cta]
        found = [
            row
            for row in absent
            if not all(
                _saw_complete(happens_before, one, *last[row]) or _with(last, one, row) for one in here
            )
        ]
        return sorted({*found, *coming})

    def _meet_some(
        self,
        happens_before: HappensBefore,
        arrived: np.ndarray,
        waiting: np.ndarray,
        covered: np.ndarray,
        others: Sequence[int],
        number: int,
    ) -> None:
        """Each row learns what it would have learnt of any as many of those who came."""
        everyone = np.concatenate([arrived, np.array(others, arrived.dtype)])
        covers = np.concatenate([covered, np.full(len(others), number)])
        met = len(arrived) - 1
        learnt: dict[str, list[np.ndarray]] = {name: [] for name in TABLES}
        for row in waiting.tolist():
            rest = everyone != row
            for name in TABLES:
                table = getattr(happens_before, name) if self.before is None else self.before[name]
                known = table[everyone[rest]]
                if name == "clocks":
                    columns = happens_before.column[everyone[rest]]
                    known[np.arange(len(known)), columns] = covers[rest]
                # Of those it may have met, the ones that knew least of a place knew this much.
                least = np.sort(known, axis=0)[met - 1] if met else np.zeros_like(known[0])
                learnt[name].append(least)
        for name, each in learnt.items():
            if len(waiting):
                table = getattr(happens_before, name)
                table[waiting] = np.maximum(table[waiting], np.stack(each))
        happens_before.warps_meet(waiting, number)


def _saw_complete(happens_before: HappensBefore, row: int, number: int, waited: list[int]) -> bool:
    """Whether a row had seen, when it came, that the phase was complete for which some rows had waited."""
    if happens_before.pending[row] > number:
        return True
    return any(int(happens_before.clocks[row, happens_before.column[one]]) >= number for one in waited)


def _with(last: dict[int, tuple[int, list[int]]], row: int, other: int) -> bool:
    """Whether two rows took part in the same phase last."""
    return row in last and last[row][0] == last[other][0]
