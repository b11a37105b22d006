"""The driver API: a module a chapter of its manual, with what each function does. `ptxkit.virtual.dispatch`
calls them; `ptxkit.virtual.gpu` has what they work on.
"""

from __future__ import annotations

from importlib import import_module

from ptxkit.virtual.dispatch import FunctionTable
from ptxkit.virtual.symbols import ExportedSymbol, table

driver = FunctionTable()
"""What `libcuda.so.1` does."""

CHAPTERS = tuple(
    """
    initialization device context module library memory arrays copies textures texture_references
    interprocess unified managed pools virtual_memory multicast logical_endpoint stream event graph
    graph_nodes graph_memory graph_conditional user_objects capture execution occupancy tensor_map entry_point
    """.split()
)


def symbols() -> tuple[ExportedSymbol, ...]:
    """What the library exports."""
    return table("driver")


def load() -> FunctionTable:
    """All functions of the driver API."""
    for chapter in CHAPTERS:
        import_module(f"{__name__}.{chapter}")
    return driver
