"""How a bench measures."""

from __future__ import annotations

from dataclasses import dataclass, field

from ptxkit.bench.statistics import StoppingRule


@dataclass(frozen=True, slots=True)
class Settings:
    """How to measure: plain data, so that a worker process can be told.

    Attributes:
        flush: of the L2 cache before each sample: `read`, `write` or `none`.
        trials: series of samples, each on fresh buffers.
        sets: sets of buffers that take turns within a trial, as far as memory goes.
        warmup: seconds of launches before each trial.
        pause: seconds that the GPU rests before each burst of samples; 0: it is under load all the time.
        rule: when a trial has samples enough.
        roofs: whether to measure the memory roof, and the arithmetic one where the problem has one.
    """

    flush: str = "read"
    trials: int = 7
    sets: int = 2
    warmup: float = 0.05
    pause: float = 0.0
    rule: StoppingRule = field(default_factory=StoppingRule)
    roofs: bool = True
