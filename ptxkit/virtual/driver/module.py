"""Module management, the linker among it."""

from __future__ import annotations

import ctypes
from collections import Counter
from pathlib import Path
from typing import ClassVar

from ptxkit import targets
from ptxkit.asm import Module, parse
from ptxkit.asm.link import link
from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator.operations.call import is_provided
from ptxkit.virtual.abi import (
    Pointer,
    Size,
    UInt,
    lasting_text,
    memory,
    put,
    put_several,
    require_place,
    several,
    text,
)
from ptxkit.virtual.driver import driver
from ptxkit.virtual.gpu.handles import Object
from ptxkit.virtual.gpu.images import ELF, FAT, best_for, ptx_of
from ptxkit.virtual.gpu.loading import MAX_TEXT, parsed_for
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.module import VirtualFunction, VirtualModule
from ptxkit.virtual.results import DriverError, code, failure

MAX_REGISTERS, INFO_LOG, INFO_SIZE, ERROR_LOG, ERROR_SIZE, TARGET = 0, 3, 4, 5, 6, 9
OPTIONS = 35
"""`CUjit_option`, and how many there are."""
ARCHIVE = b"!<arch>\n"
"""The first bytes of a library such as libcudadevrt.a."""
CUBIN, PTX, FATBINARY, OBJECT, LIBRARY, NVVM = range(6)
"""`CUjitInputType`."""


EMPTY = ".version 7.0\n.target sm_70\n.address_size 64\n"
"""What a link of nothing gives."""


class JitOptions:
    """The options of a compilation: where its log goes."""

    def __init__(self, count: int, names: int, values: int) -> None:
        self._place = values
        self._order = several(names, ctypes.c_int, count)
        for name in self._order:
            if not 0 <= name < OPTIONS:
                raise failure("INVALID_VALUE", f"there is no option {name} of a compilation")
        self.values = dict(zip(self._order, several(values, Pointer, count), strict=True))
        if not self._word(MAX_REGISTERS, 1):
            raise failure("INVALID_VALUE", "threads of at most 0 registers")
        self.target = targets.parse(f"sm_{self._word(TARGET, 90)}") if TARGET in self.values else None
        if TARGET in self.values and self.target is None:
            raise failure("INVALID_VALUE", f"there is no target {self._word(TARGET, 0)}")

    def _word(self, name: int, default: int) -> int:
        return (self.values.get(name, default) or 0) & 0xFFFFFFFF

    def require_target(self, source: str) -> None:
        """Refuse PTX that does not run on the target that it is to be compiled for. Raises DriverError."""
        if self.target is not None and best_for(self.target, [source]) is None:
            raise failure("INVALID_PTX", f"the PTX does not run on {self.target}")

    def log(self, problem: DriverError | None) -> None:
        """Tell the caller what was wrong."""
        message = problem.why if problem else ""
        buffer, size = self.values.get(ERROR_LOG, 0), self.values.get(ERROR_SIZE, 0) & 0xFFFFFFFF
        data = message.encode()[: max(size - 1, 0)] + b"\0"
        if buffer and size:
            ctypes.memmove(buffer, data, len(data))
        for index, name in enumerate(self._order):
            if name in (INFO_SIZE, ERROR_SIZE):
                put(self._place + 8 * index, UInt, len(data) - 1 if name == ERROR_SIZE else 0)
        info, room = self.values.get(INFO_LOG, 0), self.values.get(INFO_SIZE, 0) & 0xFFFFFFFF
        if info and room:
            ctypes.memmove(info, b"\0", 1)


def _load(machine: Machine, module: int, source: str) -> None:
    context = machine.context()
    require_place(module)
    put(module, Pointer, context.own(VirtualModule(context, source)))


@driver("cuModuleLoadData", "cuModuleLoadFatBinary")
def cuModuleLoadData(machine: Machine, module: int, image: int) -> None:
    _load(machine, module, ptx_of(image, machine.context().device.target))


@driver()
def cuModuleLoadDataEx(
    machine: Machine, module: int, image: int, count: int, names: int, values: int
) -> None:
    options = JitOptions(count, names, values)
    try:
        context = machine.context()
        source = ptx_of(image, context.device.target)
        options.require_target(source)
        _load(machine, module, source)
        options.log(None)
    except DriverError as problem:
        options.log(problem)
        raise


@driver()
def cuModuleLoad(machine: Machine, module: int, path: int) -> None:
    machine.context()
    with file_contents(text(path)) as image:
        cuModuleLoadData(machine, module, image)


class file_contents:
    """A file in memory, with a zero byte behind it: `with file_contents(path) as address`."""

    def __init__(self, path: str) -> None:
        try:
            self._data = ctypes.create_string_buffer(Path(path).read_bytes())
        except OSError as problem:
            raise failure("FILE_NOT_FOUND", f"`{path}` can't be read: {problem.strerror}") from None

    def __enter__(self) -> int:
        return ctypes.addressof(self._data)

    def __exit__(self, *_: object) -> None:
        pass


@driver()
def cuModuleUnload(machine: Machine, module: int) -> None:
    found = machine.handles.get(VirtualModule, module)
    machine.schedule.finish_all(found.context)
    found.close()
    found.context.disown(found)


@driver()
def cuModuleGetFunction(machine: Machine, function: int, module: int, name: int) -> None:
    put(function, Pointer, machine.handles.get(VirtualModule, module).function(text(name)).handle)


@driver()
def cuModuleGetFunctionCount(machine: Machine, count: int, module: int) -> None:
    put(count, UInt, len(machine.handles.get(VirtualModule, module).names))


@driver()
def cuModuleEnumerateFunctions(machine: Machine, functions: int, count: int, module: int) -> None:
    found = machine.handles.get(VirtualModule, module)
    put_several(functions, Pointer, [found.function(name).handle for name in found.names[:count]])


@driver("cuModuleGetGlobal_v2")
def cuModuleGetGlobal(machine: Machine, address: int, size: int, module: int, name: int) -> None:
    where, count = machine.handles.get(VirtualModule, module).variable(text(name))
    if address:
        put(address, Size, where)
    if size:
        put(size, Size, count)


@driver()
def cuFuncGetModule(machine: Machine, module: int, function: int) -> None:
    if not function:
        raise failure("INVALID_VALUE", "the function is null")
    put(module, Pointer, machine.handles.get(VirtualFunction, function).module.handle)


@driver()
def cuFuncGetName(machine: Machine, name: int, function: int) -> None:
    if not function:
        raise failure("INVALID_VALUE", "the function is null")
    put(name, Pointer, lasting_text(machine.handles.get(VirtualFunction, function).name))


@driver("cuFuncIsLoaded")
def cuFuncIsLoaded(machine: Machine, state: int, function: int) -> None:
    machine.handles.get(VirtualFunction, function)
    put(state, UInt, 1)


@driver()
def cuFuncLoad(machine: Machine, function: int) -> None:
    machine.handles.get(VirtualFunction, function)


# ---- the linker: it links PTX, and gives PTX


class Linker(Object):
    """A link that is being made.

    Attributes:
        inputs: PTX, with what each is called.
        machine_code: what was given besides, by name.
        options: where its log goes.
        whole: the text that came out, as it lies in memory.
    """

    noun: ClassVar[str] = "link"

    def __init__(self, options: JitOptions) -> None:
        self.inputs: list[tuple[str, str]] = []
        self.machine_code: list[str] = []
        self.options = options
        self.whole: ctypes.Array[ctypes.c_char] | None = None

    def linked(self) -> str:
        """All inputs as one text.

        Raises:
            DriverError: INVALID_PTX, they don't fit together.
        """
        if not self.inputs:
            return EMPTY
        modules = [parse(source, name=name, max_size=MAX_TEXT) for source, name in self.inputs]
        _refuse_errors(modules)
        if len(modules) == 1:
            self._require_all(modules)
            return self.inputs[0][0]
        entries = Counter(entry.name for module in modules for entry in module.entries)
        twice = [name for name, count in entries.items() if count > 1]
        if twice:
            raise failure("INVALID_PTX", f"Multiple definition of '{twice[0]}'")
        try:
            whole = link(modules)
        except PtxkitError as problem:
            raise failure("INVALID_PTX", str(problem)) from None
        assert whole.source is not None
        self._require_all(modules)
        return whole.source.text

    def _require_all(self, modules: list[Module]) -> None:
        """Refuse a link that lacks a function.

        Raises:
            DriverError: INVALID_PTX, it was not given; NO_BINARY_FOR_GPU, or as machine code.
        """
        functions = [function for module in modules for function in module.functions]
        there = {function.name for function in functions if function.body is not None}
        wanted = {function.name for function in functions} - there
        missing = sorted(name for name in wanted if not is_provided(name))
        if missing and self.machine_code:
            raise failure(
                "NO_BINARY_FOR_GPU",
                f"`{missing[0]}` is given as machine code alone, by {self.machine_code[0]}",
            )
        if missing:
            raise failure("INVALID_PTX", f"Undefined reference to '{missing[0]}'")


def _refuse_errors(modules: list[Module]) -> None:
    """Refuse PTX with errors. Raises DriverError: INVALID_PTX."""
    wrong = [diagnostic for module in modules for diagnostic in module.diagnostics if diagnostic.is_error]
    if wrong:
        raise failure("INVALID_PTX", str(PtxkitError(wrong)))


@driver("cuLinkCreate_v2", "cuLinkCreate")
def cuLinkCreate(machine: Machine, count: int, names: int, values: int, state: int) -> None:
    require_place(state)
    put(state, Pointer, machine.context().own(Linker(JitOptions(count, names, values))))


def add_input(machine: Machine, linker: Linker, kind: int, address: int, size: int, name: str) -> None:
    """Add an input to a link.

    Raises:
        DriverError: INVALID_IMAGE, it is not PTX.
    """
    head = memory(address, min(size, 8))
    if head == ARCHIVE:
        linker.machine_code.append(f"`{name}`" if name else "a library")
        return  # what of it PTX can call, the emulator knows or the link lacks
    head = head[:4]
    if kind == PTX or head not in (FAT, ELF):
        source = memory(address, size).partition(b"\0")[0].decode("utf-8", "replace")
        if ".version" not in source:
            raise failure("INVALID_IMAGE", f"expected PTX as the input `{name}`: nothing else can be linked")
    else:
        source = ptx_of(address, machine.context().device.target)
    linker.inputs.append((source if source.endswith("\n") else source + "\n", name or "<input>"))


def _add(machine: Machine, linker: Linker, kind: int, address: int, size: int, name: str) -> None:
    """Add an input to a link, and tell its log what is wrong with it. Raises DriverError."""
    if linker.whole is not None:
        raise failure("INVALID_VALUE", "the link is complete already")
    before = len(linker.inputs)
    try:
        add_input(machine, linker, kind, address, size, name)
        device = machine.context().device
        _refuse_errors([parsed_for(device, *given) for given in linker.inputs[before:]])
    except DriverError as problem:
        del linker.inputs[before:]
        linker.options.log(problem)
        raise


@driver("cuLinkAddData_v2", "cuLinkAddData")
def cuLinkAddData(
    machine: Machine, state: int, kind: int, data: int, size: int, name: int, *options: int
) -> None:
    label = text(name) if name else ""
    if not CUBIN <= kind <= NVVM:
        raise failure("INVALID_VALUE", f"there is no kind {kind} of inputs")
    if not size:
        raise failure("INVALID_VALUE", "an input of no bytes")
    _add(machine, machine.handles.get(Linker, state), kind, data, size, label)


@driver("cuLinkAddFile_v2", "cuLinkAddFile")
def cuLinkAddFile(machine: Machine, state: int, kind: int, path: int, *options: int) -> None:
    linker, name = machine.handles.get(Linker, state), text(path)
    with file_contents(name) as address:
        _add(machine, linker, kind, address, Path(name).stat().st_size, name)


@driver()
def cuLinkComplete(machine: Machine, state: int, cubin: int, size: int) -> None:
    linker = machine.handles.get(Linker, state)
    require_place(cubin)
    if linker.whole is not None:
        raise failure("INVALID_HANDLE", "the link is complete already")
    try:
        linker.whole = ctypes.create_string_buffer(linker.linked().encode())
        linker.options.log(None)
    except DriverError as problem:
        linker.options.log(problem)
        if problem.code == code("INVALID_PTX"):  # each input was right: they don't fit together
            raise failure("UNKNOWN", problem.why) from None
        raise
    put(cubin, Pointer, ctypes.addressof(linker.whole))
    put(size, Size, len(linker.whole))


@driver()
def cuLinkDestroy(machine: Machine, state: int) -> None:
    machine.context().disown(machine.handles.get(Linker, state))
