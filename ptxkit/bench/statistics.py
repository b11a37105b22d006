"""From samples to a figure: the trial, when to stop one, several trials together.

A *sample* is one timed execution, a *trial* a series of samples on buffers of its own. Times of a GPU are
skewed: most samples lie close together, some are much longer. So a trial's figure is its median, with an
interval that holds for any distribution, and the figure of a measurement the median of its trials. Trials
begin with fresh buffers, at other addresses, and differ by more than chance within one of them; so the
*spread*, the distance between the smallest and the largest trial, says how far another run may lie. *Noise*
is the standard deviation of the samples over their mean, as nvbench has it.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

_Z = 1.96
"""Of a normal distribution 95 % lies within so many standard deviations of the mean."""

STEADY, ENOUGH, LATE = "steady", "max samples", "max time"
"""Why a trial stopped."""


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """When a trial has samples enough.

    Attributes:
        min_samples: no fewer than these.
        min_time: nor while the samples' times add up to fewer seconds.
        max_noise: then as soon as the median is known so well: half its interval over the median.
        max_samples: at the latest after so many samples,
        max_time: or after so many seconds of the host's clock.
    """

    min_samples: int = 10
    min_time: float = 0.01
    max_noise: float = 0.005
    max_samples: int = 2_000
    max_time: float = 5.0

    def reached(self, samples: Sequence[float], elapsed: float) -> str | None:
        """Why to stop now, None to go on.

        Args:
            samples: times so far, in seconds.
            elapsed: seconds since the trial began.
        """
        if not samples:
            return None
        if len(samples) >= self.min_samples and math.fsum(samples) >= self.min_time:
            low, high = median_interval(samples)
            if (high - low) / 2 <= self.max_noise * statistics.median(samples):
                return STEADY
        if len(samples) >= self.max_samples:
            return ENOUGH
        return LATE if elapsed >= self.max_time else None


def median_interval(samples: Sequence[float]) -> tuple[float, float]:
    """Bounds between which the true median lies in 95 of 100 cases, whatever the distribution.

    The ranks that a binomial distribution of one half gives, in its normal approximation. W. J. Conover,
    Practical Nonparametric Statistics, confidence interval for a quantile.
    """
    ordered = sorted(samples)
    count = len(ordered)
    reach = _Z * math.sqrt(count) / 2
    low = max(0, math.floor(count / 2 - reach))
    high = min(count - 1, math.ceil(count / 2 + reach))
    return ordered[low], ordered[high]


def noise(samples: Sequence[float]) -> float:
    """The standard deviation over the mean; 0 for a single sample."""
    return statistics.stdev(samples) / statistics.fmean(samples) if len(samples) > 1 else 0.0


def resolution(samples: Sequence[float]) -> float:
    """The smallest distance between two different samples: no finer than the clock; 0 where all are equal."""
    ordered = sorted(set(samples))
    return min((b - a for a, b in itertools.pairwise(ordered)), default=0.0)


@dataclass(frozen=True, slots=True)
class Trial:
    """A series of samples; times in seconds.

    Attributes:
        samples: how many.
        median, minimum, maximum: of their times.
        low, high: between which the true median lies.
        noise: standard deviation over mean.
        resolution: of the clock, as far as it shows.
        stopped: why the trial stopped.
        sm_clock: in Hz, None where it can't be read.
        sets: sets of buffers that took turns.
        reasons: what the management library says holds the clocks down; None without it.
    """

    samples: int
    median: float
    minimum: float
    maximum: float
    low: float
    high: float
    noise: float
    resolution: float
    stopped: str
    sm_clock: float | None = None
    sets: int = 1
    reasons: tuple[str, ...] | None = None

    @classmethod
    def of(cls, samples: Sequence[float], stopped: str, **more: Any) -> Trial:
        """The trial that these samples make."""
        low, high = median_interval(samples)
        return cls(
            samples=len(samples),
            median=statistics.median(samples),
            minimum=min(samples),
            maximum=max(samples),
            low=low,
            high=high,
            noise=noise(samples),
            resolution=resolution(samples),
            stopped=stopped,
            **more,
        )

    def above(self, seconds: float) -> Trial:
        """The same trial with so much taken off every sample."""
        return replace(
            self,
            median=self.median - seconds,
            minimum=self.minimum - seconds,
            maximum=self.maximum - seconds,
            low=self.low - seconds,
            high=self.high - seconds,
        )


@dataclass(frozen=True, slots=True)
class Figure:
    """What several trials say together; times in seconds.

    Attributes:
        seconds: the median of the trials' medians.
        spread: from the smallest to the largest of them, each known to half of the clock's resolution.
        noise: the median of the trials' noise.
        minimum: the fastest sample.
        samples: of all trials.
        trials: one by one.
    """

    seconds: float
    spread: float
    noise: float
    minimum: float
    samples: int
    trials: tuple[Trial, ...]

    @classmethod
    def of(cls, trials: Sequence[Trial]) -> Figure:
        """The figure of one trial or more."""
        medians = [trial.median for trial in trials]
        return cls(
            seconds=statistics.median(medians),
            spread=max(medians) - min(medians) + max(trial.resolution for trial in trials),
            noise=statistics.median(trial.noise for trial in trials),
            minimum=min(trial.minimum for trial in trials),
            samples=sum(trial.samples for trial in trials),
            trials=tuple(trials),
        )

    @property
    def sm_clocks(self) -> tuple[float, float] | None:
        """The lowest and the highest SM clock of a trial, in Hz; None where no trial knows it."""
        clocks = [trial.sm_clock for trial in self.trials if trial.sm_clock is not None]
        return (min(clocks), max(clocks)) if clocks else None

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict."""
        return asdict(self)
