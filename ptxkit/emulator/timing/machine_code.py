"""What PTX instructions become, by rule: pipes, numbers of machine instructions, latencies."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


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


@cache
def machine_code(spelling: str) -> MachineCode:
    """What an instruction that is spelled so becomes, if it touches registers alone."""
    return next(code for pattern, code in _rules() if pattern.fullmatch(spelling))
