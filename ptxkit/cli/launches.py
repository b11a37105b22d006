"""What verbs share that launch kernels: options, and from FILE and options to a launch plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from ptxkit import card
from ptxkit.asm import Module
from ptxkit.cli import files
from ptxkit.cli.options import TargetName, preprocessor_options
from ptxkit.diagnostics import PtxkitError, error
from ptxkit.plan import LaunchPlan, Program, Request, flags, make
from ptxkit.runner import Options

ALL = "all"
"""The preset that stands for every one."""

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
        help="x=f32[1024]:randn, x=f32[1024], x=@x.npy or n=3; without a card by parameter or in order.",
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
        type=click.FloatRange(min=0, min_open=True),
        metavar="S",
        help="Kill a launch that takes longer; 10 on a GPU, none on emu by default.",
    ),
)


def launch_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every verb that launches."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return preprocessor_options(command)


def emulator_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How the emulator behaves, of every verb that may run on it."""
    arch = click.option(
        "--arch",
        type=TargetName(),
        metavar="SM",
        help="The target that the emulator plays, by default the file's.",
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
    help="Look for races and undefined data: on emu by default, on a GPU by compute-sanitizer.",
)


jit_option = click.option(
    "--jit/--no-jit",
    default=None,
    help="Compile what the emulator runs often: by default where the `jit` extra is installed.",
)


strict_option = click.option(
    "--strict",
    is_flag=True,
    help="Warn of what kernels in practice leave out, too (emulator).",
)


def options_of(given: dict[str, Any], **rest: Any) -> Options:
    """Where and how to run, of the options above that the verb has.

    Raises:
        PtxkitError: what `linked` raises.
    """
    same = ("device", "order", "sanitize", "arch", "jit", "strict", "line_info")
    found = {name: given[name] for name in same if name in given}
    return Options(seed=given["seed"] or 0, link=linked(given), **found, **rest)


def emulated(given: dict[str, Any], verb: str) -> Options:
    """`options_of` for a verb that runs on the emulator, in this process.

    Raises:
        PtxkitError: P520, another device; P560, a time limit; what `linked` raises.
    """
    if given["device"] not in ("auto", "emu"):
        message = f"expected `--device emu`, the only one for `{verb}`, found `--device {given['device']}`"
        raise error("P520", message, help="leave `--device` out; `ptxkit run` runs on a GPU")
    if given["timeout"] is not None:
        message = f"`{verb}` takes no `--timeout`: it runs in this process, which can't be killed"
        raise error("P560", message, help="leave `--timeout` out, or give it to `ptxkit run`")
    return options_of({**given, "device": "emu"})


def planned(given: dict[str, Any]) -> tuple[Subject, LaunchPlan]:
    """FILE and its plan, for a verb that launches one.

    Raises:
        PtxkitError: what `subject` and `make` raise.
    """
    found = subject(given["file"], given)
    return found, make(found.program, found.module, found.card, request_of(given, given["preset"]))


def request_of(given: dict[str, Any], preset: str | None = None) -> Request:
    """What those options ask of a plan."""

    def extents(option: str) -> Any:
        return flags.extents(given[option], f"--{option}") if given[option] is not None else None

    shared = extents("shared")
    return Request(
        entry=given["entry"],
        preset=preset,
        sizes=flags.once((flags.size(text) for text in given["sizes"]), "-p"),
        workload=given["workload"],
        inputs=given["inputs"],
        seed=given["seed"],
        grid=extents("grid"),
        block=extents("block"),
        cluster=extents("cluster"),
        shared=shared[0] if shared else None,
        cooperative=given["cooperative"],
        arguments=flags.once((flags.argument(text) for text in given["arguments"]), "--arg"),
    )


@dataclass(frozen=True, slots=True)
class Subject:
    """A FILE, read: its path, its module, its card where it has one, and the program for plans."""

    path: Path
    module: Module
    card: card.Card | None
    program: Program

    @property
    def presets(self) -> list[str]:
        """The names of the card's presets."""
        return [preset.name for preset in self.card.presets] if self.card else []


def linked(given: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """The name and the text of each file to be linked, checked for syntax.

    Raises:
        PtxkitError: it can't be read, or there are errors in it.
    """
    found = []
    for file in given["link"]:
        _, module = files.read(file, given["max_size"], given["include"], given["define"])
        problems = [diagnostic for diagnostic in module.diagnostics if diagnostic.is_error]
        if problems:
            raise PtxkitError(problems)
        assert module.source is not None
        found.append((module.source.name, module.source.text))
    return tuple(found)


def plans_of(
    found: Subject, request: Request, presets: Sequence[str | None], axis: Sequence[str]
) -> Iterator[LaunchPlan]:
    """A plan for every preset at every combination of the axes' values.

    Args:
        found: the file.
        request: what all plans have in common.
        presets: names, `all` for every one; none for the one that the request makes by itself.
        axis: `M=1024,2048`, as `-a` gives them.

    Raises:
        PtxkitError: P544, `all` without presets; P522, no axis; what `make` raises.
    """
    combinations: Sequence[Mapping[str, int]] = [{}]
    if axis:
        from ptxkit.bench import axes

        combinations = axes.states([axes.parse(text) for text in axis])
    if ALL in presets and ALL not in found.presets:
        if not found.presets:
            raise error("P544", "expected presets in the card for `--preset all`, found none")
        presets = found.presets
    for preset in presets or [None]:
        for sizes in combinations:
            wanted = replace(request, preset=preset, sizes={**request.sizes, **sizes})
            yield make(found.program, found.module, found.card, wanted)


def subject(file: str, given: dict[str, Any]) -> Subject:
    """FILE: a path, else a shipped kernel, read with the options `max_size`, `include` and `define`.

    Raises:
        PtxkitError: it can't be read, or there are errors in it or in its card.
    """
    path, module = files.read(file, given["max_size"], given["include"], given["define"])
    problems = [d for d in (*module.diagnostics, *card.check(module)) if d.is_error]
    if problems:
        raise PtxkitError(problems)
    found = card.read(module.source) if module.source else None
    name = module.source.name if module.source else file
    program = Program(name, str(path), include=given["include"], define=given["define"])
    return Subject(path, module, found, program)
