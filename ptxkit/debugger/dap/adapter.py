"""The adapter: requests of an editor to a session, and what the session tells as events."""

from __future__ import annotations

import queue
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import IO

from ptxkit.debugger.commands import Commands
from ptxkit.debugger.dap.breakpoints import FILTERS, EditorBreakpoints
from ptxkit.debugger.dap.connection import Connection, Message
from ptxkit.debugger.dap.frames import Frames
from ptxkit.debugger.dap.requests import EditorLaunch, Requests
from ptxkit.debugger.dap.sources import SourceFiles
from ptxkit.debugger.dap.values import FrameValues
from ptxkit.debugger.fronts import LaunchOutcome
from ptxkit.debugger.refusals import QuitError, RefusedError
from ptxkit.debugger.session import LINES, DebugSession
from ptxkit.diagnostics import Diagnostic, PtxkitError, render_text
from ptxkit.emulator.debug import RewindError
from ptxkit.emulator.stops import Stop

CAPABILITIES = {
    "supportsConfigurationDoneRequest": True,
    "supportsFunctionBreakpoints": True,
    "supportsConditionalBreakpoints": True,
    "supportsHitConditionalBreakpoints": True,
    "supportsLogPoints": True,
    "supportsDataBreakpoints": True,
    "supportsEvaluateForHovers": True,
    "supportsStepBack": True,
    "supportsSteppingGranularity": True,
    "supportsCompletionsRequest": True,
    "supportsExceptionInfoRequest": True,
    "supportsTerminateRequest": True,
    "supportsLoadedSourcesRequest": True,
    "supportsReadMemoryRequest": True,
    "exceptionBreakpointFilters": list(FILTERS),
}
RUNNING = frozenset(
    "setBreakpoints setFunctionBreakpoints setDataBreakpoints setExceptionBreakpoints threads pause "
    "disconnect terminate source loadedSources".split()
)
"""What can be asked while the launch runs."""
GOING = frozenset("continue next stepIn stepOut stepBack reverseContinue".split())

Open = Callable[[str, list[str]], AbstractContextManager[DebugSession]]
"""Makes a session of a file and the options of `ptxkit debug`. Raises PtxkitError."""


class Adapter(Requests):
    """One client, from `initialize` to `disconnect`.

    Args:
        incoming, outgoing: binary streams.
        open: makes a session.
    """

    def __init__(self, incoming: IO[bytes], outgoing: IO[bytes], open: Open) -> None:
        super().__init__()
        self._open = open
        self._stop_on_entry = False
        self._gone = False
        self._connection = Connection(incoming, outgoing, self._heard)

    # ---- the conversation

    def serve(self) -> None:
        """Answer until the client has gone."""
        try:
            while True:
                request = self._receive()
                if request.get("command") == "launch":
                    self._launched(request)
                else:
                    self._handle(request, {"initialize", "disconnect", "terminate"})
        except QuitError:
            pass

    def _receive(self, wait: bool = True) -> Message:
        """The next request. Raises QuitError: the client is gone; queue.Empty."""
        message = self._connection.receive(wait)
        if message is None:
            self._gone = True
            raise QuitError
        return message

    def _heard(self) -> None:
        """A message has come, perhaps while the launch runs: look at it before the next instruction."""
        launch = self._launch
        if launch is not None:
            launch.session.debugger.attend = self._attend

    def _attend(self) -> None:
        """Answer what can be answered while the launch runs."""
        while True:
            try:
                request = self._receive(wait=False)
            except queue.Empty:
                return
            self._handle(request, RUNNING)

    def _handle(self, request: Message, allowed: frozenset[str] | set[str] | None = None) -> bool:
        """Answer a request; whether the launch goes on. `allowed`: what can be asked now; None: anything.

        Raises:
            RewindError, QuitError: once it is answered.
        """
        command = str(request.get("command", ""))
        handler = getattr(self, f"on_{command}", None)
        if handler is None or (allowed is not None and command not in allowed):
            known = handler is not None or command in ("launch", "attach")
            self._connection.refuse(request, "notStopped" if known else f"there is no request `{command}`")
            return False
        try:
            body = handler(request.get("arguments") or {})
        except RefusedError as refused:
            self._connection.refuse(request, str(refused))
            return False
        except (RewindError, QuitError):
            self._connection.answer(request)
            self._forget()
            raise
        except (AttributeError, KeyError, TypeError, ValueError) as problem:
            self._connection.refuse(request, f"`{command}` has wrong arguments: {problem}")
            return False
        if command in GOING:
            self._forget()
        self._connection.answer(request, body)
        return command in GOING or command == "configurationDone"

    def _forget(self) -> None:
        if self._launch is not None:
            self._launch.frames.forget()
            self._launch.values.forget()

    # ---- beginning and end

    def on_initialize(self, given: Message) -> Message:
        """What the client counts from, and what can be asked."""
        self._first_line = 1 if given.get("linesStartAt1", True) else 0
        return CAPABILITIES

    def _launched(self, request: Message) -> None:
        """Launch `program` with the options `args`; answers until it has ended, and the client has gone."""
        given = request.get("arguments") or {}
        program, args = given.get("program"), given.get("args") or []
        if not isinstance(program, str) or not isinstance(args, list):
            self._connection.refuse(
                request, "expected a file as `program` and a list of options as `args`", True
            )
            return
        try:
            with self._open(program, [str(arg) for arg in args]) as session:
                self._begin(request, given, session)
        except PtxkitError as problem:
            self._connection.refuse(request, render_text(problem.diagnostics), True)
            return
        raise QuitError

    def _begin(self, request: Message, given: Message, session: DebugSession) -> None:
        commands = Commands(session, self._say)
        files = SourceFiles(session.locations, session.path)
        values = FrameValues(commands)
        breakpoints = EditorBreakpoints(commands, files, values, lambda text: self._say(text, "stdout"))
        self._launch = EditorLaunch(session, commands, files, Frames(session, files), values, breakpoints)
        self._stop_on_entry = bool(given.get("stopOnEntry"))
        wanted = given.get("lines", "auto")
        if wanted not in ("auto", *LINES):
            self._connection.refuse(
                request, f"expected `ptx`, `source` or `auto` as `lines`, found `{wanted}`"
            )
            return
        session.lines = wanted if wanted != "auto" else "source" if files.has_source() else "ptx"
        self._connection.answer(request)
        code = session.run(self)
        self._connection.event("exited", exitCode=code)
        self._connection.event("terminated")
        while not self._gone:
            self._handle(self._receive(), {"disconnect", "terminate"})

    def on_configurationDone(self, given: Message) -> None:
        """The launch can begin."""

    def on_disconnect(self, given: Message) -> None:
        """The client goes."""
        self._gone = True
        raise QuitError

    def on_terminate(self, given: Message) -> None:
        """The launch is to end."""
        raise QuitError

    # ---- what the session tells

    def ready(self) -> None:
        """Everything is known that breakpoints need."""
        self._connection.event("initialized")
        while not self._handle(self._receive(), RUNNING | {"configurationDone", "dataBreakpointInfo"}):
            pass
        if self._stop_on_entry:
            self._here.session.step()

    def stopped(self, stop: Stop) -> None:
        """Say so, and answer until the launch is to go on."""
        self._tell_new()
        launch = self._here
        reason = stop.reason
        if launch.breakpoints.is_warning(stop.numbers):
            reason, self._findings = "exception", launch.session.device.findings[-1:]
        if reason == "exited":
            reason = "step"
        self._stand(reason, stop.text, stop.numbers)

    def _stand(self, reason: str, text: str, numbers: tuple[int, ...] = ()) -> None:
        frames, warp = self._here.frames, self._here.session.debugger.warp
        about = {"description": text.partition("\n")[0], "text": text} if text else {}
        self._connection.event(
            "stopped",
            reason=reason,
            threadId=frames.number_of(warp),
            allThreadsStopped=True,
            **({"hitBreakpointIds": list(numbers)} if numbers else {}),
            **about,
        )
        while not self._handle(self._receive()):
            pass

    def ended(self, outcome: LaunchOutcome, changed: Stop | None) -> None:
        """Stop once more where something was found; else say how it ended."""
        self._tell_new()
        if changed is not None:
            self._say(changed.text)
        self._say(outcome.answer or outcome.text)
        errors = [finding for finding in outcome.findings if finding.is_error]
        self._findings = errors[:1]
        for finding in outcome.findings:
            self._tell(finding)
        if errors and ("errors" if outcome.by_finding else "results") in self._here.breakpoints.stopping:
            self._stand("exception", errors[0].message)

    def printed(self, text: str) -> None:
        """A kernel has printed something."""
        self._connection.event("output", category="stdout", output=text)

    def _say(self, text: str, category: str = "console") -> None:
        self._connection.event("output", category=category, output=f"{text}\n")

    def _tell_new(self) -> None:
        for finding in self._here.session.new_findings():
            self._tell(finding)

    def _tell(self, finding: Diagnostic) -> None:
        where: Message = {}
        if finding.source is not None and finding.span is not None:
            line = finding.span.line - 1 + self._first_line
            where = {"source": self._here.files.of_text(finding.source), "line": line}
        self._connection.event("output", category="stderr", output=f"{render_text([finding])}\n", **where)
