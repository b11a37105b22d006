"""Blocks of instructions as a multiprocessor sees them: stretches of arithmetic, and what lies between.

ptxas orders the instructions of a block anew. By rule: loads go as far up as their addresses and the stores
before them let them, and of what could be next the instruction comes first that most others wait for.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from ptxkit.emulator.addresses import plain_space
from ptxkit.emulator.code import Code, CodeBlock, Computation, MemoryTransfer
from ptxkit.emulator.faults import Site
from ptxkit.emulator.timing.gpu import Gpu
from ptxkit.emulator.timing.machine_code import machine_code
from ptxkit.isa.modifiers import StateSpace

_LOADS = ("ld", "ldu", "ldmatrix", "atom", "tex", "tld4", "suld", "multimem.ld_reduce", "mapa", "getctarank")
_STORES = ("st", "stmatrix", "red", "multimem.st", "multimem.red", "sust", "sured")
_LANES = ("shfl", "vote", "activemask", "elect", "redux", "match", "movmatrix")
_PRODUCTS = ("mma", "wmma.mma")
READ_ONLY = frozenset({"param", "const"})
"""State spaces whose loads become operands."""
FAR = frozenset({"gpu", "sys", "gl"})
"""What a fence says that reaches other multiprocessors."""
RENAMED = 1 << 24
"""Numbers of values that only a block sees; those below are slots."""
MOST_LOADED = 64
"""Registers that wait for loads at a time, by rule: the assembler has no more to spare."""
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


_LATE = (What.LOAD, What.LANES, What.PRODUCT)


@dataclass(frozen=True, slots=True)
class BlockStep:
    """A step.

    Attributes:
        what: of which kind.
        number: of the instruction in the block; -1 of arithmetic.
        slots: the registers that it waits for, or that get what it brings.
        sources: the registers that it copies.
        issue: machine instructions.
        cycles: from its beginning to its end, if nobody else is there.
        pipes: for how many cycles it occupies each pipe of the scheduler.
        kind: of a group: `cp.async`, `bulk`, `wgmma`; of an access its space; of a fence its reach.
        left: of a wait for groups how many may be pending.
    """

    what: What
    number: int = -1
    slots: tuple[int, ...] = ()
    sources: tuple[int, ...] = ()
    issue: float = 0.0
    cycles: float = 0.0
    pipes: tuple[tuple[str, float], ...] = ()
    kind: str = ""
    left: int = 0


@dataclass(slots=True)
class _Node:
    """An instruction in the graph of a block."""

    what: What
    pipe: str
    count: float
    latency: float
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    kind: str = ""
    left: int = 0
    before: int = 0
    after: list[int] = field(default_factory=list)
    height: float = 0.0


def steps_of(block: CodeBlock, late: frozenset[int], gpu: Gpu) -> list[BlockStep]:
    """The steps of a block in the order that ptxas is taken to choose. `late`: as of `late_slots`."""
    nodes = [_node(block, number) for number in range(len(block.sites))]
    late = _renamed(nodes, late)
    _connect(nodes)
    return _steps(nodes, _ordered(nodes), late, gpu)


class Plans:
    """The steps of blocks, each made once.

    Args:
        gpu: the figures.
    """

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu
        self._made: dict[CodeBlock, list[BlockStep]] = {}
        self._late: dict[Code, frozenset[int]] = {}

    def of(self, code: Code, block: CodeBlock) -> list[BlockStep]:
        """The steps of a block of a function."""
        found = self._made.get(block)
        if found is None:
            if code not in self._late:
                self._late[code] = late_slots(code.blocks)
            found = self._made[block] = steps_of(block, self._late[code], self.gpu)
        return found


def late_slots(blocks: Iterable[CodeBlock]) -> frozenset[int]:
    """The registers of a function that something brings of which nobody knows how long it takes."""
    nodes = [_node(block, number) for block in blocks for number in range(len(block.sites))]
    found = {slot for one in nodes if one.what in _LATE for slot in one.writes}
    copies = [one for one in nodes if one.what is What.ARITHMETIC and not one.count]
    while new := {
        slot for one in copies if found.intersection(one.reads) for slot in one.writes if slot not in found
    }:
        found |= new
    return frozenset(found)


def _node(block: CodeBlock, number: int) -> _Node:
    site, ir = block.sites[number], block.ir[number] if block.ir else None
    reads = tuple(block.reads[number])
    writes: Sequence[int] = block.kills[number]
    if isinstance(ir, MemoryTransfer):
        writes = [target.slot for target in ir.targets if target is not None]
    elif isinstance(ir, Computation):
        writes = sorted(ir.writes)
    what, kind, left = _kind(site)
    if what is not What.ARITHMETIC:
        latency = ASSUMED_LOAD.get(kind, 24) if what in (What.LOAD, What.LANES) else 1
        return _Node(what, "alu", 1, latency, reads, tuple(writes), kind, left)
    code = machine_code(site)
    return _Node(what, code.pipe, code.count, code.latency, reads, tuple(writes))


def _kind(site: Site) -> tuple[What, str, int]:
    """What an instruction is to the model, of which kind, and how many groups may be pending behind it."""
    name, traits = site.name, site.row.traits
    spaces = {plain_space(space) for space in site.decoded.all(StateSpace)}
    if spaces & READ_ONLY:
        return What.ARITHMETIC, "", 0
    if name == "bar.warp.sync":
        return What.LANES, "", 0
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
    first = name.partition(".")[0]
    if name.startswith("tcgen05.ld"):
        return What.LOAD, "tensor", 0
    if name.startswith("tcgen05.st"):
        return What.STORE, "tensor", 0
    if first in _LOADS or name in _LOADS:
        return What.LOAD, space, 0
    if first in _STORES or name in _STORES:
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


def _renamed(nodes: list[_Node], late: frozenset[int]) -> frozenset[int]:
    """Give each value of a register that only the block sees a number of its own, as ptxas does: nobody then
    waits for a register to be free. Returns which numbers are late."""
    last = {slot: number for number, one in enumerate(nodes) for slot in one.writes}
    now: dict[int, int] = {}
    new, more = RENAMED, set(late)
    for number, one in enumerate(nodes):
        one.reads = tuple(now.get(slot, slot) for slot in one.reads)
        names = []
        for slot in one.writes:
            if last[slot] == number:
                now[slot] = slot
            else:
                now[slot] = new
                if slot in late:
                    more.add(new)
                new += 1
            names.append(now[slot])
        one.writes = tuple(names)
    return frozenset(more)


def _connect(nodes: list[_Node]) -> None:
    """Which instructions must come before which."""
    written: dict[int, int] = {}
    readers: dict[int, list[int]] = {}
    ordered, loads, stores = -1, dict[str, list[int]](), dict[str, int]()

    def edge(first: int, second: int) -> None:
        if first >= 0 and first != second and second not in nodes[first].after:
            nodes[first].after.append(second)
            nodes[second].before += 1

    for number, one in enumerate(nodes):
        for slot in one.reads:
            edge(written.get(slot, -1), number)
            readers.setdefault(slot, []).append(number)
        for slot in one.writes:
            for reader in readers.pop(slot, ()):
                edge(reader, number)
            edge(written.get(slot, -1), number)
            written[slot] = number
        if one.what in (What.ARITHMETIC, What.NEED):
            continue
        edge(ordered, number)
        if one.what is What.LOAD:
            edge(stores.get(one.kind, -1), number)
            loads.setdefault(one.kind, []).append(number)
        elif one.what is What.STORE:
            for load in loads.pop(one.kind, ()):
                edge(load, number)
            edge(stores.get(one.kind, -1), number)
            stores[one.kind] = number
        elif one.what not in (What.LANES, What.PRODUCT):
            for each in (*loads.values(), list(stores.values())):
                for other in each:
                    edge(other, number)
            loads.clear()
            stores.clear()
            ordered = number
    for number in range(len(nodes) - 1, -1, -1):
        one = nodes[number]
        one.height = one.latency + max((nodes[each].height for each in one.after), default=0.0)


def _ordered(nodes: list[_Node]) -> list[int]:
    """The order: of those that could be next the one that most wait for; no further load while `MOST_LOADED`
    registers wait for theirs, if anything else can be done."""
    waiting = [one.before for one in nodes]
    loads: list[tuple[float, int]] = []
    others: list[tuple[float, int]] = []

    def ready(number: int) -> None:
        one = nodes[number]
        heapq.heappush(loads if one.what is What.LOAD else others, (-one.height, number))

    for number, count in enumerate(waiting):
        if not count:
            ready(number)
    order: list[int] = []
    coming: set[int] = set()
    while loads or others:
        full = len(coming) >= MOST_LOADED
        take = loads if loads and (not others or (not full and loads[0] < others[0])) else others
        _, number = heapq.heappop(take)
        one = nodes[number]
        order.append(number)
        coming.difference_update(one.reads)
        if one.what is What.LOAD:
            coming.update(one.writes)
        for each in one.after:
            waiting[each] -= 1
            if not waiting[each]:
                ready(each)
    return order


def _steps(nodes: list[_Node], order: Sequence[int], late: frozenset[int], gpu: Gpu) -> list[BlockStep]:
    """Stretches of arithmetic in that order, and what lies between them."""
    steps: list[BlockStep] = []
    fixed: set[int] = set()
    done: dict[int, float] = {}
    pipe_free: dict[str, float] = {}
    clock = begun = issue = 0.0
    pipes: dict[str, float] = {}

    def close() -> None:
        nonlocal begun, issue
        if issue:
            used = tuple(sorted(pipes.items()))
            steps.append(BlockStep(What.ARITHMETIC, issue=issue, cycles=clock - begun, pipes=used))
        begun, issue = clock, 0.0
        pipes.clear()

    for number in order:
        one = nodes[number]
        wanted = tuple(slot for slot in one.reads if slot in late and slot not in fixed)
        if wanted and one.what is What.ARITHMETIC and not one.count:
            # A copy that vanishes: who reads it waits for what was copied.
            close()
            steps.append(BlockStep(What.COPY, slots=one.writes, sources=wanted))
            fixed.difference_update(one.writes)
            for slot in one.writes:
                done.pop(slot, None)
            continue
        if wanted:
            if steps and steps[-1].what is What.NEED and not issue:
                steps[-1] = BlockStep(What.NEED, slots=tuple(dict.fromkeys((*steps[-1].slots, *wanted))))
            else:
                close()
                steps.append(BlockStep(What.NEED, slots=wanted))
            fixed.update(wanted)
        if one.what is What.ARITHMETIC:
            if one.count:
                start = max(
                    [clock, pipe_free.get(one.pipe, 0.0), *(done.get(slot, 0.0) for slot in one.reads)]
                )
                rate = gpu[f"pipe_{one.pipe}"]
                clock = start + one.count
                pipe_free[one.pipe] = start + one.count * rate
                issue += one.count
                pipes[one.pipe] = pipes.get(one.pipe, 0.0) + one.count * rate
                for slot in one.writes:
                    done[slot] = start + one.count - 1 + one.latency
            else:
                ready = max((done.get(slot, 0.0) for slot in one.reads), default=0.0)
                done.update(dict.fromkeys(one.writes, ready))
            fixed.update(one.writes)
            continue
        clock = max([clock, *(done.get(slot, 0.0) for slot in one.reads)])
        close()
        steps.append(BlockStep(one.what, number, one.writes, kind=one.kind, left=one.left))
        for slot in one.writes:
            if one.what in _LATE:
                fixed.discard(slot)
            done.pop(slot, None)
    issue += 1.0  # the branch to the next block, or what takes its place
    clock += 1.0
    close()
    return steps
