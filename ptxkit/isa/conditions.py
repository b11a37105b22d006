"""Availability, conditions and rules of instruction rows, see `notation`."""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from ptxkit import targets
from ptxkit.targets import Version


class NotationError(ValueError):
    """A row of the instruction set that does not make sense."""


class Availability(NamedTuple):
    """From which PTX ISA version, and on which targets, something may be used.

    Attributes:
        alternatives: (version, targets), any of which will do; the targets as in `ptxkit.targets`, empty where
            every one will do.
    """

    alternatives: tuple[tuple[Version, str], ...]

    @classmethod
    @cache
    def parse(cls, text: str) -> Availability:
        """Read `8.6 sm_100a sm_110a, 8.8 sm_100f`.

        Raises:
            NotationError: it is neither a version nor a list of targets.
        """
        found = []
        for alternative in text.split(","):
            words = alternative.split()
            if not words:
                raise NotationError(f"`{text}` has an empty alternative")
            version = (1, 0)
            if re.fullmatch(r"\d+\.\d", words[0]):
                major, minor = words.pop(0).split(".")
                version = (int(major), int(minor))
            for word in words:
                if targets.parse(word) is None:
                    raise NotationError(f"`{word}` is no target")
            if version not in targets.RELEASES:
                raise NotationError(f"`{targets.show(version)}` is no PTX ISA version")
            found.append((version, " ".join(words)))
        return cls(tuple(found))

    @property
    def version(self) -> Version:
        """The oldest PTX ISA version that suffices on some target."""
        return min(version for version, _ in self.alternatives)

    @property
    def needed(self) -> str:
        """Every target that suffices in some version; empty if all do."""
        if any(not needed for _, needed in self.alternatives):
            return ""
        return " ".join(needed for _, needed in self.alternatives)

    def met(self, version: Version, target: targets.Target) -> bool:
        """Whether it may be used there."""
        return any(
            version >= since and (not needed or target.satisfies(needed))
            for since, needed in self.alternatives
        )


class Above(NamedTuple):
    """What constants above a number ask for.

    Attributes:
        operand: the name of the operand.
        number: the greatest that asks for nothing.
        needed: by those above it.
    """

    operand: str
    number: int
    needed: Availability

    @classmethod
    def parse(cls, key: str, text: str, operands: Container[str]) -> Above:
        """Read `val 3` and `8.8 sm_103a`.

        Raises:
            NotationError: there is no such operand, or no number.
        """
        operand, _, number = key.partition(" ")
        if operand not in operands or not number.isdecimal():
            raise NotationError(f"`{key}` is no operand of the row with a number")
        return cls(operand, int(number), Availability.parse(text))


Facts = frozenset[str]
"""What is there: modifiers, names of filled slots, names of operands."""

_TOKEN = re.compile(r"\s*(->|[!&|()]|[^\s!&|()>]+)")


@dataclass(frozen=True, slots=True)
class Condition:
    """`!a & (b | c)` over modifiers, slots and operands."""

    text: str
    holds: Callable[[Facts], bool] = field(compare=False)
    atoms: frozenset[str]

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read one condition.

        Raises:
            NotationError: it is malformed.
        """
        tokens = _TOKEN.findall(text)
        if "".join(tokens) != re.sub(r"\s+", "", text) or not tokens:
            raise NotationError(f"condition `{text}` is malformed")
        position = 0
        atoms: set[str] = set()

        def peek() -> str | None:
            return tokens[position] if position < len(tokens) else None

        def take() -> str:
            nonlocal position
            if position >= len(tokens):
                raise NotationError(f"condition `{text}` ends early")
            position += 1
            return tokens[position - 1]

        def disjunction() -> Callable[[Facts], bool]:
            parts = [conjunction()]
            while peek() == "|":
                take()
                parts.append(conjunction())
            return parts[0] if len(parts) == 1 else lambda facts: any(part(facts) for part in parts)

        def conjunction() -> Callable[[Facts], bool]:
            parts = [atom()]
            while peek() == "&":
                take()
                parts.append(atom())
            return parts[0] if len(parts) == 1 else lambda facts: all(part(facts) for part in parts)

        def atom() -> Callable[[Facts], bool]:
            token = take()
            if token == "!":
                inner = atom()
                return lambda facts: not inner(facts)
            if token == "(":
                inner = disjunction()
                if take() != ")":
                    raise NotationError(f"condition `{text}` lacks a `)`")
                return inner
            if token in ("&", "|", ")", "->"):
                raise NotationError(f"condition `{text}` is malformed at `{token}`")
            atoms.add(token)
            return lambda facts: token in facts

        holds = disjunction()
        if position != len(tokens):
            raise NotationError(f"condition `{text}` is malformed at `{tokens[position]}`")
        return cls(text.strip(), holds, frozenset(atoms))


class Rule(NamedTuple):
    """`premise -> conclusion`, or a condition that must always hold (`premise` is None)."""

    premise: Condition | None
    conclusion: Condition

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Read one rule.

        Raises:
            NotationError: it is malformed.
        """
        premise, arrow, conclusion = text.partition("->")
        if not arrow:
            return cls(None, Condition.parse(text))
        return cls(Condition.parse(premise), Condition.parse(conclusion))

    def holds(self, facts: Facts) -> bool:
        """Whether these facts keep the rule."""
        return (self.premise is not None and not self.premise.holds(facts)) or self.conclusion.holds(facts)

    @property
    def text(self) -> str:
        """As the row has it."""
        conclusion = self.conclusion.text.strip()
        return f"{self.premise.text.strip()} -> {conclusion}" if self.premise else conclusion

    @property
    def atoms(self) -> frozenset[str]:
        """Every name in it."""
        return self.conclusion.atoms | (self.premise.atoms if self.premise else frozenset())
