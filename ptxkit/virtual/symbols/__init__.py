"""What the libraries export, as data: a line a symbol, its name, the version of the driver API that brought
it, and `name:letter` for each parameter (`ptxkit.virtual.abi.LETTERS`); `->letter` where it returns no
error code. `_ptsz=7000` is another symbol, with that suffix and parameters of the same types, since 7.0.

The tables are made from a toolkit's headers by tools/make_virtual_symbols.py. Nothing of NVIDIA's code is in
them: names, versions and types are what every program that calls the functions must know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class ExportedSymbol:
    """An exported function.

    Attributes:
        name: `cuMemAlloc_v2`, `cuMemcpyAsync_ptsz`.
        version: of the driver API from which on `cuGetProcAddress` gives it, 3020 for 3.2; 0 where it never
        does.
        parameters: name and letter of each.
        result: its letter; `i`, an error code, for most.
        declared: whether a header says what the parameters are.
    """

    name: str
    version: int
    parameters: tuple[tuple[str, str], ...]
    result: str = "i"
    declared: bool = True

    @property
    def base(self) -> str:
        """The name without revision and suffix, as `cuGetProcAddress` takes it: `cuMemAlloc`."""
        return _PARTS.match(self.name)[1]  # type: ignore[index]

    @property
    def revision(self) -> int:
        """2 of `cuMemAlloc_v2`, else 1."""
        return int(_PARTS.match(self.name)[2] or 1)  # type: ignore[index]

    @property
    def per_thread(self) -> bool:
        """Whether its default stream is that of the calling thread (`_ptds`, `_ptsz`)."""
        return self.name.endswith(("_ptds", "_ptsz"))

    @property
    def plain(self) -> str:
        """The name without that suffix."""
        return self.name[:-5] if self.per_thread else self.name


_PARTS = re.compile(r"(\w+?)(?:_v(\d))?(?:_pt[ds][sz])?$")


@cache
def table(name: str) -> tuple[ExportedSymbol, ...]:
    """The symbols of `driver`, `runtime` or `nvml`, in the order of their names."""
    found = [symbol for line in _lines(name) for symbol in _symbols(line)]
    return tuple(sorted(found, key=lambda symbol: symbol.name))


def _symbols(line: str) -> Iterator[ExportedSymbol]:
    name, version, *rest = line.split()
    others = [word.partition("=") for word in rest if "=" in word]
    rest = rest[len(others) :]
    result = rest.pop()[2:] if rest and rest[-1].startswith("->") else "i"
    declared = rest != ["?"]
    pairs = (word.split(":") for word in rest if declared)
    parameters = tuple((parameter, letter) for parameter, letter in pairs)
    for suffix, _, since in (("", "", version), *others):
        number = 0 if since == "-" else int(since)
        yield ExportedSymbol(f"{name}{suffix}", number, parameters, result, declared)


@cache
def results() -> dict[int, tuple[str | None, str | None, str]]:
    """The driver's and the runtime's name of each error code, and what the driver says of it."""
    found = {}
    for line in _lines("results"):
        number, driver, runtime, *text = line.split(maxsplit=3)
        first, second = (None if name == "-" else name for name in (driver, runtime))
        found[int(number)] = first, second, "".join(text)
    return found


def _lines(name: str) -> list[str]:
    return files(__name__).joinpath(f"{name}.txt").read_text("utf-8").splitlines()
