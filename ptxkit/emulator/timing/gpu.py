"""The figures of a GPU that the model of time uses, from `gpus/*.toml`.

What a file does not say of its GPU is taken from the one that it is `like`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import inf
from pathlib import Path
from typing import Any

from ptxkit.asm.reading import read_file
from ptxkit.diagnostics import error, listing, reason

SUFFIX = ".toml"
"""Of a file of figures."""
MOST_BYTES = 1 << 20
"""Of one."""
_FOLDER = "gpus"
_FORM = (
    '`ptxkit calibrate -o FILE.toml` writes one; `like = "h200"` takes what it does not say from a known GPU'
)


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU as the model sees it.

    Attributes:
        key: what `--on` calls it: `h200`, `mine.toml`.
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


def gpu(key: str, option: str = "--on") -> Gpu:
    """The GPU of a name, which an option gave; or of a file of figures, as `ptxkit calibrate` writes it.

    Raises:
        PtxkitError: P520, none is called so, or the file holds no figures of a GPU; P110, it can't be read.
    """
    if key.endswith(SUFFIX):
        return _of_file(Path(key))
    if key not in known():
        help = f"`FILE{SUFFIX}` takes the figures that `ptxkit calibrate` measured"
        raise error("P520", f"expected a GPU of {listing(known())}, found `{option} {key}`", help=help)
    return _known(key)


def nearest(name: str, target: str) -> Gpu:
    """The known GPU of a name, else one that runs the same target, else the first that is confirmed."""
    every = [_known(key) for key in known()]
    ranked = sorted(every, key=lambda one: (one.name != name, one.target != target, not one.confirmed))
    return ranked[0]


@cache
def _known(key: str) -> Gpu:
    text = (files("ptxkit.emulator.timing") / _FOLDER / f"{key}{SUFFIX}").read_text("utf-8")
    return _read(key, tomllib.loads(text))


def _of_file(path: Path) -> Gpu:
    """The GPU of a file."""
    try:
        found = _read(str(path), tomllib.loads(read_file(path, MOST_BYTES).decode()))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as problem:
        said = f"no `{problem.args[0]}`" if isinstance(problem, KeyError) else reason(problem)
        raise error("P520", f"expected figures of a GPU in `{path}`, found {said}", help=_FORM) from None
    lacking = [name for name in _known(known()[0]).figures if name not in found.figures]
    if lacking:
        message = f"expected all figures of a GPU in `{path}`, found none of {listing(lacking)}"
        raise error("P520", message, help=_FORM)
    return found


def _read(key: str, given: dict[str, Any]) -> Gpu:
    """A GPU of what a file says."""
    figures: dict[str, float] = {}
    sources: dict[str, str] = {}
    if "like" in given:
        other = gpu(given["like"])
        figures.update(other.figures)
        same = other.name == given["name"]
        sources.update(
            {name: other.sources[name] if same else f"assumed: as on an {other.name}" for name in figures}
        )
    for name, one in given["figures"].items():
        figures[name], sources[name] = float(one["value"]), str(one["source"])
        if not 0 <= figures[name] < inf:
            raise ValueError(f"`{name} = {one['value']}`")
    return Gpu(key, given["name"], given["target"], given["confirmed"], figures, sources)
