"""Graphs that allocate, free, loop and choose: by nodes and by capture of a stream."""

import numpy as np
from bindings import check
from cuda.bindings import driver as cuda
from kernels import begin

BYTES = 256
COUNT_DOWN = b"""
.version 9.0
.target sm_90
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry count_down(.param .u64 number, .param .u64 rounds, .param .u64 handle)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [number];
    ld.param.u64 %rd2, [rounds];
    ld.param.u64 %rd3, [handle];
    ld.global.u32 %r1, [%rd1];
    add.u32 %r1, %r1, -1;
    st.global.u32 [%rd1], %r1;
    ld.global.u32 %r2, [%rd2];
    add.u32 %r2, %r2, 1;
    st.global.u32 [%rd2], %r2;
    call cudaGraphSetConditional, (%rd3, %r1);
    ret;
}
"""
INVALID = cuda.CUresult.CUDA_ERROR_INVALID_VALUE


def fetched(address: int, count: int = 1) -> list[int]:
    result = np.zeros(count, np.uint32)
    check(cuda.cuMemcpyDtoH(result.ctypes.data, address, 4 * count))
    return result.tolist()


def allocation() -> cuda.CUDA_MEM_ALLOC_NODE_PARAMS:
    asked = cuda.CUDA_MEM_ALLOC_NODE_PARAMS()
    asked.poolProps.allocType = cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    asked.poolProps.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    asked.bytesize = BYTES
    return asked


def set_of(address: int, value: int) -> cuda.CUDA_MEMSET_NODE_PARAMS:
    fill = cuda.CUDA_MEMSET_NODE_PARAMS()
    fill.dst, fill.value, fill.elementSize, fill.width, fill.height = address, value, 4, BYTES // 4, 1
    return fill


def memory(stream: object) -> None:
    """What a graph leaves must be freed before its next launch; what it frees itself need not."""
    context = check(cuda.cuCtxGetCurrent())
    graph, asked = check(cuda.cuGraphCreate(0)), allocation()
    node = check(cuda.cuGraphAddMemAllocNode(graph, None, 0, asked))
    address = int(asked.dptr)
    assert int(check(cuda.cuGraphMemAllocNodeGetParams(node)).dptr) == address
    check(cuda.cuGraphAddMemsetNode(graph, [node], 1, set_of(address, 7), context))
    executable = check(cuda.cuGraphInstantiate(graph, 0))
    check(cuda.cuGraphLaunch(executable, stream))
    assert cuda.cuGraphLaunch(executable, stream)[0] == INVALID
    check(cuda.cuStreamSynchronize(stream))
    assert fetched(address, 2) == [7, 7]
    check(cuda.cuMemFreeAsync(address, stream))
    assert cuda.cuMemFreeAsync(address, stream)[0] == INVALID
    check(cuda.cuGraphLaunch(executable, stream))
    check(cuda.cuMemFree(address))
    check(cuda.cuGraphExecDestroy(executable))
    check(cuda.cuGraphDestroy(graph))
    assert cuda.cuMemGetAddressRange(address)[0] != cuda.CUresult.CUDA_SUCCESS

    result = check(cuda.cuMemAlloc(BYTES))
    check(cuda.cuStreamBeginCapture(stream, cuda.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL))
    inner = check(cuda.cuMemAllocAsync(BYTES, stream))
    check(cuda.cuMemsetD32Async(inner, 9, BYTES // 4, stream))
    check(cuda.cuMemcpyDtoDAsync(result, inner, BYTES, stream))
    check(cuda.cuMemFreeAsync(inner, stream))
    captured = check(cuda.cuStreamEndCapture(stream))
    nodes, number = cuda.cuGraphGetNodes(captured, 9)[1:]
    kinds = [check(cuda.cuGraphNodeGetType(one)) for one in nodes[:number]]
    assert [int(kind) for kind in kinds] == [10, 2, 1, 11]
    executable = check(cuda.cuGraphInstantiate(captured, 0))
    for _ in range(2):
        check(cuda.cuGraphLaunch(executable, stream))
    check(cuda.cuStreamSynchronize(stream))
    assert fetched(result, 2) == [9, 9]


def body_of(graph: object, kind: int, handle: object, before: list[object]) -> object:
    """The body of a new conditional node."""
    asked = cuda.CUgraphNodeParams()
    asked.type = cuda.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL
    asked.conditional.handle = handle
    asked.conditional.type = cuda.CUgraphConditionalNodeType(kind)
    asked.conditional.size = 1
    check(cuda.cuGraphAddNode(graph, before, None, len(before), asked))
    return asked.conditional.phGraph_out[0]


def loops(stream: object) -> None:
    """A body that runs until its kernel says 0: three times, at each launch."""
    context = check(cuda.cuCtxGetCurrent())
    module = check(cuda.cuModuleLoadData(COUNT_DOWN))
    function = check(cuda.cuModuleGetFunction(module, b"count_down"))
    number, rounds = (check(cuda.cuMemAlloc(BYTES)) for _ in range(2))
    check(cuda.cuMemsetD32(rounds, 0, 1))
    check(cuda.cuCtxSynchronize())  # the stream does not wait for the default one
    graph, other = (check(cuda.cuGraphCreate(0)) for _ in range(2))
    handle = check(cuda.cuGraphConditionalHandleCreate(graph, context, 1, 1))
    start = check(cuda.cuGraphAddMemsetNode(graph, None, 0, set_of(number, 3), context))
    body = body_of(graph, 1, handle, [start])
    asked = cuda.CUgraphNodeParams()
    asked.type = cuda.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL
    asked.conditional.handle, asked.conditional.size = handle, 1
    assert cuda.cuGraphAddNode(other, None, None, 0, asked)[0] == INVALID
    values = np.array([int(number), int(rounds), int(handle)], np.uint64)
    places = np.array([values.ctypes.data + 8 * at for at in range(3)], np.uint64)
    launch = cuda.CUDA_KERNEL_NODE_PARAMS()
    launch.func, launch.kernelParams = function, places.ctypes.data
    launch.gridDimX = launch.gridDimY = launch.gridDimZ = 1
    launch.blockDimX = launch.blockDimY = launch.blockDimZ = 1
    check(cuda.cuGraphAddKernelNode(body, None, 0, launch))
    executable = check(cuda.cuGraphInstantiate(graph, 0))
    for _ in range(2):
        check(cuda.cuGraphLaunch(executable, stream))
    check(cuda.cuStreamSynchronize(stream))
    assert (fetched(number), fetched(rounds)) == ([0], [6])


def main() -> None:
    begin()
    stream = check(cuda.cuStreamCreate(1))
    memory(stream)
    loops(stream)
    print("right")


main()
