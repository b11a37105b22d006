"""`tcgen05.mma`, `.sp`, `.ws`, `.ws.sp` in every kind. PTX ISA 9.7.16.10.9."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ptxkit.emulator import tensor_cores
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.issuers import Issuers, by_thread
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.launch_state import Layouts
from ptxkit.emulator.operation import Unsupported
from ptxkit.emulator.operations.tensor_memory.issue import (
    Operand,
    check_boxes,
    check_shared,
    cta_group,
    illegal,
    warn_many,
    whole_address,
)
from ptxkit.emulator.tensor_memory.arithmetic import Arithmetic, arithmetic, lanes_of
from ptxkit.emulator.tensor_memory.engine import Engine, Tcgen05Work
from ptxkit.emulator.tensor_memory.factors import Factor, NoNumber, Senseless, stored_in_shared
from ptxkit.emulator.tensor_memory.mma_plan import Illegal, MmaForm, Tcgen05Plan, decode, vector_of
from ptxkit.emulator.tensor_memory.operands import Tcgen05SharedOperand
from ptxkit.emulator.tensor_memory.order import Tcgen05InFlight
from ptxkit.emulator.tensor_memory.product import Operands, Tcgen05Product, place
from ptxkit.emulator.tensor_memory.shared_reads import SharedRead
from ptxkit.encodings.shared_memory import SmemDescTcgen05
from ptxkit.isa.modifiers import Collector, CollectorUse, MmaKind, ScaleVector

effect, later = Effects("tcgen05"), Effects("compression")


def mma(instruction: ScopedInstruction, ws: bool) -> Effect:
    """`tcgen05.mma{.ws}{.sp}.cta_group.kind{..} [d], a, b-desc, {[sp-meta],} idesc, enable-input-d, ..`."""
    sparse, group_size = instruction["sp"] is not None, cta_group(instruction)
    kind = instruction.the(MmaKind).removeprefix("kind::")
    size = instruction["scale_vectorsize"]
    vector = vector_of(kind, size) if instruction["block_scale"] else None
    collectors = _collectors(instruction, ws)
    capability, image = instruction.scope.program.capability, instruction.scope.program.image
    plain = image.tensor_cores == "float32"
    if tensor_cores.find(capability, "tcgen05", "f16") is None:
        raise Unsupported(f"tensor memory on sm_{capability[0]}{capability[1]}")
    instruction.scope.program.touches("shared", 16)
    read = _MmaOperands(instruction, group_size)
    static = MmaForm(
        kind,
        group_size,
        ws,
        sparse,
        instruction["ashift"] is not None,
        vector,
        "a" in instruction.operands,
        not isinstance(size, ScaleVector) or size in (ScaleVector.BLOCK16, ScaleVector.BLOCK32),
        "lut" in instruction.operands,
        capability,
    )
    computing: dict[Tcgen05Plan, Arithmetic] = {}
    site = instruction.site

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        warn_many(lane_set, issuers, site)
        engine = lane_set.batch.own(Engine)
        for item, (idesc, operands, disabled) in enumerate(read(lane_set, issuers)):
            who = issuers.name(item)
            row = int(issuers.rows[item])
            cta = row // lane_set.batch.warps_per_cta
            engine.check_group(cta, group_size, site, who)
            try:
                plan = decode(static, idesc)
                layouts = lane_set.launch.layouts
                if layouts is not None:
                    _tell(layouts, lane_set.batch, plan, operands, engine.pair(cta, group_size), site)
                product = place(plan, operands)
            except Illegal as wrong:
                given = (operands.a, operands.b)[int(static.tensor_a) :]
                whole = whole_address(lane_set.launch, given)
                said = (f"the instruction descriptor is {idesc:#010x}",)
                raise illegal(wrong, site, who, said, whole) from None
            lane_set.launch.counts.multiply_adds += plan.m * plan.n * plan.k
            ctas = engine.pair(cta, group_size)
            words = (operands.a, operands.b)[-len(product.shared) :]
            check_shared(engine, product.shared, words, site, cta, who, partial(_without, plan, operands))
            check_boxes(engine, ctas, (*product.writes, *product.reads), site, who)
            for collector in collectors:
                _collect(engine, cta, collector, product, site, who)
            if plan not in computing:
                computing[plan] = arithmetic(capability, plan, plain, image.jit)
            issued = Tcgen05InFlight(
                "mma", site, row, int(issuers.lanes[item]), group_size, ctas,
                product.reads, product.writes, (plan.m, plan.n, operands.d),
            )  # fmt: skip
            shared = [
                SharedRead(one, operand, operand is product.a) for one in ctas for operand in product.shared
            ]
            work = ProductWork(engine, computing[plan], product, ctas, disabled, site, who)
            engine.issue(issued, shared, work)

    return Effect(by_thread(step))


for chapter in (effect, later):
    chapter("tcgen05.mma")(partial(mma, ws=False))
    chapter("tcgen05.mma.ws")(partial(mma, ws=True))


def _tell(
    layouts: Layouts, batch: CtaBatch, plan: Tcgen05Plan, operands: Operands, ctas: Any, site: Site
) -> None:
    """Let somebody hold the matrices that a product reads against what copies brought."""
    from ptxkit.emulator.matrix_reads import MatrixRead

    sides = [("B", operands.b, plan.columns, plan.k, plan.b, plan.major_b, 1)]
    if not plan.form.tensor_a:
        step = plan.k // plan.stored_k
        sides.insert(0, ("A", operands.a, plan.path.rows, plan.stored_k, plan.a, plan.major_a, step))
    reads = [
        MatrixRead.of(name, SmemDescTcgen05, word, mn, k, dtype, major, plan.padded(dtype), step)
        for name, word, mn, k, dtype, major, step in sides
        if not plan.stream(dtype) and not plan.form.lut_b
    ]
    scales = None
    if operands.scale_a is not None and operands.scale_b is not None:
        scales = operands.scale_a & 0xFFFF, operands.scale_b & 0xFFFF, plan.scale or ""
    negated = plan.negate_a != plan.negate_b
    layouts.adds(batch, (tuple(ctas), operands.d), site.where, operands.accumulate, negated)
    layouts.product(batch, tuple(ctas), site.where, *reads, scales=scales)


def _without(plan: Tcgen05Plan, operands: Operands, bits: int) -> tuple[Tcgen05SharedOperand, ...]:
    """What a product would read of shared memory without some bits of its matrix descriptors."""
    a = operands.a if plan.form.tensor_a else operands.a & ~bits
    return place(plan, replace(operands, a=a, b=operands.b & ~bits)).shared


class ProductWork(Tcgen05Work):
    """One product: reads its factors, and writes D.

    Args:
        engine: of the batch.
        compute: what computes it.
        product: with its places.
        ctas: the CTA, or both of a pair.
        disabled: lanes that keep what they have.
        site: of the instruction.
        who: the issuing thread, for findings.
    """

    def __init__(
        self,
        engine: Engine,
        compute: Arithmetic,
        product: Tcgen05Product,
        ctas: tuple[int, ...],
        disabled: np.ndarray | None,
        site: Site,
        who: str,
    ) -> None:
        super().__init__(self._multiply)
        self.engine, self.compute, self.product, self.ctas = engine, compute, product, ctas
        self.disabled, self.site, self.who = disabled, site, who
        self.read: list[Factor] | None = None

    def read_a(self) -> None:
        """As the base; of what has been read, later changes don't count."""
        if self.read is None and isinstance(self.product.a, Tcgen05SharedOperand):
            sides = [self.engine.side(cta) for cta in self.ctas]
            self.read = [stored_in_shared(self.product.a, side, self.product.plan, "a") for side in sides]

    def _senseless(self, wrong: Senseless) -> tuple[str, Site, tuple[str, ...], str]:
        """What is said of metadata: message, place, notes and advice."""
        allowed = ", ".join(f"0b{nibble:04b}" for nibble in wrong.allowed)
        message = f"expected one of {allowed} for each chunk, found 0b{wrong.nibble:04b}"
        notes = (self.who, f"for row {wrong.row} of A, chunk {wrong.chunk}")
        return message, self.site, notes, "copy the metadata to where the instruction looks for it"

    def _multiply(self) -> None:
        engine, site, who, product = self.engine, self.site, self.who, self.product
        launch = engine.batch.launch
        run = partial(
            self.compute.run,
            sides=[engine.side(cta) for cta in self.ctas],
            tensor=engine.memory,
            disabled=self.disabled,
            origin=launch.origins.of_copy(site),
            read=self.read,
        )
        try:
            try:
                stale = run(product)
            except Senseless as wrong:
                if wrong.nibble:
                    raise
                # The compressor of CUTLASS begins each chunk with 0b0000, and leaves it where all is zero.
                launch.formally_wrong("P6128", *self._senseless(wrong))
                stale = run(replace(product, zeros=True))
        except Senseless as wrong:
            raise fault("P6128", *self._senseless(wrong)) from None
        except NoNumber as wrong:
            raise fault(
                "P6133",
                f"expected zeros in bits 11 to 14 of an element of {wrong.matrix}, found {wrong.code:#06x}",
                site,
                (who, f"in row {wrong.row}, at {wrong.k} along K"),
                "write a sign in bit 15 and a magnitude below 2048, not two's complement",
            ) from None
        if stale:
            launch.warn(
                "P6108",
                f"`{site.instruction.spelling}` adds to cells that were never written",
                site,
                (who, f"{product.writes[0]}", "make `enable-input-d` false for the first step along K"),
            )


def _collectors(instruction: ScopedInstruction, ws: bool) -> list[Collector]:
    """What is done with each collector buffer: without a word its contents are discarded."""
    named = [found for found in (instruction["collector"], instruction["collector_b"]) if found is not None]
    defaults = ("b0",) if ws else ("a", "b")
    known = {found.buffer for found in named}
    if ws and known:
        return named
    return named + [Collector(buffer, CollectorUse.DISCARD) for buffer in defaults if buffer not in known]


def _collect(
    engine: Engine, cta: int, collector: Collector, product: Tcgen05Product, site: Site, who: str
) -> None:
    """Keep the account of a collector buffer: what was read into it may be used again while it is there."""
    buffer, use = collector
    key = (cta, buffer)
    matrix = product.operands.a if buffer == "a" else product.operands.b
    held = engine.collectors.get(key)
    if use in (CollectorUse.USE, CollectorUse.LASTUSE) and engine.batch.launch.sanitize:
        wrong = "nothing has filled it" if held is None else "it was filled from another matrix"
        if held is None or held[0] != matrix:
            notes = [who] + ([f"filled at {held[1].where}"] if held else [])
            message = f"`.collector::{buffer}::{use}`, but {wrong}"
            engine.batch.launch.warn("P6124", message, site, notes)
    if use is CollectorUse.FILL:
        engine.collectors[key] = (matrix, site)
    elif use is not CollectorUse.USE:
        engine.collectors.pop(key, None)


class _MmaOperands:
    """The operands of each issuing thread."""

    def __init__(self, instruction: ScopedInstruction, group_size: int) -> None:
        def named(*names: str) -> Operand | None:
            return next((Operand(instruction, name) for name in names if name in instruction.operands), None)

        self.d, self.a, self.b = named("d"), named("a", "a_desc"), named("b_desc")
        self.metadata, self.idesc = named("sp_meta"), named("idesc")
        self.scale_a, self.scale_b = named("scale_A"), named("scale_B")
        lanes = (
            instruction.parts("disable_output_lane") if "disable_output_lane" in instruction.operands else []
        )
        self.lanes = [Operand(instruction, part, "b32") for part in lanes]
        self.enable, self.mask = named("enable_input_d"), named("zero_column_mask_desc")
        self.lut = named("lut")
        self.scale_input = instruction.constant("scale_input_d") or 0
        self.group_size = group_size

    def __call__(self, lane_set: LaneSet, issuers: Issuers) -> list[tuple[int, Operands, np.ndarray | None]]:
        """Instruction descriptor, operands and disabled lanes of each thread."""

        def values(operand: Operand | None) -> list[Any]:
            if operand is None:
                return [None] * len(issuers)
            return [value.item() for value in operand.take(lane_set, issuers)]

        columns = [
            values(one)
            for one in (
                self.idesc, self.d, self.a, self.b, self.enable, self.metadata, self.scale_a, self.scale_b,
                self.mask, self.lut,
            )
        ]  # fmt: skip
        lanes = [values(one) for one in self.lanes]
        found = []
        for item, (idesc, *rest, lut) in enumerate(zip(*columns, strict=True)):
            operands = replace(Operands(*rest), scale_input=self.scale_input, lut=lut)
            words = [one[item] for one in lanes]
            found.append((idesc, operands, lanes_of(words, self.group_size) if words else None))
        return found
