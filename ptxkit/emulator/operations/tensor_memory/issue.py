"""What the instructions that one thread issues share: operands thread by thread, and checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ptxkit.asm import tree
from ptxkit.emulator.addresses import SHIFT, rank_in_descriptor, unmasked_rank, unshifted
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.issuers import Issuers
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.launch_state import LaunchState
from ptxkit.emulator.operands import SourceOperand, undefined_decides
from ptxkit.emulator.tensor_memory.cells import Box
from ptxkit.emulator.tensor_memory.engine import Engine
from ptxkit.emulator.tensor_memory.mma_plan import Illegal
from ptxkit.emulator.tensor_memory.operands import Tcgen05SharedOperand
from ptxkit.emulator.values import distinct
from ptxkit.encodings.shared_memory import SmemDescTcgen05


def cta_group(instruction: ScopedInstruction) -> int:
    """1 or 2."""
    instruction.scope.program.asynchronous = True
    return int(instruction["cta_group"] or 1)


class Operand:
    """An operand of an instruction that single threads issue.

    Args:
        operand: its name in the row, or one as written.
        type_name: what one as written is read as.
    """

    def __init__(
        self, instruction: ScopedInstruction, operand: tree.Operand | str, type_name: str | None = None
    ) -> None:
        self.site = instruction.site
        self.source: SourceOperand | None
        self._read: Callable[[LaneSet], Any]
        there = instruction.operands[operand] if isinstance(operand, str) else operand
        if isinstance(there, tree.Address):
            address = instruction.address(there)
            self.source, self._read = address.base, address.read
        else:
            self.source = instruction.source(operand, type_name)
            self._read = self.source.reader

    def take(self, lane_set: LaneSet, issuers: Issuers) -> np.ndarray:
        """The value of each issuing thread. Raises P605, it has undefined bits."""
        if lane_set.undefined and self.source is not None:
            entry = self.source.undefined(lane_set)
            if entry is not None:
                mask = np.broadcast_to(entry[0], (lane_set.n, 32))
                some = np.where(issuers.mask, mask, mask.dtype.type(0))
                if some.any():
                    what = f"the operand `{self.source.name}`"
                    undefined_decides(lane_set, some, entry[1], self.site, what)
        return issuers.take(self._read(lane_set))


def illegal(
    wrong: Illegal, site: Site, who: str, more: Sequence[str] = (), whole: int | None = None
) -> Exception:
    """The fault for descriptors that don't fit. `whole`: the shared address that one of them has as it is."""
    first, *others = wrong.problems
    notes = [who, *(problem.message for problem in others), *first.notes, *more]
    if whole is not None:
        said = f"a matrix descriptor has the address {whole:#x} itself, not shifted right by 4"
        return fault(wrong.code, said, site, (*notes, first.message), SHIFT)
    return fault(wrong.code, first.message, site, notes, first.help)


def whole_address(launch: LaunchState, words: Sequence[int]) -> int | None:
    """The shared address that one of some matrix descriptors without a meaning has as it is."""
    shared = launch.shared
    wrong = [word for word in words if SmemDescTcgen05.diagnose(word)]
    found = (unshifted(word, shared.start, shared.total, SmemDescTcgen05) for word in wrong)
    return next((whole for whole in found if whole is not None), None)


def check_boxes(engine: Engine, ctas: Sequence[int], boxes: Sequence[Box], site: Site, who: str) -> None:
    """Cells must exist, and belong to the CTA. Raises P6110, they don't exist; P6109, nobody allocated
    them."""
    for box in boxes:
        if box.beyond(engine.columns):
            message = f"tensor memory has 128 lanes of {engine.columns} columns, found {box}"
            raise fault("P6110", message, site, (who,))
        for cta in ctas:
            holder = engine.holders[cta]
            if not holder.owns(box.first, box.end):
                raise fault(
                    "P6109",
                    f"`{site.instruction.spelling}` uses {box} of {holder.name}",
                    site,
                    (who, *holder.notes()),
                    "allocate enough columns, and add their address to every offset",
                )


def check_shared(
    engine: Engine,
    operands: Sequence[Tcgen05SharedOperand],
    words: Sequence[int],
    site: Site,
    cta: int,
    who: str,
    again: Callable[[int], Sequence[Tcgen05SharedOperand]],
) -> None:
    """What descriptors reach must lie in shared memory.

    Args:
        engine: of the batch.
        operands: what is read.
        words: the descriptor of each.
        cta: whose shared memory it is.
        who: the thread, for the finding.
        again: the operands without some bits of the descriptors.

    Raises:
        EmulatorFault: P602; where the device is strict P6126, a base offset without a swizzle.
    """
    launch = engine.batch.launch
    for word in words:
        if word != SmemDescTcgen05.without_idle_offset(word):
            (problem,) = SmemDescTcgen05.diagnose(word)
            launch.formally_wrong("P6126", problem.message, site, (who, *problem.notes), problem.help)
    start, end = launch.shared.start, launch.shared.start + launch.shared.total
    for at, operand in enumerate(operands):
        if operand.first < start or operand.last >= end:
            rank = cta % engine.batch.cluster
            bits = rank_in_descriptor(rank)
            notes = [who, f"the CTA has {start:#x} to {end - 1:#x}"]
            help = "look at the address and offsets of the descriptor: `ptxkit explain smem.tcgen05`"
            help = launch.forgotten("shared") or help
            if bits and words[at] & bits == bits:
                without = again(bits)[at]
                if start <= without.first and without.last < end:
                    note, help = unmasked_rank(rank)
                    notes.append(note)
            raise fault(
                "P602",
                f"out of bounds: `{site.instruction.spelling}` reads shared memory from {operand.first:#x} "
                f"to {operand.last:#x}",
                site,
                notes,
                help,
            )


def warn_many(lane_set: LaneSet, issuers: Issuers, site: Site) -> None:
    """Several lanes of a warp issue what one thread should."""
    if len(issuers) > 1 and len(distinct(issuers.rows)) < len(issuers):
        rows, counts = np.unique(issuers.rows, return_counts=True)
        row = int(rows[int(np.argmax(counts))])
        lane = int(issuers.lanes[int(np.argmax(issuers.rows == row))])
        lane_set.launch.warn(
            "P6129",
            f"{int(counts.max())} threads of a warp execute `{site.instruction.spelling}`, each for itself",
            site,
            (
                f"{lane_set.batch.thread(row, lane)} is the first",
                "one elected thread starts the whole operation",
            ),
        )
