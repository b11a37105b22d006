"""A cooperative grid that synchronises by CUDA's device runtime: each CTA reads what the next one wrote."""

import ctypes

import numpy as np
from bindings import check
from cuda.bindings import driver as cuda
from kernels import begin

CTAS = 6
TURN = b"""
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.visible .entry turn(.param .u64 x, .param .u64 y)
{
    .reg .pred %last;
    .reg .b32 %r<5>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mov.u32 %r1, %ctaid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd4, %rd1, %rd3;
    add.u32 %r2, %r1, 1;
    st.global.u32 [%rd4], %r2;
    {
        .param .b32 scope;
        .param .b64 handle;
        st.param.b32 [scope], 1;
        call.uni (handle), cudaCGGetIntrinsicHandle, (scope);
        ld.param.b64 %rd5, [handle];
    }
    {
        .param .b64 handle;
        .param .b32 flags;
        .param .b32 result;
        st.param.b64 [handle], %rd5;
        st.param.b32 [flags], 0;
        call.uni (result), cudaCGSynchronize, (handle, flags);
    }
    mov.u32 %r3, %nctaid.x;
    setp.eq.u32 %last, %r2, %r3;
    selp.b32 %r2, 0, %r2, %last;
    mul.wide.u32 %rd6, %r2, 4;
    add.u64 %rd6, %rd1, %rd6;
    ld.global.u32 %r4, [%rd6];
    add.u64 %rd7, %rd2, %rd3;
    st.global.u32 [%rd7], %r4;
    ret;
}
"""

begin()
turn = check(cuda.cuModuleGetFunction(check(cuda.cuModuleLoadData(TURN)), b"turn"))
x, y = (int(check(cuda.cuMemAlloc(4 * CTAS))) for _ in range(2))
given = ((x, y), (ctypes.c_uint64, ctypes.c_uint64))
check(cuda.cuLaunchCooperativeKernel(turn, CTAS, 1, 1, 1, 1, 1, 0, 0, given))
result = np.empty(CTAS, np.uint32)
check(cuda.cuMemcpyDtoH(result.ctypes.data, y, result.nbytes))
print(*result)
