"""Generic addresses and the windows in them. PTX ISA 6.4.1, 5.1; `cvta`, `isspacep`.

Every state space but global memory has a window of generic addresses. An address inside a window is the
window's base plus the address in the space. Global memory has no window: its addresses are generic as they
are. The numbers lie where a device might put them.
"""

from __future__ import annotations

WINDOW = 1 << 32
"""Bytes of a window: every address of these spaces fits in 32 bits."""
CODE = 0x0000_0100_0000_0000
"""Where function addresses start: far from any data."""
CODE_STEP = 0x100
CONST = 0x7FE0_0000_0000
PARAM = 0x7FE8_0000_0000
SHARED = 0x7FF0_0000_0000
LOCAL = 0x7FF8_0000_0000

WINDOWS: dict[str, int] = {"const": CONST, "param": PARAM, "shared": SHARED, "local": LOCAL}
"""The base of each window by its state space."""

PARAM_START = 0x400
"""The address of the first kernel parameter in its space: aligned for tensor maps too."""
CONST_START = 0x400
LOCAL_START = 0x100
"""Spaces don't begin at 0, so that a null pointer is never valid."""
CLUSTER_STEP = 1 << 24
"""Distance in the `shared::cluster` window between the CTAs of a cluster."""
MOST_CTAS = 16
"""Bits of the ctaMask of a multicast."""


def space_of(address: int) -> str:
    """The state space that a generic address lies in; `global` where it is in no window."""
    for space, base in WINDOWS.items():
        if base <= address < base + WINDOW:
            return space
    return "global"


def plain_space(space: str) -> str:
    """`shared::cta` -> `shared`, `param::entry` -> `param`."""
    return space.partition("::")[0]
