"""Matrix products as the instructions compute them, whatever their model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ptxkit.emulator.tensor_cores import ieee
from ptxkit.emulator.tensor_cores.elements import Elements, Scales, as_f16, decode, scaled
from ptxkit.emulator.tensor_cores.fused import RAW, along_k, blocks, fused_step, grouped_step
from ptxkit.emulator.tensor_cores.models import Model, Order

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

    Returns:
        D, raw, of the shape of `c`.
    """
    c_type, d_type = types
    inner = "f32" if "f32" in types else "f16"
    if c_type != inner:
        c = widened(c)
    if scales is not None and (model is None or model.group == 1):
        depth = len(a.exponents)
        a, b = scaled(a, spread(scales[0], depth)), scaled(b, spread(scales[1], depth))
    if model is None:
        total = ieee.chain(a, b, (c if inner == "f32" else widened(c)).view(np.float32))
        return ieee.to_f16(total) if d_type == "f16" else total.view(np.uint32)
    if model.order is Order.FMA:
        return _by_fma(a, b, c, inner)
    if model.order is Order.HALVES:
        d = _by_halves(model, a, b, c, inner)
    elif model.group > 1:
        assert scales is not None
        group = model.group * _sparsity(a)
        d = grouped_step(a, b, decode(c, inner), model, scales, group)
    else:
        d = _ascending(model, a, b, c, inner)
    return ieee.to_f16(d.view(np.float32)) if d_type != inner else d


def widened(c: np.ndarray) -> np.ndarray:
    """Raw f16 as raw f32."""
    return c.view(np.float16).astype(np.float32).view(np.uint32)


def spread(scales: Scales, depth: int) -> Scales:
    """Scale factors with one for each element of K."""
    count = depth // len(scales.exponents)
    nan = None if scales.nan is None else scales.nan.repeat(count, axis=0)
    return Scales(scales.significands.repeat(count, axis=0), scales.exponents.repeat(count, axis=0), nan)


def _sparsity(a: Elements) -> int:
    """Elements of K for each that is stored."""
    return 1 if a.present is None else 2


def _ascending(model: Model, a: Elements, b: Elements, c: np.ndarray, result: str) -> np.ndarray:
    step = model.step * _sparsity(a)
    for k in range(0, len(a.exponents), step):
        left, right = a[k : k + step], b[k : k + step]
        products = len(left.exponents) // _sparsity(a)
        c = fused_step(left, right, decode(c, result), model, result, products)
    return c


def _by_halves(model: Model, a: Elements, b: Elements, c: np.ndarray, result: str) -> np.ndarray:
    period = 4 * _sparsity(a)
    first = np.arange(len(a.exponents)) % period < period // 2
    half = replace(model, step=len(first))
    a, b = as_f16(a), as_f16(b)
    total = np.zeros(c.shape, RAW[result])
    for chosen in (first, ~first):
        total = _ascending(half, a[chosen], b[chosen], total, result)
    return ieee.add(c, total, result)


def _by_fma(a: Elements, b: Elements, c: np.ndarray, result: str) -> np.ndarray:
    if result == "f16":
        return ieee.to_f16(ieee.pairwise(a, b, widened(c).view(np.float32)))
    zero = np.zeros(c.shape, np.float32)
    return ieee.add(c, ieee.chain(a, b, zero).view(np.uint32), "f32")
