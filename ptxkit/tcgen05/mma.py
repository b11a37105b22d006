"""The exact instructions of a product, with descriptors, offsets, scale ids and accumulate flags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ptxkit.bits import refuse
from ptxkit.encodings.instruction import INSTRUCTION_DESCRIPTORS
from ptxkit.encodings.instruction_base import InstructionDescriptor
from ptxkit.encodings.shared_memory import SmemDescTcgen05
from ptxkit.layouts import SharedTile
from ptxkit.layouts.sparsity import metadata_columns
from ptxkit.layouts.tensor_memory import address
from ptxkit.targets import parse
from ptxkit.tcgen05.parts import LookedUpTile, TensorTile
from ptxkit.tcgen05.problem import Product, scale_count


@dataclass(frozen=True)
class PlannedMma:
    """One `tcgen05.mma`.

    Every place is relative to where the matrix begins, so that one plan serves every buffer.

    Attributes:
        opcode: with all modifiers.
        d: TMEM address of this part of D, relative to D's.
        a: descriptor of A for a matrix at shared address 0, or A's TMEM column offset.
        b: descriptor of B for a matrix at shared address 0.
        idesc: the instruction descriptor.
        accumulate: True: adds to D; False: the caller's predicate decides (the first step along K).
        scale_a, scale_b: TMEM column offsets of the scale factors, or None.
        metadata: TMEM column offset of the sparsity metadata, or None.
        n, k: where this part begins in D's columns and along K.
        lut: TMEM address of the first table of this part of B, relative to the first of all, or None.
    """

    opcode: str
    d: int
    a: SmemDescTcgen05 | int
    b: SmemDescTcgen05
    idesc: InstructionDescriptor
    accumulate: bool
    scale_a: int | None
    scale_b: int | None
    metadata: int | None
    n: int
    k: int
    lut: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain data: descriptors as hexadecimal words."""
        return {
            "opcode": self.opcode,
            "d": self.d,
            "a": self.a if isinstance(self.a, int) else self.a.hex,
            "b": self.b.hex,
            "idesc": self.idesc.hex,
            "accumulate": self.accumulate,
            "scale_a": self.scale_a,
            "scale_b": self.scale_b,
            "metadata": self.metadata,
            "n": self.n,
            "k": self.k,
            **({} if self.lut is None else {"lut": self.lut}),
        }


def plan_mma(product: Product) -> list[PlannedMma]:
    """The instructions of a product, in the order in which they are issued: parts of N, then steps of K.

    Raises:
        PtxkitError: what the descriptors refuse; the product has checked the rest.
    """
    parts = product.n // product.step_n
    columns = product.accumulator_columns * product.lane_groups // parts
    plan = []
    for part in range(parts):
        group, place = divmod(part, parts // product.lane_groups)
        rows = part * product.step_n // product.cta_group
        for step in range(product.k // product.step_k):
            plan.append(
                PlannedMma(
                    opcode=opcode(product),
                    d=address(16 * group, place * columns),
                    a=_operand_a(product, step),
                    b=_tile_b(product, rows, step),
                    idesc=_idesc(product, step),
                    accumulate=step > 0,
                    scale_a=_scale_column(product, product.a.mn, 0, step, product.sfa_lanes),
                    scale_b=_scale_column(product, _scale_b_rows(product), part * product.step_n, step),
                    metadata=_metadata_column(product, step),
                    n=part * product.step_n,
                    k=step * product.step_k,
                    lut=address(rows // 8, 0) if product.looked_up else None,
                )
            )
    return plan


def opcode(product: Product) -> str:
    """`tcgen05.mma` with the modifiers of this product."""
    ws = ".ws" if product.ws else ""
    sparse = ".sp" if product.sparse else ""
    scaled = ".block_scale" if product.scale else ""
    looked_up = ".decompress::lut::b" if product.looked_up else ""
    vector = f".{_scale_vector(product)}" if product.scale else ""
    kind = f".cta_group::{product.cta_group}.kind::{product.kind}"
    return f"tcgen05.mma{ws}{sparse}{kind}{scaled}{looked_up}{vector}"


def _scale_vector(product: Product) -> str:
    """`.scale_vec::NX`; by the size of a block with another K, where N would be another one, and on sm_107,
    whose family has no `.scale_vec::NX` (table 57, table 68 of PTX ISA 9.4)."""
    if product.k96 or product.later:
        return "block16" if product.vector == "4X" else "block32"
    return f"scale_vec::{product.vector}"


def _idesc(product: Product, step: int) -> InstructionDescriptor:
    fields: dict[str, Any] = {
        "m": product.m,
        "n": product.step_n,
        "a": product.a.dtype,
        "b": product.b.dtype,
        "d": product.d,
        "transpose_a": product.a.major == "MN",
        "transpose_b": product.b.major == "MN",
        "negate_a": product.negate_a,
        "negate_b": product.negate_b,
        "saturate": product.saturate,
        "sparse": product.sparse,
        "max_shift": product.max_shift,
    }
    if product.scale:
        identity = step * scale_count(product) % 4
        fields |= {"scale": product.scale, "sfa_id": identity, "sfb_id": identity}
        if product.sfa_lanes != 32:
            fields["sfa_lanes"] = product.sfa_lanes
    elif product.sparse and product.kind in INTERLEAVED:
        fields["sparsity_selector"] = step % 2
    if product.k_code:
        fields["k"] = product.step_k
    if product.sparsity_version:
        fields["sparsity_version"] = product.sparsity_version
    descriptor = INSTRUCTION_DESCRIPTORS[product.kind](**fields)
    target = parse(product.target) if product.target else None
    refuse(descriptor.check_target(target.capability) if target else [])
    refuse(descriptor.check_use(product.cta_group, product.ws))
    return descriptor


def _operand_a(product: Product, step: int) -> SmemDescTcgen05 | int:
    k = step * product.step_k // (2 if product.sparse else 1)
    if isinstance(product.a, TensorTile):
        return k * product.operand_bits // 32
    return _at(product, product.a, 0, k)


def _tile_b(product: Product, rows: int, step: int) -> SmemDescTcgen05:
    if isinstance(product.b, LookedUpTile):
        return product.b.part(rows, step * product.step_k)
    return _at(product, product.b, rows, step * product.step_k)


def _at(product: Product, tile: SharedTile, mn: int, k: int) -> SmemDescTcgen05:
    """The descriptor of the part of a tile at address 0 that begins at row `mn` and column `k`."""
    if product.k96:
        return tile.step_of_48_bytes(k, tile.mn_advance(mn))
    descriptor = tile.descriptor(tile.mn_advance(mn) + tile.k_advance(k))
    assert isinstance(descriptor, SmemDescTcgen05)
    return descriptor


INTERLEAVED = ("f16", "tf32", "ti16")
"""Kinds of which a column of metadata holds two steps of K, by the sparsity selector."""


def _scale_b_rows(product: Product) -> int:
    """Rows that set the width of B's scales: half of N where layout B keeps the halves apart."""
    return product.n // 2 if product.path.name == "B" else product.n


def _scale_column(product: Product, rows: int, first: int, step: int, lanes: int = 32) -> int | None:
    if not product.scale:
        return None
    word = step * scale_count(product) // 4
    if lanes == 128:
        return word * -(-rows // 128)
    return word * (-(-rows // 128) * 4) + first // 32


def _metadata_column(product: Product, step: int) -> int | None:
    """Columns of 32 bits; some kinds name the column of an aligned pair by the sparsity selector."""
    if not product.sparse:
        return None
    if product.kind in INTERLEAVED:
        return step // 2 * 2
    return step * metadata_columns(product.kind, product.step_k, product.sparsity_version)
