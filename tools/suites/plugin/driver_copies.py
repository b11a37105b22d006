"""A plugin of pytest that writes what copies to the host brought, and what the host's memory held at last.

NUMBERS_LOG names a file, to which a line of JSON is added for each:

    {"test": .., "kind": "TEST: FUNCTION", "bytes": N, "hash": 16 DIGITS, "sample": DIGITS}

or with `why` for bytes that can't be told: a graph will copy them later. Samples are as in copies.c, but
shorter, and of the first SAMPLES copies of a test. Before each test Python's and numpy's random numbers begin
anew, so that those that a test does not seed are the same in two runs.

It stands before the C functions that modules of Cython import from `cuda.bindings`, those of that package
itself and of `cuda.core` among them. Memory that kernels write and the host reads in place begins as zeros,
and is noted when it is freed: that of `cuMemAllocHost`, `cuMemHostAlloc` and `cuMemAllocManaged`. Imports
nothing of this project, so that it loads in any environment.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import random
import traceback
from collections.abc import Callable
from ctypes import c_int, c_size_t, c_uint, c_uint64, c_void_p
from typing import Any

import numpy as np
import pytest
from cuda.bindings import cydriver, cyruntime

LOG = os.environ.get("NUMBERS_LOG", "")
BLOCK, BLOCKS, SAMPLES = 16, 64, 4
"""Bytes of a block, blocks of a sample, and how many copies of a test have one."""
OWNER = os.getpid()
"""Processes that tests fork write nothing."""
TO_HOST, BY_ADDRESS = 2, 4
"""cudaMemcpyDeviceToHost, cudaMemcpyDefault"""
UNKNOWN = 999
"""CUDA_ERROR_UNKNOWN, cudaErrorUnknown"""

_test = ""
_sampled = 0
_held: dict[int, int] = {}
"""Bytes of the memory that is noted when it is freed, by address."""
_kept: list[Any] = []
"""What C calls: it must live as long as the process."""


def _stand_before(
    module: Any,
    name: str,
    types: tuple[Any, ...],
    after: Callable[..., object],
    before: Callable[..., object] | None = None,
) -> None:
    """Call `after` with a function's arguments where it succeeded, `before` in any case; the function fails
    where one of these does, since what was to be noted is not.

    Args:
        module: of Cython, whose functions others import by `__pyx_capi__`.
        name: the function's.
        types: of its parameters.
        after, before: called with its arguments as Python has them.
    """
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = api.PyCapsule_GetPointer.restype = c_void_p
    api.PyCapsule_GetName.argtypes = [ctypes.py_object]
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, c_void_p]
    api.PyCapsule_New.restype = ctypes.py_object
    api.PyCapsule_New.argtypes = [c_void_p, c_void_p, c_void_p]
    capsule = module.__pyx_capi__[name]
    signature = api.PyCapsule_GetName(capsule)
    prototype = ctypes.CFUNCTYPE(c_int, *types)
    call = prototype(api.PyCapsule_GetPointer(capsule, signature))

    @prototype
    def called(*arguments: Any) -> int:
        ours = os.getpid() == OWNER
        try:
            if ours and before:
                before(*arguments)
            code: int = call(*arguments)
            if ours and code == 0:
                after(*arguments)
        except Exception:  # noqa: BLE001  ctypes would say that the function succeeded
            traceback.print_exc()
            return UNKNOWN
        return code

    _kept.extend((capsule, called))
    module.__pyx_capi__[name] = api.PyCapsule_New(ctypes.cast(called, c_void_p), signature, None)


def _allocated(place: int, count: int, *_: int) -> None:
    """Memory begins as zeros, and is held: its address lies at `place`."""
    at = c_uint64.from_address(place).value
    ctypes.memset(at, 0, count)
    _held[at] = count


def _freed(name: str) -> Callable[[int | None], None]:
    def freed(at: int | None) -> None:
        if at in _held:
            _write(name, at, _held.pop(at))

    return freed


def _copied(name: str, wait: Callable[[int], str] | None = None) -> Callable[..., None]:
    """Note a copy of `count` bytes to `to`; the last argument of one that is queued is the stream."""

    def copied(to: int | None, _: int | None, count: int, *rest: int | None) -> None:
        if to and count:
            _write(name, to, count, wait(rest[-1] or 0) if wait else "")

    return copied


def _copied_by_address(name: str, wait: Callable[[int], str] | None = None) -> Callable[..., None]:
    """The same of a function that is for all directions: only what went to the host's memory."""
    told = _copied(name, wait)

    def copied(to: int, start: int, *rest: int) -> None:
        if _of_host(to) and not _of_host(start):
            told(to, start, *rest)

    return copied


def _copied_by_kind(name: str, wait: Callable[[int], str] | None = None) -> Callable[..., None]:
    """The same of the runtime's, whose fourth argument is the direction."""
    told, by_address = _copied(name, wait), _copied_by_address(name, wait)

    def copied(to: int, start: int, count: int, kind: int, *stream: int) -> None:
        if kind == TO_HOST:
            told(to, start, count, *stream)
        elif kind == BY_ADDRESS:
            by_address(to, start, count, *stream)

    return copied


def _of_host(address: int) -> bool:
    """Whether it is the host's own memory, pinned or not."""
    kind = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
    code, found = driver.cuPointerGetAttribute(kind, address)
    return int(code) != 0 or int(found) == int(driver.CUmemorytype.CU_MEMORYTYPE_HOST)


def _wait_for_driver(stream: int) -> str:
    """Let a queued copy end; why it does not."""
    _, status = driver.cuStreamIsCapturing(stream)[:2]
    if int(status):
        return "captured"
    return "" if int(driver.cuStreamSynchronize(stream)[0]) == 0 else "failed"


def _wait_for_runtime(stream: int) -> str:
    _, status = runtime.cudaStreamIsCapturing(stream)[:2]
    if int(status):
        return "captured"
    return "" if int(runtime.cudaStreamSynchronize(stream)[0]) == 0 else "failed"


if LOG:
    _COPY = (c_void_p, c_uint64, c_size_t)
    _BY_ADDRESS = (c_uint64, c_uint64, c_size_t)
    _BY_KIND = (c_void_p, c_void_p, c_size_t, c_int)
    for _name, _types, _after in (
        ("cuMemcpyDtoH", _COPY, _copied("cuMemcpyDtoH")),
        ("cuMemcpyDtoHAsync", (*_COPY, c_void_p), _copied("cuMemcpyDtoHAsync", _wait_for_driver)),
        ("cuMemcpy", _BY_ADDRESS, _copied_by_address("cuMemcpy")),
        (
            "cuMemcpyAsync",
            (*_BY_ADDRESS, c_void_p),
            _copied_by_address("cuMemcpyAsync", _wait_for_driver),
        ),
        ("cuMemAllocHost", (c_void_p, c_size_t), _allocated),
        ("cuMemHostAlloc", (c_void_p, c_size_t, c_uint), _allocated),
        ("cuMemAllocManaged", (c_void_p, c_size_t, c_uint), _allocated),
    ):
        _stand_before(cydriver, _name, _types, _after)
    for _name, _types in (("cuMemFreeHost", (c_void_p,)), ("cuMemFree", (c_uint64,))):
        _stand_before(cydriver, _name, _types, lambda _: None, _freed(_name))
    _stand_before(cyruntime, "cudaMemcpy", _BY_KIND, _copied_by_kind("cudaMemcpy"))
    _stand_before(
        cyruntime,
        "cudaMemcpyAsync",
        (*_BY_KIND, c_void_p),
        _copied_by_kind("cudaMemcpyAsync", _wait_for_runtime),
    )

from cuda.bindings import driver, runtime  # noqa: E402  they take what stands there now


def pytest_runtest_logstart(nodeid: str) -> None:
    global _test, _sampled
    _test, _sampled = nodeid.partition("::")[2], 0


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    random.seed(0)
    np.random.seed(0)


def _write(name: str, to: int, count: int, why: str = "") -> None:
    global _sampled
    row = {"test": _test, "kind": f"{_test}: {name}", "bytes": count}
    if why:
        row["why"] = why
    else:
        held = memoryview((ctypes.c_ubyte * count).from_address(to)).cast("B")  # string_at ends at 2 GiB
        row["hash"] = hashlib.blake2b(held, digest_size=8).hexdigest()
        if _sampled < SAMPLES:
            row["sample"] = _sample(held).hex()
        _sampled += 1
    with open(LOG, "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def _sample(held: memoryview) -> bytes:
    if len(held) <= BLOCK * BLOCKS:
        return bytes(held)
    last = len(held) // BLOCK - 1
    starts = (last * block // (BLOCKS - 1) * BLOCK for block in range(BLOCKS))
    return b"".join(held[start : start + BLOCK] for start in starts)
