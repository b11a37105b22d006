"""The functions that the system provides to device code: `vprintf`, `malloc`, `free`, `__assertfail`.

Programming guide, sections on formatted output, dynamic global memory allocation and assertion. What is
printed is what glibc prints, as seen with the driver's host side on Linux: flags, width, precision, sizes h,
l, ll and the conversions of C.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.emulator.accessor import Accessor
from ptxkit.emulator.call_abi import CallParameter, gather
from ptxkit.emulator.calls import Argument
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.global_memory import Allocation
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.launch_state import LaunchState
from ptxkit.emulator.operands import AddressOperand
from ptxkit.emulator.sync_points import executing
from ptxkit.emulator.values import WARP

CONVERSION = re.compile(r"%([-+ #0]*)(\*|\d*)(?:\.(\*|\d*))?(hh|h|ll|l|j|z|t|L)?([a-zA-Z%])")
"""Flags, width, precision, length and kind of a conversion."""
INTEGERS = frozenset("diouxX")
FLOATS = frozenset("eEfFgGaA")
SIZES = {"hh": 1, "h": 2, "l": 8, "ll": 8, "j": 8, "z": 8, "t": 8}
"""Bytes of an integer by its length; 4 without one."""


def formatted(form: str, take: Callable[[str], int | float | str | None]) -> str:
    """A format with its arguments put in. `take`: gives the next argument: `int` and `long` as an unsigned
    integer of 4 or 8 bytes, `double` as a float, `string` as a text or None for a null pointer, `pointer` as
    an integer."""

    def convert(match: re.Match[str]) -> str:
        flags, width, precision, length, kind = match.groups()
        if kind == "%":
            return "%"
        if width == "*":
            number = signed(_integer(take("int")), 4)
            flags, width = (flags + "-", str(-number)) if number < 0 else (flags, str(number))
        if precision == "*":
            number = signed(_integer(take("int")), 4)
            precision = str(number) if number >= 0 else None
        digits = None if precision is None else int(precision or 0)
        if kind in INTEGERS:
            size = SIZES.get(length or "", 4)
            value = _integer(take("long" if size == 8 else "int")) & ((1 << 8 * size) - 1)
            text = _integer_text(signed(value, size) if kind in "di" else value, kind, flags, digits)
            flags = flags if digits is None else flags.replace("0", "")
        elif kind in FLOATS:
            value_ = take("double")
            assert isinstance(value_, float)
            text = _real(value_, kind, flags, digits)
            flags = flags if math.isfinite(value_) else flags.replace("0", "")
        elif kind in "csp":
            flags = flags.replace("0", "")
            text = _text(kind, digits, take)
        else:
            # As seen with device code on an H200, which drops what it does not know.
            return "%"
        return _padded(text, flags, int(width or 0))

    return CONVERSION.sub(convert, form)


def signed(value: int, size: int) -> int:
    """An unsigned integer of `size` bytes as a signed one."""
    return value - (1 << 8 * size) if value >> (8 * size - 1) else value


def _integer(value: int | float | str | None) -> int:
    assert isinstance(value, int)
    return value


def _sign(negative: bool, flags: str) -> str:
    return "-" if negative else "+" if "+" in flags else " " if " " in flags else ""


def _integer_text(value: int, kind: str, flags: str, digits: int | None) -> str:
    base = {"o": "o", "x": "x", "X": "X"}.get(kind, "d")
    text = "" if digits == 0 and value == 0 else f"{abs(value):{base}}"
    text = text.rjust(digits or 0, "0")
    if "#" in flags and kind == "o" and not text.startswith("0"):
        text = "0" + text
    if "#" in flags and kind in "xX" and value:
        text = f"0{kind}{text}"
    return (_sign(value < 0, flags) if kind in "di" else "") + text


def _real(value: float, kind: str, flags: str, digits: int | None) -> str:
    sign = _sign(math.copysign(1.0, value) < 0, flags)
    value = abs(value)
    if not math.isfinite(value):
        text = "nan" if math.isnan(value) else "inf"
        return sign + (text.upper() if kind.isupper() else text)
    if kind in "aA":
        text = _hexadecimal(value, "#" in flags, digits)
        return sign + (text.upper() if kind == "A" else text)
    number = 6 if digits is None else digits
    return sign + f"%{'#' if '#' in flags else ''}.{number}{kind}" % value


def _hexadecimal(value: float, point: bool, digits: int | None) -> str:
    fraction, exponent = math.frexp(value)
    whole = int(fraction * 2.0**53)
    if value == 0:
        exponent = 1
    elif exponent - 1 < -1022:
        # A subnormal number begins with 0.
        whole, exponent = whole >> -1021 - exponent, -1021
    if digits is not None and digits < 13:
        drop = 4 * (13 - digits)
        whole = round(whole / 2**drop) if whole < 2**53 and drop <= 52 else whole >> drop
        places = digits
    else:
        places = 13 if digits is None else digits
        whole <<= 4 * (places - 13)
    head, tail = divmod(whole, 16**places)
    text = f"{tail:0{places}x}" if places else ""
    if digits is None:
        text = text.rstrip("0")
    return f"0x{head}{'.' if text or point else ''}{text}p{exponent - 1:+d}"


def _text(kind: str, digits: int | None, take: Callable[[str], int | float | str | None]) -> str:
    if kind == "c":
        return chr(_integer(take("int")) & 0xFF)
    if kind == "p":
        pointer = _integer(take("pointer"))
        return f"{pointer:#x}" if pointer else "(nil)"
    found = take("string")
    if found is None:
        return "(null)" if digits is None or digits >= 6 else ""
    assert isinstance(found, str)
    return found[:digits]


def _padded(text: str, flags: str, width: int) -> str:
    if "-" in flags:
        return text.ljust(width)
    if "0" in flags:
        sign = re.match(r"[-+ ]?(0[xX])?", text)
        assert sign is not None
        return sign[0] + text[sign.end() :].rjust(width - sign.end(), "0")
    return text.rjust(width)


HEAP = 8 << 20
"""Bytes that device code may have from `malloc` at once: the driver's default."""
LONGEST = 1 << 16
"""Most bytes of a string that is read for printing."""


@dataclass(frozen=True, slots=True)
class SystemCall:
    """A call by the lanes of a set."""

    lane_set: LaneSet
    guard: Any
    arguments: Sequence[Argument]
    results: Sequence[CallParameter | None]
    site: Site

    def values(self, index: int, size: int = 8) -> np.ndarray:
        """An argument of `size` bytes in each lane, (n, 32)."""
        value, _, _ = gather(*self.arguments[index](self.lane_set), 0, size)
        return np.broadcast_to(value, (self.lane_set.n, WARP))

    def lanes(self) -> list[tuple[int, int]]:
        """Rows and lanes that call, in order."""
        lanes = executing(self.lane_set, self.guard)
        found = np.argwhere(np.ones((self.lane_set.n, WARP), bool) if lanes is None else lanes)
        return [(int(row), int(lane)) for row, lane in found]

    def give(self, value: np.ndarray) -> None:
        """Return a value in each lane."""
        for wanted in filter(None, self.results):
            for piece in wanted.pieces:
                wanted.fill(self.lane_set, piece, (value, None, 0), self.guard)


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
    """A C format with its arguments, which lie one after the other, each at its natural alignment. Returns
    the text and the number of arguments."""
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


def vprintf(call: SystemCall) -> None:
    """`int vprintf(const char *format, void *arguments)`: each thread's text goes to the device's output."""
    lane_set, formats, lists = call.lane_set, call.values(0), call.values(1)
    counts = np.zeros((lane_set.n, WARP), np.uint32)
    for row, lane in call.lanes():
        reader = _TextReader(lane_set, row, lane, call.site)
        text, count = _format(reader.text(int(formats[row, lane])), int(lists[row, lane]), reader)
        lane_set.launch.output(text)
        counts[row, lane] = count
    call.give(counts)


def malloc(call: SystemCall) -> None:
    """`void *malloc(size_t size)`: 0 where the heap is used up or the size is 0."""
    lane_set, sizes = call.lane_set, call.values(0)
    pointers = np.zeros((lane_set.n, WARP), np.uint64)
    for row, lane in call.lanes():
        size = int(sizes[row, lane])
        found = _allocate(lane_set.launch, size, str(lane_set.thread(row, lane)))
        pointers[row, lane] = found.address if found is not None else 0
    call.give(pointers)


def _allocate(launch: LaunchState, size: int, thread: str) -> Allocation | None:
    """Memory of the heap; None where it is used up or the size is 0."""
    if not size or launch.memory.heap_used + size > HEAP:
        return None
    found = launch.memory.allocate(size, f"heap memory of {thread}", heap=True)
    if launch.sanitize:
        launch.memory.forget(found)
    return found


def free(call: SystemCall) -> None:
    """`void free(void *pointer)`."""
    lane_set, pointers = call.lane_set, call.values(0)
    memory = lane_set.launch.memory
    for row, lane in call.lanes():
        pointer = int(pointers[row, lane])
        if not pointer:
            continue
        thread = lane_set.thread(row, lane)
        found: Allocation | None = memory.find(pointer)
        if found is None or found.address != pointer or not found.heap:
            raise fault(
                "P618", f"`free` of {pointer:#x}, which `malloc` did not return", call.site, (f"{thread}",)
            )
        if not found.live:
            notes = (f"{thread}", f"{found} was freed: {found.freed_by}")
            raise fault("P618", f"`free` of {pointer:#x} for the second time", call.site, notes)
        memory.free(found, f"by {thread} at {call.site.where}")


def assertfail(call: SystemCall) -> None:
    """`__assertfail(message, file, line, function, size of char)`: an assertion does not hold."""
    lane_set, (row, lane) = call.lane_set, call.lanes()[0]
    reader = _TextReader(lane_set, row, lane, call.site)
    message, file, line, function = (
        int(call.values(index, size)[row, lane]) for index, size in enumerate((8, 8, 4, 8))
    )
    where = f"{reader.text(file)}:{line}, `{reader.text(function)}`"
    raise fault(
        "P610",
        f"assertion failed: `{reader.text(message)}`",
        call.site,
        (f"{lane_set.thread(row, lane)}", f"in {where}"),
    )


SYSTEM: dict[str, Callable[[SystemCall], None]] = {
    "vprintf": vprintf,
    "malloc": malloc,
    "free": free,
    "__assertfail": assertfail,
}
"""By name."""
