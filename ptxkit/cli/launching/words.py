"""The words of a command of `ptxkit debug`, and the lines that answer it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from ptxkit.asm.tree import Instruction
from ptxkit.diagnostics import Source, counted
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.faults import Site, ranges
from ptxkit.emulator.inspection import KnownBits, RegisterState, can_show, shown

COUNT = 8
"""Elements of memory that are shown where nobody says how many, and in a line."""

COMMANDS = {
    "break": ("[FILE:]LINE|LABEL [CTA WARP]", "stop before that line, label or function; at one warp alone"),
    "delete": ("NUMBER", "drop a breakpoint"),
    "continue": ("", "go on to the next breakpoint; `run` is the same"),
    "step": ("[N]", "let the current warp execute N instructions"),
    "next": ("", "the same for one, a call with all that it calls"),
    "warps": ("", "list the warps: where each is, what it waits for"),
    "warp": ("CTA WARP", "choose the current warp; CTA is a number or x,y,z"),
    "print": ("%REG [LANE] [TYPE]", "show a register of the current warp"),
    "regs": ("[LANE]", "show all registers that hold something, in the first lane"),
    "shared": ("ADDRESS|NAME [COUNT] [TYPE]", "show shared memory of the current CTA"),
    "global": ("ADDRESS|NAME [COUNT] [TYPE]", "show global memory: a tensor, a variable, an address"),
    "tmem": ("LANE COLUMN [COUNT] [TYPE]", "show tensor memory of the current CTA"),
    "barriers": ("", "show mbarriers and barriers of the current CTA"),
    "flying": ("", "show asynchronous operations of the current CTA"),
    "where": ("", "show the current instruction and its callers"),
    "list": ("[LINE]", "show the text around the current line"),
    "help": ("", "show this"),
    "quit": ("", "end"),
}
"""Every command with its arguments and its line of help. A beginning of a name that is no other's will do;
`b`, `c`, `s`, `n`, `p`, `l` and `q` are the first that come to mind."""
SHORT = {
    "b": "break",
    "c": "continue",
    "d": "delete",
    "l": "list",
    "n": "next",
    "p": "print",
    "q": "quit",
    "r": "continue",
    "run": "continue",
    "s": "step",
}


class RefusedError(Exception):
    """A command that can't be done; says why."""


# ---- words and numbers


def command_called(word: str) -> str:
    """The command that begins so."""
    if word in COMMANDS:
        return word
    found = [name for name in COMMANDS if name.startswith(word)]
    if len(found) == 1:
        return found[0]
    which = f"which is {' or '.join(f'`{name}`' for name in found)}" if found else "`help` lists them"
    raise RefusedError(f"expected a command, found `{word}`: {which}")


def check_count(words: Sequence[str], least: int, most: int | None = None) -> None:
    """Refuse other than `least` to `most` arguments; exactly `least` where `most` is left out."""
    most = least if most is None else most
    if not least <= len(words) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise RefusedError(f"expected {wanted} arguments, found {len(words)}; `help` lists them")


def number(text: str) -> int:
    """A number as PTX and Python write it, not negative."""
    try:
        value = int(text, 0)
    except ValueError:
        raise RefusedError(f"expected a number, found `{text}`") from None
    if value < 0:
        raise RefusedError(f"expected a number that is not negative, found `{text}`")
    return value


def count_of(words: Sequence[str], otherwise: int) -> int:
    """COUNT of `[COUNT] [TYPE]`."""
    return max(number(words[0]), 1) if words and words[0][0].isdecimal() else otherwise


def type_of(words: Sequence[str]) -> str | None:
    """TYPE of `[COUNT] [TYPE]`."""
    if not words or (len(words) == 1 and words[0][0].isdecimal()):
        return None
    if len(words) == 2 and not words[0][0].isdecimal():
        raise RefusedError(f"expected a number, found `{words[0]}`")
    kind = words[-1].removeprefix(".")
    if not can_show(kind):
        raise RefusedError(f"expected a type such as `f32`, `s32` or `b8`, found `{words[-1]}`")
    return kind


# ---- text


def origin_of(instruction: Instruction, source: Source | None) -> tuple[Source | None, int]:
    """The text and line that an instruction was written in."""
    if instruction.span is None or source is None:
        return source, 0
    origin, span, _ = source.origin(instruction.span)
    return origin, span.line


def place_of(site: Site | None) -> str:
    """`line 12, `bar.sync``: where a warp stands."""
    return f"{site.where}, `{site.instruction.spelling}`" if site else "at its end"


def register_lines(register: RegisterState, kind: str, lane: int | None) -> list[str]:
    """A register in one lane, or in all, those of one value together."""
    head = f"{register.name} .{kind}"
    if register.lost:
        return [f"{head}: no value: {register.lost}"]
    if lane is not None:
        if lane >= len(register.values):
            raise RefusedError(f"expected a lane from 0 to {len(register.values) - 1}, found {lane}")
        value = register.values[lane]
        return [f"{head}: {shown(value, kind) if value else 'the lane is elsewhere'}"]
    texts = [shown(value, kind) if value else "" for value in register.values]
    lanes_of: dict[str, list[int]] = {}
    for at, text in enumerate(texts):
        if text:
            lanes_of.setdefault(text, []).append(at)
    if len(lanes_of) <= 4:
        return [f"{head}: {text} in lanes {ranges(lanes)}" for text, lanes in lanes_of.items()]
    eights = [(at, texts[at : at + 8]) for at in range(0, len(texts), 8)]
    return [f"{head}:", *(f"  lane {at:2}: {' '.join(text or '-' for text in row)}" for at, row in eights)]


def print_elements(address: int, values: Sequence[KnownBits], kind: str) -> None:
    """Elements of memory, eight a line; lines that repeat the one before them are left out."""
    rows = [(at, [shown(v, kind) for v in values[at : at + COUNT]]) for at in range(0, len(values), COUNT)]
    for _, same in groupby(rows, key=lambda row: row[1]):
        (at, texts), *more = same
        print(f"{address + at * DTYPES[kind].bytes:#x}: {' '.join(texts)}")
        if more:
            print(f"  and {counted(len(more), 'more line')} of the same")


def print_lines(lines: Iterable[str], otherwise: str) -> None:
    """Lines, or what to say where there are none."""
    found = list(lines)
    print("\n".join(found) if found else otherwise)
