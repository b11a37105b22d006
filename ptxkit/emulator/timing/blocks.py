"""Blocks of instructions as a multiprocessor sees them: stretches of arithmetic, and what lies between.

ptxas orders the instructions of a block anew. Where it was asked they come as its code has them. By rule
loads go as far up as their addresses and the stores before them let them, and of what could be next the
instruction comes first that most others wait for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ptxkit.emulator.code import Code, CodeBlock
from ptxkit.emulator.timing.assembled import BlockCode, MachineFunction
from ptxkit.emulator.timing.gpu import Gpu
from ptxkit.emulator.timing.nodes import InstructionNode, What, nodes_of, skipped_nodes_of
from ptxkit.emulator.timing.ordering import as_assembled, by_rule, connect
from ptxkit.emulator.timing.recorded import BlockRun

RENAMED = 1 << 24
"""Numbers of values that only a block sees; those below are slots."""
MOST_UNROLLED = 512
"""Instructions of several runs through a block that are looked at as one."""
SPILLED = -1
"""The slot that stands for all registers that come back from local memory."""
SPILLS_AT_ONCE = 8
"""Words that go there and come back in a step, at least."""


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
        run: of several runs through blocks the number of the one that it belongs to.
        part: of a load, and of an access to local memory, how many it has become in machine code: less than
            one of several that have become one, which then has the line of the first of them.
        width: the bytes of a lane that this one loads, 0 if nobody knows.
        moved: of a load that machine code has elsewhere: the stretch of code that has it.
        spilled: words that a thread loads and stores that had no room in registers.
        waits: of a product whether the warp waits for it before it goes on.
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
    run: int = 0
    part: float = 1.0
    width: int = 0
    moved: int | None = None
    spilled: tuple[float, float] = (0.0, 0.0)
    waits: bool = False


def steps_of(
    blocks: Sequence[CodeBlock],
    late: frozenset[int],
    gpu: Gpu,
    codes: Mapping[CodeBlock, BlockCode | None] | None = None,
    skipped: Container[int] = (),
) -> list[BlockStep]:
    """The steps of blocks that run one after another as one, in the order that ptxas chose, or is taken to.

    Args:
        blocks: the blocks.
        late: as of `late_slots`.
        gpu: the figures.
        codes: what blocks became, where an assembler was asked.
        skipped: which of them the warp jumps over.
    """
    codes = codes or {}
    nodes: list[InstructionNode] = []
    times: Counter[CodeBlock] = Counter()
    assembled = codes.get(blocks[0]) is not None
    run = -1
    for number, block in enumerate(blocks):
        if number in skipped:
            nodes += skipped_nodes_of(block, codes.get(block), run)
            continue
        run += 1
        some = nodes_of(block, codes.get(block), run, times[block])
        if assembled and codes.get(block) is None:
            for one in some:
                one.count = 0.0
        nodes += some
        times[block] += 1
    late = _renamed(nodes, late)
    connect(nodes, assembled)
    order = as_assembled(nodes) if assembled else by_rule(nodes)
    return _steps(nodes, order, late, gpu, assembled)


class Plans:
    """The steps of blocks, each made once.

    Args:
        gpu: the figures.
        assembled: the machine code of functions, by name, as far as an assembler made it.
    """

    def __init__(self, gpu: Gpu, assembled: Mapping[str, MachineFunction] | None = None) -> None:
        self.gpu = gpu
        self._assembled = assembled or {}
        self._made: dict[tuple[tuple[CodeBlock, ...], frozenset[int]], list[BlockStep]] = {}
        self._places: dict[Code, dict[CodeBlock, int]] = {}
        self._code: dict[CodeBlock, BlockCode | None] = {}
        self._late: dict[Code, frozenset[int]] = {}

    def of(self, runs: Sequence[BlockRun], first: int) -> tuple[list[BlockStep], int]:
        """The steps of some runs, from the first of them on, that the machine code has as one; how many."""
        blocks, skipped = key = self._together(runs, first)
        found = self._made.get(key)
        if found is None:
            late = self._late[runs[first].code]
            found = self._made[key] = steps_of(blocks, late, self.gpu, self._code, skipped)
        return found, len(blocks) - len(skipped)

    def stretch(self, run: BlockRun) -> tuple[Code, int | None]:
        """Which stretch of which function's machine code has a block, as of its plan."""
        made = self._code.get(run.block)
        return run.code, None if made is None else made.stretch

    def _together(self, runs: Sequence[BlockRun], first: int) -> tuple[tuple[CodeBlock, ...], frozenset[int]]:
        """Blocks that stand in one stretch of machine code, as ptxas has no branch between them; each as
        often as it stands there. Also those that the warp jumps over in PTX, and which these are."""
        code, block = runs[first].code, runs[first].block
        if code not in self._late:
            self._late[code] = self._learn(code)
        made = self._code.get(block)
        if made is None:
            return (block,), frozenset()
        found: list[CodeBlock] = []
        skipped: list[int] = []
        times: Counter[CodeBlock] = Counter()
        size = 0
        for at in range(first, len(runs)):
            run = runs[at]
            one = self._code.get(run.block) if run.code is code else None
            size += len(run.block.sites)
            if one is None and run.code is code:  # Nothing is left of it.
                found.append(run.block)
                continue
            if one is None or one.stretch != made.stretch or times[run.block] >= self._copies(run.block):
                break
            if found and (size > MOST_UNROLLED or self._goes_back(run.code, found[-1], run.block)):
                break
            found.append(run.block)
            times[run.block] += 1
            over = self._over(run, runs[at + 1], made.stretch) if at + 1 < len(runs) else []
            skipped += range(len(found), len(found) + len(over))
            found += over
        # What is left of a loop that was unrolled runs by itself.
        if any(self._copies(one) != n for one, n in times.items()):
            return (block,), frozenset()
        return tuple(found), frozenset(skipped)

    def _goes_back(self, code: Code, block: CodeBlock, following: CodeBlock) -> bool:
        """Whether a block follows by a jump back, to a loop of which the code has one copy."""
        places = self._places_in(code)
        return places[following] <= places[block] and self._copies(following) == 1

    def _places_in(self, code: Code) -> dict[CodeBlock, int]:
        """The places of a function's blocks."""
        found = self._places.get(code)
        if found is None:
            found = self._places[code] = {block: at for at, block in enumerate(code.blocks)}
        return found

    def _over(self, run: BlockRun, following: BlockRun, stretch: int) -> list[CodeBlock]:
        """The blocks of a stretch that a warp jumps over from one passage to the next: ptxas has made their
        instructions hang on a predicate, so that the warp issues them for nobody."""
        if run.code is not following.code:
            return []
        places = self._places_in(run.code)
        between = run.code.blocks[places[run.block] + 1 : places[following.block]]
        return [
            one for one in between if (code := self._code.get(one)) is not None and code.stretch == stretch
        ]

    def _copies(self, block: CodeBlock) -> int:
        """How often the machine code has a block in a row."""
        made = self._code.get(block)
        return 1 if made is None else max(1, min(made.copies, MOST_UNROLLED // max(len(block.sites), 1)))

    def _learn(self, code: Code) -> frozenset[int]:
        """Look at a function; the registers as of `late_slots`."""
        name = next((block.sites[0].function for block in code.blocks if block.sites), "")
        assembled = self._assembled.get(name)
        if assembled is not None:
            assembled.stands_for(code.blocks)
            self._code.update({block: assembled.of_block(block) for block in code.blocks})
        return late_slots([node for block in code.blocks for node in nodes_of(block, self._code.get(block))])


def late_slots(nodes: Iterable[InstructionNode]) -> frozenset[int]:
    """The registers of a function that something brings of which nobody knows how long it takes."""
    nodes = list(nodes)
    found = {slot for one in nodes if one.what in _LATE for slot in one.writes}
    copies = [one for one in nodes if one.what is What.ARITHMETIC and not one.count]
    while new := {
        slot for one in copies if found.intersection(one.reads) for slot in one.writes if slot not in found
    }:
        found |= new
    return frozenset(found)


def _renamed(nodes: list[InstructionNode], late: frozenset[int]) -> frozenset[int]:
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


def _steps(
    nodes: list[InstructionNode], order: Sequence[int], late: frozenset[int], gpu: Gpu, assembled: bool
) -> list[BlockStep]:
    """Stretches of arithmetic in that order, and what lies between them."""
    steps: list[BlockStep] = []
    fixed: set[int] = set()
    done: dict[int, float] = {}
    pipe_free: dict[str, float] = {}
    clock = begun = issue = 0.0
    pipes: dict[str, float] = {}

    def close() -> None:
        nonlocal begun, issue
        if issue or clock > begun:
            used = tuple(sorted(pipes.items()))
            steps.append(BlockStep(What.ARITHMETIC, issue=issue, cycles=clock - begun, pipes=used))
        begun, issue = clock, 0.0
        pipes.clear()

    def work(pipe: str, count: float, start: float) -> float:
        """Do some machine instructions from a time on; when they begin."""
        nonlocal clock, issue
        start = max(start, pipe_free.get(pipe, 0.0))
        clock = start + count * (1.0 if assembled else gpu["warp_issue"])
        issue += count
        if pipe:
            rate = gpu[f"pipe_{pipe}"]
            pipe_free[pipe] = start + count * rate
            pipes[pipe] = pipes.get(pipe, 0.0) + count * rate
        return start

    def spill(one: InstructionNode) -> None:
        """What went to local memory since the last time; what had come back by then has been waited for."""
        close()
        steps.append(BlockStep(What.NEED, slots=(SPILLED,)))
        words = spilled[0], spilled[1]
        steps.append(BlockStep(What.LOAD, one.number, (SPILLED,), run=one.run, spilled=words))
        spilled[:] = 0.0, 0.0

    spilled = [0.0, 0.0]
    for number in order:
        one = nodes[number]
        spilled[:] = spilled[0] + one.spilled[0], spilled[1] + one.spilled[1]
        if sum(spilled) >= SPILLS_AT_ONCE:
            spill(one)
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
            if steps and steps[-1].what is What.NEED and not issue and clock == begun:
                steps[-1] = BlockStep(What.NEED, slots=tuple(dict.fromkeys((*steps[-1].slots, *wanted))))
            else:
                close()
                steps.append(BlockStep(What.NEED, slots=wanted))
            fixed.update(wanted)
        first = max([clock, *(done.get(slot, 0.0) for slot in one.reads)])
        if one.what is What.ARITHMETIC and not one.count:
            done.update(dict.fromkeys(one.writes, first))
            fixed.update(one.writes)
            continue
        clock = first
        for pipe, count in one.beside:
            work(pipe, count, clock)
        if one.what is What.ARITHMETIC:
            start = work(one.pipe, one.count, clock)
            if one.stall is not None:
                clock = max(clock, first + one.stall)
            late_by = one.latency if one.stall is None or one.varies else 0.0
            done.update(dict.fromkeys(one.writes, start + one.count - 1 + late_by))
            fixed.update(one.writes)
            continue
        close()
        steps.append(
            BlockStep(
                one.what,
                one.number,
                one.writes,
                issue=one.count,
                kind=one.kind,
                left=one.left,
                run=one.run,
                part=one.part,
                width=one.width,
                moved=one.moved if one.what is What.LOAD else None,
                waits=one.waits,
            )
        )
        if one.stall is not None:
            clock = max(clock, first + one.stall - one.count)
        for slot in one.writes:
            if one.what in _LATE:
                fixed.discard(slot)
            done.pop(slot, None)
    if any(spilled):
        spill(nodes[order[-1]])
    if not assembled:
        issue += 1.0  # the branch to the next block, or what takes its place
        clock += 1.0
    close()
    return steps
