"""The level that derivatives give: the logarithm of the longer axis of the ellipse that a circle becomes, in
a few bits, as an H200 has it. No document has a formula; of levels that an H200 took this one gives more than
99 of 100, and the others to 2/256.

Derivatives in texels have ten bits, the first included. The length of a vector is about its longest part and
shares of the others. The axis is the longest of both derivatives, their sum and their difference; these are
shortened first, as diagonals of a square are to be as long as its sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

KEPT = 9
"""Bits of parts of derivatives behind the first."""
SHORTER = 11 / 16
"""What a diagonal of a square is shortened to."""
SECOND, THIRD = 11 / 32, 1 / 4
"""Of the parts of a vector after the longest, in its length."""
LEAST, MOST = 2.0**-126, 2.0**127
"""Where derivatives end."""
STEPS = 256
"""Of a logarithm, and numbers in its table."""
_LOGARITHMS = """
0 2 4 5 6 8 9 11 12 13 15 16 18 19 20 22 23 24 26 27 28 30 31 32 34 35 36 38 39 40 42 43 44 45 47 48 49 50
52 53 54 55 57 58 59 60 62 63 64 65 66 68 69 70 71 72 74 75 76 77 78 79 81 82 83 84 85 86 88 89 90 91 92 93
94 95 97 98 99 100 101 102 103 104 105 106 107 109 110 111 112 113 114 115 116 117 118 119 120 121 122 123
124 125 126 127 128 129 130 131 132 133 135 136 137 137 138 139 140 141 142 143 144 145 146 147 148 149 150
151 152 153 154 155 156 157 158 159 160 161 162 162 163 164 165 166 167 168 169 170 171 172 173 173 174 175
176 177 178 179 180 181 181 182 183 184 185 186 187 188 188 189 190 191 192 193 194 195 195 196 197 198 199
200 200 201 202 203 204 205 205 206 207 208 209 210 210 211 212 213 214 214 215 216 217 218 218 219 220 221
222 222 223 224 225 226 226 227 228 229 229 230 231 232 233 233 234 235 236 236 237 238 239 239 240 241 242
242 243 244 245 245 246 247 248 248 249 250 251 251 252 253 253 254 255 255
"""
LOGARITHM = np.array(_LOGARITHMS.split(), np.int64)
"""Of numbers from 1 to 2 in steps of 1/256, in the same units, int64 (256,)."""


def level(
    across: Sequence[np.ndarray], down: Sequence[np.ndarray], extents: Sequence[int], flat: Any = np.True_
) -> np.ndarray:
    """The level at which neighbours are a texel apart, float32.

    Args:
        across, down: the derivatives of normalized coordinates in x and y, an array an axis.
        extents: of the first level.
        flat: where neighbours lie on one face of a cube; elsewhere an H200 leaves sum and difference out.
    """
    x, y = (
        np.stack([_cut(_wide(part) * extent) for part, extent in zip(parts, extents, strict=False)])
        for parts in (across, down)
    )
    longest = np.maximum(_length(_sorted(x)), _length(_sorted(y)))
    diagonal = np.maximum(*(_length(_shortened(_sorted(_cut(each)))) for each in (x + y, x - y)))
    longest = np.maximum(np.where(flat, np.maximum(longest, diagonal), longest), LEAST)
    mantissa, exponent = np.frexp(longest)
    steps = ((2 * mantissa - 1) * STEPS).astype(np.int64)
    return (exponent - 1 + LOGARITHM[steps] / STEPS).astype(np.float32)


def _wide(value: np.ndarray) -> np.ndarray:
    """Derivatives as float64: what is no number counts as 0."""
    return np.clip(np.where(np.isnan(value), 0.0, value.astype(np.float64)), -MOST, MOST)


def _unit(value: np.ndarray, bits: int) -> np.ndarray:
    """The unit of numbers that have bits behind the first."""
    return np.ldexp(1.0, np.frexp(np.maximum(np.abs(value), LEAST))[1] - 1 - bits)


def _cut(value: np.ndarray, bits: int = KEPT) -> np.ndarray:
    """Numbers cut off behind some bits."""
    unit = _unit(value, bits)
    return np.trunc(value / unit) * unit


def _sorted(parts: np.ndarray) -> np.ndarray:
    """The sizes of the parts of vectors, (axes, ..), the longest first."""
    return np.sort(np.abs(parts), axis=0)[::-1]


def _length(parts: np.ndarray) -> np.ndarray:
    """About the length of vectors."""
    total = parts[0]
    if len(parts) > 1:
        unit = _unit(parts[1], KEPT + 2)
        total = total + np.floor(parts[1] * SECOND / unit + 0.5) * unit
    if len(parts) > 2:
        unit = _unit(parts[2], KEPT + 1)
        total = total + np.ceil(parts[2] * THIRD / unit - 0.5) * unit
    return total


def _shortened(parts: np.ndarray) -> np.ndarray:
    """Diagonals as long as sides: the longest part rounded, a half up, the others finer, a half down."""
    unit, finer = _unit(parts[:1], KEPT + 1), _unit(parts[1:], KEPT + 2)
    first = _cut(np.floor(parts[:1] * SHORTER / unit + 0.5) * unit)
    others = _cut(np.ceil(parts[1:] * SHORTER / finer - 0.5) * finer, KEPT + 1)
    return np.concatenate([first, others])
