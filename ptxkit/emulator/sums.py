"""`%r1+4` as a source operand: a sum in the register's own width, worked out before the instruction.

The manual has it in addresses only; ptxas takes it wherever an integer register may be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ptxkit.emulator.effect import Effect
from ptxkit.emulator.lane_set import LaneSet, Step
from ptxkit.emulator.operands import SourceOperand, TargetOperand
from ptxkit.emulator.operation import Pure
from ptxkit.emulator.operations import definedness
from ptxkit.emulator.scope import Sum
from ptxkit.emulator.steps import clean_step, tracked_step
from ptxkit.emulator.values import constant, dtype_of


def sum_step(wanted: Sum) -> Step:
    """The step that puts a sum into its slot."""
    kind, slot, bits = f"u{wanted.bits}", wanted.slot, wanted.bits
    dtype = dtype_of(kind)
    operation = Pure((kind,), (kind, kind), np.add, undefined=definedness.carried)
    sources = [
        SourceOperand(dtype, bits, slot=slot, name=wanted.name),
        SourceOperand(dtype, bits, value=constant(wanted.number, kind)),
    ]
    targets = [TargetOperand(wanted.into, bits)]
    clean = clean_step(operation, sources, targets, None)
    tracked = tracked_step(operation, sources, targets, None, clean, wanted.site)
    return lambda lane_set: (tracked if lane_set.undefined else clean)(lane_set)


def after(sums: Sequence[Step], step: Step) -> Step:
    """A step behind those of the sums that it reads."""

    def both(lane_set: LaneSet) -> Any:
        for each in sums:
            each(lane_set)
        return step(lane_set)

    return both


def behind(sums: Sequence[Step], effect: Effect) -> Effect:
    """An effect whose synchronisation point and end find the sums that they read."""
    sync_point, link = effect.sync_point, effect.link
    if sync_point is not None:
        effect = replace(effect, sync_point=after(sums, sync_point))
    if link is not None:
        effect = replace(effect, link=lambda linker: after(sums, link(linker)))
    return effect
