"""Every build of a source, every kernel of each, in lazy and in random order."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import ptxkit

from .build import CompilerError, expected, ptx, references
from .execute import Machine, Outcome, Verdict, inputs_of, judge
from .source import Kernel, Source


@dataclass
class Examined:
    """What came of a build, or of several.

    Attributes:
        lazy, random: how many launches in that order ended how.
        worst: the largest error of each kernel, in units in the last place.
        wrong: what is not right.
    """

    lazy: Counter[str] = field(default_factory=Counter)
    random: Counter[str] = field(default_factory=Counter)
    worst: dict[str, float] = field(default_factory=dict)
    wrong: list[dict[str, str]] = field(default_factory=list)

    def add(self, other: Examined) -> None:
        """Another build."""
        self.lazy.update(other.lazy)
        self.random.update(other.random)
        self.wrong += other.wrong
        for name, error in other.worst.items():
            self.worst[name] = max(self.worst.get(name, 0.0), error)


@dataclass(frozen=True)
class Build:
    """A source for a target at a level, and the seeds of random order that it is executed with."""

    source: Source
    target: str
    level: str
    seeds: tuple[int, ...]

    @property
    def name(self) -> str:
        """`sm_90a O3`."""
        return f"sm_{self.target} {self.level}"


def examine(
    chosen: Sequence[Source], targets: Sequence[str], levels: Sequence[str], seeds: int, workers: int = 1
) -> Iterator[tuple[Source, dict[str, Any]]]:
    """Examine sources, as many builds at once as there are workers; each with its part of the record."""
    builds = {source.name: _builds(source, targets, levels, seeds) for source in chosen}
    for source in chosen:
        references(source)  # compiled here once, not by each worker
    if workers == 1:
        for source in chosen:
            yield source, _entry(source, [examine_build(build) for build in builds[source.name]])
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        coming = {
            name: [pool.submit(examine_build, build) for build in some] for name, some in builds.items()
        }
        for source in chosen:
            yield source, _entry(source, [future.result() for future in coming[source.name]])


def _builds(source: Source, targets: Sequence[str], levels: Sequence[str], seeds: int) -> list[Build]:
    pairs = [(target, level) for level in levels for target in targets if number(target) >= source.since]
    return [
        Build(source, target, level, tuple(range(1 + at, seeds + 1, len(pairs))))
        for at, (target, level) in enumerate(pairs)
    ]


def _entry(source: Source, parts: Sequence[Examined]) -> dict[str, Any]:
    """A source's part of the record."""
    whole = Examined()
    for part in parts:
        whole.add(part)
    return {
        "source": source.name,
        "about": source.about,
        "kernels": len(source.kernels),
        "builds": len(parts),
        "lazy order": dict(whole.lazy),
        "random order": dict(whole.random),
        "largest error in ulp": {
            name: error for name, error in whole.worst.items() if source.kernels[name].ulp is not None
        },
        "wrong": whole.wrong,
    }


def examine_build(build: Build) -> Examined:
    """Launch every kernel of a build in lazy order, then with each of its seeds."""
    found, source = Examined(), build.source
    wrong = partial(_wrong, build.name)
    try:
        module = ptxkit.parse(ptx(source, build.target, build.level))
    except CompilerError as refused:
        found.wrong.append(wrong("", "", Outcome(Verdict.REFUSED, f"by nvcc: {refused}")))
        return found
    library = references(source)
    machine, others = Machine(module), {seed: Machine(module, "random", seed) for seed in build.seeds}
    for kernel in source.kernels.values():
        if not kernel.since <= number(build.target) <= kernel.until:
            continue
        right = [] if kernel.refused else expected(library, kernel, inputs_of(source, kernel))
        lazily = judge(machine.launch(source, kernel), source, kernel, right)
        found.lazy[lazily.verdict.value] += 1
        found.worst[kernel.name] = lazily.worst
        if lazily.verdict is not Verdict.RIGHT:
            found.wrong.append(wrong(kernel.name, "lazy", lazily))
        for seed, other in others.items():
            outcome = in_random_order(other, source, kernel, right, lazily)
            found.random[outcome.verdict.value] += 1
            if outcome.verdict is not Verdict.RIGHT:
                found.wrong.append(wrong(kernel.name, f"random {seed}", outcome))
    return found


def in_random_order(
    machine: Machine, source: Source, kernel: Kernel, right: list[Any], lazily: Outcome
) -> Outcome:
    """A launch in random order: right, and the same as the one in lazy order."""
    found = judge(machine.launch(source, kernel), source, kernel, right)
    if found.verdict is Verdict.RIGHT and found.outputs is not None and lazily.outputs is not None:
        pairs = zip(found.outputs, lazily.outputs, strict=True)
        if any(one.tobytes() != other.tobytes() for one, other in pairs):
            return Outcome(Verdict.WRONG, "other results than in lazy order", found.worst, found.outputs)
    return found


def number(target: str) -> int:
    """75 of `75`, 90 of `90a`."""
    return int(target.rstrip("af"))


def _wrong(build: str, kernel: str, order: str, outcome: Outcome) -> dict[str, str]:
    return {
        "build": build,
        "kernel": kernel,
        "order": order,
        "verdict": outcome.verdict.value,
        "detail": outcome.detail[:800],
    }
