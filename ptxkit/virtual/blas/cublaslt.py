"""`libcublasLt.so.13`."""

from __future__ import annotations

from ptxkit.virtual.blas import load
from ptxkit.virtual.blas.status import failed
from ptxkit.virtual.symbols import ExportedSymbol, table

__all__ = ["failed", "load", "symbols"]


def symbols() -> tuple[ExportedSymbol, ...]:
    """What the library exports."""
    return table("cublaslt")
