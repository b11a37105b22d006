"""Stretches: pure instructions that follow one another, compiled into one function.

A register is an array that broadcasts against (rows, 32), and a result has the shape that numpy's
broadcasting gives it: one number for the lane set, one a lane, one a row, or one for each thread. For each
combination of shapes of what a stretch reads it has a variant, a function of up to four loops: what is
uniform first, then the lanes, the rows, the threads. Only what is read behind the stretch is stored.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from ptxkit.emulator.code import Computation
from ptxkit.emulator.jit.emission import Emission, EmittedNode, EmittedValue, bits_of, number_of
from ptxkit.emulator.jit.extents import ORDER, Extent, extent_of
from ptxkit.emulator.jit.lowering import Across, Lowering, same
from ptxkit.emulator.lane_set import LaneSet, Step
from ptxkit.emulator.native import address, compiler
from ptxkit.emulator.operands import SourceOperand
from ptxkit.emulator.values import RAW, U64, WARP

CALL_COST = 8
"""What a call of a variant costs, in steps of numpy that add two numbers."""
ROW_COST = 1 / 128
"""What a further row adds to such a step, for values that differ between threads."""
MOST_VARIANTS = 8
"""Combinations of shapes that a stretch is compiled for; the others are left to numpy."""
RAW_OF = {dtype.itemsize: dtype for bits, dtype in RAW.items() if bits in (8, 16, 32, 64)}
CALL = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)


class Stretch:
    """Computations that run one after another.

    Args:
        computations: the instructions.
        lowerings: what each is in LLVM.
        steps, tracked: the same as steps of numpy, without and with undefined bits.
        widths: of each slot, in bits.
        live: the slots that are read behind the stretch, as bits.
    """

    def __init__(
        self,
        computations: Sequence[Computation],
        lowerings: Sequence[Lowering | Across],
        steps: Sequence[Step],
        tracked: Sequence[Step],
        widths: Sequence[int],
        live: int,
    ) -> None:
        self.computations = computations
        self.lowerings = lowerings
        self.steps = steps
        self.tracked = tracked
        self.widths = widths
        slots: dict[int, None] = {}
        written: dict[int, None] = {}
        self.computed: list[SourceOperand] = []
        guards: dict[int, None] = {}
        settled: dict[int, None] = {}
        for computation, lowering in zip(computations, lowerings, strict=True):
            read = [source.slot for source in computation.sources if source.slot is not None]
            self.computed += [source for source in computation.sources if source.compute is not None]
            if computation.guard is not None:
                assert computation.guard.slot is not None
                guards[computation.guard.slot] = None
                read += [
                    computation.guard.slot,
                    *(target.slot for target in computation.targets if target is not None),
                ]
            if isinstance(lowering, Across):
                at = [computation.sources[number].slot for number in lowering.settles]
                settled.update((slot, None) for slot in at if slot is not None and slot not in written)
            slots.update((slot, None) for slot in read if slot not in written)
            written.update((target.slot, None) for target in computation.targets if target is not None)
        self.slots = tuple(slots)
        self.guards = tuple(guards)
        self.settled = tuple(settled)
        self.across = any(isinstance(lowering, Across) for lowering in lowerings)
        self.written = tuple(written)
        self.kept = tuple(slot for slot in written if live >> slot & 1)
        # What is no single function of numpy is several.
        self._steps_cost = sum(
            1 if isinstance(computation.operation.function, np.ufunc) else 3 for computation in computations
        )
        self._readers = [source.reader for source in self.computed]
        self._variants: dict[Any, Variant | None] = {}
        self._made: list[Variant] = []

    def __call__(self, lane_set: LaneSet) -> None:
        """Run the stretch for a lane set."""
        undefined = lane_set.undefined
        if undefined and any(slot in undefined for slot in self.slots):
            for step in self.tracked:
                step(lane_set)
            return
        regs = lane_set.regs
        values = [regs[slot] for slot in self.slots]
        for read in self._readers:
            values.append(read(lane_set))
        decided: list[int] = [bool(regs[slot]) for slot in self.guards if not regs[slot].ndim]
        if self.settled:
            decided += [_number(regs[slot]) for slot in self.settled if not regs[slot].ndim]
        key = (lane_set.n, *decided, *[value.shape for value in values])
        try:
            variant = self._variants[key]
        except KeyError:
            variant = self._variants[key] = self._variant(lane_set, values)
        if variant is None:
            for step in self.tracked if undefined else self.steps:
                step(lane_set)
            return
        variant(lane_set.n, values, regs)
        if undefined:
            for slot in self.written:
                undefined.pop(slot, None)

    def _variant(self, lane_set: LaneSet, values: list[Any]) -> Variant | None:
        """What runs for values of these shapes; None where numpy has to."""
        extents = []
        for value in values:
            extent = extent_of(value.shape, lane_set.n)
            if extent is None:
                return None
            extents.append(extent)
        decided = {slot: bool(lane_set.regs[slot]) for slot in self.guards if not lane_set.regs[slot].ndim}
        uniform = [slot for slot in self.settled if not lane_set.regs[slot].ndim]
        numbers = {slot: _number(lane_set.regs[slot]) for slot in uniform}
        graph = StretchGraph(self, extents, decided, numbers)
        threads = any(node.extent is Extent.THREADS for node in graph.nodes)
        if self._steps_cost * (1 + threads * lane_set.n * ROW_COST) < CALL_COST:
            return None
        for made in self._made:
            if made.graph.covers(graph):
                return made
        if len(self._made) >= MOST_VARIANTS:
            return None
        self._made.append(Variant(graph))
        return self._made[-1]


def _number(value: Any) -> int:
    """The bits of a uniform value."""
    return int(value.view(RAW_OF[value.dtype.itemsize]))


class StretchGraph:
    """A stretch with the extents of all its values.

    Args:
        stretch: the stretch.
        extents: of the slots that it reads, then of what it computes.
        decided: uniform guards, whose instructions run or don't.
        numbers: what some uniform slots hold, in all lane sets that it is for.

    Attributes:
        inputs: what it reads.
        nodes: the instructions that run.
        ends: what each slot that is kept holds at the end.
    """

    def __init__(
        self,
        stretch: Stretch,
        extents: Sequence[Extent],
        decided: dict[int, bool],
        numbers: dict[int, int],
    ) -> None:
        self.decided = decided
        self.across = stretch.across
        widths = [*(stretch.widths[slot] for slot in stretch.slots)]
        widths += [bits_of(source.dtype) for source in stretch.computed]
        self.inputs = [EmittedValue(extent, bits) for extent, bits in zip(extents, widths, strict=True)]
        keys = [*stretch.slots, *map(id, stretch.computed)]
        current: dict[int, EmittedValue] = dict(zip(keys, self.inputs, strict=True))
        for slot, number in numbers.items():
            current[slot].number = number
        self.nodes: list[EmittedNode] = []
        for computation, lowering in zip(stretch.computations, stretch.lowerings, strict=True):
            self._add(computation, lowering, current)
        self.ends = [(slot, current[slot]) for slot in stretch.kept]

    def _add(
        self, computation: Computation, lowering: Lowering | Across, current: dict[int, EmittedValue]
    ) -> None:
        """An instruction, and what slots hold behind it."""
        guard = computation.guard
        if guard is not None and guard.slot in self.decided:
            if self.decided[guard.slot] == guard.invert:
                return
            guard = None
        sources = [
            None if source.value is not None else current[id(source) if source.slot is None else source.slot]
            for source in computation.sources
        ]
        extents = [value.extent if value is not None else Extent.UNIFORM for value in sources]
        moves = lowering is same
        if isinstance(lowering, Across):
            extent = lowering.extent(*extents)
            moves = lowering.moves and not extent & Extent.LANES
        if guard is None and moves and sources[0] is not None:
            (target,) = computation.targets
            if target is not None and target.bits == sources[0].bits:
                current[target.slot] = sources[0]
                return
        condition = current[guard.slot] if guard is not None and guard.slot is not None else None
        old = [
            current[target.slot] if target is not None and condition is not None else None
            for target in computation.targets
        ]
        if not isinstance(lowering, Across):
            extent = Extent.UNIFORM
            for value in (*sources, condition, *old):
                extent |= value.extent if value is not None else extent
        results = [
            EmittedValue(extent, target.bits) if target is not None else None
            for target in computation.targets
        ]
        for target, made in zip(computation.targets, results, strict=True):
            if target is not None and made is not None:
                current[target.slot] = made
        if guard is None and lowering is same and results[0] is not None:
            (source,) = computation.sources
            if results[0].bits == bits_of(source.dtype):
                results[0].number = number_of(source)
        self.nodes.append(EmittedNode(computation, lowering, extent, sources, condition, old, results))

    def covers(self, other: StretchGraph) -> bool:
        """Whether this one's code serves another: it has the same results, and reads no less."""
        return (
            self.decided == other.decided
            and [value.number for value in self.inputs] == [value.number for value in other.inputs]
            and all(a.extent | b.extent == a.extent for a, b in zip(self.inputs, other.inputs, strict=True))
            and [node.extent for node in self.nodes] == [node.extent for node in other.nodes]
        )


class Variant:
    """The code for a graph."""

    def __init__(self, graph: StretchGraph) -> None:
        self.graph = graph
        numbers = {value: number for number, value in enumerate(graph.inputs)}
        self._uniform_in = [number for value, number in numbers.items() if not value.extent]
        self._arrays_in = [(number, value.extent) for value, number in numbers.items() if value.extent]
        for place, number in enumerate(self._uniform_in):
            graph.inputs[number].place = place
        for place, (number, _) in enumerate(self._arrays_in):
            graph.inputs[number].place = place
        self._moves = [(slot, numbers[value]) for slot, value in graph.ends if value in numbers]
        self._results = [(slot, value) for slot, value in graph.ends if value not in numbers]
        self._place(graph.nodes)
        self._function = compiler().function(self._emit(graph.nodes), CALL)
        self._made = [(value.extent, RAW[value.bits]) for value in self.stored]
        self._numbers = np.empty(len(self._uniform_in) + len(self._uniform_out) + 1, U64)
        self._pointers = (ctypes.c_void_p * (1 + len(self._arrays_in) + len(self.stored)))()
        self._pointers[0] = address(self._numbers)

    def _place(self, nodes: list[EmittedNode]) -> None:
        """Give each value that leaves its loop an array: what is kept, and what further loops read."""
        wanted = [value for _, value in self._results if value.extent]
        for node in nodes:
            read = (*node.sources, node.guard, *node.old)
            wanted += [v for v in read if v is not None and v.extent and not self._together(v, node)]
        self.stored: list[EmittedValue] = []
        for value in wanted:
            if value.place is None:
                value.place = len(self._arrays_in) + len(self.stored)
                self.stored.append(value)
        self._arrays_out = [(slot, value.place) for slot, value in self._results if value.place is not None]
        self._uniform_out = [(slot, value) for slot, value in self._results if not value.extent]

    def _together(self, value: EmittedValue, node: EmittedNode) -> bool:
        """Whether a loop has both what is read and who reads it."""
        return value.extent is node.extent or (
            self.graph.across and bool(value.extent & Extent.ROWS and node.extent & Extent.ROWS)
        )

    def _emit(self, nodes: list[EmittedNode]) -> str:
        emission = Emission(self.graph.inputs, len(self._uniform_in), len(self._arrays_in) + len(self.stored))
        lanes = WARP if self.graph.across else min(compiler().lanes, WARP)
        for extent in ORDER[:2] if self.graph.across else ORDER:
            some = [node for node in nodes if node.extent is extent]
            if some:
                emission.loop(extent, some, [value for value in self.stored if value.extent is extent], lanes)
        some = [node for node in nodes if node.extent & Extent.ROWS] if self.graph.across else []
        if some:
            emission.warps(some, [value for value in self.stored if value.extent & Extent.ROWS])
        return emission.finish([value for _, value in self._uniform_out])

    def __call__(self, rows: int, values: list[Any], regs: list[Any]) -> None:
        """Run for a lane set of so many rows: take the values, write to its registers."""
        numbers, pointers = self._numbers, self._pointers
        for place, number in enumerate(self._uniform_in):
            value = values[number]
            numbers[place] = value.view(RAW_OF[value.dtype.itemsize])
        shapes = ((), (1, WARP), (rows, 1), (rows, WARP))
        arrays = []
        for number, extent in self._arrays_in:
            value = values[number]
            if value.shape != shapes[extent]:
                value = np.broadcast_to(value, shapes[extent])
            arrays.append(np.ascontiguousarray(value))
        for extent, dtype in self._made:
            arrays.append(np.empty(shapes[extent], dtype))
        for place, array in enumerate(arrays, 1):
            pointers[place] = address(array)
        self._function(rows, pointers)
        for slot, number in self._moves:
            regs[slot] = values[number]
        for place, (slot, value) in enumerate(self._uniform_out, len(self._uniform_in)):
            regs[slot] = numbers[place].astype(RAW[value.bits])
        for slot, place in self._arrays_out:
            regs[slot] = arrays[place]
