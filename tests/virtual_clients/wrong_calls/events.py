"""Events: flags, times that there are not, events that are gone."""

from __future__ import annotations

from typing import Any

from bindings import check
from cuda.bindings import driver as cuda
from kernels import begin

from wrong_calls.fixtures import Call, Fixtures, misused, place, raw

__all__ = ["CALLS", "begin"]


def _elapsed(start: Any, end: Any) -> tuple[int]:
    return raw("cuEventElapsedTime_v2", place(), start, end)


def _untimed() -> Any:
    """An event without timing that was recorded."""
    made = check(cuda.cuEventCreate(2))
    check(cuda.cuEventRecord(made, 0))
    check(cuda.cuCtxSynchronize())
    return made


def _elsewhere(f: Fixtures) -> Any:
    """An event of another context."""
    check(cuda.cuCtxPushCurrent(f.context))
    made = check(cuda.cuEventCreate(0))
    check(cuda.cuCtxPopCurrent())
    return made


def _stream_elsewhere(f: Fixtures) -> Any:
    """A stream of another context."""
    check(cuda.cuCtxPushCurrent(f.context))
    made = check(cuda.cuStreamCreate(0))
    check(cuda.cuCtxPopCurrent())
    return made


CALLS: dict[str, Call] = {
    "flags that there are not": lambda _: raw("cuEventCreate", place(), 0x80),
    "between processes, with timing": lambda _: raw("cuEventCreate", place(), 4),
    "an event, nowhere": lambda _: raw("cuEventCreate", 0, 0),
    "an event is destroyed twice": lambda f: raw("cuEventDestroy_v2", f.destroyed_event),
    "no event is destroyed": lambda _: raw("cuEventDestroy_v2", 0),
    "a stream is destroyed as an event": lambda f: raw("cuEventDestroy_v2", misused(f.stream)),
    "no event is recorded": lambda _: raw("cuEventRecord", 0, 0),
    "a destroyed event is recorded": lambda f: raw("cuEventRecord", f.destroyed_event, 0),
    "an event is recorded in a destroyed stream": lambda f: raw("cuEventRecord", f.event, f.destroyed_stream),
    "a stream is recorded": lambda f: raw("cuEventRecord", misused(f.stream), 0),
    "an event is recorded with flags": lambda f: raw("cuEventRecordWithFlags", f.event, 0, 77),
    "an event is recorded as outside, outside of a capture": lambda f: raw(
        "cuEventRecordWithFlags", f.event, 0, 1
    ),
    "an event of another context is recorded": lambda f: raw("cuEventRecord", _elsewhere(f), 0),
    "an event is recorded in a stream of another context": lambda f: raw(
        "cuEventRecord", f.event, _stream_elsewhere(f)
    ),
    "a stream of another context waits": lambda f: raw(
        "cuStreamWaitEvent", _stream_elsewhere(f), f.recorded, 0
    ),
    "a wait for no event": lambda _: raw("cuEventSynchronize", 0),
    "a wait for a destroyed event": lambda f: raw("cuEventSynchronize", f.destroyed_event),
    "a wait for an event never recorded": lambda f: raw("cuEventSynchronize", f.event),
    "a question for no event": lambda _: raw("cuEventQuery", 0),
    "a question for a destroyed event": lambda f: raw("cuEventQuery", f.destroyed_event),
    "a question for an event never recorded": lambda f: raw("cuEventQuery", f.event),
    "the time of an event never recorded": lambda f: _elapsed(f.event, f.event),
    "the time to an event never recorded": lambda f: _elapsed(f.recorded, f.event),
    "the time of an event without timing": lambda f: _elapsed(f.recorded, _untimed()),
    "the time from an event without timing": lambda f: _elapsed(_untimed(), f.recorded),
    "the time of a destroyed event": lambda f: _elapsed(f.recorded, f.destroyed_event),
    "the time of no event": lambda f: _elapsed(f.recorded, 0),
    "the time, nowhere": lambda f: raw("cuEventElapsedTime_v2", 0, f.recorded, f.recorded),
    "an event for other processes that is none": lambda f: raw("cuIpcGetEventHandle", place(), f.event),
    "memory for other processes that is null": lambda _: raw("cuIpcGetMemHandle", place(), 0),
    "memory for other processes that is the host's": lambda f: raw("cuIpcGetMemHandle", place(), f.numbers),
    "memory of no process is closed": lambda f: raw("cuIpcCloseMemHandle", f.address),
}
