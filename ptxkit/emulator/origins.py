"""Where undefined bits come from, so that a finding far down the road can name it.

Undefined bits travel with the number of an origin: the first read of something that nobody wrote. What a
kernel stores undefined has an origin of its own, which remembers the store and the origin of the value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ptxkit.diagnostics import SpanLabel
from ptxkit.emulator.faults import Site, label_at


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

    def root(self, number: int, unset: Sequence[str], site: Site) -> int:
        """The origin of a value that `site` reads: a new one for a register that was never written.

        Args:
            number: as the register has it.
            unset: what can be read before it is written, by its negative number.
            site: the instruction.
        """
        return number if number >= 0 else self._number(Origin(site, unset[-number - 1]))

    def of_read(self, site: Site, what: str) -> int:
        """The origin of undefined bytes that are loaded, where no store left them."""
        return self._number(Origin(site, what))

    def of_store(self, root: int, site: Site) -> int:
        """The origin of bytes into which a value with undefined bits is stored."""
        return self._number(Origin(site, "", root))

    def of_copy(self, site: Site) -> int:
        """The origin of undefined bytes that an asynchronous operation has copied."""
        return self._number(Origin(site, "what the copy read"))

    def of_lane(self, site: Site) -> int:
        """The origin of a value from a lane that did not take part in a warp-synchronous instruction."""
        return self._number(Origin(site, "SHFL-INACTIVE, the register of a lane that does not take part"))

    def describe(self, number: int) -> tuple[list[str], list[SpanLabel]]:
        """Notes and labels that tell a finding's story backwards, from store to first read."""
        notes: list[str] = []
        labels: list[SpanLabel] = []
        while number > 0:
            origin = self[number]
            if origin.root:
                notes.append(f"stored by `{origin.site.instruction.spelling}` at {origin.site.where}")
                text = "the undefined value is stored here"
            else:
                notes.append(f"first undefined read: {origin.what}, at {origin.site.where}")
                text = f"{origin.what} is read before anything is written to it"
            labels += label_at(origin.site, text)
            number = origin.root
        return notes, labels
