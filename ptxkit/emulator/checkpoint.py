"""A device as it was, to launch again from: the emulator is deterministic, so the same happens again."""

from __future__ import annotations

from copy import deepcopy

from ptxkit.emulator.device import Emulator


class Checkpoint:
    """What launches change of a device, as it is now.

    Args:
        device: between two launches.
    """

    def __init__(self, device: Emulator) -> None:
        self._device = device
        self._memory = device.memory.snapshot()
        events = device.memory.events
        self._events = events.now, events.ordered, events.early
        self._random = deepcopy(device.random.bit_generator.state) if device.random is not None else None
        self._findings = len(device.findings)
        self._launches = device.launches

    def restore(self) -> None:
        """Make the device again what it was. Who accessed what before is forgotten: it is ordered before all
        that comes."""
        device = self._device
        device.memory.restore(*self._memory)
        device.memory.events.restore(*self._events)
        if device.random is not None and self._random is not None:
            device.random.bit_generator.state = deepcopy(self._random)
        del device.findings[self._findings :]
        device.launches = self._launches
