"""The findings of a launch, each once, with the weight that is wanted, and how many errors it goes past."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from ptxkit.diagnostics import Diagnostic, Severity, counted
from ptxkit.emulator.faults import EmulatorFault
from ptxkit.rules import Rules, weighed

LIMIT = 100
"""Distinct errors that a launch goes past where it keeps going, unless somebody says otherwise."""
NAMED = 4
"""How many of those that met an error it names, at most."""


@dataclass(slots=True)
class MetError:
    """An error that a launch went past.

    Attributes:
        found: as it was met first.
        at: its place among the device's findings.
        times: how often it was met.
        others: the first notes of some of the later ones, which say who met it.
    """

    found: Diagnostic
    at: int
    times: int = 1
    others: list[str] = field(default_factory=list)


class LaunchFindings:
    """What a launch adds to its device's findings.

    Args:
        findings: the device's.
        limit: how many distinct errors it goes past before one ends it; 0: none.
        rules: how much a breach of each rule weighs, where somebody says so.

    Attributes:
        changes: how often something came to them.
    """

    def __init__(self, findings: list[Diagnostic], limit: int, rules: Rules) -> None:
        self.changes = 0
        self._findings = findings
        self._began = len(findings)
        self._limit = limit
        self._rules = rules
        self._errors: dict[Any, MetError] = {}
        self._warned: set[Any] = set()

    def add(self, found: Diagnostic) -> None:
        """Take a finding down, with the weight that is wanted: one of an instruction that can be executed.

        Raises:
            EmulatorFault: it is an error, and the launch goes past no further one.
        """
        counts = weighed(found, self._rules)
        if counts is None:
            return
        if counts.is_error:
            self._go_past(counts)
        else:
            self._warn(counts)

    def _warn(self, found: Diagnostic) -> None:
        place = None if found.severity is Severity.NOTE else found.span or found.message
        key = found.code, place, id(found.source)
        if key not in self._warned:
            self.changes += 1
            self._warned.add(key)
            self._findings.append(found)

    def forget(self) -> None:
        """The launch begins anew: nothing has been found."""
        del self._findings[self._began :]
        self._warned.clear()
        self._errors.clear()

    def _go_past(self, found: Diagnostic) -> None:
        """Note an error and go on; the same one at the same places is counted."""
        self.changes += 1
        if not self._limit:
            raise EmulatorFault(found)
        places = tuple(label.span for label in found.labels)
        key = found.code, found.span or found.message, id(found.source), places
        met = self._errors.get(key)
        if met is not None:
            met.times += 1
            who = found.notes[0] if found.notes else ""
            known = (met.found.notes[:1] or [""])[0]
            if who != known and who not in met.others and len(met.others) < NAMED - 1:
                met.others.append(who)
            return
        if len(self._errors) == self._limit:
            note = f"the launch ends here: it has gone past {counted(self._limit, 'error')}"
            noted = (
                found.notes if note in found.notes else (*found.notes, note)
            )  # It may come through here again.
            raise EmulatorFault(replace(found, notes=noted))
        self._errors[key] = MetError(found, len(self._findings))
        self._findings.append(found)

    def close(self) -> None:
        """The launch has ended: errors that it met several times say how often, and who met them."""
        for met in self._errors.values():
            if met.times == 1 or self._findings[met.at : met.at + 1] != [met.found]:
                continue
            others = [f"met again: {who}" for who in met.others]
            notes = (*met.found.notes, *others, f"met {met.times} times in this launch")
            self._findings[met.at] = replace(met.found, notes=notes)
        self._errors.clear()
