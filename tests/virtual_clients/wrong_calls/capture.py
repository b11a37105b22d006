"""The capture of streams: what can't be captured, and what ends a capture wrongly."""

from __future__ import annotations

import threading
from typing import Any

from bindings import check
from cuda.bindings import driver as cuda
from kernels import NEXT, begin

from wrong_calls.fixtures import Call, Fixtures, halves, place, raw, text
from wrong_calls.launches import kernel

__all__ = ["CALLS", "begin"]

GLOBAL, THREAD, RELAXED = range(3)


def _end(stream: Any) -> tuple[int]:
    return raw("cuStreamEndCapture", stream, place())


def _after(f: Fixtures, wrong: Any, mode: int = RELAXED) -> tuple[int]:
    """The end of a capture in which something wrong was done."""
    stream = f.capturing(mode)
    wrong(stream)
    return _end(stream)


def _unjoined(f: Fixtures) -> tuple[int]:
    """The end of a capture that another stream has entered and not left."""
    stream = f.capturing()
    check(cuda.cuEventRecord(f.event, stream))
    check(cuda.cuStreamWaitEvent(f.other_stream, f.event, 0))
    raw("cuMemsetD8Async", f.address, 0, 16, f.other_stream)
    return _end(stream)


def _ended_by_another(f: Fixtures) -> tuple[int]:
    """The end of a capture by the stream that joined it."""
    stream = f.capturing()
    check(cuda.cuEventRecord(f.event, stream))
    check(cuda.cuStreamWaitEvent(f.other_stream, f.event, 0))
    return _end(f.other_stream)


def _merged(f: Fixtures) -> tuple[int]:
    """A captured stream waits for an event of another capture."""
    one, other = f.capturing(), f.capturing()
    check(cuda.cuEventRecord(f.event, one))
    return raw("cuStreamWaitEvent", other, f.event, 0)


def _isolated(f: Fixtures) -> tuple[int]:
    """A captured stream waits for an event from before the capture."""
    event = f.recorded
    return raw("cuStreamWaitEvent", f.capturing(), event, 0)


def _captured_event(f: Fixtures) -> Any:
    check(cuda.cuEventRecord(f.event, f.capturing()))
    return f.event


def _from_another_thread(f: Fixtures, mode: int) -> tuple[int]:
    """The end of a capture by another thread."""
    stream, found = f.capturing(mode), []
    context = check(cuda.cuCtxGetCurrent())

    def end() -> None:
        check(cuda.cuCtxSetCurrent(context))
        found.append(_end(stream))

    thread = threading.Thread(target=end)
    thread.start()
    thread.join()
    return found[0]


def _exchange(mode: int) -> tuple[int]:
    return raw("cuThreadExchangeStreamCaptureMode", place(mode))


def _during(f: Fixtures, mode: int, call: Call) -> tuple[Any, ...]:
    """A call of this thread while a stream is captured."""
    f.capturing(mode)
    return call(f)


def _legacy(f: Fixtures) -> tuple[int]:
    """A set in the legacy stream while a blocking stream is captured."""
    address = f.address
    f.capturing(RELAXED, blocking=True)
    return raw("cuMemsetD8Async", address, 0, 16, 1)


def _end_after_legacy(f: Fixtures) -> tuple[int]:
    address, stream = f.address, f.capturing(RELAXED, blocking=True)
    raw("cuMemsetD8Async", address, 0, 16, 1)
    return _end(stream)


def _launch(f: Fixtures, stream: Any, grid: int = 1) -> tuple[int]:
    return raw("cuLaunchKernel", kernel(b"plain"), grid, 1, 1, 32, 1, 1, 0, stream, f.parameters, 0)


def _invalidated(f: Fixtures) -> Any:
    """A stream whose capture was invalidated."""
    stream = f.capturing()
    raw("cuStreamSynchronize", stream)
    return stream


def _recorded_before(f: Fixtures, mode: int) -> Any:
    """An event from before a capture that goes on."""
    event = f.recorded
    f.capturing(mode)
    return event


def _copy_meanwhile(f: Fixtures) -> tuple[int]:
    """A copy that the host waits for, while a stream is captured."""
    address, numbers = f.address, f.numbers
    f.capturing(GLOBAL)
    return raw("cuMemcpyHtoD_v2", address, numbers, 16)


CALLS: dict[str, Call] = {
    "a capture of the legacy stream": lambda _: raw("cuStreamBeginCapture_v2", 0, RELAXED),
    "a capture of the legacy stream by its name": lambda _: raw("cuStreamBeginCapture_v2", 1, RELAXED),
    "a capture of a destroyed stream": lambda f: raw("cuStreamBeginCapture_v2", f.destroyed_stream, RELAXED),
    "a capture of a mode that there is not": lambda f: raw("cuStreamBeginCapture_v2", f.stream, 77),
    "a capture of a captured stream": lambda f: raw("cuStreamBeginCapture_v2", f.capturing(), RELAXED),
    "a capture into no graph": lambda f: raw("cuStreamBeginCaptureToGraph", f.stream, 0, 0, 0, 0, RELAXED),
    "a capture into a destroyed graph": lambda f: raw(
        "cuStreamBeginCaptureToGraph", f.stream, f.destroyed_graph, 0, 0, 0, RELAXED
    ),
    "a capture into a graph behind a node of another": lambda f: raw(
        "cuStreamBeginCaptureToGraph", f.stream, f.other_graph, place(*halves(f.node)), 0, 1, RELAXED
    ),
    "the end of no capture": lambda f: _end(f.stream),
    "the end of no capture of the legacy stream": lambda _: _end(0),
    "the end of a capture of a destroyed stream": lambda f: _end(f.destroyed_stream),
    "the end of a capture, nowhere": lambda f: raw("cuStreamEndCapture", f.capturing(), 0),
    "the end of a capture that another stream is in": _unjoined,
    "the end of a capture by another stream": _ended_by_another,
    "the end of a capture by another thread": lambda f: _from_another_thread(f, THREAD),
    "the end of a relaxed capture by another thread": lambda f: _from_another_thread(f, RELAXED),
    "a wait for a captured stream": lambda f: raw("cuStreamSynchronize", f.capturing()),
    "a question for a captured stream": lambda f: raw("cuStreamQuery", f.capturing()),
    "the end after a wait for the stream": lambda f: _after(f, lambda s: raw("cuStreamSynchronize", s)),
    "a callback in a captured stream": lambda f: raw("cuStreamAddCallback", f.capturing(), 0, 0, 0),
    "a wait for the context during a capture": lambda f: _during(
        f, RELAXED, lambda _: raw("cuCtxSynchronize")
    ),
    "a wait for the context during a global capture": lambda f: _during(
        f, GLOBAL, lambda _: raw("cuCtxSynchronize")
    ),
    "the end after a wait for the context": lambda f: _after(f, lambda _: raw("cuCtxSynchronize"), GLOBAL),
    "an allocation during a global capture": lambda f: _during(
        f, GLOBAL, lambda _: raw("cuMemAlloc_v2", place(), 16)
    ),
    "an allocation during a thread's capture": lambda f: _during(
        f, THREAD, lambda _: raw("cuMemAlloc_v2", place(), 16)
    ),
    "an allocation during a relaxed capture": lambda f: _during(
        f, RELAXED, lambda _: raw("cuMemAlloc_v2", place(), 16)
    ),
    "the end after an allocation in a global capture": lambda f: _after(
        f, lambda _: raw("cuMemAlloc_v2", place(), 16), GLOBAL
    ),
    "a free of null during a global capture": lambda f: _during(f, GLOBAL, lambda _: raw("cuMemFree_v2", 0)),
    "pinned memory during a global capture": lambda f: _during(
        f, GLOBAL, lambda _: raw("cuMemHostAlloc", place(), 16, 0)
    ),
    "a stream during a global capture": lambda f: _during(
        f, GLOBAL, lambda _: raw("cuStreamCreate", place(), 1)
    ),
    "an event during a global capture": lambda f: _during(
        f, GLOBAL, lambda _: raw("cuEventCreate", place(), 0)
    ),
    "a module during a global capture": lambda f: _during(
        f, GLOBAL, lambda _: raw("cuModuleLoadData", place(), text(NEXT))
    ),
    "a question for an event during a global capture": lambda f: raw(
        "cuEventQuery", _recorded_before(f, GLOBAL)
    ),
    "the question for an event of a capture": lambda f: raw("cuEventQuery", _captured_event(f)),
    "a wait for an event of a capture": lambda f: raw("cuEventSynchronize", _captured_event(f)),
    "the time of an event of a capture": lambda f: raw(
        "cuEventElapsedTime_v2", place(), _captured_event(f), f.event
    ),
    "a stream waits for an event of another capture": _merged,
    "a stream waits for an event from before": _isolated,
    "the end after a wait for an event from before": lambda f: _after(
        f, lambda s: raw("cuStreamWaitEvent", s, f.recorded, 0)
    ),
    "a set in the legacy stream meanwhile": _legacy,
    "the end after a set in the legacy stream": _end_after_legacy,
    "a copy that waits, meanwhile": _copy_meanwhile,
    "a copy beyond the end in a captured stream": lambda f: raw(
        "cuMemcpyDtoHAsync_v2", f.numbers, f.address, 1 << 26, f.capturing()
    ),
    "an empty grid in a captured stream": lambda f: _launch(f, f.capturing(), 0),
    "the end after an empty grid": lambda f: _after(f, lambda s: _launch(f, s, 0)),
    "a launch in a stream whose capture is invalid": lambda f: _launch(f, _invalidated(f)),
    "an event in a stream whose capture is invalid": lambda f: raw("cuEventRecord", f.event, _invalidated(f)),
    "another capture of a stream whose capture is invalid": lambda f: raw(
        "cuStreamBeginCapture_v2", _invalidated(f), RELAXED
    ),
    "whether a destroyed stream is captured": lambda f: raw(
        "cuStreamIsCapturing", f.destroyed_stream, place()
    ),
    "whether a stream is captured, nowhere": lambda f: raw("cuStreamIsCapturing", f.stream, 0),
    "whether the legacy stream is captured meanwhile": lambda f: _during(
        f, RELAXED, lambda _: raw("cuStreamIsCapturing", 1, place())
    ),
    "what a destroyed stream captures": lambda f: raw(
        "cuStreamGetCaptureInfo_v2", f.destroyed_stream, place(), place(), 0, 0, 0
    ),
    "what a stream captures, nowhere": lambda f: raw("cuStreamGetCaptureInfo_v2", f.stream, 0, 0, 0, 0, 0),
    "nodes for a stream that is not captured": lambda f: raw(
        "cuStreamUpdateCaptureDependencies_v2", f.stream, 0, 0, 0, 0
    ),
    "nodes of another graph for a captured stream": lambda f: raw(
        "cuStreamUpdateCaptureDependencies_v2", f.capturing(), place(*halves(f.node)), 0, 1, 0
    ),
    "no nodes with flags that there are not": lambda f: raw(
        "cuStreamUpdateCaptureDependencies_v2", f.capturing(), 0, 0, 0, 77
    ),
    "a mode of the thread that there is not": lambda _: _exchange(77),
    "a mode of the thread, from nowhere": lambda _: raw("cuThreadExchangeStreamCaptureMode", 0),
    "a captured stream is destroyed": lambda f: raw("cuStreamDestroy_v2", f.capturing()),
    "a graph is uploaded in a captured stream": lambda f: raw("cuGraphUpload", f.executable, f.capturing()),
}
