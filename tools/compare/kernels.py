"""Modules of PTX that execute statements: each thread loads its values, executes, stores the results.

A value takes eight bytes in memory, whatever its width: value `k` of thread `t` stands at byte
`8 * (k * threads + t)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from compare.cases import Case, Register
from compare.values import inputs
from ptxkit import targets

CASES_A_KERNEL = 32
BLOCK = 128

HEAD = """\
.visible .entry {name}(.param .u64 values, .param .u64 results)
{{
    .reg .b32 %x, %y;
    .reg .b64 %in, %out, %at;
    .reg .pred %q;
    .shared .align 8 .b8 memory[{shared}];
    mov.u32 %x, %ctaid.x;
    mov.u32 %y, %tid.x;
    mad.lo.u32 %x, %x, {block}, %y;
    mul.wide.u32 %at, %x, 8;
    ld.param.u64 %in, [values];
    ld.param.u64 %out, [results];
    add.u64 %in, %in, %at;
    add.u64 %out, %out, %at;
"""


@dataclass(frozen=True, slots=True)
class Kernel:
    """An entry and what it takes.

    Attributes:
        name: of the entry.
        threads: how many it is launched with.
        values: bits of the inputs, `uint64[inputs, threads]`.
        places: for each case its first row of `values` and of the results.
        rows: how many results there are.
    """

    name: str
    threads: int
    values: np.ndarray
    places: dict[int, tuple[int, int]]
    rows: int


@dataclass(frozen=True, slots=True)
class Program:
    """A module.

    Attributes:
        text: PTX.
        kernels: its entries.
        lines: for each line (from 1), the number of the case or step that it belongs to, or None.
    """

    text: str
    kernels: tuple[Kernel, ...]
    lines: tuple[int | None, ...]

    def owner_at(self, line: int) -> int | None:
        """What a line (from 1) belongs to."""
        return self.lines[line - 1] if 0 < line <= len(self.lines) else None


class Lines:
    """Lines of PTX, each with what it belongs to."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.owners: list[int | None] = []

    def add(self, text: str, owner: int | None = None) -> None:
        """Add one or more lines."""
        for line in text.rstrip("\n").split("\n"):
            self.text.append(line)
            self.owners.append(owner)


def header(target: targets.Target, version: targets.Version) -> str:
    """The directives that a module begins with."""
    return f".version {targets.show(version)}\n.target {target}\n.address_size 64\n"


def program(
    cases: Sequence[Case],
    threads: int,
    target: targets.Target,
    version: targets.Version,
    seed: int,
    draw: Callable[[Case, int, int], dict[str, np.ndarray]] = inputs,
) -> Program:
    """A module that executes each case in `threads` threads.

    Args:
        cases: the statements.
        threads: how many execute each of them.
        target, version: of the module.
        seed: of the values.
        draw: what makes the bits of each input, by the register's name, from a case, `threads` and the seed.
    """
    lines = Lines()
    lines.add(header(target, version))
    kernels = []
    for start in range(0, len(cases), CASES_A_KERNEL):
        name = f"k{start // CASES_A_KERNEL}"
        lines.add(HEAD.format(name=name, block=BLOCK, shared=8 * BLOCK))
        chosen = range(start, min(start + CASES_A_KERNEL, len(cases)))
        values: list[np.ndarray] = []
        places: dict[int, tuple[int, int]] = {}
        rows = 0
        for index in chosen:
            case = cases[index]
            places[index] = len(values), rows
            body(lines, index, case, len(values), rows, threads)
            drawn = draw(case, threads, seed)
            values += [drawn[register.name] for register in case.inputs]
            rows += len(case.outputs)
        lines.add("    ret;\n}")
        stacked = np.stack(values) if values else np.zeros((1, threads), np.uint64)
        kernels.append(Kernel(name, threads, stacked, places, max(rows, 1)))
    return Program("\n".join([*lines.text, ""]), tuple(kernels), tuple(lines.owners))


def body(lines: Lines, index: int, case: Case, first: int, row: int, threads: int) -> None:
    """One case: its registers, loads, statement and stores."""
    lines.add("  {", index)
    lines.add("    " + declarations((*case.inputs, *case.outputs, *case.temporary)), index)
    for offset, register in enumerate(case.inputs):
        lines.add(load(register, f"%in+{8 * threads * (first + offset)}"), index)
    if case.memory:
        lines.add(f"    add.u64 %at, %out, {8 * threads * (row + len(case.outputs) - 1)};", index)
    for statement in case.before:
        lines.add(f"    {statement}", index)
    lines.add(statement_of(case), index)
    for statement in case.after:
        lines.add(f"    {statement}", index)
    for offset, register in enumerate(case.outputs):
        lines.add(store(register, f"%out+{8 * threads * (row + offset)}"), index)
    lines.add("  }", index)


def declarations(registers: Sequence[Register]) -> str:
    """Declarations, and for each predicate a word that it is loaded from or stored through."""
    found = []
    for register in registers:
        found.append(f".reg .{register.declared} %{register.name};")
        if register.bits == 1:
            found.append(f".reg .b32 %{register.name}w;")
    return " ".join(found)


def load(register: Register, address: str) -> str:
    """Load one register."""
    if register.bits == 1:
        word = f"%{register.name}w"
        return f"    ld.global.b32 {word}, [{address}];\n    setp.ne.u32 %{register.name}, {word}, 0;"
    return f"    ld.global.b{register.bits} %{register.name}, [{address}];"


def store(register: Register, address: str) -> str:
    """Store one register."""
    if register.bits == 1:
        word = f"%{register.name}w"
        return f"    selp.u32 {word}, 1, 0, %{register.name};\n    st.global.b32 [{address}], {word};"
    return f"    st.global.b{register.bits} [{address}], %{register.name};"


def statement_of(case: Case) -> str:
    """The statement, guarded where only the lanes of the mask execute it; the others' results are zero."""
    if not case.partial:
        return f"    {case.text}"
    (mask,) = (register for register in case.inputs if register.type == "mask")
    zero = [
        f"setp.ne.u32 %{register.name}, 0, 0;"
        if register.bits == 1
        else f"mov.b{register.bits} %{register.name}, 0;"
        for register in case.outputs
    ]
    take_part = (
        f"mov.u32 %x, %laneid; shr.u32 %y, %{mask.name}, %x; and.b32 %y, %y, 1; setp.ne.u32 %q, %y, 0;"
    )
    return f"    {' '.join(zero)}\n    {take_part}\n    @%q {case.text}"
