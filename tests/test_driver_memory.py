"""Device memory on a GPU."""

from __future__ import annotations

import gc

import ml_dtypes
import numpy as np
import pytest
from gpu_kernels import AXPY, FILL, SPIN

from ptxkit.diagnostics import PtxkitError
from ptxkit.driver import CudaDevice

pytestmark = pytest.mark.gpu

MIB = 1 << 20


@pytest.fixture(scope="module")
def device():
    with CudaDevice() as opened:
        yield opened


def code(caught) -> str:
    return caught.value.diagnostics[0].code


ARRAYS = {
    "f32": np.linspace(-1, 1, 1000, dtype=np.float32).reshape(10, 100),
    "bf16": np.arange(64).astype(ml_dtypes.bfloat16),
    "e4m3": np.arange(32).astype(ml_dtypes.float8_e4m3fn),
    "complex": np.array([1 + 2j, 3 - 4j]),
    "bool": np.array([True, False]),
    "big-endian": np.arange(10, dtype=">i4"),
    "strided": np.arange(100).reshape(10, 10)[::2, ::3],
    "scalar": np.array(2.5),
    "empty": np.zeros((0, 4), np.float32),
    "structure": np.zeros(3, [("x", "<i4"), ("y", "<f8")]),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_come_back_as_they_went(device: CudaDevice, name: str) -> None:
    array = ARRAYS[name]
    buffer = device.array(array)
    back = buffer.numpy()
    assert (back.shape, buffer.shape, buffer.nbytes) == (array.shape, array.shape, array.nbytes)
    native = array.astype(array.dtype.newbyteorder("=")) if array.dtype.names is None else array
    assert back.tobytes() == native.tobytes()


def test_sequences_and_device_arrays_are_copied(device: CudaDevice) -> None:
    first = device.array([[1, 2], [3, 4]])
    second = device.array(first)
    assert second.address != first.address
    first.write(np.zeros((2, 2), np.int64))
    np.testing.assert_array_equal(second.numpy(), [[1, 2], [3, 4]])


def test_empty_memory_has_shape_and_type(device: CudaDevice) -> None:
    buffer = device.empty((3, 5), "bf16")
    assert (buffer.shape, buffer.dtype.name, buffer.nbytes) == ((3, 5), "bfloat16", 30)
    assert buffer.address % 256 == 0


def test_write_takes_the_same_number_of_bytes(device: CudaDevice) -> None:
    buffer = device.empty(4, "f32")
    buffer.write(np.arange(8, dtype=np.uint16))
    assert buffer.numpy().tobytes() == np.arange(8, dtype=np.uint16).tobytes()
    with pytest.raises(PtxkitError) as caught:
        buffer.write(np.zeros(3, np.float32))
    assert code(caught) == "P505"


def test_write_takes_device_arrays(device: CudaDevice) -> None:
    there, here = device.array(np.arange(8, dtype=np.uint32)), device.array(np.zeros((2, 4), np.uint32))
    here.write(there)
    np.testing.assert_array_equal(here.numpy(), np.arange(8, dtype=np.uint32).reshape(2, 4))
    with pytest.raises(PtxkitError) as caught:
        here.write(device.empty(7, "u32"))
    assert code(caught) == "P505"


def test_a_freed_buffer_says_so(device: CudaDevice) -> None:
    buffer = device.empty(4, "f32")
    buffer.free()
    buffer.free()
    for use in (lambda: buffer.address, buffer.numpy, lambda: buffer.write(np.zeros(4, np.float32))):
        with pytest.raises(PtxkitError) as caught:
            use()
        assert code(caught) == "P508"
    kernel = device.load(FILL).kernel()
    with pytest.raises(PtxkitError) as caught:
        kernel.launch(1, 4, [buffer, 1])
    assert code(caught) == "P508"


def test_out_of_memory_says_what_was_asked_and_what_is_free(device: CudaDevice) -> None:
    free, total = device.memory()
    with pytest.raises(PtxkitError) as caught:
        device.empty(2 * total, "u8")
    assert code(caught) == "P705"
    message = caught.value.diagnostics[0].message
    assert str(2 * total) in message
    assert str(total) in message
    assert free <= total
    assert device.array([1]).numpy() == [1]


def test_dropped_buffers_free_themselves(device: CudaDevice) -> None:
    before, _ = device.memory()
    kept = [device.empty(256 * MIB, "u8") for _ in range(4)]
    during, _ = device.memory()
    assert before - during >= 1024 * MIB
    del kept
    gc.collect()
    after, _ = device.memory()
    assert before - after < 256 * MIB


def test_a_buffer_dropped_while_a_kernel_uses_it(device: CudaDevice) -> None:
    """The memory goes back only once the kernel is through with it."""
    kernel = device.load(AXPY).kernel()
    n = 1 << 22
    y = device.array(np.ones(n, np.float32))
    for _ in range(20):
        kernel.launch(n // 256, 256, [device.array(np.ones(n, np.float32)), y, 1.0, n])
    np.testing.assert_array_equal(y.numpy(), np.full(n, 21, np.float32))


def test_closing_gives_everything_back() -> None:
    with CudaDevice() as outer:
        before, _ = outer.memory()
        device = CudaDevice()
        buffer = device.empty(512 * MIB, "u8")
        kernel = device.load(FILL).kernel()
        prepared = kernel.prepare(1, 4, [buffer, 1])
        stream, event = device.stream(), device.event()
        device.close()
        device.close()
        assert before - outer.memory()[0] < 256 * MIB
        uses = [
            lambda: device.empty(4, "u8"),
            lambda: kernel.launch(1, 4, [0, 1]),
            prepared,
            lambda: device.load(FILL),
            device.synchronize,
            stream.synchronize,
            event.record,
        ]
        for use in uses:
            with pytest.raises(PtxkitError) as caught:
                use()
            assert code(caught) == "P714"


def test_a_closed_device_does_not_disturb_another() -> None:
    first, second = CudaDevice(), CudaDevice()
    buffer = second.array([1, 2, 3])
    first.close()
    np.testing.assert_array_equal(buffer.numpy(), [1, 2, 3])
    second.close()


def test_the_cuda_array_interface(device: CudaDevice) -> None:
    buffer = device.array(np.arange(6, dtype=np.int16).reshape(2, 3))
    interface = buffer.__cuda_array_interface__
    assert interface["data"] == (buffer.address, False)
    assert (interface["shape"], interface["typestr"]) == ((2, 3), "<i2")


class Foreign:
    """A device array of somebody else's, by its interface alone."""

    def __init__(self, interface: dict) -> None:
        self.__cuda_array_interface__ = interface


def test_foreign_arrays_go_in_without_a_copy(device: CudaDevice) -> None:
    buffer = device.array(np.zeros(8, np.uint32))
    kernel = device.load(FILL).kernel()
    kernel.launch(1, 8, [Foreign(buffer.__cuda_array_interface__), 7])
    np.testing.assert_array_equal(buffer.numpy(), np.full(8, 7))
    np.testing.assert_array_equal(
        device.array(Foreign(buffer.__cuda_array_interface__)).numpy(), np.full(8, 7)
    )
    gaps = buffer.__cuda_array_interface__ | {"shape": (4,), "strides": (8,)}
    with pytest.raises(PtxkitError) as caught:
        device.array(Foreign(gaps))
    assert code(caught) == "P517"


def test_dlpack_both_ways(device: CudaDevice) -> None:
    class Producer:
        """Passes our own capsule on, without the other interfaces."""

        def __init__(self, buffer) -> None:
            self.buffer = buffer

        def __dlpack__(self, **options):
            return self.buffer.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.buffer.__dlpack_device__()

    buffer = device.array(np.arange(6, dtype=np.float32).reshape(2, 3))
    copied = device.array(Producer(buffer))
    np.testing.assert_array_equal(copied.numpy(), buffer.numpy())
    with pytest.raises(BufferError):
        buffer.__dlpack__(copy=True)


def test_torch_tensors(device: CudaDevice) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("torch has no CUDA here")
    tensor = torch.zeros(8, dtype=torch.int32, device="cuda")
    device.load(FILL).kernel().launch(1, 8, [tensor, 5])
    device.synchronize()
    assert tensor.cpu().tolist() == [5] * 8
    buffer = device.array(np.arange(4, dtype=np.float32))
    assert torch.from_dlpack(buffer).cpu().tolist() == [0, 1, 2, 3]
    assert torch.as_tensor(buffer, device="cuda").data_ptr() == buffer.address
    stream = torch.cuda.Stream()
    if hasattr(stream, "__cuda_stream__"):
        device.load(FILL).kernel().launch(1, 8, [tensor, 6], stream=stream)
        stream.synchronize()
        assert tensor.cpu().tolist() == [6] * 8


def test_cupy_arrays(device: CudaDevice) -> None:
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    array = cupy.zeros(8, dtype=cupy.int32)
    device.load(FILL).kernel().launch(1, 8, [array, 5])
    device.synchronize()
    assert cupy.asnumpy(array).tolist() == [5] * 8
    buffer = device.array(np.arange(4, dtype=np.float32))
    assert cupy.asarray(buffer).data.ptr == buffer.address
    assert cupy.asnumpy(cupy.from_dlpack(buffer)).tolist() == [0, 1, 2, 3]


def test_numba_arrays(device: CudaDevice) -> None:
    cuda = pytest.importorskip("numba.cuda", reason="numba-cuda is not installed")
    array = cuda.to_device(np.zeros(8, np.int32))
    device.load(FILL).kernel().launch(1, 8, [array, 5])
    device.synchronize()
    assert array.copy_to_host().tolist() == [5] * 8
    buffer = device.array(np.arange(4, dtype=np.float32))
    assert cuda.as_cuda_array(buffer).copy_to_host().tolist() == [0, 1, 2, 3]


@pytest.mark.gpu(2)
def test_buffers_of_another_gpu_are_refused() -> None:
    with CudaDevice(0) as first, CudaDevice(1) as second:
        there = second.array(np.arange(4, dtype=np.uint32))
        with pytest.raises(PtxkitError) as caught:
            first.load(FILL).kernel().launch(1, 4, [there, 1])
        assert code(caught) == "P509"
        second.load(FILL).kernel().launch(1, 4, [there, 9])
        np.testing.assert_array_equal(first.array(there).numpy(), [9] * 4)


@pytest.mark.gpu(2)
def test_buffers_are_copied_between_gpus() -> None:
    with CudaDevice(0) as first, CudaDevice(1) as second:
        content = np.random.default_rng(0).integers(0, 1 << 32, 1 << 22, np.uint32)
        there = second.array(content)
        here = first.array(there)
        second.load(FILL).kernel().launch(1 << 12, 1 << 10, [there, 9])
        np.testing.assert_array_equal(here.numpy(), content)
        here.write(there)
        assert (here.numpy() == 9).all()
        there.write(first.array(content))
        np.testing.assert_array_equal(there.numpy(), content)


@pytest.mark.gpu(2)
def test_two_gpus_are_driven_at_once() -> None:
    """A kernel that waits on one GPU does not keep the other one's from running."""
    with CudaDevice(0) as first, CudaDevice(1) as second:
        flag, out = first.array(np.zeros(1, np.uint32)), second.array(np.zeros(32, np.uint32))
        waiting, opening = (first.stream(non_blocking=True) for _ in range(2))
        spin, release, fill = (device.load(text).kernel() for device, text in
                               ((first, SPIN), (first, FILL), (second, FILL)))  # fmt: skip
        spin.launch(1, 1, [flag], stream=waiting)
        fill.launch(1, 32, [out, 5])
        second.synchronize()
        release.launch(1, 1, [flag, 1], stream=opening)
        first.synchronize()
        assert (out.numpy() == 5).all()
