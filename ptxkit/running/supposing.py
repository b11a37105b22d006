"""Which change of an input gives what a launch wrote: of wrong results, and of launches that ended early."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import reduce

from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator import Emulator
from ptxkit.emulator.launch_findings import LIMIT
from ptxkit.running.loaded_plan import Case, LoadedPlan
from ptxkit.workloads import Arrays
from ptxkit.workloads.comparison import OutputComparison
from ptxkit.workloads.suppositions import supposed

TOLD = re.compile(r"(each|\d+%) of them (that is not 0 )?(holds? what belongs|has the opposite sign)")
"""How a note begins that tells the cause: where wrong elements of a result belong, that all are negated."""
TIMES, LEAST = 2.0, 2.0
"""How long is searched, at most: so many times as long as the launches took, or so many seconds."""
PLURAL = (
    ("each of them that is not 0 holds", "elements that are not 0 hold"),
    ("each of them holds", "elements hold"),
    ("each of them has", "elements have"),
    ("of them hold", "of the wrong elements hold"),
)


def told(notes: Iterable[str]) -> str | None:
    """What the notes of a wrong result tell of its cause, if one does."""
    for note in notes:
        if TOLD.match(note):
            return reduce(lambda said, change: said.replace(*change), PLURAL, note)
    return None


def supposed_of(
    case: Case, outputs: Arrays, compared: Sequence[OutputComparison], seconds: float
) -> str | None:
    """What a kernel did with its inputs instead, by the first wrong output that tells; None where none does.

    Args:
        case: the plan's problem.
        outputs: what the launches left, as stored.
        compared: how they compare with the reference.
        seconds: that the launches took.
    """
    wrong = [one for one in compared if one.which is not None and len(one.which)]
    for one in wrong:
        others = [(outputs[other.tensor], other) for other in wrong if other is not one]
        held, most = outputs[one.tensor], max(LEAST, TIMES * seconds)
        text = supposed(case.reference, case.tensors, case.inputs, held, one, others, most)
        if text is not None:
            return text
    return None


def supposed_beyond(on_device: LoadedPlan, case: Case, seconds: float) -> str | None:
    """The same of launches that an error ended: they are run again, past errors.

    Asynchronous work happens at once then: whoever forgot to wait for it has right results, and nothing is
    supposed; whoever reads what he should not has wrong ones in any order.
    """
    device = on_device.device
    assert isinstance(device, Emulator)
    known, options = len(device.findings), device.options
    device.options = options._replace(order="eager", sanitize=False, keep_going=LIMIT)
    try:
        on_device.fill(case.inputs)
        on_device.launch()
        outputs = on_device.outputs()
    except PtxkitError:
        return None
    finally:
        device.options = options
        del device.findings[known:]
    compared = case.compare(outputs)
    notes = [note for one in compared for note in one.patterns]
    return told(notes) or supposed_of(case, outputs, compared, seconds)
