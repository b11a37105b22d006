"""What `ptxkit debug` shows of a launch that stands still: registers, memories, barriers, copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptxkit.cli.launching.words import (
    COUNT,
    RefusedError,
    check_count,
    count_of,
    number,
    print_elements,
    print_lines,
    register_lines,
    type_of,
)
from ptxkit.diagnostics import listing
from ptxkit.dtypes import DTYPES
from ptxkit.emulator import inspection
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.debug import CodePlace, Debugger, lanes_in, row_of
from ptxkit.emulator.image import Image
from ptxkit.layouts.tensor_memory import COLUMNS, LANES
from ptxkit.targets import limits


class Inspector:
    """The commands that look at the current warp and its CTA.

    Args:
        debugger: has the launch.
        image: the loaded module.
        tensors: address and PTX type of each of the launch's tensors, by name.
    """

    def __init__(self, debugger: Debugger, image: Image, tensors: Mapping[str, tuple[int, str]]) -> None:
        self.debugger = debugger
        self.tensors = tensors
        self._image = image

    def _here(self) -> tuple[CodePlace, CtaBatch, int]:
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
        return batch, row // batch.warps_per_cta

    def _name(self) -> str:
        return f"{self.debugger.warp.number} of CTA {self.debugger.warp.cta}"

    # ---- registers

    def _print(self, words: Sequence[str]) -> None:
        check_count(words, 1, 3)
        name, kind = words[0], type_of(words[1:])
        lane = number(words[1]) if len(words) > 1 and words[1].isdecimal() else None
        place, _, row = self._here()
        found = [
            one for one in inspection.registers(place, row) if name in (one.name, one.name.rpartition(".")[0])
        ]
        special = inspection.special_register(place, row, name)
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
        for register in inspection.registers(place, row):
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
                names = listing(known) or "none"
                raise RefusedError(f"expected a shared variable, found `{words[0]}`; there are {names}")
            symbol = known[words[0]]
            kind = symbol.type
            address = batch.launch.program.shared_variables[symbol]
            size = self._image.size_of(symbol)
            count = min(COUNT, size // DTYPES[kind].bytes) if size else COUNT
        kind = type_of(words[1:]) or kind
        values = inspection.shared_words(batch, cta, address, DTYPES[kind].bytes, count_of(words[1:], count))
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
            names = listing((*self.tensors, *known))
            raise RefusedError(f"expected a tensor or variable, found `{words[0]}`; there are {names}")
        kind = type_of(words[1:]) or (kind if inspection.can_show(kind) else "b8")
        width, count = DTYPES[kind].bytes, count_of(words[1:], COUNT)
        values, owner = inspection.global_words(self._image.memory, address, width, count)
        if not values:
            near = f"; the nearest before it is {owner}" if owner else ""
            raise RefusedError(f"nothing is allocated at {address:#x}{near}")
        print_elements(address, values, kind)

    def _tmem(self, words: Sequence[str]) -> None:
        check_count(words, 2, 4)
        batch, cta = self._home()
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
        print(f"lane {lane}, column {column}: {' '.join(inspection.shown(value, kind) for value in values)}")

    def _barriers(self, words: Sequence[str]) -> None:
        check_count(words, 0)
        batch, cta = self._home()
        lines = []
        for address, state in inspection.mbarriers(batch, cta):
            names = [
                f"`{symbol.name}`, "
                for symbol, start in batch.launch.program.shared_variables.items()
                if start == address
            ]
            lines.append(f"mbarrier {''.join(names)}{address:#x}: {state}")
        print_lines(
            [*lines, *inspection.barriers(batch, cta)], "there are no mbarriers, and nobody is at a barrier"
        )

    def _flying(self, words: Sequence[str]) -> None:
        check_count(words, 0)
        batch, cta = self._home()
        print_lines(inspection.in_flight(batch, cta), "nothing is in flight")
