"""The runtime API, `libcudart.so.13`: for programs whose CUDA runtime is linked as a shared library. It
stands on the functions of `ptxkit.virtual.driver`, as NVIDIA's does on the driver's.
"""

from __future__ import annotations

from importlib import import_module

from ptxkit.virtual.dispatch import FunctionTable
from ptxkit.virtual.runtime.state import failed
from ptxkit.virtual.symbols import ExportedSymbol, table

runtime = FunctionTable()
"""What `libcudart.so.13` does."""

CHAPTERS = (
    "same",
    "registration",
    "device",
    "errors",
    "memory",
    "arrays",
    "textures",
    "execution",
    "graph",
    "entry_point",
)

__all__ = ["failed", "load", "runtime", "symbols"]


def symbols() -> tuple[ExportedSymbol, ...]:
    """What the library exports."""
    return table("runtime")


def load() -> FunctionTable:
    """All functions of the runtime API."""
    from ptxkit.virtual import driver

    driver.load()
    for chapter in CHAPTERS:
        import_module(f"{__name__}.{chapter}")
    return runtime
