"""What atomic operations and reductions become: an instruction, or a loop around a compare-and-swap."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ptxkit.asm.tree import Integer
from ptxkit.emulator.faults import Site
from ptxkit.emulator.timing.recorded import AccessCost
from ptxkit.emulator.values import WARP

CHANGES = ("red", "atom", "sured", "multimem.red")
"""How their names begin."""
SWAPS = frozenset({"cas", "exch"})
"""Operations that are one instruction whatever they change."""
FLOATS = ("f", "bf")
"""How types of floating-point numbers begin."""


@dataclass(frozen=True, slots=True)
class Change:
    """What an instruction that changes words is to a multiprocessor.

    Attributes:
        looped: of shared memory the bytes of a word that a loop changes, of a load, the operation and a
            compare-and-swap, over and over until no lane is left; 0 where one instruction does it.
        merged: whether lanes that change the same word are counted, and take no turns: those that add one.
        floats: whether it works on floating-point numbers.
        elected: whether one lane changes a word for all of a warp that change the same one, after a sum of
            theirs, say: `atom` of 32-bit integers.
    """

    looped: int
    merged: bool
    floats: bool
    elected: bool

    def turns(self, cost: AccessCost) -> float:
        """How many sectors of global memory a warp changes, each for itself."""
        same = cost.lines <= cost.requests and cost.sectors > cost.requests * WARP / 2
        return cost.requests if self.elected and same else cost.sectors


@cache
def change_of(site: Site) -> Change | None:
    """What an instruction is as a change of words; None of one that changes none so."""
    if not site.name.startswith(CHANGES):
        return None
    slots, operands = site.decoded.match.slots, site.instruction.operands
    kind = slots.get("type", "")
    floats, wide = kind.startswith(FLOATS), kind.endswith("64")
    looped = (floats or wide) and not SWAPS & slots.keys() and slots.get("op") not in SWAPS
    last = operands[-1] if operands else None
    merged = "add" in slots and not looped and isinstance(last, Integer) and last.value == 1
    elected = site.name == "atom" and not (floats or wide) and not SWAPS & slots.keys()
    elected = elected and slots.get("op") not in (*SWAPS, "inc", "dec")
    return Change((8 if wide else 4) if looped else 0, merged, floats, elected)
