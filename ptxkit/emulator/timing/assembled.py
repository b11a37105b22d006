"""What the assembler made of each line of PTX, where it was asked: pipes and numbers of machine instructions.

A loop that it unrolled has several copies of each instruction. What takes one machine instruction for each of
PTX, an access or a product, says how many; the rest is shared out among them.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from ptxkit.emulator.code import CodeBlock
from ptxkit.emulator.counts import WORD
from ptxkit.emulator.timing.machine_code import machine_code
from ptxkit.isa.modifiers import StateSpace

PIPES = (
    (re.compile(r"FFMA|FADD|FMUL|H(FMA|ADD|MUL)2|FFMA2|FADD2|FMUL2"), "fma"),
    (re.compile(r"IMAD|IDP|VIADDMNMX"), "imad"),
    (re.compile(r"D(FMA|ADD|MUL|SETP)"), "fp64"),
    (re.compile(r"MUFU|POPC|FLO|BREV|I2F|F2I|FRND|F2F"), "xu"),
    (re.compile(r"F2FP"), "pack"),
    (re.compile(r"I2FP|IADD3?|VIADD|VIMNMX|IABS|LOP3?|LEA|CS2R|SHF|SHL|SHR|SEL|FSEL|ISETP|FSETP|H(SETP2|MNMX2)|"
                r"FMNMX|FCHK|PRMT|MOV|BMSK|SGXT|PLOP3|P2R|R2P|FSET|IMNMX|BFE|BFI|CSEL|I2I|FSWZADD"), "alu"),
    (re.compile(r"LDG|LDS|LDSM|LD|ST|STG|STS|STSM|ATOM|ATOMG|ATOMS|RED|REDG|REDAS|LDGSTS|SHFL|VOTE|VOTEU|"
                r"MATCH|REDUX|BAR|SYNCS|UTMA\w+|UBLK\w+|[HIDBQ]G?MMA|UTC\w+|TEX|TLD4?|SULD|SUST|MEMBAR|FENCE\w*|"
                r"ARRIVES|MOVM|UCGABAR\w*|LDTM|STTM|WARPSYNC|WARPGROUP"), "once"),
)  # fmt: skip
"""Which pipe executes an operation of machine code; none those that only take an issue slot. `once`: what is
no arithmetic."""
ENDS = ("BRA", "BRX", "JMP", "EXIT", "RET", "CALL")
"""Operations behind which another stretch of code begins."""
TARGET = re.compile(r"BRA .*`\((\.L_x_\d+)\)")
LABEL = re.compile(r"\.L_x_\d+")
DIVERGED = re.compile(r"BRA\.DIV .*`\((\.L_x_\d+)\)")
"""Where warps go on that have diverged where the PTX says that all lanes are there."""
BACK = re.compile(r"BRA `")
"""How the code for these ends."""
ROUTINE = "$__internal"
"""How labels begin of what the assembler calls for the rare cases of divisions and roots."""
ANYWHERE = (0, 1 << 30)
"""The first and the last place of code."""
PRODUCT = re.compile(r"[HIQBD]GMMA")
AWAITED = re.compile(r"WARPGROUP\.DEPBAR\.LE gsb\d+, 0x0\b")
"""How a warp waits until none of its asynchronous products is under way."""
ISSUE = ""
SURE = "once"
SPILLS = {"LDL": "spill load", "STL": "spill store"}
"""What operations on local memory are where the PTX has none: the assembler had no room in registers."""
WIDTH = re.compile(r"\.(64|128)\b")
FLOATS = frozenset({"add", "sub", "mul", "fma"})
"""Instructions that become one of the pipe `fma`, of f32."""
SOME = 3
"""Of these how many tell how often the code has them."""
FRAGMENTS = {"wmma.load": 0, "wmma.store": 0, "wmma.mma": 2}
"""Instructions that become several of `SURE`, and how many; 0 where types and layout decide."""


@dataclass(frozen=True, slots=True)
class BlockCode:
    """What a block of PTX became.

    Attributes:
        shares: of each instruction how many machine instructions of each pipe.
        copies: how often the code has the block in a row, where it is a loop that was unrolled.
        places: of each instruction where those stand that were made of it, in the order of the code; of one
            that takes one machine instruction that one alone.
        stalls: of each instruction for how many cycles those that were made of it hold back its warp.
        stretch: the number of the stretch of code, without a label or a branch within, that has most of it.
        moved: by number of those that stand elsewhere the stretch that they were moved to.
        widths: of each instruction the bytes that a lane gets by the widest load that was made of it, and of
            others; 0 of no load.
        serialized: as of the function.
    """

    shares: list[dict[str, float]]
    copies: int
    stalls: list[float]
    places: list[list[int]]
    stretch: int
    moved: dict[int, int]
    widths: list[int]
    serialized: bool

    def place(self, number: int, copy: int, last: bool = False) -> int | None:
        """Where a copy of an instruction stands in the code; None where nothing is left of it. `last`: one
        that stands for several copies is the last of them, as sums are which offsets have taken in."""
        places = self.places[number]
        at = copy * len(places) // self.copies
        if last and at == (copy + 1) * len(places) // self.copies:
            return None
        return places[min(at, len(places) - 1)] if places else None


Stretch = dict[int, list[tuple[int, str, int]]]
"""Code without a label or a branch within: of lines of PTX the place, pipe and stall of each machine
instruction."""


class MachineFunction:
    """A function as assembled.

    Args:
        registers: of a thread.
        stack: bytes of local memory of a thread.
        instructions: text, line of PTX, label and stall of each machine instruction.

    Attributes:
        serialized: whether a warp waits for each `wgmma` before the next. The assembler does that where it
            can't see that accumulators are left alone meanwhile (its warnings C7510 and those beside it).
    """

    def __init__(
        self,
        registers: int,
        instructions: Iterable[tuple[str, int | None, str | None, int]],
        stack: int = 0,
    ) -> None:
        self.registers, self.stack = registers, stack
        self._stretches: list[Stretch] = [{}]
        self._several: Counter[int] = Counter()
        self._sure: Counter[int] = Counter()
        self._ruled: Counter[int] = Counter()
        self._floats: Counter[int] = Counter()
        self._loops: list[tuple[int, int]] = []
        self._widths: dict[int, int] = {}
        labels: dict[str, int] = {}
        products, waited, under_way = 0, 0, False
        instructions = _of_converged_warps(instructions)
        reached = {label for text, *_ in instructions for label in LABEL.findall(text)}
        for place, (text, line, label, stall) in enumerate(instructions):
            if label is not None and label.startswith(ROUTINE):
                break  # It bears the line of what stands before it, as a rule `ret`.
            words = [word for word in text.split() if not word.startswith("@")]
            operation = words[0].partition(".")[0] if words else "NOP"
            if PRODUCT.fullmatch(operation):
                products, under_way = products + 1, True
            elif under_way and AWAITED.search(text):
                waited, under_way = waited + 1, False
            if label is not None and label in reached:
                self._stretches.append({})
                labels[label] = place
            if (target := TARGET.search(text)) is not None and target[1] in labels:
                self._loops.append((labels[target[1]], place))
            if line is not None and operation != "NOP":
                made = self._stretches[-1].setdefault(line, [])
                made.append((place, SPILLS.get(operation) or pipe_of(operation), stall))
                if operation == "LDS":
                    width = WIDTH.search(words[0])
                    self._widths[line] = max(self._widths.get(line, 0), int(width[1]) // 8 if width else WORD)
                if operation in SPILLS and (width := WIDTH.search(words[0])):  # One for each word.
                    made += [(place, SPILLS[operation], 0)] * (int(width[1]) // (8 * WORD) - 1)
            if operation in ENDS and not DIVERGED.search(text):
                self._stretches.append({})
        self.serialized, self._awaited = 0 < products == waited, waited

    def stands_for(self, blocks: Iterable[CodeBlock]) -> None:
        """Its blocks of PTX: several of their instructions may stand in one line, and some become several."""
        blocks = list(blocks)
        local = {
            line
            for block in blocks
            for line, site in zip(_lines(block), block.sites, strict=True)
            if "local" in site.decoded.all(StateSpace)
        }
        for stretch in self._stretches:
            for line in local & stretch.keys():
                places = {place: (place, SURE, stall) for place, _, stall in reversed(stretch[line])}
                stretch[line] = sorted(places.values())
        written = sum(site.name.startswith("wgmma.wait_group") for block in blocks for site in block.sites)
        self.serialized &= self._awaited > written
        self._several = Counter(line for block in blocks for line in _lines(block))
        self._sure = self._several.copy()
        for block in blocks:
            for line, site in zip(_lines(block), block.sites, strict=True):
                made = next((n for name, n in FRAGMENTS.items() if site.name.startswith(name)), 1)
                self._sure[line] += made - 1
                self._ruled[line] += max(round(machine_code(site).count), 1)
                self._floats[line] += site.name in FLOATS and "f32" in site.decoded.match.slots.values()

    def of_block(self, block: CodeBlock) -> BlockCode | None:
        """What a block became; None where the code has none of it."""
        at = _lines(block)
        best: dict[int, Stretch] = {}
        begin, end = self._loop_of(at)
        for line in set(at):
            found = [one for one in self._stretches if line in one]
            if found:  # Of as many the one in the loop.
                best[line] = max(
                    found, key=lambda one: (len(one[line]), any(begin <= p <= end for p, *_ in one[line]))
                )
        if not best:
            return None
        copies = {id(one): self._copies(one, at) for one in best.values()}
        unrolled = max(copies.values()) >= 2
        if not unrolled:
            # All of the code counts where none of it is there several times in a row; of a loop that was
            # unrolled only that, not what is left over.
            every: Stretch = {line: [] for line in best}
            for one in self._stretches:
                for line in every.keys() & one.keys():
                    every[line] += one[line]
            best = dict.fromkeys(every, every)
            copies = {id(every): self._copies(every, at)}
        shares, stalls = [], []
        for line in at:
            one = best.get(line, {})
            each = copies.get(id(one), 1.0) * self._several[line]
            here = [made for made in one.get(line, ()) if made[1] == SURE or begin <= made[0] <= end]
            pipes = Counter(pipe for _, pipe, _ in here)
            shares.append({pipe: n / each for pipe, n in pipes.items()})
            stalls.append(sum(stall for *_, stall in here) / each)
        most = Counter(id(best[line]) for line in at if line in best).most_common(1)[0][0]
        widths = [self._widths.get(line, 0) for line in at]
        return BlockCode(
            shares,
            int(copies[most]) if unrolled else 1,
            stalls,
            *self._places_of(at),
            widths,
            self.serialized,
        )

    def _loop_of(self, at: list[int]) -> tuple[int, int]:
        """The first and the last place of the innermost loop of the stretch that has most of some lines. What
        is elsewhere was taken out of the loop, and does not run as often."""
        has = max(self._stretches, key=lambda one: sum(len(one.get(line, ())) for line in set(at)))
        places = [place for line in set(at) for place, *_ in has.get(line, ())]
        around = [(b, e) for b, e in self._loops if places and b <= min(places) and max(places) <= e]
        return min(around, key=lambda one: one[1] - one[0], default=ANYWHERE)

    def _places_of(self, at: list[int]) -> tuple[list[list[int]], int, dict[int, int]]:
        """Where instructions of some lines stand, in the stretch that has most of them; which one that is;
        where others stand."""
        here = [sum(len(one.get(line, ())) for line in set(at)) for one in self._stretches]
        stretch = here.index(max(here))
        found, moved = [], dict[int, int]()
        for number, line in enumerate(at):
            made = self._stretches[stretch].get(line, [])
            sure = [place for place, pipe, _ in made if pipe == SURE]
            found.append(sure or [place for place, *_ in made])
            if not made:
                for which, one in enumerate(self._stretches):
                    if line in one:
                        moved[number] = which
        return found, stretch, moved

    def _copies(self, stretch: Stretch, at: Iterable[int]) -> float:
        """How often a stretch of code has a block in a row."""
        here = [line for line in set(at) if line in stretch and self._sure[line]]
        if not here:
            return 1.0
        sure = [sum(pipe == SURE for _, pipe, _ in stretch[line]) / self._sure[line] for line in here]
        sure = [one for one in sure if one]
        if not sure:  # What was unrolled has each of its lines as often, at least.
            sure = [min(len(stretch[line]) / self._ruled[line] for line in here)]
            sure = sure if len(here) > 1 else [1.0]
        # Loads of neighbouring copies may have become one, or stay in registers from one to the next.
        floats = [line for line in here if self._floats[line] == self._several[line]]
        made = [sum(pipe == "fma" for _, pipe, _ in stretch[line]) / self._floats[line] for line in floats]
        if len(made) >= SOME:
            sure = [max(statistics.median_low(sure), statistics.median_low(made))]
        return max(1.0, statistics.median_low(sure))


@dataclass(frozen=True, slots=True)
class AssembledModule:
    """What is known of a module's machine code.

    Attributes:
        by: who made it: `by ptxas 13.0`; `by rule`, and why, where nobody did.
        functions: by name; empty where nobody did.
    """

    by: str
    functions: Mapping[str, MachineFunction]

    def described(self, name: str) -> str:
        """Who made a function's machine code, and what its author would like to know of it."""
        function = self.functions.get(name)
        if function is None or not function.serialized:
            return self.by
        return f"{self.by}, which has warps wait for each wgmma before the next"


BY_RULE = AssembledModule("by rule", {})


Listed = tuple[str, int | None, str | None, int]
"""Text, line of PTX, label and stall of a machine instruction."""


def _of_converged_warps(instructions: Iterable[Listed]) -> list[Listed]:
    """Machine instructions without those behind the code that stand in for shuffles and votes of warps that
    have diverged before them: others bear the same lines, and warps of which all lanes come have those."""
    found, diverged, beside = list[Listed](), set[str | None](), False
    for one in instructions:
        text, _, label, _ = one
        if (match := DIVERGED.search(text)) is not None:
            diverged.add(match[1])
        beside = beside or (label is not None and label in diverged)
        if not beside:
            found.append(one)
        elif BACK.match(text):
            beside = False
    return found


def _lines(block: CodeBlock) -> list[int]:
    """The line of each instruction of a block."""
    return [site.span.line if site.span is not None else 0 for site in block.sites]


@cache
def pipe_of(operation: str) -> str:
    """The pipe of an operation of machine code."""
    return next((pipe for pattern, pipe in PIPES if pattern.fullmatch(operation)), ISSUE)
