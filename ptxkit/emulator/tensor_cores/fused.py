"""The truncated fused sum of products, on whole arrays of tiles at once.

Every step of `models.Model` is exact integer arithmetic. Here floats hold the integers, exactly: a term
divided by the common quantum 2^(e - fraction) has at most fraction + 2 bits before its point, so that cutting
the rest makes an integer; f32 holds each product (22 bits), `int32` or f64 their sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from ptxkit.emulator.tensor_cores.elements import NOTHING, Elements, Scales, together
from ptxkit.emulator.tensor_cores.models import Model

BLOCK = 1 << 17
"""Products computed together: few enough that they stay in the cache."""

NAN: dict[str, Any] = {"f32": np.uint32(0x7FFFFFFF), "f16": np.uint16(0x7FFF)}
INFINITY: dict[str, Any] = {"f32": np.uint32(0x7F800000), "f16": np.uint16(0x7C00)}
SIGN: dict[str, Any] = {"f32": np.uint32(0x80000000), "f16": np.uint16(0x8000)}
RAW: dict[str, np.dtype[Any]] = {"f32": np.dtype(np.uint32), "f16": np.dtype(np.uint16)}


def blocks(shape: tuple[int, ...], depth: int) -> Iterator[tuple[slice, ...]]:
    """Cut an output into parts of about `BLOCK / depth` elements, along its first and last axes."""
    limit = max(BLOCK // depth, 256)
    inner = prod(shape[1:-1])
    width = max(1, min(shape[-1], limit // inner))
    height = max(1, limit // (inner * width))
    for low in range(0, shape[0], height):
        for left in range(0, shape[-1], width):
            middle = (slice(None),) * (len(shape) - 2)
            yield (slice(low, low + height), *middle, slice(left, left + width))


def along_k(shape: tuple[int, ...], where: tuple[slice, ...]) -> tuple[slice, ...]:
    """`where` for an operand that has K before the axes of the output, and may have 1 in place of them."""
    everything = slice(None)
    return (everything, *(part if n != 1 else everything for part, n in zip(where, shape[1:], strict=True)))


def fused_step(
    a: Elements, b: Elements, c: Elements, model: Model, result: str, products: int | None = None
) -> np.ndarray:
    """One step for every output.

    Args:
        a, b: the factors, with K as the first axis; the others broadcast to the output's.
        model: of the instruction.
        result: `f32` or `f16`, the type of the result.
        products: how many products there are where structured sparsity leaves some out; else all of K.

    Returns:
        Raw f32 or f16 of the shape of `c`.
    """
    depth = len(a.exponents)
    out = np.empty(c.values.shape, RAW[result])
    single = together(a, b)
    parts = parts_of(products or depth, model)
    for where in blocks(out.shape, depth):
        part = c[where]
        left, right = a[along_k(a.exponents.shape, where)], b[along_k(b.exponents.shape, where)]
        exponents = np.add(left.exponents, right.exponents).max(axis=0)
        np.maximum(exponents, part.exponents, out=exponents)
        np.maximum(exponents, np.int16(model.zero_exponent(result)), out=exponents)
        if single:
            total = _sum_single(left, right, exponents, model.fraction, parts)
        else:
            total = _sum_double(left, right, exponents, model.fraction)
        value = close(total, part, exponents, model.fraction)
        out[where] = convert(value, exponents, model, result)
        override(out[where], specials(left, right, part), result)
    return out


def parts_of(products: int, model: Model) -> int:
    """How many sums of 32 bits hold so many products of a step."""
    return -(-products >> max(29 - model.fraction, 0))


def _sum_single(a: Elements, b: Elements, exponents: np.ndarray, fraction: int, parts: int) -> Any:
    # Where products are not zero, no exponent is below -100.
    level = np.minimum(np.maximum(exponents, np.int16(-101)), np.int16(126 + fraction))
    words = np.int32(fraction + 127) - level.astype(np.int32)
    scale = (words << np.int32(23)).view(np.float32)
    terms = a.values * b.values
    terms *= scale
    whole = terms.astype(np.int32)
    if parts == 1:
        return np.add.reduce(whole, axis=0, dtype=np.int32).astype(np.float64)
    size = -(-len(whole) // parts)
    sums = [np.add.reduce(whole[i : i + size], axis=0, dtype=np.int32) for i in range(0, len(whole), size)]
    return np.add.reduce(np.stack(sums), axis=0, dtype=np.float64)


def _sum_double(a: Elements, b: Elements, exponents: np.ndarray, fraction: int) -> Any:
    terms = a.values.astype(np.float64) * b.values
    terms *= power(fraction - exponents.astype(np.int64))
    np.trunc(terms, out=terms)
    return terms.sum(axis=0)


def power(exponents: np.ndarray) -> np.ndarray:
    """2 to the exponents (int64), which are normal ones of f64."""
    return ((exponents + 1023) << 52).view(np.float64)


def close(total: np.ndarray, c: Elements, exponents: np.ndarray, fraction: int) -> np.ndarray:
    """The sum with the accumulator's own term, as a number again. f64, exact."""
    wide = fraction - exponents.astype(np.int64)
    own = c.values * power(wide)
    total += np.trunc(own, out=own)
    total *= power(-wide)
    return total


def convert(value: np.ndarray, exponents: np.ndarray, model: Model, result: str) -> np.ndarray:
    """The result's bits of f64 numbers that are multiples of 2^(exponents - fraction)."""
    if result == "f16":
        half = value.astype(np.float16)
        half += np.float16(0)
        return half.view(np.uint16)
    keep = ~np.uint64((1 << 52 - model.bits) - 1)
    cut = (value.view(np.uint64) & keep).view(np.float64)
    if int(exponents.min()) < model.fraction - 126 - model.bits:
        subnormal = np.abs(cut) < 2.0**-126
        step = 2.0 ** (126 + model.bits)
        cut = np.where(subnormal, np.trunc(value * step) / step + 0.0, cut)
    return cut.astype(np.float32).view(np.uint32)


def specials(a: Elements, b: Elements, c: Elements) -> np.ndarray | None:
    """f32 that is an infinity or NaN where the result is; None where every result is a number."""
    if a.special is None and b.special is None and c.special is None:
        return None
    total = signs(c)
    if a.special is None and b.special is None:
        return total
    for k in range(len(a.exponents)):
        product = signs(a[k]) * signs(b[k])
        if a.present is not None:
            product = np.where(a.present[k], product, np.float32(0))
        total = total + product
    return total


def signs(elements: Elements) -> np.ndarray:
    """`Elements.special`, also where it is None."""
    if elements.special is not None:
        return elements.special
    return np.sign(elements.values).astype(np.float32)


def override(out: np.ndarray, special: np.ndarray | None, result: str) -> None:
    """Put infinities and NaN in place."""
    if special is None:
        return
    infinite = np.isinf(special)
    sign = np.where(special < 0, SIGN[result], RAW[result].type(0))
    np.copyto(out, sign | INFINITY[result], where=infinite)
    np.copyto(out, NAN[result], where=np.isnan(special))


def grouped_step(
    a: Elements, b: Elements, c: Elements, model: Model, scales: tuple[Scales, Scales], group: int
) -> np.ndarray:
    """One step for every output: f32.

    A group's term has the exponents of its two scale factors, however large its dot product is. A group
    counts as zero where each of its products is, or a scale factor.

    Args:
        a, b: e2m1 factors, with K as the first axis.
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
