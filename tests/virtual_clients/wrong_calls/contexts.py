"""Contexts: flags, limits, the stack, peers, and contexts that are gone."""

from __future__ import annotations

from bindings import check
from cuda.bindings import driver as cuda
from kernels import begin

from wrong_calls.fixtures import Call, Fixtures, misused, place, raw, trust

__all__ = ["CALLS", "begin"]


def _empty_pop(_: Fixtures) -> tuple[object, ...]:
    check(cuda.cuCtxPopCurrent())
    return cuda.cuCtxPopCurrent()


def _destroyed_while_current(f: Fixtures) -> tuple[object, ...]:
    """An allocation after the current context was destroyed from another's place on the stack."""
    made = check(cuda.cuCtxCreate(None, 0, 0))
    primary = check(cuda.cuDevicePrimaryCtxRetain(0))
    check(cuda.cuCtxPushCurrent(primary))
    check(cuda.cuCtxDestroy(made))
    check(cuda.cuCtxPopCurrent())
    f.later(lambda: cuda.cuCtxPopCurrent())
    misused(made)
    return cuda.cuMemAlloc(16)


def _primary() -> object:
    return check(cuda.cuDevicePrimaryCtxRetain(0))


def _limit(number: int, value: int) -> tuple[int]:
    """A limit is set: the calls behind this one can't count on what they find."""
    trust.kept = False
    return raw("cuCtxSetLimit", number, value)


CALLS: dict[str, Call] = {
    "a pop of nothing": _empty_pop,
    "a push of none": lambda _: raw("cuCtxPushCurrent_v2", 0),
    "a push of a destroyed context": lambda f: raw("cuCtxPushCurrent_v2", f.destroyed_context),
    "a destroyed context becomes current": lambda f: raw("cuCtxSetCurrent", f.destroyed_context),
    "a stream becomes the current context": lambda f: raw("cuCtxSetCurrent", misused(f.stream)),
    "a context is destroyed twice": lambda f: raw("cuCtxDestroy_v2", f.destroyed_context),
    "no context is destroyed": lambda _: raw("cuCtxDestroy_v2", 0),
    "the primary context is destroyed": lambda _: raw("cuCtxDestroy_v2", misused(_primary())),
    "an allocation after the current context's end": _destroyed_while_current,
    "the number of a destroyed context": lambda f: raw("cuCtxGetId", f.destroyed_context, place()),
    "the number of a context, nowhere": lambda _: raw("cuCtxGetId", 0, 0),
    "the API's version of a destroyed context": lambda f: raw(
        "cuCtxGetApiVersion", f.destroyed_context, place()
    ),
    "the current context, nowhere": lambda _: raw("cuCtxGetCurrent", 0),
    "the device of the context, nowhere": lambda _: raw("cuCtxGetDevice", 0),
    "the flags of the context, nowhere": lambda _: raw("cuCtxGetFlags", 0),
    "flags that there are not": lambda _: raw("cuCtxSetFlags", 0x80000),
    "flags that exclude each other": lambda _: raw("cuCtxSetFlags", 3),
    "a flag that can't be set": lambda _: raw("cuCtxSetFlags", 0x08),
    "a limit that there is not": lambda _: raw("cuCtxGetLimit", place(), 77),
    "a negative limit": lambda _: raw("cuCtxGetLimit", place(), -1),
    "a limit, nowhere": lambda _: raw("cuCtxGetLimit", 0, 0),
    "a limit is set that there is not": lambda _: _limit(77, 1),
    "a stack of 1 TiB for each thread": lambda _: _limit(0, 1 << 40),
    "a stack of 1 MiB for each thread": lambda _: _limit(0, 1 << 20),
    "a heap of 1 PiB": lambda _: _limit(2, 1 << 50),
    "launches of kernels 1000 deep": lambda _: _limit(3, 1000),
    "fetches of 7 bytes": lambda _: _limit(5, 7),
    "fetches of 1 MiB": lambda _: _limit(5, 1 << 20),
    "a persisting cache of 1 TiB": lambda _: _limit(6, 1 << 40),
    "a preference of the cache that there is not": lambda _: raw("cuCtxSetCacheConfig", 77),
    "banks of shared memory that there are not": lambda _: raw("cuCtxSetSharedMemConfig", 77),
    "the preference of the cache, nowhere": lambda _: raw("cuCtxGetCacheConfig", 0),
    "the priorities of streams, nowhere": lambda _: raw("cuCtxGetStreamPriorityRange", 0, 0),
    "access to itself as a peer": lambda _: raw("cuCtxEnablePeerAccess", _primary(), 0),
    "access to a context of the same device": lambda f: raw("cuCtxEnablePeerAccess", f.context, 0),
    "access to no context": lambda _: raw("cuCtxEnablePeerAccess", 0, 0),
    "access to a destroyed context": lambda f: raw("cuCtxEnablePeerAccess", f.destroyed_context, 0),
    "access with flags": lambda f: raw("cuCtxEnablePeerAccess", f.context, 1),
    "access ends that never was": lambda f: raw("cuCtxDisablePeerAccess", f.context),
    "access ends to itself": lambda _: raw("cuCtxDisablePeerAccess", _primary()),
    "access ends to no context": lambda _: raw("cuCtxDisablePeerAccess", 0),
    "flags of the primary context that is current": lambda _: raw("cuDevicePrimaryCtxSetFlags_v2", 0, 3),
}
