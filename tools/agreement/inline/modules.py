"""Whole modules as compilers wrote them, and the same with one token deleted, doubled or replaced."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import ptxkit
from ptxkit.asm.format import format_file

from ..oracle import Verdict
from .judge import assemble

CHANGES = ("delete", "double", "replace")
LARGEST = 100_000
"""Largest module that is changed, in bytes: ptxas is asked once for each change."""
_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\.(?:version|target|address_size)[^\n]*)
    |(?P<modifier>\.\w+(?:::\w+)*)|(?P<register>%[\w$]+(?:\.[xyzw])?)|(?P<number>\d[\w.]*)|(?P<name>[\w$]+)|(?P<mark>.)""",
    re.DOTALL | re.VERBOSE,
)
_PLACE = re.compile(r"\.version\s+([\d.]+).*?\.target\s+(\w+)", re.DOTALL)


def verdicts(folder: Path, changes: int, seed: int) -> Iterator[Verdict]:
    """Both verdicts on the modules below a folder, and on as many changed ones."""
    files = sorted(folder.rglob("*.ptx"))
    random_ = random.Random(seed)
    small = [file for file in files if file.stat().st_size <= LARGEST and _tokens(file.read_text("utf-8"))]
    for file in files:
        text = file.read_text(encoding="utf-8")
        yield judge(text, str(file.relative_to(folder)), "", file.name)
    for number in range(changes):
        file = small[number % len(small)]
        text = file.read_text(encoding="utf-8")
        change = CHANGES[number // len(small) % len(CHANGES)]
        changed, line = _changed(text, change, random_)
        yield judge(changed, str(file.relative_to(folder)), change, line)


def judge(text: str, where: str, change: str, shown: str) -> Verdict:
    """Both verdicts on a module."""
    place = _PLACE.search(text)
    if place is None:
        raise ValueError(f"{where} has no .version and .target")
    log, code = assemble(text, place[2])
    theirs = next(
        (line for line in log.split("\n") if "error" in line or "fatal" in line), f"(exit code {code})"
    )
    errors = [d for d in ptxkit.check(ptxkit.parse(text)) if d.is_error]
    ours = f"{errors[0].code} {errors[0].message}" if errors else None
    return Verdict(shown, where, change, f"{place[1]} {place[2]}", theirs if code else None, ours)


def _tokens(text: str) -> list[re.Match[str]]:
    """What can be changed: neither blanks, comments and strings nor the three lines of the header."""
    return [token for token in _TOKEN.finditer(text) if token.lastgroup != "skip"]


def _changed(text: str, change: str, random_: random.Random) -> tuple[str, str]:
    """The module with one token changed, and its line: the token and what became of it in brackets."""
    tokens = _tokens(text)
    kinds: dict[str, list[str]] = defaultdict(list)
    for token in tokens:
        kinds[token.lastgroup or ""].append(token[0])
    chosen = random_.choice(tokens)
    new = {
        "delete": "",
        "double": f"{chosen[0]} {chosen[0]}" if chosen.lastgroup != "modifier" else chosen[0] * 2,
        "replace": random_.choice(kinds[chosen.lastgroup or ""]),
    }[change]
    made = text[: chosen.start()] + new + text[chosen.end() :]
    start, end = text.rfind("\n", 0, chosen.start()) + 1, text.find("\n", chosen.end())
    line = f"{text[start : chosen.start()]}[{chosen[0]} -> {new}]{text[chosen.end() : end]}"
    return made, " ".join(line.split())


def part(found: Iterable[Verdict]) -> dict[str, Any]:
    """The verdicts counted by what was changed, and every disagreement."""
    from .record import entry

    changes: dict[str, Counter[str]] = {}
    differ = []
    for verdict in found:
        counts = changes.setdefault(verdict.change or "as written", Counter())
        counts["modules"] += 1
        counts["accepted"] += verdict.theirs is None
        counts["differ"] += not verdict.agrees
        counts["refused by ptxkit alone"] += verdict.theirs is None and verdict.ours is not None
        if not verdict.agrees:
            differ.append(entry(verdict))
    return {"changes": {name: dict(counts) for name, counts in changes.items()}, "differ": differ}


def unstable(folder: Path) -> list[str]:
    """What is wrong with reading, writing and laying out the modules below a folder.

    A module is written back as it was, and what has been laid out is laid out the same again.
    """
    found = []
    for file in sorted(folder.rglob("*.ptx")):
        text = file.read_text(encoding="utf-8")
        if ptxkit.write(ptxkit.parse(text)) != text:
            found.append(f"{file.name}: written otherwise than read")
        once = format_file(ptxkit.parse(text))
        if format_file(ptxkit.parse(once)) != once:
            found.append(f"{file.name}: laid out otherwise the second time")
    return found
