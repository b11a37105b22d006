"""What came of chains: how often each thing was compared, what differed, which ones did not run.

A GPU may be had for few minutes at a time, so a record can be added to: by chains of other numbers, which
the same generator makes.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from compare.cases import Case
from compare.chains import judge
from compare.chains.model import Chain

SCHEMA = 2
EXAMPLES = 12
"""Chains that differ of which the record says how."""
COUNTERS = ("not_compared", "families", "opcodes", "first_to_differ")
SUMS = ("statements", "results", "of_clusters")


def generator(dealt: Sequence[Case]) -> str:
    """A digest of what makes chains what they are: the sources here, and the statements that are dealt."""
    found = hashlib.sha256()
    here = Path(__file__).parent
    for path in (*sorted(here.glob("*.py")), here.parent / "values.py"):
        found.update(path.read_bytes())
    for case in dealt:
        found.update(repr((case.before, case.text, case.after)).encode())
    return found.hexdigest()[:16]


class Tally:
    """What came of the chains.

    Args:
        document: of earlier chains, which these are added to.
    """

    def __init__(self, document: dict[str, Any] | None = None) -> None:
        old = document or {}
        totals = old.get("totals", {})
        self.sums = Counter({name: totals.get(name, 0) for name in SUMS})
        self.counters = {name: Counter(old.get(name, {})) for name in COUNTERS}
        self.compared = set(numbers(old.get("compared", "")))
        self.differ = set(numbers(old.get("differ", "")))
        self.optimized = set(numbers(old.get("differ_optimized", "")))
        self.unoptimized = {what: set(numbers(which)) for what, which in old.get("unoptimized", {}).items()}
        self.failed = {what: set(numbers(which)) for what, which in old.get("not_executed", {}).items()}
        self.examples: list[dict[str, Any]] = list(old.get("examples", []))
        self.spellings: set[str] = set()
        self.parts: list[dict[str, Any]] = list(old.get("parts", []))
        self.chains = 0
        """Of this run alone, as `spellings` are."""

    def add(self, chain: Chain, verdict: judge.Verdict) -> None:
        """Count one."""
        number = int(chain.name[1:])
        self.chains += 1
        for tried_before in self.failed.values():
            tried_before.discard(number)
        if verdict.failed:
            self.failed.setdefault(verdict.failed[:200], set()).add(number)
            print(f"{chain.name}: {verdict.failed}", file=sys.stderr)
            return
        self.compared.add(number)
        if verdict.unoptimized:
            self.unoptimized.setdefault(verdict.unoptimized[:200], set()).add(number)
        self.sums["of_clusters"] += chain.ctas == 2
        self.sums["statements"] += verdict.statements
        self.sums["results"] += verdict.results
        self.counters["not_compared"].update(
            {judge.REASONS[key]: count for key, count in verdict.open.items()}
        )
        for step in chain.steps:
            self.counters["families"][step.family] += 1
            self.counters["opcodes"][step.label.partition(".")[0].partition(" ")[0]] += 1
            self.spellings.add(step.label)
        if verdict.wrong:
            (self.optimized if verdict.optimized else self.differ).add(number)
            first = str(verdict.example.get("label", "what is left at the end"))
            self.counters["first_to_differ"][first] += 1
            said = {"chain": chain.name, "agrees unoptimized": verdict.optimized, **verdict.example}
            print(json.dumps(said), file=sys.stderr, flush=True)
            if len(self.examples) < EXAMPLES:
                self.examples.append(said)

    @property
    def good(self) -> bool:
        """Whether every chain was executed, and none differs but by what the driver's compiler optimises."""
        return not self.differ and not any(self.failed.values())

    def document(self, part: dict[str, Any]) -> dict[str, Any]:
        """The tally, JSON-able.

        Args:
            part: where this run's chains come from: date, commit, seconds.
        """
        alone = set().union(*self.unoptimized.values())
        totals = {
            "chains": len(self.compared),
            **{name: self.sums[name] for name in SUMS},
            "chains_that_differ": len(self.differ),
            "chains_that_differ_optimized": len(self.optimized),
            "chains_unoptimized": len(alone),
            "chains_not_executed": sum(map(len, self.failed.values())),
        }
        new = {**part, "chains": self.chains, "spellings": len(self.spellings)}
        return {
            "totals": totals,
            "parts": [*self.parts, new],
            "compared": ranges(self.compared),
            "differ": ranges(self.differ),
            "differ_optimized": ranges(self.optimized),
            "unoptimized": {why: ranges(which) for why, which in self.unoptimized.items()},
            "not_executed": {why: ranges(which) for why, which in self.failed.items() if which},
            **{name: dict(self.counters[name].most_common()) for name in COUNTERS},
            "examples": self.examples,
        }


def ranges(chosen: Collection[int]) -> str:
    """Numbers as text: `0-9 12`."""
    found: list[list[int]] = []
    for number in sorted(chosen):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in found)


def numbers(text: str) -> Iterable[int]:
    """The numbers of such a text."""
    for part in text.split():
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)
