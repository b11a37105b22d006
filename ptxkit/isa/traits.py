"""What instructions do beyond their syntax, each trait with all instructions that have it.

An instruction has its traits by its name (`ptxkit.isa.names`), whatever modifiers and operands follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Trait(NamedTuple):
    """What it says, and the names of the instructions of which it is true, separated by blanks."""

    meaning: str
    instructions: str


TRAITS: Mapping[str, Trait] = {
    "branches": Trait("control goes on at a label, unless a guard keeps it here", "bra brx.idx"),
    "calls": Trait("control goes to a function and comes back", "call"),
    "ends": Trait("the thread leaves the function, or is gone", "ret exit trap"),
    "returns": Trait("control goes back to the caller", "ret"),
    "aligned": Trait(
        "all threads of a warp execute it together, though no `.aligned` says so",
        "bar.sync bar.arrive bar.red",
    ),
    "carries": Trait(
        "the carry flag is read; it is written where the slot `.cc` is filled", "addc subc madc.lo madc.hi"
    ),
    "loads": Trait(
        "registers get what is in memory, and nothing else happens",
        "ld ldu ldmatrix multimem.ld_reduce wmma.load.a wmma.load.b wmma.load.c",
    ),
    "loads_tensor_memory": Trait(
        "registers get what is in tensor memory",
        "tcgen05.ld tcgen05.ld.red tcgen05.ld.spcompress tcgen05.ld.red.spcompress",
    ),
    "stores": Trait(
        "memory at the address of an operand is written",
        "st st.async st.bulk stmatrix wmma.store.d multimem.st multimem.red atom red red.async cp.async "
        "cp.async.bulk cp.async.bulk.tensor cp.reduce.async.bulk cp.reduce.async.bulk.tensor "
        "tensormap.replace tensormap.cp_fenceproxy clusterlaunchcontrol.try_cancel.async tcgen05.alloc "
        "multimem.st.async multimem.red.async multimem.cp.async.bulk multimem.cp.reduce.async.bulk "
        "fabric.try_get.async fabric.try_get.async.tensor fabric.try_pullred.async fabric.try_atom.async",
    ),
    "fences": Trait(
        "the thread's accesses are ordered, and nothing is moved",
        "fence fence.proxy membar membar.proxy wgmma.fence tcgen05.fence::before_thread_sync "
        "tcgen05.fence::after_thread_sync",
    ),
    "commits": Trait(
        "asynchronous operations that were begun before become a group, or have an mbarrier track them",
        "cp.async.commit_group cp.async.bulk.commit_group wgmma.commit_group tcgen05.commit",
    ),
    "awaits": Trait(
        "the thread goes on once what was begun before it is over",
        "cp.async.wait_group cp.async.wait_all cp.async.bulk.wait_group wgmma.wait_group tcgen05.wait::ld "
        "tcgen05.wait::st barrier.cluster.wait",
    ),
    "meets": Trait(
        "the threads of a CTA or of a cluster wait for one another",
        "bar.sync bar.red barrier.sync barrier.aligned.sync barrier.red barrier.cluster.wait",
    ),
    "arrives": Trait(
        "the count of an mbarrier's phase changes, or what it has yet to be told of",
        "mbarrier.arrive mbarrier.arrive.expect_tx mbarrier.arrive_drop mbarrier.arrive_drop.expect_tx "
        "mbarrier.expect_tx mbarrier.complete_tx cp.async.mbarrier.arrive",
    ),
    "arrives_behind": Trait(
        "the arrival comes once the thread's copies are done", "cp.async.mbarrier.arrive"
    ),
    "copies_generic": Trait("bytes are copied asynchronously, through the generic proxy", "cp.async"),
    "cancels": Trait(
        "a cluster is kept from starting; a response says which", "clusterlaunchcontrol.try_cancel.async"
    ),
    "multiplies_registers": Trait("matrices in registers are read after the instruction", "wgmma.mma_async"),
    "from_generic": Trait("a generic address becomes one of a state space", "cvta.to"),
    "reaches_all": Trait(
        "what every CTA of every grid may see changes, beside plain memory",
        "multimem.ld_reduce multimem.st multimem.red multimem.st.async multimem.red.async multimem.cp.async.bulk "
        "multimem.cp.reduce.async.bulk fabric.try_get.async fabric.try_get.async.tensor fabric.try_put.async "
        "fabric.try_put.async.tensor fabric.try_red.async fabric.try_red.async.tensor fabric.try_pullred.async "
        "fabric.try_atom.async tensormap.replace tensormap.cp_fenceproxy sust.b sust.p sured.b sured.p discard",
    ),
    "programmatic": Trait("one grid is ordered with the next", "griddepcontrol"),
    "reduces": Trait(
        "each element of memory is read, combined and written as one: several need no order among them",
        "atom red red.async multimem.red multimem.red.async cp.reduce.async.bulk cp.reduce.async.bulk.tensor "
        "multimem.cp.reduce.async.bulk sured.b sured.p",
    ),
}
"""Every trait."""


def _by_name() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for trait, (_, instructions) in TRAITS.items():
        for name in instructions.split():
            found.setdefault(name, set()).add(trait)
    return {name: frozenset(traits) for name, traits in found.items()}


TRAITS_OF = _by_name()
"""The traits of each instruction that has any, by its name."""
