"""The lowerings, a file a chapter as in `operations/`; importing this registers them."""

from ptxkit.emulator.jit.lowerings import (
    comparison,
    conversion,
    data_movement,
    floating,
    half,
    integer,
    logic,
    warp,
)

__all__ = ["comparison", "conversion", "data_movement", "floating", "half", "integer", "logic", "warp"]
