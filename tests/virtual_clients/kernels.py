"""A kernel for the clients: y[i] = x[i] + 1, of 1024 elements by 4 CTAs, and a first context."""

from __future__ import annotations

import ctypes
from typing import Any

from bindings import check
from cuda.bindings import driver as cuda

SIZE = 1024
NEXT = b"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry next(.param .u64 x, .param .u64 y)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.s32 %r1, %r3, %r4, %r5;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.u32 %r2, [%rd4];
    add.u32 %r2, %r2, 1;
    st.global.u32 [%rd5], %r2;
    ret;
}
"""


def begin() -> Any:
    """The primary context of device 0, current to this thread."""
    check(cuda.cuInit(0))
    context = check(cuda.cuDevicePrimaryCtxRetain(check(cuda.cuDeviceGet(0))))
    check(cuda.cuCtxSetCurrent(context))
    return context


def kernel() -> Any:
    """The kernel `next`."""
    return check(cuda.cuModuleGetFunction(check(cuda.cuModuleLoadData(NEXT)), b"next"))


def launch(function: Any, x: Any, y: Any, stream: Any = 0) -> None:
    """y = x + 1."""
    given = ((int(x), int(y)), (ctypes.c_uint64, ctypes.c_uint64))
    check(cuda.cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, stream, given, 0))
