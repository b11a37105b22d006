"""An output against its reference: how far, how many are wrong, and where the first one is.

The error counts in units of the last place of the output's type at the reference, so that 0.5 is correct
rounding. A reference that the type rounds to infinity must give infinity, and a NaN a NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

from ptxkit.dtypes import DTYPES, numpy_dtype
from ptxkit.workloads import content
from ptxkit.workloads.problem import Expected, Tensor, Tolerance

_MANTISSA = {"tf32": 10}
"""Explicit fraction bits of types whose numpy counterpart has more."""
_EXPONENT = np.int64(0x7FF << 52)
"""The exponent of an f64."""
_PIECE = 1 << 14
"""Elements that are compared at a time."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """One wrong element: where, what was expected and what was found."""

    index: tuple[int, ...]
    expected: float
    found: float


@dataclass(frozen=True, slots=True)
class OutputComparison:
    """How an output compares with its reference.

    Attributes:
        wrong: elements outside the tolerance.
        unwritten: how many of them still hold the poison.
        max_ulp, max_abs: largest error over the elements that are finite on both sides.
        max_share: the largest part of what is allowed that an error there takes; infinite where none is.
        infinite: elements that the type rounds to infinity, as they should be.
        first: the first wrong element in memory order.
        patterns: what the wrong elements have in common, a sentence each.
        which: the numbers of the wrong elements that were written, in memory order; None where nobody needs
            them any more.
    """

    tensor: str
    dtype: str
    elements: int
    wrong: int
    unwritten: int
    max_ulp: float
    max_abs: float
    max_share: float
    infinite: int
    first: Wrong | None
    tolerance: Tolerance
    patterns: tuple[str, ...] = ()
    which: np.ndarray | None = field(default=None, repr=False, compare=False)

    @property
    def ok(self) -> bool:
        """Whether every element is within the tolerance."""
        return self.wrong == 0

    @property
    def in_ulp(self) -> bool:
        """Whether units in the last place say how large the largest error is: not where it is as large as the
        number that is expected, as near 0."""
        return not DTYPES[self.dtype].is_float or self.max_ulp < 2.0 ** _fraction_bits(self.dtype)

    @property
    def largest(self) -> str:
        """The largest error for people: in units in the last place, or absolute with its part of what is
        allowed."""
        if self.in_ulp:
            return f"{self.max_ulp:.3g} ulp"
        return f"{self.max_abs:.3g}" + (f", {self.max_share:.2g} of what is allowed" if self.ok else "")

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict; numbers that JSON has no form for are strings."""
        first = self.first and {
            "index": list(self.first.index),
            "expected": json_number(self.first.expected),
            "found": json_number(self.first.found),
        }
        return {
            "tensor": self.tensor,
            "dtype": self.dtype,
            "ok": self.ok,
            "elements": self.elements,
            "wrong": self.wrong,
            "unwritten": self.unwritten,
            "max_ulp": json_number(self.max_ulp),
            "max_abs": json_number(self.max_abs),
            "max_share": json_number(self.max_share),
            "infinite": self.infinite,
            "first": first,
            "patterns": list(self.patterns),
            "tolerance": {
                "rtol": self.tolerance.rtol,
                "atol": self.tolerance.atol,
                "ulp": self.tolerance.ulp,
            },
        }


def json_number(value: float) -> float | int | str:
    """The value, or `"inf"`, `"-inf"`, `"nan"`."""
    return value if np.isfinite(value) else str(value)


def compare(
    tensor: Tensor, stored: np.ndarray, expected: Expected, tolerance: Tolerance, patterned: bool = True
) -> OutputComparison:
    """Hold a stored output against its reference, element by element.

    Args:
        tensor: the output.
        stored: what it holds.
        expected: what it should.
        tolerance: how far it may be off.
        patterned: whether to look for what wrong elements have in common.
    """
    found = content.decode(tensor, stored)
    reference = np.broadcast_to(expected.values, tensor.shape)
    if DTYPES[tensor.dtype].is_float:
        judged = _floats(tensor, found, reference.astype(np.float64, copy=False), expected.slack, tolerance)
    else:
        judged = _integers(tensor, found, reference, tolerance)
    right = judged.right.reshape(tensor.shape)
    wrong = np.flatnonzero(~judged.right)
    first = None
    unwritten = 0
    common: tuple[str, ...] = ()
    which = wrong
    if wrong.size:
        index = np.unravel_index(int(wrong[0]), tensor.shape)
        place = tuple(int(i) for i in index)
        first = Wrong(place, reference[place].item(), found[place].item())
        untouched = content.still_poisoned(tensor, stored) & ~right
        unwritten = int(np.count_nonzero(untouched))
        if patterned:
            allowed = judged.allowed().reshape(tensor.shape)
            common = _patterns(~right, untouched, found, reference, allowed)
        which = np.flatnonzero(~right & ~untouched)
    return OutputComparison(
        tensor=tensor.name,
        dtype=tensor.dtype,
        elements=tensor.elements,
        wrong=int(wrong.size),
        unwritten=unwritten,
        max_ulp=judged.max_ulp,
        max_abs=judged.max_abs,
        max_share=judged.max_share,
        infinite=judged.infinite,
        first=first,
        tolerance=tolerance,
        patterns=common,
        which=which,
    )


def _patterns(
    wrong: np.ndarray, untouched: np.ndarray, found: np.ndarray, reference: np.ndarray, allowed: Any
) -> tuple[str, ...]:
    """What the wrong elements that were written have in common; if none was, those that were not."""
    from ptxkit.workloads.patterns import patterns, where

    written = wrong & ~untouched
    if written.any():
        return patterns(written, found, reference, allowed)
    return tuple(filter(None, [where(untouched)]))


@dataclass(frozen=True, slots=True, eq=False)
class _Judgement:
    """Which elements are right, as one row, the largest errors, and how many are rightly infinite. `allowed`
    makes what is allowed at each element."""

    right: np.ndarray
    max_ulp: float
    max_abs: float
    max_share: float
    infinite: int
    allowed: Callable[[], np.ndarray]


def _floats(
    tensor: Tensor, found: np.ndarray, reference: np.ndarray, slack: np.ndarray | None, tolerance: Tolerance
) -> _Judgement:
    """Floating-point elements, piece by piece, so that what lies between stays in the caches; what is only
    wanted where some are wrong is made anew."""
    limits = _Limits(tensor.dtype)
    found, reference = found.reshape(-1), reference.reshape(-1)
    if slack is not None:
        slack = np.broadcast_to(slack, tensor.shape).reshape(-1)

    def pieces() -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]]:
        for begin in range(0, found.size, _PIECE):
            piece = slice(begin, begin + _PIECE)
            own = None if slack is None else slack[piece]
            yield _judged(limits, found[piece], reference[piece], own, tolerance)

    right = np.empty(found.size, bool)
    most, infinite, at = [(0.0, 0.0, 0.0)], 0, 0
    for fine, ulps, error, allowed, some in pieces():
        right[at : at + len(fine)] = fine
        most.append((float(ulps.max()), float(error.max()), _share(error, allowed)))
        infinite, at = infinite + some, at + len(fine)
    max_ulp, max_abs, max_share = (float(one) for one in np.max(most, axis=0))

    def every() -> np.ndarray:
        return np.concatenate([allowed for _, _, _, allowed, _ in pieces()])

    return _Judgement(right, max_ulp, max_abs, max_share, infinite, every)


class _Limits:
    """Of a floating-point type.

    Attributes:
        has_infinity: whether it has one.
        largest: the largest finite value.
        overflow: what rounds to infinity: from half a unit above the largest finite value.
        least: the exponent bits of the least normal value, as f64 has them.
        last: the last place of 1.
    """

    def __init__(self, dtype: str) -> None:
        info, mantissa = ml_dtypes.finfo(numpy_dtype(dtype)), _fraction_bits(dtype)
        self.has_infinity = bool(np.isinf(np.array(np.inf).astype(numpy_dtype(dtype)).astype(np.float64)))
        self.largest = float(info.max)
        exponent = int(np.frexp(self.largest)[1])
        with np.errstate(over="ignore"):
            self.overflow = self.largest + np.ldexp(1.0, exponent - 1 - mantissa) / 2
        self.least = np.ldexp(1.0, info.minexp).view(np.int64)
        self.last = np.ldexp(1.0, -mantissa)


def _judged(
    limits: _Limits, found: np.ndarray, reference: np.ndarray, slack: np.ndarray | None, tolerance: Tolerance
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
    """Of some elements, one by one, which are right, their errors in units of the last place and as numbers,
    and what is allowed; how many are rightly infinite."""
    finite = np.isfinite(reference)
    plain = bool(finite.all() and np.isfinite(found).all())
    if not limits.has_infinity:
        kept = np.clip(reference, -limits.largest, limits.largest)
        reference = kept if plain else np.where(np.isnan(reference), reference, kept)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        size = np.abs(reference)
        measure = size if plain else np.where(np.isfinite(reference), size, 0.5)
        powers = np.maximum(measure.view(np.int64) & _EXPONENT, limits.least).view(np.float64)
        ulp = powers * limits.last
        allowed = tolerance.atol + tolerance.rtol * size + tolerance.ulp * ulp
        if slack is not None:
            allowed = allowed + slack
        error = np.abs(found - reference)
        if plain and (not limits.has_infinity or size.max(initial=0.0) < limits.overflow):
            return error <= allowed, error / ulp, error, allowed, 0
        as_infinity = np.isinf(found) & (np.signbit(found) == np.signbit(reference))
        may_overflow = np.isinf(reference) | (size + allowed >= limits.overflow)
        right = np.where(np.isnan(reference), np.isnan(found), error <= allowed)
        right = np.where(np.isinf(found), as_infinity & may_overflow, right & ~np.isinf(reference))
        measured = np.isfinite(found) & np.isfinite(reference)
        if limits.has_infinity:
            measured &= size < limits.overflow
        error = np.where(measured, error, 0.0)
    return right, error / ulp, error, allowed, int(np.count_nonzero(right & np.isinf(found)))


def _integers(tensor: Tensor, found: np.ndarray, reference: np.ndarray, tolerance: Tolerance) -> _Judgement:
    """Integers wrap at the type's width, as the kernel's do; a difference counts in units."""
    wrapped = content.decode(tensor, content.encode(tensor, reference))
    error = np.where(found > wrapped, found - wrapped, wrapped - found).astype(np.float64)
    allowed = tolerance.atol + tolerance.rtol * np.abs(wrapped.astype(np.float64))
    most, right = float(error.max(initial=0.0)), (error <= allowed).reshape(-1)
    return _Judgement(right, most, most, _share(error, allowed), 0, lambda: allowed)


def _fraction_bits(dtype: str) -> int:
    return _MANTISSA.get(dtype, int(ml_dtypes.finfo(numpy_dtype(dtype)).nmant))


def _share(error: np.ndarray, allowed: np.ndarray) -> float:
    """The largest quotient of an error by what is allowed there; where none is, infinite for any error."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = error / allowed
        return float(
            (share if allowed.min(initial=1.0) > 0 else np.where(error > 0, share, 0.0)).max(initial=0.0)
        )
