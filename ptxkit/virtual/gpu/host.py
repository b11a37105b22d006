"""What programs make things with: memory, queues, handles, and who takes what is found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ptxkit.diagnostics import Diagnostic
from ptxkit.emulator.faults import Origins
from ptxkit.rules import rules, weighed
from ptxkit.virtual.calling import HostStack
from ptxkit.virtual.gpu.handles import Handles, Object
from ptxkit.virtual.gpu.memory import UnifiedMemory
from ptxkit.virtual.gpu.schedule import WorkSchedule
from ptxkit.virtual.gpu.stream_races import FinishedWork, StreamRaces, TouchedBytes
from ptxkit.virtual.gpu.undefined import undefined_result
from ptxkit.virtual.options import VirtualOptions
from ptxkit.virtual.report import ProcessReport
from ptxkit.virtual.results import failure

if TYPE_CHECKING:
    from ptxkit.emulator.concurrency import Concurrency


class Host:
    """What contexts, modules, graphs and work need of the machine that they are on.

    Attributes:
        options: what its devices are like.
        report: takes what was found and what was not supported.
        memory: the one address space.
        origins: where undefined bits of all devices come from.
        schedule: when what was queued happens; its lock guards everything here.
        stream_races: seeks work of streams that nothing orders and that touches the same bytes.
        concurrency: the kernels that have begun, where there are several devices.
        handles: of what programs made.
    """

    def __init__(self, options: VirtualOptions) -> None:
        self.options = options
        self._rules = rules(options.rules)
        self.report = ProcessReport(options)
        self.memory = UnifiedMemory(options.host_memory)
        self.origins = Origins()
        self.schedule = WorkSchedule(options.order, options.seed)
        self.stream_races = StreamRaces(self.schedule.streams)
        self.concurrency: Concurrency | None = None
        if options.devices > 1:
            self._run_together()
        self.handles = Handles()
        self.contexts = self.modules = self.allocations = self.captures = 0
        self.per_thread_default = False
        """Whether the call at hand means the thread's own stream by the null stream."""

    @property
    def seeks_stream_races(self) -> bool:
        """Whether what happens just now is held against what else happens.

        In eager order everything has happened before anything else is queued, so that one can't wait to see.
        """
        streams = self.schedule.streams
        if not streams.several and len(streams.tails) < 2:
            return False
        operation = self.schedule.current
        if not self.options.sanitize or self.concurrency is not None or operation is None:
            return False
        if self.options.order == "eager":
            return streams.several
        return streams.concurrent(operation.place)

    def touched(self, name: str, touched: Iterable[TouchedBytes], stack: HostStack | None = None) -> None:
        """The operation that happens just now has touched memory."""
        operation = self.schedule.current
        if operation is None:
            return
        stack = operation.stack if stack is None else stack
        work = FinishedWork(operation.place, name, operation.stream, stack, list(touched))
        for race in self.stream_races.add(work, self.schedule.oldest):
            self._tell(race, stack)

    def _tell(self, found: Diagnostic, stack: HostStack | None = None) -> None:
        """Take a finding down that no launch has weighed."""
        counts = weighed(found, self._rules)
        if counts is not None:
            self.report.add(counts, stack)

    def _run_together(self) -> None:
        """Kernels of several devices may need one another."""
        from ptxkit.emulator.concurrency import Concurrency
        from ptxkit.emulator.deadlock import livelock

        random = np.random.default_rng(self.options.seed) if self.options.order == "random" else None
        concurrency = self.concurrency = Concurrency(self.memory, random)
        self.memory.device_count = self.options.devices

        def stuck() -> Exception | None:
            if not concurrency.stuck():
                return None
            if any(getattr(thing, "lost", 0) for thing in self.handles.all(Object)):
                return failure("LAUNCH_FAILED", "it waits for a device whose context is lost")
            return livelock([one.execution for one in concurrency.under_way])

        self.schedule.stuck = stuck

    def look_at(self, address: int, size: int) -> None:
        """The host reads memory: what is undefined there is a finding."""
        found = undefined_result(self.memory, self.origins, address, size)
        if found is not None:
            self._tell(found)
