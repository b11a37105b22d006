"""The shapes of `tcgen05.mma` and `wgmma`, as the manual tables them.

PTX ISA 9.7.16.2.1 table 39, 9.7.16.10.1 table 52 and 9.7.15.2.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple


class Tcgen05Shape(NamedTuple):
    """One row of table 39.

    Attributes:
        kinds: MMA kinds, without `.kind::`.
        cta_group: 1 or 2.
        ws: weight stationary (`tcgen05.mma.ws`).
        sparse: sparse matrix A (`.sp`).
        m: rows of A and D, of both CTAs together.
        n: columns of B and D.
        k: elements along K of one instruction, by kind where the row holds several.
    """

    kinds: tuple[str, ...]
    cta_group: int
    ws: bool
    sparse: bool
    m: tuple[int, ...]
    n: tuple[int, ...]
    k: dict[str, int]


def _steps(low: int, high: int, step: int) -> tuple[int, ...]:
    return tuple(range(low, high + 1, step))


_FLOAT = ("tf32", "f16", "f8f6f4")
_PLAIN = (*_FLOAT, "i8")
_MX4 = ("mxf4", "mxf4nvf4")
_K = {"tf32": 8, "f16": 16, "f8f6f4": 32, "i8": 32, "mxf8f6f4": 32, "mxf4": 64, "mxf4nvf4": 64}
_K2 = {kind: 2 * k for kind, k in _K.items()}
_K96 = dict.fromkeys(_MX4, 96)
_I8_N = (8, 16, 24, *_steps(32, 256, 16))

SHAPES = (
    #     kinds          cta  ws     sparse  M               N                     K
    Tcgen05Shape(_FLOAT,         1, False, False, (64, 128),      _steps(8, 256, 8),    _K),
    Tcgen05Shape(_FLOAT,         1, False, True,  (64, 128),      _steps(8, 256, 8),    _K2),
    Tcgen05Shape(_FLOAT,         2, False, False, (128, 256),     _steps(16, 256, 16),  _K),
    Tcgen05Shape(_FLOAT,         2, False, True,  (128, 256),     _steps(16, 256, 16),  _K2),
    Tcgen05Shape(("i8",),        1, False, False, (64, 128),      _I8_N,                _K),
    Tcgen05Shape(("i8",),        1, False, True,  (64, 128),      _I8_N,                _K2),
    Tcgen05Shape(("i8",),        2, False, False, (128, 256),     _steps(32, 256, 32),  _K),
    Tcgen05Shape(("i8",),        2, False, True,  (128, 256),     _steps(32, 256, 32),  _K2),
    Tcgen05Shape(_PLAIN,         1, True,  False, (32, 64, 128),  (64, 128, 256),       _K),
    Tcgen05Shape(_PLAIN,         1, True,  True,  (32, 64, 128),  (64, 128),            _K2),
    Tcgen05Shape(("mxf8f6f4",),  1, False, False, (128,),         _steps(8, 256, 8),    _K),
    Tcgen05Shape(("mxf8f6f4",),  1, False, True,  (128,),         _steps(8, 256, 8),    _K2),
    Tcgen05Shape(("mxf8f6f4",),  2, False, False, (128, 256),     _steps(16, 256, 16),  _K),
    Tcgen05Shape(("mxf8f6f4",),  2, False, True,  (256,),         _steps(16, 256, 16),  _K2),
    Tcgen05Shape(_MX4,           1, False, False, (128,),         _steps(8, 256, 8),    _K),
    Tcgen05Shape(_MX4,           1, False, True,  (128,),         _steps(8, 256, 8),    _K2),
    Tcgen05Shape(_MX4,           2, False, False, (128, 256),     _steps(16, 256, 16),  _K),
    Tcgen05Shape(_MX4,           2, False, False, (256,),         _steps(16, 256, 16),  _K96),
    Tcgen05Shape(_MX4,           2, False, True,  (256,),         _steps(16, 256, 16),  _K2),
)  # fmt: skip
"""Table 39. K = 96 is for `sm_103a` alone."""

TRANSPOSED_8BIT_N = {1: _steps(16, 256, 16), 2: _steps(32, 256, 32)}
"""Table 52: N where matrix B has 8-bit elements and is transposed, by `.cta_group`."""

KINDS = ("tf32", "f16", "i8", "f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4")
"""The MMA kinds of `tcgen05.mma`."""


def implied_k(kind: str, sparse: bool) -> int:
    """K of one `tcgen05.mma` in elements where the descriptor does not ask for 96."""
    return (_K2 if sparse else _K)[kind]


def shapes(
    kind: str,
    *,
    cta_group: int | None = None,
    ws: bool | None = None,
    sparse: bool | None = None,
    m: int | None = None,
    k: int | None = None,
) -> list[Tcgen05Shape]:
    """The rows of table 39 for `kind` that agree with everything given."""
    return [
        row
        for row in SHAPES
        if kind in row.kinds
        and cta_group in (None, row.cta_group)
        and ws in (None, row.ws)
        and sparse in (None, row.sparse)
        and (m is None or m in row.m)
        and k in (None, row.k[kind])
    ]


def in_words(values: tuple[int, ...]) -> str:
    """`8 .. 256 in steps of 8`, or the values themselves: `64, 128 or 256`."""
    steps = {b - a for a, b in pairwise(values)}
    if len(values) > 3 and len(steps) == 1:
        return f"{values[0]} .. {values[-1]} in steps of {steps.pop()}"
    *most, last = map(str, values)
    return f"{', '.join(most)} or {last}" if most else last
