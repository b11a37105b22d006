"""Sums of products in plain IEEE arithmetic: f64, the emulated `mma.m8n8k4`, and float32 by choice."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.emulator.numerics import double, single
from ptxkit.emulator.numerics.rounding import correct, f64_to_f32, two_sum
from ptxkit.emulator.tensor_cores.elements import Elements
from ptxkit.emulator.tensor_cores.fused import NAN, along_k, blocks


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

    Args:
        a, b: f16, four along K.
        c: f32.
    """
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
