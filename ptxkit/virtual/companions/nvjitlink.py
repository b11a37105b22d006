"""`libnvJitLink.so.13`: it links PTX, and what it calls a cubin is PTX. nvJitLink's manual, "User
interface"."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any, ClassVar

from ptxkit.targets import NEWEST_VERSION, parse, show
from ptxkit.virtual.abi import Pointer, Size, UInt, memory, put, several, text
from ptxkit.virtual.companions.lto import INPUT_LTOIR, ptx_of_ltoir
from ptxkit.virtual.dispatch import FunctionTable
from ptxkit.virtual.driver.module import OBJECT, PTX, JitOptions, Linker, add_input, file_contents
from ptxkit.virtual.gpu.handles import Object
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.results import DriverError, failure
from ptxkit.virtual.symbols import ExportedSymbol

VERSIONS = ("13_0", "13_1", "13_2", "13_3", "13_4", "13_5")
"""Each function goes by its name and, for programs that were compiled, by that of each version."""
DECLARATIONS = """
Create handle:p count:u options:p
Destroy handle:p
AddData handle:p type:i data:p size:z name:p
AddFile handle:p type:i path:p
Complete handle:p
GetLinkedCubinSize handle:p size:p
GetLinkedCubin handle:p cubin:p
GetLinkedPtxSize handle:p size:p
GetLinkedPtx handle:p ptx:p
GetLinkedLTOIRSize handle:p size:p
GetLinkedLTOIR handle:p ltoir:p
GetErrorLogSize handle:p size:p
GetErrorLog handle:p log:p
GetInfoLogSize handle:p size:p
GetInfoLog handle:p log:p
"""
UNRECOGNIZED_OPTION, INVALID_INPUT, PTX_COMPILE, INTERNAL = 1, 3, 4, 6
"""`nvJitLinkResult`; what goes wrong with the inputs is INVALID_INPUT, but for a version that is too new."""
OPTIONS = re.compile(
    "-(?:time|verbose|lto|ptx|r|g|lineinfo|optimize-unused-variables|no-cache|O[0-3]|"
    "(?:arch|maxrregcount|ftz|prec-div|prec-sqrt|fma|kernels-used|variables-used|Xptxas|Xnvvm|split-compile|"
    "split-compile-extended|jump-table-density|device-stack-protector)=.*)"
)
"""What nvJitLink's manual lists."""
NO_SUCH_OPTION = 500
"""The driver's error of a name that there is not."""
UNSUPPORTED_PTX_VERSION = 222
"""The driver's error for that."""
INPUT_PTX = 2
"""`nvJitLinkInputType`."""

nvjitlink = FunctionTable()


def symbols() -> tuple[ExportedSymbol, ...]:
    """What the library exports."""
    found = [ExportedSymbol("nvJitLinkVersion", 0, (("major", "p"), ("minor", "p")))]
    for name, *parameters in (line.split() for line in DECLARATIONS.strip().split("\n")):
        declared = tuple((one.split(":")[0], one.split(":")[1]) for one in parameters)
        names = [f"nvJitLink{name}", *(f"__nvJitLink{name}_{version}" for version in VERSIONS)]
        found += [ExportedSymbol(one, 0, declared) for one in names]
    return tuple(sorted(found, key=lambda symbol: symbol.name))


def load() -> FunctionTable:
    """Its functions."""
    return nvjitlink


def failed(code: int) -> int:
    """What a call returns for an error code of the driver."""
    if code in (UNSUPPORTED_PTX_VERSION, NO_SUCH_OPTION):
        return PTX_COMPILE if code == UNSUPPORTED_PTX_VERSION else UNRECOGNIZED_OPTION
    return INVALID_INPUT if code not in (801, 999) else INTERNAL


class Link(Object):
    """A link that is being made.

    Attributes:
        linker: what makes it.
        options: as they were given.
        ltoir: inputs that have to become PTX first.
        ptx: what came of it, with a zero byte behind it.
        log: what is wrong with it.
    """

    noun: ClassVar[str] = "link"

    def __init__(self, options: list[str]) -> None:
        self.options = options
        self.ltoir: list[tuple[bytes, str]] = []
        self.linker = Linker(JitOptions(0, 0, 0))
        self.ptx = b""
        self.log = b"\0"


def _function(name: str) -> Any:
    """Register a function under all its names."""
    return nvjitlink(
        f"nvJitLink{name}", *(f"__nvJitLink{name}_{version}" for version in VERSIONS), early=True
    )


@nvjitlink("nvJitLinkVersion", early=True)
def version(machine: Machine, major: int, minor: int) -> None:
    """The newest version whose names are there."""
    for address, number in zip((major, minor), VERSIONS[-1].split("_"), strict=True):
        put(address, UInt, int(number))


@_function("Create")
def create(machine: Machine, handle: int, count: int, options: int) -> None:
    """Begin a link; its options are for LTO-IR alone."""
    words = [text(place) for place in several(options, Pointer, count)]
    for word in words:
        name, _, value = word.partition("=")
        if not OPTIONS.fullmatch(word) or (name == "-arch" and not _is_target(value)):
            raise failure("NOT_FOUND", f"nvJitLink has no option `{word}`")
    put(handle, Pointer, machine.handles.add(Link(words)))


@_function("Destroy")
def destroy(machine: Machine, handle: int) -> None:
    """Let go of a link."""
    machine.handles.remove(machine.handles.get(Link, Pointer.from_address(handle).value))
    put(handle, Pointer, 0)


def _is_target(name: str) -> bool:
    """Whether a target of machine code or of PTX is known; those older than all that are here count, too."""
    match = re.fullmatch(r"(?:sm|compute|lto)_(\d+)[af]?", name)
    return match is not None and (int(match[1]) < 70 or parse(f"sm_{name.partition('_')[2]}") is not None)


def _refuse_newer(source: bytes) -> None:
    """Refuse PTX of a version that nobody here knows, in the linker's words: programs find the newest version
    that it knows by asking for one that there is not, as XLA does.

    Raises:
        DriverError: UNSUPPORTED_PTX_VERSION.
    """
    found = re.search(rb"^\s*\.version\s+(\d+)\.(\d+)", source, re.MULTILINE)
    if found and (int(found[1]), int(found[2])) > NEWEST_VERSION:
        line = source.count(b"\n", 0, found.end()) + 1
        asked = f"{found[1].decode()}.{found[2].decode()}"
        raise failure(
            "UNSUPPORTED_PTX_VERSION",
            f"ptxas application ptx input, line {line}; fatal   : Unsupported .version {asked}; "
            f"current version is '{show(NEWEST_VERSION)}'",
        )


def _add(machine: Machine, link: Link, kind: int, address: int, size: int, name: str) -> None:
    if kind == INPUT_LTOIR:
        link.ltoir.append((memory(address, size), name or "<input>"))
        return
    try:
        if kind == INPUT_PTX:
            _refuse_newer(memory(address, size))
        add_input(machine, link.linker, PTX if kind == INPUT_PTX else OBJECT, address, size, name)
    except DriverError as problem:
        link.log = problem.why.encode() + b"\0"
        raise


@_function("AddData")
def add_data(machine: Machine, handle: int, kind: int, data: int, size: int, name: int) -> None:
    """Add an input."""
    _add(machine, machine.handles.get(Link, handle), kind, data, size, text(name) if name else "")


@_function("AddFile")
def add_file(machine: Machine, handle: int, kind: int, path: int) -> None:
    """Add a file."""
    link, name = machine.handles.get(Link, handle), text(path)
    with file_contents(name) as address:
        _add(machine, link, kind, address, Path(name).stat().st_size, name)


@_function("Complete")
def complete(machine: Machine, handle: int) -> None:
    """Link what was added."""
    link = machine.handles.get(Link, handle)
    try:
        if link.ltoir:
            link.linker.inputs.insert(0, (ptx_of_ltoir(link.ltoir, link.options), "<LTO-IR>"))
        link.ptx = link.linker.linked().encode() + b"\0"
    except DriverError as problem:
        link.log = problem.why.encode() + b"\0"
        raise


@_function("GetLinkedCubinSize")
def cubin_size(machine: Machine, handle: int, size: int) -> None:
    """Bytes of what came of it."""
    put(size, Size, len(machine.handles.get(Link, handle).ptx))


@_function("GetLinkedCubin")
def cubin(machine: Machine, handle: int, place: int) -> None:
    """What came of it."""
    link = machine.handles.get(Link, handle)
    ctypes.memmove(place, link.ptx, len(link.ptx))


_function("GetLinkedPtxSize")(cubin_size)
_function("GetLinkedPtx")(cubin)


@_function("GetErrorLogSize")
def error_log_size(machine: Machine, handle: int, size: int) -> None:
    """Bytes of the log."""
    put(size, Size, len(machine.handles.get(Link, handle).log))


@_function("GetErrorLog")
def error_log(machine: Machine, handle: int, place: int) -> None:
    """What is wrong."""
    link = machine.handles.get(Link, handle)
    ctypes.memmove(place, link.log, len(link.log))


@_function("GetInfoLogSize")
def info_log_size(machine: Machine, handle: int, size: int) -> None:
    """There is nothing else to say."""
    put(size, Size, 1)


@_function("GetInfoLog")
def info_log(machine: Machine, handle: int, place: int) -> None:
    """Nothing."""
    ctypes.memset(place, 0, 1)
