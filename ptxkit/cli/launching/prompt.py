"""The prompt of `ptxkit debug`: what each command does and prints."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from ptxkit.asm.tree import Instruction
from ptxkit.cli.launching.inspector import Inspector
from ptxkit.cli.launching.words import (
    COMMANDS,
    SHORT,
    RefusedError,
    check_count,
    command_called,
    number,
    origin_of,
    place_of,
)
from ptxkit.cli.output import print_diagnostics
from ptxkit.diagnostics import Diagnostic, Source, counted
from ptxkit.emulator.deadlock import warps_in
from ptxkit.emulator.debug import Breakpoint, Debugger, WarpNumber, lanes_in, row_of
from ptxkit.emulator.faults import Site, ranges, show
from ptxkit.emulator.image import Image

PROMPT = "(debug) "
LISTED = 64
"""Most warps that `warps` lists."""
AROUND = 4
"""Lines that `list` shows before and after the current one."""


class QuitError(Exception):
    """The user has had enough."""


class Prompt(Inspector):
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
        super().__init__(Debugger(image, self.stopped), image, tensors)
        self.ended = False
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
        warp = WarpNumber(self._cta(words[1]), number(words[2])) if len(words) == 3 else None
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

    def _warp(self, words: Sequence[str]) -> None:
        check_count(words, 2)
        execution = self.debugger.execution
        if execution is None:
            raise RefusedError("the launch has not begun")
        wanted = WarpNumber(self._cta(words[0]), number(words[1]))
        if wanted.cta >= execution.launch.shape.ctas or wanted.number >= execution.launch.warps_per_cta:
            ctas, warps = execution.launch.shape.ctas, execution.launch.warps_per_cta
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
        coordinates = batch.cta_coordinates(row // batch.warps_per_cta)
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
        for written in source.compiled_from(line) if source else ():
            said = (written.text(source.name) or "").strip() if source else ""
            print(f"    {written}{f': {said}' if said else ''}")

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

    def _help(self, words: Sequence[str]) -> None:
        for name, (arguments, meaning) in COMMANDS.items():
            print(f"  {f'{name} {arguments}'.strip():38} {meaning}")
