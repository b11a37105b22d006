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

"""


def pages() -> dict[str, str]:
    """The text of the page, by its path."""
    parts = [INTRODUCTION]
    for verb, about in VERBS.items():
        command = import_module(f"ptxkit.cli.{verb}").command
        assert isinstance(command, click.Command)
        parts.append(f"## {verb}\n\n{about[:1].upper()}{about[1:]}.\n\n" + _help(command, f"ptxkit {verb}"))
        if isinstance(command, click.Group):
            for name, inner in sorted(command.commands.items()):
                parts.append(f"### {verb} {name}\n\n" + _help(inner, f"ptxkit {verb} {name}"))
    return {"reference/cli.md": "".join(parts)}


def _help(command: click.Command, path: str) -> str:
    context = click.Context(command, info_name=path, max_content_width=100, terminal_width=100)
    return f"```text\n{command.get_help(context).rstrip()}\n```\n\n"
