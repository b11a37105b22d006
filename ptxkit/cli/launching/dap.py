"""Launches under the debugger of an editor: what `ptxkit dap` does."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

from ptxkit.cli.debug import command
from ptxkit.cli.launching.debug import session_of
from ptxkit.debugger.dap.adapter import Adapter
from ptxkit.debugger.session import DebugSession
from ptxkit.diagnostics import error


@contextmanager
def _asked(program: str, args: list[str]) -> Iterator[DebugSession]:
    """The session that an editor asks for, with the options of `ptxkit debug`."""
    try:
        with command.make_context("debug", [program, *args]) as context:
            given = dict(context.params)
    except click.ClickException as problem:
        raise error("P560", problem.format_message()) from None
    except click.exceptions.Exit:
        raise error("P560", f"expected options that launch, found {' '.join(args)}") from None
    with session_of(given) as session:
        yield session


def serve(port: int | None) -> int:
    """Speak the Debug Adapter Protocol: on standard input and output, or with one client after another that
    comes to a port of this machine; 0 is any that is free."""
    if port is None:
        # A thread may still wait for input when the interpreter ends, which must not find it in `sys.stdin`.
        incoming = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
        with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as outgoing:
            sys.stdout = sys.stderr  # what is not the protocol must not come between
            Adapter(incoming, outgoing, _asked).serve()
        return 0
    try:
        listener = socket.create_server(("127.0.0.1", port))
    except OSError as problem:
        raise error("P560", f"expected a free port, found {port}: {problem.strerror}") from None
    with listener:
        print(f"listening on 127.0.0.1:{listener.getsockname()[1]}", file=sys.stderr, flush=True)
        while True:
            client, _ = listener.accept()
            # A client that breaks the connection off ends its own session, not those to come.
            with (
                suppress(ConnectionError),
                client,
                client.makefile("rb") as incoming,
                client.makefile("wb") as outgoing,
            ):
                Adapter(incoming, outgoing, _asked).serve()
