"""Driver entry point access: functions by name and version. And what is not given out."""

from __future__ import annotations

from ptxkit.virtual.abi import Int, Pointer, get, put, put_if, text
from ptxkit.virtual.driver import driver
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.results import failure
from ptxkit.virtual.symbols import ExportedSymbol, table

PER_THREAD = 2
"""CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM"""
FOUND, NO_SYMBOL, VERSION_TOO_LOW = 0, 1, 2
STATIC_RUNTIME = (
    "the program asks the driver for private tables, as a CUDA runtime does that is linked statically: these "
    "are not documented, and a virtual GPU has none. Link the program with `-cudart shared`"
)


def find(name: str, version: int, per_thread: bool) -> tuple[ExportedSymbol | None, int]:
    """The symbol that a version of the API means by a name, and the status of the search.

    A function without a revision that fits gets its oldest one where the program asks for an older API.
    """
    symbols = [s for s in table("driver") if s.base == name or s.plain == name]
    if not symbols:
        return None, NO_SYMBOL
    fitting = [s for s in symbols if not s.per_thread and s.version <= version]
    if not fitting:
        return None, VERSION_TOO_LOW
    best = max(fitting, key=lambda s: (s.version, s.revision))
    if per_thread:
        own = next((s for s in symbols if s.per_thread and s.plain == best.plain), None)
        best = own or best
    return best, FOUND


@driver("cuGetProcAddress_v2", early=True)
def cuGetProcAddress_v2(
    machine: Machine, symbol: int, function: int, version: int, flags: int, status: int
) -> None:
    name = text(symbol)
    if flags & ~3:
        raise failure("INVALID_VALUE", f"there are no flags {flags:#x}")
    found, answer = find(name, version, bool(flags & PER_THREAD))
    put(function, Pointer, machine.address_of(found.name) if found else 0)
    put_if(status, Int, answer)


@driver("cuGetProcAddress", early=True)
def cuGetProcAddress(machine: Machine, symbol: int, function: int, version: int, flags: int) -> None:
    cuGetProcAddress_v2(machine, symbol, function, version, flags, 0)
    if not get(function, Pointer):
        raise failure("NOT_FOUND", f"there is no function `{text(symbol)}` in version {version}")


@driver(early=True)
def cuGetExportTable(machine: Machine, exported: int, identifier: int) -> None:
    machine.report.tell(STATIC_RUNTIME)
    put(exported, Pointer, 0)
    raise failure("NOT_FOUND", STATIC_RUNTIME)
