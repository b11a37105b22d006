"""The console: commands from standard input, one a line; at a terminal with editing, history, completion."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ptxkit.debugger.commands import Commands
from ptxkit.debugger.fronts import LaunchOutcome
from ptxkit.debugger.refusals import QuitError, RefusedError
from ptxkit.debugger.session import DebugSession
from ptxkit.diagnostics import Diagnostic
from ptxkit.emulator.stops import Stop

PROMPT = "(debug) "
KEPT = 1000
"""Lines of history that are kept."""
AGAIN = frozenset(
    "step next stepi nexti until reverse-step reverse-next reverse-stepi s n si ni u rs rn rsi".split()
)
"""What an empty line at a terminal repeats."""


class Console:
    """Reads commands and does them, while a launch stands still and before and after it.

    Args:
        session: the launch.
        tell: prints findings.
    """

    def __init__(self, session: DebugSession, tell: Callable[[list[Diagnostic]], None]) -> None:
        self.session = session
        self._commands = Commands(session, print)
        self._tell = tell
        self._last = ""
        self._terminal = sys.stdin.isatty() and sys.stdout.isatty()
        if self._terminal:
            self._edit_lines()

    # ---- what the session tells

    def ready(self) -> None:
        """The launch can begin."""
        self._read()

    def stopped(self, stop: Stop) -> None:
        """The launch stands still."""
        if stop.text:
            print(stop.text)
        self._where()
        self._read()

    def ended(self, outcome: LaunchOutcome, changed: Stop | None) -> None:
        """The launch has ended; say how, and where, if a finding ended it."""
        self._tell_new()
        if outcome.answer:
            print(outcome.answer)
        else:
            if changed is not None:
                print(changed.text)
            print(outcome.text)
            self._tell(outcome.findings)
            if self.session.debugger.current()[0] is not None:
                self._where()
        self._read()

    def printed(self, text: str) -> None:
        """A kernel has printed something."""
        sys.stdout.write(text)

    def _where(self) -> None:
        with suppress(RefusedError):
            self._commands.do_where([])

    def _tell_new(self) -> None:
        self._tell(self.session.new_findings())

    # ---- the loop

    def _read(self) -> None:
        """Do commands until one lets the launch go on.

        Raises:
            QuitError: `quit`, or no more input.
            RewindError: the launch is to begin anew.
        """
        self._tell_new()
        going = False
        while not going:
            line = self._line()
            try:
                going = self._commands.do(line)
            except RefusedError as refused:
                print(f"error: {refused}")

    def _line(self) -> str:
        if self._terminal:
            try:
                line = input(PROMPT)
            except EOFError:
                print()
                raise QuitError from None
            words = line.split()
            if not words:
                return self._last
            self._last = line if words[0] in AGAIN else ""
            return line
        print(PROMPT, end="", flush=True)
        line = sys.stdin.readline()
        if not line:
            print()
            raise QuitError
        print(line.strip())
        return line

    # ---- the terminal

    def _edit_lines(self) -> None:
        """Editing, history and completion, where this Python has readline."""
        try:
            import readline
        except ImportError:
            return
        import atexit

        readline.set_completer(self._completed)
        readline.set_completer_delims(" \t")
        readline.parse_and_bind("tab: complete")
        readline.set_history_length(KEPT)
        file = history_file()
        with suppress(OSError):
            readline.read_history_file(file)
        atexit.register(_keep_history, file)

    def _completed(self, text: str, state: int) -> str | None:
        import readline

        line = readline.get_line_buffer()[: readline.get_endidx()]
        found = self._commands.completions(line)
        return found[state] + (" " if len(found) == 1 else "") if state < len(found) else None


def history_file() -> Path:
    """Where the commands of earlier sessions are kept."""
    return (
        Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
        / "ptxkit"
        / "debug_history"
    )


def _keep_history(file: Path) -> None:
    import readline

    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        readline.write_history_file(file)
