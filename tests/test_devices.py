"""One source of tests for both devices: a launch does and refuses the same on a GPU and on the emulator."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from gpu_kernels import AXPY, FILL, GRID_BARRIER, PARAMETERS, SHARED, echo, module, where

from ptxkit.device.protocol import Device
from ptxkit.diagnostics import PtxkitError
from ptxkit.running.devices import open_device
from ptxkit.targets import Limits, limits


@pytest.fixture(params=["emu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest):
    opened = open_device("emu", arch="sm_90a") if request.param == "emu" else open_device("cuda")
    if limits_of(opened).capability < (9, 0):
        opened.close()
        pytest.skip("these tests need compute capability 9.0")
    yield opened
    opened.close()


def limits_of(device: Device) -> Limits:
    return limits("sm_90a") if device.kind == "emu" else device.limits


def refuse(code: str, use) -> str:
    with pytest.raises(PtxkitError) as caught:
        use()
    assert [d.code for d in caught.value.diagnostics] == [code], str(caught.value)
    return str(caught.value)


def test_axpy(device: Device) -> None:
    random = np.random.default_rng(0)
    n = 100_003
    x, y = (random.standard_normal(n, dtype=np.float32) for _ in range(2))
    buffers = device.array(x), device.array(y)
    device.load(AXPY).kernel("axpy").launch(grid=-(-n // 256), block=256, args=[*buffers, 2.0, n])
    np.testing.assert_array_equal(buffers[1].numpy(), 2 * x + y)  # 2 x is exact: fma rounds the same sum


@pytest.mark.parametrize("what", PARAMETERS)
def test_parameters_arrive_where_they_were_packed(device: Device, what: str) -> None:
    declared, values = PARAMETERS[what]
    text, signature = echo(declared)
    kernel = device.load(text).kernel()
    out = device.array(np.full(signature.size, 0xCD, np.uint8))
    kernel.launch(1, 1, [out, *values])
    got, packed = out.numpy(), np.frombuffer(signature.pack([out, *values]), np.uint8)
    for p in signature:
        np.testing.assert_array_equal(got[p.offset : p.offset + p.size], packed[p.offset : p.offset + p.size])


def test_the_most_parameters(device: Device) -> None:
    """32764 bytes; the kernel reads the first and the last word of the last parameter."""
    body = """.visible .entry most(.param .u64 out, .param .align 4 .b8 big[32756])
{
    .reg .b32 %r<3>;
    .reg .b64 %d<2>;
    ld.param.u64 %d0, [out];
    cvta.to.global.u64 %d1, %d0;
    ld.param.u32 %r0, [big];
    ld.param.u32 %r1, [big+32752];
    st.global.v2.u32 [%d1], {%r0, %r1};
    ret;
}
"""
    kernel = device.load(module(body, "8.1")).kernel()
    out = device.empty(2, "u32")
    content = np.arange(32756 // 4, dtype=np.uint32)
    kernel.launch(1, 1, [out, content.tobytes()])
    assert out.numpy().tolist() == [0, 32756 // 4 - 1]


def test_launches_that_are_refused(device: Device) -> None:
    kernel = device.load(FILL).kernel()
    out = device.empty(4096, "u32")
    assert "takes 2 arguments" in refuse("P501", lambda: kernel.launch(1, 32, [out]))
    assert "device.array" in refuse("P502", lambda: kernel.launch(1, 32, [np.zeros(4), 1]))
    refuse("P503", lambda: kernel.launch(1, 32, [out, 1 << 32]))
    refuse("P510", lambda: kernel.launch(0, 32, [out, 1]))
    refuse("P511", lambda: kernel.launch(1, 2048, [out, 1]))
    refuse("P512", lambda: kernel.launch((1, 70000), 32, [out, 1]))
    refuse("P514", lambda: kernel.launch(1, 32, [out, 1], shared=1 << 20))
    kernel.launch(1, 32, [out, 1])
    device.synchronize()


def test_directives_about_blocks(device: Device) -> None:
    required = device.load(FILL.replace("\n{", "\n.reqntid 64\n{", 1)).kernel()
    bounded = device.load(FILL.replace("\n{", "\n.maxntid 64\n{", 1)).kernel()
    out = device.empty(64, "u32")
    required.launch(1, 64, [out, 3])
    bounded.launch(1, 32, [out, 3])
    assert out.numpy().tolist() == [3] * 64
    assert ".reqntid" in refuse("P515", lambda: required.launch(1, 32, [out, 3]))
    refuse("P511", lambda: bounded.launch(1, 65, [out, 3]))


@pytest.mark.parametrize("most", [48, 99, 160, 227])
def test_dynamic_shared_memory_is_allowed_as_asked(device: Device, most: int) -> None:
    kernel = device.load(SHARED).kernel()
    shared = most * 1024 - 1024
    if shared + 1024 > limits_of(device).shared_per_cta:
        pytest.skip(f"a CTA has {limits_of(device).shared_per_cta} bytes on this device")
    out = device.empty(1, "u32")
    kernel.launch(1, 32, [out, shared - 4], shared=shared)
    assert out.numpy().tolist() == [2 * 4711]


def test_too_much_shared_memory(device: Device) -> None:
    kernel = device.load(SHARED).kernel()
    most = limits_of(device).shared_per_cta
    text = refuse("P514", lambda: kernel.launch(1, 32, [0, 0], shared=most))
    assert f"at most {most - 1024} for `touch`" in text
    assert kernel.attributes["shared_bytes"] == 1024


def positions(out) -> np.ndarray:
    return out.numpy().reshape(-1, 8)


@pytest.mark.parametrize(("grid", "cluster"), [((8,), 2), ((4, 4), (2, 2)), ((16,), 8), ((32,), 16)])
def test_clusters(device: Device, grid, cluster) -> None:
    kernel = device.load(where()).kernel()
    out = device.empty(8 * prod(grid), "u32")
    kernel.launch(grid, 32, [out], cluster=cluster)
    got = positions(out)
    size = 1 if cluster is None else prod([cluster] if isinstance(cluster, int) else cluster)
    assert (got[:, 5] == size).all()
    assert np.bincount(got[:, 4]).tolist() == [prod(grid) // size] * size
    assert (got[:, 2] == grid[0]).all()


def test_without_clusters_each_cta_is_one(device: Device) -> None:
    kernel = device.load(where()).kernel()
    out = device.empty(8 * 6, "u32")
    kernel.launch(6, 32, [out])
    assert positions(out)[:, 4:6].tolist() == [[0, 1]] * 6


def test_clusters_by_directive(device: Device) -> None:
    kernel = device.load(where(".reqnctapercluster 2")).kernel()
    out = device.empty(8 * 4, "u32")
    kernel.launch(4, 32, [out])
    assert (positions(out)[:, 5] == 2).all()
    kernel.launch(4, 32, [out], cluster=2)
    refuse("P513", lambda: kernel.launch(4, 32, [out], cluster=4))
    refuse("P513", lambda: kernel.launch(3, 32, [out]))


def test_cooperative_grids(device: Device) -> None:
    """Every CTA waits for all others."""
    kernel = device.load(GRID_BARRIER).kernel()
    ctas = 64
    counter, out = device.array(np.zeros(1, np.uint32)), device.empty(ctas, "u32")
    kernel.launch(ctas, 1, [counter, out], cooperative=True)
    assert (out.numpy() == ctas).all()


def test_cooperative_grids_must_be_resident(device: Device) -> None:
    kernel = device.load(FILL).kernel()
    out = device.empty(1 << 21, "u32")
    refuse("P516", lambda: kernel.launch(2048, 1024, [out, 1], cooperative=True))
