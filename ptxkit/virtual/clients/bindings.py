"""cuda.bindings: its CUDA runtime, which is linked in and asks the driver for private tables, and NVRTC.

A module of Cython's shares its functions with those that wrap them by `__pyx_capi__`, a dictionary of
capsules, each named by the function's type. A capsule with the same name and another function leads them
there: those of the runtime to our libcudart's, and NVRTC's machine code to its PTX, which is what a virtual
GPU takes for machine code.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

from ptxkit.virtual.options import LIBRARIES_VARIABLE

RELEASE = "13."
"""Whose runtime's structures our libcudart has."""

_api: Any = ctypes.pythonapi
_api.PyCapsule_GetName.restype, _api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_names: list[bytes] = []
"""Capsules don't copy their names."""


def prepare_runtime(module: Any) -> None:
    """Let the functions of `module` be our libcudart's, before anyone takes them from it."""
    import cuda.bindings

    folder = os.environ.get(LIBRARIES_VARIABLE)
    if not folder or not cuda.bindings.__version__.startswith(RELEASE):
        return
    library = ctypes.CDLL(str(Path(folder, "libcudart.so.13")), mode=ctypes.RTLD_GLOBAL)
    shared = module.__pyx_capi__
    per_thread = os.environ.get("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM", "0") not in ("", "0")
    suffixes = ("_ptsz", "_ptds", "") if per_thread else ("",)
    for name, capsule in list(shared.items()):
        symbol = name.removeprefix("_")
        known = (getattr(library, symbol + suffix, None) for suffix in suffixes)
        function = next((one for one in known if one is not None), None)
        if function is None or not symbol.startswith("cuda"):
            continue  # a helper that calls nothing
        _names.append(_api.PyCapsule_GetName(capsule))
        address = ctypes.cast(function, ctypes.c_void_p).value
        shared[name] = _api.PyCapsule_New(address, _names[-1], None)


def prepare_nvrtc(module: Any) -> None:
    """Let NVRTC's functions that give machine code give the PTX that it would be made of."""
    shared = module.__pyx_capi__
    for suffix in ("", "Size"):
        shared[f"_nvrtcGetCUBIN{suffix}"] = shared[f"_nvrtcGetPTX{suffix}"]
