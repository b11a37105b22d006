"""The documented errors of `.approx` and `.full` forms, against a float64 reference.

PTX ISA 9.7.3.8, 9.7.3.13 to 9.7.3.22, 9.7.4.9, 9.7.4.10. Where the manual gives a result for a special value
(infinities, zeros, NaN), that result is asked for; where it promises nothing, nothing is compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from compare.cases import Case

Array = np.ndarray
Bound = Callable[[tuple[Array, ...], Array], Array]
"""From the inputs and the exact result to the largest error."""


@dataclass(frozen=True, slots=True)
class Function:
    """An approximated function.

    Attributes:
        exact: the function in float64.
        bound: the largest error.
        promised: for which inputs there is a bound; None for all.
    """

    exact: Callable[..., Array]
    bound: Bound
    promised: Callable[..., Array] | None = None


def ulps(count: float, fraction: int = 23, smallest: int = -126) -> Bound:
    """So many units in the last place of the exact result."""

    def bound(_: tuple[Array, ...], exact: Array) -> Array:
        exponent = np.frexp(np.where(np.isfinite(exact), exact, 0))[1] - 1
        unit = np.exp2(np.maximum(exponent, smallest).astype(np.float64) - fraction)
        return np.where(exact == 0, 0.0, count * unit)

    return bound


def relative(power: float, smallest: float = 2.0**-149) -> Bound:
    """2^power of the exact result, and where that is not zero no less than one subnormal step."""
    return lambda _, exact: np.where(exact == 0, 0.0, np.maximum(np.abs(exact) * 2.0**power, smallest))


def absolute(power: float) -> Bound:
    """2^power."""
    return lambda _, exact: np.full(exact.shape, 2.0**power)


def _angle(inputs: tuple[Array, ...], exact: Array) -> Array:
    return np.where(np.abs(inputs[0]) <= 2 * np.pi, 2.0**-20.5, 2.0**-14.7)


def _logarithm(inputs: tuple[Array, ...], exact: Array) -> Array:
    near_one = (inputs[0] > 0.5) & (inputs[0] < 2)
    return np.where(near_one, 2.0**-22, np.abs(exact) * 2.0**-22)


def _quotient(a: Array, b: Array) -> Array:
    """`div.approx`: a divisor beyond 2^126 counts as infinite."""
    huge = np.abs(b) > 2.0**126
    return np.where(huge & np.isinf(a), np.nan, a / np.where(huge, np.copysign(np.inf, b), b))


def _in_circles(a: Array) -> Array:
    return ~np.isfinite(a) | (np.abs(a) <= 100 * np.pi)


def _normal_divisor(a: Array, b: Array) -> Array:
    """The bound of `div.approx` holds for divisors in [2^-126, 2^126]; special values are told for others."""
    magnitude = np.abs(b)
    return (magnitude >= 2.0**-126) | (b == 0) | np.isnan(a) | np.isnan(b)


def _nan_by_high_word(a: Array) -> Array:
    """The low word of the input is ignored, so a NaN that only it makes may count as an infinity."""
    return ~np.isnan(a) | (a.view(np.uint64) >> np.uint64(32) & np.uint64(0xFFFFF) != 0)


SINGLE = {
    "rcp": Function(lambda a: 1 / a, ulps(1)),
    "div.approx": Function(_quotient, ulps(2), _normal_divisor),
    "div.full": Function(lambda a, b: a / b, ulps(2)),
    "sqrt": Function(np.sqrt, relative(-23)),
    "rsqrt": Function(lambda a: 1 / np.sqrt(a), relative(-22.9)),
    "sin": Function(np.sin, _angle, _in_circles),
    "cos": Function(np.cos, _angle, _in_circles),
    "lg2": Function(np.log2, _logarithm),
    "ex2": Function(np.exp2, ulps(2)),
    "tanh": Function(np.tanh, relative(-11)),
}
DOUBLE = {
    # No bound is documented; special values are (9.7.3.14, 9.7.3.16, 9.7.3.17).
    "rcp": Function(lambda a: 1 / a, absolute(np.inf), _nan_by_high_word),
    "rsqrt": Function(lambda a: 1 / np.sqrt(a), absolute(np.inf), _nan_by_high_word),
}
HALF = {
    ("tanh", "f16"): Function(np.tanh, absolute(-10.987)),
    # The manual rounds the bound to 2^-8; over all codes an H200 reaches 2^-7.9999, for 0x3f3f alone.
    ("tanh", "bf16"): Function(np.tanh, absolute(-7.9999)),
    ("ex2", "f16"): Function(np.exp2, relative(-9.9, 2.0**-24)),
    ("ex2", "bf16"): Function(np.exp2, relative(-7, 2.0**-133)),
}
LARGEST = {"f32": 2.0**128, "f64": np.inf, "f16": 65520.0, "bf16": 2.0**128}
SMALLEST = {"f32": 2.0**-126, "f64": 2.0**-1022, "f16": 2.0**-14, "bf16": 2.0**-126}
"""The smallest normal number."""


def function(case: Case, type_: str) -> Function:
    """The approximated function of a case."""
    if type_ == "f32":
        return SINGLE[f"div.{case.modifiers[0]}" if case.opcode == "div" else case.opcode]
    return DOUBLE[case.opcode] if type_ == "f64" else HALF[case.opcode, type_]


def is_approximate(case: Case) -> bool:
    """Whether the manual leaves the result's last bits open."""
    return "approx" in case.modifiers or "full" in case.modifiers


def outside(case: Case, type_: str, inputs: tuple[Array, ...], result: Array) -> tuple[Array, Array]:
    """Which results lie outside the bound, and for which inputs there is one.

    Args:
        case: with one result.
        type_: of an element: `f32`, `f16`, `bf16`.
        inputs: in float64.
        result: in float64.
    """
    found = function(case, type_)
    smallest = SMALLEST[type_]
    flush = "ftz" in case.modifiers
    if flush:
        inputs = tuple(np.where(np.abs(a) < smallest, np.copysign(0.0, a), a) for a in inputs)
    with np.errstate(all="ignore"):
        exact = found.exact(*inputs)
        error = found.bound(inputs, exact)
        of_zero = np.any([a == 0 for a in inputs], axis=0)
        good = _within(result, exact, np.where(of_zero & (exact == 0), 0.0, error), LARGEST[type_])
        if flush:
            good |= (np.abs(exact) - error < smallest) & (result == 0)
        promised = np.ones(exact.shape, bool) if found.promised is None else found.promised(*inputs)
    return ~good & promised, promised


def _within(result: Array, exact: Array, error: Array, largest: float) -> Array:
    same = (result == exact) & ((exact != 0) | (np.signbit(result) == np.signbit(exact)))
    # Where no error is allowed, a zero must have its sign.
    close = (error > 0) & np.isfinite(exact) & (np.abs(result - exact) <= error)
    # Near the largest number infinity may be reached from below, and the other way round.
    overflow = (np.abs(exact) + error >= largest) & (np.sign(result) == np.sign(exact))
    overflow &= np.abs(result) >= largest * (1 - 2.0**-6)
    return np.where(np.isnan(exact), np.isnan(result), same | close | overflow)
