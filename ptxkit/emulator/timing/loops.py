"""Loops that lie in no other, of which one can tell how often they will go round.

A persistent kernel does the same for one tile after another. After some of them the rest need not run: the
comparison that ends the loop says how many are left, if it gets closer by the same number each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ptxkit.asm import tree
from ptxkit.asm.dataflow import BasicBlock
from ptxkit.asm.decode import Decoded, traits
from ptxkit.asm.flow import FunctionCode
from ptxkit.emulator.addresses import plain_space
from ptxkit.isa.modifiers import StateSpace

_NEAR = frozenset({"shared", "local", "param"})
HOLDS: Mapping[str, Callable[[int], bool]] = {
    "eq": lambda apart: apart == 0,
    "ne": lambda apart: apart != 0,
    **dict.fromkeys(("lt", "lo"), lambda apart: apart < 0),
    **dict.fromkeys(("le", "ls"), lambda apart: apart <= 0),
    **dict.fromkeys(("gt", "hi"), lambda apart: apart > 0),
    **dict.fromkeys(("ge", "hs"), lambda apart: apart >= 0),
}
"""What comparisons say, by the first operand less the second one."""


@dataclass(frozen=True, slots=True)
class LoopEnd:
    """A comparison that decides whether a loop goes on.

    Attributes:
        loop: its number.
        comparison: which one.
    """

    loop: int
    comparison: str

    def left(self, apart: int, step: int) -> int | None:
        """How many more comparisons there will be, the last of which ends the loop; None where none does.

        Args:
            apart: the first operand less the second one, now.
            step: what comes to that each time.
        """
        holds = HOLDS[self.comparison]
        if not step:
            return None
        near = abs(apart) // abs(step)
        return next(
            (n for n in range(max(near, 1), near + 2) if holds(apart + n * step) != holds(apart)), None
        )


class OuterLoops:
    """The loops of a function that lie in no other.

    Args:
        flow: the function.

    Attributes:
        ends: by the identity of a comparison the loop that it ends.
        known: the loops all of whose ends are among these, and behind which nothing loops and nothing is
            stored.
    """

    def __init__(self, flow: FunctionCode) -> None:
        self._flow = flow
        blocks = flow.blocks
        self._of = components(blocks)
        self.ends: dict[int, LoopEnd] = {}
        unknown = set(self._find_ends())
        self._leads = self._leading(blocks)
        for loop, block in zip(self._of, blocks, strict=False):
            if loop >= 0 and any(self._of[one] != loop and self._leads[one] for one in block.successors):
                unknown.add(loop)
        self.known = frozenset(end.loop for end in self.ends.values()) - unknown

    def loop_of(self, instruction: tree.Instruction) -> int:
        """The loop that an instruction lies in; -1 for none."""
        return self._of[self._flow.block_of(self._flow.number_of(instruction))]

    def leads(self, instruction: tree.Instruction) -> bool:
        """Whether something loops or is stored where the instruction stands, or behind it."""
        return self._leads[self._flow.block_of(self._flow.number_of(instruction))]

    def _find_ends(self) -> Iterator[int]:
        """Enter the comparisons that end loops. Yields the loops of which an end is not decided by one of
        integers in the block of its branch."""
        flow = self._flow
        for number, block in enumerate(flow.blocks):
            loop = self._of[number]
            if loop < 0 or all(self._of[one] == loop for one in block.successors):
                continue
            at = self._comparison(block)
            if at is None:
                yield loop
            else:
                compared = Decoded(flow.instructions[at])["CmpOp"]
                self.ends[id(flow.instructions[at])] = LoopEnd(loop, compared.value)

    def _comparison(self, block: BasicBlock) -> int | None:
        """The comparison of integers whose predicate decides at the end of a block."""
        flow = self._flow
        guard = flow.instructions[block.stop - 1].guard
        if guard is None:
            return None
        wanted = set(flow.register_numbers([guard]))
        for at in range(block.stop - 2, block.start - 1, -1):
            if wanted.intersection(flow.writes.numbers[at]):
                found = Decoded(flow.instructions[at])
                if found.row.name != "setp" or found["BoolOp"] is not None:
                    return None
                kind = found.type_of("a")
                return None if kind.is_float or kind.lanes > 1 else at
        return None

    def _leading(self, blocks: Sequence[BasicBlock]) -> list[bool]:
        """Of each block, and of the function's end, whether something loops or is stored there or behind."""
        leads = [False] * (len(blocks) + 1)
        rest = [
            number
            for number, block in enumerate(blocks)
            if self._of[number] >= 0 or any(map(_stores, self._flow.instructions[block.start : block.stop]))
        ]
        while rest:
            number = rest.pop()
            if not leads[number]:
                leads[number] = True
                rest += blocks[number].predecessors
        return leads


def _stores(instruction: tree.Instruction) -> bool:
    """Whether an instruction writes to memory that outlives its CTA."""
    if "stores" not in traits(instruction):
        return False
    spaces = Decoded(instruction).all(StateSpace)
    return not spaces or plain_space(spaces[0]) not in _NEAR


def components(blocks: Sequence[BasicBlock]) -> list[int]:
    """Of each block, and of the function's end, the number of the loop it lies in that lies in no other; -1
    for none. Two blocks lie in one if each can be reached from the other."""
    order: list[int] = []
    seen = [False] * len(blocks)
    for root in range(len(blocks)):
        if seen[root]:
            continue
        seen[root] = True
        path = [(root, iter(blocks[root].successors))]
        while path:
            at, following = path[-1]
            new = next((one for one in following if one < len(blocks) and not seen[one]), None)
            if new is None:
                order.append(at)
                path.pop()
            else:
                seen[new] = True
                path.append((new, iter(blocks[new].successors)))
    found = [-1] * (len(blocks) + 1)
    done = [False] * len(blocks)
    for root in reversed(order):
        if done[root]:
            continue
        members, rest = [], [root]
        while rest:
            at = rest.pop()
            if not done[at]:
                done[at] = True
                members.append(at)
                rest += [one for one in blocks[at].predecessors if not done[one]]
        if len(members) > 1 or root in blocks[root].successors:
            for at in members:
                found[at] = root
    return found
