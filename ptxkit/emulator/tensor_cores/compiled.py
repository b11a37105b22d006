"""Truncated fused sums by compiled code, where there is enough to sum: see `sum_code`.

Numpy remains the definition: factors that are infinities, NaN or too far apart, and accumulators that are no
numbers, are left to it.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from functools import cache
from math import prod
from typing import Any

import numpy as np

from ptxkit.emulator.tensor_cores.elements import Elements, Scales, together
from ptxkit.emulator.tensor_cores.models import Model

WORTH = 1 << 24
"""Products of one kind of sum before it is compiled: about what its compilation costs."""
WIDTHS = (32, 16, 8)
"""Elements of D that are summed at once."""
KIND = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)

_seen: Counter[tuple[Any, ...]] = Counter()


def ascending(
    model: Model, a: Elements, b: Elements, c: np.ndarray, result: str, step: int, parts: int
) -> np.ndarray | None:
    """D of A, B and C, as `multiply` has them; None where that is left to numpy.

    Args:
        model: of the sum.
        a, b: the factors.
        c: the accumulator, raw f32 or f16.
        result: its type, and that of D.
        step: elements along K that are added at once.
        parts: sums of 32 bits that hold a step's products.
    """
    if not _worth(a, b, c, step, (model, result, step, parts)):
        return None
    return _Axes(a, b, c).run(model, result, step, parts)


def grouped(
    model: Model,
    a: Elements,
    b: Elements,
    c: np.ndarray,
    scales: tuple[Scales, Scales],
    step: int,
    group: int,
) -> np.ndarray | None:
    """The same of groups of products with scale factors, which have their blocks along K as the first axis.

    Args:
        model: of the sum.
        a, b: the factors.
        c: the accumulator, raw f32.
        scales: of A and of B.
        step: elements along K that are added at once.
        group: elements of K that make a group.
    """
    if any(factor.nan is not None for factor in scales) or not _worth(a, b, c, step, (model, step, group)):
        return None
    return _Axes(a, b, c, scales).run(model, "f32", step, 1, step // group)


def _worth(a: Elements, b: Elements, c: np.ndarray, step: int, kind: tuple[Any, ...]) -> bool:
    """Whether code can compute a sum, and there have been enough of its kind."""
    depth = len(a.values)
    if c.ndim > 3 or not step or depth % step or not c.size:
        return False
    _seen[kind] += depth * c.size
    return _seen[kind] >= WORTH and a.special is None and b.special is None and together(a, b)


class _Axes:
    """The arrays of a product as loops take them: an outer axis, rows, and columns side by side."""

    def __init__(
        self, a: Elements, b: Elements, c: np.ndarray, scales: tuple[Scales, Scales] | None = None
    ) -> None:
        missing = (1,) * (3 - c.ndim)
        self.shape = c.shape
        self.c = c.reshape(missing + c.shape)
        *_, near, last = self.c.shape
        self.order = (0, 1, 2) if last >= WIDTHS[-1] or last >= near else (2, 0, 1)
        self.c = self.c.transpose(self.order)
        self.count = self.c.shape[2]
        self.padded = -(-self.count // WIDTHS[-1]) * WIDTHS[-1]
        self.c = self._laid(self.c, alone=False)
        pairs = [(x.values, x.exponents) for x in (a, b)]
        pairs += [(x.significands.astype(np.float32), x.exponents) for x in scales or ()]
        self.sides = [
            tuple(self._side(each.reshape(len(each), *missing, *each.shape[1:])) for each in pair)
            for pair in pairs
        ]

    def _side(self, array: np.ndarray) -> np.ndarray:
        return self._laid(array.transpose(0, *(axis + 1 for axis in self.order)))

    def _laid(self, array: np.ndarray, alone: bool = True) -> np.ndarray:
        """In one piece, its columns filled up to whole vectors. `alone`: a single column stands for all."""
        if self.padded != self.count and not (alone and array.shape[-1] == 1):
            whole = np.zeros((*array.shape[:-1], self.padded), array.dtype)
            whole[..., : self.count] = array
            return whole
        return np.ascontiguousarray(array)

    def run(self, model: Model, result: str, step: int, parts: int, groups: int = 0) -> np.ndarray | None:
        """D; None where the code is not sure of all of it."""
        from ptxkit.emulator.native import address, compiler
        from ptxkit.emulator.tensor_cores.sum_code import FIELDS

        if result == "f16" and not compiler().halves:
            return None
        outer, rows, columns = self.c.shape
        steps = len(self.sides[0][0]) // step
        width = next(width for width in WIDTHS if columns % width == 0)
        d = np.empty_like(self.c)
        values: dict[str, int] = {
            "outer": outer, "rows": rows, "columns": columns, "steps": steps,
            "c": address(self.c), "d": address(d), "c outer": rows * columns, "c row": columns,
        }  # fmt: skip
        for name, (numbers, exponents) in zip("ab", self.sides, strict=False):
            _, *sizes = numbers.shape
            along = [0 if size == 1 else prod(sizes[at + 1 :]) for at, size in enumerate(sizes)]
            values |= {f"{name} step": prod(sizes), f"{name} outer": along[0], f"{name} row": along[1]}
            values |= {f"{name} values": address(numbers), f"{name} exponents": address(exponents)}
        blocks = [0, 0]
        for at, (significands, exponents) in enumerate(self.sides[2:]):
            if significands.shape[1:] != self.sides[at][0].shape[1:]:
                return None
            values |= {
                f"{'ab'[at]} significands": address(significands),
                f"{'ab'[at]} scales": address(exponents),
            }
            blocks[at] = len(significands) // steps
        shape = (
            width, self.sides[0][0].shape[3] > 1, self.sides[1][0].shape[3] > 1, step, parts,
            model.fraction, model.bits, model.zero_exponent(result), result == "f16", groups, *blocks,
        )  # fmt: skip
        words = np.array([values.get(field, 0) for field in FIELDS], np.int64)
        if _function(*shape)(address(words)):
            return None
        missing = (1,) * (3 - len(self.shape)) + self.shape
        made = d[..., : self.count].transpose(np.argsort(self.order)).reshape(missing)
        return np.ascontiguousarray(made).reshape(self.shape)


@cache
def _function(*shape: Any) -> Any:
    """The function of a `SumShape`."""
    from ptxkit.emulator.native import compiler
    from ptxkit.emulator.tensor_cores.sum_code import SumShape, sum_code

    return compiler().function(sum_code(SumShape(*shape)), KIND)
