"""Whether the host has memory for the tensors of a plan."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ptxkit.diagnostics import PtxkitError, error
from ptxkit.plan import LaunchPlan


@contextmanager
def host_memory(plan: LaunchPlan) -> Iterator[None]:
    """What is done within needs memory for the tensors. Raises P564, there is too little."""
    try:
        yield
    except MemoryError:
        raise _too_little_memory(plan, None) from None


def check_host_memory(plan: LaunchPlan) -> None:
    """Refuse what would not fit, rather than be killed for it; the reference works in small pieces."""
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return
    if plan.bytes > free:
        raise _too_little_memory(plan, free)


def _too_little_memory(plan: LaunchPlan, free: int | None) -> PtxkitError:
    found = f", found {free:,} free" if free is not None else ""
    message = f"expected {plan.bytes:,} bytes of host memory for the tensors{found}"
    return error("P564", message, help="choose smaller sizes")
