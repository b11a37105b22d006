"""Structured sparse vectors in registers: `spcompress`, `spdecompress`. PTX ISA 9.7.16.8.6, 9.7.16.8.7."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ptxkit.asm.decode import Decoded
from ptxkit.dtypes import DType
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.faults import fault
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.numerics import sparse_vectors as sparse
from ptxkit.emulator.operands import lanes_of
from ptxkit.emulator.operation import Operations, Pure, computes
from ptxkit.emulator.operations import definedness
from ptxkit.emulator.values import WARP, distinct
from ptxkit.isa.modifiers import SparseRatio

effect, operation = Effects("compression"), Operations("compression")

KINDS = {16: ("f16", "bf16"), 8: ("u8", "s8", "e5m2", "e4m3", "e3m2", "e2m3")}
"""What bits 2 to 4 of a sparsity descriptor name, by the bits of an element."""
ORDERS = ((True, False), (True, True), (False, False), (False, True))
"""What bits 0 and 1 name: whether the greatest are kept, and whether signs don't count."""


@effect("spcompress")
def spcompress(instruction: ScopedInstruction) -> Effect:
    """`spcompress.etype.itype.sp::2:4.num mdata, cdata, data, spdesc`."""
    bits, index_bits, site = instruction.the(DType).bits, instruction["itype"], instruction.site
    data = [instruction.source(part, "b32") for part in instruction.parts("data")]
    targets = [
        instruction.target(part, "b32") for name in ("mdata", "cdata") for part in instruction.parts(name)
    ]
    metadata = len(instruction.parts("mdata"))
    descriptor = instruction.checked_source("spdesc")

    def described(lane_set: LaneSet, guard: Any, word: int) -> tuple[str, bool, bool]:
        kind = word >> 2 & 7
        if word >> 5 or kind >= len(KINDS[bits]):
            allowed = f"a type of 0 to {len(KINDS[bits]) - 1} for `.b{bits}` and zeros in bits 5 to 31"
            thread = lane_set.thread(*lane_set.first(guard))
            message = f"sparsity descriptor: expected {allowed}, found {word:#x}"
            raise fault("P617", message, site, (f"{thread}",))
        return KINDS[bits][kind], *ORDERS[word & 3]

    def step(lane_set: LaneSet, guard: Any) -> bool:
        shape = (lane_set.n, WARP)
        words = np.stack([np.broadcast_to(source.reader(lane_set), shape) for source in data], axis=-1)
        descriptors = np.broadcast_to(descriptor(lane_set), shape)
        active = lanes_of(lane_set, guard, shape)
        codes = sparse.elements(words, bits)
        ranks = np.zeros(codes.shape, np.int64)
        for word in distinct(descriptors if active is None else descriptors[active]).tolist():
            lanes = descriptors == word
            kind = described(lane_set, lanes if active is None else lanes & active, word)
            ranks[lanes] = sparse.rank(codes[lanes], *kind)
        kept, indexes = sparse.compress(words, bits, ranks, index_bits)
        masks, origin = _unknown(lane_set, data, shape, bits, index_bits)
        results = [indexes[..., i] for i in range(metadata)]
        results += [kept[..., i] for i in range(kept.shape[-1])]
        for at, (target, result) in enumerate(zip(targets, results, strict=True)):
            if target is not None:
                entry = None if masks is None else (masks[at], origin)
                target.write(lane_set, np.ascontiguousarray(result), entry, guard)
        return masks is not None

    return Effect(step)


def _unknown(
    lane_set: LaneSet, data: Sequence[Any], shape: tuple[int, int], bits: int, index_bits: int
) -> tuple[list[np.ndarray] | None, int]:
    """The masks of the results, the indexes' first, and an origin; an undefined bit spoils its group."""
    found = [source.undefined(lane_set) for source in data] if lane_set.undefined else []
    if not any(found):
        return None, 0
    unknown = [np.broadcast_to(np.uint32(0) if entry is None else entry[0], shape) for entry in found]
    parts = sparse.spoiled(np.stack(unknown, axis=-1), bits, index_bits)
    masks = [np.ascontiguousarray(part[..., i]) for part in parts for i in range(part.shape[-1])]
    return masks, next(entry[1] for entry in found if entry)


@operation("spdecompress")
def spdecompress(instruction: Decoded) -> Pure:
    """`spdecompress.etype.itype.ratio.num data, mdata, cdata`."""
    bits, index_bits, ratio = instruction.the(DType).bits, instruction["itype"], instruction.the(SparseRatio)
    count = ratio.kept * instruction["num"]
    metadata = -(-count * index_bits // 32)

    def spread(indexes: Any, words: Any) -> Any:
        data = sparse.decompress(indexes, words, bits, *ratio)
        results = tuple(np.ascontiguousarray(data[..., i]) for i in range(data.shape[-1]))
        return results if len(results) > 1 else results[0]

    def function(*words: Any) -> Any:
        stacked = np.stack(np.broadcast_arrays(*words), axis=-1)
        indexes = sparse.fields(stacked[..., :metadata], index_bits, count)
        return spread(indexes, stacked[..., metadata:])

    def undefined(values: Sequence[Any], masks: Sequence[Any]) -> Any:
        """An element's undefined bits move with it; an undefined index spoils its group."""
        known = [definedness.known(value, mask) for value, mask in zip(values, masks, strict=True)]
        stacked = np.stack(np.broadcast_arrays(*values, *known), axis=-1)
        where, unknown = stacked[..., :metadata], stacked[..., len(values) :]
        moved = sparse.decompress(
            sparse.fields(where, index_bits, count), unknown[..., metadata:], bits, *ratio
        )
        lost = sparse.fields(unknown[..., :metadata], index_bits, count) != 0
        groups = lost.reshape(*lost.shape[:-1], -1, ratio.kept).any(axis=-1)
        spoiled = np.repeat(groups, ratio.total, axis=-1) * np.uint32((1 << bits) - 1)
        joint = moved | sparse.from_fields(spoiled, bits)
        results = tuple(np.ascontiguousarray(joint[..., i]) for i in range(joint.shape[-1]))
        return results if len(results) > 1 else results[0]

    return computes(instruction, function, undefined)
