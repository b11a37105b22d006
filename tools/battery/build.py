"""What nvcc makes of a source: PTX for a target at a level, and a library with the references."""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import subprocess
from pathlib import Path

import numpy as np

from .source import DTYPES, EXACT, SOURCES, Array, Kernel, Source

FOLDER = Path(__file__).resolve().parents[2] / "build" / "battery"
TARGETS = ("75", "80", "86", "90a", "100a", "120a", "121")
LEVELS = {"O0": ("-O0", "-G"), "O1": ("-Xcicc", "-O1"), "O3": ("-O3",)}
COMMON = ("-std=c++17", "-diag-suppress", "20054,177,550,39,186")
HOST = ("-shared", "-arch=sm_90", "-Xcompiler", "-fPIC,-O1,-ffp-contract=off,-frounding-math,-fwrapv")


class CompilerError(Exception):
    """nvcc refused a source."""


def compiler() -> str:
    """The version of nvcc."""
    said = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"V(\d+\.\d+\.\d+)", said)
    return f"nvcc {found[1]}" if found else said.strip()


def ptx(source: Source, target: str, level: str) -> str:
    """A source's PTX.

    Raises:
        CompilerError: what nvcc said.
    """
    flags = (*COMMON, f"-arch=sm_{target}", *LEVELS[level], *source.flags, "-ptx")
    return _made(source, flags, "ptx").read_text(encoding="utf-8")


def references(source: Source) -> ctypes.CDLL:
    """The library of a source's references."""
    return ctypes.CDLL(str(_made(source, (*COMMON, *HOST, *source.flags), "so")))


def _made(source: Source, flags: tuple[str, ...], suffix: str) -> Path:
    """What nvcc makes with some flags; made once for each text of the source and the headers."""
    texts = [path.read_bytes() for path in (source.path, *sorted(SOURCES.glob("*.cuh")))]
    key = hashlib.sha256(b"\0".join([*texts, *(flag.encode() for flag in flags)])).hexdigest()[:16]
    path = FOLDER / f"{source.name}.{key}.{suffix}"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_suffix(f".{os.getpid()}.part")
        command = ["nvcc", *flags, str(source.path), "-o", str(half)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise CompilerError(f"{' '.join(command)}\n{done.stderr or done.stdout}")
        half.rename(path)
    return path


def expected(library: ctypes.CDLL, kernel: Kernel, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """What a kernel's reference computes: bits, or for inexact results wider numbers."""
    outputs = [
        np.zeros(array.size(kernel.threads), reference_dtype(kernel, array)) for array in kernel.outputs
    ]
    function = getattr(library, f"{kernel.name}_reference")
    function(*(ctypes.c_void_p(array.ctypes.data) for array in (*inputs, *outputs)), kernel.threads)
    return outputs


def reference_dtype(kernel: Kernel, array: Array) -> np.dtype:
    """The type of the elements that a kernel's reference writes to an output."""
    return DTYPES[array.dtype] if kernel.ulp is None else EXACT[array.dtype]
