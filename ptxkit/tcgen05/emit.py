"""Plans as instructions in a body of `ptxkit.asm.build`, which checks every one of them.

    b = Builder("sm_100a")
    with b.entry("gemm") as k:
        ...
        emit.mma(k, plan, emit.Operands(d=taddr, a=a_smem, b=b_smem, accumulate=more))
        emit.commit(k, plan_commit(), barrier)

Places in a plan are relative: the operands here say where the matrices begin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ptxkit.asm.build import Body, Register
from ptxkit.asm.build.chain import attribute
from ptxkit.bits import refuse
from ptxkit.diagnostics import counted, error
from ptxkit.encodings.shared_memory import SmemDescTcgen05
from ptxkit.encodings.zero_column_mask import ZeroColumnMask
from ptxkit.tcgen05.memory import MOVE, PlannedCommit, PlannedCopy, PlannedMove
from ptxkit.tcgen05.mma import PlannedMma
from ptxkit.tcgen05.parts import OPERANDS, is_later


@dataclass(frozen=True)
class ProductOperands:
    """Where the matrices of a product begin; registers of the body.

    Attributes:
        d: `.b32`, TMEM address of D.
        a: `.b32`, shared address of A; its TMEM address where A lies there.
        b: `.b32`, shared address of B.
        accumulate: `.pred`, whether the first step adds to D.
        scale_a, scale_b, metadata, lut: `.b32`, TMEM addresses, where the product has them.
    """

    d: Register
    a: Register
    b: Register
    accumulate: Register
    scale_a: Register | None = None
    scale_b: Register | None = None
    metadata: Register | None = None
    lut: Register | None = None


def mma(
    k: Body, plan: Sequence[PlannedMma], operands: ProductOperands, mask: ZeroColumnMask | None = None
) -> None:
    """The product; one thread executes it.

    Args:
        mask: the zero-column mask of a `.ws` product.

    Raises:
        PtxkitError: P480, the product needs an operand that is not given; P440, the mask shifts too far; or
            what the checker refuses.
    """
    if not plan:
        return
    if mask is not None:
        refuse(mask.check_use(plan[0].idesc.m))
    low_a = None if isinstance(plan[0].a, int) else _encoded(k, operands.a)
    low_b = _encoded(k, operands.b)
    last = [] if mask is None else [k.mov.b64(..., mask.hex)]
    always = k.setp.eq.b32(..., 0, 0) if any(one.accumulate for one in plan) else None
    for one in plan:
        if isinstance(one.a, int):
            a: Any = k[_plus(k, operands.a, one.a)]
        else:
            a = _descriptor(k, low_a, one.a)
        given: list[Any] = [k[_plus(k, operands.d, one.d)], a, _descriptor(k, low_b, one.b)]
        if one.metadata is not None:
            given.append(_tensor(k, operands, "metadata", one.metadata))
        if one.lut is not None:
            given.append(_tensor(k, operands, "lut", one.lut))
        given.append(k.mov.b32(..., one.idesc.hex))
        if one.scale_a is not None and one.scale_b is not None:
            given += [
                _tensor(k, operands, "scale_a", one.scale_a),
                _tensor(k, operands, "scale_b", one.scale_b),
            ]
        given.append(always if one.accumulate else operands.accumulate)
        _opcode(k, one.opcode)(*given, *last)


def allocation(k: Body, columns: int, slot: Any, cta_group: int = 1, exclusive: bool = False) -> None:
    """Allocate `columns` and give up the right to more; one whole warp executes it.

    Args:
        slot: register or variable with the shared address that receives the TMEM address.
        exclusive: nothing else of the multiprocessor has columns meanwhile; `deallocation` is told, too.
    """
    alone = ".exclusive" if exclusive else ""
    _opcode(k, f"tcgen05.alloc{alone}.cta_group::{cta_group}.sync.aligned.shared::cta.b32")(k[slot], columns)
    _opcode(k, f"tcgen05.relinquish_alloc_permit.cta_group::{cta_group}.sync.aligned")()


def deallocation(
    k: Body, columns: int, address: Register, cta_group: int = 1, exclusive: bool = False
) -> None:
    """Free what `allocation` gave; one whole warp executes it."""
    alone = ".exclusive" if exclusive else ""
    _opcode(k, f"tcgen05.dealloc{alone}.cta_group::{cta_group}.sync.aligned.b32")(address, columns)


def copies(k: Body, plan: Sequence[PlannedCopy], source: Register, destination: Register) -> None:
    """Copies from shared address `source` to TMEM address `destination`; one thread executes them."""
    low = _encoded(k, source)
    for copy in plan:
        descriptor = _descriptor(k, low, copy.source)
        _opcode(k, copy.opcode)(k[_plus(k, destination, copy.column)], descriptor)


def load(k: Body, plan: Sequence[PlannedMove], address: Register, wait: bool = True) -> list[Register]:
    """Loads from tensor memory; every thread of the warp executes them.

    Args:
        address: `.b32`, the TMEM address with the warp's lanes (32 * warp << 16) added.
        wait: wait for their completion at the end.

    Returns:
        New `.b32` registers, in the order of the plan.
    """
    held: list[Register] = []
    for move in plan:
        held += _vector(_opcode(k, move.opcode)(..., k[_plus(k, address, move.address)]))
    if wait and plan:
        _opcode(k, "tcgen05.wait::ld.sync.aligned")()
    return held


def store(
    k: Body, plan: Sequence[PlannedMove], address: Register, registers: Sequence[Register], wait: bool = True
) -> None:
    """Stores to tensor memory; every thread of the warp executes them.

    Args:
        address: as for `load`.
        registers: `.b32`, as many as the plan moves.
        wait: wait for their completion at the end.

    Raises:
        PtxkitError: P487, another number of registers.
    """
    count = sum(move.registers[1] for move in plan)
    if len(registers) != count:
        raise error(MOVE, f"these stores move {counted(count, 'register')}, found {len(registers)}")
    for move in plan:
        first, moved = move.registers
        vector = list(registers[first : first + moved])
        _opcode(k, move.opcode)(k[_plus(k, address, move.address)], vector)
    if wait and plan:
        _opcode(k, "tcgen05.wait::st.sync.aligned")()


def commit(k: Body, plan: PlannedCommit, barrier: Any) -> None:
    """The commit to the mbarrier at shared address `barrier`; the thread that issued the work executes it."""
    move = k.mov.b32 if plan.mask_bits == 32 else k.mov.b16
    ranks = [] if plan.mask is None else [move(..., f"{plan.mask:#x}")]
    _opcode(k, plan.opcode)(k[barrier], *ranks)


def _opcode(k: Body, spelling: str) -> Any:
    """The instruction that is spelled like this, ready to be called."""
    chain: Any = k
    for word in spelling.split("."):
        name = attribute(word)
        assert name is not None
        chain = getattr(chain, name)
    return chain


def _vector(made: Any) -> list[Register]:
    return list(made) if isinstance(made, list) else [made]


def _encoded(k: Body, address: Register) -> Register:
    """A shared address as the low word of a matrix descriptor holds it."""
    low: Register = k.bfe.u32(..., address, 4, 15 if is_later(k.target) else 14)
    return low


def _descriptor(k: Body, low: Register | None, descriptor: SmemDescTcgen05) -> Register:
    """A descriptor from the encoded start address: the plan's word has the rest, and the advance."""
    assert low is not None
    upper, lower = divmod(int(descriptor), 2**32)
    if descriptor.leading_mode == "absolute":
        # The start address and the leading one are in the two halves of the low word.
        low = k.mad.lo.u32(..., low, 0x10000, low)
    made: Register = k.mov.b64(..., [k.add.u32(..., low, f"{lower:#x}"), f"{upper:#x}"])
    return made


def _plus(k: Body, base: Register, offset: int) -> Register:
    """A TMEM address, which instructions want in a register of `.b32`."""
    if offset == 0:
        return base
    made: Register = k.reg("b32")
    k.add.u32(made, base, f"{offset:#x}")
    return made


def _tensor(k: Body, operands: ProductOperands, name: str, offset: int) -> Any:
    base = getattr(operands, name)
    if base is None:
        raise error(OPERANDS, f"this product needs `{name}`", help=f"give `ProductOperands(.., {name}=..)`")
    return k[_plus(k, base, offset)]
