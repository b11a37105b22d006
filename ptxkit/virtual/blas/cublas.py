"""`libcublas.so.13`. It has cuBLASLt's functions, too: NVIDIA's brings that library along, and programs take
these functions from its handle. A second file would not do: where a process has NVIDIA's libcublasLt, the
loader would take that one for it.
"""

from __future__ import annotations

from ptxkit.virtual.blas import load
from ptxkit.virtual.blas.status import failed
from ptxkit.virtual.symbols import ExportedSymbol, table

__all__ = ["failed", "load", "symbols"]


def symbols() -> tuple[ExportedSymbol, ...]:
    """What the library exports."""
    return tuple(sorted(table("cublas") + table("cublaslt"), key=lambda symbol: symbol.name))
