"""Parameter axes: `-a M=1024,2048`, `-a 'K=256:1024:256'`, `-a 'K[pow2]=8:14'`. After nvbench's `--axis`."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ptxkit.diagnostics import error

MAX_STATES = 10_000
"""Most combinations of the axes' values."""

_AXIS = re.compile(r"(?P<name>[A-Za-z_]\w*)(?P<flags>\[\w+\])?=(?P<values>.+)")
_RANGE = re.compile(r"(-?\d+):(-?\d+)(?::(\d+))?")
_POWERS = "[pow2]"
_HELP = "`M=1024,2048`, `K=256:1024:256` (first, last, step) or `K[pow2]=8:14` (2^8 to 2^14)"


@dataclass(frozen=True, slots=True)
class Axis:
    """One size and the values that it takes.

    Attributes:
        name: of the size.
        values: in order, each once.
    """

    name: str
    values: tuple[int, ...]


def parse(text: str) -> Axis:
    """The axis that one `-a` gives: values and ranges separated by commas, with or without brackets around.

    Raises:
        PtxkitError: P522, it is none.
    """
    match = _AXIS.fullmatch(text.strip())
    if match is None or match["flags"] not in (None, _POWERS):
        raise error("P522", f"expected an axis, found `{text}`", help=_HELP)
    listed = match["values"].strip()
    if listed.startswith("[") and listed.endswith("]"):
        listed = listed[1:-1]
    values: list[int] = []
    for part in listed.split(","):
        values += _values(part.strip(), text)
    if match["flags"] == _POWERS:
        if not all(0 <= value < 63 for value in values):
            raise error("P522", f"expected exponents from 0 to 62, found `{text}`", help=_HELP)
        values = [1 << value for value in values]
    return Axis(match["name"], tuple(dict.fromkeys(values)))


def _values(part: str, text: str) -> Sequence[int]:
    try:
        return [int(part.replace("_", ""))]
    except ValueError:
        pass
    match = _RANGE.fullmatch(part)
    if match is None:
        raise error(
            "P522", f"expected an integer or a range in the axis `{text}`, found `{part}`", help=_HELP
        )
    first, last, step = int(match[1]), int(match[2]), int(match[3] or 1)
    if step < 1 or last < first:
        message = f"expected a range that goes up by a step from 1, found `{part}`"
        raise error("P522", message, help=_HELP)
    count = (last - first) // step + 1
    if count > MAX_STATES:
        message = f"expected at most {MAX_STATES} values of an axis, found {count} in `{part}`"
        raise error(
            "P522", message, help="take larger steps, `K=256:1048576:256`, or powers of two, `K[pow2]=8:20`"
        )
    return range(first, last + 1, step)


def states(axes: Sequence[Axis]) -> list[dict[str, int]]:
    """Every combination of the axes' values, the last axis fastest; one empty one without axes.

    Raises:
        PtxkitError: P522, two axes of one name, or too many combinations.
    """
    names = [axis.name for axis in axes]
    for name in names:
        if names.count(name) > 1:
            raise error("P522", f"expected one axis `{name}`, found {names.count(name)}", help=_HELP)
    count = 1
    for axis in axes:
        count *= len(axis.values)
    if count > MAX_STATES:
        message = f"expected at most {MAX_STATES} combinations of the axes, found {count}"
        raise error("P522", message, help="take fewer values, or measure in several runs")
    combinations = itertools.product(*(axis.values for axis in axes))
    return [dict(zip(names, values, strict=True)) for values in combinations]
