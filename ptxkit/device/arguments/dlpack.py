"""DLPack, the exchange of arrays without a copy: reading a producer's address, and being a producer.

Source: dlpack.h of DLPack 0.8 (unversioned `DLManagedTensor`, which every consumer still takes) and the
Python array API's `__dlpack__` and `__dlpack_device__`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from ptxkit.diagnostics import counted

CUDA, CUDA_HOST, CUDA_MANAGED = 2, 3, 13
"""`kDLCUDA`, `kDLCUDAHost`, `kDLCUDAManaged`: memory that a kernel can address."""

CPU = 1
"""`kDLCPU`."""

_KINDS = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
"""`DLDataTypeCode` by numpy's kind."""
_NAMED = {"bfloat16": 4, "float8_e4m3fn": 10, "float8_e5m2": 12, "float8_e8m0fnu": 14}
"""`DLDataTypeCode` of the ml_dtypes types; the 8-bit ones came with DLPack 1.1."""


class _Device(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    """`DLTensor`."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _ManagedTensor(ctypes.Structure):
    """`DLManagedTensor`."""


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_ManagedTensor))
_ManagedTensor._fields_ = [("tensor", _Tensor), ("manager_context", ctypes.c_void_p), ("deleter", _Deleter)]


@dataclass(frozen=True, slots=True)
class View:
    """What a DLPack array says of itself.

    Attributes:
        address: of the first element.
        shape: in elements, outermost first.
        strides: in elements; None for a dense array.
        dtype: of an element.
    """

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    dtype: np.dtype


def is_on_device(array: Any) -> bool:
    """Whether a kernel can address a DLPack array."""
    return int(array.__dlpack_device__()[0]) in (CUDA, CUDA_HOST, CUDA_MANAGED)


def view(array: Any) -> View:
    """What a DLPack array on a device says of itself.

    No synchronisation takes place, and the caller keeps the array alive.

    Raises:
        BufferError: numpy and ml_dtypes have no such element type.
    """
    _capsule, tensor = _open(array)
    dimensions = range(tensor.ndim)
    return View(
        _address(tensor),
        tuple(tensor.shape[i] for i in dimensions),
        tuple(tensor.strides[i] for i in dimensions) if tensor.strides else None,
        _dtype(tensor.dtype),
    )


def _dtype(found: _DataType) -> np.dtype:
    size = found.bits // 8
    if found.lanes == 1 and found.bits in (8, 16, 32, 64, 128):
        for kind, code in _KINDS.items():
            if code == found.code:
                return np.dtype(f"{kind}{size}")
        for name, code in _NAMED.items():
            if code == found.code:
                return np.dtype(getattr(ml_dtypes, name))
    raise BufferError(
        f"no numpy type for DLPack type {found.code} of {found.bits} bits, {counted(found.lanes, 'lane')}"
    )


def device_address(array: Any) -> int | None:
    """The address of the first element of a DLPack array that a kernel can address, else None."""
    if not is_on_device(array):
        return None
    _capsule, tensor = _open(array)
    return _address(tensor)


def _open(array: Any) -> tuple[object, _Tensor]:
    """A capsule, which frees itself when dropped, and the tensor in it. Stream -1: nobody waits."""
    capsule = array.__dlpack__(stream=-1)
    return capsule, _Tensor.from_address(_pointer_of(id(capsule), _NAME))


def _address(tensor: _Tensor) -> int:
    return int(tensor.data or 0) + int(tensor.byte_offset)


def export(
    owner: object, address: int, shape: Sequence[int], dtype: np.dtype, device: tuple[int, int]
) -> Any:
    """A DLPack capsule over memory that `owner` holds; whoever takes it keeps `owner` alive.

    Args:
        owner: what must live as long as the consumer's array.
        address: of the first element; the array is dense, last dimension innermost.
        shape: in elements.
        dtype: numpy or ml_dtypes type of an element.
        device: `(device type, ordinal)`, as `__dlpack_device__` gives it.

    Raises:
        BufferError: DLPack has no such element type (what its protocol prescribes).
    """
    code = _NAMED.get(dtype.name, _KINDS.get(dtype.kind))
    if code is None:
        raise BufferError(f"DLPack has no type for `{dtype}`")
    extents = (ctypes.c_int64 * len(shape))(*shape)
    tensor = _Tensor(
        data=address,
        device=_Device(*device),
        ndim=len(shape),
        dtype=_DataType(code, dtype.itemsize * 8, 1),
        shape=extents,
    )
    managed = _ManagedTensor(tensor=tensor, deleter=_release)
    pointer = ctypes.addressof(managed)
    _exported[pointer] = (managed, extents, owner)
    return _new_capsule(pointer, _NAME, ctypes.cast(_drop_capsule, ctypes.c_void_p))


_exported: dict[int, tuple[object, ...]] = {}
"""What consumers still hold, by the address of its `DLManagedTensor`."""


@_Deleter
def _release(managed: Any) -> None:
    _exported.pop(ctypes.addressof(managed.contents), None)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _drop_capsule(capsule: int) -> None:
    # A consumer renames the capsule and calls the deleter itself; one still called `dltensor` was not taken.
    if _is_valid(capsule, _NAME):
        _exported.pop(_pointer_of(capsule, _NAME), None)


_NAME = b"dltensor"
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
# In a destructor the capsule has no references left, so it is handed on as a bare pointer.
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
