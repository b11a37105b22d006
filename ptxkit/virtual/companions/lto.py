"""LTO-IR to PTX, by NVIDIA's own nvJitLink where it is installed. Its manual, `-lto -ptx`."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ptxkit.virtual.results import failure

NAME = "libnvJitLink.so.13"
FOLDERS = ("nvidia/cu13/lib", "nvidia/nvjitlink/lib")
"""Where Python packages have it; a toolkit has it below `CUDA_HOME`."""
INPUT_LTOIR = 3
_DEEPBIND = 8
"""Ours is loaded already and has the same symbols: theirs must find their own."""


def real_library() -> Path | None:
    """NVIDIA's nvJitLink, if it is installed."""
    places = [Path(folder, inner) for folder in sys.path if folder for inner in FOLDERS]
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH") or "/usr/local/cuda"
    places += [Path(home, "lib64"), Path(home, "lib")]
    return next((place / NAME for place in places if (place / NAME).exists()), None)


def ptx_of_ltoir(inputs: Sequence[tuple[bytes, str]], options: Sequence[str]) -> str:
    """The PTX of several inputs of LTO-IR.

    Args:
        inputs: contents and name of each.
        options: of the link, `-arch` among them.

    Raises:
        DriverError: NOT_SUPPORTED, nothing is installed that can do it; INVALID_IMAGE with what it says.
    """
    path = real_library()
    if path is None:
        why = "LTO-IR becomes PTX by NVIDIA's nvJitLink, which is missing: `pip install nvidia-nvjitlink`"
        raise failure("NOT_SUPPORTED", why)
    library: Any = ctypes.CDLL(str(path), mode=ctypes.RTLD_LOCAL | _DEEPBIND)
    words = [*(option for option in options if option not in ("-lto", "-ptx")), "-lto", "-ptx"]
    given = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
    handle = ctypes.c_void_p()
    _check(library, handle, library.nvJitLinkCreate(ctypes.byref(handle), len(words), given))
    try:
        for data, name in inputs:
            added = library.nvJitLinkAddData(
                handle, INPUT_LTOIR, data, ctypes.c_size_t(len(data)), name.encode()
            )
            _check(library, handle, added)
        _check(library, handle, library.nvJitLinkComplete(handle))
        size = ctypes.c_size_t()
        _check(library, handle, library.nvJitLinkGetLinkedPtxSize(handle, ctypes.byref(size)))
        text = ctypes.create_string_buffer(size.value)
        _check(library, handle, library.nvJitLinkGetLinkedPtx(handle, text))
        return text.value.decode() + "\n"
    finally:
        library.nvJitLinkDestroy(ctypes.byref(handle))


def _check(library: Any, handle: ctypes.c_void_p, code: int) -> None:
    if not code:
        return
    size = ctypes.c_size_t()
    log = ""
    if handle and not library.nvJitLinkGetErrorLogSize(handle, ctypes.byref(size)) and size.value:
        text = ctypes.create_string_buffer(size.value + 1)
        library.nvJitLinkGetErrorLog(handle, text)
        log = text.value.decode(errors="replace").strip()
    raise failure("INVALID_IMAGE", f"nvJitLink returns {code}: {log}")
