"""What an editor can ask of a launch, a method a request: `on_` and the name that the protocol has for it.

Each returns the body of its answer, and refuses by RefusedError.
"""

from __future__ import annotations

from typing import NamedTuple

from ptxkit.debugger.commands import MOVING, Commands, command_called
from ptxkit.debugger.dap.breakpoints import EditorBreakpoints
from ptxkit.debugger.dap.connection import Message
from ptxkit.debugger.dap.frames import Frames
from ptxkit.debugger.dap.sources import SourceFiles
from ptxkit.debugger.dap.values import FrameValues
from ptxkit.debugger.refusals import RefusedError
from ptxkit.debugger.session import DebugSession
from ptxkit.diagnostics import Diagnostic, render_text


class EditorLaunch(NamedTuple):
    """A session that an editor has asked for."""

    session: DebugSession
    commands: Commands
    files: SourceFiles
    frames: Frames
    values: FrameValues
    breakpoints: EditorBreakpoints


class Requests:
    """The requests to a launch."""

    def __init__(self) -> None:
        self._launch: EditorLaunch | None = None
        self._first_line = 1
        self._findings: list[Diagnostic] = []

    @property
    def _here(self) -> EditorLaunch:
        if self._launch is None:
            raise RefusedError("nothing has been launched")
        return self._launch

    # ---- breakpoints

    def on_setBreakpoints(self, given: Message) -> Message:
        """All of a file."""
        wanted = given.get("breakpoints")
        if wanted is None:
            wanted = [{"line": line} for line in given.get("lines") or []]
        found = self._here.breakpoints.in_file(given["source"], wanted, self._first_line)
        return {"breakpoints": found}

    def on_setFunctionBreakpoints(self, given: Message) -> Message:
        """All at functions and labels."""
        return {"breakpoints": self._here.breakpoints.at_functions(given["breakpoints"])}

    def on_setExceptionBreakpoints(self, given: Message) -> Message:
        """Which kinds of findings stop."""
        self._here.breakpoints.on_findings(given["filters"])
        return {}

    def on_dataBreakpointInfo(self, given: Message) -> Message:
        """Whether something can be watched."""
        launch = self._here
        warp = launch.frames.warp_of_frame(given.get("frameId"))
        return launch.breakpoints.data_info(int(given.get("variablesReference") or 0), given["name"], warp)

    def on_setDataBreakpoints(self, given: Message) -> Message:
        """All watchpoints."""
        return {"breakpoints": self._here.breakpoints.on_data(given["breakpoints"])}

    def on_exceptionInfo(self, given: Message) -> Message:
        """The finding that has stopped the launch."""
        if not self._findings:
            raise RefusedError("no finding has stopped the launch")
        (finding,) = self._findings
        return {
            "exceptionId": finding.code,
            "description": finding.message,
            "breakMode": "unhandled" if finding.is_error else "always",
            "details": {
                "message": finding.message,
                "typeName": finding.code,
                "stackTrace": render_text([finding]),
            },
        }

    # ---- going on and back

    def _walker(self, given: Message) -> tuple[DebugSession, str | None]:
        """The session, at the thread that is to go, and the lines that it counts."""
        launch = self._here
        thread = given.get("threadId")
        if thread is not None:
            launch.session.debugger.warp = launch.frames.warp_of(int(thread))
        return launch.session, "ptx" if given.get("granularity") == "instruction" else None

    def _ends(self) -> bool:
        """Whether the launch has ended, so that going on is to leave."""
        return self._here.session.outcome is not None

    def on_continue(self, given: Message) -> Message:
        """Go on."""
        if not self._ends():
            self._here.session.go_on()
        return {"allThreadsContinued": True}

    def on_next(self, given: Message) -> None:
        """A step over calls."""
        session, lines = self._walker(given)
        if not self._ends():
            session.step(over=True, lines=lines)

    def on_stepIn(self, given: Message) -> None:
        """A step."""
        session, lines = self._walker(given)
        if not self._ends():
            session.step(lines=lines)

    def on_stepOut(self, given: Message) -> None:
        """Out of the function; of an entry, to its end."""
        session, _ = self._walker(given)
        if not self._ends():
            try:
                session.finish()
            except RefusedError:
                session.go_on()

    def on_stepBack(self, given: Message) -> None:
        """A step back over calls, by instructions into them."""
        session, lines = self._walker(given)
        session.back(over=lines is None, lines=lines)

    def on_reverseContinue(self, given: Message) -> None:
        """Back to what would have stopped last."""
        self._walker(given)[0].back_on()

    def on_pause(self, given: Message) -> None:
        """Stop before the next instruction."""
        self._here.session.debugger.interrupt()

    # ---- looking

    def on_threads(self, given: Message) -> Message:
        """The warps."""
        return {"threads": self._here.frames.threads()}

    def on_stackTrace(self, given: Message) -> Message:
        """The frames of a warp."""
        frames = self._here.frames.stack(int(given["threadId"]), self._first_line)
        start, count = int(given.get("startFrame") or 0), int(given.get("levels") or 0) or len(frames)
        return {"stackFrames": frames[start : start + count], "totalFrames": len(frames)}

    def on_scopes(self, given: Message) -> Message:
        """What a frame has."""
        warp = self._here.frames.warp_of_frame(int(given["frameId"]))
        return {"scopes": self._here.values.scopes(warp)}

    def on_variables(self, given: Message) -> Message:
        """What a scope or a variable consists of."""
        start, count = int(given.get("start") or 0), int(given.get("count") or 0)
        return {"variables": self._here.values.variables(int(given["variablesReference"]), start, count)}

    def on_evaluate(self, given: Message) -> Message:
        """An expression; in the console, a command too."""
        launch, text = self._here, str(given["expression"])
        warp = launch.frames.warp_of_frame(given.get("frameId"))
        if given.get("context") == "repl" and (words := text.split()):
            try:
                name = command_called(words[0])
            except RefusedError:
                name = ""
            if name:
                return {"result": self._command(name, text, launch), "variablesReference": 0}
        return launch.values.evaluate(warp, text)

    def _command(self, name: str, text: str, launch: EditorLaunch) -> str:
        """What a command of the console answers."""
        if name in MOVING or name.startswith("reverse-") or name in ("quit", "who"):
            raise RefusedError(f"`{name}` is the editor's: use its buttons")
        said: list[str] = []
        before, launch.commands.say = launch.commands.say, said.append
        try:
            launch.commands.do(text)
        finally:
            launch.commands.say = before
        return "\n".join(said)

    def on_completions(self, given: Message) -> Message:
        """What the word before the cursor can become."""
        text = str(given["text"])[: max(int(given["column"]) - self._first_line, 0)]
        start = len(text) - len(text.split(" ")[-1])
        found = self._here.commands.completions(text)
        return {"targets": [{"label": word, "start": start, "length": len(text) - start} for word in found]}

    def on_source(self, given: Message) -> Message:
        """A text that has no path."""
        return {
            "content": self._here.files.text(int(given.get("sourceReference") or 0)),
            "mimeType": "text/x-ptx",
        }

    def on_loadedSources(self, given: Message) -> Message:
        """The files that the module comes from."""
        return {"sources": self._here.files.all()}

    def on_readMemory(self, given: Message) -> Message:
        """Bytes of shared or global memory."""
        return self._here.values.memory(
            str(given["memoryReference"]), int(given.get("offset") or 0), int(given["count"])
        )
