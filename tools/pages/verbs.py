"""The page of the command line: the help of every verb, as it prints it."""

from __future__ import annotations

from importlib import import_module

import click

from ptxkit.cli import VERBS

INTRODUCTION = """\
# The command line

What `ptxkit VERB --help` prints. Text goes to stdout, logs and progress to stderr.

| exit code | |
|---|---|
| 0 | good; warnings alone, too |
| 1 | findings, an emulated deadlock among them |
| 2 | a wrong command line, or sizes that the kernel refuses |
| 3 | something is missing on this machine: `ptxkit doctor` |
| 4 | a wrong result |
| 5 | a crash |
| 6 | killed by `--timeout` |
| 130 | Ctrl-C |
| 141 | nobody reads the output any more |

"""


def commands() -> dict[str, click.Command]:
    """Every verb, and the parts of those that have some, by what is typed."""
    found: dict[str, click.Command] = {}
    for verb in VERBS:
        command = import_module(f"ptxkit.cli.{verb}").command
        assert isinstance(command, click.Command)
        found[f"ptxkit {verb}"] = command
        if isinstance(command, click.Group):
            found |= {f"ptxkit {verb} {name}": part for name, part in sorted(command.commands.items())}
    return found


def pages() -> dict[str, str]:
    """The text of the page, by its path."""
    parts = [INTRODUCTION]
    for path, command in commands().items():
        _, verb, *rest = path.split()
        heading = (
            f"### {verb} {rest[0]}" if rest else f"## {verb}\n\n{VERBS[verb][:1].upper()}{VERBS[verb][1:]}."
        )
        parts.append(f"{heading}\n\n{_help(command, path)}")
    return {"reference/cli.md": "".join(parts)}


def _help(command: click.Command, path: str) -> str:
    context = click.Context(command, info_name=path, max_content_width=100, terminal_width=100)
    return f"```text\n{command.get_help(context).rstrip()}\n```\n\n"
