"""The operations of the emulator, a file for each section of the manual's chapter 9.7.

Importing this package registers them.
"""

from ptxkit.emulator.operations import (
    atomic,
    barrier,
    call,
    comparison,
    control_flow,
    conversion,
    conversion_packed,
    data_movement,
    extended_precision,
    floating,
    half,
    integer,
    load_store,
    logic,
    matrix,
    mixed_precision,
    stack,
    texture,
    video,
    warp,
)

__all__ = [
    "atomic",
    "barrier",
    "call",
    "comparison",
    "control_flow",
    "conversion",
    "conversion_packed",
    "data_movement",
    "extended_precision",
    "floating",
    "half",
    "integer",
    "load_store",
    "logic",
    "matrix",
    "mixed_precision",
    "stack",
    "texture",
    "video",
    "warp",
]
