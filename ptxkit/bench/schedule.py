"""The order of measurements: problem by problem, and within one all kernels, the floor and the roofs in turn.

What is compared takes turns, trial by trial, so that a drift of the machine falls on all alike.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

from ptxkit.bench.measurement import ArithmeticRoof, BenchState, Roof, problem_key
from ptxkit.bench.settings import Settings
from ptxkit.bench.statistics import Figure, Trial
from ptxkit.diagnostics import Diagnostic, PtxkitError
from ptxkit.plan import LaunchPlan
from ptxkit.running.report import Report


class Call(Protocol):
    """Calls a method of a `Bench`, here or in a worker."""

    def __call__(self, method: str, *args: Any, plan: LaunchPlan | None = None) -> Any:
        """What the method gives; raises what it raises."""


class Schedule:
    """All measurements of a bench.

    Args:
        plans: what to measure, in the order in which states are to be reported.
        settings: how.
        call: reaches the `Bench`.

    Attributes:
        call: reaches the `Bench`.
        now: what is measured now, for a line of progress.
    """

    def __init__(self, plans: Sequence[LaunchPlan], settings: Settings, call: Call) -> None:
        self.plans = list(plans)
        self.settings = settings
        self.now = ""
        self.call = call
        self._steps = len(self.plans) * (settings.trials + 1)
        self._done = 0

    def progress(self) -> float | None:
        """The part of all measurements that is done, 0 to 1. For any thread."""
        return min(1.0, self._done / self._steps) if self._steps else None

    def run(self) -> Iterator[tuple[int, BenchState]]:
        """Each plan's place in the list and its state, problem by problem."""
        for places in self.problems():
            yield from self.measure(places).items()

    def problems(self) -> list[list[int]]:
        """The places of the plans, those of one problem together."""
        problems: dict[Any, list[int]] = {}
        for place, plan in enumerate(self.plans):
            problems.setdefault(problem_key(plan), []).append(place)
        return list(problems.values())

    def measure(self, places: Sequence[int]) -> dict[int, BenchState]:
        """The states of one problem's plans, by their places."""
        return dict(_Problem(self, places).measure())

    def step(self, plan: LaunchPlan, what: str) -> None:
        """Say what comes next."""
        self.now = f"{plan.program.name} {plan.preset or ''} {what}".replace("  ", " ")

    def stepped(self) -> None:
        """One step of `Schedule.progress` is done."""
        self._done += 1


class _Problem:
    """The kernels of one problem."""

    def __init__(self, schedule: Schedule, places: Sequence[int]) -> None:
        self.schedule = schedule
        self.plans = {place: schedule.plans[place] for place in places}
        self.reports: dict[int, Report] = {}
        self.failures: dict[int, tuple[Diagnostic, ...]] = {}
        self.trials: dict[int, list[Trial]] = {}
        self.floor: list[Trial] = []
        self.roofless: dict[str, tuple[Diagnostic, ...]] = {}
        self.roofs: dict[tuple[str, int, int], tuple[int, list[Trial]]] = {}
        self.arithmetic: list[ArithmeticRoof] = []

    def measure(self) -> Iterator[tuple[int, BenchState]]:
        """Verify all, then all trials, then the states."""
        for place, plan in self.plans.items():
            self._verify(place, plan)
        timed = [place for place, report in self.reports.items() if report.kind == "cuda" and report.ok]
        for number in range(self.schedule.settings.trials if timed else 0):
            for place in timed:
                self._trial(place, number)
            self._surroundings([place for place in timed if place not in self.failures])
        for place, plan in self.plans.items():
            yield place, self._state(place, plan)

    def _verify(self, place: int, plan: LaunchPlan) -> None:
        self.schedule.step(plan, "verified")
        try:
            self.reports[place] = self.schedule.call("verify", plan, plan=plan)
        except PtxkitError as problem:
            self.failures[place] = problem.diagnostics
        self.schedule.stepped()

    def _trial(self, place: int, number: int) -> None:
        plan = self.plans[place]
        self.schedule.step(plan, f"trial {number + 1} of {self.schedule.settings.trials}")
        if place not in self.failures:
            try:
                trial = self.schedule.call("trial", plan, plan=plan)
                self.trials.setdefault(place, []).append(trial)
            except PtxkitError as problem:
                self.failures[place] = problem.diagnostics
        self.schedule.stepped()

    def _surroundings(self, places: Sequence[int]) -> None:
        """A trial of the floor, and one of each roof."""
        if not places:
            return
        self.floor.append(self.schedule.call("floor"))
        cost = self.reports[places[0]].cost
        if cost is None or not self.schedule.settings.roofs:
            return
        # The kernels' own figures stand without a roof, where memory is too short for it above all.
        if "memory" not in self.roofless:
            try:
                for kind in roofs_of(cost.bytes_read, cost.bytes_written):
                    ctas, trial = self.schedule.call("roof", kind[1], kind[2])
                    self.roofs.setdefault(kind, (ctas, []))[1].append(trial)
            except PtxkitError as problem:
                self.roofless["memory"] = problem.diagnostics
                self.roofs.clear()
        if cost.arithmetic and cost.operations and "arithmetic" not in self.roofless:
            try:
                roof = self.schedule.call("arithmetic_roof", cost.arithmetic, cost.operations)
                self.arithmetic.append(roof)
            except PtxkitError as problem:
                self.roofless["arithmetic"] = problem.diagnostics
                self.arithmetic.clear()

    def _state(self, place: int, plan: LaunchPlan) -> BenchState:
        report = self.reports.get(place)
        if place in self.failures or report is None or place not in self.trials:
            return BenchState(plan, report, failure=self.failures.get(place, ()))
        return BenchState(
            plan,
            report,
            Figure.of(self.trials[place]),
            Figure.of(self.floor),
            tuple(
                Roof(name, read, written, ctas, Figure.of(trials))
                for (name, read, written), (ctas, trials) in self.roofs.items()
            ),
            roofless=tuple(itertools.chain.from_iterable(self.roofless.values())),
            arithmetic=self._arithmetic(),
        )

    def _arithmetic(self) -> ArithmeticRoof | None:
        """The rounds' arithmetic roofs as one."""
        if not self.arithmetic:
            return None
        trials = [trial for roof in self.arithmetic for trial in roof.figure.trials]
        return replace(self.arithmetic[0], figure=Figure.of(trials))


def roofs_of(bytes_read: int, bytes_written: int) -> list[tuple[str, int, int]]:
    """The traffic whose time bounds a problem, its own first: name, bytes read, bytes written; each once."""
    total = bytes_read + bytes_written
    half = total // 2
    kinds = [("problem", bytes_read, bytes_written), ("read", total, 0), ("copy", half, total - half)]
    seen: dict[tuple[int, int], str] = {}
    for name, read, written in kinds:
        seen.setdefault((read, written), name)
    return [(name, *traffic) for traffic, name in seen.items()]
