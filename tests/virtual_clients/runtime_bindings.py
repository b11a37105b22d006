"""cuda.bindings.runtime: memory, streams, events and errors of the CUDA runtime from Python."""

import os

import numpy as np
from bindings import check
from cuda.bindings import runtime


def volumes() -> None:
    """A block of 4 x 3 x 2 bytes of one device's, set, and copied to another place."""
    extent = runtime.make_cudaExtent(4, 3, 2)
    first, second = (check(runtime.cudaMalloc3D(extent)) for _ in range(2))
    check(runtime.cudaMemset3D(second, 1, extent))
    check(runtime.cudaMemset3D(first, 7, runtime.make_cudaExtent(4, 2, 2)))
    copy = runtime.cudaMemcpy3DPeerParms()
    copy.srcPtr, copy.dstPtr, copy.extent = first, second, runtime.make_cudaExtent(2, 2, 1)
    check(runtime.cudaMemcpy3DPeer(copy))
    back = np.zeros((6, 4), np.uint8)
    kind = runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost
    graph, node = check(runtime.cudaGraphCreate(0)), runtime.cudaGraphNodeParams()
    node.type = runtime.cudaGraphNodeType.cudaGraphNodeTypeMemcpy
    inner = node.memcpy.copyParams
    inner.srcPtr, inner.dstPtr, inner.extent = first, second, copy.extent
    inner.kind = runtime.cudaMemcpyKind.cudaMemcpyDeviceToDevice
    inner.srcPos, inner.dstPos = runtime.make_cudaPos(0, 0, 0), runtime.make_cudaPos(2, 0, 1)
    check(runtime.cudaGraphAddNode(graph, None, None, 0, node))
    check(runtime.cudaGraphLaunch(check(runtime.cudaGraphInstantiate(graph, 0)), 0))
    check(runtime.cudaMemcpy2D(back.ctypes.data, 4, second.ptr, second.pitch, 4, 6, kind))
    assert back.tolist() == [[7, 7, 1, 1]] * 2 + [[1, 1, 1, 1]] + [[1, 1, 7, 7]] * 2 + [[1, 1, 1, 1]]


def conditional() -> None:
    """The body of an IF whose condition is 1 by default, and of one whose is 0."""
    words = check(runtime.cudaMalloc(8))
    check(runtime.cudaMemset(words, 0, 8))
    graph = check(runtime.cudaGraphCreate(0))
    for default in (0, 1):
        handle = check(runtime.cudaGraphConditionalHandleCreate(graph, default, 1))
        asked = runtime.cudaGraphNodeParams()
        asked.type = runtime.cudaGraphNodeType.cudaGraphNodeTypeConditional
        asked.conditional.handle, asked.conditional.size = handle, 1
        asked.conditional.type = runtime.cudaGraphConditionalNodeType.cudaGraphCondTypeIf
        check(runtime.cudaGraphAddNode(graph, None, None, 0, asked))
        fill = runtime.cudaGraphNodeParams()
        fill.type = runtime.cudaGraphNodeType.cudaGraphNodeTypeMemset
        fill.memset.dst, fill.memset.value = words + 4 * default, 5
        fill.memset.elementSize, fill.memset.width, fill.memset.height = 4, 1, 1
        check(runtime.cudaGraphAddNode(asked.conditional.phGraph_out[0], None, None, 0, fill))
    executable = check(runtime.cudaGraphInstantiate(graph, 0))
    check(runtime.cudaGraphLaunch(executable, 0))
    back = np.zeros(2, np.uint32)
    kind = runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost
    check(runtime.cudaMemcpy(back.ctypes.data, words, 8, kind))
    assert back.tolist() == [0, 5]


def main() -> None:
    assert check(runtime.cudaGetDeviceCount()) == 1
    assert check(runtime.cudaGetDeviceProperties(0)).major == 9
    assert runtime.cudaSetDevice(7)[0] == runtime.cudaError_t.cudaErrorInvalidDevice
    assert check(runtime.cudaGetErrorName(runtime.cudaError_t.cudaErrorInvalidDevice))
    data = np.arange(1000, dtype=np.int32)
    back = np.zeros_like(data)
    there = check(runtime.cudaMalloc(data.nbytes))
    stream = check(runtime.cudaStreamCreate())
    host_to_device = runtime.cudaMemcpyKind.cudaMemcpyHostToDevice
    device_to_host = runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost
    check(runtime.cudaMemcpyAsync(there, data.ctypes.data, data.nbytes, host_to_device, stream))
    check(runtime.cudaStreamSynchronize(stream))
    check(runtime.cudaMemcpy(back.ctypes.data, there, data.nbytes, device_to_host))
    check(runtime.cudaFree(there))
    volumes()
    conditional()
    print("right" if (back == data).all() else "wrong", os.environ.get("PTXKIT_VIRTUAL") is not None)


main()
