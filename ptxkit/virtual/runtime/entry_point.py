"""Driver entry point access from the runtime."""

from __future__ import annotations

from ptxkit.virtual.abi import Int, Pointer, put, put_if, text
from ptxkit.virtual.driver.entry_point import FOUND, PER_THREAD, find
from ptxkit.virtual.driver.initialization import VERSION
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.runtime import runtime


@runtime()
def cudaGetDriverEntryPointByVersion(
    machine: Machine, symbol: int, function: int, version: int, flags: int, status: int
) -> None:
    found, answer = find(text(symbol), version, bool(flags & PER_THREAD))
    put(function, Pointer, machine.address_of(found.name) if found else 0)
    put_if(status, Int, answer if found is None else FOUND)


@runtime()
def cudaGetDriverEntryPoint(machine: Machine, symbol: int, function: int, flags: int, status: int) -> None:
    cudaGetDriverEntryPointByVersion(machine, symbol, function, VERSION, flags, status)
