"""Streams: flags, streams that are gone, attributes, values in memory."""

from __future__ import annotations

from kernels import begin

from wrong_calls.fixtures import SIZE, Call, misused, place, raw

__all__ = ["CALLS", "begin"]


CALLS: dict[str, Call] = {
    "flags that there are not": lambda _: raw("cuStreamCreate", place(), 77),
    "a stream, nowhere": lambda _: raw("cuStreamCreate", 0, 0),
    "flags that there are not, with a priority": lambda _: raw("cuStreamCreateWithPriority", place(), 77, 0),
    "a priority out of range": lambda _: raw("cuStreamCreateWithPriority", place(), 0, -1000),
    "a stream is destroyed twice": lambda f: raw("cuStreamDestroy_v2", f.destroyed_stream),
    "no stream is destroyed": lambda _: raw("cuStreamDestroy_v2", 0),
    "the legacy stream is destroyed": lambda _: raw("cuStreamDestroy_v2", 1),
    "a thread's stream is destroyed": lambda _: raw("cuStreamDestroy_v2", 2),
    "an event is destroyed as a stream": lambda f: raw("cuStreamDestroy_v2", misused(f.event)),
    "a wait for a destroyed stream": lambda f: raw("cuStreamSynchronize", f.destroyed_stream),
    "a wait for an event as a stream": lambda f: raw("cuStreamSynchronize", misused(f.event)),
    "a question for a destroyed stream": lambda f: raw("cuStreamQuery", f.destroyed_stream),
    "a destroyed stream waits": lambda f: raw("cuStreamWaitEvent", f.destroyed_stream, f.event, 0),
    "a stream waits for no event": lambda f: raw("cuStreamWaitEvent", f.stream, 0, 0),
    "a stream waits for a destroyed event": lambda f: raw(
        "cuStreamWaitEvent", f.stream, f.destroyed_event, 0
    ),
    "a stream waits for a stream": lambda f: raw("cuStreamWaitEvent", f.stream, misused(f.other_stream), 0),
    "a stream waits with flags": lambda f: raw("cuStreamWaitEvent", f.stream, f.event, 77),
    "the flags of a destroyed stream": lambda f: raw("cuStreamGetFlags", f.destroyed_stream, place()),
    "the flags, nowhere": lambda f: raw("cuStreamGetFlags", f.stream, 0),
    "the priority of a destroyed stream": lambda f: raw("cuStreamGetPriority", f.destroyed_stream, place()),
    "the priority, nowhere": lambda f: raw("cuStreamGetPriority", f.stream, 0),
    "the number of a destroyed stream": lambda f: raw("cuStreamGetId", f.destroyed_stream, place()),
    "the number, nowhere": lambda f: raw("cuStreamGetId", f.stream, 0),
    "the context of a destroyed stream": lambda f: raw("cuStreamGetCtx", f.destroyed_stream, place()),
    "the context, nowhere": lambda f: raw("cuStreamGetCtx", f.stream, 0),
    "the device of a destroyed stream": lambda f: raw("cuStreamGetDevice", f.destroyed_stream, place()),
    "an attribute that there is not": lambda f: raw("cuStreamGetAttribute", f.stream, 77, place()),
    "an attribute, nowhere": lambda f: raw("cuStreamGetAttribute", f.stream, 1, 0),
    "an attribute of a destroyed stream": lambda f: raw(
        "cuStreamGetAttribute", f.destroyed_stream, 1, place()
    ),
    "an attribute is set that there is not": lambda f: raw("cuStreamSetAttribute", f.stream, 77, place()),
    "an attribute of launches is set": lambda f: raw("cuStreamSetAttribute", f.stream, 4, place(2, 1, 1)),
    "a policy of synchronization that there is not": lambda f: raw(
        "cuStreamSetAttribute", f.stream, 3, place(77)
    ),
    "an attribute is set from nowhere": lambda f: raw("cuStreamSetAttribute", f.stream, 1, 0),
    "attributes of a destroyed stream": lambda f: raw("cuStreamCopyAttributes", f.stream, f.destroyed_stream),
    "device memory is attached": lambda f: raw("cuStreamAttachMemAsync", f.stream, f.address, 0, 4),
    "the host's memory is attached": lambda f: raw("cuStreamAttachMemAsync", f.stream, f.numbers, 0, 4),
    "null is attached": lambda f: raw("cuStreamAttachMemAsync", f.stream, 0, 0, 4),
    "a part of managed memory is attached": lambda f: raw(
        "cuStreamAttachMemAsync", f.stream, f.managed, SIZE // 2, 4
    ),
    "managed memory is attached with flags that there are not": lambda f: raw(
        "cuStreamAttachMemAsync", f.stream, f.managed, 0, 77
    ),
    "managed memory is attached to the default stream alone": lambda f: raw(
        "cuStreamAttachMemAsync", 0, f.managed, 0, 4
    ),
    "managed memory is attached to a destroyed stream": lambda f: raw(
        "cuStreamAttachMemAsync", f.destroyed_stream, f.managed, 0, 4
    ),
    "a value at a misaligned address": lambda f: raw(
        "cuStreamWriteValue32_v2", f.stream, f.address + 2, 1, 0
    ),
    "a value of 64 bits at a misaligned address": lambda f: raw(
        "cuStreamWriteValue64_v2", f.stream, f.address + 4, 1, 0
    ),
    "a value at null": lambda f: raw("cuStreamWriteValue32_v2", f.stream, 0, 1, 0),
    "a value in freed memory": lambda f: raw("cuStreamWriteValue32_v2", f.stream, f.freed, 1, 0),
    "a value in the host's memory": lambda f: raw("cuStreamWriteValue32_v2", f.stream, f.numbers, 1, 0),
    "a value with flags that there are not": lambda f: raw(
        "cuStreamWriteValue32_v2", f.stream, f.address, 1, 0x80
    ),
    "a value in a destroyed stream": lambda f: raw(
        "cuStreamWriteValue32_v2", f.destroyed_stream, f.address, 1, 0
    ),
    "a wait for a value at a misaligned address": lambda f: raw(
        "cuStreamWaitValue32_v2", f.stream, f.address + 2, 0, 0
    ),
    "a wait for a value at null": lambda f: raw("cuStreamWaitValue32_v2", f.stream, 0, 0, 0),
    "a wait for a value with flags that there are not": lambda f: raw(
        "cuStreamWaitValue32_v2", f.stream, f.address, 0, 0x80
    ),
    "a batch of nothing": lambda f: raw("cuStreamBatchMemOp_v2", f.stream, 0, 0, 0),
    "a batch of one, from nowhere": lambda f: raw("cuStreamBatchMemOp_v2", f.stream, 1, 0, 0),
    "a batch of an operation that there is not": lambda f: raw(
        "cuStreamBatchMemOp_v2", f.stream, 1, place(77), 0
    ),
    "a batch of too many": lambda f: raw("cuStreamBatchMemOp_v2", f.stream, 257, place(), 0),
    "a batch with flags": lambda f: raw("cuStreamBatchMemOp_v2", f.stream, 1, place(77), 1),
}
