"""Statements of real files, each with one change, and the files for other targets."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import ptxkit
from ptxkit import targets
from ptxkit.asm.tree import Function, Instruction, walk
from ptxkit.isa import registry

from .mutations import mutate
from .oracle import Sheet, Verdict, frame_stands
from .oracle import judge as both

_TARGET = re.compile(r"\.target\s+(\w+)")
_VERSION = re.compile(r"\.version\s+(\d+)\.(\d+)")
LITERALS = ("1", "-7", "1.5", "0f3F800000", "_", "%tid.x", "%clock64")
KEPT = ("call", "ret", "bra", "brx")
"""Opcodes that are left alone: what they do to the flow of control would change what else is checked."""


def jobs(folder: Path, limit: int, elsewhere: int, seed: int) -> list[tuple[Path, int, int, int]]:
    """One job a file: path, number of changed statements, of other targets, seed.

    Raises:
        FileNotFoundError: there are no PTX files.
    """
    files = sorted(folder.rglob("*.ptx"))
    if not files:
        raise FileNotFoundError(f"no PTX files below {folder}")
    each = -(-limit // len(files))
    return [(file, each, elsewhere, seed) for file in files]


def judge(job: tuple[Path, int, int, int]) -> list[Verdict]:
    """Both verdicts on the changed statements of one file, and on its statements for other targets."""
    path, limit, elsewhere, seed = job
    random_ = random.Random(f"{path.name} {seed}")
    text = path.read_text()
    lines = text.split("\n")
    target = _TARGET.search(text)
    version = _VERSION.search(text)
    assert target, path
    assert version, path
    place = f"{version[1]}.{version[2]} {target[1]}"
    found: list[Verdict] = []
    statements = _statements(text)
    while len(found) < limit:
        trials: dict[int, tuple[str, str]] = {}
        for line, (instruction, operands) in statements.items():
            if len(found) + len(trials) < limit and random_.random() < 0.5:
                vocabulary = sorted({m for f in registry.forms(instruction.opcode) for m in f.modifiers}) or [
                    "u32"
                ]
                changed = mutate(lines[line], random_, vocabulary, operands)
                if changed:
                    trials[line] = changed
        page = Sheet(lines, {line: change[0] for line, change in trials.items()}, _architecture(target[1]))
        theirs, ours = both(page)
        found += [
            Verdict(text.strip(), path.name, change, place, theirs.get(line), ours.get(line))
            for line, (text, change) in trials.items()
        ]
    for _ in range(elsewhere):
        found += _elsewhere(path.name, text, list(statements), (int(version[1]), int(version[2])), random_)
    return found


def _elsewhere(
    name: str, text: str, statements: Sequence[int], own: targets.Version, random_: random.Random
) -> Iterator[Verdict]:
    """Verdicts on each spelling of a file for another target and version."""
    target = random_.choice(targets.SUPPORTED)
    since = max(targets.TARGETS[target].since, (6, 4))
    version = random_.choice([v for v in targets.RELEASES if since <= v <= max(own, since)])
    text = _VERSION.sub(
        f".version {targets.show(version)}", _TARGET.sub(f".target {target}", text, count=1), count=1
    )
    lines = text.split("\n")
    spellings: dict[str, int] = {}
    for line in statements:
        spellings.setdefault(re.sub(r"[%$]\w+", "%", lines[line]), line)
    kept = set(spellings.values())
    blank = ["" if i in statements else line for i, line in enumerate(lines)]
    page = Sheet(blank, {line: lines[line] for line in kept}, _architecture(target))
    if not frame_stands(page):
        return  # The file's own directives are not for this target and version.
    theirs, ours = both(page)
    for line in kept:
        place = f"{targets.show(version)} {target}"
        yield Verdict(lines[line].strip(), name, "elsewhere", place, theirs.get(line), ours.get(line))


def _architecture(target: str) -> str:
    return target.replace("sm_101", "sm_110").replace("sm_", "compute_")


def _statements(text: str) -> dict[int, tuple[Instruction, list[str]]]:
    """The instructions that have a line of their own, by line from 0, each with operands of its function."""
    found: dict[int, tuple[Instruction, list[str]]] = {}
    crowded: set[int] = set()
    lines = text.split("\n")
    for function in ptxkit.parse(text).statements:
        if not isinstance(function, Function) or function.body is None:
            continue
        instructions = [s for s in walk(function.body.statements) if isinstance(s, Instruction) and s.span]
        body = "\n".join(lines[i.span.line - 1] for i in instructions if i.span)
        names = sorted(set(re.findall(r"%\w+", body)))
        operands = [*names, *LITERALS, *(f"[{name}]" for name in names[:4])]
        for instruction in instructions:
            assert instruction.span
            line = instruction.span.line - 1
            if line in found or instruction.span.end_line != instruction.span.line:
                crowded.update(range(line, instruction.span.end_line))
            elif instruction.opcode not in KEPT:
                found[line] = (instruction, operands)
    return {line: given for line, given in found.items() if line not in crowded}


def verdicts(folder: Path, limit: int, elsewhere: int, seed: int) -> Iterator[Verdict]:
    """Both verdicts on `limit` changed statements of the files below a folder."""
    with ProcessPoolExecutor() as pool:
        for found in pool.map(judge, jobs(folder, limit, elsewhere, seed)):
            yield from found
