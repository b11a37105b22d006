"""Options of the verbs that launch kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from ptxkit.cli.options import Seconds, TargetName, preprocessor_options, rule_options

ENTRY = click.option("--entry", metavar="NAME", help="The `.entry` to take, where a file has several.")

_OPTIONS = (
    click.option(
        "--device",
        default="auto",
        metavar="auto|emu|cuda:N",
        help="Where to run; auto: a GPU that fits, else emu.",
    ),
    click.option(
        "-p", "sizes", multiple=True, metavar="NAME=N", help="One size of the problem; may be repeated."
    ),
    click.option("--grid", metavar="X[,Y[,Z]]", help="CTAs, instead of the card's."),
    click.option("--block", metavar="X[,Y[,Z]]", help="Threads of a CTA, instead of the card's."),
    click.option("--cluster", metavar="X[,Y[,Z]]", help="CTAs of a cluster, instead of the card's."),
    click.option("--shared", metavar="BYTES", help="Dynamic shared memory, instead of the card's."),
    click.option("--cooperative", is_flag=True, help="Launch with all CTAs resident at once."),
    click.option(
        "--arg",
        "arguments",
        multiple=True,
        metavar="NAME=VALUE",
        help="x=f32[1024]:randn, x=f32[1024], x=@x.npy, n=3 or s=bytes:0a00; without a card by parameter "
        "or in order.",
    ),
    click.option(
        "--workload", metavar="NAME|FILE.py:NAME", help="The problem to verify against; FILE.py is executed."
    ),
    click.option("--inputs", metavar="NAME", help="The workload's input generator."),
    click.option(
        "--seed", type=click.IntRange(min=0), metavar="N", help="Seed of the inputs and of --order random."
    ),
    click.option(
        "--link",
        multiple=True,
        metavar="FILE",
        help="Link another file to FILE: its functions and variables.",
    ),
    click.option("--line-info", is_flag=True, help="On a GPU, let profilers show the PTX lines."),
    click.option(
        "--timeout",
        type=Seconds(min_open=True),
        metavar="S",
        help="Kill a launch that takes longer; 10 on a GPU, none on emu by default.",
    ),
)


_MANY = (
    click.argument("file", nargs=-1, required=True),
    ENTRY,
    click.option(
        "--preset", multiple=True, metavar="NAME", help="A preset of the card, or `all`; may be repeated."
    ),
    click.option(
        "-a", "axis", multiple=True, metavar="NAME=V,V..", help="Several values of a size: 1,2 or 8:64:8."
    ),
)


def launch_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every verb that launches."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return preprocessor_options(command)


def launches_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same, of verbs that launch several files at several sizes."""
    command = launch_options(command)
    for option in reversed(_MANY):
        command = option(command)
    return command


def emulator_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How the emulator behaves, of every verb that may run on it."""
    arch = click.option(
        "--arch",
        type=TargetName(),
        metavar="SM",
        help="The target to emulate, by default the file's.",
    )
    order = click.option(
        "--order",
        type=click.Choice(["lazy", "eager", "random"]),
        default="lazy",
        help="When the emulator completes asynchronous work.",
    )
    return arch(order(command))


sanitize_option = click.option(
    "--sanitize/--no-sanitize",
    default=None,
    help="Find races and undefined data: on emu by default, on a GPU by compute-sanitizer.",
)


jit_option = click.option(
    "--jit/--no-jit",
    default=None,
    help="Compile what the emulator runs often: by default where the `jit` extra is installed.",
)


threads_option = click.option(
    "--threads",
    metavar="N",
    type=click.IntRange(min=1),
    help="Cores that a launch on the emulator may use: by default those that this process may.",
)


def keep_going_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--keep-going` and `--error-limit`."""
    limit = click.option(
        "--error-limit",
        metavar="N",
        type=click.IntRange(min=1),
        default=100,
        show_default=True,
        help="Distinct errors that --keep-going goes past in a launch.",
    )
    going = click.option(
        "--keep-going", is_flag=True, help="Report errors of a kernel, each once, and go on (emulator)."
    )
    return going(limit(command))


strict_option = click.option(
    "--strict", is_flag=True, help="Hold a kernel to the manual where shipping ones are not (emulator)."
)


def finding_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What the emulator finds, how much it weighs and whether a launch goes past it, of every verb that may
    run on it."""
    return sanitize_option(strict_option(keep_going_options(rule_options(command))))
