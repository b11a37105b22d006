"""What streams and graphs are made of: launches, copies, sets, calls of the host. Each happens as often as
`run` is called. Driver API, `CUgraphNodeType`."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ptxkit.diagnostics import counted
from ptxkit.virtual.abi import Pointer
from ptxkit.virtual.gpu.host import Host
from ptxkit.virtual.gpu.schedule import Rounds
from ptxkit.virtual.gpu.stream_races import TouchedBytes, lines

Dim3 = tuple[int, int, int]


@dataclass(slots=True)
class Work:
    """Something that can be queued."""

    node_type: ClassVar[int] = 5
    outside: ClassVar[bool] = False
    """Whether it runs code of the program."""
    beside: ClassVar[bool] = False
    """Whether it begins when such work of another context does, if it may."""

    def run(self) -> Rounds | None:
        """Let it happen, or give the rounds in which it does."""

    def copy(self) -> Work:
        """The same for a node of another graph."""
        return self

    def close(self) -> None:
        """Its node is gone."""


@dataclass(slots=True)
class Copy(Work):
    """A copy of rows, of planes of rows.

    Attributes:
        dst, src: addresses of the first byte.
        width: bytes of a row.
        height, depth: rows of a plane, planes.
        dst_pitch, src_pitch: bytes from row to row.
        dst_plane, src_plane: bytes from plane to plane.
        parameters: the structure that asked for it, if one did.
    """

    node_type: ClassVar[int] = 1
    machine: Host
    dst: int
    src: int
    width: int
    height: int = 1
    depth: int = 1
    dst_pitch: int = 0
    src_pitch: int = 0
    dst_plane: int = 0
    src_plane: int = 0
    parameters: bytes = b""

    @property
    def dst_extent(self) -> int:
        """Bytes from the first to behind the last that is written."""
        return _extent(self.width, self.height, self.depth, self.dst_pitch, self.dst_plane)

    @property
    def src_extent(self) -> int:
        """Bytes from the first to behind the last that is read."""
        return _extent(self.width, self.height, self.depth, self.src_pitch, self.src_plane)

    def run(self) -> None:
        memory = self.machine.memory
        if not memory.is_device(self.dst):
            self.machine.look_at(self.src, self.src_extent)
        if self.machine.seeks_stream_races:
            size = self.width * self.height * self.depth
            self.machine.touched(f"a copy of {counted(size, 'byte')}", self._touched())
        for plane in range(self.depth):
            dst, src = self.dst + plane * self.dst_plane, self.src + plane * self.src_plane
            for row in range(self.height):
                memory.copy(dst + row * self.dst_pitch, src + row * self.src_pitch, self.width)

    def _touched(self) -> Iterator[TouchedBytes]:
        """What it reads and writes."""
        memory = self.machine.memory
        for plane in range(self.depth):
            dst, src = self.dst + plane * self.dst_plane, self.src + plane * self.src_plane
            yield from lines(memory, src, self.width, False, self.height, self.src_pitch)
            yield from lines(memory, dst, self.width, True, self.height, self.dst_pitch)


def _extent(width: int, height: int, depth: int, pitch: int, plane: int) -> int:
    return width + (height - 1) * pitch + (depth - 1) * plane if width and height and depth else 0


@dataclass(slots=True)
class Upload(Work):
    """A copy whose source was taken when it was queued, as a driver does with memory that is not pinned."""

    node_type: ClassVar[int] = 1
    machine: Host
    dst: int
    data: bytes = field(repr=False)

    def run(self) -> None:
        if self.machine.seeks_stream_races:
            size = len(self.data)
            touched = lines(self.machine.memory, self.dst, size, True)
            self.machine.touched(f"a copy of {counted(size, 'byte')} from the host", touched)
        self.machine.memory.write(self.dst, self.data)


@dataclass(slots=True)
class Fill(Work):
    """Elements set to a value.

    Attributes:
        dst: the address of the first.
        value: its bytes: 1, 2 or 4.
        width: elements of a row.
        height: rows.
        pitch: bytes from row to row.
    """

    node_type: ClassVar[int] = 2
    machine: Host
    dst: int
    value: bytes
    width: int
    height: int = 1
    pitch: int = 0

    def run(self) -> None:
        if self.machine.seeks_stream_races:
            size = self.width * len(self.value)
            touched = lines(self.machine.memory, self.dst, size, True, self.height, self.pitch)
            self.machine.touched(f"a fill of {counted(self.width * self.height, 'element')}", touched)
        for row in range(self.height):
            self.machine.memory.fill(self.dst + row * self.pitch, self.value, self.width)


@dataclass(slots=True)
class HostCall(Work):
    """A call of a function of the program, `void f(void *)`."""

    node_type: ClassVar[int] = 3
    outside: ClassVar[bool] = True
    function: int
    data: int

    def run(self) -> None:
        ctypes.CFUNCTYPE(None, Pointer)(self.function)(self.data)


@dataclass(slots=True)
class Action(Work):
    """Something of the machine's own, with the number of its kind of node."""

    act: Callable[[], Any]
    kind: int = 5

    def run(self) -> None:
        self.act()
