"""What two answers to a trial have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from compare.textures.model import AXES, ArraySpec, Kind, Trial

EXAMPLES = 3
"""Differences of a kind that are written down."""
TYPES = 3
"""Outputs of `istypep`; those after it are the handle."""


@dataclass(slots=True)
class Verdict:
    """On a kind.

    Attributes:
        fetches: compared.
        equal: of the same bits.
        within: of those that are not, those within the tolerance of the filter, or of the level.
        noted: of those that are not, those that no document defines.
        differ: the others.
        refused: trials without an answer, by the reason.
        examples: of differences.
    """

    fetches: int = 0
    equal: int = 0
    within: int = 0
    noted: int = 0
    differ: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    examples: list[dict[str, Any]] = field(default_factory=list)

    def refuse(self, side: str, reason: str) -> None:
        """A trial has no answer."""
        key = f"{side}: {reason}"
        self.refused[key] = self.refused.get(key, 0) + 1


def judge(
    kind: Kind,
    trial: Trial,
    answer: np.ndarray,
    after: list[np.ndarray],
    verdict: Verdict,
    others: Sequence[np.ndarray] = (),
) -> None:
    """Compare the emulator's answer to a trial with the one that is kept.

    Args:
        kind: what is compared.
        trial: with the answer that is kept.
        answer: the emulator's.
        after: the texels after it.
        verdict: to be added to.
        others: answers with levels that are as right.
    """
    assert trial.answer is not None
    ours, theirs = answer, trial.answer
    if kind.judged == "types":
        ours, theirs = ours[:TYPES], theirs[:TYPES]
    equal = (ours == theirs).all(axis=0)
    if kind.writes:
        equal[:] = True
        for number, (mine, other) in enumerate(zip(after, trial.after, strict=True)):
            wrong = np.flatnonzero(mine != other)
            if len(wrong):
                equal[: len(wrong)] = False
                _example(
                    verdict,
                    kind,
                    trial,
                    {
                        "level": number,
                        "bytes": wrong[:8].tolist(),
                        "emulator": mine[wrong[:8]].tolist(),
                        "gpu": other[wrong[:8]].tolist(),
                    },
                )
    verdict.fetches += trial.threads
    verdict.equal += int(equal.sum())
    if equal.all() or kind.writes:
        verdict.differ += int((~equal).sum())
        return
    if kind.judged == "noted":
        verdict.noted += int((~equal).sum())
        return
    within = np.zeros(len(equal), bool)
    for bits in (ours, *others):
        within |= _near(kind, trial, bits, theirs) & ~equal
    verdict.within += int(within.sum())
    bad = ~equal & ~within
    verdict.differ += int(bad.sum())
    for thread in np.flatnonzero(bad)[:1]:
        shown = {
            "thread": int(thread),
            "inputs": [f"{int(word):#010x}" for word in trial.inputs[:, thread]],
            "emulator": [f"{int(word):#010x}" for word in ours[:, thread]],
            "gpu": [f"{int(word):#010x}" for word in theirs[:, thread]],
        }
        _example(verdict, kind, trial, shown)


def _near(kind: Kind, trial: Trial, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Of which threads all words are the same, or as near as the filter has to be."""
    near = ours == theirs
    if kind.judged == "filter":
        with np.errstate(all="ignore"):
            a, b = (bits.view(np.float32).astype(np.float64) for bits in (ours, theirs))
            near |= np.abs(a - b) <= tolerance(trial)
    return near.all(axis=0)


def _example(verdict: Verdict, kind: Kind, trial: Trial, shown: dict[str, Any]) -> None:
    if len(verdict.examples) < EXAMPLES:
        about = {
            "statement": kind.statements[trial.statement],
            "array": str(trial.array),
            "sampler": str(trial.sampler),
        }
        verdict.examples.append(about | shown)


def tolerance(trial: Trial) -> float:
    """How far sums of weighted texels may lie apart, if each weight is one of two neighbours in units of
    1/256: the guide says that weights have 8 bits of fraction, and not how a coordinate is rounded to
    them."""
    values = np.concatenate([_numbers(trial.array, data) for data in trial.data])
    values = np.append(values, [0.0, 1.0])
    assert trial.sampler is not None
    if "border" in trial.sampler.address:
        values = np.append(values, trial.sampler.border)
    axes = AXES[trial.array.geometry] * trial.sampler.linear + trial.sampler.levels_linear
    return float((values.max() - values.min()) * axes / 256 + np.abs(values).max() * 2.0**-22)


def _numbers(spec: ArraySpec, data: np.ndarray) -> np.ndarray:
    """Texels as they are filtered."""
    if spec.format.startswith("f"):
        return data.view(f"f{int(spec.format[1:]) // 8}").astype(np.float64)
    held = data.view(f"{spec.format[0].replace('s', 'i')}{int(spec.format[1:]) // 8}")
    return held.astype(np.float64) / np.iinfo(held.dtype).max
