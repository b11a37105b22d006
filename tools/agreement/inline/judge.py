"""Both verdicts on texts: ptxas makes code of them, the checker reads them."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import ptxkit

from ..oracle import Verdict
from .text import Text, entry

PLACES = (
    ("9.0", "sm_75"),
    ("9.0", "sm_80"),
    ("9.0", "sm_90"),
    ("9.0", "sm_90a"),
    ("9.0", "sm_100a"),
    ("9.0", "sm_103a"),
    ("9.0", "sm_120a"),
    ("6.3", "sm_75"),
)
"""Versions and targets in the order in which they are tried; 6.3 has what 6.4 took from `shfl` and `vote`."""
BATCH = 150
ALONE = {"wgmma.": {("9.0", "sm_90a")}, "tcgen05.": {("9.0", "sm_100a"), ("9.0", "sm_103a")}}
"""The only places of families that have thousands of long texts."""
_LINE = re.compile(r", line (\d+); (?:fatal|error)\s*: (.*)")
_NAMED = re.compile(r"ptxas (?:fatal|error)\s*: (.*'(k\d+)'.*)")


def judge(texts: Sequence[Text]) -> Iterator[tuple[Text, list[Verdict]]]:
    """Each text with the verdicts on it: one a place, until ptxas takes it.

    Constants that the source leaves open are one choice of numbers after the other, until ptxas takes one.
    """
    found: dict[int, list[Verdict]] = {number: [] for number in range(len(texts))}
    pending = set(found)
    attempts = [text.attempts() for text in texts]
    for number in range(max(map(len, attempts), default=0)):
        for place in PLACES:
            given = {
                f"k{i}": (texts[i], attempts[i][number])
                for i in sorted(pending)
                if number < len(attempts[i]) and _belongs(texts[i], place)
            }
            for name, verdict in (_verdicts(given, place) if given else {}).items():
                found[int(name[1:])].append(verdict)
                if verdict.theirs is None:
                    pending.discard(int(name[1:]))
    yield from ((texts[i], verdicts) for i, verdicts in found.items())


def _belongs(text: Text, place: tuple[str, str]) -> bool:
    return all(place in places for family, places in ALONE.items() if family in text.template)


def _verdicts(given: Mapping[str, tuple[Text, Sequence[str]]], place: tuple[str, str]) -> dict[str, Verdict]:
    entries = {name: entry(text, name, constants) for name, (text, constants) in given.items()}
    theirs, ours = by_ptxas(entries, place), by_checker(entries, place)
    for name in theirs.keys() ^ ours.keys():  # Once more, alone: a neighbour may have spoilt it.
        alone = {name: entries[name]}
        theirs.pop(name, None)
        ours.pop(name, None)
        theirs |= by_ptxas(alone, place)
        ours |= by_checker(alone, place)
    return {
        name: Verdict(
            " ".join(text.substituted(constants).split()),
            text.where,
            "",
            " ".join(place),
            theirs.get(name),
            ours.get(name),
        )
        for name, (text, constants) in given.items()
    }


def module(entries: Mapping[str, str], place: tuple[str, str]) -> tuple[str, list[str]]:
    """A module of kernels, and for each line from 0 the kernel that it belongs to."""
    lines, owners = [f".version {place[0]}", f".target {place[1]}", ".address_size 64"], ["", "", ""]
    for name, text in entries.items():
        for line in text.split("\n"):
            lines.append(line)
            owners.append(name)
    return "\n".join(lines) + "\n", owners


def by_ptxas(entries: Mapping[str, str], place: tuple[str, str]) -> dict[str, str]:
    """The kernels that ptxas makes no code of, each with its first message."""
    refused: dict[str, str] = {}
    alive = dict(entries)
    while alive:
        text, owners = module(alive, place)
        log, code = assemble(text, place[1])
        if code == 0:
            break
        bad: dict[str, str] = {}
        for line, message in _LINE.findall(log):
            bad.setdefault(owners[min(int(line), len(owners)) - 1], message)
        for message, name in _NAMED.findall(log):
            bad.setdefault(name, message)
        bad.pop("", None)
        if not bad and len(alive) == 1:
            bad = dict.fromkeys(alive, log.strip().split("\n")[0] or f"(exit code {code})")
        elif not bad:
            names = list(alive)
            half = len(names) // 2
            for part in (names[:half], names[half:]):
                bad |= by_ptxas({name: alive[name] for name in part}, place)
            refused |= bad
            break
        refused |= bad
        alive = {name: text for name, text in alive.items() if name not in bad}
    return refused


def assemble(text: str, target: str) -> tuple[str, int]:
    """What ptxas prints when it makes code of a module, and its exit code."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.ptx"
        path.write_text(text, encoding="utf-8")
        run = subprocess.run(
            ["ptxas", f"-arch={target}", str(path), "-o", os.devnull],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    return run.stderr + run.stdout, run.returncode


def by_checker(entries: Mapping[str, str], place: tuple[str, str]) -> dict[str, str]:
    """The kernels that the checker refuses, each with its first message."""
    text, owners = module(entries, place)
    refused: dict[str, str] = {}
    for diagnostic in ptxkit.check(ptxkit.parse(text)):
        if diagnostic.is_error:
            line = diagnostic.span.line if diagnostic.span else 1
            name = owners[min(line, len(owners)) - 1] or next(iter(entries))
            refused.setdefault(name, f"{diagnostic.code} {diagnostic.message}")
    return refused
