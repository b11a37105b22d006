"""Each release of ptxas, asked what is new in which version: statements of rows newer than 9.0.

Every statement of the manual's is put to every release for the newest version that the release takes, and to
the newest release for every version: accepted from the version on that its row says, refused before.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from ptxkit import targets
from ptxkit.isa import registry
from ptxkit.isa.notation import Form
from ptxkit.isa.sample import Sample, samples

from . import assemblers, record, rows
from .oracle import Verdict

FIRST = (9, 0)
"""The version that has none of them."""


@dataclass(frozen=True)
class Question:
    """Statements for one version, put to one release."""

    release: str
    version: targets.Version

    @property
    def name(self) -> str:
        """As the record has it."""
        return f"ptxas {self.release}, `.version {targets.show(self.version)}`"


def questions() -> list[Question]:
    """Each release for its newest version, and the newest release for every version."""
    versions = [version for version in targets.RELEASES if FIRST <= version <= targets.NEWEST_VERSION]
    newest = list(assemblers.RELEASES)[-1]
    by_release = [
        Question(release, targets.newest_version_for_cuda(assemblers.number(release)))
        for release in assemblers.RELEASES
    ]
    return by_release + [Question(newest, version) for version in versions if version != versions[-1]]


def cases(version: targets.Version, limit: int, seed: int) -> list[rows.Case]:
    """Statements of each later row for a version, for a target that has the row then or later.

    Args:
        version: of the statements.
        limit: statements of a row.
        seed: of everything that is chosen.
    """
    random_ = random.Random(f"{version} {seed}")
    found = []
    for opcode in registry.opcodes():
        for form in registry.forms(opcode):
            if not _is_later(form):
                continue
            for sample in samples(form, limit, seed):
                target = _target(form, sample, version, random_)
                if target is not None and sample.of_manual:
                    found.append(rows.Case(sample.text, (version, target), f"{form.section} {form.syntax}"))
    return found


def _is_later(form: Form) -> bool:
    """Whether the row, or something in it, came after PTX ISA 9.0."""
    asked = (form.since, *(needed for _, needed in form.needs), *(above.needed for above in form.above))
    return any(version > FIRST for needed in asked for version, _ in needed.alternatives)


def _target(form: Form, sample: Sample, version: targets.Version, random_: random.Random) -> str | None:
    known = [name for name in targets.SUPPORTED if targets.TARGETS[name].since <= version]
    for at in (version, targets.NEWEST_VERSION):
        fitting = [name for name in known if form.available(at, targets.TARGETS[name], sample.facts)]
        if fitting:
            return random_.choice(fitting)
    return None


def part(limit: int, seed: int) -> dict[str, Any]:
    """The part of the record: what each release says, a line a release and version."""
    asked: list[Verdict] = []
    for question in questions():
        assemblers.use(question.release)
        found = rows.verdicts(cases(question.version, limit, seed))
        asked += [_renamed(verdict, question.name) for verdict in found]
    what = (
        f"Up to {limit} statements of each row of the manual's with something newer than PTX ISA 9.0, put to "
        "each release of ptxas for its newest version, and to the newest release for every version: taken "
        "from the version on that the row says, refused before."
    )
    return record.part(asked, {"what": what, "limit": limit, "seed": seed})


def _renamed(verdict: Verdict, change: str) -> Verdict:
    return Verdict(verdict.text, verdict.where, change, verdict.place, verdict.theirs, verdict.ours)
