"""Stop a launch on the emulator: what `ptxkit debug` does."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ptxkit.cli.files import STANDARD
from ptxkit.cli.launching.plans import emulated, planned, ruled
from ptxkit.cli.output import print_diagnostics
from ptxkit.debugger.session import DebugSession
from ptxkit.diagnostics import error
from ptxkit.running.session import Session


@contextmanager
def session_of(given: dict[str, Any]) -> Iterator[DebugSession]:
    """The session of a file and options. Raises PtxkitError: what is wrong with them."""
    if given["file"] == STANDARD:
        raise error("P560", "expected a file, found `-`: commands come from standard input")
    options = emulated(given, "debug")
    found, plan = planned(given)
    options = ruled(options, given["file"], found)
    with Session(found.module, options) as running:
        path = Path(found.program.path or given["file"])
        yield DebugSession(running, plan, path, found.module.source)


def debug(given: dict[str, Any]) -> int:
    """Launch under the console; the exit code of what was found."""
    from ptxkit.debugger.console import Console

    with session_of(given) as session:
        console = Console(session, lambda findings: print_diagnostics(findings, sys.stdout))
        before = signal.signal(signal.SIGINT, lambda *_: session.debugger.interrupt())
        try:
            return session.run(console)
        finally:
            signal.signal(signal.SIGINT, before)
