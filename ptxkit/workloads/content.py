"""A tensor's first content as bytes on the host, its values as numbers, and the poison of outputs."""

from __future__ import annotations

import zlib
from pathlib import Path
from tokenize import TokenError

import numpy as np
from numpy.lib.format import MAGIC_PREFIX

from ptxkit.card import Initial
from ptxkit.diagnostics import PtxkitError, error, reason
from ptxkit.dtypes import DTYPES, Kind, numpy_dtype
from ptxkit.support.atomic_file import write_atomically
from ptxkit.workloads.problem import Tensor

FLOAT_POISON = 0xFF
"""Every byte of an unwritten floating-point output: a NaN in all types that have one."""
INTEGER_POISON = 0xA5
"""Every byte of an unwritten integer output."""
NPY = '`numpy.save("x.npy", array)` writes one'
"""What to do where a `.npy` is not there or is none."""


def fill(tensor: Tensor, initial: Initial, seed: int) -> np.ndarray:
    """The stored array for an initial content.

    Each tensor draws from a stream of its own, so that changing one leaves the others as they were.

    Raises:
        PtxkitError: P555 (no such `.npy`, or not one), P556 (its type or shape isn't the tensor's).
    """
    if initial.file is not None:
        return load(tensor, Path(initial.file))
    rng = np.random.default_rng([seed, zlib.crc32(tensor.name.encode())])
    shape = tensor.shape
    values = initial.values
    is_float = DTYPES[tensor.dtype].is_float
    match initial.kind:
        case "undefined":
            return poison(tensor)
        case "zeros":
            return encode(tensor, np.zeros(shape))
        case "ones":
            return encode(tensor, np.ones(shape))
        case "full":
            return encode(tensor, np.full(shape, values[0]))
        case "arange":
            return encode(tensor, np.arange(tensor.elements).reshape(shape))
        case "randn":
            return encode(tensor, rng.standard_normal(shape))
        case "uniform":
            return encode(tensor, rng.uniform(values[0], values[1], shape))
        case "randint":
            return encode(tensor, rng.integers(int(values[0]), int(values[1]), shape))
        case "bits":
            drawn = rng.integers(0, 256, tensor.nbytes, np.uint8)
            return _view(tensor, _finite(tensor, drawn) if is_float else drawn)
    raise AssertionError(f"no generator `{initial.kind}`")


def _finite(tensor: Tensor, drawn: np.ndarray) -> np.ndarray:
    """Random bits of a floating-point type with the NaN and infinity patterns turned into zeros."""
    stored = _view(tensor, drawn)
    if DTYPES[tensor.dtype].pack == 1:
        with np.errstate(invalid="ignore"):
            stored[~np.isfinite(stored.astype(np.float64))] = 0
    return stored.reshape(-1).view(np.uint8)


def load(tensor: Tensor, path: Path) -> np.ndarray:
    """A `.npy` in the tensor's type and shape; unsigned integers of its width serve as raw bits.

    Raises:
        PtxkitError: P555 (no such file, or not a `.npy`), P556 (its type or shape isn't the tensor's).
    """
    array = map_npy(tensor.name, path)
    bits = np.dtype(f"u{tensor.storage_dtype.itemsize}")
    raw = array.dtype == bits or (array.dtype.kind == "V" and array.dtype.names is None)
    if array.dtype != tensor.storage_dtype and not (raw and array.dtype.itemsize == bits.itemsize):
        other = f"{tensor.storage_dtype}, or as " if tensor.storage_dtype != bits else ""
        raise error(
            "P556",
            f"expected `.{tensor.dtype}` for `{tensor.name}`, found `{array.dtype}` in `{path}`",
            help=f"save it as {other}{bits} holding the bits",
        )
    if array.shape != tensor.storage_shape:
        shown = "stored as " if tensor.storage_shape != tensor.shape else ""
        message = (
            f"expected shape {_shown(tensor.storage_shape)} for `{tensor.name}`, found {_shown(array.shape)}"
        )
        raise error(
            "P556", f"{message} in `{path}`", help=f"it is {shown}{tensor.storage_dtype}, outermost first"
        )
    return np.array(array, order="C").view(tensor.storage_dtype)


def map_npy(name: str, path: Path) -> np.ndarray:
    """The array of a `.npy`, mapped rather than read, in this machine's byte order.

    Raises:
        PtxkitError: P555, there is no such file, or it is no `.npy`.
    """
    try:
        with path.open("rb") as file:
            begin = file.read(len(MAGIC_PREFIX))
        if begin != MAGIC_PREFIX:
            what = "an archive of several" if begin.startswith(b"PK") else "another kind of file"
            raise _no_npy(name, path, what)
        array: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise error("P555", f"expected a `.npy` for `{name}`, found no file `{path}`", help=NPY) from None
    except OSError as problem:
        raise _no_npy(name, path, reason(problem)) from None
    except (ValueError, EOFError, OverflowError, SyntaxError, TypeError, KeyError, TokenError) as problem:
        raise _no_npy(name, path, _broken(str(problem))) from None
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _no_npy(name: str, path: Path, what: str) -> PtxkitError:
    return error("P555", f"expected a `.npy` for `{name}`, found `{path}`: {what}", help=NPY)


def _broken(said: str) -> str:
    """What is wrong with a `.npy`, in place of what numpy says."""
    known = {
        "object": "it holds Python objects",
        "mmap": "its data is cut off",
        "version": "of an unknown version",
    }
    return next(
        (what for word, what in known.items() if word in said and " at 0x" not in said),
        "its header is broken",
    )


def save(tensor: Tensor, array: np.ndarray, path: Path) -> None:
    """Write the stored array as `.npy`, whole or not at all. Types that numpy doesn't know go as their bits.

    Raises:
        PtxkitError: P567, the file can't be written.
    """
    known = array.dtype.type.__module__ == "numpy"
    stored = array if known else array.view(f"u{array.dtype.itemsize}")
    write_atomically(path, lambda file: np.save(file, stored, allow_pickle=False))


def encode(tensor: Tensor, values: np.ndarray) -> np.ndarray:
    """Numbers in the tensor's shape as stored, rounded to its type; integers wrap."""
    dtype = DTYPES[tensor.dtype]
    if dtype.kind is Kind.PREDICATE:
        return values.astype(bool)
    if dtype.pack == 1:
        with np.errstate(over="ignore", invalid="ignore"):
            if dtype.is_float:
                return values.astype(tensor.storage_dtype)
            return np.asarray(values).astype(np.int64).astype(tensor.storage_dtype)
    codes = _codes(tensor.dtype, values)
    if codes.shape[-1] % 2:
        codes = np.concatenate([codes, np.zeros_like(codes[..., :1])], axis=-1)
    return codes[..., 0::2] | (codes[..., 1::2] << 4)


def _codes(name: str, values: np.ndarray) -> np.ndarray:
    """The 4-bit code of each value."""
    if DTYPES[name].is_float:
        return values.astype(numpy_dtype(name)).view(np.uint8) & np.uint8(15)
    return values.astype(np.int64).astype(np.uint8) & np.uint8(15)


def decode(tensor: Tensor, stored: np.ndarray) -> np.ndarray:
    """What is stored as numbers in the tensor's shape: float64, or integers of 64 bits."""
    dtype = DTYPES[tensor.dtype]
    if dtype.pack > 1:
        codes = np.stack([stored & 15, stored >> 4], axis=-1).reshape(*stored.shape[:-1], -1)
        codes = codes[..., : tensor.shape[-1]]
        if dtype.is_float:
            return np.asarray(codes.view(numpy_dtype(tensor.dtype)).astype(np.float64))
        numbers = codes.astype(np.int64)
        return np.where(numbers > 7, numbers - 16, numbers) if dtype.is_signed else numbers
    if dtype.is_float:
        with np.errstate(invalid="ignore"):
            return np.asarray(stored.astype(np.float64))
    return np.asarray(stored.astype(np.int64 if stored.dtype != np.uint64 else np.uint64))


def poison(tensor: Tensor) -> np.ndarray:
    """What an output holds before the launch, so that what the kernel leaves out is seen."""
    byte = FLOAT_POISON if DTYPES[tensor.dtype].is_float else INTEGER_POISON
    return _view(tensor, np.full(tensor.nbytes, byte, np.uint8))


def still_poisoned(tensor: Tensor, stored: np.ndarray) -> np.ndarray:
    """Which elements hold the poison bit for bit; for packed types none is ever said to."""
    if DTYPES[tensor.dtype].pack > 1:
        return np.zeros(tensor.shape, bool)
    bits = f"u{stored.dtype.itemsize}"
    return np.asarray(np.ascontiguousarray(stored).view(bits) == poison(tensor).view(bits))


def _view(tensor: Tensor, data: np.ndarray) -> np.ndarray:
    if tensor.storage_dtype == np.dtype(bool):
        data = data & 1
    return data.view(tensor.storage_dtype).reshape(tensor.storage_shape)


def _shown(shape: tuple[int, ...]) -> str:
    return "x".join(str(extent) for extent in shape) or "a single element"
