"""The counts of the mbarriers of a batch: arrivals, phases, tx-counts. PTX ISA 9.7.13.15.1 to 9.7.13.15.5."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ptxkit.diagnostics import counted
from ptxkit.emulator.asynchronous.objects import MAX_ARRIVALS, MAX_COUNT, PENDING_MASK, Objects
from ptxkit.emulator.faults import EmulatorFault, Site, fault
from ptxkit.emulator.values import WARP, distinct, first_true

PREDICATE = 1 << 8
"""The report predicate in a payload report; the bits below are the report value."""


class MBarriers(Objects):
    """All mbarrier objects of a batch, and what changes their counts."""

    phases_completed: Callable[[np.ndarray, Site], None]

    # ---- what changes the counts

    def expect_tx(self, slots: np.ndarray, amounts: np.ndarray, threads: np.ndarray, site: Site) -> None:
        """expect-tx: each adds to the tx-count. Raises P679, the tx-count leaves its range."""
        self._note("expects", site, slots, amounts, threads)
        self._visit(slots, threads, site)
        np.add.at(self.tx, slots, amounts)
        self._check_range(slots, site, threads)
        self._late(slots, slots[self.pending[slots] == 0], site, threads)
        self.expected_by[slots] = threads // WARP
        self.expected_at[slots] = self.batch.launch.events.take(site)
        self._settle(slots, site)

    def _late(self, slots: np.ndarray, late: np.ndarray, site: Site, threads: np.ndarray) -> None:
        """Warn of bytes that are expected when all arrivals may have come."""
        if len(late):
            at = int(np.argmax(np.isin(slots, late)))
            message = (
                f"nothing orders the expect-tx of {self.name(int(late[0]))} "
                "before the last arrival of its phase"
            )
            self.batch.launch.warn("P680", message, site, (self.thread(int(threads[at])),))

    def complete_tx(
        self, slots: np.ndarray, amounts: np.ndarray, threads: np.ndarray, site: Site, issued: int = 0
    ) -> None:
        """complete-tx: each subtracts from the tx-count.

        Args:
            slots, amounts: the mbarriers, and bytes of each.
            threads: whose operation it is, by number in the batch.
            issued: the event of an asynchronous operation's issue; 0 where threads do it themselves.
        """
        self._note("completes", site, slots, amounts, threads)
        self._visit(slots, threads, site, issued)
        np.subtract.at(self.tx, slots, amounts)
        self._check_range(slots, site, threads)
        self._settle(slots, site)

    def report_on(self, slots: np.ndarray, threads: np.ndarray, site: Site) -> None:
        """report-on: some copies have found what they look for. The payload report of the phase gets its
        predicate, and keeps its value (PTX ISA 9.4, 9.7.10.28.1.3). Objects of layout 0 have none."""
        there = self.layout[slots] == 1
        slots, threads = slots[there], threads[there]
        self._note("reports", site, slots, np.ones(len(slots), np.int64), threads)
        self.report[slots] |= PREDICATE
        self.stamp += 1

    def arrive(
        self,
        slots: np.ndarray,
        counts: np.ndarray,
        threads: np.ndarray,
        site: Site,
        *,
        expects: np.ndarray | None = None,
        drops: bool = False,
        may_complete: bool = True,
        issued: int = 0,
    ) -> np.ndarray:
        """arrive-on, after expect-tx and drop if there are any.

        Args:
            slots: the mbarrier of each arrival.
            counts: of each.
            threads: who arrives, by number in the batch.
            expects: bytes that each expects first.
            drops: whether the counts leave the expected count of later phases too.
            may_complete: False for `.noComplete`.
            issued: as of `complete_tx`.

        Returns:
            The state of each mbarrier before the arrival: a token, uint64.

        Raises:
            EmulatorFault: P674, P675, P679, P687.
        """
        if expects is not None:
            self._note("expects", site, slots, expects, threads)
            np.add.at(self.tx, slots, expects)
            self._check_range(slots, site, threads)
        most = MAX_ARRIVALS[self.layout[slots]]
        if (at := first_true((counts < 1) | (counts > most))) is not None:
            message = f"expected a count from 1 to {int(most[at])}, found {int(counts[at])}"
            raise fault("P674", message, site, (self.thread(int(threads[at])),))
        tokens = self._tokens(slots, counts)
        if self.batch.launch.strict:
            self._check_observed(slots, threads, site)
        self._note("drops" if drops else "arrives", site, slots, counts, threads)
        self._visit(slots, threads, site, issued)
        if drops:
            np.subtract.at(self.expected, slots, counts)
            if (at := first_true(self.expected[slots] < 0)) is not None:
                message = f"`{site.instruction.spelling}` drops more than {self.name(int(slots[at]))} expects"
                raise fault(
                    "P674", message, site, (self.thread(int(threads[at])), *self.state(int(slots[at])))
                )
        np.subtract.at(self.pending, slots, counts)
        over = self.pending[slots] < 0
        if over.any():
            wrong = self._over_arrival(slots, counts, threads, over, site)
            np.add.at(self.pending, slots, counts)
            raise wrong
        last = (self.pending[slots] == 0) & (self.expected_at[slots] > self.turned[slots])
        if last.any() and self.batch.launch.sanitize:
            rows, at = threads[last] // WARP, slots[last]
            happens_before, by, when = self.happens_before, self.expected_by[at], self.expected_at[at]
            self._late(
                slots,
                at[~(happens_before.covers(rows, by, when) | happens_before.released(at, by, when))],
                site,
                threads,
            )
        if (
            not may_complete
            and (at := first_true((self.pending[slots] == 0) & (self.tx[slots] == 0))) is not None
        ):
            raise fault(
                "P687",
                f"an arrival with `.noComplete` completes the phase of {self.name(int(slots[at]))}",
                site,
                (self.thread(int(threads[at])), *self.state(int(slots[at]))),
                "the last arrival of a phase must be one that may complete it",
            )
        self._settle(slots, site)
        return tokens

    def _visit(self, slots: np.ndarray, threads: np.ndarray, site: Site, issued: int = 0) -> None:
        """Take note of what other CTAs of the cluster do to mbarriers."""
        batch = self.batch
        if batch.cluster == 1 or not batch.launch.sanitize:
            return
        remote = threads // (WARP * batch.warps_per_cta) != self.cta_of(slots)
        if remote.any():
            reached = slots[remote]
            self.visited[reached] = self.phase[reached] + 1
            self.visitor[reached] = threads[remote]
            self.visited_at[reached] = -issued or batch.launch.events.take(site)

    def _check_observed(self, slots: np.ndarray, threads: np.ndarray, site: Site) -> None:
        """Warn of an arrival in a phase though no wait has said yes since the one before completed
        (9.7.13.15.5)."""
        if (at := first_true(self.observed[slots] < self.phase[slots])) is not None:
            slot = int(slots[at])
            message = (
                f"an arrival in phase {int(self.phase[slot])} of {self.name(slot)}, "
                "and no wait has seen that the phase before is complete"
            )
            self.batch.launch.warn("P683", message, site, (self.thread(int(threads[at])),))

    def observe(self, slots: np.ndarray) -> None:
        """Waits for the phase before the current one have said yes."""
        self.observed[slots] = self.phase[slots]

    def _over_arrival(
        self, slots: np.ndarray, counts: np.ndarray, threads: np.ndarray, over: np.ndarray, site: Site
    ) -> EmulatorFault:
        at = int(np.argmax(over))
        slot = int(slots[at])
        here = int(counts[slots == slot].sum())
        notes = [self.thread(int(threads[at]))]
        if here > 1:
            notes.append(f"MULTI-ISSUE: threads that execute this together arrive {here} times")
        if site.decoded["noinc"]:
            return fault(
                "P690",
                f"more arrivals with `.noinc` than {self.name(slot)} expects in this phase",
                site,
                (*notes, *self.state(slot)),
                "an arrival with `.noinc` must be counted in `mbarrier.init`",
            )
        message = f"more arrivals than {self.name(slot)} expects in this phase"
        help = "count every arrival of a phase in `mbarrier.init`, or let one elected thread arrive"
        if here > 1 and "txCount" in site.decoded.operands:
            each = f"{here} threads arrive and expect bytes at {self.name(slot)}"
            message = f"{each}, which counts {counted(int(self.expected[slot]), 'arrival')} a phase"
            help = "let one elected thread execute `expect_tx`, for the bytes of all copies"
        return fault("P675", message, site, (*notes, *self.state(slot)), help)

    def _tokens(self, slots: np.ndarray, counts: np.ndarray) -> np.ndarray:
        pending = self.pending[slots].copy()
        if len(slots) > 1:
            order = np.argsort(slots, kind="stable")
            total = np.cumsum(counts[order]) - counts[order]
            starts = np.append(True, slots[order][1:] != slots[order][:-1])
            pending[order] -= total - total[starts][np.cumsum(starts) - 1]
        phase = self.phase[slots].astype(np.uint64) & np.uint64(0xFFFF_FFFF)
        local = self.local[slots].astype(np.uint64) & np.uint64(0xFFF)
        return phase << np.uint64(32) | local << np.uint64(20) | (pending & PENDING_MASK).astype(np.uint64)

    def increment_pending(self, slots: np.ndarray, site: Site, threads: np.ndarray) -> None:
        """cp.async.mbarrier.arrive without `.noinc`: the pending count grows by one each."""
        np.add.at(self.pending, slots, 1)
        most = MAX_ARRIVALS[self.layout[slots]]
        if (at := first_true(self.pending[slots] > most)) is not None:
            message = f"the pending count of {self.name(int(slots[at]))} exceeds {int(most[at])}"
            raise fault("P674", message, site, (self.thread(int(threads[at])),))
        self.stamp += 1

    def _check_range(self, slots: np.ndarray, site: Site, threads: np.ndarray) -> None:
        if (at := first_true(np.abs(self.tx[slots]) > MAX_COUNT)) is not None:
            slot = int(slots[at])
            message = f"the tx-count of {self.name(slot)} leaves -{MAX_COUNT}..{MAX_COUNT}"
            raise fault("P679", message, site, (self.thread(int(threads[at])), *self.state(slot)))

    def _settle(self, slots: np.ndarray, site: Site) -> None:
        """Complete the phases that nothing is pending for."""
        self.stamp += 1
        full = (self.pending[slots] == 0) & (self.tx[slots] == 0)
        if not full.any():
            return
        turned = distinct(slots[full])
        self._pass_report(turned)
        self.phase[turned] += 1
        self.pending[turned] = self.expected[turned]
        batch = self.batch
        self.phases_completed(turned, site)
        self.turned[turned] = batch.launch.events.take(site)
        batch.launch.counts.phases += len(turned)
        self.happens_before.publish(turned)
        if self.trace is not None:
            self.trace.turned(turned)
        batch.scheduling.wake(turned)

    def _pass_report(self, turned: np.ndarray) -> None:
        """The payload report of a phase that completes becomes that of the last phase. Where it is not 0 the
        conditional phase stays, and what the last one told is kept for those who have yet to wait for it."""
        fails = turned[self.report[turned] != 0]
        if len(fails):
            first = fails[self.reported[fails] == 0]
            self.succeeded[first] = self.turned[first]
            self.happens_before.keep_success(first)
        self.conditional[turned] += self.report[turned] == 0
        self.reported[turned] = self.report[turned]
        self.report[turned] = 0

    # ---- waits

    def parity_completed(
        self, slots: np.ndarray, parity: np.ndarray, conditional: bool = False
    ) -> np.ndarray:
        """Whether the phase that a parity stands for has completed. `conditional`: the conditional phase."""
        phase = self.conditional if conditional else self.phase
        done: np.ndarray = (phase[slots] & 1) != parity
        return done

    def check_tokens(self, slots: np.ndarray, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each token whether its phase is complete, and whether it is none of this object's last two."""
        phase = (tokens >> np.uint64(32)).astype(np.int64)
        local = (tokens >> np.uint64(20) & np.uint64(0xFFF)).astype(np.int64)
        age = self.phase[slots] - phase
        return age > 0, (age < 0) | (age > 1) | (local != self.local[slots] & 0xFFF)
