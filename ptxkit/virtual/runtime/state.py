"""What the runtime knows beyond the driver: the code that the program registered, and of each thread its
device and its last error."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from ptxkit.virtual.gpu.context import VirtualContext
from ptxkit.virtual.gpu.images import ptx_of
from ptxkit.virtual.gpu.library import LibraryKernel, VirtualLibrary
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.results import DriverError

INVALID_CONFIGURATION, INVALID_SYMBOL, INVALID_DIRECTION, INVALID_FUNCTION = 9, 13, 21, 98
"""`cudaError_t` where the driver has no such code."""
NOT_READY = 600


@dataclass(slots=True, eq=False)
class FatBinary:
    """A fat binary of the program.

    Attributes:
        address: of its wrapper.
        library: its PTX, once something of it was used.
        managed: the addresses of the host's pointers to its managed variables, by name.
    """

    address: int
    library: VirtualLibrary | None = None
    managed: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RegisteredVariable:
    """A variable of the program: its name in the PTX of a fat binary."""

    binary: FatBinary
    name: str
    size: int


@dataclass(slots=True)
class Thread:
    """What holds for one thread.

    Attributes:
        device: set by `cudaSetDevice`.
        error: what `cudaGetLastError` returns.
        launches: the configurations of `<<<..>>>` whose kernels are not called yet.
    """

    device: int = 0
    error: int = 0
    launches: list[tuple[bytes, bytes, int, int]] = field(default_factory=list)


class State:
    """The runtime of this process.

    Attributes:
        binaries: by the handle that the program has of each.
        functions: the kernels, by the address of the function that stands for each on the host.
        variables: by the address of the variable that stands for each on the host.
    """

    def __init__(self) -> None:
        self.binaries: dict[int, FatBinary] = {}
        self.functions: dict[int, tuple[FatBinary, str]] = {}
        self.variables: dict[int, RegisteredVariable] = {}
        self._kernels: dict[int, LibraryKernel] = {}
        self._threads: dict[int, Thread] = {}

    @property
    def thread(self) -> Thread:
        """The calling thread."""
        return self._threads.setdefault(threading.get_ident(), Thread())

    def context(self, machine: Machine) -> VirtualContext:
        """The current context; by default the primary one of the thread's device.

        Raises:
            DriverError: what it was lost to.
        """
        if machine.current is None or not machine.current.alive:
            machine.stack[-1:] = [machine.retain_primary(machine.device(self.thread.device))]
        return machine.context()

    def library(self, machine: Machine, binary: FatBinary) -> VirtualLibrary:
        """A fat binary's PTX for the current device.

        Raises:
            DriverError: NO_BINARY_FOR_GPU, INVALID_IMAGE, ..
        """
        if binary.library is None:
            text = ptx_of(binary.address, self.context(machine).device.target)
            binary.library = VirtualLibrary(machine, text)
            machine.handles.add(binary.library)
        return binary.library

    def kernel(self, machine: Machine, function: int) -> LibraryKernel:
        """The kernel that a function of the host, or a handle, stands for.

        Raises:
            DriverError: 98, it stands for none.
        """
        known = self._kernels.get(function) or machine.handles.find(LibraryKernel, function)
        if known is None:
            if function not in self.functions:
                raise DriverError(INVALID_FUNCTION, f"no kernel was registered for {function:#x}")
            binary, name = self.functions[function]
            known = self.library(machine, binary).kernel(self.context(machine), name)
            self._kernels[function] = known
        return known

    def variable(self, machine: Machine, symbol: int) -> tuple[int, int]:
        """The address and the bytes of a variable.

        Raises:
            DriverError: 13, there is none.
        """
        if symbol not in self.variables:
            raise DriverError(INVALID_SYMBOL, f"no variable was registered for {symbol:#x}")
        found = self.variables[symbol]
        module = self.library(machine, found.binary).module(self.context(machine))
        return module.variable(found.name)

    def forget(self, handle: int) -> None:
        """A fat binary is gone."""
        binary = self.binaries.pop(handle, None)
        if binary is None:
            return
        for function in [f for f, (owner, _) in self.functions.items() if owner is binary]:
            del self.functions[function]
            self._kernels.pop(function, None)
        for symbol in [s for s, variable in self.variables.items() if variable.binary is binary]:
            del self.variables[symbol]


state = State()
"""The one of this process."""


def failed(code: int) -> int:
    """A call returns an error code: `cudaGetLastError` will, too. NOT_READY is none."""
    if code != NOT_READY:
        state.thread.error = code
    return code
