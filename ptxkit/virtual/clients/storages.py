"""The storages of CPU tensors, as devices see them: each with its exact bounds, those that a launch is given
while it lasts, and those whose address the program has asked for as long as the tensor lives."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

from ptxkit.emulator.global_memory import Allocation
from ptxkit.virtual.gpu.machine import Machine


class NamedStorages:
    """Storages whose address the program knows: it may stand in another tensor, where no launch shows it."""

    def __init__(self) -> None:
        self._allocations: dict[int, Allocation] = {}
        self._users: dict[int, int] = {}
        self._dead: list[Any] = []
        """Storages of tensors that are gone, kept until no device sees them any more."""

    def name(self, made: Machine, tensor: Any) -> None:
        """Let devices see the storage of a tensor until that is gone."""
        storage = tensor.untyped_storage()
        address, size = storage.data_ptr(), storage.nbytes()
        with made.schedule.lock:
            self.forget_the_dead(made)
            if address not in self._allocations:
                if not size or made.memory.owner(address) or not made.memory.reaches(address, size):
                    return
                self._allocations[address] = made.memory.adopt(address, size, name_of(tensor))
                self._users[address] = 0
            self._users[address] += 1
        # A finaliser may run in the middle of anything, so it does no more than this.
        weakref.finalize(tensor, self._dead.append, storage).atexit = False

    def forget_the_dead(self, made: Machine) -> None:
        """Take the storages of tensors that are gone from the devices."""
        while self._dead:
            address = self._dead.pop().data_ptr()
            self._users[address] -= 1
            if not self._users[address]:
                made.memory.disown(self._allocations.pop(address))


named = NamedStorages()
"""Those of this process."""


def name_of(tensor: Any) -> str:
    """What findings call the storage of a tensor."""
    return f"storage of a tensor {str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"


@contextmanager
def visible(made: Machine, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """The arguments of a launch, their tensors visible to the device until it has ended.

    A storage that lies where no device sees it, or not at a multiple of what it must, is copied to where one
    does, and back.
    """
    memory = made.memory
    shown, moved = [], {}
    with made.schedule.lock:
        named.forget_the_dead(made)
        for tensor in _tensors(arguments):
            storage = tensor.untyped_storage()
            address, size = storage.data_ptr(), storage.nbytes()
            if address in moved or not size:
                continue
            if isinstance(tensor, AlignedTensor):
                moved[address] = memory.staged(address, size)
            elif memory.owner(address) is not None:
                continue
            elif memory.reaches(address, size):
                shown.append(memory.adopt(address, size, name_of(tensor)))
            else:
                moved[address] = memory.staged(address, size)
    try:
        yield _replaced(arguments, moved) if moved else arguments
    finally:
        with made.schedule.lock:
            made.schedule.finish_all()
            for address, (there, size) in moved.items():
                memory.unstaged(address, there, size)
            for allocation in shown:
                memory.disown(allocation)
            memory.forget_host()


def _tensors(value: Any) -> Iterator[Any]:
    """The CPU tensors of arguments, those of descriptors and tuples among them."""
    if isinstance(value, list | tuple):
        for one in value:
            yield from _tensors(one)
    elif hasattr(value, "untyped_storage"):
        if value.device.type == "cpu":
            yield value
    elif hasattr(value, "base") and hasattr(value.base, "untyped_storage"):
        yield from _tensors(value.base)


class MovedTensor:
    """A tensor at another address."""

    def __init__(self, tensor: Any, address: int) -> None:
        self._address = address
        self.dtype, self.device, self.shape = tensor.dtype, tensor.device, tensor.shape

    def data_ptr(self) -> int:
        """Where it is."""
        return self._address


class AlignedTensor:
    """A tensor that must be at a multiple of more bytes than it is: a launch moves it."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor
        self.dtype, self.device, self.shape = tensor.dtype, tensor.device, tensor.shape
        self.data_ptr, self.untyped_storage = tensor.data_ptr, tensor.untyped_storage


def _replaced(value: Any, moved: dict[int, tuple[int, int]]) -> Any:
    """An argument with the tensors that were moved where they are now."""
    if isinstance(value, tuple):
        return tuple(_replaced(one, moved) for one in value)
    if hasattr(value, "untyped_storage"):
        storage = value.untyped_storage().data_ptr()
        if storage in moved:
            return MovedTensor(value, moved[storage][0] + value.data_ptr() - storage)
    elif hasattr(value, "base"):
        base = _replaced(value.base, moved)
        if base is not value.base:
            value = copy(value)
            value.base = base
    return value
