"""What the driver gives out: opaque handles of objects. One is never given twice, so that what was
destroyed is known as such."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from ptxkit.virtual.results import failure

T = TypeVar("T", bound="Object")

FIRST = 0x5EED_0000_0000
"""Handles look like addresses, of which there is none in a process; the low bits are free for flags."""
STEP = 0x100


class Object:
    """Something that has a handle.

    Attributes:
        handle: the number that stands for it.
    """

    noun: ClassVar[str] = "object"
    error: ClassVar[str] = "INVALID_HANDLE"
    destroyed: ClassVar[str] = ""
    other: ClassVar[str] = ""
    """What the driver says of a handle that is none, of one that was destroyed and of one of something else:
    `error` where the latter two are empty."""
    handle: int = 0


class Handles:
    """The objects that are alive, by their handles."""

    def __init__(self) -> None:
        self._objects: dict[int, Object] = {}
        self._destroyed: dict[int, str] = {}
        self._next = FIRST

    def number(self) -> int:
        """A handle that stands for nothing yet."""
        self._next += STEP
        return self._next

    def add(self, thing: Object) -> int:
        """Give an object its handle."""
        thing.handle = self.number()
        self._objects[thing.handle] = thing
        return thing.handle

    def get(self, kind: type[T], handle: int) -> T:
        """The object of a kind that a handle stands for.

        Raises:
            DriverError: INVALID_HANDLE or the kind's own, where it stands for none.
        """
        found = self._objects.get(handle)
        if isinstance(found, kind):
            return found
        error = kind.error
        if found is not None:
            error = kind.other or error
            why = f"expected the handle of a {kind.noun}, found that of a {found.noun}"
        elif handle in self._destroyed:
            error = (kind.destroyed if self._destroyed[handle] == kind.noun else kind.other) or error
            why = f"the {self._destroyed[handle]} with handle {handle:#x} was destroyed"
        else:
            why = f"{handle:#x} is no handle of a {kind.noun}"
        raise failure(error, why)

    def find(self, kind: type[T], handle: int) -> T | None:
        """The object, if it is alive and of that kind."""
        found = self._objects.get(handle)
        return found if isinstance(found, kind) else None

    def remove(self, thing: Object) -> None:
        """The object is destroyed."""
        if self._objects.pop(thing.handle, None) is not None:
            self._destroyed[thing.handle] = thing.noun

    def all(self, kind: type[T]) -> list[T]:
        """The living objects of a kind."""
        return [thing for thing in self._objects.values() if isinstance(thing, kind)]
