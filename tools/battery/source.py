"""The frame at the head of a source: its kernels, what they take, and how their results are judged."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np

SOURCES = Path(__file__).resolve().parents[2] / "tests" / "battery"
OPENING, CLOSING, MARK = "// /// battery", "// ///", "// "
DTYPES: dict[str, np.dtype] = {
    **{f"{kind}{bits}": np.dtype(f"{kind}{bits // 8}") for kind in "iu" for bits in (8, 16, 32, 64)},
    **{f"f{bits}": np.dtype(f"f{bits // 8}") for bits in (16, 32, 64)},
    "bf16": np.dtype(ml_dtypes.bfloat16),
}
EXACT = {"f16": np.dtype("f8"), "bf16": np.dtype("f8"), "f32": np.dtype("f8"), "f64": np.dtype(np.longdouble)}
"""What the reference of an inexact result is made of."""
_ARRAY = re.compile(r"(?P<total>total )?(?P<count>\d+) (?P<type>\w+)(?: (?P<content>.+))?")


@dataclass(frozen=True)
class Array:
    """One argument of a kernel.

    Attributes:
        count: elements of each thread, or with `total` of the launch.
        dtype: of an element.
        content: what an input holds, as `tools.battery.inputs` reads it.
    """

    count: int
    total: bool
    dtype: str
    content: str

    @classmethod
    def read(cls, text: str) -> Array:
        found = _ARRAY.fullmatch(text)
        if found is None or found["type"] not in DTYPES:
            raise ValueError(
                f"expected `[total ]COUNT TYPE[ CONTENT]`, TYPE one of {', '.join(DTYPES)}, found `{text}`"
            )
        return cls(int(found["count"]), bool(found["total"]), found["type"], found["content"] or "edges")

    def size(self, threads: int) -> int:
        """How many elements there are in a launch of some threads."""
        return self.count if self.total else self.count * threads


@dataclass(frozen=True)
class Kernel:
    """One kernel of a source.

    Attributes:
        inputs, outputs: its arguments, in this order.
        grid, block: CTAs and threads of each.
        shared: bytes of dynamic shared memory.
        cooperative: whether the launch is.
        ulp: how far each result may be from the correctly rounded one; None where the bits must be the same.
        absolute: or how far as a number; the better of the two counts.
        nan: whether one NaN is as good as another.
        since, until: the first and the last architecture that has it.
        refused: a part of the message with which it must be refused.
        prints: the lines that it prints, in any order.
    """

    name: str
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    grid: int = 2
    block: int = 64
    shared: int = 0
    cooperative: bool = False
    ulp: float | None = None
    absolute: float = 0.0
    nan: bool = False
    since: int = 75
    until: int = 999
    refused: str = ""
    prints: tuple[str, ...] = ()

    @property
    def threads(self) -> int:
        return self.grid * self.block


_DATA = {"in": "inputs", "out": "outputs"}


@dataclass(frozen=True)
class Source:
    """One file of the battery.

    Attributes:
        about: what it covers.
        flags: that nvcc gets for it besides.
        since: the least architecture that it compiles for.
        packed: target and level of the build that tests/battery/packed has; empty for none.
    """

    path: Path
    about: str
    kernels: Mapping[str, Kernel]
    flags: tuple[str, ...] = ()
    since: int = 75
    packed: str = ""

    @property
    def name(self) -> str:
        return self.path.stem


def read(path: Path) -> Source:
    """Read a source's frame.

    Raises:
        ValueError: it has none, or one that says something unknown.
    """
    lines = path.read_text(encoding="utf-8").split("\n")
    if lines[0] != OPENING or CLOSING not in lines:
        raise ValueError(f"{path}: expected a frame from `{OPENING}` to `{CLOSING}` at the head of the file")
    framed = lines[1 : lines.index(CLOSING)]
    document = tomllib.loads("\n".join(line.removeprefix(MARK).removeprefix("//") for line in framed))
    defaults = document.get("defaults", {})
    kernels = {}
    for name, entry in document["kernels"].items():
        given = {**defaults, **entry}
        arrays = {to: tuple(Array.read(text) for text in given.pop(of, ())) for of, to in _DATA.items()}
        try:
            kernels[name] = Kernel(name, **arrays, **given)
        except TypeError as problem:
            raise ValueError(f"{path}: kernel `{name}`: {problem}") from None
    return Source(
        path,
        document["about"],
        kernels,
        tuple(document.get("flags", ())),
        document.get("since", 75),
        document.get("packed", ""),
    )


def sources(names: tuple[str, ...] = ()) -> list[Source]:
    """The battery's sources, or those of some names."""
    return [read(path) for path in sorted(SOURCES.glob("*.cu")) if not names or path.stem in names]
