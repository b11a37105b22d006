"""Benchmarks: kernels verified, timed in trials beside the empty kernel and the memory roof, and compared.

The vocabulary is nvbench's: a *state* is a kernel at one set of sizes, an *axis* a size with several values,
a *sample* one timed execution, *noise* the samples' relative standard deviation.
"""

from ptxkit.bench.axes import Axis
from ptxkit.bench.bench import Bench
from ptxkit.bench.measurement import Roof, Settings, State, document
from ptxkit.bench.schedule import Schedule
from ptxkit.bench.statistics import Figure, Rule, Trial

__all__ = ["Axis", "Bench", "Figure", "Roof", "Rule", "Schedule", "Settings", "State", "Trial", "document"]
