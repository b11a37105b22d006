"""What a kernel may have done with its inputs instead: which change of one input gives the wrong elements.

The reference is asked again with one input changed as a wrong index, a wrong buffer or lost steps of a sum
would have it. Where that gives the wrong elements of an output, the change says what the kernel did.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ptxkit.workloads import content
from ptxkit.workloads.comparison import OutputComparison, compare
from ptxkit.workloads.input_changes import InputChange, changes
from ptxkit.workloads.problem import Arrays, Expected, Tensor

Reference = Callable[[Arrays], dict[str, Expected]]

SECONDS, AFTER = 8.0, 2.0
"""Of this process on processors: how long changes are tried, and how long behind one that explains some."""
FEWEST = 16
"""Fewer wrong elements, or fewer different ones, tell nothing."""
SOME = 0.3
"""The part that it must explain."""
CHANCE = 0.2
"""Of that part, what may fit by chance: what fits when elements are held against those of other places."""
SAMPLE = 1024
"""Wrong elements that are looked at first."""
NEAR = 0.02
"""By which part of the value they may be off then."""
BETTER = 0.1
"""How much more of them a later change must explain."""
ENOUGH = 1 - BETTER
"""The part of the wrong elements that a change explains behind which no better one is sought."""
LARGEST = 1 << 22
"""Elements of an input that is changed."""


def supposed(
    reference: Reference,
    tensors: Mapping[str, Tensor],
    inputs: Arrays,
    found: np.ndarray,
    wrong: OutputComparison,
    others: Sequence[tuple[np.ndarray, OutputComparison]] = (),
    seconds: float = SECONDS,
) -> str | None:
    """What the kernel did, in words; None where no change gives the wrong elements.

    Args:
        reference: of the problem.
        tensors: of the problem, by name.
        inputs: what the launch began with, as stored.
        found: what the wrong output holds, as stored.
        wrong: how it compares.
        others: other wrong outputs, which the change must explain, too, with how they compare.
        seconds: of this process on processors, at most.
    """
    if wrong.which is None:
        return None
    output, end = tensors[wrong.tensor], time.process_time() + min(seconds, SECONDS)
    values = content.decode(output, found).reshape(-1)
    numbers = np.isfinite(values[wrong.which]) & (values[wrong.which] != 0)
    which = wrong.which[numbers]  # Zeros and NaNs are alike wherever they come from.
    if len(np.unique(values[which])) < FEWEST:
        return None
    sample = which[:: -(-len(which) // SAMPLE)]
    held = values[sample]

    def may_fit(expected: Expected) -> bool:
        """Whether enough of some wrong elements are near an expectation."""
        values = np.broadcast_to(expected.values, output.shape).reshape(-1)[sample]
        near = NEAR * np.abs(values) + wrong.tolerance.atol
        if expected.slack is not None:
            near = near + np.broadcast_to(expected.slack, output.shape).reshape(-1)[sample]
        return float((np.abs(held - values) <= near).mean()) >= SOME / 2

    def fitting(expected: Expected) -> float:
        """The part of the wrong elements that an expectation has."""
        left = compare(output, found, expected, wrong.tolerance, patterned=False).which
        if left is None:
            return 1.0
        still = np.zeros(wrong.elements, bool)
        still[left] = True
        return 1.0 - float(still[which].mean())

    def explained(changed: Arrays) -> float:
        given = reference(changed)
        expected = given[output.name]
        share = fitting(expected) if may_fit(expected) else 0.0
        if share < SOME:
            return 0.0
        shape = output.shape
        axes = tuple(range(len(shape)))[-2:]
        if any(_fits(tensors[one.tensor], held, given[one.tensor], one) < SOME for held, one in others):
            return 0.0
        elsewhere = np.roll(np.broadcast_to(expected.values, shape), (3, 5)[: len(axes)], axes)
        return share if fitting(Expected(elsewhere, expected.slack)) < CHANCE * share else 0.0

    best: InputChange | None = None
    most = 0.0
    counts = _that_count(reference, tensors, inputs, output)
    for one in changes(counts, inputs):
        if time.process_time() > end or most > ENOUGH:
            break
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                share = explained({**inputs, **one.made()})
        except (ArithmeticError, LookupError, TypeError, ValueError):
            continue  # No index of another tensor, or no length.
        if share > most + BETTER:
            best, most, end = one, share, min(end, time.process_time() + AFTER)
    if best is None:
        return None
    share = most * len(which) / len(wrong.which)
    part = "the" if share == 1.0 else f"{share:.0%} of the"
    return f"{best.text}: {part} wrong elements of `{output.name}` are what that gives"


def _fits(output: Tensor, held: np.ndarray, expected: Expected, wrong: OutputComparison) -> float:
    """The part of the wrong elements of an output that an expectation has."""
    left = compare(output, held, expected, wrong.tolerance, patterned=False).which
    assert left is not None
    still = np.zeros(wrong.elements, bool)
    still[left] = True
    return 1.0 - float(still[wrong.which].mean())


def _that_count(
    reference: Reference, tensors: Mapping[str, Tensor], inputs: Arrays, output: Tensor
) -> dict[str, Tensor]:
    """The inputs of which an output depends, by the reference."""
    right, found = reference(dict(inputs))[output.name].values, {}
    for name, stored in inputs.items():
        if name not in tensors or stored.size < 2 or stored.size > LARGEST:
            continue
        turned = stored.reshape(-1)[::-1].reshape(stored.shape)
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                other = reference({**inputs, name: turned})[output.name].values
        except (ArithmeticError, LookupError, TypeError, ValueError):
            continue
        if not np.array_equal(right, other, equal_nan=True):
            found[name] = tensors[name]
    return found
