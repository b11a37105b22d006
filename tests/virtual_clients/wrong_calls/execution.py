"""What is asked and set of kernels, and the host's functions in streams."""

from __future__ import annotations

from kernels import begin

from wrong_calls.fixtures import Call, place, raw
from wrong_calls.launches import kernel

__all__ = ["CALLS", "begin"]

DYNAMIC, CARVEOUT, REQUIRED, WIDTH, HEIGHT, DEPTH, NON_PORTABLE, POLICY = range(8, 16)


def _set(name: bytes, attribute: int, value: int) -> tuple[int]:
    return raw("cuFuncSetAttribute", kernel(name), attribute, value)


CALLS: dict[str, Call] = {
    "an attribute that there is not": lambda f: raw("cuFuncGetAttribute", place(), 77, f.function),
    "a negative attribute": lambda f: raw("cuFuncGetAttribute", place(), -1, f.function),
    "the attribute behind the last": lambda f: raw("cuFuncGetAttribute", place(), 16, f.function),
    "an attribute of no kernel": lambda _: raw("cuFuncGetAttribute", place(), 0, 0),
    "an attribute of a gone kernel": lambda f: raw("cuFuncGetAttribute", place(), 0, f.gone_function),
    "an attribute, nowhere": lambda f: raw("cuFuncGetAttribute", 0, 0, f.function),
    "the most threads are set": lambda _: _set(b"plain", 0, 64),
    "the static shared memory is set": lambda _: _set(b"plain", 1, 64),
    "the registers are set": lambda _: _set(b"plain", 4, 64),
    "an attribute is set that there is not": lambda _: _set(b"plain", 77, 1),
    "a negative attribute is set": lambda _: _set(b"plain", -1, 1),
    "an attribute of no kernel is set": lambda _: raw("cuFuncSetAttribute", 0, DYNAMIC, 64),
    "too much shared memory": lambda _: _set(b"plain", DYNAMIC, 1 << 20),
    "one byte of shared memory too much": lambda _: _set(b"plain", DYNAMIC, 227 * 1024 + 1),
    "less than no shared memory": lambda _: _set(b"plain", DYNAMIC, -1),
    "a carveout of 101 percent": lambda _: _set(b"plain", CARVEOUT, 101),
    "a carveout of -2 percent": lambda _: _set(b"plain", CARVEOUT, -2),
    "that a cluster must be set": lambda _: _set(b"plain", REQUIRED, 1),
    "a cluster of -1": lambda _: _set(b"plain", WIDTH, -1),
    "a cluster of 1000": lambda _: _set(b"plain", WIDTH, 1000),
    "a cluster of a kernel that has one": lambda _: _set(b"clustered", WIDTH, 4),
    "clusters that are not portable: 77": lambda _: _set(b"plain", NON_PORTABLE, 77),
    "a policy of clusters that there is not": lambda _: _set(b"plain", POLICY, 77),
    "a preference of the cache that there is not": lambda f: raw("cuFuncSetCacheConfig", f.function, 77),
    "a preference of the cache of no kernel": lambda _: raw("cuFuncSetCacheConfig", 0, 1),
    "banks of shared memory that there are not": lambda f: raw("cuFuncSetSharedMemConfig", f.function, 77),
    "a parameter that there is not": lambda f: raw("cuFuncGetParamInfo", f.function, 2, place(), place()),
    "a parameter far beyond the last": lambda f: raw(
        "cuFuncGetParamInfo", f.function, 1 << 40, place(), place()
    ),
    "a parameter of no kernel": lambda _: raw("cuFuncGetParamInfo", 0, 0, place(), place()),
    "a parameter, nowhere": lambda f: raw("cuFuncGetParamInfo", f.function, 0, 0, 0),
    "a parameter of a kernel without": lambda _: raw(
        "cuFuncGetParamInfo", kernel(b"without"), 0, place(), place()
    ),
    "a host's function that is none": lambda _: raw("cuLaunchHostFunc", 0, 0, 0),
    "a host's function that is none, in a destroyed stream": lambda f: raw(
        "cuLaunchHostFunc", f.destroyed_stream, 0, 0
    ),
    "a callback that is none": lambda _: raw("cuStreamAddCallback", 0, 0, 0, 0),
    "the old launch without a shape": lambda f: raw("cuLaunch", f.function),
    "an old shape of no threads": lambda f: raw("cuFuncSetBlockShape", f.function, 0, 1, 1),
    "an old shape of too many threads": lambda f: raw("cuFuncSetBlockShape", f.function, 4096, 1, 1),
}
