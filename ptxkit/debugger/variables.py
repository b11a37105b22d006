"""What the names of a launch stand for: parameters, variables, tensors, registers of lanes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ptxkit.asm.symbols import Symbol
from ptxkit.debugger.refusals import RefusedError
from ptxkit.diagnostics import listing
from ptxkit.dtypes import DTYPES
from ptxkit.emulator import inspection
from ptxkit.emulator.code_places import CodePlace, lanes_in
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.device import EmulatorKernel
from ptxkit.emulator.execution import Execution
from ptxkit.emulator.image import Image
from ptxkit.emulator.inspection import KnownBits
from ptxkit.emulator.values import WARP
from ptxkit.encodings.tensor_maps import TensorMap


class VariablePlace(NamedTuple):
    """A named stretch of memory.

    Attributes:
        address: of its first byte.
        type: of an element.
        size: in bytes; None where nothing says it.
    """

    address: int
    type: str
    size: int | None


class Variables:
    """The names of a launch beside its registers.

    Args:
        image: the loaded module.
        tensors: address, PTX type and bytes of each of the launch's tensors, by name.
        maps: its tensor maps, by name.
        kernels: the entries that are launched, by name.
    """

    def __init__(
        self,
        image: Image,
        tensors: Mapping[str, VariablePlace],
        maps: Mapping[str, TensorMap],
        kernels: Mapping[str, EmulatorKernel],
    ) -> None:
        self.image = image
        self.tensors = tensors
        self.maps = maps
        self._kernels = kernels

    def shared(self, execution: Execution | None) -> dict[str, VariablePlace]:
        """The shared variables that the running entry can reach; before the launch, the first one."""
        program = execution.program if execution else next(iter(self._kernels.values())).program
        found = program.shared_variables
        return {symbol.name: self._placed(symbol, address) for symbol, address in found.items()}

    def of_global(self) -> dict[str, VariablePlace]:
        """Tensors, and variables of global memory, of which tensors hide those of the same name."""
        image = self.image
        variables = {one.name: self._placed(one, image.address_of(one)) for one in image.allocations}
        return {**variables, **self.tensors}

    def _placed(self, symbol: Symbol, address: int) -> VariablePlace:
        return VariablePlace(address, symbol.type, self.image.size_of(symbol) or None)

    def parameters(self, execution: Execution) -> dict[str, tuple[str, list[int]]]:
        """The type and the elements, as raw bits, of each parameter of the running entry."""
        signature = self._kernels[execution.name].signature
        space = execution.launch.parameters.data
        found = {}
        for parameter in signature:
            width = max(DTYPES[parameter.type].bytes, 1)
            raw = space[parameter.offset : parameter.offset + parameter.size].tobytes()
            elements = [int.from_bytes(raw[at : at + width], "little") for at in range(0, len(raw), width)]
            found[parameter.name] = parameter.type, elements
        return found


class LaneNames:
    """The names of an expression in rows of a lane set; see `ptxkit.debugger.expressions.ExpressionNames`.

    Args:
        place: where the lane set stands.
        rows: of the batch.
        variables: of the launch.
        execution: the launch.
    """

    def __init__(
        self, place: CodePlace, rows: Sequence[int], variables: Variables, execution: Execution
    ) -> None:
        self.place = place
        self.rows = rows
        self._variables = variables
        self._execution = execution

    def read(self, name: str) -> tuple[list[list[KnownBits | None]], str]:
        """A register, special register, parameter or variable."""
        found: list[list[KnownBits | None]] = []
        kind = ""
        for row in self.rows:
            state = inspection.special_register(self.place, row, name)
            if state is None:
                state = next(inspection.registers(self.place, row, name), None)
            if state is None:
                break
            if state.lost:
                raise RefusedError(f"`{name}` has no value: {state.lost}")
            found.append(list(state.values))
            kind = state.type
        if found:
            return found, kind
        constant, kind = self._constant(name)
        return [[constant] * WARP for _ in self.rows], kind

    def _constant(self, name: str) -> tuple[KnownBits, str]:
        parameters = self._variables.parameters(self._execution)
        if name in parameters:
            kind, elements = parameters[name]
            if len(elements) != 1:
                raise RefusedError(f"`{name}` is an array of {len(elements)} elements")
            return KnownBits(elements[0]), kind
        for places in (self._variables.shared(self._execution), self._variables.of_global()):
            if name in places:
                return KnownBits(places[name].address), "u64"
        function = self.place.lane_set.code.name
        if name.startswith("%"):
            raise RefusedError(f"`{function}` has no register `{name}`")
        raise RefusedError(f"`{name}` is no register, parameter or variable of `{function}`")

    def memory(self, space: str, row: int, kind: str, at: tuple[int, ...]) -> KnownBits:
        """An element of memory, of the CTA of a row where each has its own."""
        batch = self.place.lane_set.batch
        cta = self.rows[row] // batch.warps_per_cta
        found = memory_words(self._variables, batch, cta, space, kind, at, 1)
        return found[0]

    def active(self, row: int) -> list[bool]:
        """The lanes that are here, of one of the rows."""
        lanes = lanes_in(self.place.lane_set, self.rows[row])
        return lanes.tolist() if lanes is not None else [False] * WARP


def memory_words(
    variables: Variables,
    batch: CtaBatch,
    cta: int,
    space: str,
    kind: str,
    at: tuple[int, ...],
    count: int,
) -> list[KnownBits]:
    """Elements of `shared`, `global` or `tmem` memory from a place on; fewer than `count` at its end.

    Args:
        cta: the CTA's number in the batch.
        at: the address; of tensor memory the lane and the column.

    Raises:
        RefusedError: nothing is there.
    """
    width = DTYPES[kind].bytes
    if space == "shared":
        found = inspection.shared_words(batch, cta, at[0], width, count)
        if not found:
            shared = batch.launch.shared
            last = shared.start + shared.total - 1
            raise RefusedError(f"expected an address from {shared.start:#x} to {last:#x}, found {at[0]:#x}")
        return found
    if space == "tmem":
        if width != 4:
            raise RefusedError(f"expected a type of 32 bits for a cell, found `{kind}`")
        found = inspection.tensor_words(batch, cta, at[0], at[1], count)
        if not found:
            raise RefusedError("nothing has used tensor memory")
        return found
    found, owner = inspection.global_words(variables.image.memory, at[0], width, count)
    if not found:
        near = f"; the nearest before it is {owner}" if owner else ""
        raise RefusedError(f"nothing is allocated at {at[0]:#x}{near}")
    return found


def named(places: Mapping[str, VariablePlace], name: str, what: str) -> VariablePlace:
    """The place of a name. Raises RefusedError: there is none."""
    if name not in places:
        names = listing(places) or "none"
        raise RefusedError(f"expected {what}, found `{name}`; there are {names}")
    return places[name]
