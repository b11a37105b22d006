"""What the manual forbids of warpgroups and shipping kernels have; see docs/emulator/rules.md.

Asked only about a breach that has been found, so that a run without one does nothing for it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ptxkit.asm.constants import constant_value
from ptxkit.asm.decode import Decoded
from ptxkit.asm.flow import FunctionCode
from ptxkit.asm.tree import Float, Name
from ptxkit.emulator.asynchronous.reports import Earlier
from ptxkit.emulator.clocks import SPACES
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.faults import Site
from ptxkit.emulator.values import distinct
from ptxkit.emulator.warpgroup.members import WARPS, warpgroup_of

ZEROS = "its warpgroup filled these bytes with zeros and met at `wgmma.fence`, which orders registers alone"
REFILL = (
    "the reader's warpgroup has waited for its products since, and one of its warps told: "
    "that orders no plain read of the others"
)

ZEROED = "nothing but zeros was moved into its accumulator since; ptxas puts a fence of its own behind them"


def excuses(
    batch: CtaBatch, fenced: np.ndarray, completion: np.ndarray, earlier: Earlier
) -> Iterator[tuple[np.ndarray, str]]:
    """Which of some accesses a race of practice begins with, bool, and what practice goes by.

    Args:
        batch: whose.
        fenced, completion: of its warpgroups, as in `Warpgroups`.
        earlier: accesses that nothing orders before an operation.
    """
    yield _filled_with_zeros(batch, fenced, earlier), ZEROS
    yield _refilled_after_products(batch, completion, earlier), REFILL


def _filled_with_zeros(batch: CtaBatch, met: np.ndarray, earlier: Earlier) -> np.ndarray:
    """Products read zeros that the warps of their own warpgroup stored: FlashMLA.

    Each warp fences what it stored, and the warpgroup meets at `wgmma.fence`: no barrier orders the four.
    """
    operation, history, record = earlier.operation, earlier.history, earlier.record
    if operation.site.row.chapter != "wgmma" or earlier.space != "shared" or earlier.writes:
        return np.zeros(len(record), bool)
    happens_before, number = batch.happens_before, history.number(record)
    rows = happens_before.rows_of(history, record, earlier.rows)
    mine, theirs = (warpgroup_of(batch, each) for each in (earlier.rows, rows))
    fenced = happens_before.proxied[rows, SPACES.index("shared"), happens_before.column[rows]]
    found = ~history.is_async(record) & (rows >= 0) & (mine == theirs)
    found &= (number < fenced) & (fenced < met[mine])
    for each in distinct(number[found]).tolist():
        site = batch.launch.events.site(each)
        if site is None or not _stores_zeros(batch.launch.program.flow(site.function), site):
            found &= number != each
    return found


def _stores_zeros(flow: FunctionCode, store: Site) -> bool:
    """Whether an instruction stores nothing but zeros, as its function's text has it."""
    if store.name != "st":
        return False
    names = []
    for value, _ in store.decoded.values(written=False):
        if isinstance(value, Name):
            names.append(value)
        elif value is None or constant_value(value) != 0:
            return False
    stored = flow.register_bits(names)
    for instruction, written in zip(flow.instructions, flow.writes, strict=True):
        if written & stored:
            made = Decoded(instruction)
            if made.row.name != "mov" or made.constant("a") != 0:
                return False
    return True


def _refilled_after_products(batch: CtaBatch, completion: np.ndarray, earlier: Earlier) -> np.ndarray:
    """`cp.async` fills bytes anew whose readers' warpgroup is done with its products: CUTLASS's scales.

    One thread of a warpgroup arrives for all four warps once `wgmma.wait_group` is over, and the others have
    read the scales by plain loads.
    """
    history, record = earlier.history, earlier.record
    refills = "copies_generic" in earlier.operation.site.row.traits
    if not refills or not earlier.writes or earlier.kind == "write":
        return np.zeros(len(record), bool)
    each = np.repeat(completion[: -(-batch.warps_per_cta // WARPS)], WARPS)
    done = batch.happens_before.has_waited(history, record, earlier.rows, each) & ~history.is_async(record)
    for number in distinct(history.number(record)).tolist():
        site = batch.launch.events.site(number)
        if site is None or site.name != "ld":
            done &= history.number(record) != number
    return done


def zeroed_behind_fences(flow: FunctionCode, product: Site) -> bool:
    """Whether all that happens to a product's accumulator between it and the fences before it is that zeros
    are moved there: CuTe DSL's persistent product for sm_90.

    Its source fills the accumulator before the fence. The fence names no registers, so its compiler moves the
    zeros past it, and ptxas tells that it injects `warpgroup.arrive` before the product (C7519).
    """
    number = next(at for at, one in enumerate(flow.instructions) if one is product.instruction)
    accumulator = flow.writes[number]
    between = _since_fences(flow, number)
    if between is None:
        return False
    others = [at for at in between if Decoded(flow.instructions[at]).row.chapter != "wgmma"]
    zeros = _zeros(flow, others)
    moved = [at for at in others if (flow.reads[at] | flow.writes[at]) & accumulator]
    return all(at in zeros for at in moved)


def _zeros(flow: FunctionCode, among: list[int]) -> set[int]:
    """The moves among some instructions that move zero: the constant, or a register that the others of them
    alone write."""
    found = {at for at in among if _moves(flow, at)}
    while True:
        written = otherwise = 0
        for at in among:
            if at in found:
                written |= flow.writes[at]
            else:
                otherwise |= flow.writes[at]
        left = {at for at in found if not flow.reads[at] & ~(written & ~otherwise)}
        if left == found:
            return found
        found = left


def _moves(flow: FunctionCode, at: int) -> bool:
    """Whether an instruction is a plain move of a register or of zero."""
    made = Decoded(flow.instructions[at])
    if made.row.name != "mov" or flow.instructions[at].guard is not None:
        return False
    source = made.operands["a"]
    return flow.reads[at] != 0 or made.constant("a") == 0 or (isinstance(source, Float) and source.bits == 0)


def _since_fences(flow: FunctionCode, number: int) -> set[int] | None:
    """The instructions between an instruction and the last `wgmma.fence` on each path to it; None where there
    is a path without one."""
    before: dict[int, list[int]] = {}
    for at in range(len(flow.instructions)):
        for following in flow.successors(at):
            before.setdefault(following, []).append(at)
    found: set[int] = set()
    rest = [number]
    while rest:
        at = rest.pop()
        if at == 0:
            return None
        for earlier in before.get(at, ()):
            if earlier not in found and Decoded(flow.instructions[earlier]).row.name != "wgmma.fence":
                found.add(earlier)
                rest.append(earlier)
    return found


def accessed_before_commit(flow: FunctionCode) -> frozenset[int]:
    """The instructions that access an accumulator straight behind a product, with neither
    `wgmma.commit_group` nor `wgmma.wait_group` between: Triton's partial sums of FP8.

    The products are synchronous there: ptxas tells that it injects `warpgroup.wait` before them (C7517).
    """
    count = len(flow.instructions)
    entered = {there for at in range(count) for there in flow.successors(at) if there != at + 1}
    found, held = set(), 0
    for at in range(count):
        if at in entered or (at and at not in flow.successors(at - 1)):
            held = 0
        made = Decoded(flow.instructions[at])
        if made.row.chapter != "wgmma":
            if held & (flow.reads[at] | flow.writes[at]):
                found.add(at)
        elif made.row.name in ("wgmma.commit_group", "wgmma.wait_group"):
            held = 0
        else:
            held |= flow.writes[at]
    return frozenset(found)
