"""Benchmarks: kernels verified, timed in trials beside the empty kernel and the memory roof, and compared.

The vocabulary is nvbench's: a *state* is a kernel at one set of sizes, an *axis* a size with several values,
a *sample* one timed execution, *noise* the samples' relative standard deviation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.support.lazy import lazy_names

if TYPE_CHECKING:
    from ptxkit.bench.axes import Axis as Axis
    from ptxkit.bench.bench import Bench as Bench
    from ptxkit.bench.measurement import BenchState as BenchState
    from ptxkit.bench.measurement import Roof as Roof
    from ptxkit.bench.measurement import document as document
    from ptxkit.bench.schedule import Schedule as Schedule
    from ptxkit.bench.settings import Settings as Settings
    from ptxkit.bench.statistics import Figure as Figure
    from ptxkit.bench.statistics import StoppingRule as StoppingRule
    from ptxkit.bench.statistics import Trial as Trial

_HOMES = {
    "Axis": "ptxkit.bench.axes",
    "Bench": "ptxkit.bench.bench",
    "Figure": "ptxkit.bench.statistics",
    "Roof": "ptxkit.bench.measurement",
    "StoppingRule": "ptxkit.bench.statistics",
    "Schedule": "ptxkit.bench.schedule",
    "Settings": "ptxkit.bench.settings",
    "BenchState": "ptxkit.bench.measurement",
    "Trial": "ptxkit.bench.statistics",
    "document": "ptxkit.bench.measurement",
}

__all__ = sorted(_HOMES)

__getattr__ = lazy_names(globals(), _HOMES)
