"""The operations of the emulator, a file for each section of the manual's chapter 9.7.

Importing this package registers the pure ones.
"""

from ptxkit.emulator.operations import (
    comparison,
    conversion,
    data_movement,
    extended_precision,
    floating,
    half,
    integer,
    logic,
    mixed_precision,
    video,
)

__all__ = [
    "comparison",
    "conversion",
    "data_movement",
    "extended_precision",
    "floating",
    "half",
    "integer",
    "logic",
    "mixed_precision",
    "video",
]
