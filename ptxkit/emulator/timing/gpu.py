"""The figures of a GPU that the model of time uses, from `gpus/*.toml`.

What a file does not say of its GPU is taken from the one that it is `like`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ptxkit.diagnostics import error, listing

_FOLDER = "gpus"


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU as the model sees it.

    Attributes:
        key: what `--on` calls it: `h200`.
        name: as its driver does.
        target: the newest target that it runs.
        confirmed: whether predictions were held against measurements on it.
        figures: by name, in cycles, bytes a cycle and so on.
        sources: where each figure is from.
    """

    key: str
    name: str
    target: str
    confirmed: bool
    figures: Mapping[str, float]
    sources: Mapping[str, str]

    def __getitem__(self, figure: str) -> float:
        return self.figures[figure]


def known() -> list[str]:
    """What `--on` takes."""
    folder = files("ptxkit.emulator.timing") / _FOLDER
    return sorted(one.name.removesuffix(".toml") for one in folder.iterdir() if one.name.endswith(".toml"))


@cache
def gpu(key: str, option: str = "--on") -> Gpu:
    """The GPU of a name, which an option gave.

    Raises:
        PtxkitError: P520, none is called so.
    """
    if key not in known():
        raise error("P520", f"expected a GPU of {listing(known())}, found `{option} {key}`")
    given = tomllib.loads((files("ptxkit.emulator.timing") / _FOLDER / f"{key}.toml").read_text("utf-8"))
    figures: dict[str, float] = {}
    sources: dict[str, str] = {}
    if "like" in given:
        other = gpu(given["like"])
        figures.update(other.figures)
        sources.update({name: f"assumed: as on an {other.name}" for name in figures})
    for name, one in given["figures"].items():
        figures[name], sources[name] = float(one["value"]), str(one["source"])
    return Gpu(key, given["name"], given["target"], given["confirmed"], figures, sources)
