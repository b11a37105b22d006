"""The command: `ptxkit` and `python -m ptxkit`. Here every ending becomes an exit code.

0 good, 1 error findings, 2 usage, 3 environment, 4 wrong result, 5 crash, 6 killed by --timeout, 130 Ctrl-C,
141 whoever reads the output has gone.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Sequence
from typing import IO

from ptxkit.support import collector

UNWRITABLE = 2
INTERRUPTED = 130
BROKEN_PIPE = 141

_UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF, errno.EROFS}
"""How writing to a stream that is open can fail."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give the process's exit code."""
    _open_streams()
    try:
        try:
            if arguments is None:
                collector.command()
            return _run(arguments)
        except Exception as problem:
            if os.environ.get("PTXKIT_DEBUG") and not isinstance(problem, BrokenPipeError):
                raise
            return _failed(problem)
    except KeyboardInterrupt:
        return _interrupted()
    except OSError as problem:
        # Nothing can be said any more, and nothing may be flushed when the interpreter ends.
        if problem.errno != errno.EPIPE and problem.errno not in _UNWRITABLE:
            raise
        _drop(sys.stdout, sys.stderr)
        return BROKEN_PIPE if problem.errno == errno.EPIPE else UNWRITABLE


def _run(arguments: Sequence[str] | None) -> int:
    import click

    from ptxkit import cli

    try:
        code = cli.main.main(args=arguments, prog_name="ptxkit", standalone_mode=False)
        sys.stdout.flush()
    except click.Abort:
        return _interrupted()
    except click.ClickException as problem:
        return cli.usage_error(problem)
    except cli.ReaderGoneError:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)) from None
    return code if isinstance(code, int) else 0


def _open_streams() -> None:
    """Take a standard stream that the caller has closed for an empty one, and pass what has no character."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115, it stays open
            setattr(sys, name, stream)
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop(*streams: IO[str]) -> None:
    """Send what is left in these streams nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(nowhere, stream.fileno())


def _interrupted() -> int:
    print("interrupted", file=sys.stderr)
    return INTERRUPTED


def _failed(problem: Exception) -> int:
    """Say what ended the command that nothing in it foresaw."""
    from ptxkit.diagnostics import Diagnostic, exit_code, reason, render_text

    if isinstance(problem, BrokenPipeError):
        raise problem
    if isinstance(problem, OSError) and problem.filename is None and problem.errno in _UNWRITABLE:
        help = "make room, or send it elsewhere"
        diagnostic = Diagnostic("P567", f"cannot write to standard output: {reason(problem)}", help=help)
        _drop(sys.stdout)
    else:
        said = " ".join(str(problem).split())
        what = f"{type(problem).__name__}: {said}" if said else type(problem).__name__
        diagnostic = Diagnostic(
            "P599",
            f"internal error: {what}",
            help="this is a bug of ptxkit; `PTXKIT_DEBUG=1` in the environment shows where it happened",
        )
    print(render_text([diagnostic]), file=sys.stderr, flush=True)
    return exit_code([diagnostic])


if __name__ == "__main__":
    sys.exit(main())
