"""What the manual forbids of tensor memory and shipping kernels have; see docs/emulator/rules.md.

Asked only about a breach that has been found, so that a run without one does nothing for it.
"""

from __future__ import annotations

from ptxkit.asm.decode import Decoded
from ptxkit.asm.flow import FunctionCode
from ptxkit.emulator.tensor_memory.order import Tcgen05InFlight

TESTS = frozenset(
    f"mbarrier.{verb}{parity}" for verb in ("try_wait", "test_wait") for parity in ("", ".parity")
)


def loaded_back(flow: FunctionCode, store: Tcgen05InFlight, load: Tcgen05InFlight) -> bool:
    """Whether a warp loads what itself has stored, each lane its own cells, behind a test of an mbarrier but
    without a wait for the store: the stream-K products of CUTLASS for sm_100, its example 74.

    Its fixup stores sums of accumulators back, and its epilogue loads them by the same shape.
    """
    if (store.site.name, load.site.name) != ("tcgen05.st", "tcgen05.ld") or store.row != load.row:
        return False
    first, second = store.site.decoded, load.site.decoded
    alike = all(first[slot] == second[slot] for slot in ("shape", "num"))
    whole = first["unpack::16b"] is None and second["pack::16b"] is None
    if not alike or not whole or store.writes != load.reads or store.site.function != load.site.function:
        return False
    return _tests_between(flow, store, load)


def _tests_between(flow: FunctionCode, store: Tcgen05InFlight, load: Tcgen05InFlight) -> bool:
    """Whether every path from one to the other tests an mbarrier."""
    start = next(at for at, one in enumerate(flow.instructions) if one is store.site.instruction)
    known: set[int] = set()
    rest = list(flow.successors(start))
    while rest:
        at = rest.pop()
        if at in known or at == len(flow.instructions):
            continue
        known.add(at)
        if flow.instructions[at] is load.site.instruction:
            return False
        if Decoded(flow.instructions[at]).row.name not in TESTS:
            rest += flow.successors(at)
    return True
