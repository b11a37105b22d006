"""The lists of launches and their public times, `b200.toml` and `h100.toml`.

Of a source: its `repository` and `commit`; `where` in it, or elsewhere, the times stand; in which `setting`
they were measured; `warm`, whether launches follow one another, so that L2 holds what fits; `known`, where
the times were known before some figure of the model was written down, and how. Its `tensors`, by name, are
`dtype`, `shape`, `init` and `expect` as in a launch card, or `hilbert`: the schedule of fast.cu.

Of a kernel: its `path` in the repository; the `ptx`, below the folder that is given, and a part of its
`entry`'s name where it has several; `grid`, `block`, `cluster`, `shared` as its host gives them; `params`:
a tensor, a tensor map, with `*` before it one that lies in global memory, a number or an expression over
sizes, or a structure of `bytes` with such things `at` offsets; `maps` as in a launch card; sizes of a
`check`, at which the kernel is run and its result compared; `expect`, where it is not that of the source;
`times`: sizes, and `microseconds`, or `teraflops` or `bytes_per_second` of `work`, as published.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ptxkit.card import expression

UNITS = ("microseconds", "teraflops", "bytes_per_second")


@dataclass(frozen=True, slots=True)
class Source:
    """Where kernels and their times are from."""

    name: str
    repository: str
    commit: str
    where: str
    setting: str
    warm: bool
    tensors: Mapping[str, Mapping[str, Any]]
    known: str | None = None


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel, and how its host launches it; see the top of this file."""

    source: Source
    name: str
    path: str
    ptx: str
    grid: Any
    block: Any
    params: list[Any]
    times: list[dict[str, Any]]
    entry: str = ""
    cluster: int | None = None
    shared: int = 0
    maps: Mapping[str, Mapping[str, Any]] | None = None
    work: str = "0"
    check: Mapping[str, int] | None = None
    expect: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Timed:
    """A kernel at a size, and its public time."""

    kernel: Kernel
    sizes: Mapping[str, int]
    unit: str
    stated: float

    @property
    def name(self) -> str:
        """`learn-cuda matmul_v0 M=4096 N=4096 K=4096`."""
        sizes = " ".join(f"{name}={size}" for name, size in self.sizes.items())
        return f"{self.kernel.source.name} {self.kernel.name} {sizes}"

    @property
    def microseconds(self) -> float:
        """The public time."""
        if self.unit == "microseconds":
            return self.stated
        work = number(self.kernel.work, self.sizes)
        return work / self.stated * (1e-6 if self.unit == "teraflops" else 1e6)


def number(value: Any, sizes: Mapping[str, int]) -> int:
    """An integer, or the value of an expression over sizes."""
    return value if isinstance(value, int) else expression.parse(str(value)).evaluate(sizes)


def numbers(value: Any, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """One number, or those of a list."""
    return tuple(number(each, sizes) for each in (value if isinstance(value, list) else [value]))


def kernels(path: Path) -> list[Kernel]:
    """Those of a list."""
    found = []
    for table in tomllib.loads(path.read_text("utf-8"))["source"]:
        rows = table.pop("kernel")
        source = Source(**table)
        found += [Kernel(source, **row) for row in rows]
    return found


def timed(kernel: Kernel) -> Iterator[Timed]:
    """The kernel at each size whose time is public."""
    for row in kernel.times:
        (unit,) = (name for name in UNITS if name in row)
        yield Timed(kernel, {name: size for name, size in row.items() if name != unit}, unit, row[unit])
