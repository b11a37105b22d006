"""A graph by capture of two streams, one by nodes, an update of each."""

import numpy as np
from bindings import check
from cuda.bindings import driver as cuda
from kernels import SIZE, begin, kernel, launch


def fetched(address: object) -> int:
    result = np.zeros(SIZE, np.uint32)
    check(cuda.cuMemcpyDtoH(result.ctypes.data, address, 4 * SIZE))
    assert (result == result[0]).all()
    return int(result[0])


def main() -> None:
    begin()
    function = kernel()
    x, y, z = (check(cuda.cuMemAlloc(4 * SIZE)) for _ in range(3))
    check(cuda.cuMemsetD32(x, 5, SIZE))
    check(cuda.cuCtxSynchronize())
    first, second = (check(cuda.cuStreamCreate(1)) for _ in range(2))
    event, joined = (check(cuda.cuEventCreate(2)) for _ in range(2))

    check(cuda.cuStreamBeginCapture(first, cuda.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL))
    launch(function, x, y, first)
    check(cuda.cuEventRecord(event, first))
    check(cuda.cuStreamWaitEvent(second, event, 0))
    launch(function, y, z, second)
    check(cuda.cuEventRecord(joined, second))
    check(cuda.cuStreamWaitEvent(first, joined, 0))
    active = cuda.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
    assert check(cuda.cuStreamIsCapturing(second)) == active
    graph = check(cuda.cuStreamEndCapture(first))
    nodes, number = cuda.cuGraphGetNodes(graph, 8)[1:]
    assert number == 2
    assert check(cuda.cuGraphNodeGetType(nodes[0])) == cuda.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL
    executable = check(cuda.cuGraphInstantiate(graph, 0))
    check(cuda.cuGraphLaunch(executable, first))
    check(cuda.cuStreamSynchronize(first))
    assert fetched(z) == 7
    for _ in range(3):  # x = z, three times
        check(cuda.cuMemcpyDtoDAsync(x, z, 4 * SIZE, first))
        check(cuda.cuGraphLaunch(executable, first))
    check(cuda.cuStreamSynchronize(first))
    assert fetched(z) == 13

    whole = check(cuda.cuGraphCreate(0))
    fill = cuda.CUDA_MEMSET_NODE_PARAMS()
    fill.dst, fill.value, fill.elementSize, fill.width, fill.height = x, 40, 4, SIZE, 1
    context = check(cuda.cuCtxGetCurrent())
    filled = check(cuda.cuGraphAddMemsetNode(whole, None, 0, fill, context))
    child = check(cuda.cuGraphAddChildGraphNode(whole, [filled], 1, graph))
    assert [int(n) for n in cuda.cuGraphNodeGetDependencies(child, 1)[1]] == [int(filled)]
    other = check(cuda.cuGraphInstantiate(whole, 0))
    check(cuda.cuGraphLaunch(other, second))
    check(cuda.cuStreamSynchronize(second))
    assert fetched(z) == 42
    fill.value = 50
    check(cuda.cuGraphExecMemsetNodeSetParams(other, filled, fill, context))
    check(cuda.cuGraphLaunch(other, second))
    check(cuda.cuStreamSynchronize(second))
    assert fetched(z) == 52

    for done in (executable, other):
        check(cuda.cuGraphExecDestroy(done))
    for done in (graph, whole):
        check(cuda.cuGraphDestroy(done))
    assert cuda.cuGraphLaunch(executable, first)[0] != 0, "an executable graph that was destroyed"
    print("right")


if __name__ == "__main__":
    main()
