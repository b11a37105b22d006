"""The command: `ptxkit` and `python -m ptxkit`. Here every ending becomes an exit code.

0 good, 1 error findings, 2 usage, 3 environment, 4 wrong result, 5 crash, 6 killed by --timeout, 130 Ctrl-C.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

INTERRUPTED = 130
BROKEN_PIPE = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give the process's exit code."""
    try:
        import click

        from ptxkit import cli

        try:
            code = cli.main.main(args=arguments, prog_name="ptxkit", standalone_mode=False)
            sys.stdout.flush()
        except click.Abort:
            return _interrupted()
        except click.ClickException as problem:
            return cli.usage_error(problem)
        return code if isinstance(code, int) else 0
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:
        # Whoever reads has gone; nothing may be flushed to it when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as problem:
        if os.environ.get("PTXKIT_DEBUG"):
            raise
        return _internal_error(problem)


def _interrupted() -> int:
    print("interrupted", file=sys.stderr)
    return INTERRUPTED


def _internal_error(problem: Exception) -> int:
    from ptxkit.diagnostics import Diagnostic, exit_code, render_text

    reason = " ".join(str(problem).split())
    what = f"{type(problem).__name__}: {reason}" if reason else type(problem).__name__
    diagnostic = Diagnostic(
        "P599",
        f"internal error: {what}",
        help="this is a bug of ptxkit; `PTXKIT_DEBUG=1` in the environment shows where it happened",
    )
    print(render_text([diagnostic]), file=sys.stderr)
    return exit_code([diagnostic])


if __name__ == "__main__":
    sys.exit(main())
