"""A plugin of pytest that writes what each copy to the host brought, by functions of `cuda.bindings`.

NUMBERS_LOG names a file, to which a line of JSON is added for each:

    {"test": .., "kind": "TEST: FUNCTION", "bytes": N, "hash": 16 DIGITS, "sample": DIGITS}

or with `why` for bytes that can't be told: a graph will copy them later. Samples are as in copies.c, but
shorter, and of the first SAMPLES copies of a test. Before each test Python's and numpy's random numbers begin
anew, so that those that a test does not seed are the same in two runs. What libraries copy from C does not
come by here. Imports nothing of this project, so that it loads in any environment.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cuda.bindings import driver, runtime

LOG = os.environ.get("NUMBERS_LOG", "")
BLOCK, BLOCKS, SAMPLES = 16, 64, 4
"""Bytes of a block, blocks of a sample, and how many copies of a test have one."""
OWNER = os.getpid()
"""Processes that tests fork write nothing."""

_test = ""
_sampled = 0


def pytest_configure(config: pytest.Config) -> None:
    if not LOG:
        return
    to_host = int(runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost)
    _stand_before(driver, "cuMemcpyDtoH", lambda to, _, count: (to, count))
    _stand_before(driver, "cuMemcpyDtoHAsync", lambda to, _, count, on: (to, count), _wait_for_driver)
    _stand_before(
        runtime, "cudaMemcpy", lambda to, _, count, kind: (to, count) if int(kind) == to_host else None
    )
    _stand_before(
        runtime,
        "cudaMemcpyAsync",
        lambda to, _, count, kind, on: (to, count) if int(kind) == to_host else None,
        _wait_for_runtime,
    )


def pytest_runtest_logstart(nodeid: str) -> None:
    global _test, _sampled
    _test, _sampled = nodeid.partition("::")[2], 0


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    random.seed(0)
    np.random.seed(0)


def _stand_before(
    module: Any,
    name: str,
    place: Callable[..., tuple[Any, int] | None],
    wait: Callable[[Any], str] | None = None,
) -> None:
    """Note what a function copies: `place` gives where to and how much, if to the host."""
    call = getattr(module, name)

    @functools.wraps(call)
    def called(*arguments: Any) -> Any:
        result = call(*arguments)
        found = place(*arguments)
        if found is not None and int(result[0]) == 0 and os.getpid() == OWNER:
            why = wait(arguments[-1]) if wait else ""
            _write(name, found[0], int(found[1]), why)
        return result

    setattr(module, name, called)


def _wait_for_driver(stream: Any) -> str:
    """Let a queued copy end; why it does not."""
    _, status = driver.cuStreamIsCapturing(stream)
    if int(status):
        return "captured"
    return "" if int(driver.cuStreamSynchronize(stream)[0]) == 0 else "failed"


def _wait_for_runtime(stream: Any) -> str:
    _, status = runtime.cudaStreamIsCapturing(stream)
    if int(status):
        return "captured"
    return "" if int(runtime.cudaStreamSynchronize(stream)[0]) == 0 else "failed"


def _write(name: str, to: Any, count: int, why: str) -> None:
    global _sampled
    row = {"test": _test, "kind": f"{_test}: {name}", "bytes": count}
    if why:
        row["why"] = why
    else:
        held = ctypes.string_at(_address(to), count)
        row["hash"] = hashlib.blake2b(held, digest_size=8).hexdigest()
        if _sampled < SAMPLES:
            row["sample"] = _sample(held).hex()
        _sampled += 1
    with open(LOG, "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def _address(to: Any) -> int:
    """Where a copy went: `cuda.bindings` takes addresses, buffers and what has `getPtr`."""
    if hasattr(to, "getPtr"):
        return int(to.getPtr())
    try:
        return int(to)
    except TypeError:
        return np.frombuffer(to, np.uint8).ctypes.data


def _sample(held: bytes) -> bytes:
    if len(held) <= BLOCK * BLOCKS:
        return held
    last = len(held) // BLOCK - 1
    starts = (last * block // (BLOCKS - 1) * BLOCK for block in range(BLOCKS))
    return b"".join(held[start : start + BLOCK] for start in starts)
