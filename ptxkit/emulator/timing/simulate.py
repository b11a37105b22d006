"""A discrete-event simulation of the multiprocessors that run some CTAs.

Warps go through what the emulator recorded of them. Each resource (the issue slots and the pipes of a
scheduler, shared memory, the tensor cores, the copy engine, a multiprocessor's share of the L2 cache and of
DRAM) serves one request after another, at the rates of the GPU's table. A warp waits where a register that it
reads has not come, at barriers, for phases of mbarriers and for groups of asynchronous operations.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterator

from ptxkit.emulator.faults import Site
from ptxkit.emulator.timing.atomics import change_of
from ptxkit.emulator.timing.blocks import BlockStep, Plans
from ptxkit.emulator.timing.nodes import OWN, What
from ptxkit.emulator.timing.parts import (
    Cluster,
    Cta,
    Dispatcher,
    Moment,
    Multiprocessor,
    Simulated,
    Slice,
    Waited,
    Warp,
)
from ptxkit.emulator.timing.recorded import CtaStream, Happening, LaunchStreams, RecordedOperation
from ptxkit.emulator.timing.requests import Resources

DISPATCH = "CTA dispatch"


class Simulation:
    """Runs CTAs on multiprocessors.

    Args:
        streams: what was recorded.
        resident: CTAs that a multiprocessor holds.
        ask: the resources, and how long they take.
        plans: the steps of the launch's blocks.
        timed: whether to keep a timeline.
    """

    def __init__(
        self, streams: LaunchStreams, resident: int, ask: Resources, plans: Plans, timed: bool = False
    ) -> None:
        self.streams, self.resident, self.ask, self.gpu = streams, resident, ask, ask.gpu
        self._plans = plans
        self._held: dict[Warp, tuple[str, Site]] = {}
        self.waits: dict[Waited, float] = defaultdict(float)
        self._dispatcher = Dispatcher(ask.dispatch, resident)
        self._until: list[float] = []
        self._starts: list[float] = []
        self._spans: list[float] = []
        self.timeline: list[Slice] | None = [] if timed else None
        self._heap: list[tuple[float, int, Warp | Callable[[], None]]] = []
        self._count, self.lived = 0, 0.0
        self._do: dict[What, Callable[[Warp, BlockStep, Happening | None, Site], bool]] = {
            what: getattr(self, f"_{what.name.lower()}") for what in What if what not in OWN
        }

    def run(self, ctas: int) -> Simulated:
        """Run so many CTAs on one multiprocessor, as `LaunchStreams.clusters` gives them; of clusters so many
        on as many multiprocessors as a cluster has CTAs."""
        places = [Multiprocessor(self.gpu, number) for number in range(max(self.streams.cluster, 1))]
        order = self.streams.clusters(ctas)
        ends: list[float] = []
        for _ in range(self.resident):
            self._begin(order, places, 0.0, ends)
        heap = self._heap
        while heap:
            _, _, due = heapq.heappop(heap)
            if isinstance(due, Warp):
                self._advance(due)
            else:
                due()
        if len(ends) < ctas:
            (what, site) = next(iter(self._held.values()), ("its turn", None))
            where = site.where if site is not None else "no instruction"
            raise RuntimeError(f"the model of time: at {where} a warp waits for ever for {what}")
        over = max(ends, default=0.0)
        through = max([over, *self._until])
        # A grid is over when all that it wrote has arrived.
        cycles = max(through, *(max(place.l2, place.dram, place.atomics) for place in places))
        # What was left out keeps the resources as busy.
        busy = {name: time * through / over for name, time in places[0].times.items()} if over else {}
        return Simulated(
            cycles, self._starts, sorted(ends), self._spans, busy, self.waits, self.lived,
            self.timeline or [], places[0].spilled,
        )  # fmt: skip

    # ---- CTAs

    def _begin(
        self, order: Iterator[list[CtaStream]], places: list[Multiprocessor], now: float, ends: list[float]
    ) -> None:
        """The next cluster starts at a time."""
        streams = next(order, None)
        if streams is None:
            return
        free, now = now, self._dispatcher.start(now + self.gpu["cta_start"])
        self._starts.append(now)
        places[0].busy[DISPATCH] += self.ask.dispatch
        live = [[(row, runs) for row, runs in one.warps if runs] for one in streams]
        cluster = Cluster(self.streams.contributions, sum(map(len, live)))
        left = Moment(len(streams))

        def ended(time: float) -> None:
            ends.append(time)
            self._spans.append(time - free)
            for place in places:
                place.warm = True
            self._begin(order, places, time, ends)

        left.when(ended)
        ctas = [
            Cta(place, cluster, len(warps), Moment(len(warps)))
            for place, warps in zip(places, live, strict=True)
        ]
        for number, (cta, warps) in enumerate(zip(ctas, live, strict=True)):
            place = cta.place
            cta.peer = ctas[number ^ 1] if number ^ 1 < len(ctas) else None
            cta.over.when(left.contribute)
            for at, (row, runs) in enumerate(warps):
                begun, rounds = now + at * self.gpu["warp_start"], streams[number].rounds.get(row)
                self._push(Warp(cta, row, runs, place.warps, begun, rounds))
                place.warps += 1
                self.lived -= begun

    def _push(self, warp: Warp) -> None:
        self._at(warp.now, warp)

    def _at(self, time: float, due: Warp | Callable[[], None]) -> None:
        """Go on with a warp, or call something, when its time has come: resources serve in order."""
        self._count += 1
        heapq.heappush(self._heap, (time, self._count, due))

    # ---- warps

    def _advance(self, warp: Warp) -> None:
        """Let a warp go on until it waits, or somebody else's time has come."""
        heap, place = self._heap, warp.cta.place
        issue, pipes, busy = place.issue, place.pipes[warp.scheduler], place.busy
        scheduler = warp.scheduler
        while True:
            if warp.step >= len(warp.plan):
                if warp.rounds is not None:
                    warp.mark(warp.rounds)
                if warp.run >= len(warp.runs):
                    self._exit(warp)
                    return
                warp.go_on(self._plans)
                continue
            step = warp.plan[warp.step]
            if step.what is What.ARITHMETIC:
                warp.step += 1
                start = warp.now if warp.now > issue[scheduler] else issue[scheduler]
                issue[scheduler] = start + step.issue * self.ask.slot
                end = max(warp.now + step.cycles, issue[scheduler])
                busy["issue"] += step.issue * self.ask.slot
                for pipe, cycles in step.pipes:
                    cycles *= self.ask.pipe
                    begin = max(warp.now, pipes.get(pipe, 0.0))
                    pipes[pipe] = begin + cycles
                    busy[f"pipe {pipe}"] += cycles
                    if begin + cycles > end:
                        end = begin + cycles
                late = end - warp.now - step.cycles
                if late > 0:
                    self.waits["issue slots and pipes", None] += late
                warp.now = end
            elif step.what is What.NEED:
                warp.step += 1
                for slot in step.slots:
                    found = warp.ready.get(slot)
                    if found is not None and found[0] > warp.now:
                        self._waited(warp, *found)
            elif step.what is What.COPY:
                warp.step += 1
                came = [warp.ready[slot] for slot in step.sources if slot in warp.ready]
                if came:
                    last = max(came, key=lambda one: one[0])
                    warp.ready.update(dict.fromkeys(step.slots, last))
            else:
                run = warp.runs[warp.first + step.run]
                happening = run.happenings.get(step.number)
                warp.step += 1
                warp.now = issue[scheduler] = max(warp.now, issue[scheduler]) + step.issue
                busy["issue"] += step.issue
                if happening is not None and warp.row in happening.absent:
                    continue
                if not self._do[step.what](warp, step, happening, run.block.sites[step.number]):
                    return
            if heap and warp.now > heap[0][0]:
                self._push(warp)
                return

    def _exit(self, warp: Warp) -> None:
        self.lived += warp.now
        if warp.rounds is not None:
            self._until.append(warp.until(warp.rounds))
        cta, cluster = warp.cta, warp.cta.cluster
        # Barriers of all warps don't wait for those that are gone.
        cta.running -= 1
        for number in cta.everyone & cta.barriers.keys():
            cta.barriers[number].contribute(warp.now)
        cluster.warps -= 1
        if cluster.barrier is not None and warp.cluster_phase is not cluster.barrier:
            cluster.barrier.contribute(warp.now)
        cta.over.contribute(warp.now)

    def _hold(self, warp: Warp, moment: Moment, what: str, site: Site, more: float = 0.0) -> bool:
        """Let a warp wait for a moment. Returns whether it goes on at once."""
        if moment.left <= 0:
            self._waited(warp, moment.time, what, site)
            warp.now += more
            return True
        self._held[warp] = what, site

        def go_on(time: float) -> None:
            del self._held[warp]
            self._waited(warp, time, what, site)
            warp.now += more
            self._push(warp)

        moment.when(go_on)
        return False

    def _waited(self, warp: Warp, until: float, what: str, site: Site) -> None:
        if until > warp.now:
            self.waits[what, site] += until - warp.now
            self._keep(warp.cta.place, f"warp {warp.number}", what, site, warp.now, until)
            warp.now = until

    def _keep(
        self, place: Multiprocessor, track: str, what: str, site: Site | None, start: float, end: float
    ) -> None:
        """Enter something into the timeline, if there is one."""
        if self.timeline is not None:
            self.timeline.append(Slice(place.number, track, what, site, start, end))

    # ---- memory

    def _load(self, warp: Warp, step: BlockStep, happening: Happening | None, site: Site) -> bool:
        place, gpu = warp.cta.place, self.gpu
        cost, change = happening.cost if happening is not None else None, change_of(site)
        if any(step.spilled):
            kind, end = "local", self.ask.spill(place, warp.now, *step.spilled)
        elif cost is None or (step.kind == "local" and not step.part):
            end = warp.now + gpu["tensor_memory_latency" if step.kind == "tensor" else "shared_latency"]
            kind = step.kind
        else:
            kind, end = self.ask.load(place, warp.now, cost, step.part, step.width, change)
            if step.moved is not None:  # It was asked for when that code began.
                began = warp.began.get((warp.runs[warp.first].code, step.moved), warp.now)
                end = max(warp.now, end - warp.now + began)
        warp.ready.update(dict.fromkeys(step.slots, (end, f"{kind} load", site)))
        if cost is not None or any(step.spilled):
            if cost is not None:
                self._waited(warp, warp.now + self.ask.tried(cost, change), "turns at a word", site)
            self._waited(
                warp,
                self.ask.held(place, writes=any(step.spilled) or change is not None),
                "memory queue",
                site,
            )
        return True

    def _store(self, warp: Warp, step: BlockStep, happening: Happening | None, site: Site) -> bool:
        place = warp.cta.place
        cost = happening.cost if happening is not None else None
        if cost is None or not step.part:
            return True
        change = change_of(site)
        self.ask.store(place, warp.now, cost, change)
        self._waited(warp, warp.now + self.ask.tried(cost, change), "turns at a word", site)
        self._waited(warp, self.ask.held(place, writes=bool(cost.requests)), "memory queue", site)
        return True

    def _lanes(self, warp: Warp, step: BlockStep, happening: Happening | None, site: Site) -> bool:
        end = self.ask.waves(warp.cta.place, warp.now, self.gpu["shuffle"]) + self.gpu["shuffle_latency"]
        warp.ready.update(dict.fromkeys(step.slots, (end, "shuffle", site)))
        return True

    # ---- tensor cores

    def _product(self, warp: Warp, step: BlockStep, happening: Happening | None, site: Site) -> bool:
        sums = happening.multiply_adds if happening is not None else 0.0
        begin, end = self.ask.product(warp.cta.place, warp.scheduler, warp.now, sums, site)
        # Warps of a scheduler take turns at its tensor core, so that none gets ahead of the others.
        self.waits["issue slots and pipes", None] += begin - warp.now
        warp.now = begin
        warp.ready.update(dict.fromkeys(step.slots, (end, "mma", site)))
        return True

    # ---- asynchronous operations

    def _start(self, warp: Warp, step: BlockStep, happening: Happening | None, site: Site) -> bool:
        operations = happening.operations.get(warp.row, ()) if happening is not None else ()
        cta = warp.cta
        moments = [cta.cluster.operation(one) for one in operations]
        for one, moment in zip(operations, moments, strict=True):
            warp.open.setdefault(step.kind, []).append(moment)
            cta.cluster.started[id(one)] += 1
            if cta.cluster.started[id(one)] == len(one.rows):
                self._under_way(cta, one, moment, warp.now)
        if step.kind == "bulk" and operations:
            warp.now += 2
        if step.waits:
            return self._hold(warp, Moment.of_all(moments), f"{step.kind} group", site)
        return True

    def _under_way(self, cta: Cta, one: RecordedOperation, moment: Moment, now: float) -> None:
        """An operation has been issued by all that issue it: it goes on when what it comes after is over."""
        earlier = Moment.of_all((cta.cluster.operation(other) for other in one.after), now)
        # Products are taken in their order: one goes on where another ends.
        if one.site.name.startswith(("wgmma", "tcgen05.mma")) or (earlier.left <= 0 and earlier.time <= now):
            self._perform(cta, one, moment, now)
            return
        earlier.when(lambda time: self._at(time, lambda: self._perform(cta, one, moment, time)))

    def _perform(self, cta: Cta, one: RecordedOperation, moment: Moment, now: float) -> None:
        name = one.site.name
        begin, moment.read, end = self.ask.operation(cta, one, now)
        self._keep(cta.place, "tensor cores" if "mma" in name else "copies", name, one.site, begin, end)
        for key in one.completes:
            cta.cluster.phase(key).contribute(end)
        moment.contribute(end)

    def _commit(self, warp: Warp, step: BlockStep, happening: Happening | None, site: Site) -> bool:
        warp.groups.setdefault(step.kind, []).append(warp.open.pop(step.kind, []))
        return True

    def _wait_group(self, warp: Warp, step: BlockStep, happening: Happening | None, site: Site) -> bool:
        groups = warp.groups.setdefault(step.kind, [])
        count = len(groups) - step.left
        if site.name.endswith("wait_all"):
            groups.append(warp.open.pop(step.kind, []))
            count = len(groups)
        over = [moment for group in groups[: max(count, 0)] for moment in group]
        del groups[: max(count, 0)]
        if not over:
            return True
        all_over = Moment.of_all(over, read="read" in site.decoded.match.slots)
        return self._hold(warp, all_over, f"{step.kind} group", site)

    # ---- who waits for whom

    def _wait_phase(self, warp: Warp, step: BlockStep, happening: Happening | None, site: Site) -> bool:
        key = happening.awaits.get(warp.row) if happening is not None else None
        if key is None or key[2] < 0:
            warp.now += self.gpu["mbarrier_wait"]
            return True
        moment = warp.cta.cluster.phase(key)
        return self._hold(warp, moment, "mbarrier", site, self.gpu["mbarrier_wait"])

    def _arrive(self, warp: Warp, step: BlockStep, happening: Happening | None, site: Site) -> bool:
        for key in happening.arrives.get(warp.row, ()) if happening is not None else ():
            warp.cta.cluster.phase(key).contribute(warp.now + self.gpu["mbarrier_arrive"])
        return True

    def _barrier(self, warp: Warp, step: BlockStep, happening: Happening | None, site: Site) -> bool:
        number, warps = happening.barriers[warp.row] if happening is not None else (0, 0)
        barriers = warp.cta.barriers
        moment = barriers.get(number)
        if moment is None:
            moment = barriers[number] = Moment(warps or warp.cta.running)
            (warp.cta.everyone.discard if warps else warp.cta.everyone.add)(number)
            moment.when(lambda _: barriers.__delitem__(number))
        moment.contribute(warp.now)
        if step.kind == "arrive":
            return True
        more = self.gpu["barrier"] + self.gpu["barrier_warp"] * (warps or warp.cta.running)
        return self._hold(warp, moment, "barrier", site, more)

    def _cluster_arrive(self, warp: Warp, step: BlockStep, happening: Happening | None, site: Site) -> bool:
        cluster = warp.cta.cluster
        moment = cluster.barrier
        if moment is None:
            moment = cluster.barrier = Moment(cluster.warps)
            moment.when(lambda _: setattr(cluster, "barrier", None))
        warp.cluster_phase = moment
        moment.contribute(warp.now)
        return True

    def _cluster_wait(self, warp: Warp, step: BlockStep, happening: Happening | None, site: Site) -> bool:
        moment = warp.cluster_phase
        if moment is None:
            return True
        return self._hold(warp, moment, "cluster barrier", site, self.gpu["cluster_barrier"])

    def _fence(self, warp: Warp, step: BlockStep, happening: Happening | None, site: Site) -> bool:
        cycles = {"proxy": self.gpu["fence_proxy"], "gpu": self.gpu["fence_gpu"]}.get(step.kind, 0.0)
        self._waited(warp, warp.now + cycles, "fence", site)
        return True
