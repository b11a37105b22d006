"""Kernels that fail, and what every call is answered afterwards: a process for each fault."""

from __future__ import annotations

from bindings import check
from cuda.bindings import driver as cuda
from kernels import NEXT
from kernels import begin as begin_context

from wrong_calls.fixtures import Call, halves, place, raw, text

HEAD = b"""
.version 8.0
.target sm_90
.address_size 64
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 1 .b8 words[4] = {110, 111, 33, 0};
.visible .entry k(.param .u64 at)
{
 .reg .b32 %r<4>;
 .reg .b64 %rd<4>;
 .reg .pred %p;
 .shared .align 16 .b8 room[64];
 ld.param.u64 %rd1, [at];
"""
FAULTS = {
    "illegal_address": b" mov.u64 %rd2, 4096;\n st.global.u32 [%rd2], %r1;",
    "illegal_load": b" mov.u64 %rd2, 4096;\n ld.global.u32 %r1, [%rd2];\n st.global.u32 [%rd1], %r1;",
    "beyond_memory": b" add.s64 %rd2, %rd1, 0x4000000000;\n st.global.u32 [%rd2], %r1;",
    "misaligned_address": b" st.global.u32 [%rd1+2], %r1;",
    "misaligned_shared": b" mov.u32 %r2, room;\n st.shared.u32 [%r2+1], %r1;",
    "shared_out_of_range": b" mov.u32 %r2, 0x7fffff0;\n st.shared.u32 [%r2], %r1;",
    "local_out_of_range": b" mov.u32 %r2, 0x7fffff0;\n st.local.u32 [%r2], %r1;",
    "trap": b" trap;",
    "wrong_space": (b" mov.u64 %rd2, 0;\n cvta.shared.u64 %rd3, %rd2;\n st.global.u32 [%rd3], %r1;"),
    "illegal_atomic": b" mov.u64 %rd2, 4096;\n atom.global.add.u32 %r1, [%rd2], 1;",
    "misaligned_atomic": b" atom.global.add.u32 %r1, [%rd1+1], 1;",
    "wrong_space_atomic": (
        b" mov.u64 %rd2, room;\n cvta.shared.u64 %rd3, %rd2;\n atom.global.add.u32 %r1, [%rd3], 1;"
    ),
    "call_of_no_function": (
        b" mov.u64 %rd2, 64;\n { prototype: .callprototype _ (); call %rd2, prototype; }"
    ),
    "assertion": b"""
 mov.u64 %rd2, words;
 cvta.global.u64 %rd2, %rd2;
 {
  .param .b64 a;
  .param .b64 b;
  .param .b32 c;
  .param .b64 d;
  .param .b64 e;
  st.param.b64 [a], %rd2;
  st.param.b64 [b], %rd2;
  st.param.b32 [c], 7;
  st.param.b64 [d], %rd2;
  st.param.b64 [e], 1;
  call __assertfail, (a, b, c, d, e);
 }
""",
}
"""What a kernel does wrong; `at` is memory of 1024 bytes."""
_made: dict[str, object] = {}


def begin(fault: str) -> object:
    """A kernel runs into a fault, and something was made before."""
    context = begin_context()
    memory = check(cuda.cuMemAlloc(1024))
    check(cuda.cuMemsetD8(memory, 0, 1024))
    image = HEAD + FAULTS[fault] + b"\n ret;\n}\n"
    function = check(cuda.cuModuleGetFunction(check(cuda.cuModuleLoadData(image)), b"k"))
    _made.update(memory=memory, function=function, event=check(cuda.cuEventCreate(0)))
    _made["stream"] = check(cuda.cuStreamCreate(1))
    address = int(memory)
    parameter = place(*halves(address))
    places = place(*halves(parameter))
    _made["launch"] = raw("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, 0, places, 0)
    return context


CALLS: dict[str, Call] = {
    "the launch": lambda _: _made["launch"],  # type: ignore[dict-item, return-value]
    "a wait for the context": lambda _: raw("cuCtxSynchronize"),
    "another wait": lambda _: raw("cuCtxSynchronize"),
    "a wait for another stream": lambda _: raw("cuStreamSynchronize", _made["stream"]),
    "a question for another stream": lambda _: raw("cuStreamQuery", _made["stream"]),
    "an allocation": lambda _: raw("cuMemAlloc_v2", place(), 16),
    "an allocation of nothing": lambda _: raw("cuMemAlloc_v2", place(), 0),
    "a copy": lambda _: raw("cuMemcpyDtoH_v2", place(), _made["memory"], 16),
    "a copy of nothing": lambda _: raw("cuMemcpyDtoH_v2", place(), _made["memory"], 0),
    "a set": lambda _: raw("cuMemsetD8_v2", _made["memory"], 0, 16),
    "an event is recorded": lambda _: raw("cuEventRecord", _made["event"], 0),
    "a question for an event": lambda _: raw("cuEventQuery", _made["event"]),
    "an event": lambda _: raw("cuEventCreate", place(), 0),
    "a stream": lambda _: raw("cuStreamCreate", place(), 0),
    "a module": lambda _: raw("cuModuleLoadData", place(), text(NEXT)),
    "another launch": lambda _: raw("cuLaunchKernel", _made["function"], 1, 1, 1, 1, 1, 1, 0, 0, place(), 0),
    "how much memory is free": lambda _: raw("cuMemGetInfo_v2", place(), place()),
    "what a pointer is": lambda _: raw("cuPointerGetAttribute", place(), 2, _made["memory"]),
    "an attribute of the kernel": lambda _: raw("cuFuncGetAttribute", place(), 0, _made["function"]),
    "the current context": lambda _: raw("cuCtxGetCurrent", place()),
    "the device of the context": lambda _: raw("cuCtxGetDevice", place()),
    "a limit": lambda _: raw("cuCtxGetLimit", place(), 0),
    "the number of devices": lambda _: raw("cuDeviceGetCount", place()),
    "a graph": lambda _: raw("cuGraphCreate", place(), 0),
    "an allocation of a stream": lambda _: raw("cuMemAllocAsync", place(), 16, 0),
    "pinned memory": lambda _: raw("cuMemHostAlloc", place(), 16, 0),
    "the event is destroyed": lambda _: raw("cuEventDestroy_v2", _made["event"]),
    "the stream is destroyed": lambda _: raw("cuStreamDestroy_v2", _made["stream"]),
    "the memory is freed": lambda _: raw("cuMemFree_v2", _made["memory"]),
    "a wait after all that": lambda _: raw("cuCtxSynchronize"),
    "a reset of the primary context": lambda _: raw("cuDevicePrimaryCtxReset_v2", 0),
    "an allocation after the reset": lambda _: raw("cuMemAlloc_v2", place(), 16),
}
"""In this order, one after another in one process."""
