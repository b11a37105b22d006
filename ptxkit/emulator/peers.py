"""Memory of another device that a kernel may not reach: no peer access is enabled, no mapping allows it."""

from __future__ import annotations

from ptxkit.diagnostics import counted
from ptxkit.emulator.faults import EmulatorFault, Site, fault
from ptxkit.emulator.global_memory import Allocation
from ptxkit.emulator.launch_state import LaunchState


def no_peer(
    launch: LaunchState, allocation: Allocation, site: Site, who: str, at: int, size: int
) -> EmulatorFault:
    """What is said of an access to it. `who`: the thread. `at`, `size`: the bytes."""
    return fault(
        "P6152",
        f"{counted(size, 'byte')} at {at:#x} are memory that device {launch.device} may not reach",
        site,
        (who, f"byte {at - allocation.address} of {allocation}"),
        "enable peer access in this device's context, or give its device access to the mapping or the pool",
    )
