"""Matrix products as the instructions compute them, whatever their model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ptxkit.emulator.numerics import double, single
from ptxkit.emulator.numerics.rounding import correct, f64_to_f32, two_sum
from ptxkit.emulator.tensor_cores import compiled
from ptxkit.emulator.tensor_cores.elements import Elements, Scales, as_f16, decode, scaled
from ptxkit.emulator.tensor_cores.fused import NAN, RAW, along_k, blocks, fused_step, grouped_step, parts_of
from ptxkit.emulator.tensor_cores.models import Model, Order


def multiply_f64(a: np.ndarray, b: np.ndarray, c: np.ndarray, mode: str) -> np.ndarray:
    """`c` plus the products along ascending k, each by one fused multiply-add. PTX ISA 9.7.14.5.14.

    Args:
        a, b: f64, with K as the first axis; the others broadcast to those of `c`.
        c: f64.
        mode: `rn`, `rz`, `rm` or `rp`.
    """
    out = np.empty_like(c)
    for where in blocks(c.shape, len(a)):
        left, right = a[along_k(a.shape, where)], b[along_k(b.shape, where)]
        total = c[where]
        for x, y in zip(left, right, strict=True):
            total = double.fma(x, y, total, mode)
        out[where] = total
    return out


def numbers(elements: Elements) -> Any:
    """The values, infinities and NaN among them."""
    if elements.special is None:
        return elements.values
    return np.where(np.isfinite(elements.special), elements.values, elements.special)


def fused_single(product: Any, addend: Any) -> Any:
    """An f64 that is an exact product plus an f32, rounded once to f32."""
    total, error = two_sum(product, addend.astype(np.float64))
    exact = np.where(np.isfinite(total), correct(total, np.where(np.isfinite(error), error, 0), "odd"), total)
    return single.canonical(f64_to_f32(exact, "rn"))


def chain(a: Elements, b: Elements, start: np.ndarray) -> np.ndarray:
    """`start` (f32) plus the products along ascending k, a fused multiply-add each."""
    out = np.empty_like(start)
    left, right = numbers(a), numbers(b)
    for where in blocks(start.shape, len(left)):
        total = start[where]
        factors = left[along_k(left.shape, where)], right[along_k(right.shape, where)]
        absent = None if a.present is None else ~a.present[along_k(a.present.shape, where)]
        for k, (x, y) in enumerate(zip(*factors, strict=True)):
            following = fused_single(x.astype(np.float64) * y, total)
            total = following if absent is None else np.where(absent[k], total, following)
        out[where] = total
    return out


def pairwise(a: Elements, b: Elements, c: np.ndarray) -> np.ndarray:
    """`mma.m8n8k4` with D of f16 where no tensor core has it: f32 arithmetic, one rounding to f16 at the end.
    `a`, `b`: f16, four along K. `c`: f32."""
    x, y = numbers(a), numbers(b)
    total = c
    for k in (0, 2):
        total = total + fused_single(x[k + 1].astype(np.float64) * y[k + 1], x[k] * y[k])
    return total


def add(c: np.ndarray, total: np.ndarray, result: str) -> np.ndarray:
    """Raw f32 or f16 words added by IEEE rules, to nearest even."""
    if result == "f32":
        words: np.ndarray = single.add(c.view(np.float32), total.view(np.float32), "rn").view(np.uint32)
        return words
    return to_f16(c.view(np.float16).astype(np.float64) + total.view(np.float16))


def to_f16(value: np.ndarray) -> np.ndarray:
    """Raw f16 of numbers, to nearest even."""
    return np.where(np.isnan(value), NAN["f16"], value.astype(np.float16).view(np.uint16))


LIMITS = np.iinfo(np.int32)


def multiply_integers(a: np.ndarray, b: np.ndarray, c: np.ndarray, saturate: bool) -> np.ndarray:
    """`c` plus the products: exact sums, wrapped or clamped once at the end. PTX ISA 9.7.14.5.14.

    Where ptxas builds an instruction of several (4-bit and 1-bit types from sm_90 on) it clamps once, too.

    Args:
        a, b: int32 that hold the elements, with K as the first axis; the others broadcast to those of `c`.
        c: int32.
        saturate: `.satfinite`: clamp the sum to 32 bits; else it wraps.
    """
    out = np.empty_like(c)
    for where in blocks(c.shape, len(a)):
        products = a[along_k(a.shape, where)] * b[along_k(b.shape, where)]
        out[where] = _close(np.add.reduce(products, axis=0, dtype=np.int32), c[where], saturate)
    return out


def multiply_bits(a: np.ndarray, b: np.ndarray, c: np.ndarray, operator: str) -> np.ndarray:
    """`c` plus the number of bits set in `a & b` or `a ^ b`.

    Args:
        a, b: uint32, 32 elements of K each, with words of K as the first axis.
        c: int32.
        operator: `and` or `xor`.
    """
    combine = np.bitwise_and if operator == "and" else np.bitwise_xor
    out = np.empty_like(c)
    for where in blocks(c.shape, len(a)):
        both = np.bitwise_count(combine(a[along_k(a.shape, where)], b[along_k(b.shape, where)]))
        out[where] = _close(np.add.reduce(both, axis=0, dtype=np.int32), c[where], saturate=False)
    return out


def _close(total: np.ndarray, c: np.ndarray, saturate: bool) -> np.ndarray:
    if not saturate:
        return total + c
    exact = total.astype(np.int64) + c
    return np.clip(exact, LIMITS.min, LIMITS.max).astype(np.int32)


def multiply(
    model: Model | None,
    a: Elements,
    b: Elements,
    c: np.ndarray,
    types: tuple[str, str],
    scales: tuple[Scales, Scales] | None = None,
    jit: bool = False,
) -> np.ndarray:
    """D = A * B + C of floating-point matrices, for any number of tiles.

    Axes: A has (K, M, 1, ..), B (K, 1, N, ..) and C (M, N, ..), or any others that broadcast so; the last
    axis should be long. Structured sparsity keeps its dense K, with `Elements.present`.

    Args:
        model: what sums the products; None computes in IEEE f32, along k from the accumulator.
        a, b: the decoded factors.
        c: the accumulator, raw.
        types: of C and D, `f32` or `f16` each.
        scales: of A and B, with the blocks along K as the first axis.
        jit: whether sums may be compiled, which needs the extra; to the same bits.

    Returns:
        D, raw, of the shape of `c`.
    """
    c_type, d_type = types
    inner = "f32" if "f32" in types else "f16"
    if c_type != inner:
        c = widened(c)
    if scales is not None and (model is None or model.group == 1):
        depth = len(a.exponents)
        a, b = scaled(a, factors_along_k(scales[0], depth)), scaled(b, factors_along_k(scales[1], depth))
    if model is None:
        total = chain(a, b, (c if inner == "f32" else widened(c)).view(np.float32))
        return to_f16(total) if d_type == "f16" else total.view(np.uint32)
    if model.order is Order.FMA:
        return _by_fma(a, b, c, inner)
    if model.order is Order.HALVES:
        d = _by_halves(model, a, b, c, inner, jit)
    elif model.group > 1:
        assert scales is not None
        d = _grouped(model, a, b, c, scales, jit)
    else:
        d = _ascending(model, a, b, c, inner, jit)
    return to_f16(d.view(np.float32)) if d_type != inner else d


def widened(c: np.ndarray) -> np.ndarray:
    """Raw f16 as raw f32."""
    return c.view(np.float16).astype(np.float32).view(np.uint32)


def factors_along_k(scales: Scales, depth: int) -> Scales:
    """Scale factors with one for each element of K."""
    count = depth // len(scales.exponents)
    nan = None if scales.nan is None else scales.nan.repeat(count, axis=0)
    return Scales(scales.significands.repeat(count, axis=0), scales.exponents.repeat(count, axis=0), nan)


def _sparsity(a: Elements) -> int:
    """Elements of K for each that is stored."""
    return 1 if a.present is None else 2


def _ascending(model: Model, a: Elements, b: Elements, c: np.ndarray, result: str, jit: bool) -> np.ndarray:
    step = min(model.step * _sparsity(a), len(a.exponents))
    if jit:
        parts = parts_of(step // _sparsity(a), model)
        made = compiled.ascending(model, a, b, c, result, step, parts)
        if made is not None:
            return made
    for k in range(0, len(a.exponents), step):
        left, right = a[k : k + step], b[k : k + step]
        products = len(left.exponents) // _sparsity(a)
        c = fused_step(left, right, decode(c, result), model, result, products)
    return c


def _grouped(
    model: Model, a: Elements, b: Elements, c: np.ndarray, scales: tuple[Scales, Scales], jit: bool
) -> np.ndarray:
    """Groups of products with their scale factors, in as many steps as fit K; 96 products in one."""
    depth, step = len(a.exponents), model.step * _sparsity(a)
    steps, group = 1 if depth % step else depth // step, model.group * _sparsity(a)
    if jit:
        made = compiled.grouped(model, a, b, c, scales, depth // steps, group)
        if made is not None:
            return made
    for at in range(steps):
        part = slice(at * depth // steps, (at + 1) * depth // steps)
        count = [len(scale.exponents) // steps for scale in scales]
        first, second = (
            scale.at(slice(at * size, (at + 1) * size)) for scale, size in zip(scales, count, strict=True)
        )
        c = grouped_step(a[part], b[part], decode(c, "f32"), model, (first, second), group)
    return c


def _by_halves(model: Model, a: Elements, b: Elements, c: np.ndarray, result: str, jit: bool) -> np.ndarray:
    period = 4 * _sparsity(a)
    first = np.arange(len(a.exponents)) % period < period // 2
    half = replace(model, step=len(first))
    a, b = as_f16(a), as_f16(b)
    total = np.zeros(c.shape, RAW[result])
    for chosen in (first, ~first):
        total = _ascending(half, a[chosen], b[chosen], total, result, jit)
    return add(c, total, result)


def _by_fma(a: Elements, b: Elements, c: np.ndarray, result: str) -> np.ndarray:
    if result == "f16":
        return to_f16(pairwise(a, b, widened(c).view(np.float32)))
    zero = np.zeros(c.shape, np.float32)
    return add(c, chain(a, b, zero).view(np.uint32), "f32")
