"""What kernels of the battery are given: the same words on every machine and for ever."""

from __future__ import annotations

import math
import zlib

import numpy as np

from .source import DTYPES, Array

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def words(seed: str, count: int) -> np.ndarray:
    """Random 64-bit words: SplitMix64."""
    state = np.uint64(zlib.crc32(seed.encode())) + (np.arange(count, dtype=np.uint64) + np.uint64(1)) * GOLDEN
    state = (state ^ state >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ state >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return state ^ state >> np.uint64(31)


def fractions(seed: str, count: int) -> np.ndarray:
    """Random numbers in [0, 1)."""
    return (words(seed, count) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def content(array: Array, seed: str, threads: int) -> np.ndarray:
    """An input of a launch.

    The array's content is one of

    - `edges`: words of any width, floats of any bits, and the type's special values in between;
    - `range A B`: evenly from A to B, or less than B for integers;
    - `log A B`: of magnitudes from A to B, as many between two powers of two as between the next, of either
      sign;
    - `ramp`: 0, 1, 2 and so on.
    """
    kind, *bounds = array.content.split()
    count, dtype = array.size(threads), DTYPES[array.dtype]
    with np.errstate(over="ignore", invalid="ignore"):
        if kind == "ramp":
            return np.arange(count).astype(dtype)
        if kind == "edges":
            return _edges(seed, count, dtype)
        low, high = map(float, bounds)
        share = fractions(seed, count)
        if kind == "range":
            spread = low + share * (high - low)
            return (np.floor(spread) if dtype.kind in "iu" else spread).astype(dtype)
        if kind == "log":
            first, last = _place(low), _place(high)
            place = first + share * (last - first)
            whole = np.floor(place)
            magnitude = np.ldexp(1 + (place - whole), whole.astype(int))
            return np.where(words(seed + "sign", count) & np.uint64(1), -magnitude, magnitude).astype(dtype)
    raise ValueError(f"expected `edges`, `range A B`, `log A B` or `ramp`, found `{array.content}`")


def _place(number: float) -> float:
    """A positive number's exponent, and how far it is from that power of two to the next.

    In place of a logarithm, whose last bit differs from one machine to another.
    """
    half, exponent = math.frexp(number)
    return exponent - 1 + (2 * half - 1)


def _edges(seed: str, count: int, dtype: np.dtype) -> np.ndarray:
    bits = 8 * dtype.itemsize
    drawn, rolls = words(seed, count), words(seed + "which", count)
    if dtype.kind in "iu":
        # Of any width, and now and then its complement: quotients of every size.
        drawn = drawn >> (rolls % np.uint64(64))
        drawn = np.where(rolls >> np.uint64(32) & np.uint64(3), drawn, ~drawn)
        top = 1 << (bits - 1)
        special = [0, 1, 2, 3, top - 1, top, top + 1, 2 * top - 1, 2 * top - 2, 1 << bits // 2, 10]
    else:
        exponent, mantissa = {"2": (5, 10), "4": (8, 23), "8": (11, 52)}[str(dtype.itemsize)]
        if dtype == DTYPES["bf16"]:
            exponent, mantissa = 8, 7
        infinity = ((1 << exponent) - 1) << mantissa
        one = ((1 << exponent - 1) - 1) << mantissa
        least = 1 << mantissa
        special = [0, 1, least - 1, least, least + 1, one, one + 1, one - 1, infinity - 1, infinity]
        special += [infinity + 1, infinity | 1 << mantissa - 1, one + least, one + least // 2]
        special += [value | 1 << bits - 1 for value in special]
        drawn = drawn >> np.uint64(64 - bits)
    table = np.array(special, np.uint64)
    chosen = table[(rolls >> np.uint64(40)) % np.uint64(len(table))]
    drawn = np.where((rolls >> np.uint64(36)) % np.uint64(4) == 0, chosen, drawn)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    return drawn.astype(unsigned).view(dtype)
