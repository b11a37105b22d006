"""The functions that the system provides to device code: `vprintf`, `malloc`, `free`, `__assertfail`.

Programming guide, sections on formatted output, dynamic global memory allocation and assertion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ptxkit.emulator.accessor import Accessor
from ptxkit.emulator.address import AddressOperand
from ptxkit.emulator.c_format import formatted
from ptxkit.emulator.call_abi import CallParameter, gather
from ptxkit.emulator.calls import Argument
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.global_memory import Allocation
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.launch_state import LaunchState
from ptxkit.emulator.sync_points import executing
from ptxkit.emulator.values import WARP

HEAP = 8 << 20
"""Bytes that device code may have from `malloc` at once: the driver's default."""
LONGEST = 1 << 16
"""Most bytes of a string that is read for printing."""
System = Callable[["LaneSet", Any, Sequence[Argument], Sequence["CallParameter | None"], Site], Any]


def _values(lane_set: LaneSet, argument: Argument, size: int) -> np.ndarray:
    """An argument's value in each lane, (n, 32)."""
    value, _, _ = gather(*argument(lane_set), 0, size)
    return np.broadcast_to(value, (lane_set.n, WARP))


def _return(lane_set: LaneSet, guard: Any, results: Sequence[CallParameter | None], value: Any) -> None:
    for wanted in results:
        if wanted is None:
            continue
        for piece in wanted.pieces:
            wanted.fill(lane_set, piece, (value, None, 0), guard)


def _lanes(lane_set: LaneSet, guard: Any) -> np.ndarray:
    """Rows and lanes that call, in order, (count, 2)."""
    lanes = executing(lane_set, guard)
    return np.argwhere(np.ones((lane_set.n, WARP), bool) if lanes is None else lanes)


class _TextReader:
    """Reads bytes at generic addresses on behalf of one lane."""

    def __init__(self, lane_set: LaneSet, row: int, lane: int, site: Site) -> None:
        self.lane_set, self.row, self.lane, self.site = lane_set, row, lane, site
        only = np.zeros((lane_set.n, WARP), bool)
        only[row, lane] = True
        self._only = only

    def byte(self, address: int) -> int:
        """One byte."""
        accessor = Accessor(AddressOperand(None, address), "generic", 1, self.site)
        (access,) = accessor(self.lane_set, self._only)
        (value,), _ = access.load(1, 1)
        return int(np.broadcast_to(value, (self.lane_set.n, WARP))[self.row, self.lane])

    def number(self, address: int, size: int) -> int:
        """An unsigned number of `size` bytes."""
        return sum(self.byte(address + i) << 8 * i for i in range(size))

    def text(self, address: int) -> str:
        """A string that ends with a zero byte."""
        data = bytearray()
        while len(data) < LONGEST:
            byte = self.byte(address + len(data))
            if not byte:
                break
            data.append(byte)
        return data.decode("utf-8", "replace")


def _format(form: str, arguments: int, reader: _TextReader) -> tuple[str, int]:
    """A C format with its arguments, which lie one after the other, each at its natural alignment.

    Returns:
        The text and the number of arguments.
    """
    at, count = arguments, 0

    def take(kind: str) -> int | float | str | None:
        nonlocal at, count
        size = 4 if kind == "int" else 8
        at = -(-at // size) * size
        value = reader.number(at, size)
        at += size
        count += 1
        if kind == "double":
            return float(np.uint64(value).view(np.float64))
        if kind == "string":
            return reader.text(value) if value else None
        return value

    return formatted(form, take), count


def vprintf(
    lane_set: LaneSet,
    guard: Any,
    arguments: Sequence[Argument],
    results: Sequence[CallParameter | None],
    site: Site,
) -> None:
    """`int vprintf(const char *format, void *arguments)`: each thread's text goes to the device's output."""
    formats, lists = (_values(lane_set, argument, 8) for argument in arguments)
    counts = np.zeros((lane_set.n, WARP), np.uint32)
    for row, lane in _lanes(lane_set, guard):
        reader = _TextReader(lane_set, int(row), int(lane), site)
        text, count = _format(reader.text(int(formats[row, lane])), int(lists[row, lane]), reader)
        lane_set.batch.launch.output(text)
        counts[row, lane] = count
    _return(lane_set, guard, results, counts)


def malloc(
    lane_set: LaneSet,
    guard: Any,
    arguments: Sequence[Argument],
    results: Sequence[CallParameter | None],
    site: Site,
) -> None:
    """`void *malloc(size_t size)`: 0 where the heap is used up or the size is 0."""
    (sizes,) = (_values(lane_set, argument, 8) for argument in arguments)
    pointers = np.zeros((lane_set.n, WARP), np.uint64)
    for row, lane in _lanes(lane_set, guard):
        size = int(sizes[row, lane])
        found = _allocate(lane_set.batch.launch, size, str(lane_set.thread(int(row), int(lane))))
        pointers[row, lane] = found.address if found is not None else 0
    _return(lane_set, guard, results, pointers)


def _allocate(launch: LaunchState, size: int, thread: str) -> Allocation | None:
    """Memory of the heap; None where it is used up or the size is 0."""
    if not size or launch.memory.heap_used + size > HEAP:
        return None
    found = launch.memory.allocate(size, f"heap memory of {thread}", heap=True)
    if launch.sanitize:
        launch.memory.forget(found)
    return found


def free(
    lane_set: LaneSet,
    guard: Any,
    arguments: Sequence[Argument],
    results: Sequence[CallParameter | None],
    site: Site,
) -> None:
    """`void free(void *pointer)`."""
    (pointers,) = (_values(lane_set, argument, 8) for argument in arguments)
    memory = lane_set.batch.launch.memory
    for row, lane in _lanes(lane_set, guard):
        pointer = int(pointers[row, lane])
        if not pointer:
            continue
        thread = lane_set.thread(int(row), int(lane))
        found: Allocation | None = memory.find(pointer)
        if found is None or found.address != pointer or not found.heap:
            raise fault(
                "P618", f"`free` of {pointer:#x}, which `malloc` did not return", site, (f"{thread}",)
            )
        if not found.live:
            notes = (f"{thread}", f"{found} was freed: {found.freed_by}")
            raise fault("P618", f"`free` of {pointer:#x} for the second time", site, notes)
        memory.free(found, f"by {thread} at {site.where}")


def assertfail(
    lane_set: LaneSet,
    guard: Any,
    arguments: Sequence[Argument],
    results: Sequence[CallParameter | None],
    site: Site,
) -> None:
    """`__assertfail(message, file, line, function, size of char)`: an assertion does not hold."""
    row, lane = (int(i) for i in _lanes(lane_set, guard)[0])
    reader = _TextReader(lane_set, row, lane, site)
    message, file, line, function = (
        int(_values(lane_set, argument, size)[row, lane])
        for argument, size in zip(arguments[:4], (8, 8, 4, 8), strict=True)
    )
    where = f"{reader.text(file)}:{line}, `{reader.text(function)}`"
    raise fault(
        "P610",
        f"assertion failed: `{reader.text(message)}`",
        site,
        (f"{lane_set.thread(row, lane)}", f"in {where}"),
    )


SYSTEM: dict[str, System] = {
    "vprintf": vprintf,
    "malloc": malloc,
    "free": free,
    "__assertfail": assertfail,
}
"""By name."""
