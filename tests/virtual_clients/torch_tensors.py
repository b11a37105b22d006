"""PyTorch and Triton on a virtual GPU: what `cuda` means, pointers in tensors, memory of Triton's own."""

import ctypes

import pytest
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


def moves() -> None:
    on_gpu = torch.arange(8.0, device="cuda")
    assert on_gpu.is_cuda
    assert on_gpu.device.type == "cpu"
    on_host = on_gpu.cpu()
    on_host += 1
    assert torch.equal(on_gpu + 1, on_host)
    again = on_host.to("cuda:0", torch.float64)
    again *= 2
    assert torch.equal(on_host.double() * 2, again)
    assert on_gpu.to(torch.float32) is on_gpu
    assert torch.empty_like(on_gpu, device=torch.device("cuda", 0)).is_cuda
    layer = torch.nn.Linear(8, 2, device="cuda").cuda().to("cuda")
    layer(on_gpu).sum().backward()
    assert layer.weight.grad.is_cuda
    with torch.device("cuda"):
        assert torch.ones(3).is_cuda
    torch.set_default_device("cuda")
    assert torch.ones(3).device.type == "cpu"
    torch.set_default_device(None)
    torch.manual_seed(3)
    random = torch.rand(3, device="cuda")
    torch.cuda.manual_seed(3)
    assert torch.equal(random, torch.rand(3, device="cuda"))


def alignment() -> None:
    """What is made on `cuda` begins where a GPU's allocator would let it, and is as large as it is."""
    source = torch.arange(100.0)
    moved, weight = source.cuda(), torch.nn.Linear(8, 2, device="cuda").weight
    like = torch.empty_like(source.view(4, 25).T, device="cuda", dtype=torch.uint8)
    for made in (moved, weight, like, source.to("cuda"), torch.empty(3, 5, device="cuda").T):
        assert made.data_ptr() % 512 == 0
    assert torch.equal(moved, source)
    assert moved.untyped_storage().nbytes() == 400
    assert like.stride() == (1, 25)
    assert torch.as_tensor(moved, device="cuda").data_ptr() == moved.data_ptr()


def scaled_products() -> None:
    """nvfp4 and mxfp8, element by element: where factors lie is cuBLASLt's manual's."""
    e2m1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6]
    m, n, k = 130, 16, 96

    def factor(factors: torch.Tensor, row: int, column: int) -> float:
        blocks = -(-(k // count) // 4)
        inside = row % 32 * 16 + row % 128 // 32 * 4 + column % 4
        return float(factors[(row // 128 * blocks + column // 4) * 512 + inside])

    for count, factors_of in ((16, torch.float8_e4m3fn), (32, torch.float8_e8m0fnu)):
        lines = -(-(k // count) // 4)
        powers = [2.0 ** torch.randint(-2, 3, (rows * lines * 512,)) for rows in (2, 1)]
        scale_a, scale_b = (each.to(factors_of).cuda() for each in powers)
        if count == 16:
            a, b = (
                torch.randint(0, 256, (rows, k // 2), dtype=torch.uint8, device="cuda") for rows in (m, n)
            )
            x, y = (
                [[e2m1[byte >> s & 15] for byte in row for s in (0, 4)] for row in each.tolist()]
                for each in (a, b)
            )
            a, b = a.view(torch.float4_e2m1fn_x2), b.view(torch.float4_e2m1fn_x2)
        else:
            a, b = (torch.randint(-8, 9, (r, k), device="cuda").to(torch.float8_e4m3fn) for r in (m, n))
            x, y = a.float().tolist(), b.float().tolist()
        found = torch._scaled_mm(a, b.transpose(0, 1), scale_a, scale_b, bias=None, out_dtype=torch.float32)
        for row, column in ((0, 0), (31, 3), (77, 15), (129, 7)):
            terms = (
                x[row][at]
                * factor(scale_a, row, at // count)
                * y[column][at]
                * factor(scale_b, column, at // count)
                for at in range(k)
            )
            assert float(found[row, column]) == sum(terms)


def devices() -> None:
    assert torch.cuda.is_available()
    assert torch.cuda.device_count() == 2
    assert torch.cuda.get_device_capability() == (9, 0)
    properties = torch.cuda.get_device_properties("cuda:1")
    assert properties.multi_processor_count == 132
    assert properties.warp_size == 32
    with torch.cuda.device(1):
        assert torch.cuda.current_device() == 1
    assert torch.cuda.current_device() == 0
    stream, start, end = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True), torch.cuda.Event()
    with torch.cuda.stream(stream):
        start.record()
        end.record(stream)
    torch.cuda.synchronize()
    assert start.elapsed_time(end) >= 0
    for refused in ("memory_allocated", "CUDAGraph"):
        with pytest.raises(RuntimeError, match=rf"^torch\.cuda\.{refused} is not served"):
            getattr(torch.cuda, refused)()


@triton.jit
def add_one(pointers, count, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    data = tl.load(pointers + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    tl.store(data + at, tl.load(data + at, mask=at < count) + 1, mask=at < count)


def pointers() -> None:
    rows = [torch.full((100,), float(row), device="cuda") for row in range(3)]
    addresses = torch.tensor([row.data_ptr() for row in rows], device="cuda")
    add_one[(3,)](addresses, 100, BLOCK=128)
    assert [row.unique().tolist() for row in rows] == [[1.0], [2.0], [3.0]]


@triton.jit
def transpose(out, x, rows, columns, BLOCK: tl.constexpr):
    tile = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [BLOCK, BLOCK])
    there = tl.make_tensor_descriptor(out, [columns, rows], [rows, 1], [BLOCK, BLOCK])
    row, column = tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK
    there.store([column, row], tile.load([row, column]).T)


def maps_of_the_device() -> None:
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    x = torch.randn(100, 64, device="cuda")
    out = torch.empty(64, 100, device="cuda")
    transpose[(4, 2)](out, x, 100, 64, BLOCK=32)
    assert torch.equal(out, x.T)


@triton.jit
def next_of(out, x, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at, tl.load(x + at) + 1)


@triton.jit
def next_of_tile(out, tile, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at[:, None] * N + at[None, :], tile.load([0, 0]) + 1)


def low_addresses() -> None:
    """Where no device sees them: what lies there is moved, behind a wrapper or in a descriptor, too."""
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    size, private_at_this_place, writable = 1 << 20, 0x100022, 3
    place = libc.mmap(
        ctypes.c_void_p(0x10000000), size, writable, private_at_this_place, -1, ctypes.c_long(0)
    )
    low = torch.frombuffer((ctypes.c_uint8 * size).from_address(place), dtype=torch.uint8)
    x, out = low[:128].view(torch.float32), torch.empty(32)
    x.copy_(torch.arange(32.0))
    next_of[(1,)](out, x, N=32)
    assert torch.equal(out, x + 1)
    bytes_ = torch.empty(32, dtype=torch.int8)
    next_of[(1,)](bytes_, triton.reinterpret(low[:32], tl.int8), N=32)
    assert torch.equal(bytes_, low[:32].view(torch.int8) + 1)
    matrix, tile = low[4096:8192].view(torch.float32).reshape(32, 32), torch.empty(32, 32)
    matrix.copy_(torch.randn(32, 32))
    next_of_tile[(1,)](tile, TensorDescriptor.from_tensor(matrix, [32, 32]), N=32)
    assert torch.equal(tile, matrix + 1)


for test in (moves, alignment, scaled_products, devices, pointers, maps_of_the_device, low_addresses):
    test()
    print(test.__name__, "right", flush=True)
