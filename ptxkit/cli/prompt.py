"""The commands of `ptxkit debug`: what each is called, what it wants, what it prints."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from ptxkit.asm.tree import Instruction
from ptxkit.cli.output import print_diagnostics
from ptxkit.diagnostics import Diagnostic, Source
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.deadlock import warps_in
from ptxkit.emulator.debug import Breakpoint, Debugger, Place, Warp, lanes_in, row_of
from ptxkit.emulator.faults import Site, show
from ptxkit.emulator.gang import Gang
from ptxkit.emulator.image import Image
from ptxkit.emulator.inspection import (
    Register,
    Value,
    barriers,
    can_show,
    flying,
    global_words,
    mbarriers,
    registers,
    shared_words,
    shown,
    special_register,
    tensor_words,
)
from ptxkit.layouts.tensor_memory import COLUMNS, LANES

PROMPT = "(debug) "
LISTED = 64
"""Most warps that `warps` lists."""
AROUND = 4
"""Lines that `list` shows before and after the current one."""
COUNT = 8
"""Elements of memory that are shown where nobody says how many."""

COMMANDS = {
    "break": ("LINE|LABEL [CTA WARP]", "stop before that line, label or function; at one warp alone"),
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


class QuitError(Exception):
    """The user has had enough."""


class RefusedError(Exception):
    """A command that can't be done; says why."""


class Prompt:
    """Reads commands and does them, while a launch stands still and before and after it.

    Args:
        image: the loaded module.
        tensors: address and PTX type of each of the launch's tensors, by name.
        findings: the device's warnings, which are printed as they come.
    """

    def __init__(
        self, image: Image, tensors: Mapping[str, tuple[int, str]], findings: list[Diagnostic]
    ) -> None:
        self.debugger = Debugger(image, self.stopped)
        self.tensors = tensors
        self.ended = False
        self._image = image
        self._findings = findings
        self._told = len(findings)
        self._going = False

    # ---- the loop

    def read(self) -> None:
        """Do commands until one lets the launch go on.

        Raises:
            QuitError: `quit`, or no more input.
        """
        self.tell_findings()
        self._going = False
        while not self._going:
            print(PROMPT, end="", flush=True)
            line = sys.stdin.readline()
            if not line:
                print()
                raise QuitError
            if not sys.stdin.isatty():
                print(line.strip())
            try:
                self.do(line)
            except RefusedError as refused:
                print(f"error: {refused}")

    def do(self, line: str) -> None:
        """Do one command.

        Raises:
            RefusedError: it can't be done.
            QuitError: it is `quit`.
        """
        words = line.split()
        if not words:
            return
        name = SHORT.get(words[0]) or _only(words[0])
        getattr(self, f"_{name}")(words[1:])

    def tell_findings(self) -> None:
        """Print the warnings that have come since."""
        print_diagnostics(self._findings[self._told :], sys.stdout)
        self._told = len(self._findings)

    def stopped(self, why: str) -> None:
        """The launch stands still."""
        if why:
            print(why)
        self._where([])
        self.read()

    def end(self) -> None:
        """The launch has ended; say where, if a finding ended it."""
        self.ended = True
        self.debugger.settle()
        if self.debugger.current()[0] is not None:
            self._where([])

    # ---- going on

    def _go(self) -> None:
        if self.ended:
            raise RefusedError("the launch has ended; its state stays to be looked at")
        self._going = True

    def _continue(self, words: Sequence[str]) -> None:
        _count(words, 0)
        self._go()
        self.debugger.go_on()

    def _step(self, words: Sequence[str]) -> None:
        _count(words, 0, 1)
        self._go()
        self.debugger.step(max(_number(words[0]), 1) if words else 1, over_calls=False)

    def _next(self, words: Sequence[str]) -> None:
        _count(words, 0)
        self._go()
        self.debugger.step(1, over_calls=True)

    def _quit(self, words: Sequence[str]) -> None:
        raise QuitError

    # ---- breakpoints

    def _break(self, words: Sequence[str]) -> None:
        if not words:
            for known in self.debugger.breakpoints.values():
                print(self._described(known))
            return
        _count(words, 1, 3)
        if len(words) == 2:
            raise RefusedError("expected a warp after the CTA")
        warp = Warp(self._cta(words[1]), _number(words[2])) if len(words) == 3 else None
        places = self._line(_number(words[0])) if words[0].isdecimal() else self.debugger.labelled(words[0])
        if not places:
            raise RefusedError(f"expected a line, a label or a function, found `{words[0]}`")
        for instruction in places:
            print(self._described(self.debugger.add(instruction, warp)))

    def _line(self, line: int) -> list[Instruction]:
        """The first instruction of a line of the file, or of the first line after it that has one."""
        found: dict[int, Instruction] = {}
        for _, instruction in self.debugger.instructions():
            _, number = _origin(instruction, self._image.source)
            if number >= line:
                found.setdefault(number, instruction)
        if not found:
            raise RefusedError(f"there is no instruction at line {line} or after it")
        return [found[min(found)]]

    def _described(self, breakpoint: Breakpoint) -> str:
        source, line = _origin(breakpoint.instruction, self._image.source)
        who = f" for warp {breakpoint.warp.number} of CTA {breakpoint.warp.cta}" if breakpoint.warp else ""
        return f"breakpoint {breakpoint.number} at {source.name if source else '?'}:{line}{who}"

    def _delete(self, words: Sequence[str]) -> None:
        _count(words, 1)
        try:
            self.debugger.delete(_number(words[0]))
        except KeyError:
            raise RefusedError(f"there is no breakpoint {words[0]}") from None

    # ---- warps and places

    def _cta(self, text: str) -> int:
        """The number of a CTA in the grid."""
        parts = [_number(part) for part in text.split(",")]
        execution = self.debugger.execution
        if len(parts) == 1:
            return parts[0]
        if execution is None:
            raise RefusedError("expected the number of a CTA: the launch has not begun")
        x, y, _ = execution.grid
        parts += [0] * (3 - len(parts))
        return parts[0] + x * (parts[1] + y * parts[2])

    def _here(self) -> tuple[Place, Gang, int]:
        """Where the current warp stands, its gang and its row."""
        place, gang = self.debugger.current()
        row = row_of(gang, self.debugger.warp) if gang else None
        if place is None or gang is None or row is None:
            raise RefusedError(f"warp {self._name()} is not running")
        return place, gang, row

    def _home(self) -> tuple[Gang, int]:
        """The gang of the current warp, and the number of its CTA in it."""
        _, gang = self.debugger.current()
        row = row_of(gang, self.debugger.warp) if gang else None
        if gang is None or row is None:
            raise RefusedError(f"warp {self._name()} is not running")
        return gang, row // gang.warps

    def _name(self) -> str:
        return f"{self.debugger.warp.number} of CTA {self.debugger.warp.cta}"

    def _warp(self, words: Sequence[str]) -> None:
        _count(words, 2)
        execution = self.debugger.execution
        if execution is None:
            raise RefusedError("the launch has not begun")
        wanted = Warp(self._cta(words[0]), _number(words[1]))
        if wanted.cta >= execution.launch.ctas or wanted.number >= execution.warps:
            ctas, warps = execution.launch.ctas, execution.warps
            raise RefusedError(f"expected one of {ctas} CTAs and of {warps} warps each")
        self.debugger.warp = wanted
        self._where([])

    def _warps(self, words: Sequence[str]) -> None:
        _count(words, 0)
        execution = self.debugger.execution
        if execution is None:
            raise RefusedError("the launch has not begun")
        lines = []
        for gang in self.debugger.gangs:
            mine = row_of(gang, self.debugger.warp)
            for place, gate in self.debugger.places(gang):
                for row, who in warps_in(gang, place.group):
                    wait = f": waits for {gate.waits_for(gang, place.group, row)}" if gate else ""
                    lines.append(f"{'*' if row == mine else ' '} {who}, {_at(place.site)}{wait}")
        for line in lines[:LISTED]:
            print(line)
        if len(lines) > LISTED:
            print(f"and {len(lines) - LISTED} more")
        print(f"{execution.counts.ctas} of {execution.launch.ctas} CTAs have ended")

    def _where(self, words: Sequence[str]) -> None:
        _count(words, 0)
        place, gang, row = self._here()
        lanes = lanes_in(place.group, row)
        assert lanes is not None
        coordinates = gang.cta_coordinates(row // gang.warps)
        part = "" if (lanes == gang.alive[row]).all() else f", lanes {_ranges(lanes.nonzero()[0].tolist())}"
        others = len(warps_in(gang, place.group)) - 1
        along = f"; {others} more warps with it" if others else ""
        print(f"warp {self.debugger.warp.number} of CTA {show(coordinates)}{part}{along}")
        self._frame(place.site)
        for frame in reversed(place.group.frames):
            block = frame.code.blocks[frame.pc - 1]
            self._frame(block.sites[-1])

    def _frame(self, site: Site | None) -> None:
        if site is None:
            print("  at the end of the function")
            return
        source, line = _origin(site.instruction, site.source)
        text = (source.line(line) or "").strip() if source else site.instruction.spelling
        print(f"  {source.name if source else site.function}:{line} in `{site.function}`: {text}")

    def _list(self, words: Sequence[str]) -> None:
        _count(words, 0, 1)
        place, _ = self.debugger.current()
        source, current = self._image.source, 0
        if place is not None and place.site is not None:
            source, current = _origin(place.site.instruction, place.site.source)
        if source is None:
            raise RefusedError("the module has no text")
        middle = _number(words[0]) if words else current or 1
        stops = {
            _origin(stop.instruction, self._image.source)[1] for stop in self.debugger.breakpoints.values()
        }
        for line in range(max(middle - AROUND, 1), middle + AROUND + 1):
            text = source.line(line)
            if text is not None:
                mark = ("*" if line in stops else " ") + (">" if line == current else " ")
                print(f"{mark}{line:5} {text}".rstrip())

    # ---- registers

    def _print(self, words: Sequence[str]) -> None:
        _count(words, 1, 3)
        name, kind = words[0], _type(words[1:])
        lane = _number(words[1]) if len(words) > 1 and words[1].isdecimal() else None
        place, _, row = self._here()
        found = [one for one in registers(place, row) if name in (one.name, one.name.rpartition(".")[0])]
        special = special_register(place, row, name)
        if special is not None:
            found = [special]
        if not found:
            raise RefusedError(f"`{place.group.code.name}` has no register `{name}`")
        for register in found:
            if kind is not None and DTYPES[kind].bits != DTYPES[register.type].bits:
                width = DTYPES[register.type].bits
                raise RefusedError(f"expected a type of {width} bits for `{name}`, found `{kind}`")
            for line in _register(register, kind or register.type, lane):
                print(line)

    def _regs(self, words: Sequence[str]) -> None:
        _count(words, 0, 1)
        place, _, row = self._here()
        lanes = lanes_in(place.group, row)
        assert lanes is not None
        lane = _number(words[0]) if words else int(lanes.argmax())
        for register in registers(place, row):
            if not register.lost:
                for line in _register(register, register.type, lane):
                    print(line)

    # ---- memories

    def _shared(self, words: Sequence[str]) -> None:
        _count(words, 1, 3)
        gang, cta = self._home()
        kind, count = "b32", COUNT
        if words[0][0].isdecimal():
            address = _number(words[0])
        else:
            known = {symbol.name: symbol for symbol in gang.launch.program.shared_variables}
            if words[0] not in known:
                names = ", ".join(f"`{name}`" for name in known) or "none"
                raise RefusedError(f"expected a shared variable, found `{words[0]}`; there are {names}")
            symbol = known[words[0]]
            kind = symbol.type
            address = gang.launch.program.shared_variables[symbol]
            size = self._image.size_of(symbol)
            count = min(COUNT, size // DTYPES[kind].bytes) if size else COUNT
        kind = _type(words[1:]) or kind
        values = shared_words(gang, cta, address, DTYPES[kind].bytes, _wanted(words[1:], count))
        if not values:
            end = gang.launch.shared_start + gang.launch.shared_total
            raise RefusedError(f"expected an address from {gang.launch.shared_start:#x} to {end - 1:#x}")
        _dump(address, values, kind)

    def _global(self, words: Sequence[str]) -> None:
        _count(words, 1, 3)
        kind = "b32"
        known = {symbol.name: symbol for symbol in self._image.allocations}
        if words[0][0].isdecimal():
            address = _number(words[0])
        elif words[0] in self.tensors:
            address, kind = self.tensors[words[0]]
        elif words[0] in known:
            kind, address = known[words[0]].type, self._image.address_of(known[words[0]])
        else:
            names = ", ".join(f"`{name}`" for name in (*self.tensors, *known))
            raise RefusedError(f"expected a tensor or variable, found `{words[0]}`; there are {names}")
        kind = _type(words[1:]) or (kind if can_show(kind) else "b8")
        width, count = DTYPES[kind].bytes, _wanted(words[1:], COUNT)
        values, owner = global_words(self._image.memory, address, width, count)
        if not values:
            near = f"; the nearest before it is {owner}" if owner else ""
            raise RefusedError(f"nothing is allocated at {address:#x}{near}")
        _dump(address, values, kind)

    def _tmem(self, words: Sequence[str]) -> None:
        _count(words, 2, 4)
        gang, cta = self._home()
        lane, column = _number(words[0]), _number(words[1])
        if lane >= LANES or column >= COLUMNS:
            raise RefusedError(f"expected one of {LANES} lanes and one of {COLUMNS} columns")
        kind = _type(words[2:]) or "b32"
        if DTYPES[kind].bits != 32:
            raise RefusedError(f"expected a type of 32 bits for a cell, found `{kind}`")
        values = tensor_words(gang, cta, lane, column, _wanted(words[2:], COUNT))
        if not values:
            raise RefusedError("nothing has used tensor memory")
        print(f"lane {lane}, column {column}: {' '.join(shown(value, kind) for value in values)}")

    def _barriers(self, words: Sequence[str]) -> None:
        _count(words, 0)
        gang, cta = self._home()
        lines = []
        for address, state in mbarriers(gang, cta):
            names = [
                f"`{symbol.name}`, "
                for symbol, start in gang.launch.program.shared_variables.items()
                if start == address
            ]
            lines.append(f"mbarrier {''.join(names)}{address:#x}: {state}")
        _print_lines([*lines, *barriers(gang, cta)], "there are no mbarriers, and nobody is at a barrier")

    def _flying(self, words: Sequence[str]) -> None:
        _count(words, 0)
        gang, cta = self._home()
        _print_lines(flying(gang, cta), "nothing is in flight")

    def _help(self, words: Sequence[str]) -> None:
        for name, (arguments, meaning) in COMMANDS.items():
            print(f"  {f'{name} {arguments}'.strip():38} {meaning}")


# ---- words and numbers


def _only(word: str) -> str:
    """The command that begins so."""
    if word in COMMANDS:
        return word
    found = [name for name in COMMANDS if name.startswith(word)]
    if len(found) == 1:
        return found[0]
    which = f"which is {' or '.join(f'`{name}`' for name in found)}" if found else "`help` lists them"
    raise RefusedError(f"expected a command, found `{word}`: {which}")


def _count(words: Sequence[str], least: int, most: int | None = None) -> None:
    most = least if most is None else most
    if not least <= len(words) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise RefusedError(f"expected {wanted} arguments, found {len(words)}; `help` lists them")


def _number(text: str) -> int:
    try:
        value = int(text, 0)
    except ValueError:
        raise RefusedError(f"expected a number, found `{text}`") from None
    if value < 0:
        raise RefusedError(f"expected a number that is not negative, found `{text}`")
    return value


def _wanted(words: Sequence[str], otherwise: int) -> int:
    """COUNT of `[COUNT] [TYPE]`."""
    return max(_number(words[0]), 1) if words and words[0][0].isdecimal() else otherwise


def _type(words: Sequence[str]) -> str | None:
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


def _origin(instruction: Instruction, source: Source | None) -> tuple[Source | None, int]:
    """The text and line that an instruction was written in."""
    if instruction.span is None or source is None:
        return source, 0
    origin, span, _ = source.origin(instruction.span)
    return origin, span.line


def _at(site: Site | None) -> str:
    return f"{site.where}, `{site.instruction.spelling}`" if site else "at its end"


def _ranges(lanes: Sequence[int]) -> str:
    """`0-15, 31`."""
    starts = [lane for lane in lanes if lane - 1 not in lanes]
    ends = [lane for lane in lanes if lane + 1 not in lanes]
    return ", ".join(
        str(first) if first == last else f"{first}-{last}" for first, last in zip(starts, ends, strict=True)
    )


def _register(register: Register, kind: str, lane: int | None) -> list[str]:
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
        return [f"{head}: {text} in lanes {_ranges(lanes)}" for text, lanes in lanes_of.items()]
    eights = [(at, texts[at : at + 8]) for at in range(0, len(texts), 8)]
    return [f"{head}:", *(f"  lane {at:2}: {' '.join(text or '-' for text in row)}" for at, row in eights)]


def _dump(address: int, values: Sequence[Value], kind: str) -> None:
    """Elements of memory, eight a line; lines that repeat the one before them are left out."""
    rows = [(at, [shown(v, kind) for v in values[at : at + COUNT]]) for at in range(0, len(values), COUNT)]
    for _, same in groupby(rows, key=lambda row: row[1]):
        (at, texts), *more = same
        print(f"{address + at * DTYPES[kind].bytes:#x}: {' '.join(texts)}")
        if more:
            print(f"  and {len(more)} more lines of the same")


def _print_lines(lines: Iterable[str], otherwise: str) -> None:
    found = list(lines)
    print("\n".join(found) if found else otherwise)
