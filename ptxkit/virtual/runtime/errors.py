"""Error handling."""

from __future__ import annotations

from ptxkit.virtual.abi import lasting_text
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.results import describe
from ptxkit.virtual.runtime import runtime
from ptxkit.virtual.runtime.state import state
from ptxkit.virtual.symbols import results


def _sticky(machine: Machine) -> int:
    """What the current context was lost to: such an error is never forgotten."""
    return machine.current.lost if machine.current is not None else 0


@runtime()
def cudaGetLastError(machine: Machine) -> int:
    found = state.thread.error
    state.thread.error = _sticky(machine)
    return found


@runtime()
def cudaPeekAtLastError(machine: Machine) -> int:
    return state.thread.error


@runtime()
def cudaGetErrorName(machine: Machine, error: int) -> int:
    driver, runtime_name, _ = results().get(error, (None, None, ""))
    return lasting_text(runtime_name or driver or "unrecognized error code")


@runtime()
def cudaGetErrorString(machine: Machine, error: int) -> int:
    return lasting_text(describe(error) if error in results() else "unrecognized error code")
