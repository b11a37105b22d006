"""The shapes of `tcgen05.mma`, as the manual tables them.

PTX ISA 9.7.16.2.1 table 39, which is table 48 of 9.4 (9.7.18.2.1), and 9.7.16.10.1 table 52.
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


class KSize(NamedTuple):
    """One K that a kind has.

    Attributes:
        dense: elements along K of one instruction.
        sparse: the same where A is sparse; None where a sparse A has none of this.
        targets: those that have it; empty for all.
    """

    dense: int
    sparse: int | None
    targets: tuple[str, ...] = ()


_K96 = KSize(96, 192, ("sm_103a", "sm_107a"))
_RUBIN = ("sm_107f",)

K_SIZES: dict[str, tuple[KSize, ...]] = {
    "tf32": (KSize(8, 16),),
    "f16": (KSize(16, 32),),
    "f8f6f4": (KSize(32, 64), KSize(64, 128, _RUBIN)),
    "i8": (KSize(32, 64),),
    "ti16": (KSize(16, 32),),
    "mxf8f6f4": (KSize(32, 64), KSize(64, 128, _RUBIN)),
    "mxf4": (KSize(64, 128), _K96, KSize(128, None, _RUBIN)),
    "mxf4nvf4": (KSize(64, 128), _K96, KSize(128, None, _RUBIN)),
}
"""Every K of each MMA kind, in the order of its codes in the instruction descriptor (tables 51 to 53)."""

_FLOAT = ("tf32", "f16", "f8f6f4")
_PLAIN = (*_FLOAT, "i8", "ti16")
_MX4 = ("mxf4", "mxf4nvf4")
_K = {kind: sizes[0].dense for kind, sizes in K_SIZES.items()}
_K2 = {kind: 2 * k for kind, k in _K.items()}
_K_96 = dict.fromkeys(_MX4, 96)
_K_192 = dict.fromkeys(_MX4, 192)
_K_64 = dict.fromkeys(("f8f6f4", "mxf8f6f4"), 64)
_K_128 = dict.fromkeys(("f8f6f4", "mxf8f6f4", *_MX4), 128)
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
    Tcgen05Shape(_MX4,           2, False, False, (256,),         _steps(16, 256, 16),  _K_96),
    Tcgen05Shape(_MX4,           2, False, True,  (256,),         _steps(16, 256, 16),  _K2),
    # Since PTX ISA 9.4
    Tcgen05Shape(("ti16",),      1, False, False, (64,),          _steps(8, 256, 8),    _K),
    Tcgen05Shape(("ti16",),      1, False, True,  (64,),          _steps(8, 256, 8),    _K2),
    Tcgen05Shape(("ti16",),      1, False, False, (128,),         _steps(16, 256, 16),  _K),
    Tcgen05Shape(("ti16",),      1, False, True,  (128,),         _steps(16, 256, 16),  _K2),
    Tcgen05Shape(("ti16",),      2, False, False, (128, 256),     _steps(32, 256, 32),  _K),
    Tcgen05Shape(("ti16",),      2, False, True,  (128, 256),     _steps(32, 256, 32),  _K2),
    Tcgen05Shape(("f8f6f4",),    1, False, False, (128,),         _steps(16, 256, 16),  _K_64),
    Tcgen05Shape(("f8f6f4",),    1, False, True,  (64, 128),      _steps(8, 256, 8),    _K_128),
    Tcgen05Shape(("f8f6f4",),    2, False, False, (256,),         _steps(16, 256, 16),  _K_64),
    Tcgen05Shape(("f8f6f4",),    2, False, True,  (128, 256),     _steps(16, 256, 16),  _K_128),
    Tcgen05Shape(("f8f6f4",),    1, True,  False, (32, 64, 128),  (64, 128, 256),       _K_64),
    Tcgen05Shape(("f8f6f4",),    1, True,  True,  (32, 64, 128),  (64, 128),            _K_128),
    Tcgen05Shape(("mxf8f6f4",),  1, False, False, (128,),         _steps(8, 256, 8),    _K_64),
    Tcgen05Shape(("mxf8f6f4",),  1, False, True,  (128,),         _steps(8, 256, 8),    _K_128),
    Tcgen05Shape(("mxf8f6f4",),  2, False, False, (256,),         _steps(16, 256, 16),  _K_64),
    Tcgen05Shape(("mxf8f6f4",),  2, False, True,  (256,),         _steps(16, 256, 16),  _K_128),
    Tcgen05Shape(_MX4,           1, False, False, (128,),         _steps(8, 256, 8),    _K_96),
    Tcgen05Shape(_MX4,           2, False, False, (256,),         _steps(16, 256, 16),  _K_128),
    Tcgen05Shape(_MX4,           1, False, True,  (128,),         _steps(8, 256, 8),    _K_192),
    Tcgen05Shape(_MX4,           2, False, True,  (256,),         _steps(16, 256, 16),  _K_192),
)  # fmt: skip
"""Table 39, and what table 48 of PTX ISA 9.4 adds to it; `K_SIZES` says which targets have which K."""

TRANSPOSED_8BIT_N = {1: _steps(16, 256, 16), 2: _steps(32, 256, 32)}
"""Table 52: N where matrix B has 8-bit elements and is transposed, by `.cta_group`."""

KINDS = tuple(K_SIZES)
"""The MMA kinds of `tcgen05.mma`."""


def implied_k(kind: str, sparse: bool) -> int:
    """K of one `tcgen05.mma` in elements where the descriptor does not ask for another one."""
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
