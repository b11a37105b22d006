"""Where undefined bits come from, so that a finding far down the road can name it.

Undefined bits travel with the number of an origin: the first read of something that nobody wrote. What a
kernel stores undefined has an origin of its own, which remembers the store and the origin of the value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ptxkit.diagnostics import Label
from ptxkit.emulator.faults import Site
from ptxkit.emulator.memory import Allocation
from ptxkit.emulator.operands import lanes_of

if TYPE_CHECKING:
    from ptxkit.emulator.access import Access
    from ptxkit.emulator.image import Program


@dataclass(frozen=True, slots=True)
class Origin:
    """A first undefined read, or a store of an undefined value.

    Attributes:
        site: the instruction.
        what: what was read: "register `%r3`", "shared memory".
        root: for a store, the number of the value's own origin; else 0.
    """

    site: Site
    what: str
    root: int = 0


class Origins:
    """The origins that a device has met, numbered from 1."""

    def __init__(self) -> None:
        self._known: list[Origin] = []
        self._numbers: dict[tuple[int, str, int], int] = {}

    def _number(self, origin: Origin) -> int:
        key = (id(origin.site), origin.what, origin.root)
        if key not in self._numbers:
            self._known.append(origin)
            self._numbers[key] = len(self._known)
        return self._numbers[key]

    def __getitem__(self, number: int) -> Origin:
        return self._known[number - 1]

    def root(self, number: int, program: Program, site: Site) -> int:
        """The origin of a value that `site` reads: a new one for a register that was never written."""
        if number >= 0:
            return number
        return self._number(Origin(site, program.unset[-number - 1]))

    def of_read(self, access: Access, size: int) -> int:
        """The origin of undefined bytes that are loaded."""
        if access.bank.origins is not None:
            numbers = np.atleast_1d(access.bank.origin(access.index, size))
            active = lanes_of(access.lane_set, access.guard, np.shape(access.index))
            if active is not None:
                numbers = np.where(active, numbers, 0)
            stored = numbers[numbers != 0]
            if len(stored):
                return int(stored[0])
        owner = access.owner
        what = str(owner) if isinstance(owner, Allocation) else f"{access.space} memory"
        return self._number(Origin(access.site, what))

    def of_store(self, root: int, site: Site, program: Program) -> int:
        """The origin of bytes into which a value with undefined bits is stored."""
        return self._number(Origin(site, "", self.root(root, program, site)))

    def of_copy(self, site: Site) -> int:
        """The origin of undefined bytes that an asynchronous operation has copied."""
        return self._number(Origin(site, "what the copy read"))

    def of_memory(self, site: Site, what: str) -> int:
        """The origin of undefined cells of a memory that no bank holds."""
        return self._number(Origin(site, what))

    def of_lane(self, site: Site) -> int:
        """The origin of a value from a lane that did not take part in a warp-synchronous instruction."""
        return self._number(Origin(site, "SHFL-INACTIVE, the register of a lane that does not take part"))

    def describe(self, number: int) -> tuple[list[str], list[Label]]:
        """Notes and labels that tell a finding's story backwards, from store to first read."""
        notes: list[str] = []
        labels: list[Label] = []
        while number > 0:
            origin = self[number]
            if origin.root:
                notes.append(f"stored by `{origin.site.instruction.spelling}` at {origin.site.where}")
                text = "the undefined value is stored here"
            else:
                notes.append(f"first read of what nobody wrote: {origin.what}, at {origin.site.where}")
                text = f"{origin.what} is read before anything is written to it"
            if origin.site.span is not None:
                labels.append(Label(origin.site.span, text))
            number = origin.root
        return notes, labels
