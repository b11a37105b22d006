"""The prompt of `ptxkit debug`: what each command does and prints."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from ptxkit.asm.tree import Instruction
from ptxkit.cli.launching.words import (
    COMMANDS,
    COUNT,
    SHORT,
    RefusedError,
    check_count,
    command_called,
    count_of,
    number,
    origin_of,
    place_of,
    print_elements,
    print_lines,
    register_lines,
    type_of,
)
from ptxkit.cli.output import print_diagnostics
from ptxkit.diagnostics import Diagnostic, Source, counted
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.deadlock import warps_in
from ptxkit.emulator.debug import Breakpoint, Debugger, Place, Warp, lanes_in, row_of
from ptxkit.emulator.faults import Site, ranges, show
from ptxkit.emulator.image import Image
from ptxkit.emulator.inspection import (
    barriers,
    can_show,
    global_words,
    in_flight,
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


class QuitError(Exception):
    """The user has had enough."""


class Prompt:
    """Reads commands and does them, while a launch stands still and before and after it.

    Args:
        image: the loaded module.
        main: the text of the file that is debugged.
        tensors: address and PTX type of each of the launch's tensors, by name.
        findings: the device's warnings, which are printed as they come.
    """

    def __init__(
        self,
        image: Image,
        main: Source | None,
        tensors: Mapping[str, tuple[int, str]],
        findings: list[Diagnostic],
    ) -> None:
        self.debugger = Debugger(image, self.stopped)
        self.tensors = tensors
        self.ended = False
        self._image = image
        self._main = main
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
        name = SHORT.get(words[0]) or command_called(words[0])
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
        check_count(words, 0)
        self._go()
        self.debugger.go_on()

    def _step(self, words: Sequence[str]) -> None:
        check_count(words, 0, 1)
        self._go()
        self.debugger.step(max(number(words[0]), 1) if words else 1, over_calls=False)

    def _next(self, words: Sequence[str]) -> None:
        check_count(words, 0)
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
        check_count(words, 1, 3)
        if len(words) == 2:
            raise RefusedError("expected a warp after the CTA")
        warp = Warp(self._cta(words[1]), number(words[2])) if len(words) == 3 else None
        file, _, line = words[0].rpartition(":")
        places = self._line(file, number(line)) if line.isdecimal() else self.debugger.labelled(words[0])
        if not places:
            raise RefusedError(f"expected a line, a label or a function, found `{words[0]}`")
        for instruction in places:
            print(self._described(self.debugger.add(instruction, warp)))

    def _line(self, file: str, line: int) -> list[Instruction]:
        """The first instruction of a line of a file, or of the first line after it that has one.

        Without a name it is the file that is debugged, rather than one that it includes or is linked to.
        """
        wanted = file or (self._main.name if self._main else "")
        found: dict[int, Instruction] = {}
        for _, instruction in self.debugger.instructions():
            source, at = origin_of(instruction, self._image.source)
            if at >= line and source is not None and source.name == wanted:
                found.setdefault(at, instruction)
        if not found:
            raise RefusedError(f"there is no instruction at line {line} of `{wanted}` or after it")
        return [found[min(found)]]

    def _described(self, breakpoint: Breakpoint) -> str:
        source, line = origin_of(breakpoint.instruction, self._image.source)
        who = f" for warp {breakpoint.warp.number} of CTA {breakpoint.warp.cta}" if breakpoint.warp else ""
        return f"breakpoint {breakpoint.number} at {source.name if source else '?'}:{line}{who}"

    def _delete(self, words: Sequence[str]) -> None:
        check_count(words, 1)
        try:
            self.debugger.delete(number(words[0]))
        except KeyError:
            raise RefusedError(f"there is no breakpoint {words[0]}") from None

    # ---- warps and places

    def _cta(self, text: str) -> int:
        """The number of a CTA in the grid."""
        parts = [number(part) for part in text.split(",")]
        execution = self.debugger.execution
        if len(parts) == 1:
            return parts[0]
        if execution is None:
            raise RefusedError("expected the number of a CTA: the launch has not begun")
        x, y, _ = execution.launch.shape.grid
        parts += [0] * (3 - len(parts))
        return parts[0] + x * (parts[1] + y * parts[2])

    def _here(self) -> tuple[Place, CtaBatch, int]:
        """Where the current warp stands, its batch and its row."""
        place, batch = self.debugger.current()
        row = row_of(batch, self.debugger.warp) if batch else None
        if place is None or batch is None or row is None:
            raise RefusedError(f"warp {self._name()} is not running")
        return place, batch, row

    def _home(self) -> tuple[CtaBatch, int]:
        """The batch of the current warp, and the number of its CTA in it."""
        _, batch = self.debugger.current()
        row = row_of(batch, self.debugger.warp) if batch else None
        if batch is None or row is None:
            raise RefusedError(f"warp {self._name()} is not running")
        return batch, row // batch.warps

    def _name(self) -> str:
        return f"{self.debugger.warp.number} of CTA {self.debugger.warp.cta}"

    def _warp(self, words: Sequence[str]) -> None:
        check_count(words, 2)
        execution = self.debugger.execution
        if execution is None:
            raise RefusedError("the launch has not begun")
        wanted = Warp(self._cta(words[0]), number(words[1]))
        if wanted.cta >= execution.launch.shape.ctas or wanted.number >= execution.launch.warps:
            ctas, warps = execution.launch.shape.ctas, execution.launch.warps
            raise RefusedError(f"expected one of {counted(ctas, 'CTA')} and of {counted(warps, 'warp')} each")
        self.debugger.warp = wanted
        self._where([])

    def _warps(self, words: Sequence[str]) -> None:
        check_count(words, 0)
        execution = self.debugger.execution
        if execution is None:
            raise RefusedError("the launch has not begun")
        lines = []
        for schedule in self.debugger.schedules:
            mine = row_of(schedule.batch, self.debugger.warp)
            for place, sync_point in self.debugger.places(schedule):
                for row, who in warps_in(place.lane_set):
                    wait = f": waits for {sync_point.waits_for(place.lane_set, row)}" if sync_point else ""
                    lines.append(f"{'*' if row == mine else ' '} {who}, {place_of(place.site)}{wait}")
        for line in lines[:LISTED]:
            print(line)
        if len(lines) > LISTED:
            print(f"and {len(lines) - LISTED} more")
        all_ctas = execution.launch.shape.ctas
        have = "has" if all_ctas == 1 else "have"
        print(f"{execution.launch.counts.ctas} of {counted(all_ctas, 'CTA')} {have} ended")

    def _where(self, words: Sequence[str]) -> None:
        check_count(words, 0)
        place, batch, row = self._here()
        lanes = lanes_in(place.lane_set, row)
        assert lanes is not None
        coordinates = batch.cta_coordinates(row // batch.warps)
        part = "" if (lanes == batch.alive[row]).all() else f", lanes {ranges(lanes.nonzero()[0].tolist())}"
        others = len(warps_in(place.lane_set)) - 1
        along = f"; {counted(others, 'more warp')} with it" if others else ""
        print(f"warp {self.debugger.warp.number} of CTA {show(coordinates)}{part}{along}")
        self._frame(place.site)
        for frame in reversed(place.lane_set.frames):
            block = frame.code.blocks[frame.pc - 1]
            self._frame(block.sites[-1])

    def _frame(self, site: Site | None) -> None:
        if site is None:
            print("  at the end of the function")
            return
        source, line = origin_of(site.instruction, site.source)
        text = (source.line(line) or "").strip() if source else site.instruction.spelling
        print(f"  {source.name if source else site.function}:{line} in `{site.function}`: {text}")

    def _list(self, words: Sequence[str]) -> None:
        check_count(words, 0, 1)
        place, _ = self.debugger.current()
        source, current = self._main, 0
        if place is not None and place.site is not None:
            source, current = origin_of(place.site.instruction, place.site.source)
        if source is None:
            raise RefusedError("the module has no text")
        middle = number(words[0]) if words else current or 1
        places = [
            origin_of(stop.instruction, self._image.source) for stop in self.debugger.breakpoints.values()
        ]
        stops = {at for origin, at in places if origin is not None and origin.name == source.name}
        for line in range(max(middle - AROUND, 1), middle + AROUND + 1):
            text = source.line(line)
            if text is not None:
                mark = ("*" if line in stops else " ") + (">" if line == current else " ")
                print(f"{mark}{line:5} {text}".rstrip())

    # ---- registers

    def _print(self, words: Sequence[str]) -> None:
        check_count(words, 1, 3)
        name, kind = words[0], type_of(words[1:])
        lane = number(words[1]) if len(words) > 1 and words[1].isdecimal() else None
        place, _, row = self._here()
        found = [one for one in registers(place, row) if name in (one.name, one.name.rpartition(".")[0])]
        special = special_register(place, row, name)
        if special is not None:
            found = [special]
        if not found:
            raise RefusedError(f"`{place.lane_set.code.name}` has no register `{name}`")
        for register in found:
            if kind is not None and DTYPES[kind].bits != DTYPES[register.type].bits:
                width = DTYPES[register.type].bits
                raise RefusedError(f"expected a type of {width} bits for `{name}`, found `{kind}`")
            for line in register_lines(register, kind or register.type, lane):
                print(line)

    def _regs(self, words: Sequence[str]) -> None:
        check_count(words, 0, 1)
        place, _, row = self._here()
        lanes = lanes_in(place.lane_set, row)
        assert lanes is not None
        lane = number(words[0]) if words else int(lanes.argmax())
        for register in registers(place, row):
            if not register.lost:
                for line in register_lines(register, register.type, lane):
                    print(line)

    # ---- memories

    def _shared(self, words: Sequence[str]) -> None:
        check_count(words, 1, 3)
        batch, cta = self._home()
        kind, count = "b32", COUNT
        if words[0][0].isdecimal():
            address = number(words[0])
        else:
            known = {symbol.name: symbol for symbol in batch.launch.program.shared_variables}
            if words[0] not in known:
                names = ", ".join(f"`{name}`" for name in known) or "none"
                raise RefusedError(f"expected a shared variable, found `{words[0]}`; there are {names}")
            symbol = known[words[0]]
            kind = symbol.type
            address = batch.launch.program.shared_variables[symbol]
            size = self._image.size_of(symbol)
            count = min(COUNT, size // DTYPES[kind].bytes) if size else COUNT
        kind = type_of(words[1:]) or kind
        values = shared_words(batch, cta, address, DTYPES[kind].bytes, count_of(words[1:], count))
        if not values:
            end = batch.launch.shared.start + batch.launch.shared.total
            raise RefusedError(f"expected an address from {batch.launch.shared.start:#x} to {end - 1:#x}")
        print_elements(address, values, kind)

    def _global(self, words: Sequence[str]) -> None:
        check_count(words, 1, 3)
        kind = "b32"
        known = {symbol.name: symbol for symbol in self._image.allocations}
        if words[0][0].isdecimal():
            address = number(words[0])
        elif words[0] in self.tensors:
            address, kind = self.tensors[words[0]]
        elif words[0] in known:
            kind, address = known[words[0]].type, self._image.address_of(known[words[0]])
        else:
            names = ", ".join(f"`{name}`" for name in (*self.tensors, *known))
            raise RefusedError(f"expected a tensor or variable, found `{words[0]}`; there are {names}")
        kind = type_of(words[1:]) or (kind if can_show(kind) else "b8")
        width, count = DTYPES[kind].bytes, count_of(words[1:], COUNT)
        values, owner = global_words(self._image.memory, address, width, count)
        if not values:
            near = f"; the nearest before it is {owner}" if owner else ""
            raise RefusedError(f"nothing is allocated at {address:#x}{near}")
        print_elements(address, values, kind)

    def _tmem(self, words: Sequence[str]) -> None:
        check_count(words, 2, 4)
        batch, cta = self._home()
        lane, column = number(words[0]), number(words[1])
        if lane >= LANES or column >= COLUMNS:
            raise RefusedError(f"expected one of {LANES} lanes and one of {COLUMNS} columns")
        kind = type_of(words[2:]) or "b32"
        if DTYPES[kind].bits != 32:
            raise RefusedError(f"expected a type of 32 bits for a cell, found `{kind}`")
        values = tensor_words(batch, cta, lane, column, count_of(words[2:], COUNT))
        if not values:
            raise RefusedError("nothing has used tensor memory")
        print(f"lane {lane}, column {column}: {' '.join(shown(value, kind) for value in values)}")

    def _barriers(self, words: Sequence[str]) -> None:
        check_count(words, 0)
        batch, cta = self._home()
        lines = []
        for address, state in mbarriers(batch, cta):
            names = [
                f"`{symbol.name}`, "
                for symbol, start in batch.launch.program.shared_variables.items()
                if start == address
            ]
            lines.append(f"mbarrier {''.join(names)}{address:#x}: {state}")
        print_lines([*lines, *barriers(batch, cta)], "there are no mbarriers, and nobody is at a barrier")

    def _flying(self, words: Sequence[str]) -> None:
        check_count(words, 0)
        batch, cta = self._home()
        print_lines(in_flight(batch, cta), "nothing is in flight")

    def _help(self, words: Sequence[str]) -> None:
        for name, (arguments, meaning) in COMMANDS.items():
            print(f"  {f'{name} {arguments}'.strip():38} {meaning}")
