"""What is new in a ptxas, and what of that the rows lack."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import ptxkit
from ptxkit import targets

from .asking import Assembler, refused
from .trials import Trial

FIRST = ("sm_107a", "sm_100a", "sm_90a", "sm_120a", "sm_103a", "sm_110a", "sm_90")
"""Targets in the order in which statements are tried, before all others."""
_VERSION = re.compile(r"requires PTX ISA \.version (\d+)\.(\d+)")
_DEPRECATED = re.compile(r"deprecated in PTX version (\d+)\.(\d+)")


@dataclass
class Feature:
    """A statement that came with a version.

    Attributes:
        trial: the statement.
        version: since when, by ptxas's message.
        message: the message.
        accepted: the targets that have it.
        words: its modifiers that no row of the versions before has.
    """

    trial: Trial
    version: targets.Version
    message: str
    accepted: list[str]
    words: list[str]

    @property
    def since(self) -> str:
        """As a row says it: `9.5 sm_100`."""
        needs = needs_of(self.accepted)
        return f"{targets.show(self.version)} {needs}".strip()


@dataclass
class Found:
    """What a comparison found.

    Attributes:
        lacking: statements that the rows lack, each spelling once.
        had: statements that are new to the one ptxas and that the rows have.
        unbound: what the new ptxas takes, and the old one not, at any version: leniencies, mended faults.
        deprecated: warnings that name a version.
        tried: how many statements there were.
        taken: how many the new ptxas takes.
    """

    lacking: list[Feature] = field(default_factory=list)
    had: list[Trial] = field(default_factory=list)
    unbound: list[Trial] = field(default_factory=list)
    deprecated: set[str] = field(default_factory=set)
    tried: int = 0
    taken: int = 0


def compare(
    trials: Iterable[Trial],
    old: Assembler,
    new: Assembler,
    known: targets.Version,
    vocabulary: frozenset[str],
) -> Found:
    """Put statements to two releases, and what is new to the checker.

    Args:
        trials: the statements.
        old: the ptxas before.
        new: the new one.
        known: the newest version of the rows that count.
        vocabulary: the modifiers of those rows.
    """
    given = dict(enumerate({(t.statement, t.kernel): t for t in trials}.values()))
    found = Found(tried=len(given))
    all_targets = new.targets()
    order = [*(name for name in FIRST if name in all_targets), *(n for n in all_targets if n not in FIRST)]
    where: dict[int, str] = {}
    pending = dict(given)
    shown: set[str] = set()
    for target in order:
        messages, warned = refused(new, new.version, target, pending)
        found.deprecated |= {w for w in warned if _beyond(_DEPRECATED, w, old.version)}
        for number in [number for number in pending if number not in messages]:
            where[number] = target
            shown.add(pending.pop(number).statement)
        # Another choice of the same statement's types or constants was taken.
        pending = {n: trial for n, trial in pending.items() if trial.statement not in shown}
        # What every target refuses alike is refused: only what lacks a target is tried on.
        pending = {n: trial for n, trial in pending.items() if _wants_target(messages.get(n, ""))}
    found.taken = len(where)
    for target in dict.fromkeys(where.values()):
        taken = {number: given[number] for number, at in where.items() if at == target}
        _sort(found, taken, target, (old, new), known, vocabulary)
    _spread(found.lacking, new)
    return found


def _wants_target(message: str) -> bool:
    return bool(re.search(r"target|sm_\d|not supported|illegal modifier|requires", message, re.IGNORECASE))


def _beyond(pattern: re.Pattern[str], message: str, before: targets.Version) -> targets.Version | None:
    """The version that a message names, where it is newer."""
    match = pattern.search(message)
    version = (int(match[1]), int(match[2])) if match else None
    return version if version is not None and version > before else None


def _sort(
    found: Found,
    taken: dict[int, Trial],
    target: str,
    releases: tuple[Assembler, Assembler],
    known: targets.Version,
    vocabulary: frozenset[str],
) -> None:
    """Tell apart what the new ptxas takes on a target."""
    old, new = releases
    since, _ = refused(new, old.version, target, taken)
    before, _ = refused(old, old.version, target, taken)
    spelled = set()
    for number, trial in taken.items():
        if number not in before:
            continue
        version = _beyond(_VERSION, since.get(number, ""), old.version)
        if version is None:
            if number not in since:
                found.unbound.append(trial)
            continue
        shape = re.sub(r"\d+", "0", trial.statement)
        if shape in spelled:
            continue
        spelled.add(shape)
        if rows_have(trial, known, target):
            found.had.append(trial)
            continue
        modifiers = trial.statement.split(" ")[0].rstrip(";").split(".")[1:]
        words = [word for word in modifiers if word not in vocabulary]
        found.lacking.append(Feature(trial, version, since[number], [target], words))


def rows_have(trial: Trial, known: targets.Version, target: str) -> bool:
    """Whether the checker takes a statement for a version."""
    head = f".version {targets.show(known)}\n.target {target}\n.address_size 64\n"
    return not any(d.is_error for d in ptxkit.check(ptxkit.parse(head + trial.kernel.replace("NAME", "k"))))


def _spread(features: Sequence[Feature], new: Assembler) -> None:
    """Every target that has each feature."""
    numbered = {number: feature.trial for number, feature in enumerate(features)}
    having: dict[int, list[str]] = {number: [] for number in numbered}
    for target in new.targets() if features else ():
        messages, _ = refused(new, new.version, target, numbered)
        for number in numbered:
            if number not in messages:
                having[number].append(target)
    for number, feature in enumerate(features):
        feature.accepted = having[number]


def needs_of(accepted: Sequence[str]) -> str:
    """The shortest list of needs that these targets satisfy and no others do; `` where every target does."""
    known = [targets.TARGETS[name] for name in targets.SUPPORTED]
    wanted = {name for name in accepted if name in targets.TARGETS}
    meant = {
        need.name: {t.name for t in known if t.satisfies(need.name)}
        for need in sorted(known, key=lambda t: (t.suffix == "a", t.suffix, t.number))
    }
    fitting = {need: names for need, names in meant.items() if names and names <= wanted}
    if wanted == {target.name for target in known}:
        return ""
    chosen: list[str] = []
    left = set(wanted)
    while left and fitting:
        need = max(fitting, key=lambda n: len(fitting[n] & left))
        if not fitting[need] & left:
            break
        chosen.append(need)
        left -= fitting[need]
    return " ".join(chosen)
