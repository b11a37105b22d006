"""Commands that look at the current warp and its CTA: registers, memories, barriers, copies, places."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptxkit.debugger import tiles
from ptxkit.debugger.expressions import Expression
from ptxkit.debugger.refusals import RefusedError
from ptxkit.debugger.stopping import Stopping
from ptxkit.debugger.text import (
    COUNT,
    check_count,
    checked_type,
    count_of,
    element_lines,
    lane_lines,
    lane_table,
    matrix_lines,
    number,
    place_of,
    register_lines,
    texts_of,
    type_of,
)
from ptxkit.debugger.variables import named
from ptxkit.diagnostics import counted
from ptxkit.dtypes import DTYPES
from ptxkit.emulator import inspection
from ptxkit.emulator.code_places import lanes_in, row_of
from ptxkit.emulator.deadlock import warps_in
from ptxkit.emulator.faults import Site, ranges, show
from ptxkit.emulator.inspection import KnownBits, RegisterState, shown
from ptxkit.layouts.tensor_memory import COLUMNS, LANES
from ptxkit.targets import limits

LISTED = 64
"""Most warps that `info warps` lists."""
AROUND = 4
"""Lines that `list` shows before and after the current one."""


class Looking(Stopping):
    """The commands that show something."""

    # ---- registers

    def do_print(self, words: Sequence[str]) -> None:
        if not words:
            raise RefusedError("expected a register or an expression")
        found = self._registers(words[0])
        if not found or len(words) > 3:
            self._print_expression(" ".join(words))
            return
        try:
            kind = type_of(words[1:])
        except RefusedError:
            self._print_expression(" ".join(words))
            return
        lane = number(words[1]) if len(words) > 1 and words[1].isdecimal() else None
        for register in found:
            if kind is not None and DTYPES[kind].bits != DTYPES[register.type].bits:
                width = DTYPES[register.type].bits
                raise RefusedError(f"expected a type of {width} bits for `{words[0]}`, found `{kind}`")
            self.say("\n".join(register_lines(register, kind or register.type, lane)))

    def _registers(self, name: str) -> list[RegisterState]:
        """The register of a name; the pieces of a `.param` variable."""
        place, _, row = self.session.here()
        special = inspection.special_register(place, row, name)
        return [special] if special is not None else list(inspection.registers(place, row, name))

    def _print_expression(self, text: str) -> None:
        names = self.names()
        (row,) = Expression(text).evaluate(names, 1)
        self.say("\n".join(lane_lines(text, texts_of(row, names.active(0)))))

    def info_registers(self, words: Sequence[str]) -> None:
        check_count(words, 0, 1)
        place, _, row = self.session.here()
        lanes = lanes_in(place.lane_set, row)
        assert lanes is not None
        lane = number(words[0]) if words else int(lanes.argmax())
        for register in inspection.registers(place, row):
            if not register.lost:
                self.say("\n".join(register_lines(register, register.type, lane)))

    def info_lanes(self, words: Sequence[str]) -> None:
        place, _, row = self.session.here()
        lanes = lanes_in(place.lane_set, row)
        assert lanes is not None
        if words:
            found = []
            for name in words:
                registers = self._registers(name)
                if not registers:
                    raise RefusedError(f"`{place.lane_set.code.name}` has no register `{name}`")
                found += registers
            if all(register.lost for register in found):
                raise RefusedError(f"`{words[0]}` has no value: {found[0].lost}")
        else:
            found = list(inspection.registers(place, row))
        lost = [f"`{one.name}` has no value: {one.lost}" for one in found if words and one.lost]
        self.say("\n".join([*lane_table(found, lanes.nonzero()[0].tolist()), *lost]))

    # ---- memories

    def do_shared(self, words: Sequence[str]) -> None:
        check_count(words, 1, 3)
        batch, cta = self.session.home()
        kind, count = "b32", COUNT
        if words[0][0].isdecimal():
            address = number(words[0])
        elif words[0][0] in "%(":
            address = self.address(words[0])
        else:
            found = named(
                self.session.variables.shared(self.debugger.execution), words[0], "a shared variable"
            )
            address, kind = found.address, found.type
            count = min(COUNT, found.size // DTYPES[kind].bytes) if found.size else COUNT
        kind = type_of(words[1:]) or kind
        values = inspection.shared_words(batch, cta, address, DTYPES[kind].bytes, count_of(words[1:], count))
        if not values:
            end = batch.launch.shared.start + batch.launch.shared.total
            raise RefusedError(f"expected an address from {batch.launch.shared.start:#x} to {end - 1:#x}")
        self.say("\n".join(element_lines(address, values, kind)))

    def do_global(self, words: Sequence[str]) -> None:
        check_count(words, 1, 3)
        kind = "b32"
        if words[0][0].isdecimal():
            address = number(words[0])
        elif words[0][0] in "%(":
            address = self.address(words[0])
        else:
            address, kind, _ = named(self.session.variables.of_global(), words[0], "a tensor or variable")
        kind = type_of(words[1:]) or (kind if inspection.can_show(kind) else "b8")
        width, count = DTYPES[kind].bytes, count_of(words[1:], COUNT)
        memory = self.session.variables.image.memory
        values, owner = inspection.global_words(memory, address, width, count)
        if not values:
            near = f"; the nearest before it is {owner}" if owner else ""
            raise RefusedError(f"nothing is allocated at {address:#x}{near}")
        self.say("\n".join(element_lines(address, values, kind)))

    def do_tmem(self, words: Sequence[str]) -> None:
        check_count(words, 2, 4)
        batch, cta = self.session.home()
        lane, column = number(words[0]), number(words[1])
        columns = limits(batch.launch.program.capability).tensor_memory_columns or COLUMNS
        if lane >= LANES or column >= columns:
            raise RefusedError(f"expected one of {LANES} lanes and one of {columns} columns")
        kind = type_of(words[2:]) or "b32"
        if DTYPES[kind].bits != 32:
            raise RefusedError(f"expected a type of 32 bits for a cell, found `{kind}`")
        values = inspection.tensor_words(batch, cta, lane, column, count_of(words[2:], COUNT))
        if not values:
            raise RefusedError("nothing has used tensor memory")
        self.say(f"lane {lane}, column {column}: {' '.join(shown(value, kind) for value in values)}")

    def do_tile(self, words: Sequence[str]) -> None:
        batch, cta = self.session.home()
        words, start = list(words), (0, 0)
        if len(words) > 2 and words[-2] == "from":
            row, _, column = words[-1].partition(",")
            words, start = words[:-2], (number(row), number(column))
        if words[:1] == ["map"]:
            check_count(words, 3)
            maps = self.session.variables.maps
            if words[1] not in maps:
                known = ", ".join(f"`{name}`" for name in maps) or "none"
                raise RefusedError(f"expected a tensor map, found `{words[1]}`; there are {known}")
            tile = tiles.by_map(words[1], maps[words[1]], self._shared_address(words[2]))
        elif words[:1] == ["desc"]:
            check_count(words, 4, 5)
            major = words[4] if len(words) == 5 else "K"
            word, size, kind = self.address(words[1]), tiles.size_of(words[2]), checked_type(words[3])
            tile = tiles.by_descriptor(word, size, kind, major, batch.launch.program.capability)
        else:
            check_count(words, 3, 4)
            size, kind = tiles.size_of(words[1]), checked_type(words[2])
            swizzle = words[3] if len(words) == 4 else "none"
            tile = tiles.by_rows(self._shared_address(words[0]), size, kind, swizzle)
        size = tile.places.shape[0], tile.places.shape[1]
        if start[0] >= size[0] or start[1] >= size[1]:
            raise RefusedError(f"expected a row below {size[0]} and a column below {size[1]} after `from`")
        self.say(tile.name)
        rows = range(start[0], min(start[0] + tiles.ROWS, size[0]))
        columns = range(start[1], min(start[1] + tiles.COLUMNS, size[1]))

        def text(row: int, column: int) -> str:
            return shown(tile.element(batch, cta, row, column), tile.kind)

        self.say("\n".join(matrix_lines(text, rows, columns, size)))

    # ---- the CTA

    def info_barriers(self, words: Sequence[str]) -> None:
        check_count(words, 0)
        batch, cta = self.session.home()
        variables = self.session.variables.shared(self.execution())
        names = {place.address: name for name, place in variables.items()}
        lines = [
            f"mbarrier {f'`{names[address]}`, ' if address in names else ''}{address:#x}: {state}"
            for address, state in inspection.mbarriers(batch, cta)
        ]
        lines += inspection.barriers(batch, cta)
        self.say("\n".join(lines) or "there are no mbarriers, and nobody is at a barrier")

    def info_flying(self, words: Sequence[str]) -> None:
        check_count(words, 0)
        self.say("\n".join(inspection.in_flight(*self.session.home())) or "nothing is in flight")

    def info_variables(self, words: Sequence[str]) -> None:
        check_count(words, 0)
        for space, places in (
            ("shared", self.session.variables.shared(self.execution())),
            ("global", self.session.variables.of_global()),
        ):
            for name, place in places.items():
                size = f", {counted(place.size, 'byte')}" if place.size else ""
                self.say(f"{name}: {space} .{place.type} at {place.address:#x}{size}")

    def info_args(self, words: Sequence[str]) -> None:
        check_count(words, 0)
        found = self.session.variables.parameters(self.execution())
        for name, (kind, elements) in found.items():
            if len(elements) == 1 and inspection.can_show(kind):
                self.say(f"{name} .{kind}: {shown(KnownBits(elements[0]), kind)}")
            else:
                self.say(f"{name} .{kind}[{len(elements)}]")
        if not found:
            self.say("there are no parameters")

    # ---- warps and places

    def do_warp(self, words: Sequence[str]) -> None:
        check_count(words, 2)
        execution = self.execution()
        wanted = self.warp(words)
        if wanted.cta >= execution.launch.shape.ctas or wanted.number >= execution.launch.warps_per_cta:
            ctas, warps = execution.launch.shape.ctas, execution.launch.warps_per_cta
            raise RefusedError(f"expected one of {counted(ctas, 'CTA')} and of {counted(warps, 'warp')} each")
        self.debugger.warp = wanted
        self.do_where([])

    def info_warps(self, words: Sequence[str]) -> None:
        check_count(words, 0)
        execution = self.execution()
        lines = []
        for schedule in self.debugger.schedules:
            mine = row_of(schedule.batch, self.debugger.warp)
            for place, sync_point in self.debugger.places(schedule):
                for row, who in warps_in(place.lane_set):
                    wait = f": waits for {sync_point.waits_for(place.lane_set, row)}" if sync_point else ""
                    lines.append(f"{'*' if row == mine else ' '} {who}, {place_of(place.site)}{wait}")
        for line in lines[:LISTED]:
            self.say(line)
        if len(lines) > LISTED:
            self.say(f"and {len(lines) - LISTED} more")
        self._say_ended(execution.launch.counts.ctas, execution.launch.shape.ctas)

    def _say_ended(self, ended: int, ctas: int) -> None:
        self.say(f"{ended} of {counted(ctas, 'CTA')} {'has' if ctas == 1 else 'have'} ended")

    def info_launch(self, words: Sequence[str]) -> None:
        check_count(words, 0)
        execution = self.execution()
        shape = execution.launch.shape
        cluster = f", clusters of {show(shape.cluster)}" if shape.cluster != (1, 1, 1) else ""
        size = f"grid {show(shape.grid)}, block {show(shape.block)}{cluster}"
        self.say(f"launch {execution.launch.number} of `{execution.name}`: {size}")
        self.say(f"step {self.debugger.now}")
        self._say_ended(execution.launch.counts.ctas, shape.ctas)

    def do_where(self, words: Sequence[str]) -> None:
        check_count(words, 0)
        place, batch, row = self.session.here()
        lanes = lanes_in(place.lane_set, row)
        assert lanes is not None
        coordinates = batch.cta_coordinates(row // batch.warps_per_cta)
        part = "" if (lanes == batch.alive[row]).all() else f", lanes {ranges(lanes.nonzero()[0].tolist())}"
        others = len(warps_in(place.lane_set)) - 1
        along = f"; {counted(others, 'more warp')} with it" if others else ""
        self.say(f"warp {self.debugger.warp.number} of CTA {show(coordinates)}{part}{along}")
        self._frame(place.site)
        for site in place.callers:
            self._frame(site)

    def _frame(self, site: Site | None) -> None:
        if site is None:
            self.say("  at the end of the function")
            return
        source, line = self.session.locations.of(site)
        text = (source.line(line) or "").strip() if source else site.instruction.spelling
        self.say(f"  {source.name if source else site.function}:{line} in `{site.function}`: {text}")
        for written in source.compiled_from(line) if source else ():
            said = (written.text(source.name) or "").strip() if source else ""
            self.say(f"    {written}{f': {said}' if said else ''}")

    def do_list(self, words: Sequence[str]) -> None:
        check_count(words, 0, 1)
        locations = self.session.locations
        place, _ = self.debugger.current()
        source, current = locations.main, 0
        if place is not None and place.site is not None:
            source, current = locations.of(place.site)
        if source is None:
            raise RefusedError("the module has no text")
        middle = number(words[0]) if words else current or 1
        marked = [
            locations.origin(one) for stop in self.debugger.breakpoints.values() for one in stop.instructions
        ]
        stops = {at for origin, at in marked if origin is not None and origin.name == source.name}
        for line in range(max(middle - AROUND, 1), middle + AROUND + 1):
            text = source.line(line)
            if text is not None:
                mark = ("*" if line in stops else " ") + (">" if line == current else " ")
                self.say(f"{mark}{line:5} {text}".rstrip())

    def info_breakpoints(self, words: Sequence[str]) -> None:
        check_count(words, 0)
        self.list_breakpoints()

    def topics(self) -> dict[str, Callable[[Sequence[str]], None]]:
        """What `info` knows."""
        names = (name for name in dir(self) if name.startswith("info_"))
        return {name.removeprefix("info_"): getattr(self, name) for name in sorted(names)}
