"""Several emulated GPUs in one process, which share one memory."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from ptxkit.diagnostics import Diagnostic, error
from ptxkit.emulator.buffer import EmulatorBuffer
from ptxkit.emulator.concurrency import run_together
from ptxkit.emulator.device import Emulator
from ptxkit.emulator.endpoints import LogicalEndpoint
from ptxkit.emulator.execution import Execution
from ptxkit.emulator.faults import Origins
from ptxkit.emulator.global_memory import GRANULE, GlobalMemory
from ptxkit.emulator.multicast import Binding, MulticastObject, MulticastRange

MOST_DEVICES = 64


class MulticastArray:
    """An array in the memory of several devices. As an argument of a kernel it is its multimem address.

    Args:
        devices: the team.
        shape, dtype: of each copy.
        name: what findings call it.

    Attributes:
        copies: the arrays of the devices, in the order of the team.
        team: the numbers of the devices.
        memory: of all devices.
        address: the multimem address.
    """

    def __init__(self, devices: Sequence[Emulator], shape: Any, dtype: Any, name: str) -> None:
        self.copies: list[EmulatorBuffer] = [device.empty(shape, dtype, name) for device in devices]
        self.memory = devices[0].memory
        size = self.copies[0].nbytes
        self.team = [device.number for device in devices]
        multicast = MulticastObject(size, self.team)
        for device, copy in zip(devices, self.copies, strict=True):
            multicast.bindings.append(Binding(device.number, 0, size, partial(getattr, copy, "address")))
        self.address = self.memory.set_aside(size, GRANULE)
        self._range = MulticastRange.of(multicast, self.address, size, 0, f"multicast object `{name}`")
        self.memory.place(self._range)
        self._finalizer = weakref.finalize(self, self.memory.disown, self._range)

    def write(self, array: np.ndarray) -> None:
        """Copy a host array into every copy."""
        for copy in self.copies:
            copy.write(array)

    def numpy(self) -> list[np.ndarray]:
        """Host copies, one of each device. Raises what `EmulatorBuffer.numpy` does."""
        return [copy.numpy() for copy in self.copies]


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
        self._endpoints = 0
        self._memory = GlobalMemory()
        self._memory.device_count = devices
        origins = Origins()
        self.devices: list[Emulator] = []
        for number in range(devices):
            device = Emulator(order=order, seed=seed + number, memory=self._memory, **options)
            device.number, device.origins = number, origins
            self.devices.append(device)

    def multicast(
        self,
        shape: int | Sequence[int],
        dtype: Any,
        name: str | None = None,
        team: Sequence[int] | None = None,
    ) -> MulticastArray:
        """An array in the memory of each device of a team, and one address for all of them, as a multicast
        object has. Its content is undefined.

        Args:
            shape: in elements, of each copy.
            dtype: the type of an element.
            name: what findings call it.
            team: the numbers of the devices; None for all.

        Raises:
            PtxkitError: P517, no shape or type of an array; P520, no such team; P705, out of memory.
        """
        members = list(range(len(self.devices)) if team is None else team)
        if not members or len({*members}) < len(members) or not {*members} <= {*range(len(self.devices))}:
            raise error("P520", f"expected a team of some of {len(self.devices)} devices, found {members}")
        return MulticastArray([self.devices[member] for member in members], shape, dtype, name or "multicast")

    def endpoint(
        self, array: EmulatorBuffer | MulticastArray, device: int = 0, counted: bool = True
    ) -> LogicalEndpoint:
        """A logical endpoint to which an array is bound from offset 0 on: a unicast one, or that of a
        multicast array. Kernels name it by its `number`.

        Args:
            array: of a device of this machine, or what `multicast` gives.
            device: the number of the device that has it, of a unicast endpoint.
            counted: whether operations on it may count.

        Raises:
            PtxkitError: P509, an array of another machine.
        """
        if array.memory is not self._memory:
            raise error("P509", "expected an array of this machine, found one of another")
        if isinstance(array, MulticastArray):
            copies = array.copies
            made = LogicalEndpoint(copies[0].nbytes, array.team, True, counted)
        else:
            copies = [array]
            made = LogicalEndpoint(array.nbytes, [self.devices[device].number], False, counted)
        for member, copy in zip(made.bound.team, copies, strict=True):
            made.bound.bindings.append(Binding(member, 0, copy.nbytes, partial(getattr, copy, "address")))
        made.number = self._endpoints = self._endpoints + 1
        self._memory.endpoints[made.number] = made
        return made

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
