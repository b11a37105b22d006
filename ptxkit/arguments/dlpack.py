"""DLPack, the exchange of arrays without a copy: reading a producer's address, and being a producer.

Source: dlpack.h of DLPack 0.8 (unversioned `DLManagedTensor`, which every consumer still takes) and the
Python array API's `__dlpack__` and `__dlpack_device__`.
"""

from __future__ import annotations

import ctypes
from typing import Any

CUDA, CUDA_HOST, CUDA_MANAGED = 2, 3, 13
"""`kDLCUDA`, `kDLCUDAHost`, `kDLCUDAManaged`: memory that a kernel can address."""

_KINDS = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_BFLOAT = 4


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
_ManagedTensor._fields_ = [
    ("tensor", _Tensor),
    ("manager_context", ctypes.c_void_p),
    ("deleter", _Deleter),
]

_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype = ctypes.c_void_p
_get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def device_address(array: Any) -> int | None:
    """The address of the first element of a DLPack array that a kernel can address, else None.

    No synchronisation takes place, and the caller keeps the array alive.
    """
    if int(array.__dlpack_device__()[0]) not in (CUDA, CUDA_HOST, CUDA_MANAGED):
        return None
    capsule = array.__dlpack__(stream=-1)
    tensor = _Tensor.from_address(_get_pointer(capsule, b"dltensor"))
    return int(tensor.data or 0) + int(tensor.byte_offset)
