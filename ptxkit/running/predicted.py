"""How long the launches of a plan would take."""

from __future__ import annotations

from ptxkit.asm import Module
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.timing.predict import Prediction, Predictor
from ptxkit.plan import LaunchPlan
from ptxkit.running.loaded_plan import Case, LoadedPlan
from ptxkit.running.session import RunOptions, load
from ptxkit.workloads import Arrays

MOST_CONTENT = 256 << 20
"""Bytes of tensors from which on only those of integers, which may be indices, get their contents."""


def predicted(
    module: Module, plan: LaunchPlan, predictor: Predictor, options: RunOptions
) -> list[Prediction]:
    """What the launches of a plan would take, one after another.

    Args:
        module: the plan's program.
        plan: what to launch.
        predictor: where.
        options: what is linked to the program.

    Raises:
        PtxkitError: what the emulator finds in the sampled CTAs, and what `Case` raises.
    """
    with (
        predictor.emulator(predictor.gpu) as device,
        LoadedPlan(device, load(device, module, options), plan) as on_device,
    ):
        on_device.fill(_inputs(Case(plan)))
        device.prepare = predictor.begin
        on_device.launch()
    return predictor.predictions()


def _inputs(case: Case) -> Arrays:
    """What tensors hold: of very large problems only those of integers, the others zeros."""
    tensors = case.plan.tensors
    if sum(one.tensor.nbytes for one in tensors) <= MOST_CONTENT:
        return case.inputs
    return case.some_inputs(frozenset(one.name for one in tensors if DTYPES[one.tensor.dtype].is_integer))
