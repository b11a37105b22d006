"""Matrix elements decoded: their values, the exponents by which they are aligned, infinities and NaN.

The formats: PTX ISA 5.2.3 and `ptxkit.emulator.numerics.formats`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from ptxkit.emulator.numerics.formats import FORMATS, Format, values

NOTHING = -16384
"""The exponent of zero: below every other, and twice it still fits 16 bits."""
SPECIAL = 16384
"""In tables, the exponent of infinities and NaN."""

TABLED = ("f16", "bf16", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1")


@dataclass(slots=True)
class Elements:
    """A matrix operand.

    Attributes:
        values: the numbers, exact, as f32 or f64; 0 in place of infinities and NaN.
        exponents: int16, the exponent of each number, the format's least one for subnormal numbers; `NOTHING`
            for zeros, and for infinities and NaN.
        special: f32: infinities and NaN where they are, elsewhere the sign of the number (0 of zero); None
            where all are numbers.
        present: bool, False where structured sparsity leaves an element out; None where it leaves none.
        near: whether all exponents are known to lie between -60 and 60.
    """

    values: np.ndarray
    exponents: np.ndarray
    special: np.ndarray | None = None
    present: np.ndarray | None = None
    near: bool = False

    def __getitem__(self, index: Any) -> Elements:
        """A part of every array."""
        return Elements(
            self.values[index],
            self.exponents[index],
            None if self.special is None else self.special[index],
            None if self.present is None else self.present[index],
            self.near,
        )

    def limits(self) -> tuple[int, int]:
        """The least and the greatest exponent of a number other than zero; (0, 0) where there is none."""
        greatest = int(self.exponents.max())
        if greatest == NOTHING:
            return 0, 0
        least = int((self.exponents - np.int16(NOTHING + 1)).view(np.uint16).min())
        return least + NOTHING + 1, greatest


def together(a: Elements, b: Elements) -> bool:
    """Whether f32 holds every product, and every quantum that can occur while one isn't zero."""
    if a.values.dtype != np.float32 or b.values.dtype != np.float32:
        return False
    if a.near and b.near:
        return True
    (least_a, greatest_a), (least_b, greatest_b) = a.limits(), b.limits()
    return least_a + least_b >= -100 and greatest_a + greatest_b <= 124


@cache
def _table(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, exponents and specials of every code."""
    form = FORMATS[name]
    numbers = values(name)
    codes = np.arange(1 << form.bits)
    field = codes >> form.fraction_bits & (1 << form.exponent_bits) - 1
    exponents = np.maximum(field, 1) - form.bias
    exponents = np.where(numbers == 0, NOTHING, exponents)
    finite = np.isfinite(numbers)
    exponents = np.where(finite, exponents, SPECIAL).astype(np.int16)
    with np.errstate(invalid="ignore"):
        special = np.where(finite, np.sign(numbers), numbers).astype(np.float32)
    return np.where(finite, numbers, 0).astype(np.float32), exponents, special


def decode(codes: np.ndarray, name: str) -> Elements:
    """The elements that codes stand for. `codes`: unsigned integers: f32 and tf32 in 32 bits, the other
    formats in their low bits. `name`: the format."""
    if name in TABLED:
        numbers, exponents, special = _table(name)
        found = Elements(numbers.take(codes), exponents.take(codes), near=name != "bf16")
        if FORMATS[name].nan is None or found.exponents.max() != SPECIAL:
            return found
        found.exponents[found.exponents == SPECIAL] = NOTHING
        found.special = special.take(codes)
        return found
    return _decode_f32(codes & np.uint32(0xFFFFE000) if name == "tf32" else codes)


def as_f16(elements: Elements) -> Elements:
    """8-bit elements after their conversion to f16, in which e4m3's subnormal numbers are normal."""
    words = elements.values.view(np.uint32)
    field = (words >> np.uint32(23) & np.uint32(0xFF)).astype(np.int16)
    exponents = np.maximum(field - np.int16(127), np.int16(1 - FORMATS["f16"].bias))
    return replace(elements, exponents=np.where(words << np.uint32(1) == 0, elements.exponents, exponents))


def _decode_f32(words: np.ndarray) -> Elements:
    field = (words >> np.uint32(23) & np.uint32(0xFF)).astype(np.int16)
    exponents = np.maximum(field, np.int16(1)) - np.int16(127)
    numbers = words.view(np.float32)
    exponents[numbers == 0] = NOTHING
    if field.max(initial=0) != 0xFF:
        return Elements(numbers, exponents)
    odd = field == 0xFF
    exponents[odd] = NOTHING
    special = np.where(odd, numbers, np.sign(numbers))
    return Elements(np.where(odd, np.float32(0), numbers), exponents, special)


# ---- scale factors


@dataclass(frozen=True, slots=True)
class Scales:
    """Scale factors.

    Attributes:
        significands: f64, from 1 to 2, below 1 for subnormal numbers.
        exponents: int16.
        nan: bool, where the factor is a NaN; None where none is.
    """

    significands: np.ndarray
    exponents: np.ndarray
    nan: np.ndarray | None

    def at(self, index: Any) -> Scales:
        """A part of every array, or the same with further axes."""
        nan = None if self.nan is None else self.nan[index]
        return Scales(self.significands[index], self.exponents[index], nan)


SCALE_FORMATS = {"ue4m3": FORMATS["e4m3"], "ue5m3": FORMATS["ue5m3"]}


def decode_scales(codes: np.ndarray, name: str) -> Scales:
    """Scale factors in `uint8`, of type `ue8m0`, `ue4m3`, whose sign bit doesn't count, or `ue5m3`."""
    if name == "ue8m0":
        exponents = codes.astype(np.int16) - np.int16(127)
        return Scales(np.ones(codes.shape), exponents, _where_any(codes == 0xFF))
    form = SCALE_FORMATS[name]
    bits = form.exponent_bits + form.fraction_bits
    magnitude = (codes & np.uint8((1 << bits) - 1)).astype(np.int16)
    field = magnitude >> np.int16(form.fraction_bits)
    normal = np.maximum(field, np.int16(1))
    fraction = magnitude - (normal - np.int16(1) << np.int16(form.fraction_bits))
    significands = np.ldexp(fraction.astype(np.float64), -form.fraction_bits)
    return Scales(significands, normal - np.int16(form.bias), _where_any(magnitude == form.nan))


def _where_any(condition: np.ndarray) -> np.ndarray | None:
    return condition if condition.any() else None


def scaled(elements: Elements, scales: Scales) -> Elements:
    """Elements times `ue8m0` scale factors, which broadcast against them; exact."""
    factor = np.ldexp(scales.significands, scales.exponents)
    with np.errstate(invalid="ignore"):
        numbers = elements.values * factor
    exponents = np.where(
        elements.exponents == NOTHING, elements.exponents, elements.exponents + scales.exponents
    )
    special = elements.special
    near = abs(exponents[exponents != NOTHING]).max(initial=0) < 60
    if near:
        numbers = numbers.astype(np.float32)
    if scales.nan is not None:
        known = np.sign(elements.values) if special is None else special
        special = np.where(scales.nan, np.float32(np.nan), known)
    return replace(elements, values=numbers, exponents=exponents, special=special, near=bool(near))


def container(codes: np.ndarray, name: str) -> np.ndarray:
    """Codes out of the bytes that hold them under `.kind::f8f6f4` and `.kind::mxf8f6f4`.

    4 bits lie in bits 2 to 5 of their byte, 6 bits in bits 0 to 5. PTX ISA 9.7.14.5.14.
    """
    form: Format = FORMATS[name]
    if form.bits == 4:
        return codes >> np.uint8(2) & np.uint8(0xF)
    return codes & np.uint8((1 << form.bits) - 1)


TF32 = (0b0100, 0b1110)
"""The nibbles of tf32: the first of two elements is stored, or the second."""
ORDERED = (0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110)
"""Those of `.sp::ordered_metadata`: two places of four, the lower one first."""
ANY_ORDER = tuple(nibble for nibble in range(16) if nibble & 3 != nibble >> 2)
"""Those without: two places of four."""


def expand(stored: np.ndarray, nibbles: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Matrix A with its dense K, zeros between.

    Args:
        stored: codes (K / 2, rows ..).
        nibbles: metadata (chunks, rows ..).
        bits: of an element: 32 for tf32; 4 where neighbours go together; 8 or 16 for the others.

    Returns:
        Codes (K, rows ..) and which of them were stored.
    """
    chunks, *rest = nibbles.shape
    if bits == 32:
        places = [(nibbles == TF32[1]).astype(np.uint8)]
        width, together = 2, 1
    else:
        places = [nibbles & np.uint8(3), nibbles >> np.uint8(2)]
        width, together = 4, 2 if bits == 4 else 1
    kept = stored.reshape(chunks, len(places), together, *rest)
    dense = np.zeros((chunks, width, together, *rest), stored.dtype)
    present = np.zeros((chunks, width, *rest), bool)
    for at, place in enumerate(places):
        for i in range(width):
            here = place == i
            present[:, i] |= here
            for j in range(together):
                np.copyto(dense[:, i, j], kept[:, at, j], where=here)
    whole = np.repeat(present[:, :, None], together, axis=2)
    return dense.reshape(-1, *rest), whole.reshape(-1, *rest)
