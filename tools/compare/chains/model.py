"""What a chain is: statements, each with what it writes, and the control flow between them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from compare.values import values
from ptxkit.dtypes import DTYPES

WARP = 32
THREADS = 64
SLOT = 64
"""Bytes that each thread has in global, shared and local memory."""
POOL = {1: ("p", 8), 16: ("h", 16), 32: ("w", 24), 64: ("d", 16)}
"""By width: the letter and number of the registers that statements read and write."""
FIXED = {1: 2, 16: 4, 32: 8, 64: 4}
"""How many of them are never written, so that a chain keeps values of every kind."""
KINDS = {
    1: ("b16",),
    16: ("b16", "f16", "bf16"),
    32: ("b32", "f32", "f16x2", "bf16x2"),
    64: ("b64", "f64"),
}
"""The types that the first contents of the registers are drawn from, in turn."""


@dataclass(frozen=True, slots=True)
class Result:
    """A register that a statement writes.

    Attributes:
        name: in the program.
        bits: its width, 1 for a predicate.
    """

    name: str
    bits: int


@dataclass(frozen=True, slots=True)
class Step:
    """A statement of a chain, with what it takes to execute it.

    Attributes:
        number: its place in the chain.
        family: what made it: `forms`, `carry`, `memory`, ..
        label: opcode and modifiers, or what it does.
        lines: what stands in the program.
        results: what is stored and compared.
        row: where the first of them is stored.
        after: lines that follow the stores: what may not flow on is replaced there.
        open: the row of a predicate; where it holds, results are not compared, for the reason `why`.
        why: a key of `judge.REASONS`.
        together: whether the lanes of a warp execute it together.
        guard: a predicate before each line, or empty.
        regions: the numbers of those that it stands in, outermost first.
    """

    number: int
    family: str
    label: str
    lines: tuple[str, ...]
    results: tuple[Result, ...]
    row: int
    after: tuple[str, ...] = ()
    open: int = -1
    why: str = ""
    together: bool = False
    guard: str = ""
    regions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Control:
    """Lines of control flow, which stay as long as a statement of the region does."""

    lines: tuple[str, ...]
    region: int


@dataclass(slots=True)
class Chain:
    """A random program.

    Attributes:
        name: of its entry; also the seed of its values, with `seed`.
        seed: of its values.
        ctas: 1, or 2 of a cluster; all of them have `THREADS` threads together.
        body: what it does, in order.
        rows: of results.
        functions: texts of device functions.
        variables: declarations of the entry, registers of regions among them.
        regions: of each region the one around it, -1 for none.
    """

    name: str
    seed: int
    ctas: int = 1
    body: list[Step | Control] = field(default_factory=list)
    rows: int = 0
    functions: list[str] = field(default_factory=list)
    variables: list[str] = field(default_factory=list)
    regions: list[int] = field(default_factory=list)

    @property
    def steps(self) -> list[Step]:
        """Its statements."""
        return [item for item in self.body if isinstance(item, Step)]

    def inputs(self) -> np.ndarray:
        """The first content of the registers, then of the slots of global memory, `uint64[rows, THREADS]`."""
        drawn = np.random.default_rng([self.seed, *self.name.encode()])
        rows = []
        for bits, (_, count) in POOL.items():
            for number in range(count):
                type_ = KINDS[bits][number % len(KINDS[bits])]
                lanes, scalar = DTYPES[type_].lanes, DTYPES[type_.removesuffix("x2")]
                row = np.zeros(THREADS, np.uint64)
                for lane in range(lanes):
                    row |= values(scalar, drawn, THREADS) << np.uint64(lane * scalar.bits)
                rows.append(row & np.uint64(1) if bits == 1 else row)
        return np.stack([*rows, *(values(DTYPES["b64"], drawn, THREADS) for _ in range(SLOT // 8))])


ZERO = (
    ".reg .b16 %zero16;",
    ".reg .b32 %zero32;",
    ".reg .b64 %zero64;",
    "ld.global.b64 %zero64, [zero];",
    "cvt.u32.u64 %zero32, %zero64;",
    "cvt.u16.u64 %zero16, %zero64;",
)
"""Zeros that ptxas doesn't know."""
PLACES = sum(count for _, count in POOL.values())
"""Rows of inputs that are registers; those behind them are slots of memory."""


LEFT = PLACES + 2 * (SLOT // 8)
"""Rows at the end: what is left in the registers, in shared and in local memory."""


def registers() -> list[tuple[str, int, int]]:
    """The pool: name, width, row of inputs."""
    found, row = [], 0
    for bits, (letter, count) in POOL.items():
        for number in range(count):
            found.append((f"%{letter}{number}", bits, row))
            row += 1
    return found
