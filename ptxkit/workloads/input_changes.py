"""Changes of an input, in words: what wrong indexes, wrong buffers and lost steps of a sum make of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product

import numpy as np

from ptxkit.dtypes import DTYPES, numpy_dtype
from ptxkit.workloads.problem import Arrays, Tensor

STEPS = (64, 32, 128, 16, 8, 256, 1, 4, 2, 512, 1024, 2048, 4096)
"""Distances, the likeliest first."""
NARROWEST = 4
"""Elements of the shortest of parts that come again and again."""
SWIZZLES = ((8, 0), (4, 1), (2, 2), (4, 0), (2, 0))
"""As `ptxkit.workloads.patterns.SWIZZLES`."""

ALIKE = (("f16", "bf16"), ("e4m3", "e5m2"), ("ue4m3", "ue8m0", "ue5m3"), ("s8", "u8"), ("f32", "s32"))
"""Types whose bits are taken for one another's."""

Indexes = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, slots=True)
class InputChange:
    """A change of one input, or of several at once.

    Attributes:
        text: what the kernel did, in words.
        made: makes what they would hold, by name, as stored.
    """

    text: str
    made: Callable[[], Arrays]


def changes(tensors: Mapping[str, Tensor], inputs: Arrays) -> Iterator[InputChange]:
    """Changes of some tensors, the likeliest first, and small tensors before large ones."""
    yield from _retyped(tensors, inputs)
    yield from _swapped(tensors, inputs)
    by_size = sorted(tensors.values(), key=lambda tensor: inputs[tensor.name].size)
    for kinds in (_exchanged, _moved, _in_blocks), (_left_out, _negated), (_turned, _behind, _mapped):
        for tensor, kind in product(by_size, kinds):
            for text, made in kind(tensor, inputs):
                yield InputChange(text, partial(_named, tensor.name, made))


Change = tuple[str, Callable[[], np.ndarray]]


def _named(name: str, made: Callable[[], np.ndarray]) -> Arrays:
    return {name: made()}


def _retyped(tensors: Mapping[str, Tensor], inputs: Arrays) -> Iterator[InputChange]:
    """All tensors of a type taken as numbers of another."""
    for dtype in dict.fromkeys(tensor.dtype for tensor in tensors.values()):
        names = [name for name, tensor in tensors.items() if tensor.dtype == dtype]
        alike = next((types for types in ALIKE if dtype in types), ())
        for other in (one for one in alike if one != dtype):
            listed = " and ".join(f"`{name}`" for name in names)
            text = f"{listed}, of {dtype}, {'is' if len(names) == 1 else 'are'} taken as {other}"
            yield InputChange(text, partial(_viewed, {name: inputs[name] for name in names}, other))


def _viewed(stored: Arrays, dtype: str) -> Arrays:
    return {name: array.view(numpy_dtype(dtype)) for name, array in stored.items()}


def _swapped(tensors: Mapping[str, Tensor], inputs: Arrays) -> Iterator[InputChange]:
    """Two tensors, each in place of the other."""
    for name, other in combinations(tensors, 2):
        mine, its = inputs[name], inputs[other]
        if mine.dtype == its.dtype and mine.shape == its.shape:
            text = f"`{name}` and `{other}` are read in place of each other"
            yield InputChange(text, partial(dict, {name: its, other: mine}))


def _exchanged(tensor: Tensor, inputs: Arrays) -> Iterator[Change]:
    """Another tensor in place of it."""
    mine = inputs[tensor.name]
    for name, other in inputs.items():
        alike = other.dtype == mine.dtype and other.size >= mine.size
        if name != tensor.name and alike and (mine.ndim == 1 or other.shape[1:] == mine.shape[1:]):
            yield f"`{name}` is read in place of `{tensor.name}`", partial(_first, other, mine.shape)


def _first(other: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return other.reshape(-1)[: int(np.prod(shape))].reshape(shape)


def _parts(tensor: Tensor, stored: np.ndarray) -> Iterator[tuple[str, int, np.ndarray]]:
    """Parts of a dimension: in words, the axis, which of its indexes."""
    for axis in range(stored.ndim - 1, -1, -1):
        size, pack = stored.shape[axis], _pack(tensor, axis)
        index, noun = np.arange(size), _noun(axis, stored.ndim)
        eighths = {size * part // 8 for part in range(1, 8)} if size % 8 == 0 else set()
        ends = {one for step in STEPS if step < size for one in (step, size - step)}
        for first in sorted(eighths | ends):
            yield f"{noun}s 0 to {first * pack - 1}", axis, index < first
            yield f"{noun}s from {first * pack} on", axis, index >= first
        for first in sorted(eighths - {size // 8 * 7}):
            last = (first + size // 8) * pack - 1
            yield f"{noun}s {first * pack} to {last}", axis, (index >= first) & (index < first + size // 8)
        for width in sorted(STEPS):
            for period in (2, 4):
                for part in range(period if width >= NARROWEST and period * width <= size else 0):
                    start, every = part * width * pack, period * width * pack
                    which = f"{start} to {start + width * pack - 1}"
                    text = f"{noun}s whose number modulo {every} is {which}"
                    yield text, axis, index // width % period == part


def _left_out(tensor: Tensor, inputs: Arrays) -> Iterator[Change]:
    """Zeros in part of it."""
    stored = inputs[tensor.name]
    for text, axis, which in _parts(tensor, stored):
        yield f"{text} of `{tensor.name}` do not count", partial(_zeroed, stored, axis, which)


def _zeroed(stored: np.ndarray, axis: int, which: np.ndarray) -> np.ndarray:
    changed = stored.copy()
    changed[_at(axis, which)] = 0
    return changed


def _negated(tensor: Tensor, inputs: Arrays) -> Iterator[Change]:
    """The other sign in part of it."""
    dtype = DTYPES[tensor.dtype]
    if dtype.pack > 1 or not dtype.is_float or tensor.dtype.startswith("ue"):
        return
    stored = inputs[tensor.name]
    for text, axis, which in _parts(tensor, stored):
        yield f"{text} of `{tensor.name}` count with the other sign", partial(_signs, stored, axis, which)


def _signs(stored: np.ndarray, axis: int, which: np.ndarray) -> np.ndarray:
    changed = stored.copy()
    changed[_at(axis, which)] *= stored.dtype.type(-1)
    return changed


def _at(axis: int, which: np.ndarray) -> tuple[slice | np.ndarray, ...]:
    return (*[slice(None)] * axis, which)


def _moved(tensor: Tensor, inputs: Arrays) -> Iterator[Change]:
    """Elements from farther on, or of another bit of the index, along an axis; zeros come from outside."""
    stored = inputs[tensor.name]
    for axis in range(stored.ndim - 1, -1, -1):
        size, pack = stored.shape[axis], _pack(tensor, axis)
        for step in (one for one in STEPS if one < size):
            by = step * pack
            for form, way in (
                (f"{{i}} + {by}", partial(np.add, step)),
                (f"{{i}} - {by}", partial(np.add, -step)),
                (f"{{i}} ^ {by}", partial(np.bitwise_xor, step)),
            ):
                yield _taken(tensor, axis, form), partial(_gathered, stored, axis, way)


def _behind(tensor: Tensor, inputs: Arrays) -> Iterator[Change]:
    """Elements from a distance on in memory."""
    stored, pack = inputs[tensor.name], DTYPES[tensor.dtype].pack
    for step in STEPS:
        if step >= stored.size:
            continue
        for signed, where in ((step, "on"), (-step, "back")):
            size = step * stored.itemsize
            count = f"{step * pack} element{'s' * (step * pack > 1)}, {size} byte{'s' * (size > 1)}"
            yield f"`{tensor.name}` is read {count}, farther {where}", partial(_shifted, stored, signed)


def _shifted(stored: np.ndarray, step: int) -> np.ndarray:
    flat = stored.reshape(-1)
    changed = np.zeros_like(flat)
    if step > 0:
        changed[:-step] = flat[step:]
    else:
        changed[-step:] = flat[:step]
    return changed.reshape(stored.shape)


def _in_blocks(tensor: Tensor, inputs: Arrays) -> Iterator[Change]:
    """Blocks that begin at another distance than they are long."""
    stored = inputs[tensor.name]
    for axis in range(stored.ndim):
        size, pack = stored.shape[axis], _pack(tensor, axis)
        for block in STEPS:
            if not 4 <= block < size or block & (block - 1):
                continue
            for step in (block // 2, block * 2, 0, block // 4):
                form = f"{{i}} // {block * pack} * {step * pack} + {{i}} % {block * pack}"
                way = partial(_blocks, block, step)
                yield _taken(tensor, axis, form), partial(_gathered, stored, axis, way)


def _blocks(block: int, step: int, index: np.ndarray) -> np.ndarray:
    return index // block * step + index % block


def _turned(tensor: Tensor, inputs: Arrays) -> Iterator[Change]:
    """Rows for columns, and swizzles of one side."""
    stored, pack = inputs[tensor.name], DTYPES[tensor.dtype].pack
    if stored.ndim < 2:
        return
    if pack == 1 and stored.shape[-1] == stored.shape[-2]:
        yield f"`{tensor.name}` is transposed", lambda: np.ascontiguousarray(np.swapaxes(stored, -1, -2))
    if pack == 1:
        text = f"`{tensor.name}` is read as if it lay column after column"
        yield (
            text,
            lambda: np.ascontiguousarray(
                stored.reshape(*stored.shape[:-2], stored.shape[-1], stored.shape[-2]).swapaxes(-1, -2)
            ),
        )
    for piece in STEPS:
        for rows, shift in SWIZZLES:
            if piece & (piece - 1) or rows * piece > stored.shape[-1] or stored.shape[-2] < 2 * (rows - 1):
                continue
            row = f"i / {1 << shift} % {rows}" if shift else f"i % {rows}"
            form = f"{{i}} ^ ({row}) * {piece * pack}"
            yield _taken(tensor, stored.ndim - 1, form), partial(_swizzled, stored, rows, shift, piece)


def _swizzled(stored: np.ndarray, rows: int, shift: int, piece: int) -> np.ndarray:
    height, width = stored.shape[-2:]
    row, column = np.indices((height, width))
    there = column ^ (row >> shift) % rows * piece
    changed = np.where(there < width, stored[..., row, np.minimum(there, width - 1)], stored.dtype.type(0))
    return changed.astype(stored.dtype)


def _mapped(tensor: Tensor, inputs: Arrays) -> Iterator[Change]:
    """Halved, doubled, cut off, mirrored and riffled indexes."""
    stored = inputs[tensor.name]
    for axis in range(stored.ndim - 1, -1, -1):
        size = stored.shape[axis]
        if _pack(tensor, axis) > 1:
            continue
        ways: list[tuple[str, Indexes]] = [(f"{size - 1} - {{i}}", partial(np.subtract, size - 1))]
        for by in (2, 4, 8, 16, 32, 64, 128):
            if by < size:
                ways.append((f"{{i}} // {by}", partial(_floor, by, 1)))
                ways.append((f"{{i}} // {by} * {by}", partial(_floor, by, by)))
                ways.append((f"{{i}} * {by}", partial(np.multiply, by)))
                ways.append((f"{{i}} % {by}", partial(_rest, by)))
        for form, way in ways:
            yield _taken(tensor, axis, form), partial(_gathered, stored, axis, way)


def _floor(by: int, times: int, index: np.ndarray) -> np.ndarray:
    return index // by * times


def _rest(by: int, index: np.ndarray) -> np.ndarray:
    return index % by


def _gathered(stored: np.ndarray, axis: int, way: Indexes) -> np.ndarray:
    """Elements of other indexes of an axis, zeros for those that it does not have."""
    size = stored.shape[axis]
    there = way(np.arange(size))
    inside = (there >= 0) & (there < size)
    changed = stored.take(np.where(inside, there, 0), axis=axis)
    changed[_at(axis, ~inside)] = 0
    return changed


def _taken(tensor: Tensor, axis: int, form: str) -> str:
    """In words that elements of another index are taken; `form` says which, with `{i}` for the right one."""
    rank = len(tensor.shape)
    names = [*(f"i{one}" for one in range(rank - 2)), *("ij" if rank > 1 else "i")]
    there = ", ".join(form.format(i=name) if at == axis else name for at, name in enumerate(names))
    return f"`{tensor.name}[{there}]` is taken for `{tensor.name}[{', '.join(names)}]`"


def _pack(tensor: Tensor, axis: int) -> int:
    """Elements of an axis to one that is stored."""
    return DTYPES[tensor.dtype].pack if axis == len(tensor.shape) - 1 else 1


def _noun(axis: int, rank: int) -> str:
    if rank == 1:
        return "element"
    return {rank - 1: "column", rank - 2: "row"}.get(axis, f"axis {axis} indexe")
