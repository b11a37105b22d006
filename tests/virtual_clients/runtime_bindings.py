"""cuda.bindings.runtime: memory, streams, events and errors of the CUDA runtime from Python."""

import os

import numpy as np
from bindings import check
from cuda.bindings import runtime


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
    print("right" if (back == data).all() else "wrong", os.environ.get("PTXKIT_VIRTUAL") is not None)


main()
