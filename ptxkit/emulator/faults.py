"""What the emulator has to say: faults, the places that findings name, where undefined bits come from.

Undefined bits travel with the number of an origin: the first read of something that nobody wrote. What a
kernel stores undefined has an origin of its own, which remembers the store and the origin of the value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ptxkit.asm.decode import Decoded
from ptxkit.asm.tree import Instruction
from ptxkit.diagnostics import Diagnostic, PtxkitError, Severity, Source, Span, SpanLabel, code_info
from ptxkit.isa.notation import Form

Dim3 = tuple[int, int, int]


class EmulatorFault(PtxkitError):
    """An error finding of the emulator, raised from `launch`, `synchronize` or the read that met it.

    Attributes:
        lanes: bool, which lanes of the set that executes the instruction it is about; None: all of them.
    """

    lanes: Any = None


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
    def compiled_from(self) -> list[str]:
        """What a compiler made it of, if one did and said so: the innermost place, with its text where that
        is at hand, then where each was inlined."""
        if self.span is None or self.source is None:
            return []
        origin, span, _ = self.source.origin(self.span)
        places = origin.compiled_from(span.line)
        text = (places[0].text(origin.name) or "").strip() if places else ""
        return [f"{place}: {text}" if text and not at else str(place) for at, place in enumerate(places)]

    @property
    def where(self) -> str:
        """`line 12`, ``line 3 of `sum.ptxh` ``, or the function where it has no place in a text."""
        if self.place is None:
            return f"function `{self.function}`"
        file, line = self.place
        return f"line {line} of `{file}`" if file else f"line {line}"


@dataclass(frozen=True, slots=True, eq=False)
class LibraryCall:
    """A call of a library whose kernels are not PTX: undefined bits may come from what it read.

    Attributes:
        where: the function's name.
    """

    where: str
    span: None = None
    source: None = None


@dataclass(frozen=True, slots=True)
class ThreadIndex:
    """One thread of a launch; `device`: the number of its device, where several run at the same time."""

    ctaid: Dim3
    tid: Dim3
    device: int | None = None

    def __str__(self) -> str:
        where = "" if self.device is None else f" on device {self.device}"
        return f"thread {show(self.tid)} of CTA {show(self.ctaid)}{where}"


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


def label_at(other: Site | LibraryCall | None, text: str, site: Site | None = None) -> list[SpanLabel]:
    """A label at another instruction than the finding's; none where that is the same, or stands nowhere."""
    if other is None or other.span is None or (site is not None and other.span == site.span):
        return []
    return [SpanLabel(other.span, text)]


def fault(
    code: str,
    message: str,
    site: Site | LibraryCall | None,
    notes: Sequence[str] = (),
    help: str | None = None,
    labels: Sequence[SpanLabel] = (),
    lanes: Any = None,
) -> EmulatorFault:
    """A fault with one error finding at an instruction; `lanes`: of whose it is, see `EmulatorFault`."""
    made = EmulatorFault(finding(code, message, site, notes, help, labels))
    made.lanes = lanes
    return made


def finding(
    code: str,
    message: str,
    site: Site | LibraryCall | None,
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


@dataclass(frozen=True, slots=True)
class Origin:
    """A first undefined read, or a store of an undefined value.

    Attributes:
        what: what was read: "register `%r3`", "shared memory".
        root: for a store, the number of the value's own origin; else 0.
    """

    site: Site | LibraryCall
    what: str
    root: int = 0


class Origins:
    """The origins that a device has met, numbered from 1."""

    def __init__(self) -> None:
        self._known: list[Origin] = []
        self._numbers: dict[tuple[int, str, int], int] = {}

    def _number(self, origin: Origin) -> int:
        key = (id(origin.site), origin.what, origin.root)
        if key not in self._numbers:
            self._known.append(origin)
            self._numbers[key] = len(self._known)
        return self._numbers[key]

    def __getitem__(self, number: int) -> Origin:
        return self._known[number - 1]

    def root(self, number: int, unset: Sequence[str], site: Site) -> int:
        """The origin of a value that `site` reads: a new one for a register that was never written. `number`:
        as the register has it. `unset`: what can be read before it is written, by its negative number."""
        return number if number >= 0 else self._number(Origin(site, unset[-number - 1]))

    def of_read(self, site: Site | LibraryCall, what: str) -> int:
        """The origin of undefined bytes that are loaded, where no store left them."""
        return self._number(Origin(site, what))

    def of_store(self, root: int, site: Site) -> int:
        """The origin of bytes into which a value with undefined bits is stored."""
        return self._number(Origin(site, "", root))

    def of_copy(self, site: Site) -> int:
        """The origin of undefined bytes that an asynchronous operation has copied."""
        return self._number(Origin(site, "what the copy read"))

    def of_report(self, site: Site) -> int:
        """The origin of the report operands of a wait whose phase is not complete."""
        return self._number(Origin(site, "the report of a phase that is not complete"))

    def of_lane(self, site: Site) -> int:
        """The origin of a value from a lane that did not take part in a warp-synchronous instruction."""
        return self._number(Origin(site, "SHFL-INACTIVE, the register of a lane that does not take part"))

    def describe(self, number: int) -> tuple[list[str], list[SpanLabel]]:
        """Notes and labels that tell a finding's story backwards, from store to first read."""
        notes: list[str] = []
        labels: list[SpanLabel] = []
        while number > 0:
            origin = self[number]
            if origin.root:
                assert isinstance(origin.site, Site)
                notes.append(f"stored by `{origin.site.instruction.spelling}` at {origin.site.where}")
                text = "the undefined value is stored here"
            else:
                notes.append(f"first undefined read: {origin.what}, at {origin.site.where}")
                text = f"{origin.what} is read before anything is written to it"
            labels += label_at(origin.site, text)
            number = origin.root
        return notes, labels
