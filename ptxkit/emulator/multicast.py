"""Multicast objects: one address that means a place in the memory of each device of a team.

CUDA driver API, chapter "Multicast object management"; PTX ISA 8.2.3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ptxkit.emulator.global_memory import Allocation


class Binding(NamedTuple):
    """Memory of a device that is bound to a multicast object.

    Attributes:
        device: the number of the device.
        offset: of its first byte in the object.
        size: bytes.
        address: gives the address of its first byte.
    """

    device: int
    offset: int
    size: int
    address: Callable[[], int]


class MulticastObject:
    """A multicast object.

    Attributes:
        size: bytes that each device may bind.
        team: the numbers of its devices.
        bindings: what is bound.
    """

    def __init__(self, size: int, team: list[int]) -> None:
        self.size = size
        self.team = team
        self.bindings: list[Binding] = []

    def places(self, device: int, offsets: Any, size: Any) -> Any:
        """The addresses of one device's bytes at some offsets, uint64, 0 where there are none for a whole
        access. `size`: bytes of an access."""
        own = [binding for binding in self.bindings if binding.device == device]
        own.sort(key=lambda binding: binding.offset)
        if not own:
            return np.zeros(np.shape(offsets), np.uint64)
        starts = np.array([binding.offset for binding in own])
        ends = starts + np.array([binding.size for binding in own])
        bases = np.array([binding.address() for binding in own])
        at = np.maximum(np.searchsorted(starts, offsets, side="right") - 1, 0)
        good = (offsets >= starts[at]) & (offsets + size <= ends[at])
        return np.where(good, bases[at] + (offsets - starts[at]), 0).astype(np.uint64)


@dataclass(slots=True, eq=False)
class MulticastRange(Allocation):
    """Addresses of a multicast object. It has no bytes of its own: to other accesses it is not there.

    Attributes:
        multicast: the object.
        start: the offset in it of the first address.
    """

    multicast: MulticastObject = field(default_factory=lambda: MulticastObject(0, []))
    start: int = 0

    @classmethod
    def of(cls, multicast: MulticastObject, address: int, size: int, start: int, name: str) -> MulticastRange:
        """The range of an object from an offset on."""
        return cls(address, size, name, live=False, multicast=multicast, start=start)
