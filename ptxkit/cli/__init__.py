"""The command line: one file a verb, each with arguments and printing only.

A verb's file loads when the verb runs, so that `--help` and `--version` answer at once.
"""

from __future__ import annotations

import os
import re
import sys
from importlib import import_module
from typing import Any

import click

from ptxkit import __version__
from ptxkit.diagnostics import Diagnostic, PtxkitError, exit_code

VERBS = {
    "run": "launch a kernel, on a GPU or emulated, and verify its result",
    "exec": "run a program on a virtual GPU: Triton, numba, CUDA C++, whatever calls the driver",
    "debug": "stop a launch on the emulator, step through it and back, look at registers and memory",
    "bench": "time kernels on a GPU, verified, beside the memory roof",
    "sweep": "run every combination of sizes, here or on a cluster, results as JSON lines",
    "check": "find errors and explain them",
    "fmt": "format files in one style",
    "asm": "make machine code through NVIDIA's assembler",
    "sass": "show the machine code beside the PTX lines",
    "trace": "write a timeline of the emulated asynchronous machine, for Perfetto",
    "profile": "tell what each line did on the emulator: executions, accesses, waits, tensor cores",
    "predict": "say how long a kernel would take on an H200, H100 or B200 that need not be there",
    "calibrate": "measure the figures of this machine's GPU that predict models one by",
    "kernels": "list the shipped kernels and where each has been verified",
    "desc": "pack and read descriptors: shared-memory, instruction, tensor map",
    "explain": "say what a finding means and how to fix it, an instruction's forms, a descriptor's bits",
    "expand": "print a file with its # lines carried out, as the assembler sees it",
    "script": "print the Python that rebuilds a module",
    "dap": "serve editors: kernels on the emulator under their debugger",
    "lsp": "serve editors: findings, hover, definitions, completion",
    "doctor": "show what this machine has, what is missing and how to fix it",
}
"""Every verb with its line of help; the verb lives in the file of its name."""


COMPLETING = "_PTXKIT_COMPLETE"
"""The variable by which a shell asks what may be typed; click has it."""


class ReaderGoneError(Exception):
    """Nobody reads what is printed any more; of a `BrokenPipeError` click would make its own exit code."""


class Verbs(click.Group):
    """The group of all verbs, each loaded when it is needed."""

    def make_context(self, *args: Any, **rest: Any) -> click.Context:
        try:
            return super().make_context(*args, **rest)
        except BrokenPipeError:
            raise ReaderGoneError from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise ReaderGoneError from None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        verbs = [
            CompletionItem(name, help=help) for name, help in VERBS.items() if name.startswith(incomplete)
        ]
        return [*verbs, *click.Command.shell_complete(self, ctx, incomplete)]

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        command = import_module(f"ptxkit.cli.{name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in VERBS or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        import difflib

        near = difflib.get_close_matches(args[0], VERBS, 1)
        hint = f"; did you mean `{near[0]}`?" if near else ""
        raise click.UsageError(f"expected a verb, found `{args[0]}`{hint}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


class Verb(click.Command):
    """A verb. Its `PtxkitError`s are printed, as JSON where `--json` asks for it, and become the exit code.

    Args:
        examples: command lines with what each does, shown by `--help`.
    """

    def __init__(self, *args: Any, examples: tuple[tuple[str, str], ...] = (), **rest: Any) -> None:
        super().__init__(*args, **rest)
        self.examples = examples
        if COMPLETING in os.environ:
            from ptxkit.cli.completing import complete

            complete(self)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            for line, meaning in self.examples:
                formatter.write_text(line)
                with formatter.indentation():
                    formatter.write_text(meaning)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except PtxkitError as problem:
            from ptxkit.cli.output import print_failure

            print_failure(problem.diagnostics, as_json=bool(ctx.params.get("as_json")))
            return exit_code(problem.diagnostics)


@click.command(
    cls=Verbs,
    subcommand_metavar="VERB ...",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, message="ptxkit %(version)s")
def main() -> None:
    """Check, run, emulate and benchmark hand-written PTX.

    Try `ptxkit run gemv.ptx`: it launches a shipped kernel, on the emulator where there is no GPU.
    """


def usage_error(problem: click.ClickException) -> int:
    """Print what is wrong with the command line, as a diagnostic like any other."""
    from ptxkit.cli.output import print_failure

    if isinstance(problem, click.exceptions.NoArgsIsHelpError):
        print(problem.format_message(), file=sys.stderr)
        return problem.exit_code
    context = getattr(problem, "ctx", None)
    path = context.command_path if context else "ptxkit"
    message = re.sub(r"'([^']*)'", r"`\1`", problem.format_message().rstrip("."))
    diagnostic = Diagnostic(
        "P560", message[:1].lower() + message[1:], help=f"`{path} --help` shows the usage"
    )
    print_failure([diagnostic], as_json="--json" in sys.argv)
    return exit_code([diagnostic])
