"""Which change of an input gives what a launch wrote: of wrong results, and of launches that ended early."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator import Emulator
from ptxkit.emulator.launch_findings import LIMIT
from ptxkit.running.loaded_plan import Case, LoadedPlan
from ptxkit.workloads import Arrays
from ptxkit.workloads.comparison import OutputComparison
from ptxkit.workloads.suppositions import supposed


def supposed_of(case: Case, outputs: Arrays, compared: Sequence[OutputComparison]) -> str | None:
    """What a kernel did with its inputs instead, by the first wrong output that tells; None where none does.

    Args:
        case: the plan's problem.
        outputs: what the launches left, as stored.
        compared: how they compare with the reference.
    """
    tensors = case.tensors
    wrong = (one for one in compared if not one.ok and one.unwritten < one.wrong)
    said = (supposed(case.reference, tensors, case.inputs, outputs[one.tensor], one) for one in wrong)
    return next((text for text in said if text is not None), None)


def supposed_beyond(on_device: LoadedPlan, case: Case) -> str | None:
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
    return supposed_of(case, outputs, case.compare(outputs))
