"""Words of which some values are for some targets alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ptxkit.diagnostics import Diagnostic
from ptxkit.targets import TARGETS

TARGET = "P428"


class Targeted:
    """A word that says what only some targets have of it."""

    __slots__ = ()
    SECTION: ClassVar[str]

    def needs(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """What only some targets have of it, each with these targets, `sm_107f` and its like."""
        return iter(())

    def check_target(self, capability: tuple[int, int]) -> list[Diagnostic]:
        """What rules out this word on a device of a compute capability."""
        return [
            Diagnostic(
                TARGET,
                f"{what} needs {' or '.join(targets)}, found sm_{capability[0]}{capability[1]}",
                notes=(self.SECTION,),
            )
            for what, targets in self.needs()
            if capability not in {TARGETS[target].capability for target in targets}
        ]
