"""Hold the checker against ptxas, statement by statement.

Each row of the instruction set makes sample statements; each is judged by ptxas (which checks without making
code where the architecture is `compute_XX`) and by `ptxkit.check`, under a version and target that the
row allows, and under others that it may not allow. With --mutate, statements are also changed: a modifier
dropped, doubled, swapped or replaced, an operand exchanged for another kind. Prints how each row agrees.

    python tools/isa_vs_ptxas.py [--opcode add] [--chapter integer] [--limit 40] [--mutate 20] [--show 5]
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import ptxkit
from ptxkit import targets
from ptxkit.isa import registry
from ptxkit.isa.notation import Form
from ptxkit.isa.sample import MODULE, PREAMBLE, REGISTERS, Sample, samples

BATCH = 400
_LINE = re.compile(r", line (\d+); (fatal|error)\s*: (.*)")


@dataclass(frozen=True)
class Case:
    """A statement under a version and target, and the row it came from."""

    text: str
    version: targets.Version
    target: str
    row: str
    mutation: str = ""

    @property
    def number(self) -> int:
        """The number of the target: 90."""
        return targets.TARGETS[self.target.partition(",")[0]].number


def module(statements: Iterable[str], version: targets.Version, target: str) -> str:
    """A file with one statement a line; the first stands on line 4."""
    declarations = MODULE.replace("\n", " ")
    body = PREAMBLE
    if version < (8, 3) or targets.TARGETS[target.partition(",")[0]].number < 70:
        body = re.sub(r"\.reg \.b128 [^;]*;", "", body)
    return (
        f".version {targets.show(version)}\n.target {target}\n.address_size 64 {declarations} "
        f".entry k(.param .b64 v_kernel) {{ {body}\n" + "\n".join(statements) + "\nret;\n}\n"
    )


FIRST = 4


def ptxas(statements: list[str], version: targets.Version, target: str) -> dict[int, str]:
    """The statements that ptxas refuses, by their index, each with its first message."""
    refused: dict[int, str] = {}
    alive = list(range(len(statements)))
    number = re.sub(r"^sm_101", "sm_110", target.partition(",")[0])
    architecture = number.replace("sm_", "compute_")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.ptx"
        while alive:
            path.write_text(module((statements[i] for i in alive), version, target))
            run = subprocess.run(
                ["ptxas", f"-arch={architecture}", str(path), "-o", os.devnull],
                capture_output=True,
                text=True,
                check=False,
            )
            log = run.stderr + run.stdout
            bad: dict[int, str] = {}
            for line, _, message in _LINE.findall(log):
                index = int(line) - FIRST
                if 0 <= index < len(alive):
                    bad.setdefault(alive[index], message)
            if not bad:
                if run.returncode:
                    if len(alive) == 1:
                        refused[alive[0]] = f"(exit {run.returncode}) {log[:200]}"
                        break
                    half = len(alive) // 2
                    for part in (alive[:half], alive[half:]):
                        inner = ptxas([statements[i] for i in part], version, target)
                        refused.update({part[i]: message for i, message in inner.items()})
                break
            # Instructions that become calls inside ptxas are held against the first such call of the file.
            for i in [i for i, message in bad.items() if "formal parameter" in message and len(alive) > 1]:
                del bad[i]
                alive.remove(i)
                if alone := ptxas([statements[i]], version, target):
                    refused[i] = alone[0]
            # An unknown name leaves its modifiers behind, and ptxas counts them with the next statement.
            spoilt = {i for before, i in pairwise(alive) if "Not a name" in bad.get(before, "")}
            refused.update({i: message for i, message in bad.items() if i not in spoilt})
            alive = [i for i in alive if i not in refused]
    return refused


def ours(statements: list[str], version: targets.Version, target: str) -> dict[int, str]:
    """The statements that the checker refuses."""
    refused: dict[int, str] = {}
    for diagnostic in ptxkit.check(ptxkit.parse(module(statements, version, target))):
        if diagnostic.is_error and diagnostic.span:
            index = diagnostic.span.line - FIRST
            if 0 <= index < len(statements):
                refused.setdefault(index, f"{diagnostic.code} {diagnostic.message}")
            else:
                raise RuntimeError(f"an error outside the statements: {diagnostic}")
    return refused


def judge(job: tuple[targets.Version, str, list[Case]]) -> list[tuple[Case, str | None, str | None]]:
    """Both verdicts on each case; None where it is accepted."""
    version, target, cases = job
    texts = [case.text for case in cases]
    theirs, mine = ptxas(texts, version, target), ours(texts, version, target)
    return [(case, theirs.get(i), mine.get(i)) for i, case in enumerate(cases)]


def home(form: Form, facts: frozenset[str], random_: random.Random) -> tuple[targets.Version, str] | None:
    """A version and target under which these modifiers are there, by the row."""
    fitting = []
    for name in targets.SUPPORTED:
        target = targets.TARGETS[name]
        version = targets.NEWEST_VERSION
        if form.available(version, target, facts):
            fitting.append(name)
    return (targets.NEWEST_VERSION, random_.choice(fitting)) if fitting else None


VERSIONS = [version for version in targets.RELEASES if (6, 0) <= version <= targets.NEWEST_VERSION]


def elsewhere(random_: random.Random) -> tuple[targets.Version, str]:
    """Any version and target that go together."""
    target = random_.choice(targets.SUPPORTED)
    since = targets.TARGETS[target].since
    return random_.choice([version for version in VERSIONS if version >= since]), target


def mutate(text: str, random_: random.Random, vocabulary: list[str]) -> tuple[str, str] | None:
    """The statement with one change, and what the change was."""
    head, _, tail = text.rstrip(";").partition(" ")
    opcode, *modifiers = head.split(".")
    operands = split_operands(tail)
    kind = random_.choice(("drop", "double", "swap", "replace", "operand", "fewer", "more", "type"))
    if kind == "drop" and modifiers:
        modifiers.pop(random_.randrange(len(modifiers)))
    elif kind == "double" and modifiers:
        position = random_.randrange(len(modifiers))
        modifiers.insert(position, modifiers[position])
    elif kind == "swap" and len(modifiers) > 1:
        a, b = random_.sample(range(len(modifiers)), 2)
        modifiers[a], modifiers[b] = modifiers[b], modifiers[a]
    elif kind in ("replace", "type") and modifiers:
        types = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f16 f32 f64 f16x2 bf16 bf16x2 pred".split()
        modifiers[random_.randrange(len(modifiers))] = random_.choice(types if kind == "type" else vocabulary)
    elif kind == "operand" and operands:
        operands[random_.randrange(len(operands))] = random_.choice(
            [f"%{type_}_1" for type_ in REGISTERS]
            + [
                "1",
                "-7",
                "1.5",
                "0f3F800000",
                "{%b32_1, %b32_2}",
                "[%b64_1]",
                "_",
                "!%pred_1",
                "%tid.x",
                "v_shared",
            ]
        )
    elif kind == "fewer" and operands:
        operands.pop(random_.randrange(len(operands)))
    elif kind == "more":
        operands.append(random_.choice(["%b32_1", "1", "%pred_1", "%b64_3"]))
    else:
        return None
    return f"{'.'.join((opcode, *modifiers))} {', '.join(operands)};".replace(" ;", ";"), kind


def split_operands(text: str) -> list[str]:
    """The operands of a statement, at the commas outside brackets."""
    found, depth, current = [], 0, ""
    for letter in text:
        if letter in "[{(":
            depth += 1
        elif letter in "]})":
            depth -= 1
        if letter == "," and depth == 0:
            found.append(current.strip())
            current = ""
        else:
            current += letter
    return [*found, current.strip()] if current.strip() else found


def cases(forms: list[Form], limit: int, others: int, mutations: int, seed: int) -> list[Case]:
    """What is judged."""
    random_ = random.Random(seed)
    found: dict[Case, None] = {}
    for form in forms:
        vocabulary = sorted({m for f in registry.forms(form.opcode) for m in f.modifiers}) or ["u32"]
        made = list(samples(form, limit, seed))
        if not made:
            print(f"no sample: {form.syntax}", file=sys.stderr)
        for sample in made:
            place = home(form, sample.facts, random_)
            row = f"{form.section} {form.syntax}"
            if place:
                found[Case(sample.text, *_with_mode(place, form, sample), row)] = None
            for _ in range(others):
                place = _with_mode(elsewhere(random_), form, sample)
                found[Case(sample.text, *place, row, "elsewhere")] = None
        for _ in range(mutations if made else 0):
            sample = random_.choice(made)
            changed = mutate(sample.text, random_, vocabulary)
            place = home(form, sample.facts, random_)
            if changed and place:
                place = _with_mode(place, form, sample)
                found[Case(changed[0], *place, f"{form.section} {form.syntax}", changed[1])] = None
    return [case for case in found if "%b128" not in case.text or _has_b128(case)]


def _with_mode(place: tuple[targets.Version, str], form: Form, sample: Sample) -> tuple[targets.Version, str]:
    """The target with the texture mode that goes with a sampler."""
    independent = form.sampler in sample.facts
    return (place[0], f"{place[1]}, texmode_independent") if independent else place


def _has_b128(case: Case) -> bool:
    """Whether `.b128` registers can be declared there."""
    return case.version >= (8, 3) and case.number >= 70


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--opcode", action="append")
    parser.add_argument("--chapter", action="append")
    parser.add_argument("--limit", type=int, default=40, help="statements of a row")
    parser.add_argument(
        "--elsewhere", type=int, default=1, help="other versions and targets for each statement"
    )
    parser.add_argument("--mutate", type=int, default=0, help="changed statements of a row")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=5, help="disagreements of a row to print")
    arguments = parser.parse_args()
    forms = [
        form
        for opcode in registry.opcodes()
        for form in registry.forms(opcode)
        if (not arguments.opcode or opcode in arguments.opcode)
        and (not arguments.chapter or form.chapter in arguments.chapter)
    ]
    todo = cases(forms, arguments.limit, arguments.elsewhere, arguments.mutate, arguments.seed)
    groups: dict[tuple[targets.Version, str], list[Case]] = defaultdict(list)
    for case in todo:
        groups[case.version, case.target].append(case)
    jobs = [
        (version, target, group[start : start + BATCH])
        for (version, target), group in groups.items()
        for start in range(0, len(group), BATCH)
    ]
    rows: dict[str, list[tuple[Case, str | None, str | None]]] = defaultdict(list)
    with ProcessPoolExecutor() as pool:
        for results in pool.map(judge, jobs):
            for result in results:
                rows[result[0].row].append(result)
    return report(rows, arguments.show)


def report(rows: dict[str, list[tuple[Case, str | None, str | None]]], show: int) -> int:
    """Print the agreement of each row that disagrees somewhere, and of all; 1 where any does."""
    total: Counter[str] = Counter()
    by_mutation: dict[str, Counter[bool]] = defaultdict(Counter)
    for row, results in sorted(rows.items()):
        wrong = [result for result in results if (result[1] is None) != (result[2] is None)]
        total["all"] += len(results)
        total["wrong"] += len(wrong)
        for case, theirs, mine in results:
            agree = (theirs is None) == (mine is None)
            by_mutation[case.mutation or "as written"][agree] += 1
            total["accepted"] += theirs is None
            total["too strict"] += theirs is None and mine is not None
        if wrong:
            print(f"{len(results) - len(wrong)}/{len(results)}  {row}")
            for case, theirs, mine in wrong[:show]:
                print(f"    {case.text[:400]}   [{targets.show(case.version)} {case.target} {case.mutation}]")
                print(f"        ptxas: {theirs or 'accepts'}\n        ptxkit: {mine or 'accepts'}")
    for name, counts in sorted(by_mutation.items()):
        print(f"{name}: {counts[True]}/{counts[True] + counts[False]}")
    agreement = 1 - total["wrong"] / max(total["all"], 1)
    print(
        f"{total['all']} statements, {total['accepted']} accepted by ptxas; agreement {agreement:.4%}, "
        f"{total['wrong']} differ, {total['too strict']} of them refused by ptxkit alone"
    )
    return 1 if total["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
