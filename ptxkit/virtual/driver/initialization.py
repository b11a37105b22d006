"""Initialization, version management, error handling, profiler control."""

from __future__ import annotations

from ptxkit.virtual.abi import Int, Pointer, lasting_text, put
from ptxkit.virtual.driver import driver
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.results import describe, failure
from ptxkit.virtual.symbols import results

VERSION = 13000
"""Of the driver API: 13.0. Functions that are newer exist, and say that they are not supported."""


@driver(early=True)
def cuInit(machine: Machine, flags: int) -> None:
    if flags:
        raise failure("INVALID_VALUE", f"expected 0 as the flags, found {flags}")
    machine.initialised = True


@driver(early=True)
def cuDriverGetVersion(machine: Machine, version: int) -> None:
    put(version, Int, VERSION)


@driver(early=True)
def cuGetErrorName(machine: Machine, error: int, text: int) -> None:
    known = results().get(error, (None,))[0]
    put(text, Pointer, lasting_text(known) if known else 0)
    if known is None:
        raise failure("INVALID_VALUE")


@driver(early=True)
def cuGetErrorString(machine: Machine, error: int, text: int) -> None:
    known = results().get(error, (None,))[0]
    put(text, Pointer, lasting_text(describe(error)) if known else 0)
    if known is None:
        raise failure("INVALID_VALUE")


@driver("cuProfilerStart", "cuProfilerStop")
def nothing_to_profile(machine: Machine) -> None:
    machine.context()


@driver()
def cuModuleGetLoadingMode(machine: Machine, mode: int) -> None:
    put(mode, Int, 2)  # CU_MODULE_LAZY_LOADING
