"""What PTX instructions become, by rule: pipes, numbers of machine instructions, latencies."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ptxkit.emulator.faults import Site


@dataclass(frozen=True, slots=True)
class MachineCode:
    """What an instruction becomes.

    Attributes:
        pipe: which executes it: `fma`, `alu`, ...
        count: machine instructions.
        latency: cycles until its result can be read.
    """

    pipe: str
    count: float
    latency: float


@cache
def _rules() -> list[tuple[re.Pattern[str], MachineCode]]:
    text = (files("ptxkit.emulator.timing") / "instructions.toml").read_text("utf-8")
    return [
        (re.compile(one["match"]), MachineCode(one["pipe"], one.get("count", 1), one["latency"]))
        for one in tomllib.loads(text)["instruction"]
    ]


def machine_code(site: Site) -> MachineCode:
    """What an instruction becomes, if it touches registers alone."""
    form = site.decoded
    parts = [
        site.name,
        *(one.name for one in form.types),
        *(["approx"] if "approx" in form.match.slots else []),
    ]
    return code_of(" ".join(parts))


@cache
def code_of(form: str) -> MachineCode:
    """What an instruction becomes, by name, types, and `approx` where it says so: `rcp f32 approx`."""
    return next(code for pattern, code in _rules() if pattern.fullmatch(form))
