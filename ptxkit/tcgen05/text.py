"""A plan as PTX: statements that a kernel can hold as they are.

Registers that the caller owns are named by `Registers`; everything else is declared inside a scope of
its own, so that plans can stand one after another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ptxkit.descriptors import SmemDescTcgen05, ZeroColumnMask
from ptxkit.tcgen05.memory import PlannedCommit, PlannedCopy, PlannedMove
from ptxkit.tcgen05.mma import PlannedMma


@dataclass(frozen=True)
class Registers:
    """The caller's registers that the instructions of a product read.

    Attributes:
        d: `.b32`, TMEM address of D.
        a: `.b32`, shared address of A (TMEM address where A lies there).
        b: `.b32`, shared address of B.
        accumulate: `.pred`, whether the first step adds to D.
        scale_a, scale_b, metadata: `.b32`, TMEM addresses, where the product has them.
    """

    d: str = "%d"
    a: str = "%a"
    b: str = "%b"
    accumulate: str = "%accumulate"
    scale_a: str = "%scale_a"
    scale_b: str = "%scale_b"
    metadata: str = "%metadata"


def allocation(columns: int, slot: str, cta_group: int = 1) -> list[str]:
    """Allocate `columns` and give up the right to more; one whole warp executes it.

    Args:
        slot: register or symbol with the shared address that receives the TMEM address.
    """
    return [
        f"tcgen05.alloc.cta_group::{cta_group}.sync.aligned.shared::cta.b32 [{slot}], {columns};",
        f"tcgen05.relinquish_alloc_permit.cta_group::{cta_group}.sync.aligned;",
    ]


def deallocation(columns: int, address: str, cta_group: int = 1) -> list[str]:
    """Free what `allocation` gave; one whole warp executes it."""
    return [f"tcgen05.dealloc.cta_group::{cta_group}.sync.aligned.b32 {address}, {columns};"]


def mma(
    plan: Sequence[PlannedMma], registers: Registers | None = None, mask: ZeroColumnMask | None = None
) -> list[str]:
    """The product; one thread executes it.

    Args:
        mask: the zero-column mask of a `.ws` product.
    """
    names = registers or Registers()
    tmem_a = bool(plan) and isinstance(plan[0].a, int)
    lines = [
        "{",
        ".reg .b32 %d_at, %a_at, %b_at, %a_low, %b_low, %scale_a_at, %scale_b_at, %metadata_at, %idesc;",
        ".reg .b64 %a_desc, %b_desc, %zero_mask;",
        ".reg .pred %add;",
        "setp.eq.b32 %add, 0, 0;",
    ]
    if not tmem_a:
        lines.append(f"bfe.u32 %a_low, {names.a}, 4, 14;")
    lines.append(f"bfe.u32 %b_low, {names.b}, 4, 14;")
    if mask is not None:
        lines.append(f"mov.b64 %zero_mask, {mask.hex};")
    for one in plan:
        lines += _one_mma(one, names, mask is not None)
    return [*lines, "}"]


def _one_mma(one: PlannedMma, names: Registers, masked: bool) -> list[str]:
    lines = [f"add.u32 %d_at, {names.d}, {one.d:#x};"]
    if isinstance(one.a, int):
        lines.append(f"add.u32 %a_at, {names.a}, {one.a:#x};")
        a = "[%a_at]"
    else:
        lines += _descriptor("%a_desc", "%a_low", "%a_at", one.a)
        a = "%a_desc"
    lines += _descriptor("%b_desc", "%b_low", "%b_at", one.b)
    lines.append(f"mov.b32 %idesc, {one.idesc.hex};")
    operands = ["[%d_at]", a, "%b_desc"]
    if one.metadata is not None:
        lines.append(f"add.u32 %metadata_at, {names.metadata}, {one.metadata:#x};")
        operands.append("[%metadata_at]")
    operands.append("%idesc")
    for name, base, offset in (
        ("%scale_a_at", names.scale_a, one.scale_a),
        ("%scale_b_at", names.scale_b, one.scale_b),
    ):
        if offset is not None:
            lines.append(f"add.u32 {name}, {base}, {offset:#x};")
            operands.append(f"[{name}]")
    operands.append("%add" if one.accumulate else names.accumulate)
    if masked:
        operands.append("%zero_mask")
    return [*lines, f"{one.opcode} {', '.join(operands)};"]


def _descriptor(name: str, base: str, scratch: str, descriptor: SmemDescTcgen05) -> list[str]:
    """A matrix descriptor from the encoded start address: the plan's word has the rest, and the advance."""
    high, low = divmod(int(descriptor), 2**32)
    return [f"add.u32 {scratch}, {base}, {low:#x};", f"mov.b64 {name}, {{{scratch}, {high:#x}}};"]


def copies(plan: Sequence[PlannedCopy], source: str, destination: str) -> list[str]:
    """Copies from shared address `source` to TMEM address `destination`; one thread executes them."""
    lines = [
        "{",
        ".reg .b32 %from_low, %from, %to;",
        ".reg .b64 %from_desc;",
        f"bfe.u32 %from_low, {source}, 4, 14;",
    ]
    for copy in plan:
        lines += _descriptor("%from_desc", "%from_low", "%from", copy.source)
        lines.append(f"add.u32 %to, {destination}, {copy.column:#x};")
        lines.append(f"{copy.opcode} [%to], %from_desc;")
    return [*lines, "}"]


def moves(
    plan: Sequence[PlannedMove], address: str, registers: Sequence[str], wait: bool = True
) -> list[str]:
    """Loads or stores of a warp; every thread of it executes them.

    Args:
        address: `.b32` register, the TMEM address with the warp's lanes (32 * warp << 16) added.
        registers: `.b32` registers, as many as the plan moves.
        wait: wait for their completion at the end.
    """
    lines = ["{", ".reg .b32 %at;"]
    for move in plan:
        first, count = move.registers
        vector = "{" + ", ".join(registers[first : first + count]) + "}"
        lines.append(f"add.u32 %at, {address}, {move.address:#x};")
        load = move.opcode.startswith("tcgen05.ld")
        lines.append(f"{move.opcode} {vector}, [%at];" if load else f"{move.opcode} [%at], {vector};")
    if wait and plan:
        kind = "ld" if plan[0].opcode.startswith("tcgen05.ld") else "st"
        lines.append(f"tcgen05.wait::{kind}.sync.aligned;")
    return [*lines, "}"]


def commit(plan: PlannedCommit, barrier: str) -> list[str]:
    """The commit to the mbarrier at shared address `barrier`; the thread that issued the work executes it."""
    if plan.mask is None:
        return [f"{plan.opcode} [{barrier}];"]
    return [
        "{",
        ".reg .b16 %ranks;",
        f"mov.b16 %ranks, {plan.mask:#x};",
        f"{plan.opcode} [{barrier}], %ranks;",
        "}",
    ]
