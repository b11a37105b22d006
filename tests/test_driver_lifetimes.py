"""What launches keep, and what they refuse once it is gone. No kernel here waits for another one, so that a
virtual GPU can run the file too (`tests/test_virtual_exec.py` does)."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from gpu_kernels import DOUBLE, FILL

from ptxkit.diagnostics import PtxkitError
from ptxkit.driver import CudaDevice

pytestmark = pytest.mark.gpu


@pytest.fixture
def device() -> Iterator[CudaDevice]:
    with CudaDevice() as opened:
        yield opened


def refusal(launch: Callable[[], object]) -> str:
    with pytest.raises(PtxkitError) as caught:
        launch()
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "P714"
    return diagnostic.message


def test_a_prepared_launch_keeps_its_stream(device: CudaDevice) -> None:
    stream = device.stream()
    kept = weakref.ref(stream)
    out = device.empty(32, "u32")
    prepared = device.load(FILL).kernel().prepare(1, 32, [out, 7], stream=stream)
    del stream
    gc.collect()
    assert kept() is not None
    prepared()
    assert (out.numpy() == 7).all()
    del prepared
    gc.collect()
    assert kept() is None


def test_a_prepared_launch_into_a_closed_stream_is_refused(device: CudaDevice) -> None:
    stream, out, fill = device.stream(), device.array(np.zeros(32, "u4")), device.load(FILL).kernel()
    prepared, beside = fill.prepare(1, 32, [out, 7], stream=stream), fill.prepare(1, 32, [out, 8])
    stream.close()
    assert refusal(prepared) == "the stream was closed"
    assert refusal(prepared.bind("value", 9)) == "the stream was closed"
    assert not out.numpy().any()
    beside()
    assert (out.numpy() == 8).all()


def test_launches_after_a_module_was_closed_are_refused(device: CudaDevice) -> None:
    module, out = device.load(FILL), device.empty(32, "u32")
    fill = module.kernel()
    prepared = fill.prepare(1, 32, [out, 7])
    module.close()
    message = "`fill` is launched after its module or device was closed"
    assert refusal(prepared) == message
    assert refusal(lambda: fill.launch(1, 32, [out, 7])) == message
    assert refusal(lambda: fill.prepare(1, 32, [out, 7])) == message


def test_the_kernel_launched_last_is_the_one_that_was_called(device: CudaDevice) -> None:
    fill, double = device.load(FILL).kernel(), device.load(DOUBLE).kernel()
    out = device.array(np.zeros(32, "u4"))
    prepared = fill.prepare(1, 32, [out, 7])
    assert device.context.last_kernel is None
    double.prepare(1, 32, [out] * len(double.signature.parameters))
    prepared()
    assert device.context.last_kernel == "fill"
    device.synchronize()


def test_a_graph_keeps_what_its_launches_were_given(device: CudaDevice) -> None:
    """Whatever the caller does with his list, and with a prepared launch, afterwards."""
    fill = device.load(FILL).kernel()
    buffers = [device.empty(32, "u32") for _ in range(4)]
    kept = [weakref.ref(buffer) for buffer in buffers]
    graph = device.capture()
    before = fill.prepare(1, 32, [buffers[0], 1], stream=graph.stream)
    args = [buffers[1], 1]
    with graph:
        fill.launch(1, 32, args, stream=graph.stream)
        args[0] = None
        before()
        before.bind("out", buffers[2])()
        inside = fill.prepare(1, 32, [buffers[3], 1], stream=graph.stream)
        inside()
    before.bind("out", 0)
    inside.bind("out", 0)
    del before, inside, buffers, args
    gc.collect()
    assert [buffer() is not None for buffer in kept] == [True] * 4
    graph.launch()
    device.synchronize()
    graph.close()
    gc.collect()
    assert [buffer() for buffer in kept] == [None] * 4
