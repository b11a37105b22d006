"""Elements of an output that have changed places by exchanged, added or lost bits of their indexes.

Every place near a wrong element is asked whether what it holds belongs there. Distances, as an exclusive or,
that come out far oftener than by chance are the rule; from the bits of the indexes it is put into words.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

ONE_SIDED = "a swizzle that only one side applies"
"""What a rule is called by which elements lie as a swizzle has them, or should."""
EXCHANGED = "rows and columns are exchanged"
"""What a rule is called by which the lowest bits of both indexes have changed places."""
SAMPLE = 1024
"""Wrong elements that are looked at."""
FEWEST = 64
"""Fewer tell no rule."""
ROWS, COLUMNS = 64, 128
"""How far away, below, places are asked."""
PARTS = 64
"""Distances that a rule has at most, and the part of the elements that each of them has."""
CHANCE = 0.1
"""The part of elements that may fit distances by chance."""
MOST = 0.9
"""The part of elements that must fit."""
SURE = 0.97
"""The part of elements that must agree about a bit."""

Term = tuple[bool, tuple[int, ...]]
"""What a bit of a distance is: whether the contrary, and the exclusive or of which bits of the index."""


def rearranged(wrong: np.ndarray, found: np.ndarray, expected: np.ndarray, allowed: np.ndarray) -> str | None:
    """Where what wrong elements hold belongs, in words; None where no rule says it.

    Args:
        wrong: bool, which elements are.
        found, expected: what they are and should be; of the same shape.
        allowed: by how much an element may be off; of that shape.
    """
    rank = wrong.ndim
    names = [*(f"i{axis}" for axis in range(rank - 2)), "i", "j"]
    for row in range(rank - 2, -1, -1):
        if wrong.shape[row] < 2 or wrong.shape[-1] < 2:
            continue
        said = _between(wrong, found, expected, _near(wrong, found, expected, allowed), row, names)
        if said is not None:
            return said
    return None


def _near(wrong: np.ndarray, found: np.ndarray, expected: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """How far right elements are off, at most, which is often far less than they may be."""
    right = ~wrong & (allowed > 0)
    if np.count_nonzero(right) < FEWEST:
        return allowed
    with np.errstate(all="ignore"):
        off = np.abs(np.subtract(found[right], expected[right], dtype=np.float64)) / allowed[right]
    off = off[np.isfinite(off)]
    return allowed * max(float(np.quantile(off, 0.98)) if len(off) else 1.0, 1e-6)


def _between(
    wrong: np.ndarray,
    found: np.ndarray,
    expected: np.ndarray,
    near: np.ndarray,
    row: int,
    names: Sequence[str],
) -> str | None:
    """The rule by which elements have changed places along an axis and the last one."""
    numbers = wrong & (found != 0)
    at = np.flatnonzero(numbers.reshape(-1))
    if len(at) < FEWEST:
        return None
    at = np.random.default_rng(0).permutation(at)[:SAMPLE]  # Steps would have bits of their own.
    index = np.array(np.unravel_index(at, wrong.shape))
    held = np.asarray(found[tuple(index)], np.float64)
    if not np.isfinite(held).all():
        return None
    sizes = wrong.shape[row], wrong.shape[-1]
    tile = tuple(
        min(1 << (size - 1).bit_length(), most) for size, most in zip(sizes, (ROWS, COLUMNS), strict=True)
    )
    fits = _fits(index, held, expected, near, row, tile)
    counts = np.bincount(np.concatenate(fits), minlength=tile[0] * tile[1])
    counts[0] = 0
    chance = float(counts.mean()) / len(at)
    kept = np.flatnonzero(counts >= max(len(at) / PARTS / 2, 4 * chance * len(at)))
    if not 0 < len(kept) <= PARTS or len(kept) * chance > CHANCE:
        return None
    there = (index[row] ^ (kept[:, None] // tile[1]) < sizes[0]) & (
        index[-1] ^ (kept[:, None] % tile[1]) < sizes[1]
    )
    theirs = [np.intersect1d(one, kept) for one in fits]
    fitting = np.array([len(one) for one in theirs])
    share = float((fitting > 0)[there.any(axis=0)].mean())
    once = np.flatnonzero(fitting == 1)
    if share < MOST or len(once) < FEWEST:
        return None
    low = (sizes[1] - 1).bit_length()
    places = (index[row, once] << low) | index[-1, once]
    distances = np.array([theirs[one][0] for one in once])
    width = (tile[0] * tile[1] - 1).bit_length()
    rule = [
        _term((distances >> bit) & 1 == 1, places, low + (sizes[0] - 1).bit_length()) for bit in range(width)
    ]
    terms = [term for term in rule if term is not None]
    if len(terms) < len(rule):
        return None
    split, both = (tile[1] - 1).bit_length(), (names[row], names[-1])
    changed = {len(names) - 1: _form(1, terms[:split], both, low), row: _form(0, terms[split:], both, low)}
    at_last = ", ".join(changed.get(axis, name) for axis, name in enumerate(names))
    who = "each of them holds" if (fitting > 0).all() else f"{int(100 * (fitting > 0).mean())}% of them hold"
    return f"{who} what belongs at [{at_last}]{_called(terms[:split], terms[split:], low)}"


def _fits(
    index: np.ndarray,
    held: np.ndarray,
    expected: np.ndarray,
    near: np.ndarray,
    row: int,
    tile: tuple[int, ...],
) -> list[np.ndarray]:
    """The distances at which what elements hold belongs, in tiles of so many rows and columns."""
    height, width = tile
    found = []
    for place, value in zip(index.T.tolist(), held.tolist(), strict=True):
        top, left = place[row] // height * height, place[-1] // width * width
        part = (*place[:row], slice(top, top + height), *place[row + 1 : -1], slice(left, left + width))
        with np.errstate(all="ignore"):
            down, across = np.nonzero(np.abs(expected[part] - value) <= near[part])
        found.append(((down + top) ^ place[row]) * width + ((across + left) ^ place[-1]))
    return found


def _term(bit: np.ndarray, places: np.ndarray, width: int) -> Term | None:
    """What a bit of distances is, from the bits of places: as few of these as possible."""
    sources = [(places >> source) & 1 == 1 for source in range(width)]
    for count in range(3):
        for which in combinations(range(width), count):
            value = np.zeros(len(bit), bool)
            for source in which:
                value = value ^ sources[source]
            agree = float((value == bit).mean())
            if agree >= SURE or agree <= 1 - SURE:
                return agree <= 1 - SURE, which
    return None


def _called(across: Sequence[Term], down: Sequence[Term], low: int) -> str:
    """What such a rule is called, if it has a name."""
    count = sum(bool(which) for _, which in across)
    turned = [(False, (bit, low + bit) if bit < count else ()) for bit in range(max(len(across), len(down)))]
    if count > 1 and turned[: len(across)] == [*across] and turned[: len(down)] == [*down]:
        return f": {EXCHANGED} within tiles of {1 << count} by {1 << count}"
    rows = {source - bit for bit, (_, which) in enumerate(across) for source in which if source >= low}
    columns = any(source < low for _, which in across for source in which)
    if not rows or columns or any(contrary or which for contrary, which in down):
        return ""
    if len(rows) == 1:
        return f": {ONE_SIDED}"
    return ": the two sides of a swizzle take different bits of the row"


def _form(axis: int, terms: Sequence[Term], names: tuple[str, str], low: int) -> str:
    """An index in words: `j ^ (i % 8) * 8`, or `j // 4 * 4 + i % 4` where bits have changed places."""
    name, mine = names[axis], 0 if axis else low
    constant = sum(1 << bit for bit, (contrary, _) in enumerate(terms) if contrary)
    held = [set(which) ^ {bit + mine} for bit, (_, which) in enumerate(terms)]
    lost = any(bit + mine not in sources for bit, sources in enumerate(held))
    if lost and not constant and all(len(sources) == 1 for sources in held):
        changed = [bit for bit, sources in enumerate(held) if sources != {bit + mine}]
        top = 1 << changed[-1] + 1
        moved = _terms(
            [sources if bit <= changed[-1] else set() for bit, sources in enumerate(held)], names, low
        )
        return " + ".join([f"{name} // {top} * {top}", *moved])
    parts = [name, *([str(constant)] if constant else [])]
    return " ^ ".join(parts + _terms([set(which) for _, which in terms], names, low, "({})"))


def _terms(sources: Sequence[set[int]], names: tuple[str, str], low: int, form: str = "{}") -> list[str]:
    """What adds up to bits of an index, from the bits of both: each `i / 2 % 8 * 4`."""
    shifts: dict[int, list[int]] = {}
    for bit, which in enumerate(sources):
        for source in which:
            shifts.setdefault(source - bit, []).append(bit)
    factors: dict[str, int] = {}
    for shift, bits in sorted(shifts.items()):
        for first, count in _runs(bits, low - shift):
            source = first + shift
            whose, begin = (names[0], source - low) if source >= low else (names[1], source)
            row = f"{whose} / {1 << begin} % {1 << count}" if begin else f"{whose} % {1 << count}"
            factors[row] = factors.get(row, 0) + (1 << first)
    return [form.format(row) + (f" * {factor}" if factor > 1 else "") for row, factor in factors.items()]


def _runs(bits: Sequence[int], border: int) -> list[tuple[int, int]]:
    """Bits one behind the other: the first, how many; none goes across a border."""
    found: list[tuple[int, int]] = []
    for bit in bits:
        if found and bit == sum(found[-1]) and bit != border:
            found[-1] = found[-1][0], found[-1][1] + 1
        else:
            found.append((bit, 1))
    return found
