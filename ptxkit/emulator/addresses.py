"""Generic addresses and the windows in them. PTX ISA 6.4.1, 5.1; `cvta`, `isspacep`.

Every state space but global memory has a window of generic addresses. An address inside a window is the
window's base plus the address in the space. Global memory has no window: its addresses are generic as they
are. The windows lie within the 49 bits of a device's addresses and beyond the 48 that a process of the host
has: kernels reach the host's memory by its own addresses (`ptxkit exec`), and none of it lies in a window.
"""

from __future__ import annotations

from ptxkit.bits import Word

WINDOW = 1 << 32
"""Bytes of a window: every address of these spaces fits in 32 bits."""
CODE = 0x0000_0100_0000_0000
"""Where function addresses start: far from any data."""
CODE_STEP = 0x100
CONST = 0x1_7FE0_0000_0000
PARAM = 0x1_7FE8_0000_0000
SHARED = 0x1_7FF0_0000_0000
LOCAL = 0x1_7FF8_0000_0000

WINDOWS: dict[str, int] = {"const": CONST, "param": PARAM, "shared": SHARED, "local": LOCAL}
"""The base of each window by its state space."""

PARAM_START = 0x400
"""The address of the first kernel parameter in its space: aligned for tensor maps too."""
CONST_START = 0x400
LOCAL_START = 0x100
"""Spaces don't begin at 0, so that a null pointer is never valid."""
COOPERATIVE_GROUPS = 0x40
"""`%reserved_smem_offset_1`: shared memory from there up to static memory is zero at first, and for
cooperative groups, whose tiles of several warps meet through it. sm_80 and later."""
CLUSTER_STEP = 1 << 24
"""Distance in the `shared::cluster` window between the CTAs of a cluster."""
MASK_BITS = 32
"""Bits of the widest ctaMask of a multicast."""


def rank_in_descriptor(rank: int) -> int:
    """The bits of a matrix descriptor where the rank in a shared address comes to lie that nobody has masked:
    the address is shifted right by 4, and its upper bits add to the leading byte offset."""
    return rank * CLUSTER_STEP >> 4


def unmasked_rank(rank: int) -> tuple[str, str]:
    """Note and advice for a descriptor that leads out of shared memory with these bits, and not without."""
    return (
        f"its leading byte offset holds the rank of the CTA, {rank}, and reaches shared memory without it",
        "mask the shared address, `& 0x3ffff`, before it is shifted into the descriptor: in a cluster its "
        "bits 24 and up are the rank of the CTA",
    )


SHIFT = "a descriptor counts in 16 bytes: `shr.u32` by 4 makes its address of a shared one"
"""What to do about a shared address that a matrix descriptor has as it is."""


def unshifted(word: int, start: int, size: int, kind: type[Word]) -> int | None:
    """The shared address that a word has in its lower bits where a matrix descriptor has a sixteenth of it.

    Args:
        word: no matrix descriptor.
        start, size: of the CTA's shared memory.
        kind: of the descriptor.
    """
    for bits in (14, 16, 18):
        whole = word & (1 << bits) - 1
        other = word ^ whole | whole >> 4
        if whole % 16 == 0 and 0 <= whole - start < size and not kind.diagnose(other):
            return whole
    return None


def space_of(address: int) -> str:
    """The state space that a generic address lies in; `global` where it is in no window."""
    for space, base in WINDOWS.items():
        if base <= address < base + WINDOW:
            return space
    return "global"


def plain_space(space: str) -> str:
    """`shared::cta` -> `shared`, `param::entry` -> `param`."""
    return space.partition("::")[0]
