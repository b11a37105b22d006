"""From a Python value to the bytes of one parameter."""

from __future__ import annotations

import ctypes
import numbers
import struct
from collections.abc import Callable, Iterator, Sequence
from operator import index
from typing import Any

import numpy as np

from ptxkit import dtypes
from ptxkit.device.arguments import dlpack
from ptxkit.device.arguments.parameter import FORMATS, Parameter
from ptxkit.diagnostics import Diagnostic, counted

_GIVEN_WIDTH = 48
"""Longest description of a given value in the parameter table."""

_FLOAT_SCALARS = {
    16: "`np.float16(x)`, `ml_dtypes.bfloat16(x)`",
    32: "`np.float32(x)`",
    64: "`np.float64(x)`",
}

_BLOCKS = (bytes, bytearray, memoryview, ctypes.Structure, ctypes.Union, ctypes.Array)
"""Python objects that are one block of host memory."""

AddressOf = Callable[[Any], int | None]
"""Gives the device address that an argument stands for, or None where it stands for none."""


def device_address(value: Any) -> int | None:
    """The device address of a buffer: `.address`, `__cuda_array_interface__` or DLPack.

    None for all other values, arrays in host memory among them.
    """
    if isinstance(value, type):
        return None
    address = getattr(value, "address", None)
    if type(address) is int:
        return address
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        return int(interface["data"][0])
    return dlpack.device_address(value) if hasattr(value, "__dlpack_device__") else None


def is_device_array(value: Any) -> bool:
    """Whether a value is an array that a kernel can address; its `__bytes__`, if any, copies it."""
    if hasattr(value, "__cuda_array_interface__"):
        return True
    return hasattr(value, "__dlpack_device__") and dlpack.is_on_device(value)


def describe(value: Any) -> str:
    """What a value is, in a few words, for the parameter table."""
    if isinstance(value, type):
        text = f"the class {value.__name__}"
    elif isinstance(value, np.ndarray):
        text = f"numpy {value.dtype}{list(value.shape)}"
    elif isinstance(value, bytes | bytearray | memoryview):
        text = counted(memoryview(value).nbytes, "byte")
    elif isinstance(value, bool | int | float | np.generic):
        text = f"{type(value).__name__} {value!s}"
    elif isinstance(value, Sequence) and not isinstance(value, str):
        text = f"{type(value).__name__} of {len(value)}"
    elif hasattr(value, "shape") and hasattr(value, "dtype"):
        text = f"{type(value).__name__} {value.dtype}{list(value.shape)}"
    else:
        text = f"{type(value).__name__} {value!r}" if value is not None else "None"
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= _GIVEN_WIDTH else text[: _GIVEN_WIDTH - 3] + "..."


class UnfitError(Exception):
    """A value that does not fit its parameter; `pack` makes it a diagnostic."""

    def __init__(self, code: str, why: str, help: str | None = None) -> None:
        super().__init__(why)
        self.code = code
        self.why = why
        self.help = help

    def diagnostic(self, parameter: Parameter) -> Diagnostic:
        message = f"argument {parameter.index}, `{parameter.name}`: {self.why}"
        return Diagnostic(self.code, message, parameter.span, help=self.help)


def encode(parameter: Parameter, value: Any, resolve: AddressOf) -> bytes:
    """The parameter's bytes."""
    if parameter.dimensions or parameter.type == "f16x2":
        return _encode_aggregate(parameter, value, resolve)
    if parameter.takes_address:
        if parameter.pointer is not None and isinstance(value, int | np.integer) and value < 0:
            raise UnfitError("P503", f"expected an address, from 0 to {(1 << 64) - 1}, found {value}")
        encoded = _encode_scalar(parameter.type, value, resolve)
        address = int.from_bytes(encoded, "little")
        if address % parameter.pointee_alignment:
            promised = parameter.pointee_alignment
            why = f"the signature promises an address aligned to {promised} bytes, found {address:#x}"
            raise UnfitError("P506", why, f"align the address, or lower `.align {promised}` in the `.entry`")
        return encoded
    return _encode_scalar(parameter.type, value, resolve)


def _encode_scalar(type_name: str, value: Any, resolve: AddressOf) -> bytes:
    dtype = dtypes.dtype(type_name)
    raw = _raw_bytes(value, dtype.bytes)
    if raw is not None:
        return raw
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if dtype.is_float:
        return _encode_float(dtype, value)
    if dtype.bits == 64 and not isinstance(value, int | np.generic):
        address = resolve(value)
        if address is not None:
            return (address & 0xFFFF_FFFF_FFFF_FFFF).to_bytes(8, "little")
    try:
        return _encode_integer(dtype, int(value) if isinstance(value, np.bool_) else index(value))
    except TypeError:
        pass
    is_float_scalar = isinstance(value, np.generic) and value.dtype.kind in "fV"
    if is_float_scalar and dtype.kind is dtypes.Kind.BITS and value.dtype.itemsize == dtype.bytes:
        return value.tobytes()
    raise _mismatch(dtype, value)


def _encode_integer(dtype: dtypes.DType, number: int) -> bytes:
    # Compilers write `.u32` and `.u64` for signed integers, too: a negative number is its two's complement.
    bits = dtype.bits
    low = -(1 << (bits - 1))
    high = (1 << (bits - 1 if dtype.is_signed else bits)) - 1
    if low <= number <= high:
        return (number & ((1 << bits) - 1)).to_bytes(dtype.bytes, "little")
    help = None
    if high < number < 1 << bits:
        help = f"for the same {bits} bits pass {number - (1 << bits)}"
    found = str(number) if abs(number) < 1 << 80 else f"an int of {number.bit_length()} bits"
    why = f"expected `.{dtype.name}`, from {low} to {high}, found {found}"
    raise UnfitError("P503", why, help)


def _encode_float(dtype: dtypes.DType, value: Any) -> bytes:
    if isinstance(value, np.generic) and value.dtype == dtypes.numpy_dtype(dtype.name):
        return value.tobytes()
    is_number = isinstance(value, numbers.Real) or getattr(value, "dtype", np.dtype("O")).kind in "fV"
    if isinstance(value, bool) or not is_number:
        raise _mismatch(dtype, value)
    try:
        return struct.pack("<" + FORMATS[dtype.name], float(value))
    except (OverflowError, ValueError, TypeError):
        largest = {"f16": "65504", "f32": "3.4028235e+38", "f64": "1.7976931348623157e+308"}[dtype.name]
        why = f"expected `.{dtype.name}`, at most {largest} in magnitude, found {describe(value)}"
        raise UnfitError("P503", why, "pass `float('inf')` where infinity is meant") from None


def _encode_aggregate(parameter: Parameter, value: Any, resolve: AddressOf) -> bytes:
    type_name, dimensions = parameter.type, parameter.dimensions
    if type_name == "f16x2":
        type_name, dimensions = "f16", (*dimensions, 2)
    raw = _raw_bytes(value, parameter.size)
    if raw is not None:
        return raw
    if isinstance(value, np.ndarray) and value.shape != dimensions:
        if type_name == "b8" and value.nbytes == parameter.size:
            return value.tobytes()
        why = f"expected {counted(parameter.size, 'byte')}, shape {list(dimensions)}, found {describe(value)}"
        raise UnfitError("P505", why)
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
        return b"".join(_encode_scalar(type_name, e, resolve) for e in _flatten(value, dimensions))
    if resolve(value) is not None:
        why = f"`.{type_name}` of {counted(parameter.size, 'byte')} is passed by value, found a device buffer"
        raise UnfitError("P502", why, "give `buffer.numpy()`, or make the parameter a pointer, `.u64`")
    shape = list(dimensions)
    why = (
        f"expected {counted(parameter.size, 'byte')} or a sequence of shape {shape}, found {describe(value)}"
    )
    raise UnfitError("P502", why)


def _flatten(value: Any, dimensions: tuple[int, ...]) -> Iterator[Any]:
    if not dimensions:
        yield value
        return
    if not isinstance(value, Sequence | np.ndarray) or isinstance(value, str):
        raise UnfitError("P505", f"expected a sequence of {dimensions[0]}, found {describe(value)}")
    if len(value) != dimensions[0]:
        raise UnfitError("P505", f"expected {counted(dimensions[0], 'element')}, found {len(value)}")
    for element in value:
        yield from _flatten(element, dimensions[1:])


def _raw_bytes(value: Any, size: int) -> bytes | None:
    """The bytes of an object that is one block of memory: bytes, ctypes and numpy structures, `__bytes__`."""
    if isinstance(value, np.generic | np.ndarray):
        if value.dtype.names is None:
            return None
        raw = value.tobytes()
    elif isinstance(value, _BLOCKS) or (hasattr(type(value), "__bytes__") and not is_device_array(value)):
        raw = bytes(value)
    else:
        return None
    if len(raw) != size:
        why = f"expected {counted(size, 'byte')}, found {type(value).__name__} of {len(raw)}"
        raise UnfitError("P505", why)
    return raw


def _mismatch(dtype: dtypes.DType, value: Any) -> UnfitError:
    expected = "a number" if dtype.is_float else "a device buffer or an int" if dtype.bits == 64 else "an int"
    why = f"expected {expected} for `.{dtype.name}`, found {describe(value)}"
    return UnfitError("P502", why, _advice(dtype, value))


def _advice(dtype: dtypes.DType, value: Any) -> str | None:
    if value is None and dtype.bits == 64:
        return "pass 0 for a null pointer"
    if dtype.bits == 64 and (isinstance(value, np.ndarray) or hasattr(value, "__dlpack_device__")):
        return "the array is in host memory; copy it first: `device.array(array)`"
    if dtype.is_float:
        return None
    if dtype.kind is dtypes.Kind.BITS and isinstance(value, numbers.Real) and dtype.bits in _FLOAT_SCALARS:
        return f"an untyped parameter takes a float scalar of its own width: {_FLOAT_SCALARS[dtype.bits]}"
    if isinstance(value, float | np.floating):
        return "convert it: `int(x)`"
    return None
