"""Parameters of device functions that lie in local memory, because `mov` takes their address.

PTX ISA 5.1.6.4: such a parameter is copied to the stack, and its address is one of local memory. The call
fills its place in the new frame, the return reads a result from there; between them it is memory like any
local variable.
"""

from __future__ import annotations

from typing import Any

from ptxkit.emulator.accessor import Accessor
from ptxkit.emulator.address import AddressOperand
from ptxkit.emulator.call_abi import WIDEST, CallParameter, ParameterPiece, Value
from ptxkit.emulator.faults import Site
from ptxkit.emulator.lane_set import LaneSet, Undefined


class StackParameter(CallParameter):
    """A parameter in the frames of its function; piece i is its i-th unit, as large as its alignment allows.

    Args:
        name: the parameter's.
        offset: bytes from the frame's start, a multiple of `align`.
        size, align: bytes of the parameter.
        site: where its address is taken.
    """

    def __init__(self, name: str, offset: int, size: int, align: int, site: Site) -> None:
        unit = min(align, WIDEST)
        while size % unit:
            unit //= 2
        super().__init__(
            size, tuple(ParameterPiece(at, unit, i) for i, at in enumerate(range(0, size, unit)))
        )
        self._name = name
        self._site = site
        self._accessors = [
            Accessor(AddressOperand(None, offset + piece.offset, local=True), "local", unit, site)
            for piece in self.pieces
        ]

    @property
    def slots(self) -> int:
        """None: it is memory."""
        return 0

    def held(self, lane_set: LaneSet) -> tuple[list[Any], Undefined]:
        """What the units in the running function's frame hold, and their undefined bits."""
        values: list[Any] = []
        undefined: Undefined = {}
        for accessor in self._accessors:
            (access,) = accessor(lane_set)
            (value,), masks = access.load(accessor.size, 1)
            if masks is not None:
                undefined[len(values)] = (masks[0], access.origin(accessor.size))
            values.append(value)
        return values, undefined

    def fill(self, lane_set: LaneSet, piece: ParameterPiece, value: Value, guard: Any = None) -> None:
        """Store to a unit in the running function's frame."""
        word, mask, origin = value
        accessor = self._accessors[piece.slot]
        if mask is not None:
            launch = lane_set.launch
            if origin:
                origin = launch.origin_of_store(origin, self._site)
            else:
                origin = launch.origins.of_read(self._site, f"parameter `{self._name}`")
        for access in accessor(lane_set, guard):
            access.store((word,), None if mask is None else (mask,), accessor.size, origin)
