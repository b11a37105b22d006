"""What happened to mbarriers, for findings."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass

import numpy as np

from ptxkit.diagnostics import counted
from ptxkit.emulator.ctas import Ctas
from ptxkit.emulator.faults import Site
from ptxkit.emulator.values import WARP

KEPT = 256
"""How many past instructions on mbarriers findings can look back on."""
LISTED = 6
"""How many of them a finding lists."""


@dataclass(frozen=True, slots=True, eq=False)
class MbarrierEvent:
    """An instruction that changed mbarriers, for findings.

    Attributes:
        what: `arrives`, `expects`, `completes`, `drops`, `reports`.
        slots, phases, amounts: the mbarrier of each, its phase then, arrivals or bytes.
        threads: who, by number in the batch.
    """

    what: str
    site: Site
    slots: np.ndarray
    phases: np.ndarray
    amounts: np.ndarray
    threads: np.ndarray


class Story:
    """The part of `MBarriers` that tells of them."""

    batch: Ctas
    place: np.ndarray
    phase: np.ndarray
    expected: np.ndarray
    pending: np.ndarray
    tx: np.ndarray
    conditional: np.ndarray
    report: np.ndarray
    reported: np.ndarray
    events: deque[MbarrierEvent]

    def _note(
        self, what: str, site: Site, slots: np.ndarray, amounts: np.ndarray, threads: np.ndarray
    ) -> None:
        self.events.append(MbarrierEvent(what, site, slots, self.phase[slots], amounts, threads))

    def name_of(self, place: int) -> str:
        """`the mbarrier at 0x400 of CTA (0, 0, 0)`."""
        batch = self.batch
        tile, offset = divmod(place, batch.shared.stride)
        return f"the mbarrier at {offset + batch.launch.shared.start:#x} of CTA {batch.name_cta(tile)}"

    def name(self, slot: int) -> str:
        """The same for a slot."""
        return self.name_of(int(self.place[slot]))

    def thread(self, number: int) -> str:
        """A thread by its number in the batch."""
        return str(self.batch.thread(number // WARP, number % WARP))

    def state(self, slot: int) -> list[str]:
        """Notes on a slot's state, and on what happened in its phase."""
        phase, pending, expected = int(self.phase[slot]), int(self.pending[slot]), int(self.expected[slot])
        notes = [
            f"{self.name(slot)}: phase {phase}, pending count {pending} of "
            f"{expected}, tx-count {int(self.tx[slot])}{self.report_of(slot)}"
        ]
        return notes + self.story(slot, phase)

    def report_of(self, slot: int) -> str:
        """What a slot's state has to add where its conditional phase has fallen behind, or is about to."""
        late = int(self.phase[slot]) != int(self.conditional[slot])
        told = ", reports" if self.report[slot] else ""
        return f", conditional phase {int(self.conditional[slot])}{told}" if late or told else ""

    def story(self, slot: int, phase: int) -> list[str]:
        """What arrived, was expected and completed in a phase, instruction by instruction."""
        lines = []
        for event in self.events:
            mine = (event.slots == slot) & (event.phases == phase)
            if not mine.any():
                continue
            total = int(event.amounts[mine].sum())
            number = int(np.count_nonzero(mine))
            who = self.thread(int(event.threads[mine][0]))
            who = who if number == 1 else f"{number} threads, {who} first"
            said = {
                "arrives": f"arrives {total} times" if total > 1 else "arrives",
                "drops": f"arrives and drops {total}",
                "expects": f"expects {counted(total, 'byte')}",
                "completes": f"completes {counted(total, 'byte')}",
                "reports": "reports",
            }[event.what]
            lines.append(
                f"in phase {phase} `{event.site.instruction.spelling}` at {event.site.where} {said}: {who}"
            )
        if len(lines) > LISTED:
            lines = [*lines[:LISTED], f"and {counted(len(lines) - LISTED, 'more instruction')} on it"]
        return lines

    def _happened(self, slot: int, phase: int) -> list[MbarrierEvent]:
        """What is remembered of a phase."""
        return [e for e in self.events if bool(((e.slots == slot) & (e.phases == phase)).any())]

    def mismatch(self, slot: int) -> tuple[str, str | None]:
        """Why the bytes of a slot's phase don't add up, and what to do where one thread was meant."""
        phase = int(self.phase[slot])
        sums, threads = Counter[str](), Counter[str]()
        for event in self._happened(slot, phase):
            mine = (event.slots == slot) & (event.phases == phase)
            sums[event.what] += int(event.amounts[mine].sum())
            threads[event.what] += int(np.count_nonzero(mine))
        expected, came, many = sums["expects"], sums["completes"], threads["expects"]
        if many > 1 and expected == many * came:
            said = f"{many} threads expect {counted(came, 'byte')} each, and the copies bring that once"
            return said, "let one elected thread expect the bytes of all copies"
        brought = f"the copies bring {came}" if came else "no copy brings any"
        return f"{counted(expected, 'byte')} are expected, and {brought}", None

    def stuck(self, slot: int, conditional: bool = False) -> tuple[str, str]:
        """The code, and why a phase that somebody waits for can't complete, where nothing else can happen.
        `conditional`: the conditional phase."""
        pending, tx, phase = int(self.pending[slot]), int(self.tx[slot]), int(self.phase[slot])
        if conditional and self.reported[slot] and not self._happened(slot, phase):
            reports = [e.site for e in self._happened(slot, phase - 1) if e.what == "reports"]
            who = f"`{reports[0].instruction.spelling}` at {reports[0].where}" if reports else "an operation"
            stays = f"conditional phase {int(self.conditional[slot])} has not advanced"
            return "P668", f"phase {phase - 1} is complete, but {who} has reported: {stays}"
        if pending == 0:
            why = (
                f"copies have completed {counted(tx, 'byte')} less than expected"
                if tx > 0
                else f"copies have completed {counted(-tx, 'byte')} more than expected"
            )
            return "P677", f"all arrivals have come, but {why}, and no copy is in flight"
        arrived = any(e.what != "completes" for e in self._happened(slot, phase))
        expected = counted(int(self.expected[slot]), "arrival")
        missing = f"{pending} of {expected} {'is' if pending == 1 else 'are'} missing"
        if tx:
            missing += f" and the tx-count is {tx}"
        extra = sum(
            int(np.count_nonzero((e.slots == slot) & (e.phases == phase)))
            for e in self.events
            if "arrives_behind" in e.site.row.traits and e.what == "arrives" and not e.site.decoded["noinc"]
        )
        if extra and pending == extra:
            why = (
                f"`cp.async.mbarrier.arrive` without `.noinc` added {extra} "
                "arrivals, which the init counts too"
            )
            return "P690", f"{missing}: {why}"
        if not arrived and phase > 0:
            return "P682", f"phase {phase - 1} is complete, {missing}, and phase {phase} has not begun"
        return "P676", f"{missing}, and every thread that could arrive waits or has exited"
