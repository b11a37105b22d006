"""Statements made from the rows of the instruction set."""

from __future__ import annotations

import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from ptxkit import targets
from ptxkit.isa import registry
from ptxkit.isa.describe import find, nearest
from ptxkit.isa.notation import Form
from ptxkit.isa.sample import MODULE, PREAMBLE, REGISTERS, Sample, samples

from . import assemblers
from .mutations import mutate
from .oracle import Sheet, Verdict, has_place
from .oracle import judge as both

BATCH = 400
OLDEST = (6, 0)
"""The oldest PTX ISA version for which statements are made."""
OPERANDS = [
    *(f"%{type_}_1" for type_ in REGISTERS),
    *"1 -7 1.5 0f3F800000 {%b32_1, [%b64_1] _ !%pred_1 %tid.x v_shared".replace(
        "{%b32_1,", "{%b32_1,%b32_2}"
    ).split(),
]

Place = tuple[targets.Version, str]
"""A version, and what stands after `.target`."""


@dataclass(frozen=True)
class Case:
    """A statement under a version and target, and the row it came from."""

    text: str
    place: Place
    row: str
    change: str = ""


def select(names: Iterable[str], chapters: Iterable[str]) -> list[Form]:
    """The rows of these opcodes, or longer names, and chapters; all where none is named.

    Raises:
        ValueError: there is no row of one of them.
    """
    wanted: dict[Form, None] = {}
    for name in names or registry.opcodes():
        there = find(name)
        if not there:
            near = nearest(name)
            raise ValueError(f"no row of `{name}`" + (f"; did you mean `{near}`?" if near else ""))
        wanted |= dict.fromkeys(there)
    files = set(chapters)
    if unknown := files - set(registry.CHAPTERS):
        raise ValueError(f"no chapter `{min(unknown)}`; there are {', '.join(registry.CHAPTERS)}")
    return [form for form in wanted if not files or form.chapter in files]


def told_apart(forms: Iterable[Form]) -> tuple[list[Form], list[Form]]:
    """The rows that the version of the asked assembler has, and those that came later."""
    newest = assemblers.newest_version()
    sides: tuple[list[Form], list[Form]] = [], []
    for form in forms:
        sides[form.since.version > newest].append(form)
    return sides


def cases(forms: Iterable[Form], limit: int, elsewhere: int, mutations: int, seed: int) -> list[Case]:
    """What is to be judged.

    Args:
        forms: the rows.
        limit: statements of a row.
        elsewhere: other versions and targets for each statement.
        mutations: changed statements of a row.
        seed: of everything that is chosen.
    """
    random_ = random.Random(seed)
    found: dict[Case, None] = {}
    for form in forms:
        vocabulary = sorted({m for f in registry.forms(form.opcode) for m in f.modifiers}) or ["u32"]
        made = list(samples(form, limit, seed))
        row = f"{form.section} {form.syntax}"
        if not made and form.opcode != "call":
            print(f"no sample: {form.syntax}", file=sys.stderr)
        for sample in made:
            home = place_of(form, sample, random_)
            if home:
                found[Case(sample.text, home, row)] = None
            for _ in range(elsewhere):
                found[Case(sample.text, _anywhere(form, sample, random_), row, "elsewhere")] = None
        for _ in range(mutations if made else 0):
            sample = random_.choice(made)
            changed = mutate(sample.text, random_, vocabulary, OPERANDS)
            home = place_of(form, sample, random_)
            if changed and home:
                found[Case(changed[0], home, row, changed[1])] = None
    return [case for case in found if allowed(case)]


def place_of(form: Form, sample: Sample, random_: random.Random) -> Place | None:
    """A target that the row allows."""
    version = assemblers.newest_version()
    known = [name for name in targets.SUPPORTED if targets.TARGETS[name].since <= version]
    fitting = [n for n in known if form.available(version, targets.TARGETS[n], sample.facts)]
    return (version, with_mode(random_.choice(fitting), form, sample)) if fitting else None


def _anywhere(form: Form, sample: Sample, random_: random.Random) -> Place:
    """Any version and target that go together."""
    newest = assemblers.newest_version()
    target = random_.choice([name for name in targets.SUPPORTED if targets.TARGETS[name].since <= newest])
    oldest = max(OLDEST, targets.TARGETS[target].since)
    version = random_.choice([version for version in targets.RELEASES if oldest <= version <= newest])
    return version, with_mode(target, form, sample)


def with_mode(target: str, form: Form, sample: Sample) -> str:
    """The target with the texture mode that goes with a sampler."""
    return f"{target}, texmode_independent" if form.sampler in sample.facts else target


def allowed(case: Case) -> bool:
    """Whether its registers can be declared there."""
    return "%b128" not in case.text or _has_b128(case.place)


def _has_b128(place: Place) -> bool:
    """Whether `.b128` registers can be declared there."""
    return place[0] >= (8, 3) and targets.TARGETS[place[1].partition(",")[0]].number >= 70


def sheet(texts: Iterable[str], place: Place) -> Sheet:
    """A file with one statement a line, from line 4 on."""
    version, target = place
    body = PREAMBLE if _has_b128(place) else re.sub(r"\.reg \.b128 [^;]*;", "", PREAMBLE)
    trials = {3 + i: text for i, text in enumerate(texts)}
    lines = [
        f".version {targets.show(version)}",
        f".target {target}",
        f".address_size 64 {MODULE.replace(chr(10), ' ')} .entry k(.param .b64 v_kernel) {{ {body}",
        *[""] * len(trials),
        "ret;",
        "}",
    ]
    name = target.partition(",")[0].replace("sm_101", "sm_110")
    head = [*lines[:2], f".address_size 64 {MODULE.replace(chr(10), ' ')} .entry k() {{ ret; }}"]
    entries = {line: _entry(line, text) for line, text in trials.items()}
    return Sheet(lines, trials, name.replace("sm_", "compute_"), entries, head)


_USED = re.compile(r"%([a-z]+\d*(?:x2)?)_(\d+)\b")
_LOCAL = {
    "v_shared": ".shared .align 128 .b8 v_shared[1024];",
    "v_local": ".local .align 128 .b8 v_local[1024];",
    "v_param": ".param .align 128 .b8 v_param[1024];",
    "_there": "L_there: T_there: .branchtargets L_there, L_there;",
}
"""What `PREAMBLE` declares beside registers, by what a statement that needs it has in it."""


def _entry(number: int, text: str) -> str:
    """A statement in a kernel of its own, with no more declarations than it needs."""
    used = sorted(set(_USED.findall(text)))
    declared = " ".join(f".reg .{type_} %{type_}_{index};" for type_, index in used if type_ in REGISTERS)
    declared += " ".join(line for name, line in _LOCAL.items() if name in text)
    return f".entry k{number}(.param .b64 v_kernel) {{ {declared} {text} ret; }}"


def judge(job: tuple[Place, list[Case]]) -> list[Verdict]:
    """Both verdicts on cases of one version and target, where the assembler has that pair."""
    place, given = job
    page = sheet((case.text for case in given), place)
    if not has_place(page):
        return []
    theirs, ours = both(page)
    shown = f"{targets.show(place[0])} {place[1]}"
    return [
        Verdict(case.text, case.row, case.change, shown, theirs.get(line), ours.get(line))
        for line, case in zip(page.trials, given, strict=True)
    ]


def verdicts(todo: Iterable[Case]) -> Iterator[Verdict]:
    """Both verdicts on every case, by as many processes as there are cores."""
    groups: dict[Place, list[Case]] = defaultdict(list)
    for case in todo:
        groups[case.place].append(case)
    jobs = [
        (place, group[start : start + BATCH])
        for place, group in groups.items()
        for start in range(0, len(group), BATCH)
    ]
    with ProcessPoolExecutor() as pool:
        for found in pool.map(judge, jobs):
            yield from found
