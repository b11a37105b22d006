"""A launch under the debugger: what can be asked of it, whoever asks.

The launches of a plan run in the middle of `DebugSession.run`, which calls its front at each stop. What makes
them go on returns to it; what goes back raises RewindError through the launch, which begins anew from a
checkpoint and runs up to the step that was looked for.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ptxkit.asm.tree import Instruction
from ptxkit.debugger.fronts import Front, LaunchOutcome
from ptxkit.debugger.locations import Locations
from ptxkit.debugger.refusals import QuitError, RefusedError
from ptxkit.debugger.strides import Strides
from ptxkit.debugger.variables import VariablePlace, Variables
from ptxkit.diagnostics import Diagnostic, PtxkitError, Source, exit_code
from ptxkit.emulator import Emulator
from ptxkit.emulator.checkpoint import Checkpoint
from ptxkit.emulator.code_places import CodePlace, row_of
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.debug import Debugger, RewindError
from ptxkit.emulator.device import EmulatorModule
from ptxkit.emulator.stops import Search, Stop, Watched, Watchpoint
from ptxkit.plan import LaunchPlan
from ptxkit.running.loaded_plan import Case, LoadedPlan
from ptxkit.running.report import judge, not_verified
from ptxkit.running.session import Session

BEGINNING = "no more history: the launch begins here"
END = 1 << 62
"""A step behind all others: the launch ends before it."""
LINES = ("ptx", "source")
"""What a step is a line of: the PTX, or what it was compiled from."""


class DebugSession:
    """The launches of a plan under the debugger.

    Args:
        running: the module, loaded on an emulator.
        plan: what to launch.
        path: the file that is debugged.
        main: the text of the file that is debugged.

    Attributes:
        debugger: has the launch.
        locations: of its instructions.
        variables: of its names.
        lines: what `step` and `next` count: `ptx` or `source`.
        outcome: how the launch has ended; None before it has.
    """

    def __init__(self, running: Session, plan: LaunchPlan, path: Path, main: Source | None) -> None:
        device, loaded = running.device, running.loaded
        assert isinstance(device, Emulator)
        assert isinstance(loaded, EmulatorModule)
        self.plan = plan
        self.path = path
        self.device = device
        self.debugger = Debugger(loaded.image, self._stopped)
        self.locations = Locations(loaded.image, main)
        self.lines = "ptx"
        self.outcome: LaunchOutcome | None = None
        self.front: Front | None = None
        self._loaded = loaded
        self._told = 0
        self._furthest = 0
        self._checkpoint: Checkpoint | None = None

    # ---- the launch

    def run(self, front: Front) -> int:
        """Launch, verify and let the front ask; the exit code of what was found, 0 where it left before."""
        self.front = front
        device, case, code = self.device, Case(self.plan), 0
        with LoadedPlan(device, self._loaded, self.plan) as on_device:
            on_device.fill(case.inputs)
            on_device.compile()
            self.variables = self._variables(on_device)
            device.prepare, device.output = self.debugger.prepare, self._printed
            self._checkpoint = Checkpoint(device)
            try:
                front.ready()
                while True:
                    try:
                        outcome = self._launch(on_device, case)
                        if self.debugger.search is not None:
                            self.debugger.last_change()
                            self.debugger.search.done = True
                        else:
                            passed = [found for found in device.findings if found.is_error]
                            code = exit_code([*passed, *outcome.findings])
                            self._end(front, outcome)
                            return code
                    except RewindError:
                        self.outcome = None
                    self._rewind()
            except QuitError:
                return code
            finally:
                device.prepare = None

    def _variables(self, on_device: LoadedPlan) -> Variables:
        tensors = {
            name: VariablePlace(buffer.address, on_device.tensors[name].tensor.dtype, buffer.nbytes)
            for name, buffer in on_device.buffers.items()
        }
        maps = {each.name: on_device.map(each.name) for each in self.plan.tensor_maps}
        kernels = {kernel.name: self._loaded.kernel(kernel.name) for kernel in on_device.kernels}
        return Variables(self._loaded.image, tensors, maps, kernels)

    def _launch(self, on_device: LoadedPlan, case: Case) -> LaunchOutcome:
        try:
            on_device.launch()
            outputs = on_device.outputs()
            compared = case.compare(outputs)
            found = [
                finding
                for each in compared
                for finding in judge(each, on_device.writer_of(each), on_device.wrong_ctas(each))
            ]
            return LaunchOutcome(False, found if compared else [not_verified(self.plan)])
        except PtxkitError as problem:
            return LaunchOutcome(True, list(problem.diagnostics))

    def _end(self, front: Front, outcome: LaunchOutcome) -> None:
        goal, self.debugger.goal = self.debugger.goal, None
        if goal is not None and goal[0] == END:
            outcome = outcome._replace(answer=goal[1].text)
        self.outcome = outcome
        self._furthest = self.debugger.now + 1
        changed = self.debugger.last_change()
        self.debugger.settle()
        front.ended(outcome, changed)

    def _rewind(self) -> None:
        """Begin anew; where something was looked for, up to it."""
        debugger, search = self.debugger, self.debugger.search
        if search is not None and search.done:
            debugger.search = None
            enough = len(search.found) >= search.wanted
            if search.back_to is not None:
                debugger.goal = search.back_to, Stop("goto", self._answer(search))
            else:
                debugger.goal = search.found[0] if enough else (1, Stop("goto", BEGINNING))
        assert self._checkpoint is not None
        self._checkpoint.restore()
        debugger.forget()

    def _stopped(self, stop: Stop) -> None:
        assert self.front is not None
        self._furthest = max(self._furthest, self.debugger.now)
        self.front.stopped(stop)

    def _printed(self, text: str) -> None:
        if self.debugger.now >= self._furthest and self.front is not None:
            self.front.printed(text)

    def new_findings(self) -> list[Diagnostic]:
        """The warnings that nobody has been told of."""
        found = self.device.findings[self._told :]
        self._told += len(found)
        return found

    # ---- who is where

    def here(self) -> tuple[CodePlace, CtaBatch, int]:
        """Where the current warp stands, its batch and its row. Raises RefusedError: it is not running."""
        place, batch = self.debugger.current()
        row = row_of(batch, self.debugger.warp) if batch else None
        if place is None or batch is None or row is None:
            raise RefusedError(f"warp {self.warp_name()} is not running")
        return place, batch, row

    def home(self) -> tuple[CtaBatch, int]:
        """The batch of the current warp, and the number of its CTA in it. Raises RefusedError as `here`."""
        _, batch = self.debugger.current()
        row = row_of(batch, self.debugger.warp) if batch else None
        if batch is None or row is None:
            raise RefusedError(f"warp {self.warp_name()} is not running")
        return batch, row // batch.warps_per_cta

    def warp_name(self) -> str:
        """`1 of CTA 0`: the current warp."""
        return f"{self.debugger.warp.number} of CTA {self.debugger.warp.cta}"

    def _strides(self, lines: str | None = None) -> Strides:
        """Where steps of the current warp from where it is end."""
        place, _ = self.debugger.current()
        return Strides(self.locations, self.debugger.warp, place, lines or self.lines)

    # ---- going on

    def check_running(self) -> None:
        """Raises RefusedError: the launch has ended."""
        if self.outcome is not None:
            raise RefusedError("the launch has ended; its state stays to be looked at")

    def go_on(self) -> None:
        """Run until something stops."""
        self.check_running()
        self.debugger.go_on()

    def step(self, count: int = 1, over: bool = False, lines: str | None = None) -> None:
        """Run until the current warp has executed so many lines or instructions; `over`: those of functions
        that it calls not counted. Raises RefusedError: that warp is not running."""
        self.check_running()
        if self.debugger.now:
            self.here()
        self.debugger.walk(count, self._strides(lines).onward(over))

    def finish(self) -> None:
        """Run until the current function has returned to its caller. Raises RefusedError: nobody called."""
        self.check_running()
        self.here()
        self.debugger.walk(1, self._strides().above())

    def until(self, instructions: list[Instruction]) -> None:
        """Run until the current warp comes to one of the instructions, or, where there are none, past the
        current one in the text: out of a loop."""
        self.check_running()
        self.here()
        self.debugger.walk(1, self._strides().past({id(instruction) for instruction in instructions}))

    def goto(self, step: int) -> None:
        """Go to a step, back or on.

        Raises:
            RefusedError: there is none.
            RewindError: always else, where that is in the past.
        """
        if step < 1:
            raise RefusedError("expected a step from 1 on")
        if self.outcome is not None and step > self.debugger.now:
            raise RefusedError(f"expected a step from 1 to {self.debugger.now}: there the launch has ended")
        self.debugger.goal = (step, Stop("goto", f"step {step}"))
        if step <= self.debugger.now:
            raise RewindError

    # ---- going back

    def back(self, count: int = 1, over: bool = False, lines: str | None = None) -> None:
        """Go back until the current warp is where it was so many lines or instructions ago. Raises
        RewindError."""
        self._look(self._strides(lines).before(over), count)

    def back_on(self) -> None:
        """Go back to where a breakpoint or watchpoint would have stopped last. Raises RewindError."""
        self._look(None, 1)

    def back_out(self) -> None:
        """Go back to the call of the current function. Raises RewindError, RefusedError: nobody called."""
        self.here()
        self._look(self._strides().above(), 1)

    def who(self, watched: Watched, missing: Any = None) -> None:
        """Find out what wrote something last: the stop at the same step says it. Raises RewindError."""
        step = self.debugger.now if self.outcome is None else END
        self._look(None, 1, Watchpoint(0, watched, last=missing), step)

    def _answer(self, search: Search) -> str:
        """What `who` has found."""
        assert search.only is not None
        text = search.only.watched.text
        if not search.found:
            return f"{text}: nothing has changed it"
        step, stop = search.found[0]
        by = stop.text.rpartition("\n  by ")[2]
        return f"{text}: changed last at step {step} by {by}; `goto {step}` goes there"

    def _look(
        self,
        arrives: Callable[[CodePlace], bool] | None,
        count: int,
        only: Watchpoint | None = None,
        back_to: int | None = None,
    ) -> None:
        if not self.debugger.now:
            raise RefusedError("the launch has not begun")
        limit = self.debugger.now + (self.outcome is not None)
        self.debugger.search = Search(limit, arrives, count, only, back_to)
        for watchpoint in self.debugger.watchpoints.values():
            watchpoint.last = None
        raise RewindError
