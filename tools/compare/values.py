"""Values to try: the special ones of each type over-represented, ties and near misses, random bits.

Everything is drawn as unsigned integers that hold the bits of a register, one a thread.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from compare.cases import EVERY_LANE, Case, Register
from ptxkit.dtypes import DTYPES, DType, Kind

Random = np.random.Generator
WARP = 32

#          exponent bits, fraction bits
FLOATS = {
    "f16": (5, 10),
    "bf16": (8, 7),
    "tf32": (8, 23),
    "f32": (8, 23),
    "f64": (11, 52),
}
INTEGER_BORDERS = (7, 8, 15, 16, 23, 24, 31, 32, 52, 53, 63, 64)
"""Powers of two where an integer type, or the exactness of a float, ends."""
SPARSE = np.array([0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110], np.uint64)
"""Which two of four elements there are: two different indices in ascending order. PTX ISA 9.7.14.6.1."""
SPARSE_PAIRS = np.array([0b0100, 0b1110], np.uint64)
"""Which one of two `tf32` elements there is."""


def inputs(case: Case, threads: int, seed: int) -> dict[str, np.ndarray]:
    """The bits of each input, `uint64[threads]`, the same for the same seed."""
    random = np.random.default_rng([seed, *case.text.encode()])
    found: dict[str, np.ndarray] = {}
    for register in case.inputs:
        found[register.name] = _drawn(case, register, random, threads, list(found.values()))
    if case.opcode == "shfl":
        _within_mask(case, found)
    if "ftz" in case.modifiers and case.opcode in UNDERFLOWING:
        _at_the_least_normal(case, found, random)
    return found


UNDERFLOWING = ("mul", "fma", "mad", "div", "rcp")
"""What can round up to the least normal number; `cvt` gets special values for it."""


def _at_the_least_normal(case: Case, found: dict[str, np.ndarray], random: Random) -> None:
    """Let some results fall close to the least normal number, where `.ftz` decides."""
    first, *rest = case.inputs
    dtype = DTYPES[first.type]
    name = _scalar(dtype)
    width = DTYPES[name].bits
    real, least = (np.float32, 2.0**-126) if name == "f32" else (np.float16, 2.0**-14)
    words = np.dtype(f"u{width // 8}")
    for lane in range(dtype.lanes):
        shift, mask = np.uint64(lane * width), np.uint64((1 << width) - 1)
        with np.errstate(all="ignore"):
            numbers = [
                (found[register.name] >> shift).astype(words).view(real).astype(np.float64)
                for register in case.inputs
            ]
            match case.opcode:
                case "rcp":
                    changed, wanted = first, np.full(len(numbers[0]), 1 / least)
                case "div":
                    changed, wanted = first, numbers[1] * least
                case _:
                    changed, wanted = rest[0], least / numbers[0]
            near = wanted.astype(real).view(words).astype(np.uint64)
        near += random.integers(-2, 3, len(near)).astype(np.uint64)
        chosen = random.random(len(near)) < 0.2
        placed = [(changed, near)]
        if len(rest) == 2:
            addends = np.array([least, 2 * least, 0.0, -0.0, -least], real).view(words).astype(np.uint64)
            placed.append((rest[1], random.choice(addends, len(near))))
        for register, bits in placed:
            others = found[register.name] & ~(mask << shift)
            found[register.name] = np.where(chosen, others | (bits & mask) << shift, found[register.name])


def _drawn(
    case: Case, register: Register, random: Random, threads: int, earlier: list[np.ndarray]
) -> np.ndarray:
    if register.type == "mask":
        return _masks(case, random, threads)
    if register.type == "lane":
        return random.integers(0, WARP, threads, dtype=np.uint64)
    if register.type == "metadata":
        nibbles = SPARSE_PAIRS if "tf32" in case.modifiers else SPARSE
        return _joined(random.choice(nibbles, (8, threads)), 4)
    if register.type == "pred":
        return random.integers(0, 2, threads, dtype=np.uint64)
    if register.name == "c":
        return random.integers(0, 2, threads, dtype=np.uint64)
    dtype = DTYPES[register.type]
    step = dtype.bits // dtype.lanes
    lanes = max(1, register.bits // step)
    scalar = DTYPES[_scalar(dtype)]
    if case.opcode == "mma":
        drawn = np.stack([_element(scalar, random, threads) for _ in range(lanes)])
    else:
        drawn = np.stack([values(scalar, random, threads) for _ in range(lanes)])
    bits = _joined(drawn, step)
    if earlier and case.opcode != "mma":
        bits = _related(bits, earlier[random.integers(len(earlier))], register.bits, random)
    if case.opcode in ("match", "redux", "vote"):
        same = np.repeat(random.random(threads // WARP) < 0.3, WARP)
        few = bits.reshape(-1, WARP)[:, :1].repeat(WARP, 1).reshape(-1)
        bits = np.where(same | (random.random(threads) < 0.4), few, bits)
    return bits


def _scalar(dtype: DType) -> str:
    """The type of one element of a packed type."""
    return dtype.name[:-2] if dtype.lanes > 1 else dtype.name


def _joined(lanes: np.ndarray, width: int) -> np.ndarray:
    shifts = (np.arange(len(lanes), dtype=np.uint64) * np.uint64(width))[:, None]
    return np.bitwise_or.reduce(lanes << shifts, axis=0)


def _related(bits: np.ndarray, other: np.ndarray, width: int, random: Random) -> np.ndarray:
    """Some values close to those of another operand: equal, a bit or a unit away, of the other sign."""
    mask = np.uint64((1 << width) - 1)
    sign = np.uint64(1 << (width - 1))
    near = np.stack(
        [other, other ^ sign, other + np.uint64(1), other - np.uint64(1), other ^ np.uint64(1), ~other]
    )
    chosen = near[random.integers(0, len(near), len(bits)), np.arange(len(bits))] & mask
    return np.where(random.random(len(bits)) < 0.15, chosen, bits)


# ---- one element


def values(dtype: DType, random: Random, count: int) -> np.ndarray:
    """Bits of `count` values of a type without lanes."""
    if dtype.name in FLOATS:
        return _float(dtype.name, random, count)
    mask = np.uint64((1 << dtype.bits) - 1)
    noise = random.integers(0, 1 << 64, count, dtype=np.uint64) & mask
    if dtype.bits <= 8:
        return noise
    special = random.choice(_integers(dtype.bits), count)
    small = random.integers(-70, 70, count).astype(np.uint64) & mask
    # Bits in a row: `1 << a` to `1 << b`.
    edges = np.sort(random.integers(0, dtype.bits, (2, count), dtype=np.uint64), axis=0)
    runs = ((np.uint64(2) << edges[1]) - (np.uint64(1) << edges[0])) & mask
    return np.choose(random.choice(4, count, p=[0.35, 0.2, 0.1, 0.35]), [special, small, runs, noise])


@cache
def _integers(bits: int) -> np.ndarray:
    found = {0, 1, 2, 3, bits - 1, bits, bits + 1, 2 * bits, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256}
    for power in range(bits):
        found |= {1 << power, (1 << power) - 1, -(1 << power), (1 << power) + 1}
    for pattern in ("55", "aa", "0f", "f0", "80", "7f", "ff", "01", "fe"):
        found.add(int(pattern * 8, 16))
    return np.array(sorted({value & ((1 << bits) - 1) for value in found}), np.uint64)


def _float(name: str, random: Random, count: int) -> np.ndarray:
    exponent, fraction = FLOATS[name]
    bits = 1 + exponent + fraction
    noise = random.integers(0, 1 << 64, count, dtype=np.uint64) >> np.uint64(64 - bits)
    special = random.choice(_specials(name), count)
    bias = (1 << (exponent - 1)) - 1
    near = random.integers(bias - 8, bias + 9, count).astype(np.uint64)
    magnitude = noise & np.uint64((1 << fraction) - 1)
    moderate = (noise >> np.uint64(bits - 1) << np.uint64(bits - 1)) | near << np.uint64(fraction) | magnitude
    # Ties, and one unit beside them, when the fraction is cut at any place.
    cut = random.integers(1, fraction + 1, count).astype(np.uint64)
    kept = (noise >> cut) << cut
    half = np.uint64(1) << (cut - np.uint64(1))
    offset = random.integers(-1, 2, count).astype(np.uint64)
    ties = (kept | half) + offset
    near_ties = ((moderate >> cut) << cut | half) + offset
    nans = noise | np.uint64(((1 << exponent) - 1) << fraction)
    kinds = [special, moderate, ties, near_ties, noise, nans]
    chosen = np.choose(random.choice(6, count, p=[0.33, 0.2, 0.1, 0.15, 0.15, 0.07]), kinds)
    if name == "tf32":
        chosen &= np.uint64(0xFFFFE000)
    return chosen & np.uint64((1 << bits) - 1)


@cache
def _specials(name: str) -> np.ndarray:
    exponent, fraction = FLOATS[name]
    infinity = ((1 << exponent) - 1) << fraction
    bias = (1 << (exponent - 1)) - 1
    one = bias << fraction
    quiet = 1 << (fraction - 1)
    found = {0, 1, 2, (1 << fraction) - 1, quiet, 1 << fraction, (1 << fraction) + 1, infinity - 1, infinity}
    found |= {infinity + 1, infinity | quiet, infinity | quiet | 5, infinity | (1 << fraction) - 1}
    found |= {one, one + 1, one - 1, one | quiet, (bias + 1) << fraction, (bias - 1) << fraction}
    if name in ("f16", "bf16"):
        # What CUTLASS takes for the OOB NaN, and what `fma.oob` does.
        found |= {0x7EFF, 0x7FF7}
    # Integers and halves where the integer types end; the ends of the narrower floats.
    for power in (*INTEGER_BORDERS, -1, -9, -10, -14, -24, -25, -126, -133, -149, -150, 9, 127, 128, -1022):
        place = bias + power
        if 0 < place < (1 << exponent) - 1:
            top = place << fraction
            found |= {top, top - 1, top + 1, top | quiet}
            for below in (24, 23, 10, 7, 3, 2):
                if fraction > below:
                    rest = fraction - below
                    found |= {top - (1 << rest), top - (1 << (rest - 1)), top + (1 << (rest - 1))}
    for whole in range(-5, 6):
        for part in (0.0, 0.25, 0.5):
            found.add(_encode(abs(whole + part), exponent, fraction))
    for value in (
        448.0,
        464.0,
        480.0,
        57344.0,
        61440.0,
        65504.0,
        65519.0,
        65520.0,
        3.14159265358979,
        6.2831853,
    ):
        found.add(_encode(value, exponent, fraction))
    sign = 1 << (exponent + fraction)
    found = {value & (sign - 1) for value in found}
    return np.array(sorted(found | {value | sign for value in found}), np.uint64)


def _encode(value: float, exponent: int, fraction: int) -> int:
    """The bits of a positive number, its fraction cut; 0 where it is out of range."""
    mantissa, power = np.frexp(value)
    place = int(power) - 1 + (1 << (exponent - 1)) - 1
    if value == 0 or not 0 < place < (1 << exponent) - 1:
        return 0
    return (place << fraction) | int((2 * mantissa - 1) * (1 << fraction))


# ---- what a warp shares


def _element(dtype: DType, random: Random, threads: int) -> np.ndarray:
    """Elements of a matrix: by warp, close exponents, far ones, few specials, or anything."""
    anything = values(dtype, random, threads)
    if dtype.kind in (Kind.SIGNED, Kind.UNSIGNED, Kind.BITS):
        return anything
    warp = np.repeat(random.choice(4, threads // WARP, p=[0.35, 0.35, 0.2, 0.1]), WARP)
    exponent, fraction = FLOATS.get(dtype.name) or _small_format(dtype)
    noise = random.integers(0, 1 << 64, threads, dtype=np.uint64)
    sign = (noise >> np.uint64(63)) << np.uint64(exponent + fraction)
    bias = (1 << (exponent - 1)) - 1
    magnitude = noise & np.uint64((1 << fraction) - 1)

    def within(low: int, high: int) -> np.ndarray:
        place = random.integers(max(low, 0), min(high, (1 << exponent) - 2) + 1, threads).astype(np.uint64)
        return sign | place << np.uint64(fraction) | magnitude

    close = within(bias - 2, bias + 2)
    far = within(bias - 16, bias + 16)
    rare = np.where(random.random(threads) < 0.01, anything, within(0, bias))
    rare = np.where(random.random(threads) < 0.2, sign, rare)
    chosen = np.choose(warp, [close, far, rare, anything])
    # The low bits of a tf32 register mean nothing.
    return chosen & np.uint64(0xFFFFE000) if dtype.name == "tf32" else chosen


def _small_format(dtype: DType) -> tuple[int, int]:
    """Exponent and fraction bits of `e4m3` and its like."""
    exponent, _, fraction = dtype.name.removeprefix("u")[1:].partition("m")
    return int(exponent), int(fraction)


def _masks(case: Case, random: Random, threads: int) -> np.ndarray:
    """Member masks, the same in all lanes of a warp; of all lanes where all of them execute."""
    if not case.partial:
        return np.full(threads, EVERY_LANE, np.uint64)
    warps = threads // WARP
    masks = random.integers(1, 1 << 32, warps, dtype=np.uint64)
    special = np.array([1, 1 << 31, 0xFFFF, 0xFFFF0000, 0x55555555, 0xFFFFFFFE, EVERY_LANE, 0x10], np.uint64)
    masks = np.where(random.random(warps) < 0.3, random.choice(special, warps), masks)
    return np.repeat(masks, WARP)


def _within_mask(case: Case, found: dict[str, np.ndarray]) -> None:
    """Let every lane of a shuffle read a lane that takes part; what the others hold is undefined.

    PTX ISA 9.7.9.6. A lane whose source is not in the mask is made to read itself.
    """
    b, c, mask = (found[register.name] for register in case.inputs[1:])
    source = shuffled(case, b, c)
    lane = np.arange(len(b), dtype=np.uint64) % np.uint64(WARP)
    outside = (mask >> source) & np.uint64(1) == 0
    found[case.inputs[1].name] = np.where(outside, lane if "idx" in case.modifiers else np.uint64(0), b)


def shuffled(case: Case, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The lane that each lane of a shuffle reads. PTX ISA 9.7.9.6, semantics."""
    lane = np.arange(len(b), dtype=np.int64) % WARP
    offset, clamp, segment = (b & np.uint64(31)).astype(np.int64), c & np.uint64(31), c >> np.uint64(8)
    clamp, segment = clamp.astype(np.int64), (segment & np.uint64(31)).astype(np.int64)
    highest = (lane & segment) | (clamp & ~segment)
    lowest = lane & segment
    source = {
        "up": lane - offset,
        "down": lane + offset,
        "bfly": lane ^ offset,
        "idx": lowest | (offset & ~segment),
    }[case.modifiers[1]]
    inside = source >= highest if case.modifiers[1] == "up" else source <= highest
    return np.where(inside, source, lane).astype(np.uint64)
