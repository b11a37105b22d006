"""Several emulated GPUs in one process, which share one memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ptxkit.diagnostics import Diagnostic, error
from ptxkit.emulator.concurrency import run_together
from ptxkit.emulator.device import Emulator
from ptxkit.emulator.execution import Execution
from ptxkit.emulator.faults import Origins
from ptxkit.emulator.global_memory import GlobalMemory

MOST_DEVICES = 64


class EmulatedMachine:
    """A machine with several emulated GPUs.

    Any kernel reaches the memory of all of them, as between GPUs that have peer access to each other.

    Args:
        devices: how many there are.
        order, seed: see `Emulator`; they also decide which launch has its turn.
        options: the others that `Emulator` takes, for every device.

    Attributes:
        devices: the GPUs; what is allocated by one is in its memory.

    Raises:
        PtxkitError: P520, a number of devices that is not from 1 to 64, or as `Emulator` does.
    """

    def __init__(self, devices: int, order: str = "lazy", seed: int = 0, **options: Any) -> None:
        if not 1 <= devices <= MOST_DEVICES:
            raise error("P520", f"expected from 1 to {MOST_DEVICES} devices, found {devices}")
        self._order, self._seed = order, seed
        self._memory = GlobalMemory()
        origins = Origins()
        self.devices: list[Emulator] = []
        for number in range(devices):
            device = Emulator(order=order, seed=seed + number, memory=self._memory, **options)
            device.number, device.origins = number, origins
            self.devices.append(device)

    @property
    def findings(self) -> list[Diagnostic]:
        """Those of all devices."""
        return [found for device in self.devices for found in device.findings]

    @contextmanager
    def together(self) -> Iterator[None]:
        """What is launched in the block runs when it ends, all at the same time.

        Raises:
            EmulatorFault: the first error finding of one of the launches; P608, all of them wait for what
                never comes.
            PtxkitError: P520, such a block stands in another one.
        """
        launches: list[Execution] = []
        if any(device.together is not None for device in self.devices):
            raise error("P520", "`together` stands in a block of `together`", help="end that one first")
        for device in self.devices:
            device.together = launches
        try:
            yield
        finally:
            for device in self.devices:
                device.together = None
        run_together(launches, self._memory, self._order, self._seed)

    def close(self) -> None:
        """Give everything back: nothing can be done with its devices, their modules and buffers any more."""
        for device in self.devices:
            device.close()
        self._memory.closed = True

    def __enter__(self) -> EmulatedMachine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
