"""`tcgen05.mma`, `.sp`, `.ws`, `.ws.sp` in every kind. PTX ISA 9.7.16.10.9."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.asm import tree
from ptxkit.diagnostics import Diagnostic, counted
from ptxkit.emulator import tensor_cores
from ptxkit.emulator.asynchronous import Issuers
from ptxkit.emulator.effect import Effect, effect
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.operation import Unsupported
from ptxkit.emulator.operations.tensor_memory.issue import (
    Operand,
    check_boxes,
    check_shared,
    cta_group,
    illegal,
    warn_many,
)
from ptxkit.emulator.tensor_memory.arithmetic import Arithmetic, Senseless, arithmetic, lanes_of
from ptxkit.emulator.tensor_memory.engine import Engine, engine_of
from ptxkit.emulator.tensor_memory.flights import Flight
from ptxkit.emulator.tensor_memory.product import (
    SCALED,
    Illegal,
    MmaForm,
    Operands,
    Plan,
    Product,
    decode,
    place,
    vector_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxkit.emulator.form import Form
    from ptxkit.emulator.group import Group

KINDS = tuple(f"kind::{kind}" for kind in ("tf32", "f16", "i8", "f8f6f4", *SCALED))
USES = ("fill", "use", "lastuse", "discard")
COLLECTORS = tuple(f"collector::{buffer}::{use}" for buffer in ("a", "b0", "b1", "b2", "b3") for use in USES)


@effect("tcgen05.mma")
def mma(form: Form) -> Effect:
    """`tcgen05.mma{.ws}{.sp}.cta_group.kind{..} [d], a, b-desc, {[sp-meta],} idesc, .., enable-input-d`."""
    m = form.modifiers
    ws, sparse = m.flag("ws"), m.flag("sp")
    group_size = cta_group(form)
    kind = m.need(*KINDS).removeprefix("kind::")
    scaled = m.flag("block_scale")
    if scaled != (kind in SCALED):
        raise Unsupported("`.block_scale` without a kind for it, or such a kind without it")
    vec = m.choose("scale_vec::1X", "scale_vec::2X", "scale_vec::4X")
    block = m.choose("block16", "block32")
    vector = vector_of(kind, vec and vec.removeprefix("scale_vec::"), block) if scaled else None
    if scaled and vector is None:
        raise Unsupported("`.kind::mxf4nvf4` without `.scale_vec`")
    ashift = m.flag("ashift")
    collector = m.choose(*COLLECTORS, default="collector::b0::discard" if ws else "collector::a::discard")
    _, buffer, use = (collector or "").split("::")
    capability, plain = form.builder.program.capability, form.builder.program.image.tensor_cores == "float32"
    if tensor_cores.find(capability, "tcgen05", "f16") is None:
        raise Unsupported(f"tensor memory on sm_{capability[0]}{capability[1]}")
    form.builder.program.touches("shared", 16)

    read = _Reader(form, group_size, ws, sparse, scaled)
    static = MmaForm(kind, group_size, ws, sparse, ashift, vector, read.tensor_a)
    computing: dict[Plan, Arithmetic] = {}
    site = form.site

    def step(group: Group, guard: Any) -> None:
        issuers = Issuers.of(group, guard)
        if not len(issuers):
            return
        warn_many(group, issuers, site)
        engine = engine_of(group.gang)
        for item, (idesc, operands, disabled) in enumerate(read(group, issuers)):
            who = issuers.name(item)
            row = int(issuers.rows[item])
            cta = row // group.gang.warps
            engine.check_group(cta, group_size, site, who)
            try:
                plan = decode(static, idesc)
                if plan.k == 96 and capability != (10, 3):
                    found = f"sm_{capability[0]}{capability[1]}"
                    raise Illegal(
                        "TCGEN-IDESC", [Diagnostic("P425", f"`k` of 96 needs sm_103a, found {found}")]
                    )
                product = place(plan, operands)
            except Illegal as wrong:
                raise illegal(wrong, site, who, (f"the instruction descriptor is {idesc:#010x}",)) from None
            ctas = engine.pair(cta, group_size)
            check_shared(engine, product.shared, site, who)
            check_boxes(engine, ctas, (*product.writes, *product.reads), site, who)
            _collect(engine, cta, buffer, use, product, site, who)
            if plan not in computing:
                computing[plan] = arithmetic(capability, plan, plain)
            flight = Flight(
                "mma", site, row, int(issuers.lanes[item]), group_size, ctas,
                product.reads, product.writes, (plan.m, plan.n, operands.d),
            )  # fmt: skip
            shared = [(one, operand) for one in ctas for operand in product.shared]
            engine.issue(flight, shared, _work(engine, computing[plan], product, ctas, disabled, site, who))

    return Effect(step)


def _work(
    engine: Engine,
    compute: Arithmetic,
    product: Product,
    ctas: tuple[int, ...],
    disabled: np.ndarray | None,
    site: Site,
    who: str,
) -> Callable[[], None]:
    def work() -> None:
        launch = engine.gang.launch
        try:
            stale = compute.run(
                product,
                [engine.side(cta) for cta in ctas],
                engine.memory,
                disabled,
                launch.origins.of_copy(site),
            )
        except Senseless as wrong:
            allowed = ", ".join(f"0b{nibble:04b}" for nibble in wrong.allowed)
            raise fault(
                "P6128",
                f"TCGEN-METADATA: expected one of {allowed} for each chunk, found 0b{wrong.nibble:04b}",
                site,
                (who, f"for row {wrong.row} of A, chunk {wrong.chunk}"),
                "copy the metadata to where the instruction looks for it",
            ) from None
        if stale:
            launch.warn(
                "P6108",
                f"TMEM-UNINIT: `{site.instruction.spelling}` adds to cells that nobody has written",
                site,
                (who, f"{product.writes[0]}", "make `enable-input-d` false for the first step along K"),
            )

    return work


def _collect(engine: Engine, cta: int, buffer: str, use: str, product: Product, site: Site, who: str) -> None:
    """Keep the account of a collector buffer: what was read into it may be used again while it is there."""
    key = (cta, buffer)
    matrix = product.operands.a if buffer == "a" else product.operands.b
    held = engine.collectors.get(key)
    if use in ("use", "lastuse") and engine.gang.launch.sanitize:
        wrong = "nothing has filled it" if held is None else "it was filled from another matrix"
        if held is None or held[0] != matrix:
            notes = [who] + ([f"filled at {held[1].where}"] if held else [])
            message = f"TCGEN-COLLECTOR: `.collector::{buffer}::{use}`, but {wrong}"
            engine.gang.launch.warn("P6124", message, site, notes)
    if use == "fill":
        engine.collectors[key] = (matrix, site)
    elif use != "use":
        engine.collectors.pop(key, None)


class _Reader:
    """The operands of each issuing thread.

    Attributes:
        tensor_a: whether A lies in tensor memory.
    """

    def __init__(self, form: Form, group_size: int, ws: bool, sparse: bool, scaled: bool) -> None:
        left = list(form.sources)

        def next_operand(type_name: str | None = None) -> Operand:
            if not left:
                raise Unsupported("so few operands")
            return Operand(form, left.pop(0), type_name)

        self.d = next_operand()
        self.tensor_a = bool(left) and isinstance(left[0], tree.Address)
        self.a = next_operand(None if self.tensor_a else "b64")
        self.b = next_operand("b64")
        self.metadata = next_operand() if sparse else None
        self.idesc = next_operand("b32")
        self.scales = (next_operand(), next_operand()) if scaled else None
        self.lanes: list[Operand] = []
        if not ws and not scaled and len(left) > 2:
            self.lanes = [next_operand("b32") for _ in range(4 * group_size)]
        self.enable = next_operand("pred")
        self.mask = next_operand("b64") if ws and left else None
        self.scale_input = 0
        if left and not ws:
            self.scale_input = form.immediate(left.pop(0)) or 0
        if left:
            raise Unsupported(f"{counted(len(left), 'operand')} too many")
        self.group_size = group_size

    def __call__(self, group: Group, issuers: Issuers) -> list[tuple[int, Operands, np.ndarray | None]]:
        """Instruction descriptor, operands and disabled lanes of each thread."""

        def values(operand: Operand | None) -> list[Any]:
            if operand is None:
                return [None] * len(issuers)
            return [value.item() for value in operand.take(group, issuers)]

        scale_a, scale_b = self.scales or (None, None)
        columns = [
            values(one)
            for one in (
                self.idesc, self.d, self.a, self.b, self.enable, self.metadata, scale_a, scale_b, self.mask,
            )
        ]  # fmt: skip
        lanes = [values(one) for one in self.lanes]
        found = []
        for item, (idesc, *rest) in enumerate(zip(*columns, strict=True)):
            operands = replace(Operands(*rest), scale_input=self.scale_input)
            words = [one[item] for one in lanes]
            found.append((idesc, operands, lanes_of(words, self.group_size) if words else None))
        return found
