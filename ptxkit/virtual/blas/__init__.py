"""cuBLAS and cuBLASLt: matrix products, which numpy computes on a virtual GPU's memory, in stream order.
cuBLAS's manual.

`cublas` and `cublaslt` are the two libraries, which share this table of functions; `product` is the work that
they queue.
"""

from __future__ import annotations

from importlib import import_module

from ptxkit.virtual.dispatch import FunctionTable

blas = FunctionTable()
"""What `libcublas.so.13` and `libcublasLt.so.13` do."""

CHAPTERS = ("handles", "transfers", "gemm", "descriptors", "matmul")


def load() -> FunctionTable:
    """All functions of both libraries."""
    for chapter in CHAPTERS:
        import_module(f"{__name__}.{chapter}")
    return blas
