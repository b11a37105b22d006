"""What each handle of a texture, sampler or surface stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptxkit.emulator.texels.objects import Bound, Kind, OpaqueVariable


class UnknownObject(Exception):
    """A handle stands for nothing that is asked for; the text says why."""


class Textures:
    """The textures, samplers and surfaces of a device, by their handles. No handle is given twice."""

    def __init__(self) -> None:
        self._objects: dict[int, Bound] = {}
        self._variables: dict[int, OpaqueVariable] = {}
        self._destroyed: dict[int, str] = {}
        self._made = 0

    def add(self, thing: Bound) -> int:
        """The handle of a new object."""
        self._made += 1
        handle = thing.flag | self._made
        self._objects[handle] = thing
        return handle

    def remove(self, handle: int) -> None:
        """Destroy an object."""
        self._destroyed[handle] = str(self._objects.pop(handle))

    def declare(self, address: int, variable: OpaqueVariable) -> None:
        """A module with an opaque variable at an address is loaded."""
        self._variables[address] = variable

    def withdraw(self, address: int) -> None:
        """That module is unloaded."""
        self._variables.pop(address, None)

    def variable(self, address: int) -> OpaqueVariable | None:
        """The opaque variable at an address."""
        return self._variables.get(address)

    def is_a(self, kind: type[Bound], handle: int) -> bool:
        """Whether a handle is the address of a variable of that kind; of objects none is, as on an H200."""
        return handle in self._variables and self._variables[handle].kind is kind

    def get(self, kind: type[Kind], handle: int) -> Kind:
        """What a handle stands for. Raises UnknownObject: it is none of that kind."""
        variable = self._variables.get(handle)
        found: Bound | None = self._objects.get(handle)
        if variable is not None:
            found = variable.bound
            if found is None:
                raise UnknownObject(f"nothing is bound to `{variable.name}`")
        if isinstance(found, kind):
            return found
        if found is not None:
            raise UnknownObject(f"expected a {kind.noun}, found a {found}")
        if handle in self._destroyed:
            raise UnknownObject(
                f"handle {handle:#x} was that of a {self._destroyed[handle]}: it is destroyed"
            )
        raise UnknownObject(f"{handle:#x} is no handle of a {kind.noun}")
