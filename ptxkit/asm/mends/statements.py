"""The text of a kernel cut into statements, as it is written: macros stand for what their bodies hold.

Nothing is checked, and what is not understood is passed over: whether a changed text is PTX, and what it
does, the parser and the emulator say.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush

from ptxkit.asm.mends.control import controlled, loops

NAME = re.compile(r"%?[A-Za-z_$][\w$]*")
"""A register, a label, a macro, or a parameter of one."""
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DEFINE = re.compile(r"\s*#\s*define\s+(\w+)(\([^)]*\))?")
_DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_HEAD = re.compile(r"[\s{}]*(?:[\w$%]+\s*:\s*)?(?:@!?\s*%?[\w$]+\s+)?([a-z][a-z0-9_]*(?:(?:\.|::)\w+)*)[\s;]")
_CALL_ALONE = re.compile(r"\s*[A-Z_][A-Z0-9_]*\s*(?:\([^;]*\))?\s*\\?\s*")
_BODY = re.compile(r"[\s}]*\.(?:visible|weak|entry|func)\b[^;{]*\{")
_ENTRY = re.compile(r"\.entry\s+([\w$%]+)")
_FUNCTION = re.compile(r"\.(?:entry|func)\b")
_NUMBERED = re.compile(r"(?:##\w*|\d+)+$")
_DECLARED = re.compile(r"\.reg\s+\.(\w+)\s+([^;]*);")

STEP = 0.3
"""What a step of data adds to a distance."""
ROUND = 0.5
"""What it adds where another statement writes the same register in between, as in loops."""
INSIDE = 0.1
"""What it adds from the call of a macro to what it stands for."""
CONTROL = 0.6
"""What it adds from a statement to a branch that decides whether it is executed."""
ASIDE = 0.8
"""What it adds where the register is none that matters."""
WRITES_NONE = ("st.", "stmatrix", "red.", "bar", "barrier", "bra", "ret", "exit", "fence", "cp", "prefetch")
"""Instructions that write no register, by how their opcodes begin."""


@dataclass(slots=True)
class WrittenStatement:
    """One instruction, one macro's value, or one call of a macro.

    Attributes:
        start, end: where it stands in the text.
        line: its first line that is not blank, 1-based.
        text: itself, without comments.
        opcode: with its modifiers; empty where it is no instruction.
        operands: where the operands begin, in the text of the statement.
        macro: the macro whose body it is of, else empty.
        defines: the macro whose value it is, else empty.
        writes, reads: the names of what it writes, and all others.
    """

    start: int
    end: int
    line: int
    text: str
    opcode: str = ""
    operands: int = 0
    macro: str = ""
    defines: str = ""
    writes: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()

    @property
    def last(self) -> int:
        """Its last line."""
        return self.line + self.text.rstrip().count("\n")

    @property
    def guarded(self) -> bool:
        """Whether a predicate may keep it from being executed."""
        return "@" in self.text[: self.operands]

    @property
    def shown(self) -> str:
        """It as messages repeat it."""
        return " ".join(self.text.replace("\\\n", " ").split()).lstrip("{} ")


@dataclass
class KernelText:
    """The statements of a text that launches of some entries can reach.

    Attributes:
        text: all of it.
        statements: in order.
        others: those of entries that are not launched.
        widths: the type of each register that is declared by its name, or by the beginning of its name.
        pasted: whether macros make names.
    """

    text: str
    statements: list[WrittenStatement] = field(default_factory=list)
    others: list[WrittenStatement] = field(default_factory=list)
    widths: dict[str, str] = field(default_factory=dict)
    pasted: bool = False

    @staticmethod
    def of(text: str, entries: Iterable[str] = (), lines: Container[int] | None = None) -> KernelText:
        """Cut a text.

        Args:
            text: all of it.
            entries: those that are launched; what is in others is left out.
            lines: those that the preprocessor leaves of these entries, and of functions; None: all.
        """
        blank = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
        made = KernelText(text, pasted="##" in blank)
        for kind, names in _DECLARED.findall(blank):
            made.widths.update(dict.fromkeys(NAME.findall(names), kind))
        others = _others(blank, set(entries))
        for one in _cut(blank):
            away = any(first <= one.start < last for first, last in others)
            (made.others if away else made.statements).append(made._named(one))
        if lines is not None:
            made._keep(lines)
        return made

    def _keep(self, lines: Container[int]) -> None:
        """Only the statements that stand on some lines, and the macros that they lead to."""
        live = {
            at
            for at, one in enumerate(self.statements)
            if not one.macro
            and not one.defines
            and any(line in lines for line in range(one.line, one.last + 1))
        }
        newest = live | {at for at, one in enumerate(self.statements) if one.text.startswith(".")}
        while newest:
            names = {name for at in newest for name in NAME.findall(self.statements[at].text)}
            newest = {
                at
                for at, one in enumerate(self.statements)
                if at not in live and (one.macro or one.defines) in names
            }
            live |= newest
        self.others += (one for at, one in enumerate(self.statements) if at not in live)
        self.statements = [one for at, one in enumerate(self.statements) if at in live]

    def width(self, register: str) -> int:
        """Bits of a register; 32 where nothing is known."""
        kind = self.widths.get(register) or self.widths.get(re.sub(r"\d+$", "", register)) or "b32"
        digits = re.sub(r"\D", "", kind)
        return int(digits) if digits else 1

    def common(self, name: str) -> str:
        """What the names that macros make of one have in common."""
        return _NUMBERED.sub("", name) or name if self.pasted else name

    def _named(self, one: WrittenStatement) -> WrittenStatement:
        if one.text.startswith(".") or not one.text.strip():
            return one  # A declaration.
        head = _HEAD.match(one.text)
        body = one.text
        if head is not None:
            one.opcode, one.operands = head[1], head.end()
            body = one.text[head.end() :]
        names = [self.common(found) for found in NAME.findall(body)]
        written: list[str] = []
        if one.opcode and not one.opcode.startswith(WRITES_NONE) and not body.lstrip().startswith("["):
            written = [self.common(found) for found in NAME.findall(first_operand(body))]
        elif not one.opcode:
            written = names  # A call of a macro: whatever it is given, it may write.
        guard = [self.common(found) for found in NAME.findall(one.text[: one.operands])] if head else []
        one.writes = one.writes | frozenset(written)
        one.reads = frozenset(names[len(written) :] if one.opcode else names) | frozenset(guard)
        return one

    def distances(
        self, anchors: Mapping[int, float], narrowed: Mapping[int, frozenset[str]] | None = None
    ) -> dict[int, float]:
        """How many steps of data and control lie between statements and the nearest of some, by number.

        Args:
            anchors: the numbers of some, each with what its own distance is.
            narrowed: of some of these, what they read that matters; what else they read is farther away.
        """
        writers = self.writers
        bodies: dict[str, list[int]] = {}
        calls: dict[str, list[int]] = {}
        for number, one in enumerate(self.statements):
            if one.macro:
                bodies.setdefault(one.macro, []).append(number)
        for number, one in enumerate(self.statements):
            for name in one.reads | one.writes:
                if name in bodies:
                    calls.setdefault(name, []).append(number)
        found: dict[int, float] = {}
        waiting = sorted((distance, number) for number, distance in anchors.items())
        while waiting:
            distance, number = heappop(waiting)
            if found.get(number, float("inf")) <= distance:
                continue
            found[number] = distance
            one = self.statements[number]
            for other in self._controlled.get(number, ()):
                heappush(waiting, (distance + CONTROL, other))
            matters = (narrowed or {}).get(number, one.reads)
            for name in one.reads:
                aside = 0.0 if name in matters else ASIDE
                near = self.reaching(number, writers.get(name, ()))
                for other in writers.get(name, ()):
                    far = STEP + aside + (0.0 if other in near else ROUND)
                    heappush(waiting, (distance + far, other))
                for other in bodies.get(name, ()):
                    heappush(waiting, (distance + INSIDE, other))
            for other in calls.get(one.macro, ()) if one.macro else ():
                heappush(waiting, (distance + STEP, other))
        return found

    @cached_property
    def _controlled(self) -> dict[int, list[int]]:
        """The branches that decide whether and how often each statement is executed, the nearest ones."""
        return controlled(self.statements, [one.start() for one in _FUNCTION.finditer(self.text)])

    @cached_property
    def loops(self) -> list[tuple[int, int]]:
        """From the first statement of each loop to the branch that goes back to it, by their numbers."""
        return loops(self.statements)

    @cached_property
    def writers(self) -> dict[str, list[int]]:
        """The statements that write each register, by their numbers."""
        found: dict[str, list[int]] = {}
        for number, one in enumerate(self.statements):
            for name in one.writes:
                found.setdefault(name, []).append(number)
        return found

    def reaching(self, number: int, writers: Sequence[int]) -> set[int]:
        """Of statements that write what another reads, those whose value comes to it straight down the text;
        all of them where that is not known, as in macros."""
        reader = self.statements[number]
        if len(writers) < 2 or reader.macro:
            return set(writers)
        found: set[int] = set()
        for other in reversed([each for each in writers if each < number]):
            one = self.statements[other]
            found.add(other)
            if one.opcode and not one.guarded and not one.macro:
                break
        return found or set(writers)


def first_operand(body: str) -> str:
    """The text of what stands before the first comma outside brackets."""
    depth = 0
    for at, char in enumerate(body):
        depth += char in "{[("
        depth -= char in "}])"
        if char == "," and depth <= 0:
            return body[:at]
    return body


def operand_spans(body: str) -> list[tuple[int, int]]:
    """Where the operands stand in what follows an opcode, up to its semicolon."""
    depth, start, found = 0, 0, list[tuple[int, int]]()
    for at, char in enumerate(body):
        depth += char in "{[("
        depth -= char in "}])"
        if (char == "," and depth <= 0) or char == ";":
            found.append(_stripped(body, start, at))
            start = at + 1
        if char == ";":
            break
    return found


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    inner = text[start:end]
    return start + len(inner) - len(inner.lstrip()), end - (len(inner) - len(inner.rstrip()))


def _others(blank: str, entries: set[str]) -> list[tuple[int, int]]:
    """Where the entries stand that are not launched. One that a macro names may be any."""
    found, defined = [], set(_DEFINED.findall(blank))
    for one in _ENTRY.finditer(blank):
        if not entries or one[1] in entries or one[1] in defined:
            continue
        depth, at = 0, blank.find("{", one.end())
        while at != -1 and at < len(blank):
            depth += blank[at] == "{"
            depth -= blank[at] == "}"
            at += 1
            if depth == 0:
                break
        found.append((one.start(), at if at != -1 else len(blank)))
    return found


def _cut(blank: str) -> Iterator[WrittenStatement]:
    start, macro, at = 0, "", 0
    for row in blank.splitlines(keepends=True):
        begins, at = at, at + len(row)
        goes_on = row.rstrip("\n").rstrip().endswith("\\")
        if not macro and row.lstrip().startswith("#"):
            define = _DEFINE.match(row)
            if define is not None:
                value = begins + define.end()
                if not goes_on and ";" not in row:
                    yield _made(blank, value, at, "", define[1])
                    start = at
                    continue
                macro, start = define[1], value
            else:
                start = at
                continue
        while (semicolon := blank.find(";", max(start, begins), at)) != -1:
            yield _made(blank, start, semicolon + 1, macro)
            start = semicolon + 1
        if (
            start < at
            and _CALL_ALONE.fullmatch(blank, max(start, begins), at)
            and blank[start:at].strip(" \\\n")
        ):
            yield _made(blank, start, at, macro)
            start = at
        if macro and not goes_on:
            if blank[start:at].strip(" \\\n"):
                yield _made(blank, start, at, macro)
            macro, start = "", at


def _made(blank: str, start: int, end: int, macro: str, defines: str = "") -> WrittenStatement:
    begins = _BODY.match(blank, start, end)
    start = begins.end() if begins else start
    inner = blank[start:end]
    lead = len(inner) - len(inner.lstrip(" \t\n\\{}"))
    start += lead
    return WrittenStatement(
        start,
        end,
        blank.count("\n", 0, start) + 1,
        blank[start:end],
        macro=macro,
        defines=defines,
        writes=frozenset([defines] if defines else []),
    )
