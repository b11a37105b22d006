"""Stream management: the capture of streams into graphs."""

from __future__ import annotations

from ptxkit.virtual.abi import Int, Pointer, Size, get, put, put_if
from ptxkit.virtual.driver import driver
from ptxkit.virtual.driver.graph import nodes_at
from ptxkit.virtual.gpu.capture import GLOBAL, NONE, RELAXED, Capture, capture_of
from ptxkit.virtual.gpu.context import VirtualStream
from ptxkit.virtual.gpu.graph import VirtualGraph
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.results import failure

ADD, SET = 0, 1
"""`CUstreamUpdateCaptureDependencies_flags`."""


def _begin(machine: Machine, stream: int, mode: int, graph: VirtualGraph | None = None) -> Capture:
    context = machine.context()
    place = context.stream(stream)
    if place is context.legacy:
        raise failure("STREAM_CAPTURE_UNSUPPORTED", "the legacy default stream can't be captured")
    if place.capture is not None:
        raise failure("ILLEGAL_STATE", "the stream is being captured")
    if not GLOBAL <= mode <= RELAXED:
        raise failure("INVALID_VALUE", f"there is no mode {mode} of a capture")
    machine.captures += 1
    made = Capture(place, mode, machine.captures, graph)
    machine.capturing.append(made)
    return made


@driver()
def cuStreamBeginCapture(machine: Machine, stream: int) -> None:
    _begin(machine, stream, GLOBAL)


@driver("cuStreamBeginCapture_v2")
def cuStreamBeginCapture_v2(machine: Machine, stream: int, mode: int) -> None:
    _begin(machine, stream, mode)


@driver()
def cuStreamBeginCaptureToGraph(
    machine: Machine, stream: int, graph: int, before: int, edges: int, count: int, mode: int
) -> None:
    nodes = nodes_at(machine, before, count)
    if any(node.graph.handle != graph for node in nodes):
        raise failure("INVALID_VALUE", "a capture can't begin behind nodes of another graph")
    capture = _begin(machine, stream, mode, machine.handles.get(VirtualGraph, graph))
    capture.set_tail(capture.origin, nodes)


@driver()
def cuStreamEndCapture(machine: Machine, stream: int, graph: int) -> None:
    place = machine.context().stream(stream)
    capture = capture_of(place)
    if capture is None:
        raise failure("ILLEGAL_STATE", "the stream is not being captured")
    put_if(graph, Pointer, 0)
    try:
        made = capture.end(place)
    finally:
        machine.capturing = [one for one in machine.capturing if one.origin.capture is one]
    put_if(graph, Pointer, made.handle or machine.handles.add(made))


@driver()
def cuStreamIsCapturing(machine: Machine, stream: int, status: int) -> None:
    put(status, Int, _status(machine.context().stream(stream)))


def _status(stream: VirtualStream) -> int:
    capture = capture_of(stream)
    return capture.status if capture is not None else NONE


@driver()
def cuStreamGetCaptureInfo(machine: Machine, stream: int, status: int, identifier: int) -> None:
    cuStreamGetCaptureInfo_v2(machine, stream, status, identifier, 0, 0, 0)


@driver("cuStreamGetCaptureInfo_v2")
def cuStreamGetCaptureInfo_v2(
    machine: Machine, stream: int, status: int, identifier: int, graph: int, nodes: int, count: int
) -> None:
    place = machine.context().stream(stream)
    put(status, Int, _status(place))
    capture = capture_of(place)
    if capture is None:
        return
    put_if(identifier, Size, capture.identifier)
    if graph:
        put(graph, Pointer, capture.graph.handle or machine.handles.add(capture.graph))
    tail = capture.tail(place)
    shown = capture.shown(place)
    put_if(nodes, Pointer, shown)
    put_if(count, Size, len(tail))


@driver("cuStreamGetCaptureInfo_v3")
def cuStreamGetCaptureInfo_v3(
    machine: Machine,
    stream: int,
    status: int,
    identifier: int,
    graph: int,
    nodes: int,
    edges: int,
    count: int,
) -> None:
    cuStreamGetCaptureInfo_v2(machine, stream, status, identifier, graph, nodes, count)
    capture = capture_of(machine.context().stream(stream))
    if capture is not None:
        put_if(edges, Pointer, capture.shown_edges())


@driver()
def cuStreamUpdateCaptureDependencies(
    machine: Machine, stream: int, nodes: int, count: int, flags: int
) -> None:
    place = machine.context().stream(stream)
    capture = capture_of(place)
    if capture is None:
        raise failure("ILLEGAL_STATE", "the stream is not being captured")
    if flags not in (ADD, SET):
        raise failure("INVALID_VALUE", f"there are no flags {flags:#x} of dependencies")
    found = nodes_at(machine, nodes, count)
    if any(node.graph is not capture.graph for node in found):
        raise failure("INVALID_VALUE", "a node of another graph than the capture makes")
    capture.set_tail(place, found if flags == SET else [*capture.tail(place), *found])


@driver("cuStreamUpdateCaptureDependencies_v2")
def cuStreamUpdateCaptureDependencies_v2(
    machine: Machine, stream: int, nodes: int, edges: int, count: int, flags: int
) -> None:
    cuStreamUpdateCaptureDependencies(machine, stream, nodes, count, flags)


@driver()
def cuThreadExchangeStreamCaptureMode(machine: Machine, mode: int) -> None:
    """Which calls a capture forbids meanwhile; none is forbidden here that it could."""
    wanted = get(mode, Int)
    if not GLOBAL <= wanted <= RELAXED:
        raise failure("INVALID_VALUE", f"there is no mode {wanted} of a capture")
    put(mode, Int, machine.capture_modes.get(machine.thread, GLOBAL))
    machine.capture_modes[machine.thread] = wanted
