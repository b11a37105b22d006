"""How far predictions were off where a GPU was asked, by what bounded a launch: `validation.toml`.

`tools/measure_predictions.py` writes it.
"""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any

KINDS = {"tensor cores": "tensor", "tensor": "tensor", "DRAM": "memory", "L2": "memory"}
"""The kind of a launch by what bounds it; any other is bound by `latency` or by its instructions."""


@dataclass(frozen=True, slots=True)
class Validation:
    """Errors of cycles, as parts of what was measured.

    Attributes:
        kind: of the launches: `tensor`, `memory`, `latency`.
        launches: how many.
        median, largest: of their errors' sizes.
    """

    kind: str
    launches: int
    median: float
    largest: float

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict."""
        return asdict(self)


def kind_of(bound: str) -> str:
    """The kind of a launch that is bound so."""
    return KINDS.get(bound, "latency")


def validation(key: str, bound: str) -> Validation | None:
    """What is known of launches of this kind on a GPU; None where no such GPU was asked."""
    found = _all().get(key, {}).get(kind_of(bound))
    return None if found is None else Validation(kind_of(bound), **found)


@cache
def _all() -> dict[str, dict[str, Any]]:
    return tomllib.loads((files("ptxkit.emulator.timing") / "validation.toml").read_text("utf-8"))
