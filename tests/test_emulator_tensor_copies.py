"""Tensor copies on the emulator: random maps in every order; on a GPU the same ones, byte for byte.

PTXKIT_REQUIRE_GPU=1 pytest -m gpu tests/test_emulator_tensor_copies.py
"""

from __future__ import annotations

import numpy as np
import pytest
import tensor_copy_kernels as kernels
from both_devices import Both, device, gpu

from ptxkit.emulator import Emulator, EmulatorFault
from ptxkit.encodings.tensor_maps import TensorMap

__all__ = ["device", "gpu"]

ORDERS = ("lazy", "eager", "random")
HEAD = ".version 8.8\n.target sm_{target}\n.address_size 64\n"


@pytest.mark.parametrize("seed", range(4))
def test_random_copies(seed: int, device: Emulator | Both) -> None:
    """25 loads, stores and reductions a seed, most of them across an edge of the tensor."""
    sides = [device.emulator, device.gpu] if isinstance(device, Both) else [device]
    benches = [kernels.Bench(side) for side in sides]
    if not isinstance(device, Both):
        benches = [kernels.Bench(Emulator(order=ORDERS[seed % 3], seed=seed))]
    for case in kernels.cases(100 + seed, 25):
        for bench in benches:
            made, done, base = bench.run(case)
            assert done, case
            assert not kernels.different(case, made, kernels.expected(case, base)), case
            assert bench.device.findings == []


@pytest.mark.parametrize("off", [-16, 16])
def test_a_wrong_count_of_bytes_is_a_deadlock(off: int) -> None:
    fields = {"dtype": "f32", "address": 0, "shape": [8, 32], "strides": [128], "box": [4, 8]}
    case = kernels.Case(fields, "tile", "load", (0, 6))
    with pytest.raises(EmulatorFault) as caught:
        kernels.Bench(Emulator()).run(case, 128 + off)
    assert caught.value.diagnostics[0].code == "P677"


GATHER = """
.shared .align 1024 .b8 box[512];
.shared .align 8 .b64 bar;
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<6>;
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, bar;
    mov.u32 %r2, box;
    mov.b64 %rd0, map;
    cvta.param.u64 %rd0, %rd0;
    ld.param.u64 %rd1, [out];
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra READY;
    mbarrier.init.shared::cta.b64 [%r1], 1;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 512;
    mov.u32 %r3, 16;
    mov.u32 %r4, 7;
    mov.u32 %r5, 2;
    mov.u32 %r6, 40;
    mov.u32 %r7, 0;
    cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes
        [%r2], [%rd0, {%r3, %r4, %r5, %r6, %r7}], [%r1];
READY:
    bar.warp.sync 0xffffffff;
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;
    @!%p1 bra WAIT;
    @%p0 bra END;
    cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group
        [%rd0, {%r7, %r6, %r5, %r7, %r4}], [%r2];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
END:
    ret;
}
"""


@pytest.mark.parametrize("order", ORDERS)
def test_four_rows_are_gathered_and_scattered(order: str) -> None:
    """Rows 7, 2, 40 (beyond) and 0 from column 16 on go to rows 40 (beyond), 2, 0 and 7 from column 0 on."""
    emulator = Emulator(order=order)
    data = np.arange(10 * 64, dtype=np.uint32).reshape(10, 64)
    held = emulator.array(data)
    made = TensorMap(address=held.address, dtype="u32", shape=[10, 64], box=[1, 32], swizzle="128B")
    out = emulator.empty(1, "u32")
    emulator.load(HEAD.format(target="100a") + GATHER).kernel().launch(grid=1, block=32, args=[made, out])
    emulator.synchronize()
    expected = data.copy()
    expected[2, :32], expected[0, :32], expected[7, :32] = data[2, 16:48], 0, data[0, 16:48]
    assert np.array_equal(held.numpy(), expected)
    assert emulator.findings == []


MULTICAST = """
.shared .align 128 .b8 box[256];
.shared .align 8 .b64 bar;
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 out)
.reqnctapercluster 4, 1, 1
{
    .reg .pred %p<3>;
    .reg .b16 %h<2>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<6>;
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, bar;
    mov.u32 %r2, box;
    mov.u32 %r3, %cluster_ctarank;
    mov.b64 %rd0, map;
    cvta.param.u64 %rd0, %rd0;
    ld.param.u64 %rd1, [out];
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra INIT;
    mbarrier.init.shared::cta.b64 [%r1], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 256;
INIT:
    barrier.cluster.arrive;
    barrier.cluster.wait;
    setp.gt.u32 %p2, %r3, 1;
    or.pred %p2, %p2, %p0;
    @%p2 bra WAIT;
    // Rank 0 gives columns 0 to 31 to ranks 0 and 2, rank 1 columns 32 to 63 to ranks 1 and 3.
    mov.u16 %h0, 5;
    cvt.u16.u32 %h1, %r3;
    shl.b16 %h0, %h0, %r3;
    shl.b32 %r4, %r3, 5;
    mov.u32 %r5, 1;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster
        [%r2], [%rd0, {%r4, %r5}], [%r1], %h0;
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;
    @!%p1 bra WAIT;
    shl.b32 %r6, %r0, 3;
    add.u32 %r2, %r2, %r6;
    ld.shared.v2.b32 {%r7, %r8}, [%r2];
    mad.lo.u32 %r6, %r3, 256, %r6;
    cvt.u64.u32 %rd2, %r6;
    add.u64 %rd1, %rd1, %rd2;
    st.global.v2.b32 [%rd1], {%r7, %r8};
    barrier.cluster.arrive;
    barrier.cluster.wait;
    ret;
}
"""


WIDE = (
    MULTICAST.replace("multicast::cluster\n", "multicast::cluster::32b\n")
    .replace("[%r1], %h0;", "[%r1], %r9;")
    .replace("shl.b16 %h0, %h0, %r3;", "shl.b16 %h0, %h0, %r3; cvt.u32.u16 %r9, %h0;")
)
"""The same with a mask of 32 bits, which sm_107 takes."""


@pytest.mark.parametrize(
    "text",
    [HEAD.format(target="90a") + MULTICAST, HEAD.replace("8.8", "9.4").format(target="107f") + WIDE],
    ids=["16b", "32b"],
)
@pytest.mark.parametrize("order", ORDERS)
def test_a_box_goes_to_several_ctas(order: str, text: str) -> None:
    emulator = Emulator(order=order)
    data = np.arange(8 * 64, dtype=np.uint32).reshape(8, 64)
    held = emulator.array(data)
    made = TensorMap(address=held.address, dtype="u32", shape=[8, 64], box=[2, 32])
    out = emulator.empty((4, 2, 32), "u32")
    emulator.load(text).kernel().launch(grid=4, block=32, args=[made, out])
    emulator.synchronize()
    left, right = data[1:3, :32], data[1:3, 32:]
    assert np.array_equal(out.numpy(), np.stack([left, right, left, right]))
    assert emulator.findings == []


PAIRED = """
.shared .align 128 .b8 box[256];
.shared .align 8 .b64 bar;
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 out)
.reqnctapercluster 2, 1, 1
{
    .reg .pred %p<2>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<4>;
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, bar;
    mov.u32 %r2, box;
    mov.u32 %r3, %cluster_ctarank;
    mov.b64 %rd0, map;
    cvta.param.u64 %rd0, %rd0;
    ld.param.u64 %rd1, [out];
    mapa.shared::cluster.u32 %r9, %r1, 0;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra INIT;
    mbarrier.init.shared::cta.b64 [%r1], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 512;
INIT:
    barrier.cluster.arrive;
    barrier.cluster.wait;
    @%p0 bra WAIT;
    // Each takes a box into its own shared memory, and tells the mbarrier of rank 0.
    shl.b32 %r4, %r3, 5;
    cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes.cta_group::2
        [%r2], [%rd0, {%r4, 1}], [%r9];
WAIT:
    setp.ne.u32 %p1, %r3, 0;
    @%p1 bra TOLD;
WAITED:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;
    @!%p1 bra WAITED;
TOLD:
    barrier.cluster.arrive;
    barrier.cluster.wait;
    shl.b32 %r6, %r0, 3;
    add.u32 %r2, %r2, %r6;
    ld.shared.v2.b32 {%r7, %r8}, [%r2];
    mad.lo.u32 %r6, %r3, 256, %r6;
    cvt.u64.u32 %rd2, %r6;
    add.u64 %rd1, %rd1, %rd2;
    st.global.v2.b32 [%rd1], {%r7, %r8};
    ret;
}
"""


@pytest.mark.parametrize("order", ORDERS)
def test_of_a_pair_the_mbarrier_may_be_the_peers(order: str) -> None:
    emulator = Emulator(order=order)
    data = np.arange(8 * 64, dtype=np.uint32).reshape(8, 64)
    held = emulator.array(data)
    made = TensorMap(address=held.address, dtype="u32", shape=[8, 64], box=[2, 32])
    out = emulator.empty((2, 2, 32), "u32")
    text = HEAD.format(target="100a") + PAIRED
    emulator.load(text).kernel().launch(grid=2, block=32, args=[made, out])
    emulator.synchronize()
    assert np.array_equal(out.numpy(), np.stack([data[1:3, :32], data[1:3, 32:]]))


def test_what_is_undefined_stays_so() -> None:
    """A row of the tensor that no kernel wrote is no finding until the host reads it."""
    text = (
        HEAD.format(target="90a")
        + """
.shared .align 128 .b8 box[256];
.visible .entry k(.param .align 64 .b8 map[128])
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    mov.b64 %rd0, map;
    cvta.param.u64 %rd0, %rd0;
    mov.u32 %r0, box;
    mov.u32 %r1, 0;
    st.shared.b32 [%r0], %r1;
    fence.proxy.async.shared::cta;
    cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd0, {%r1}], [%r0];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    ret;
}
"""
    )
    emulator = Emulator()
    held = emulator.array(np.ones(64, np.uint32))
    made = TensorMap(address=held.address, dtype="u32", shape=[64], box=[64])
    emulator.load(text).kernel().launch(grid=1, block=1, args=[made])
    with pytest.raises(EmulatorFault) as caught:
        held.numpy()
    assert caught.value.diagnostics[0].code == "P606"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"shape": [64, 32]}, "P602"),
        ({"mode": "im2col"}, "P619"),
        ({"dtype": "b4x16", "box": [4, 32]}, "P619"),
    ],
)
def test_maps_that_do_not_fit_are_found(changes: dict[str, object], code: str) -> None:
    fields = {"dtype": "f32", "address": 0, "shape": [8, 32], "strides": [128], "box": [4, 8]} | {
        name: value for name, value in changes.items() if name != "mode"
    }
    case = kernels.Case(fields, "tile", "load", (0, 30), size=1024)
    bench = kernels.Bench(Emulator())
    if "mode" in changes:
        fields = {name: value for name, value in fields.items() if name != "box"} | {
            "shape": [2, 4, 32], "strides": [512, 128], "pixel_box_lower_corner": [0],
            "pixel_box_upper_corner": [0], "channels_per_pixel": 8, "pixels_per_column": 4,
        }  # fmt: skip
        made = TensorMap(**{**fields, "address": 1 << 20})
        bench.kernels[3, "tile", "load", 0] = bench.device.load(kernels.source(3, "tile", "load")).kernel()
        launch = bench.kernels[3, "tile", "load", 0].launch
        image, status = bench.device.empty(512, "u8"), bench.device.empty(2, "u32")
        with pytest.raises(EmulatorFault) as caught:
            launch(grid=1, block=128, args=[made, image, status, 0, 512, 128, 0, 0, 0], shared=2048)
    else:
        with pytest.raises(EmulatorFault) as caught:
            bench.run(case)
    assert caught.value.diagnostics[0].code == code


def _blackwell(sanitize: bool) -> kernels.Bench:
    """An emulator of sm_100a with the kernels of rank 2."""
    bench = kernels.Bench(Emulator(arch="sm_100a", sanitize=sanitize))
    for operation in ("load", "store"):
        text = kernels.source(2, "tile", operation).replace("sm_90a", "sm_100a").replace("8.0", "8.8")
        bench.kernels[2, "tile", operation, 0] = bench.device.load(text).kernel()
    return bench


@pytest.mark.parametrize("dtype", ["b4x16", "b4x16_p64", "b6x16_p32"])
def test_types_of_less_than_a_byte_are_loaded(dtype: str) -> None:
    fields = {"dtype": dtype, "address": 32, "shape": [5, 256], "box": [3, 128], "swizzle": "128B"}
    case = kernels.Case(fields, "tile", "load", (128, 3), size=4096)
    made, done, base = _blackwell(sanitize=False).run(case)
    assert done
    assert np.array_equal(made, kernels.expected(case, base))


def test_padding_is_undefined() -> None:
    fields = {"dtype": "b4x16_p64", "address": 32, "shape": [5, 256], "box": [3, 128]}
    case = kernels.Case(fields, "tile", "load", (128, 1), size=4096)
    with pytest.raises(EmulatorFault) as caught:
        _blackwell(sanitize=True).run(case)
    assert caught.value.diagnostics[0].code == "P606"


def test_six_bits_of_eight_are_stored() -> None:
    fields = {"dtype": "b6x16_p32", "address": 32, "shape": [5, 256], "box": [2, 128]}
    case = kernels.Case(fields, "tile", "store", (0, 3), size=4096)
    made, _, _ = _blackwell(sanitize=True).run(case)
    tensor, image = kernels.contents(case)
    row = 256 * 6 // 8
    for number in range(2):
        packed = sum(
            (int(byte) & 63) << 6 * i for i, byte in enumerate(image[128 * number : 128 * number + 128])
        )
        start = 32 + (3 + number) * row
        tensor[start : start + 96] = np.frombuffer(packed.to_bytes(96, "little"), np.uint8)
    assert np.array_equal(made, tensor)
