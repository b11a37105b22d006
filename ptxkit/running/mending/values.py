"""Which changes of a kernel change a value where its result is wrong, and only there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from ptxkit.asm.mends.edit import Edit
from ptxkit.asm.mends.statements import KernelText
from ptxkit.asm.mends.whatif import FLAGS, what_if
from ptxkit.emulator.launch_state import in_clusters
from ptxkit.running.mending.cards import CardEdit
from ptxkit.running.mending.trial import Trials

LOOKED_AT = 2000
"""Changes that one run looks at, the likeliest."""
SAMPLED = 12
"""Clusters of which each runs alone, so that it is known what it writes."""
MOST_TEXTS = 8
"""Texts that are made, each without what was no PTX in the one before."""
PATIENCE = 12.0
"""How many times as long as the launch the run may take that looks at all changes."""
IDLE = 4.0
"""What it costs to change no value of any CTA that writes wrong elements."""
PARTLY = 0.6
"""What it costs, at most, to leave the values of some of those CTAs."""
ELSEWHERE = 0.5
"""What it costs, at most, to change values of CTAs that write right elements alone."""
APART = 0.5
"""How much likelier a change is that tells those CTAs from the others."""


def weighed(trials: Trials, kernel: KernelText, edits: Sequence[Edit | CardEdit]) -> list[Edit | CardEdit]:
    """The changes in the order of how likely they are, after a look at what they change.

    Only where some CTAs write wrong elements and others none: what is wrong in all tells nothing apart.

    Args:
        trials: launches that end, of which the fault is known: a wrong result.
        kernel: the statements of their text.
        edits: the changes, the likeliest first.
    """
    found = [*edits]
    if len(trials.plan.launches) != 1 or not trials.fast:
        return found
    wrong, right = _told_apart(trials)
    if not len(wrong) or not len(right):
        return found
    looked = _looked_at(trials, kernel, found)
    if looked is None:
        return found
    numbers, flags = looked
    for number, row in zip(numbers, flags, strict=True):
        edit = found[number]
        found[number] = replace(edit, cost=edit.cost + _more(row[wrong], row[right]))
    return sorted(found, key=lambda each: each.cost)


def _more(wrong: np.ndarray, right: np.ndarray) -> float:
    """What it costs to change values of some CTAs: whether it does, of each that writes wrong elements, and
    of each that does not."""
    if not wrong.any():
        return IDLE
    left, beside = 1.0 - float(wrong.mean()), float(right.mean())
    return PARTLY * left + ELSEWHERE * beside - (APART if left == beside == 0 else 0.0)


def _told_apart(trials: Trials) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of CTAs that write wrong elements, and of those that write right ones alone, as far as they
    are known: some clusters run alone."""
    (launch,) = trials.plan.launches
    shape = launch.cluster or (1, 1, 1)
    cluster = prod(shape)
    numbers = in_clusters(launch.grid, shape).reshape(-1, cluster)
    wrong, right = list[int](), list[int]()
    for one in np.unique(np.linspace(0, len(numbers) - 1, SAMPLED).astype(int)).tolist():
        verdict = trials.writes_wrong(one * cluster, cluster)
        if verdict is not None:
            (wrong if verdict else right).extend(numbers[one].tolist())
    return np.array(wrong, int), np.array(right, int)


def _looked_at(
    trials: Trials, kernel: KernelText, edits: Sequence[Edit | CardEdit]
) -> tuple[list[int], np.ndarray] | None:
    """The numbers of changes of which it is known where they change a value, and that: bool, a row for each,
    with all CTAs. Those that are no PTX change nothing; None where nothing is known."""
    ctas, launched = prod(trials.plan.launches[0].grid), replace(kernel, text=trials.trimmed)
    places = [number for number, edit in enumerate(edits) if isinstance(edit, Edit)]
    refused: list[int] = []
    for _ in range(MOST_TEXTS):
        texts = [edit for edit in (edits[number] for number in places) if isinstance(edit, Edit)]
        looks = what_if(launched, texts, ctas, LOOKED_AT)
        if looks is None:
            return None
        held = trials.variable(looks.text, FLAGS, PATIENCE * trials.took + 1)
        if isinstance(held, np.ndarray):
            flags = held.reshape(len(looks.numbers), ctas) != 0
            known = [places[number] for number in looks.numbers]
            return known + refused, np.concatenate((flags, np.zeros((len(refused), ctas), bool)))
        bad = {places[number] for problem in held for number in looks.meant_by(problem)}
        refused += bad
        bad = bad or {each for each in places if _in_macro(kernel, edits[each])}
        if not bad:
            return None
        places = [places[number] for number in looks.numbers if places[number] not in bad]
    return None


def _in_macro(kernel: KernelText, edit: Edit | CardEdit) -> bool:
    """Whether a change is of a macro's body: of an error there it is not known which change it is of."""
    return isinstance(edit, Edit) and any(
        one.macro for one in kernel.statements if one.start <= edit.start < one.end
    )
