"""What every check has at hand: the module, the version and target in force, and where findings go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ptxkit import targets
from ptxkit.asm.tree import Declarator, Function, Module, Prototype, Statement
from ptxkit.diagnostics import Diagnostic, Severity, Span, SpanLabel
from ptxkit.isa.match import Match

Declared = dict[str, tuple[Statement, Declarator | None]]
"""Declarations at module level by the names that they declare; of a variable with the one of its names."""


@dataclass(slots=True)
class Context:
    """The state of one run of the checker.

    Attributes:
        module: what is checked.
        version: the PTX ISA version whose rules apply.
        target: the target whose features may be used; follows the `.target` directives of the file.
        asked: the target that the caller asked about, None for the file's own.
        independent: samplers are named apart from textures, `.target texmode_independent` (11.1.2).
        target_span: where the target in force is named.
        declared: the latest declaration of each name at module level.
        aliases: the function that each alias stands for.
        constant_bytes: how large the `.const` variables so far are together.
        narrow: prototypes with a parameter that is not passed.
        several: a prototype with several results.
        settled: the matches that are in order under the version and target in force, by their ids.
        found: the findings so far.
    """

    module: Module
    version: targets.Version = targets.NEWEST_VERSION
    target: targets.Target = field(default_factory=lambda: targets.TARGETS["sm_75"])
    asked: targets.Target | None = None
    independent: bool = False
    version_span: Span | None = None
    target_span: Span | None = None
    declared: Declared = field(default_factory=dict)
    aliases: dict[str, Function] = field(default_factory=dict)
    constant_bytes: int = 0
    narrow: list[Prototype] = field(default_factory=list)
    several: Prototype | None = None
    settled: dict[int, Match] = field(default_factory=dict)
    found: list[Diagnostic] = field(default_factory=list)

    def report(self, code: str, message: str, span: Span | None, **rest: Any) -> None:
        """Add an error; keywords as `Diagnostic` has them."""
        self.found.append(Diagnostic(code, message, span, source=self.module.source, **rest))

    def warn(self, code: str, message: str, span: Span | None, **rest: Any) -> None:
        """Add a warning."""
        self.report(code, message, span, severity=Severity.WARNING, **rest)


def label_at(span: Span | None, text: str) -> tuple[SpanLabel, ...]:
    """The label of a place; none where the tree does not know it."""
    return (SpanLabel(span, text),) if span else ()


def close_to(word: str, known: Iterable[str]) -> list[str]:
    """The one or two names that a word is close to, the closest first."""
    from difflib import get_close_matches

    return get_close_matches(word, sorted(set(known)), n=2, cutoff=0.7)


def choice(names: Iterable[str], quote: str = "`") -> str | None:
    """A help line that asks which of these was meant; None where there are none."""
    listed = " or ".join(f"{quote}{name}{quote}" for name in names)
    return f"did you mean {listed}?" if listed else None


def did_you_mean(word: str, known: Iterable[str], quote: str = "`") -> str | None:
    """A help line that names what `word` is close to, or None."""
    return choice(close_to(word, known), quote)
