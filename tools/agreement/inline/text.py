"""An inline assembly text with its operands, and the kernel that it becomes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

REGISTERS = dict(b="pred", h="b16", c="b16", r="b32", l="b64", N="b64", q="b128", f="f32", d="f64")
"""The type that a compiler gives the register of each constraint letter."""
CONSTANTS = ("1", "0", "2", "4", "8", "16", "32", "64", "128", "24", "40", "240", "-1")
"""What an `n` operand is taken to be where the source does not say."""
SIZES = {"pred": 1, "b16": 2, "b32": 4, "f32": 4, "b64": 8, "f64": 8, "b128": 16}
_PLACE = re.compile(r"%%|%=|%(\d+)|%[a-zA-Z]?\[(\w+)\]")
_DOLLAR = re.compile(r"\$\$|\$(\d+)|\$\{(\d+)(?::\w+)?\}|\$\(|\$\||\$\)")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True)
class Operand:
    """One operand of an `asm` statement.

    Attributes:
        letter: of the constraint; `n` is a constant.
        output: whether the text writes it.
        input: whether the text reads it.
        name: its symbolic name.
        value: an `n` operand's number, where the source has one.
    """

    letter: str
    output: bool = False
    input: bool = True
    name: str = ""
    value: str = ""


@dataclass(frozen=True)
class Text:
    """An inline assembly text.

    Attributes:
        template: what stands between the quotes, with `%0` for operands, or `$0` where it is LLVM's.
        operands: outputs, then inputs.
        dollars: whether operands are written as LLVM writes them.
        plain: an `asm` without operands, in which `%` may stand for itself.
        where: file and line.
    """

    template: str
    operands: tuple[Operand, ...]
    dollars: bool = False
    plain: bool = False
    where: str = ""

    def key(self) -> tuple[str, tuple[Operand, ...]]:
        """Equal for texts that differ in blanks and comments alone."""
        return " ".join(_COMMENT.sub(" ", self.substituted(self.constants("%c"))).split()), self.operands

    def constants(self, unknown: str) -> list[str]:
        """The value of each `n` operand, `unknown` where the source does not say; empty for registers."""
        return ["" if o.letter != "n" else o.value or unknown for o in self.operands]

    def attempts(self) -> list[list[str]]:
        """The values of its `n` operands, one choice after another where the source leaves some open."""
        open_ = [i for i, operand in enumerate(self.operands) if operand.letter == "n" and not operand.value]
        made = []
        for chosen in _choices(len(open_)):
            values = self.constants("")
            for position, value in zip(open_, chosen, strict=True):
                values[position] = value
            made.append(values)
        return made

    def substituted(self, constants: Sequence[str]) -> str:
        """The PTX, with `%o0`.. for registers.

        Raises:
            IndexError: it names an operand that it has not.
        """
        names = {operand.name: i for i, operand in enumerate(self.operands) if operand.name}

        def operand(number: int) -> str:
            return constants[number] or f"%o{number}"

        def percent(match: re.Match[str]) -> str:
            if match[1]:
                return operand(int(match[1])) if self.operands or not self.plain else match[0]
            if match[2]:
                if match[2] not in names:
                    raise IndexError(match[2])
                return operand(names[match[2]])
            return "%" if match[0] == "%%" else "7"

        def dollar(match: re.Match[str]) -> str:
            number = match[1] or match[2]
            return operand(int(number)) if number else match[0][1:]

        return _DOLLAR.sub(dollar, self.template) if self.dollars else _PLACE.sub(percent, self.template)


@cache
def _choices(count: int) -> tuple[tuple[str, ...], ...]:
    """Values for as many constants: all the same, or one of them, often a selector, 0."""
    same = [(value,) * count for value in CONSTANTS]
    odd = [("1",) * i + ("0",) + ("1",) * (count - i - 1) for i in range(count)] if count > 1 else []
    return tuple(dict.fromkeys([*same[:2], *odd, *same[2:]])) if count else ((),)


def entry(text: Text, name: str, constants: Sequence[str]) -> str:
    """A kernel that loads the text's inputs from memory, runs it and stores what it wrote.

    Raises:
        IndexError: the text names an operand that it has not.
    """
    body = text.substituted(constants)
    before: list[str] = []
    after: list[str] = []
    offset = 0
    for number, operand in enumerate(text.operands):
        if operand.letter == "n":
            continue
        type_ = REGISTERS[operand.letter]
        before.append(f".reg .{type_} %o{number};")
        place, word = f"[%in+{offset}]", f"%w{number}"
        if type_ == "pred":
            before.append(f".reg .b16 {word};")
            before.append(f"ld.global.u8 {word}, {place}; setp.ne.b16 %o{number}, {word}, 0;")
            after.append(f"selp.b16 {word}, 1, 0, %o{number}; st.global.u8 [%out+{offset}], {word};")
        else:
            before.append(f"ld.global.{type_} %o{number}, {place};")
            after.append(f"st.global.{type_} [%out+{offset}], %o{number};")
        if not operand.output:
            after.pop()
        offset += 16
    return "\n".join(
        [
            f".visible .entry {name}(.param .b64 {name}_in, .param .b64 {name}_out)",
            "{",
            f".reg .b64 %in, %out; ld.param.b64 %in, [{name}_in]; ld.param.b64 %out, [{name}_out];",
            *before,
            body,
            *after,
            "ret;",
            "}",
        ]
    )
