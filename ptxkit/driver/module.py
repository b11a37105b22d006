"""A module on a GPU: its kernels, and its variables in global and constant memory."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from ptxkit import dtypes, targets
from ptxkit.asm.launch import Requirements
from ptxkit.asm.tree import Variable
from ptxkit.device.arguments import Parameter, Signature, device_address
from ptxkit.device.calls import OnDevice
from ptxkit.diagnostics import error
from ptxkit.driver.context import CudaContext
from ptxkit.driver.errors import bindings, call_newer, check
from ptxkit.driver.launch import CudaKernel
from ptxkit.driver.load import Loaded, usage_of
from ptxkit.driver.memory import DeviceBuffer


class CudaModule(OnDevice):
    """What `CudaDevice.load` gives (`ptxkit.device.protocol.LoadedModule`). Dropping it unloads it.

    Attributes:
        context: the GPU that it is on.
        limits: what that GPU can hold.
        sm_count: its streaming multiprocessors.
        machine_code: the cubin, where the driver linked one (`Loaded.machine_code`).
    """

    def __init__(self, context: CudaContext, loaded: Loaded, limits: targets.Limits, sm_count: int) -> None:
        self.context = context
        self.limits = limits
        self.sm_count = sm_count
        self._loaded = loaded
        self._usage = loaded.usage
        self.machine_code = loaded.machine_code
        self._handle = loaded.handle
        self._images = loaded.images
        self._entries = {
            function.name: (function, image)
            for image in loaded.images
            if image.module is not None
            for function in image.module.entries
        }
        # Weak, so that no cycle keeps a dropped module loaded: a kernel keeps its module, not the reverse.
        self._kernels: weakref.WeakValueDictionary[str, CudaKernel] = weakref.WeakValueDictionary()
        self._unload = context.own(self, bindings().cuModuleUnload, loaded.handle)

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of all entries."""
        return (*self._entries, *(name for name in self._binary_kernels() if name not in self._entries))

    def kernel(self, name: str | None = None) -> CudaKernel:
        """The entry `name`; None where the module has exactly one.

        Raises:
            PtxkitError: P504, no such entry, or several and no name; the message lists them.
        """
        if name is None:
            name = self._only_kernel()
        kernel = self._kernels.get(name)
        if kernel is None:
            kernel = self._kernels[name] = self._make_kernel(name)
        return kernel

    def variable(self, name: str) -> DeviceBuffer:
        """A module-level variable in `.global` or `.const` memory, to read and to write in place.

        Shape and type are those of its declaration; of a cubin or a fatbin only the bytes are known.

        Raises:
            PtxkitError: P711, there is none of that name.
        """
        with self.context:
            status, address, size = bindings().cuModuleGetGlobal(self._handle, name.encode())
        if status:
            names = self._variables()
            help = f"it has {', '.join(f'`{n}`' for n in names)}" if names else "the module declares none"
            raise error("P711", f"expected a variable of `{self._name}`, found `{name}`", help=help)
        declared = self._variables().get(name)
        if declared is None:
            return DeviceBuffer(self.context, int(address), (int(size),), np.dtype(np.uint8), owner=self)
        return DeviceBuffer(self.context, int(address), *_array_of(declared, name, int(size)), owner=self)

    def spills(self, name: str, local_bytes: int) -> tuple[int, int] | None:
        """Bytes of registers that an entry stores to and loads from local memory; None of machine code.

        Args:
            name: of the entry.
            local_bytes: that its threads have: none without local memory, and nobody has to be asked.
        """
        if name not in self._entries:
            return None
        if not local_bytes:
            return 0, 0
        if name not in self._usage:
            self._usage = usage_of(self.context, self._loaded.images, self._loaded.options)
        usage = self._usage.get(name)
        return (usage.spill_stores, usage.spill_loads) if usage else None

    def requirements(self, name: str, attributes: dict[str, int]) -> Requirements:
        """What an entry demands of its launches, given its function attributes."""
        static, threads = attributes["shared_bytes"], attributes["max_threads"]
        if name not in self._entries:
            return Requirements(name, static_shared=static, resource_threads=threads)
        function, image = self._entries[name]
        return Requirements.of(function, static, threads, image.source)

    def address_of(self, value: Any) -> int | None:
        """The address of an argument, as `ptxkit.device.arguments` asks for it.

        Raises:
            PtxkitError: P509, a buffer of the emulator or of another GPU.
        """
        if isinstance(value, DeviceBuffer):
            if value.context.ordinal == self.context.ordinal:
                return value.address
            there = f"GPU {value.context.ordinal}"
        elif type(getattr(value, "address", None)) is int:
            there = "another device"
        else:
            return device_address(value)
        message = f"expected a buffer of GPU {self.context.ordinal}, found one of {there}"
        raise error(
            "P509", message, help="make it with `array` or `empty` of the device that runs the kernel"
        )

    def close(self) -> None:
        """Unload the module now. Its kernels can't be launched any more."""
        for kernel in list(self._kernels.values()):
            kernel.close()
        self._unload()

    def __rich_repr__(self) -> Iterator[Any]:
        yield self._name
        yield "entries", list(self._entries)

    @property
    def _name(self) -> str:
        return ", ".join(image.name for image in self._images)

    def _only_kernel(self) -> str:
        names = self.kernels
        if len(names) == 1:
            return names[0]
        message = f"expected the name of an entry: `{self._name}` has {len(names)}"
        raise error("P504", message, help=self._list_kernels())

    def _list_kernels(self) -> str:
        names = self.kernels
        return f"it has {', '.join(f'`{name}`' for name in names)}" if names else "it has no entry"

    def _make_kernel(self, name: str) -> CudaKernel:
        with self.context:
            status, function = bindings().cuModuleGetFunction(self._handle, name.encode())
        if status:
            message = f"expected an entry of `{self._name}`, found `{name}`"
            raise error("P504", message, help=self._list_kernels())
        known = self._entries.get(name)
        if known is not None:
            entry, image = known
            signature = Signature.of(entry, image.source)
        else:
            with self.context:
                signature = _signature_from_driver(name, function)
        return CudaKernel(self, name, function, signature)

    def _binary_kernels(self) -> list[str]:
        """The names in the machine code; asked for only where not all of it came from PTX."""
        if all(image.is_ptx for image in self._images):
            return []
        driver = bindings()
        with self.context:
            count = check(
                call_newer("12.4", driver.cuModuleGetFunctionCount, self._handle), "count the kernels"
            )
            functions = check(driver.cuModuleEnumerateFunctions(count, self._handle), "list the kernels")
            names = [check(driver.cuFuncGetName(function), "read a kernel's name") for function in functions]
        return [name.decode() for name in names]

    def _variables(self) -> dict[str, Variable]:
        found = {}
        for image in self._images:
            for statement in image.module.statements if image.module else ():
                if isinstance(statement, Variable) and statement.space in ("global", "const"):
                    found.update({declarator.name: statement for declarator in statement.declarators})
        return found


def _array_of(variable: Variable, name: str, size: int) -> tuple[tuple[int, ...], np.dtype]:
    """Shape and type of a declared variable of `size` bytes; its bytes where numpy has no such type."""
    (declarator,) = (d for d in variable.declarators if d.name == name)
    try:
        dtype = dtypes.numpy_dtype(variable.type)
    except KeyError:
        return (size,), np.dtype(np.uint8)
    inner = [extent for extent in declarator.dimensions[1:] if extent is not None]
    if variable.vector:
        inner.append(int(variable.vector.removeprefix("v")))
    outer = size // (dtype.itemsize * math.prod(inner))
    return ((outer, *inner) if declarator.dimensions else tuple(inner)), dtype


def _signature_from_driver(name: str, function: Any) -> Signature:
    """The signature of a kernel of which there is only machine code: sizes and offsets without types."""
    driver = bindings()
    parameters: list[Parameter] = []
    while True:
        status, offset, size = call_newer("12.4", driver.cuFuncGetParamInfo, function, len(parameters))
        if status:
            break
        index = len(parameters)
        scalar = {1: "b8", 2: "b16", 4: "b32", 8: "b64"}.get(size)
        kind, dimensions = (scalar, ()) if scalar else ("b8", (size,))
        text = f".{kind}[{size}]" if dimensions else f".{kind}"
        parameters.append(
            Parameter(
                index, f"param_{index}", kind, size, 1 if dimensions else size, offset, dimensions, None, text
            )
        )
    return Signature(name, parameters)
