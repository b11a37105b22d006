"""What a session tells those who ask: the console, or the debug adapter protocol."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ptxkit.diagnostics import Diagnostic
from ptxkit.emulator.stops import Stop


class LaunchOutcome(NamedTuple):
    """How the launches of a plan ended.

    Attributes:
        by_finding: whether a finding ended them.
        findings: that one, or what verification has to say.
        answer: where they only came to that end again: what was asked for.
    """

    by_finding: bool
    findings: list[Diagnostic]
    answer: str = ""

    @property
    def text(self) -> str:
        """In a line."""
        if self.by_finding:
            return "the launch has ended with a finding"
        return "the launch has ended" + ("" if self.findings else ", and its outputs are verified")


class Front(Protocol):
    """Who asks: the console, or the debug adapter protocol."""

    def ready(self) -> None:
        """The launch can begin: it does when this returns."""

    def stopped(self, stop: Stop) -> None:
        """The launch stands still: it goes on when this returns."""

    def ended(self, outcome: LaunchOutcome, changed: Stop | None) -> None:
        """The launch has ended; its state is there until this returns. `changed`: what a watchpoint has seen
        since the last instruction."""

    def printed(self, text: str) -> None:
        """A kernel has printed something."""
