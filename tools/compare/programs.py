"""Random programs: statements of many forms that use each other's results, in a line, in branches, in loops.

Each statement's results are stored in rows of their own, so that the first one that differs is found. Left
out are forms whose results are not determined to the last bit, and floating-point sums and products without a
rounding modifier, which the driver's compiler may contract (PTX ISA 9.7.3.3). NaNs whose bits PTX leaves open
are made equal.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from compare import judge
from compare.approximate import is_approximate
from compare.cases import Case, Register
from compare.kernels import BLOCK, HEAD, Kernel, Lines, Program, header
from compare.values import SPARSE, SPARSE_PAIRS, values
from ptxkit import targets
from ptxkit.dtypes import DTYPES

STEPS = 48
"""Statements of a program."""
POOL = {1: ("p", 8), 16: ("h", 16), 32: ("w", 24), 64: ("d", 16)}
"""By width: the letter and number of the registers. The first half of them is never written."""
_REGISTER = re.compile(r"%([io]\d+|oc|[ct])(?!\w)")


@dataclass(frozen=True, slots=True)
class Step:
    """A statement in a program.

    Attributes:
        case: where it comes from.
        lines: what stands in the program.
        written: each result, with the register of the pool that holds it.
        block: the number of its block.
        row: of its first result.
    """

    case: Case
    lines: tuple[str, ...]
    written: tuple[tuple[Register, str], ...]
    block: int
    row: int


@dataclass(frozen=True, slots=True)
class Part:
    """Statements that the same threads execute, as often.

    Attributes:
        kind: `line`, `then`, `else` (lanes part), `loop` (some lanes stay longer), `guarded` (each statement
            has a guard) or `warps` (every second warp).
        condition: the register that decides: a predicate, or the word that a loop's trips are made of.
        row: where the condition is stored; -1 for `line`.
    """

    kind: str
    condition: str = ""
    row: int = -1


@dataclass(frozen=True, slots=True)
class Mixture:
    """A random program.

    Attributes:
        name: of its entry.
        parts, steps: what it does.
        rows: of its results.
        threads: how many execute it.
        seed: of its values.
    """

    name: str
    parts: tuple[Part, ...]
    steps: tuple[Step, ...]
    rows: int
    threads: int
    seed: int

    def values(self) -> np.ndarray:
        """The first content of the registers, `uint64[registers, threads]`."""
        drawn = np.random.default_rng([self.seed, *self.name.encode()])
        kinds = {
            1: ("b16",),
            16: ("b16", "f16", "bf16"),
            32: ("b32", "f32", "f16x2", "bf16x2"),
            64: ("b64", "f64"),
        }
        rows = []
        for bits, (_, count) in POOL.items():
            for number in range(count):
                type_ = kinds[bits][number % len(kinds[bits])]
                lanes, scalar = DTYPES[type_].lanes, DTYPES[type_.removesuffix("x2")]
                row = np.zeros(self.threads, np.uint64)
                for lane in range(lanes):
                    row |= values(scalar, drawn, self.threads) << np.uint64(lane * scalar.bits)
                rows.append(row & np.uint64(1) if bits == 1 else row)
        return np.stack(rows)


def fit(case: Case) -> bool:
    """Whether a statement may take part in a program."""
    widths = {register.bits for register in (*case.inputs, *case.outputs, *case.temporary)}
    unrounded = (
        case.opcode in ("add", "sub", "mul")
        and not {"rn", "rz", "rm", "rp"} & set(case.modifiers)
        and any(judge.element(register.type) in judge.NAN for register in case.outputs)
    )
    alone = case.memory or unrounded or is_approximate(case) or misread(case)
    return widths <= set(POOL) and not alone


def misread(case: Case) -> bool:
    """Whether ptxas 13.0 and driver 580.159.04 lose track of a statement's result: that of `set` to f16 or
    bf16. Read as a 16-bit integer it keeps what the upper half of its 32-bit register holds, and a conversion
    of its bits, whatever type they are taken for, gives the 0 or 1 that it was made from."""
    return case.opcode == "set" and any(register.type in ("f16", "bf16") for register in case.outputs)


def loses_its_guard(case: Case) -> bool:
    """Whether ptxas 13.0 and later and driver 580.159.04 guard only a part of what they make of a statement:
    of `set` the comparison but not the conversion of its result, of `testp` the first test alone. Lanes that
    are switched off get another value."""
    return case.opcode in ("set", "testp")


def overwritten(case: Case) -> bool:
    """Whether ptxas 13.0 and driver 580.159.04 write results of a statement before they have read all that it
    reads: `mma` of 8-bit floats for sm_90, whose sums are added to C element by element. Where an element of
    D has the register of a later one of C, that one is lost."""
    return case.opcode == "mma" and bool({"e4m3", "e5m2"} & set(case.modifiers))


def mixtures(cases: Sequence[Case], count: int, threads: int, seed: int) -> Iterator[Mixture]:
    """`count` programs in which every spelling occurs, as far as there is room."""
    chosen = random.Random(f"programs {seed}")
    by_spelling: dict[str, list[Case]] = {}
    for case in cases:
        if fit(case):
            by_spelling.setdefault(case.spelling, []).append(case)
    waiting: list[Case] = []
    for number in range(count if by_spelling else 0):
        while len(waiting) < STEPS:
            fresh = [chosen.choice(alike) for alike in by_spelling.values()]
            chosen.shuffle(fresh)
            waiting = waiting + fresh
        taken, waiting = waiting[:STEPS], waiting[STEPS:]
        yield _Writer(f"p{number}", chosen, threads, seed).mixture(taken)


class _Writer:
    """One program."""

    def __init__(self, name: str, random_: random.Random, threads: int, seed: int) -> None:
        self.name = name
        self.random = random_
        self.threads = threads
        self.seed = seed
        self.rows = 0
        self.parts: list[Part] = []
        self.steps: list[Step] = []

    def mixture(self, cases: Sequence[Case]) -> Mixture:
        together = [case for case in cases if case.of_warp]
        alone = [case for case in cases if not case.of_warp]
        while together or alone:
            line = [together.pop() for _ in range(min(len(together), self.random.randrange(4)))]
            line += [alone.pop() for _ in range(min(len(alone), self.random.randrange(2, 9)))]
            self.random.shuffle(line)
            self.part(Part("line"), line)
            kind = self.random.choice(("branch", "loop", "line", "guarded", "warps"))
            inner = [alone.pop() for _ in range(min(len(alone), self.random.randrange(1, 7)))]
            if kind == "branch" and len(inner) > 1:
                condition = self.choose(1)
                row = self.row()
                self.part(Part("then", condition, row), inner[::2])
                self.part(Part("else", condition, row), inner[1::2])
            elif kind == "loop" and inner:
                self.part(Part("loop", self.choose(32), self.row()), inner)
            elif kind == "guarded" and inner:
                self.part(
                    Part("guarded", self.choose(1), self.row()), [c for c in inner if not loses_its_guard(c)]
                )
                self.part(Part("line"), [case for case in inner if loses_its_guard(case)])
            elif kind == "warps" and (inner or together):
                inner += [together.pop() for _ in range(min(len(together), self.random.randrange(1, 4)))]
                self.random.shuffle(inner)
                self.part(Part("warps", row=self.row()), inner)
            else:
                self.part(Part("line"), inner)
        parts, steps = tuple(self.parts), tuple(self.steps)
        return Mixture(self.name, parts, steps, max(self.rows, 1), self.threads, self.seed)

    def row(self) -> int:
        self.rows += 1
        return self.rows - 1

    def part(self, part: Part, cases: Sequence[Case]) -> None:
        self.parts.append(part)
        for case in cases:
            self.steps.append(self.step(case, len(self.parts) - 1))

    def choose(self, bits: int, written: bool = False) -> str:
        letter, count = POOL[bits]
        return f"%{letter}{self.random.randrange(count // 2 if written else 0, count)}"

    def choose_constant(self, bits: int) -> str:
        """A register that is never written."""
        letter, count = POOL[bits]
        return f"%{letter}{self.random.randrange(count // 2)}"

    def step(self, case: Case, block: int) -> Step:
        names: dict[str, str] = {}
        lines: list[str] = []
        for register in case.inputs:
            if register.type == "mask":
                names[register.name] = "0xffffffff"
            elif register.type == "lane":
                names[register.name] = "%x"
                lines.append(f"and.b32 %x, {self.choose(32)}, 31;")
            elif register.type == "metadata":
                names[register.name] = "%x"
                nibbles = SPARSE_PAIRS if "tf32" in case.modifiers else SPARSE
                word = sum(int(self.random.choice(list(nibbles))) << 4 * place for place in range(8))
                lines.append(f"mov.b32 %x, {word:#010x};")
            elif overwritten(case):
                names[register.name] = self.choose_constant(register.bits)
            else:
                names[register.name] = self.choose(register.bits)
        written: list[tuple[Register, str]] = []
        for register in case.outputs:
            taken = {name for _, name in written}
            name = self.choose(register.bits, written=True)
            while name in taken:
                name = self.choose(register.bits, written=True)
            names[register.name] = name
            written.append((register, name))
        names["t"] = "%y"
        for text in (*case.before, case.text, *case.after):
            lines.append(_REGISTER.sub(lambda found: names[found[1]], text))
        for register, name in written:
            if judge.nan_open(case, register):
                lines += one_nan(register.type, name)
        row = self.rows
        self.rows += len(written)
        return Step(case, tuple(lines), tuple(written), block, row)


def one_nan(type_: str, name: str) -> list[str]:
    """Statements that make every NaN in a register the same."""
    element = judge.element(type_)
    bits, infinity = judge.NAN[element]
    quiet = f"{infinity | infinity >> 1 | 1 << (bits // 2 - 2):#x}"
    compared = "f32" if element == "tf32" else element
    if element == type_:
        return [f"setp.nan.{compared} %q, {name}, {name};", f"selp.b{bits} {name}, {quiet}, {name}, %q;"]
    lines = [f"mov.b32 {{%lo, %hi}}, {name};"]
    for half in ("%lo", "%hi"):
        lines += [f"setp.nan.{element} %q, {half}, {half};", f"selp.b16 {half}, {quiet}, {half}, %q;"]
    return [*lines, f"mov.b32 {name}, {{%lo, %hi}};"]


# ---- text


def program(
    mixtures: Sequence[Mixture],
    target: targets.Target,
    version: targets.Version,
    without: frozenset[tuple[int, int]] = frozenset(),
) -> tuple[Program, list[tuple[int, int]]]:
    """A module of several programs, and for each owner of a line (`Program.lines`) the program and step.

    Args:
        mixtures: the programs.
        target, version: of the module.
        without: steps to leave out.
    """
    lines = Lines()
    lines.add(header(target, version))
    owners: list[tuple[int, int]] = []
    kernels = []
    for number, mixture in enumerate(mixtures):
        _entry(lines, mixture, number, owners, without)
        kernels.append(Kernel(mixture.name, mixture.threads, mixture.values(), {}, mixture.rows))
    return Program("\n".join([*lines.text, ""]), tuple(kernels), tuple(lines.owners)), owners


def _entry(
    lines: Lines,
    mixture: Mixture,
    number: int,
    owners: list[tuple[int, int]],
    without: frozenset[tuple[int, int]],
) -> None:
    lines.add(HEAD.format(name=mixture.name, block=BLOCK, shared=8 * BLOCK))
    lines.add("    .reg .b32 %n;\n    .reg .b16 %lo, %hi;\n    .reg .pred %g;")
    row = 0
    for bits, (letter, count) in POOL.items():
        lines.add(f"    .reg .{'pred' if bits == 1 else f'b{bits}'} %{letter}<{count}>;")
        for place in range(count):
            address = f"[%in+{8 * mixture.threads * row}]"
            if bits == 1:
                lines.add(f"    ld.global.b32 %x, {address};\n    setp.ne.u32 %{letter}{place}, %x, 0;")
            else:
                lines.add(f"    ld.global.b{bits} %{letter}{place}, {address};")
            row += 1
    for block, part in enumerate(mixture.parts):
        _open(lines, mixture, part, block)
        for index, step in enumerate(mixture.steps):
            if step.block != block or (number, index) in without:
                continue
            owners.append((number, index))
            if step.case.of_warp:
                lines.add("    bar.warp.sync 0xffffffff;", len(owners) - 1)
            guard = "@%g " if part.kind == "guarded" else ""
            for text in step.lines:
                lines.add(f"    {guard}{text}", len(owners) - 1)
            for offset, (register, name) in enumerate(step.written):
                lines.add(_store(mixture, step.row + offset, register.bits, name), len(owners) - 1)
        _close(lines, part, block)
    lines.add("    ret;\n}")


def _store(mixture: Mixture, row: int, bits: int, name: str) -> str:
    address = f"[%out+{8 * mixture.threads * row}]"
    if bits == 1:
        return f"    selp.u32 %x, 1, 0, {name};\n    st.global.b32 {address}, %x;"
    return f"    st.global.b{bits} {address}, {name};"


def _open(lines: Lines, mixture: Mixture, part: Part, block: int) -> None:
    if part.kind == "then":
        lines.add(_store(mixture, part.row, 1, part.condition))
        lines.add(f"    @!{part.condition} bra L{block};")
    elif part.kind == "guarded":
        lines.add(_store(mixture, part.row, 1, part.condition))
        lines.add(f"    mov.pred %g, {part.condition};")
    elif part.kind == "warps":
        lines.add("    mov.u32 %x, %tid.x;\n    and.b32 %x, %x, 32;\n    setp.ne.u32 %g, %x, 0;")
        lines.add(_store(mixture, part.row, 1, "%g"))
        lines.add(f"    @!%g bra L{block};")
    elif part.kind == "loop":
        lines.add(f"    and.b32 %n, {part.condition}, 3;\n    add.u32 %n, %n, 1;")
        lines.add(_store(mixture, part.row, 32, "%n"))
        lines.add(f"L{block}:")


def _close(lines: Lines, part: Part, block: int) -> None:
    if part.kind == "then":
        lines.add(f"    bra L{block + 1};\nL{block}:")
    elif part.kind in ("else", "warps"):
        lines.add(f"L{block}:\n    bar.warp.sync 0xffffffff;")
    elif part.kind == "loop":
        lines.add(f"    sub.u32 %n, %n, 1;\n    setp.ne.u32 %q, %n, 0;\n    @%q bra L{block};")
        lines.add("    bar.warp.sync 0xffffffff;")


# ---- judgement


@dataclass(frozen=True, slots=True)
class StepVerdict:
    """What became of a statement in a program.

    Attributes:
        instances: how often it was executed.
        wrong: how many threads (or warps) differ here first.
        thread: the first of them, or -1.
    """

    instances: int
    wrong: int
    thread: int


def compare(mixture: Mixture, emulated: np.ndarray, measured: np.ndarray | None) -> list[StepVerdict]:
    """Compare the results of a program, `uint64[rows, threads]`, step by step."""
    spoilt = np.zeros(mixture.threads, bool)
    found = []
    for step in mixture.steps:
        part = mixture.parts[step.block]
        times = executed(part, emulated, mixture.threads)
        width = 32 if step.case.of_warp else 1
        differs = np.zeros(mixture.threads, bool)
        if measured is not None:
            rows = slice(step.row, step.row + len(step.written))
            differs = (emulated[rows] != measured[rows]).any(axis=0)
            if part.row >= 0:
                differs |= emulated[part.row] != measured[part.row]
        if width == 32:
            # What one lane hands to the others is spoilt in all of them.
            differs = np.repeat(differs.reshape(-1, 32).any(axis=1), 32)
            spoilt = np.repeat(spoilt.reshape(-1, 32).any(axis=1), 32)
        new = differs & ~spoilt
        spoilt = spoilt | differs
        first = int(np.argmax(new)) if new.any() else -1
        found.append(StepVerdict(int(times.sum()) // width, int(new.sum()) // width, first))
    return found


def executed(part: Part, results: np.ndarray, threads: int) -> np.ndarray:
    """How often each thread executes the statements of a part."""
    if part.kind == "line":
        return np.ones(threads, np.int64)
    condition = results[part.row].astype(np.int64)
    return 1 - condition if part.kind == "else" else condition
