"""A bench against an earlier one: which kernels became faster, and whether the difference is one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ptxkit.bench.measurement import CLOCK_DROP, SCHEMA, BenchState
from ptxkit.bench.settings import Settings
from ptxkit.diagnostics import error, reason

_MAKE = "`ptxkit bench FILE --json > earlier.json` makes one"
FASTER, SLOWER, SAME, NEW, ELSEWHERE = "faster", "slower", "same", "new", "other device"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a state compares with its earlier figure.

    Attributes:
        word: `faster`, `slower`; `same`: no farther apart than both spreads together; `new`: nothing to
            compare with; `other device`: nothing that may be compared with.
        ratio: the time now over the time then.
        before: the time then, in seconds.
        clock_differs: whether the SM clock then was another, so that the times say little.
    """

    word: str
    ratio: float | None = None
    before: float | None = None
    clock_differs: bool = False

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict."""
        return asdict(self)


def read(path: Path, settings: Settings) -> dict[str, Any]:
    """The document of an earlier bench that was measured as these settings say.

    Raises:
        PtxkitError: P523, the file can't be read or is none, or it was measured with another flush
            or pause.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise error(
            "P523", f"cannot read the earlier bench `{path}`: {reason(problem)}", help=_MAKE
        ) from None
    if not isinstance(found, dict) or found.get("kind") != "bench" or found.get("schema") != SCHEMA:
        message = f"expected a bench of schema {SCHEMA} in `{path}`, found something else"
        raise error("P523", message, help=_MAKE)
    pause = found["settings"].get("pause", 0.0)
    if pause != settings.pause:
        message = f"expected an earlier bench with `--pause {settings.pause:g}`, found `--pause {pause:g}`"
        raise error("P523", message, help=f"measure with `--pause {pause:g}`, or make the earlier one anew")
    flush = found["settings"]["flush"]
    if flush != settings.flush:
        message = f"expected an earlier bench with `--flush {settings.flush}`, found `--flush {flush}`"
        raise error("P523", message, help=f"measure with `--flush {flush}`, or make the earlier one anew")
    return found


def compare(states: Sequence[BenchState], earlier: Mapping[str, Any]) -> list[Verdict]:
    """A verdict for each state."""
    known = [state for state in earlier["states"] if state["timing"]]
    return [
        Verdict(ELSEWHERE)
        if state.report and state.report.device != earlier["device"]
        else _verdict(state, _find(state, known))
        for state in states
    ]


def _find(state: BenchState, known: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The earlier state of the same file at the same sizes; else the only one of the same problem."""
    plan = state.plan
    same = [
        other
        for other in known
        if (other["workload"], other["sizes"], other["inputs"]) == (plan.workload, plan.sizes, plan.inputs)
    ]
    named = [other for other in same if Path(other["file"]).name == Path(plan.program.name).name]
    if named:
        return named[0]
    return same[0] if len(same) == 1 and plan.workload else None


def _verdict(state: BenchState, before: Mapping[str, Any] | None) -> Verdict:
    if state.figure is None or before is None:
        return Verdict(NEW)
    now, then = state.figure.seconds, before["timing"]["seconds"]
    apart = state.figure.spread + before["timing"]["spread"]
    word = SAME if abs(now - then) <= apart else FASTER if now < then else SLOWER
    return Verdict(word, now / then, then, _clock_differs(state, before["timing"]["trials"]))


def _clock_differs(state: BenchState, trials: Sequence[Mapping[str, Any]]) -> bool:
    then = [trial["sm_clock"] for trial in trials if trial["sm_clock"]]
    now = state.figure.sm_clocks if state.figure else None
    if not then or now is None:
        return False
    return now[1] < min(then) * (1 - CLOCK_DROP) or max(then) * (1 + CLOCK_DROP) < now[0]
