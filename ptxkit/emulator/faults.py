"""What the emulator has to say: `EmulatorFault`, and the places that its findings name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ptxkit.asm.decode import Decoded
from ptxkit.asm.tree import Instruction
from ptxkit.diagnostics import Diagnostic, PtxkitError, Severity, Source, Span, SpanLabel, code_info
from ptxkit.isa.notation import Form

Dim3 = tuple[int, int, int]


class EmulatorFault(PtxkitError):
    """An error finding of the emulator, raised from `launch`, `synchronize` or the read that met it."""


@dataclass(slots=True, eq=False)
class Site:
    """An instruction as the machine runs it.

    Attributes:
        instruction: the statement.
        function: the name of the function it stands in.
        source: the text for code frames.
    """

    instruction: Instruction
    function: str
    source: Source | None

    @property
    def span(self) -> Span | None:
        """Where it stands."""
        return self.instruction.span

    @property
    def row(self) -> Form:
        """The instruction's row in `ptxkit.isa`."""
        assert self.instruction.match is not None
        return self.instruction.match.form

    @property
    def decoded(self) -> Decoded:
        """The instruction as its row sees it."""
        return Decoded(self.instruction)

    @property
    def name(self) -> str:
        """The instruction's name without what qualifies it: `cp.async.bulk.tensor`."""
        return self.row.name

    @property
    def place(self) -> tuple[str, int] | None:
        """The file and line that it comes from, the file empty for the one that was loaded; None where it has
        no place in a text."""
        if self.span is None or self.source is None:
            return ("", self.span.line) if self.span else None
        file, span, _ = self.source.origin(self.span)
        return ("" if file.name == self.source.name else file.name), span.line

    @property
    def where(self) -> str:
        """`line 12`, ``line 3 of `sum.ptxh` ``, or the function where it has no place in a text."""
        if self.place is None:
            return f"function `{self.function}`"
        file, line = self.place
        return f"line {line} of `{file}`" if file else f"line {line}"


@dataclass(frozen=True, slots=True)
class ThreadIndex:
    """One thread of a launch."""

    ctaid: Dim3
    tid: Dim3

    def __str__(self) -> str:
        return f"thread {show(self.tid)} of CTA {show(self.ctaid)}"


def ranges(numbers: Sequence[int]) -> str:
    """`0-15, 31`."""
    starts = [number for number in numbers if number - 1 not in numbers]
    ends = [number for number in numbers if number + 1 not in numbers]
    return ", ".join(
        str(first) if first == last else f"{first}-{last}" for first, last in zip(starts, ends, strict=True)
    )


def show(triple: Sequence[int]) -> str:
    """`(3, 0, 0)`."""
    return "(" + ", ".join(str(part) for part in triple) + ")"


def label_at(other: Site | None, text: str, site: Site | None = None) -> list[SpanLabel]:
    """A label at another instruction than the finding's; none where that is the same, or stands nowhere."""
    if other is None or other.span is None or (site is not None and other.span == site.span):
        return []
    return [SpanLabel(other.span, text)]


def fault(
    code: str,
    message: str,
    site: Site | None,
    notes: Sequence[str] = (),
    help: str | None = None,
    labels: Sequence[SpanLabel] = (),
) -> EmulatorFault:
    """A fault with one error finding at an instruction."""
    return EmulatorFault(finding(code, message, site, notes, help, labels))


def finding(
    code: str,
    message: str,
    site: Site | None,
    notes: Sequence[str] = (),
    help: str | None = None,
    labels: Sequence[SpanLabel] = (),
    severity: Severity = Severity.ERROR,
) -> Diagnostic:
    """One finding at an instruction. The name of a rule, as the table of codes has it, opens the message."""
    info = code_info(code)
    return Diagnostic(
        code,
        f"{info.name}: {message}" if info is not None and info.name.isupper() else message,
        site.span if site else None,
        severity,
        tuple(notes),
        help,
        tuple(labels),
        site.source if site else None,
    )
