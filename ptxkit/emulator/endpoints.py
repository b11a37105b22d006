"""Logical endpoints: what a fabric operation reaches by a number and an offset. CUDA driver API, chapter
"Logical endpoint"; PTX ISA 9.7.11.1."""

from __future__ import annotations

from ptxkit.emulator.multicast import MulticastObject


class LogicalEndpoint:
    """A logical endpoint.

    Attributes:
        multicast: whether it has memory of several devices.
        counted: whether operations on it may count.
        bound: its devices, and what is bound.
        failing: whether operations on it fail, as when a link is down.
        number: the one that names it, `leId`.
    """

    number = 0

    def __init__(self, size: int, team: list[int], multicast: bool, counted: bool) -> None:
        self.multicast = multicast
        self.counted = counted
        self.bound = MulticastObject(size, team)
        self.failing = False
