"""What a shell completes: files and shipped kernels, presets, entries, codes, descriptors, instructions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem, split_arg_string

from ptxkit.asm import Module
from ptxkit.cli import files
from ptxkit.cli.options import DEFAULT_MAX_SIZE
from ptxkit.diagnostics import PtxkitError

Words = Callable[[click.Context], Iterable[tuple[str, str]]]
"""Gives the words that may stand at a place, each with what it means."""


class Completed(click.ParamType):
    """A text that a shell completes.

    Args:
        words: gives what may stand there.
        files: whether a file may, too.
        listed: whether several may, between commas.
    """

    name = "text"

    def __init__(self, words: Words, files: bool = False, listed: bool = False) -> None:
        self._words = words
        self._files = files
        self._listed = listed

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The words that begin as what is typed does."""
        before, comma, begun = incomplete.rpartition(",") if self._listed else ("", "", incomplete)
        try:
            words = list(self._words(ctx))
        except PtxkitError:
            words = []
        same = [(word, help) for word, help in words if word.lower().startswith(begun.lower())]
        found = [CompletionItem(before + comma + word, help=help or None) for word, help in same]
        return [*found, CompletionItem(incomplete, type="file")] if self._files else found


def complete(command: click.Command) -> None:
    """Let a verb's arguments and options be completed, by their names, where nothing else completes them."""
    for parameter in command.params:
        if parameter.type is click.STRING and parameter.name in PLACES:
            parameter.type = PLACES[parameter.name]


def _kernels(_: click.Context) -> Iterable[tuple[str, str]]:
    from ptxkit.shipped import kernels

    return [(name, "") for name in kernels.shipped()]


def _module(ctx: click.Context) -> Module | None:
    """The FILE that is typed already; of several the last.

    click reads no argument of a line that ends in an option without its value, so the words are looked at.
    """
    words = split_arg_string(os.environ.get("COMP_WORDS", ""))
    name = next((word for word in reversed(words) if word.endswith(".ptx")), None)
    if name is None:
        return None
    return files.read(name, DEFAULT_MAX_SIZE, ctx.params.get("include") or (), ctx.params.get("define") or ())


def _presets(ctx: click.Context) -> Iterable[tuple[str, str]]:
    from ptxkit.card import read

    module = _module(ctx)
    card = read(module.source) if module and module.source else None
    if card is None or not card.presets:
        return []
    sizes = [" ".join(f"{name}={size}" for name, size in each.sizes.items()) for each in card.presets]
    return [*zip((each.name for each in card.presets), sizes, strict=True), ("all", "every preset")]


def _entries(ctx: click.Context) -> Iterable[tuple[str, str]]:
    module = _module(ctx)
    return [(entry.name, "") for entry in module.entries] if module else []


def _rules(ctx: click.Context) -> Iterable[tuple[str, str]]:
    """Codes, names and families of what the verb finds."""
    from ptxkit.diagnostics import FAMILIES, code_table
    from ptxkit.rules import CHECKER, EMULATOR, WARNINGS

    families = CHECKER if ctx.info_name == "check" else EMULATOR
    known = [info for info in code_table().values() if info.code[:2] in families]
    yield WARNINGS, "every warning"
    yield from ((family, FAMILIES[family]) for family in families)
    yield from ((info.code, info.name) for info in known)
    yield from ((info.name, info.code) for info in known)


def _explained(_: click.Context) -> Iterable[tuple[str, str]]:
    """Codes and their names, descriptors, instructions."""
    from ptxkit.diagnostics import code_table
    from ptxkit.isa.registry import named_forms, opcodes

    yield from ((info.code, info.name) for info in code_table().values())
    yield from ((info.name, info.code) for info in code_table().values())
    yield from _kinds(_)
    yield from ((name, "instruction") for opcode in opcodes() for name in named_forms(opcode))


def _kinds(_: click.Context) -> Iterable[tuple[str, str]]:
    from ptxkit.encodings.kinds import KINDS

    return [(kind, cls.SECTION) for kind, cls in KINDS.items()]


_FILE, _RULE = Completed(_kernels, files=True), Completed(_rules, listed=True)
PLACES = {
    "file": _FILE,
    "files": _FILE,
    **{name: _RULE for name in ("allow", "warn", "deny", "select")},
    "preset": Completed(_presets),
    "entry": Completed(_entries),
    "code": Completed(_explained),
    "kind": Completed(_kinds),
}
"""What completes each argument and option."""
