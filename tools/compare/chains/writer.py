"""What the author of a chain has at hand: registers, rows for results, the lanes that are here."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from compare.chains.misread import misread
from compare.chains.model import FIXED, POOL, Chain, Control, Result, Step

EVERY = "0xffffffff"
RECENT = 8
"""Results that a statement takes its operands from more often than from others."""


@dataclass(frozen=True, slots=True)
class Here:
    """Who executes what is written now.

    Attributes:
        mask: the lanes of the warp, as an operand.
        whole_warp: whether that is all of them.
        whole_cta: whether all threads of the CTA are here, equally often.
        guard: a predicate that each statement gets.
        regions: the numbers of those around.
    """

    mask: str = EVERY
    whole_warp: bool = True
    whole_cta: bool = True
    guard: str = ""
    regions: tuple[int, ...] = ()


@dataclass(slots=True)
class Writer:
    """Writes one chain.

    Attributes:
        chain: it.
        random: what is chosen by.
        here: who executes what is written now.
        recent: registers with results, by width, the last one last.
        wrote: the label of the statement that wrote a register last, in the order of the text; of a copy that
            of the original. Empty where ptxas knows nothing of its content.
        same: what a register's content is known by, the same for copies.
    """

    chain: Chain
    random: random.Random
    here: Here = field(default_factory=Here)
    recent: dict[int, list[str]] = field(default_factory=lambda: {bits: [] for bits in POOL})
    written: int = 0
    counted: int = 0
    wrote: dict[str, str] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)

    # ---- registers

    def source(self, bits: int) -> str:
        """A register to read."""
        recent = self.recent[bits]
        if recent and self.random.random() < 0.6:
            return self.random.choice(recent)
        letter, count = POOL[bits]
        return f"%{letter}{self.random.randrange(count)}"

    def sources(self, bits: int, count: int) -> list[str]:
        """Several different ones."""
        found: list[str] = []
        while len(found) < count:
            name = self.source(bits)
            if name not in found:
                found.append(name)
        return found

    def constant(self, bits: int) -> str:
        """One that is never written."""
        return f"%{POOL[bits][0]}{self.random.randrange(FIXED[bits])}"

    def target(self, bits: int, besides: Sequence[str] = ()) -> str:
        """A register to write, none of `besides`."""
        letter, count = POOL[bits]
        while True:
            name = f"%{letter}{self.random.randrange(FIXED[bits], count)}"
            if name not in besides:
                return name

    def targets(self, bits: int, count: int) -> list[str]:
        """Several different ones."""
        found: list[str] = []
        for _ in range(count):
            found.append(self.target(bits, found))
        return found

    def fresh(self, letter: str, declared: str) -> str:
        """A register of its own."""
        self.counted += 1
        name = f"%{letter}_{self.counted}"
        self.chain.variables.append(f".reg .{declared} {name};")
        return name

    def read(self, label: str, name: str, bits: int, lines: list[str]) -> str:
        """The register that a statement reads for another: itself, or one with the same content where ptxas
        would misread it; the lines that make it are appended."""
        return self.apart(name, bits, lines) if misread(self.wrote.get(name, ""), label, bits) else name

    def apart(self, name: str, bits: int, lines: list[str]) -> str:
        """A register with the content of another one, which ptxas doesn't know; the lines that make it are
        appended."""
        own = self.fresh("s", "pred" if bits == 1 else f"b{bits}")
        if bits == 1:
            lines += [f"selp.u32 %x, 1, 0, {name};", "xor.b32 %x, %x, %zero32;", f"setp.ne.u32 {own}, %x, 0;"]
        else:
            lines.append(f"xor.b{bits} {own}, {name}, %zero{bits};")
        return own

    # ---- what is written

    def row(self, count: int = 1) -> int:
        """The first of so many new rows of results."""
        self.chain.rows += count
        return self.chain.rows - count

    def step(
        self,
        family: str,
        label: str,
        lines: Sequence[str],
        results: Sequence[tuple[str, int]],
        after: Sequence[str] = (),
        open_: str = "",
        why: str = "",
        together: bool = False,
        copies: Mapping[str, str] | None = None,
    ) -> None:
        """Write a statement, whose results others can read from now on.

        Args:
            family, label, lines, after, why, together: as of `Step`.
            results: registers and widths.
            open_: a predicate where results are not compared.
            copies: results that are copies, each with its original.
        """
        self._known(label, [name for name, _ in results], after, copies or {})
        made = [Result(name, bits) for name, bits in results]
        row = self.row(len(made) + bool(open_))
        if open_:
            made.append(Result(open_, 1))
        self.chain.body.append(
            Step(
                self.written,
                family,
                label,
                tuple(lines),
                tuple(made),
                row,
                tuple(after),
                row + len(made) - 1 if open_ else -1,
                why,
                together,
                self.here.guard,
                self.here.regions,
            )
        )
        self.written += 1
        for name, bits in results:
            if bits in POOL and name[1] == POOL[bits][0] and "_" not in name:
                recent = self.recent[bits]
                if name in recent:
                    recent.remove(name)
                recent.append(name)
                del recent[:-RECENT]

    def _known(
        self, label: str, results: Sequence[str], after: Sequence[str], copies: Mapping[str, str]
    ) -> None:
        """Note what ptxas knows of results."""
        made = "\n".join(after)
        originals = {
            name: (self.wrote.get(original, ""), self.same.get(original, original))
            for name, original in copies.items()
        }
        for name in results:
            wrote, same = originals.get(name, (label, f"{name} of {self.written}"))
            self.wrote[name] = "" if f" {name}, {name}, %zero" in made else wrote
            # A guarded copy is one in some lanes alone.
            self.same[name] = f"{name} of {self.written}" if self.here.guard else same

    def control(self, *lines: str) -> None:
        """Write control flow of the innermost region."""
        self.chain.body.append(Control(lines, self.here.regions[-1]))

    def enter(self, **changes: object) -> Here:
        """Begin a region; what was here before it."""
        before = self.here
        number = len(self.chain.regions)
        self.chain.regions.append(before.regions[-1] if before.regions else -1)
        self.here = replace(before, regions=(*before.regions, number), **changes)  # type: ignore[arg-type]
        return before
