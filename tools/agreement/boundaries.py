"""Statements of every row at both sides of each boundary of version and target.

Of each statement the row says where it may stand: for each target the oldest version, if any. It is put to
ptxas for the newest version on every two neighbouring targets of which one has it, and, for each oldest
version, on a target that has it since then, for that version and the one before.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise

from ptxkit import targets
from ptxkit.isa.notation import Form
from ptxkit.isa.sample import Sample, samples

from . import assemblers
from .rows import OLDEST, Case, Place, allowed, with_mode

BESIDE = "another version or target"
WHERE_IT_IS = "where it is"


def cases(forms: Iterable[Form], limit: int, seed: int) -> list[Case]:
    """Statements at the boundaries of their rows.

    Args:
        forms: the rows.
        limit: statements of a row.
        seed: of everything that is chosen.
    """
    random_ = random.Random(f"boundaries {seed}")
    found: dict[Case, None] = {}
    for form in forms:
        row = f"{form.section} {form.syntax}"
        for sample in samples(form, limit, seed):
            for place, has in places(form, sample, random_):
                found[Case(sample.text, place, row, WHERE_IT_IS if has else BESIDE)] = None
    return [case for case in found if allowed(case)]


def places(form: Form, sample: Sample, random_: random.Random) -> Iterator[tuple[Place, bool]]:
    """Each version and target beside a boundary, and whether the row has the statement there."""
    newest = assemblers.newest_version()
    known = [targets.TARGETS[name] for name in targets.SUPPORTED]
    known = [target for target in known if target.since <= newest]
    chosen: dict[Place, bool] = {}

    def put(version: targets.Version, target: targets.Target) -> None:
        if version >= max(OLDEST, target.since):
            place = version, with_mode(target.name, form, sample)
            chosen[place] = form.available(version, target, sample.facts)

    for one, other in neighbours(known):
        if form.available(newest, one, sample.facts) != form.available(newest, other, sample.facts):
            put(newest, one)
            put(newest, other)
    since = defaultdict(list)
    for target in known:
        oldest = next((v for v in targets.RELEASES if form.available(v, target, sample.facts)), None)
        if oldest is not None and oldest <= newest:
            since[max(oldest, target.since)].append(target)
    for version, having in sorted(since.items()):
        target = random_.choice(having)
        put(version, target)
        before = [v for v in targets.RELEASES if v < version]
        if before:
            put(before[-1], target)
    yield from chosen.items()


def neighbours(known: Iterable[targets.Target]) -> Iterator[tuple[targets.Target, targets.Target]]:
    """Targets next to each other: of one kind by number, and of one number by kind."""
    by_kind, by_number = defaultdict(list), defaultdict(list)
    for target in sorted(known, key=lambda target: (target.number, target.suffix)):
        by_kind[target.suffix].append(target)
        by_number[target.number].append(target)
    for line in (*by_kind.values(), *by_number.values()):
        yield from pairwise(line)
    for numbered in by_number.values():
        if len(numbered) == 3:  # the plain one, `a` and `f`
            yield numbered[0], numbered[2]
