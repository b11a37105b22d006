"""Instructions as a multiprocessor sees them: what work each is, and what the assembler made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from ptxkit.emulator.addresses import plain_space
from ptxkit.emulator.code import CodeBlock, Computation, MemoryTransfer
from ptxkit.emulator.faults import Site
from ptxkit.emulator.timing.assembled import ISSUE, SPILLS, SURE, BlockCode
from ptxkit.emulator.timing.machine_code import machine_code
from ptxkit.emulator.timing.private import varies
from ptxkit.isa.modifiers import StateSpace

_LOADS = ("ld", "ldu", "atom", "tex", "tld4", "suld", "mapa", "getctarank")
_STORES = ("st", "stmatrix", "red", "multimem", "sust", "sured")
_LANES = ("shfl", "vote", "activemask", "elect", "redux", "match", "movmatrix")
_PRODUCTS = ("mma", "wmma.mma")
VARIES = "xu"
"""The pipe whose results machine code waits for; of those of the others it knows when they are there."""
READ_ONLY = frozenset({"param", "const"})
"""State spaces whose loads become operands, constants' where the address is none of a register."""
FAR = frozenset({"gpu", "sys", "gl"})
"""What a fence says that reaches other multiprocessors."""
BEHIND = 1 << 30
"""The place of what stands in code behind a block's."""
ASSUMED_LOAD = {"global": 300, "shared": 30}
"""Cycles that the order of a block reckons with."""


class What(IntEnum):
    """What a step of a block is."""

    ARITHMETIC = 0
    NEED = 1
    LOAD = 2
    STORE = 3
    LANES = 4
    PRODUCT = 5
    WAIT_PHASE = 6
    ARRIVE = 7
    BARRIER = 8
    START = 9
    COMMIT = 10
    WAIT_GROUP = 11
    CLUSTER_ARRIVE = 12
    CLUSTER_WAIT = 13
    FENCE = 14
    COPY = 15


OWN = (What.ARITHMETIC, What.NEED, What.COPY)
"""Steps with which nobody beside the warp has to do."""


@dataclass(slots=True)
class InstructionNode:
    """An instruction in the graph of a block."""

    what: What
    pipe: str
    count: float
    latency: float
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    kind: str = ""
    left: int = 0
    beside: tuple[tuple[str, float], ...] = ()
    number: int = 0
    run: int = 0
    part: float = 1.0
    width: int = 0
    before: int = 0
    after: list[int] = field(default_factory=list)
    height: float = 0.0
    place: int | None = None
    moved: int | None = None
    stall: float | None = None
    varies: bool = False
    waits: bool = False
    spilled: tuple[float, float] = (0.0, 0.0)


def nodes_of(block: CodeBlock, code: BlockCode | None, run: int = 0, copy: int = 0) -> list[InstructionNode]:
    """The instructions of a run through a block, of several the one of a number. `copy`: of its code."""
    nodes = [_node(block, number) for number in range(len(block.sites))]
    loaded: int | None = None
    for number, one in enumerate(nodes):
        one.number, one.run = number, run
        if code is None:
            continue
        share, one.moved = code.shares[number], code.moved.get(number)
        one.place = code.place(number, copy, last=one.what is What.ARITHMETIC)
        if one.what is not What.LOAD and one.place is None and (one.moved or 0) > code.stretch:
            one.place = BEHIND
        if one.what is What.LOAD:
            loaded = one.place = loaded if one.place is None else one.place
        one.stall, one.varies = code.stalls[number], VARIES in share
        one.waits = one.kind == "wgmma" and one.what is What.START and code.serialized
        loads, stores = (share.get(pipe, 0.0) for pipe in SPILLS.values())
        one.spilled = loads, stores
        arithmetic = {pipe: n for pipe, n in share.items() if pipe != SURE and pipe not in SPILLS.values()}
        if loads + stores:
            arithmetic[ISSUE] = arithmetic.get(ISSUE, 0.0) + loads + stores
        by_pipe = sorted(((n, pipe) for pipe, n in arithmetic.items()), reverse=True)
        if one.what is What.ARITHMETIC:
            # The pipe that does most counts; the rest is done beside it.
            (one.count, one.pipe), *by_pipe = by_pipe or [(0.0, one.pipe)]
            one.latency = one.latency or 4.0 * min(one.count, 1.0)
        elif one.kind == "local" or (one.what is What.LOAD and one.kind in ("shared", "global")):
            # Neighbouring loads, or loads of the same, may have become one, which has the line of the first
            # of them; and of local memory registers may have been made.
            one.count = min(share.get(SURE, 0.0), 1.0)
            one.part, one.width = one.count, code.widths[number]
        one.beside = tuple((pipe, n) for n, pipe in by_pipe)
    return nodes


def skipped_nodes_of(block: CodeBlock, code: BlockCode | None, run: int) -> list[InstructionNode]:
    """What is left of a block whose machine instructions hang on a predicate that holds for no lane: issue
    slots, and of an access to memory a wavefront. `run`: of the one before it."""
    found = []
    for one in nodes_of(block, code):
        node = InstructionNode(What.ARITHMETIC, one.pipe, one.count, 0, (), (), beside=one.beside, number=-1)
        if one.what in (What.LOAD, What.STORE) and one.count:
            node.what = What.LANES
        node.run, node.place, node.stall = run, one.place, one.stall
        found.append(node)
    return found


def _node(block: CodeBlock, number: int) -> InstructionNode:
    site, ir = block.sites[number], block.ir[number] if block.ir else None
    reads = tuple(block.reads[number])
    writes: Sequence[int] = block.kills[number]
    if isinstance(ir, MemoryTransfer):
        writes = [target.slot for target in ir.targets if target is not None]
    elif isinstance(ir, Computation):
        writes = sorted(ir.writes)
    what, kind, left = (What.LOAD, "const", 0) if varies(ir, site) else _kind(site)
    if what is not What.ARITHMETIC:
        latency = ASSUMED_LOAD.get(kind, 24) if what in (What.LOAD, What.LANES) else 1
        return InstructionNode(what, "alu", 1, latency, reads, tuple(writes), kind, left)
    code = machine_code(site)
    return InstructionNode(what, code.pipe, code.count, code.latency, reads, tuple(writes))


def _kind(site: Site) -> tuple[What, str, int]:
    """What an instruction is to the model, of which kind, and how many groups may be pending behind it."""
    name, traits = site.name, site.row.traits
    spaces = {plain_space(space) for space in site.decoded.all(StateSpace)}
    if spaces & READ_ONLY:
        return What.ARITHMETIC, "", 0
    if name == "bar.warp.sync":
        return What.ARITHMETIC, "", 0
    if name.startswith(("mbarrier.try_wait", "mbarrier.test_wait")):
        return What.WAIT_PHASE, "", 0
    if name.startswith("barrier.cluster"):
        return (What.CLUSTER_WAIT if name.endswith("wait") else What.CLUSTER_ARRIVE), "", 0
    if "meets" in traits or name.endswith("bar.arrive") or name.startswith(("bar.", "barrier.")):
        return What.BARRIER, "arrive" if "arrive" in name else "", 0
    if "commits" in traits and name != "tcgen05.commit":
        return What.COMMIT, _group(name), 0
    if "awaits" in traits:
        return What.WAIT_GROUP, _group(name), _pending(site)
    if name.startswith(
        ("cp.", "wgmma.mma", "tcgen05.mma", "tcgen05.cp", "tcgen05.commit", "st.async", "red.async")
    ):
        return What.START, _group(name), 0
    if "arrives" in traits or name.startswith("mbarrier"):
        return What.ARRIVE, "", 0
    if "fences" in traits:
        return What.FENCE, _reach(site), 0
    space = "shared" if "shared" in spaces or name in ("ldmatrix", "stmatrix") else "global"
    space = "local" if "local" in spaces else space
    first = name.partition(".")[0]
    if name.startswith("tcgen05.ld"):
        return What.LOAD, "tensor", 0
    if name.startswith("tcgen05.st"):
        return What.STORE, "tensor", 0
    if first in _LOADS or "loads" in traits:
        return What.LOAD, space, 0
    if first in _STORES or name.startswith("wmma.store"):
        return What.STORE, space, 0
    if first in _LANES:
        return What.LANES, "", 0
    if first in _PRODUCTS or name in _PRODUCTS:
        return What.PRODUCT, "", 0
    return What.ARITHMETIC, "", 0


def _group(name: str) -> str:
    if name.startswith("wgmma"):
        return "wgmma"
    if name.startswith("tcgen05"):
        return "tcgen05"
    return "bulk" if "bulk" in name else "cp.async"


def _pending(site: Site) -> int:
    """How many groups may be pending behind a wait; 0 where it says none."""
    operand = site.instruction.operands[0] if site.instruction.operands else None
    value = getattr(operand, "value", 0)
    return int(value) if isinstance(value, int) else 0


def _reach(site: Site) -> str:
    """How far a fence reaches: `proxy`, `cta` or `gpu`."""
    if site.name.endswith(".proxy"):
        return "proxy"
    slots = site.decoded.match.slots
    return "gpu" if FAR & {slots.get("scope", ""), slots.get("level", "")} else "cta"
