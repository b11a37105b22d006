"""Chains by number: the same ones for the same seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial

from compare.cases import Case
from compare.chains import calls, carry, control, forms, memory, vectors, warp
from compare.chains.model import LEFT, Chain
from compare.chains.writer import Writer

FEWEST, MODE, MOST = 20, 85, 200
"""Statements of a chain."""
DEEPEST = 3
"""Regions inside each other."""
FAMILIES = {"forms": 50, "memory": 16, "carry": 5, "warp": 7, "vectors": 5, "atomics": 5, "calls": 2}
"""How often statements of each come."""
REGIONS = (control.branch, control.branch, control.loop, control.table, control.guarded, control.warps)


class Maker:
    """Makes chains.

    Args:
        cases: statements of the rows (`compare.cases`).
        atomics: those of `compare.atomics`.
        seed: of everything.
    """

    def __init__(self, cases: Sequence[Case], atomics: Sequence[Case], seed: int) -> None:
        self.deck, self.places, self.seed = forms.Deck(cases), forms.Deck(atomics), seed

    def chain(self, number: int) -> Chain:
        """The chain of a number."""
        chosen = random.Random(f"chain {self.seed} {number}")
        chain = Chain(f"c{number}", self.seed, ctas=2 if chosen.random() < 0.15 else 1)
        writer = Writer(chain, chosen)
        count = round(chosen.triangular(FEWEST, MOST, MODE))
        while writer.written < count:
            self.fill(writer, min(count - writer.written, chosen.randrange(3, 12)))
            if writer.written < count - 4:
                self.region(writer, chosen.randrange(2, 9))
        chain.rows += LEFT
        return chain

    def region(self, writer: Writer, count: int) -> None:
        """A region of about so many statements."""
        kind = writer.random.choice(REGIONS)
        if (
            len(writer.here.regions) >= DEEPEST
            or writer.here.guard
            or (kind is control.warps and not writer.here.whole_cta)
        ):
            self.fill(writer, count)
        else:
            kind(writer, count, self.fill)

    def fill(self, writer: Writer, count: int) -> None:
        """About so many statements, some of them in regions."""
        until = writer.written + count
        while writer.written < until:
            left = until - writer.written
            if left > 3 and writer.here.regions and not writer.here.guard and writer.random.random() < 0.1:
                self.region(writer, left // 2 + 1)
            else:
                self.one(writer)

    def one(self, writer: Writer) -> None:
        """A statement, or a run of them."""
        guard = bool(writer.here.guard)
        (family,) = writer.random.choices(list(FAMILIES), list(FAMILIES.values()))
        match family:
            case "memory":
                memory.statement(writer)
            case "carry":
                carry.run(writer, partial(self.form, keeps_the_flag=True))
            case "warp" if not guard:
                warp.statement(writer)
            case "vectors":
                vectors.statement(writer)
            case "atomics":
                memory.atomic(writer, self.places.deal(writer.random))
            case "calls" if not guard:
                calls.statement(writer, self.deck)
            case _:
                self.form(writer)

    def form(self, writer: Writer, keeps_the_flag: bool = False) -> None:
        """A statement of a row; one that may stand between statements that hand the carry flag on."""
        while True:
            case = self.deck.deal(writer.random)
            if forms.possible(writer, case) and not (keeps_the_flag and forms.loses_the_flag(case)):
                forms.statement(writer, case)
                return
