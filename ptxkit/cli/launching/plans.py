"""From FILE and the options of a verb to launch plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ptxkit import card
from ptxkit.asm import Module
from ptxkit.asm.check.card import check_card
from ptxkit.asm.unread import known_diagnostics
from ptxkit.cli import files
from ptxkit.diagnostics import PtxkitError, error
from ptxkit.plan import LaunchPlan, Program, Request, flags, make
from ptxkit.rules import from_options, project_rules
from ptxkit.running.session import RunOptions
from ptxkit.shipped import kernels

ALL = "all"
"""The preset that stands for every one."""


def options_of(given: dict[str, Any], **rest: Any) -> RunOptions:
    """Where and how to run, of `launch_options` and its like that the verb has.

    Raises:
        PtxkitError: what `linked` raises.
    """
    same = ("device", "order", "sanitize", "arch", "jit", "threads", "strict", "line_info")
    found = {name: given[name] for name in same if name in given}
    goes_past = given["error_limit"] if given.get("keep_going") else 0
    if "allow" in given:
        found["rules"] = from_options(given["allow"], given["warn"], given["deny"])
    return RunOptions(seed=given["seed"] or 0, link=linked(given), keep_going=goes_past, **found, **rest)


def emulated(given: dict[str, Any], verb: str, **rest: Any) -> RunOptions:
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
    return options_of({**given, "device": "emu"}, **rest)


def planned(given: dict[str, Any]) -> tuple[Subject, LaunchPlan]:
    """FILE and its plan, for a verb that launches one.

    Raises:
        PtxkitError: what `subject` and `make` raise.
    """
    found = subject(given["file"], given)
    return found, make(found.program, found.module, found.card, request_of(given, given["preset"]))


def ruled(options: RunOptions, file: str, found: Subject) -> RunOptions:
    """The options, with the rules of the project and of the file's card where the options want nothing else.

    Raises:
        PtxkitError: P518, P519, what is wrong in the project's settings.
    """
    folder = Path(file).absolute().parent if Path(file).exists() else Path.cwd()
    wanted = {**project_rules(folder), **(found.card.rules if found.card else {})}
    return replace(options, rules={**wanted, **options.rules})


def request_of(given: dict[str, Any], preset: str | None = None) -> Request:
    """What those options ask of a plan."""

    def extents(option: str, most: int = 3) -> Any:
        text = given[option]
        return flags.extents(text, f"--{option}", most) if text is not None else None

    shared = extents("shared", 1)
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
    """A FILE, read: its module, its card where it has one, and the program for plans."""

    module: Module
    card: card.Card | None
    program: Program

    @property
    def sha256(self) -> str:
        """The digest of the file's bytes."""
        import hashlib

        return hashlib.sha256(self.program.read_bytes()).hexdigest()

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
        module = files.read(file, given["max_size"], given["include"], given["define"])
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
    module = files.read(file, given["max_size"], given["include"], given["define"])
    problems = [d for d in (*known_diagnostics(module), *check_card(module)) if d.is_error]
    if problems:
        raise PtxkitError(problems)
    found = card.read(module.source) if module.source else None
    return Subject(module, found, _program(file, module, given))


def _program(file: str, module: Module, given: dict[str, Any]) -> Program:
    """The program for plans: of standard input, which is read once, its text."""
    assert module.source is not None
    if file == files.STANDARD:
        return Program(module.source.name, text=module.source.text)
    name, path = kernels.find(file)
    return Program(name, str(path), include=given["include"], define=given["define"])
