"""The fused sum of `.kind::mxf4` and `.kind::mxf4nvf4`: exact dot products of 16, scaled, as terms."""

from __future__ import annotations

import numpy as np

from ptxkit.emulator.tensor_cores.elements import NOTHING, Elements, Scales
from ptxkit.emulator.tensor_cores.fused import RAW, along_k, blocks, close, convert, override, power, specials
from ptxkit.emulator.tensor_cores.models import Model


def grouped_step(
    a: Elements, b: Elements, c: Elements, model: Model, scales: tuple[Scales, Scales], group: int
) -> np.ndarray:
    """One step for every output: f32.

    A group's term has the exponents of its two scale factors, however large its dot product is. A group
    counts as zero where each of its products is, or a scale factor.

    Args:
        a, b: e2m1 factors, with K as the first axis.
        c: the accumulator.
        model: of the instruction.
        scales: of A and of B, with the blocks along K as the first axis: as many as groups, or half.
        group: elements of K that make a group.

    Returns:
        Raw f32 of the shape of `c`.
    """
    depth = len(a.exponents)
    count = depth // group
    out = np.empty(c.values.shape, RAW["f32"])
    for where in blocks(out.shape, depth):
        part = c[where]
        left, right = a[along_k(a.exponents.shape, where)], b[along_k(b.exponents.shape, where)]
        factors = [scale.at(along_k(scale.exponents.shape, where)) for scale in scales]
        terms = np.empty((count, *part.values.shape))
        levels = np.empty(terms.shape, np.int16)
        unknown = np.zeros(part.values.shape, bool)
        for g in range(count):
            span = slice(g * group, (g + 1) * group)
            np.sum(left.values[span] * right.values[span], axis=0, out=terms[g], dtype=np.float64)
            zero = np.add(left.exponents[span], right.exponents[span]).max(axis=0) < NOTHING // 2
            level: np.ndarray = np.int16(0)  # type: ignore[assignment]
            for factor in factors:
                at = g * len(factor.exponents) // count
                terms[g] *= factor.significands[at]
                zero = zero | (factor.significands[at] == 0)
                level = level + factor.exponents[at]
                if factor.nan is not None:
                    unknown |= factor.nan[at]
            levels[g] = np.where(zero, np.int16(NOTHING), level)
        exponents = np.maximum(levels.max(axis=0), part.exponents)
        np.maximum(exponents, np.int16(model.zero), out=exponents)
        shift = np.where(levels == NOTHING, exponents, levels).astype(np.int64) - exponents
        terms *= power(shift + model.fraction)
        total = np.trunc(terms, out=terms).sum(axis=0)
        value = close(total, part, exponents, model.fraction)
        out[where] = convert(value, exponents, model, "f32")
        override(out[where], specials(left, right, part), "f32")
        if unknown.any():
            override(out[where], np.where(unknown, np.float32(np.nan), np.float32(0)), "f32")
    return out
