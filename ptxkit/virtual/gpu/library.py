"""Libraries: PTX that becomes a module of each context that uses it. Driver API, "Library management"."""

from __future__ import annotations

from typing import ClassVar

from ptxkit.asm import parse
from ptxkit.virtual.gpu.context import VirtualContext
from ptxkit.virtual.gpu.handles import Object
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.module import VirtualFunction, VirtualModule
from ptxkit.virtual.results import failure


class VirtualLibrary(Object):
    """PTX that was loaded for all contexts: it becomes a module of each that uses it.

    Attributes:
        machine: where.
        text: the PTX.
    """

    noun: ClassVar[str] = "library"
    destroyed: ClassVar[str] = "NOT_FOUND"

    def __init__(self, machine: Machine, text: str) -> None:
        self.machine = machine
        self.text = text
        self._modules: dict[int, VirtualModule] = {}
        self._kernels: dict[str, LibraryKernel] = {}

    def module(self, context: VirtualContext) -> VirtualModule:
        """The library as a module of a context."""
        module = self._modules.get(context.handle)
        if module is None:
            module = self._modules[context.handle] = VirtualModule(context, self.text)
            context.own(module)
        return module

    def kernel(self, context: VirtualContext | None, name: str) -> LibraryKernel:
        """A kernel by its name; its code is in no context yet where none is given.

        Raises:
            DriverError: NOT_FOUND.
        """
        if name not in self._kernels:
            if context is not None:
                self.module(context).function(name)
            elif name not in [entry.name for entry in parse(self.text).entries]:
                raise failure("NOT_FOUND", f"the library has no kernel `{name}`")
            self._kernels[name] = LibraryKernel(self, name)
            self.machine.handles.add(self._kernels[name])
        return self._kernels[name]

    def close(self) -> None:
        """Unload it everywhere."""
        for kernel in self._kernels.values():
            self.machine.handles.remove(kernel)
        for module in self._modules.values():
            module.close()
            module.context.disown(module)
        self.machine.handles.remove(self)


class LibraryKernel(Object):
    """A kernel of a library, a `CUkernel`: a function in each context.

    Attributes:
        library: its library.
        name: the entry's.
    """

    noun: ClassVar[str] = "kernel"

    def __init__(self, library: VirtualLibrary, name: str) -> None:
        self.library = library
        self.name = name

    def function(self, context: VirtualContext) -> VirtualFunction:
        """The kernel in a context."""
        return self.library.module(context).function(self.name)


def function_of(machine: Machine, handle: int) -> VirtualFunction:
    """The kernel that a `CUfunction` or a `CUkernel` stands for.

    Raises:
        DriverError: INVALID_HANDLE.
    """
    function = machine.handles.find(VirtualFunction, handle)
    if function is not None:
        return function
    kernel = machine.handles.find(LibraryKernel, handle)
    if kernel is not None:
        return kernel.function(machine.context())
    return machine.handles.get(VirtualFunction, handle)
