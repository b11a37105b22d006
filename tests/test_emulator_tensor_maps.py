"""Kernels that make and change tensor maps: `tensormap.replace` in every field, `tensormap.cp_fenceproxy`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from both_devices import Both, device, gpu

from ptxkit.diagnostics import PtxkitError
from ptxkit.dtypes import DTYPES
from ptxkit.emulator import Emulator
from ptxkit.encodings.tensor_maps import TensorMap

__all__ = ["device", "gpu"]

HEAD = ".version 8.8\n.target sm_{target}\n.address_size 64\n"


def replaced(device: Emulator | Both, before: bytes, lines: list[str], target: str = "90a") -> bytes:
    """A map after some `tensormap.replace`, in global memory, in shared memory, and by a generic address."""
    made = []
    for space in ("global", "shared::cta", ""):
        at = "%r1" if space == "shared::cta" else "%rd3"
        changes = [line.format(ss=f".{space}" if space else "", at=at) for line in lines]
        text = HEAD.format(target=target) + "\n".join(
            [
                ".visible .entry k(.param .u64 map)",
                "{",
                "    .reg .b32 %r<4>;",
                "    .reg .b64 %rd<4>;",
                "    .shared .align 128 .b8 held[128];",
                "    ld.param.u64 %rd3, [map];",
                "    mov.u32 %r1, held;",
                *(
                    f"    ld.global.b64 %rd1, [%rd3 + {i}];\n    st.shared.b64 [%r1 + {i}], %rd1;"
                    for i in range(0, 128, 8)
                ),
                *(f"    {line}" for line in changes),
                *(
                    f"    ld.shared.b64 %rd1, [%r1 + {i}];\n    st.global.b64 [%rd3 + {i}], %rd1;"
                    for i in range(0, 128, 8)
                    if space == "shared::cta"
                ),
                "    ret;",
                "}",
            ]
        )
        buffer = device.array(np.frombuffer(before, np.uint8))
        device.load(text).kernel().launch(grid=1, block=1, args=[buffer])
        device.synchronize()
        made.append(buffer.numpy().tobytes())
    assert made[0] == made[1] == made[2]
    return made[0]


OLD = {
    "address": 0x1000, "dtype": "f32", "shape": [3, 5, 7, 9, 64], "strides": [16384, 8192, 4096, 2048],
    "box": [1, 2, 3, 4, 32],
    "element_strides": [1, 2, 3, 1, 1], "swizzle": "128B",
}  # fmt: skip
NEW = {
    "address": 0x7_1234_5670, "dtype": "bf16", "shape": [30, 50, 70, 90, 640],
    "strides": [2**36, 2**37, 32768, 1280],
    "box": [4, 3, 2, 1, 64], "element_strides": [2, 1, 1, 4, 1], "swizzle": "32B", "interleave": "none",
    "oob_fill": "nan",
}  # fmt: skip


def test_every_field_of_a_tiled_map(device: Emulator | Both) -> None:
    new = {**NEW, "swizzle": "128B", "box": [4, 3, 2, 1, 64]}
    lines = [
        f"tensormap.replace.tile.global_address{{ss}}.b1024.b64 [{{at}}], {new['address']};",
        "tensormap.replace.tile.rank{ss}.b1024.b32 [{at}], 4;",
        f"tensormap.replace.tile.elemtype{{ss}}.b1024.b32 [{{at}}], {DTYPES['bf16'].tensor_map};",
        "tensormap.replace.tile.interleave_layout{ss}.b1024.b32 [{at}], 0;",
        "tensormap.replace.tile.swizzle_mode{ss}.b1024.b32 [{at}], 3;",
        "tensormap.replace.tile.fill_mode{ss}.b1024.b32 [{at}], 1;",
    ]
    for name, field, kind in (
        ("box", "box_dim", "b32"),
        ("shape", "global_dim", "b32"),
        ("element_strides", "element_stride", "b32"),
        ("strides", "global_stride", "b64"),
    ):
        values = new[name]
        assert isinstance(values, list)
        for ordinal, value in enumerate(reversed(values)):
            lines.append(f"tensormap.replace.tile.{field}{{ss}}.b1024.{kind} [{{at}}], {ordinal}, {value};")
    old = TensorMap(**OLD)
    expected = TensorMap(**new).replace(
        box_bytes=old.box_bytes, shared_alignment=old.shared_alignment, l2_promotion=old.l2_promotion
    )
    assert replaced(device, bytes(old), lines).hex() == bytes(expected).hex()


@pytest.mark.parametrize("name", [name for name, dtype in DTYPES.items() if (dtype.tensor_map or 99) <= 12])
def test_every_element_type(name: str, device: Emulator | Both) -> None:
    line = f"tensormap.replace.tile.elemtype{{ss}}.b1024.b32 [{{at}}], {DTYPES[name].tensor_map};"
    made = replaced(device, bytes(TensorMap(**{**OLD, "dtype": "u32"})), [line])
    assert TensorMap.dtype.extract(int.from_bytes(made, "little")) == TensorMap.dtype.raw(name)


def test_swizzles_of_later_targets() -> None:
    emulator = Emulator()
    lines = [
        "tensormap.replace.tile.swizzle_mode{ss}.b1024.b32 [{at}], 4;",
        "tensormap.replace.tile.swizzle_atomicity{ss}.b1024.b32 [{at}], 0;",
    ]
    plain = {**OLD, "swizzle": "none", "box": [1, 2, 3, 4, 16]}
    made = replaced(emulator, bytes(TensorMap(**plain)), lines, "103a")
    assert TensorMap.swizzle.value(TensorMap.swizzle.extract(int.from_bytes(made, "little"))) == "96B"
    lines[0] = "tensormap.replace.tile.swizzle_mode{ss}.b1024.b32 [{at}], 3;"
    lines[1] = "tensormap.replace.tile.swizzle_atomicity{ss}.b1024.b32 [{at}], 3;"
    made = replaced(emulator, bytes(TensorMap(**plain)), lines, "100a")
    assert (
        TensorMap.swizzle.value(TensorMap.swizzle.extract(int.from_bytes(made, "little"))) == "128B-64B-atom"
    )


MOVING = (
    HEAD.format(target="90a")
    + """
.shared .align 128 .b8 box[512];
.shared .align 128 .b8 map[128];
.shared .align 8 .b64 bar;
.visible .entry k(.param .align 64 .b8 template[128], .param .u64 scratch, .param .u64 from, .param .u64 out)
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    mov.u32 %r0, %tid.x;
    ld.param.u64 %rd0, [scratch];
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, map;
    mov.u32 %r2, bar;
    mov.u32 %r3, box;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra COPIED;
    mbarrier.init.shared::cta.b64 [%r2], 1;
"""
)


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
def test_a_map_made_in_shared_memory_serves_a_copy(order: str) -> None:
    text = MOVING + "\n".join(
        [
            *(
                f"    ld.param.b64 %rd3, [template + {i}];\n    st.shared.b64 [%r1 + {i}], %rd3;"
                for i in range(0, 128, 8)
            ),
            "    tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r1], %rd1;",
            "COPIED:",
            "    bar.warp.sync 0xffffffff;",
            "    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
            "[%rd0], [%r1], 128;",
            "    fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;",
            "    @%p0 bra WAIT;",
            "    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 512;",
            "    mov.u32 %r4, 4;",
            "    mov.u32 %r5, 1;",
            "    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
            "[%r3], [%rd0, {%r4, %r5}], [%r2];",
            "WAIT:",
            "    bar.warp.sync 0xffffffff;",
            "LOOK:",
            "    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;",
            "    @!%p1 bra LOOK;",
            "    shl.b32 %r6, %r0, 4;",
            "    add.u32 %r3, %r3, %r6;",
            "    ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r3];",
            "    mad.wide.u32 %rd2, %r0, 16, %rd2;",
            "    st.global.v4.b32 [%rd2], {%r4, %r5, %r6, %r7};",
            "    ret;",
            "}",
        ]
    )
    emulator = Emulator(order=order)
    data = np.arange(16 * 64, dtype=np.int32).reshape(16, 64)
    source = emulator.array(data)
    template = TensorMap(address=0, dtype="s32", shape=[16, 64], box=[8, 16])
    out = emulator.empty((8, 16), "s32")
    scratch = emulator.empty(256, "u8")
    emulator.load(text).kernel().launch(grid=1, block=32, args=[template, scratch, source, out])
    emulator.synchronize()
    assert np.array_equal(out.numpy(), data[1:9, 4:20])
    assert emulator.findings == []


TMA = Path(__file__).parents[1] / "docs" / "tutorial" / "05-tma-mbarrier" / "tma.ptx"


@pytest.mark.parametrize(
    ("bits", "right"),
    [
        ((), True),
        ((65,), True),  # byte 8 as CuTe DSL writes it
        ((85,), True),
        (tuple(range(320, 416)), True),  # extents of dimensions that there are not
        (tuple(range(128, 224)), True),  # strides of those
        ((66,), False),  # another number of dimensions, which is read
    ],
)
def test_bits_that_no_copy_reads_are_no_fault(bits: tuple[int, ...], right: bool) -> None:
    """As an H200 has it; bytes 64 to 127 may hold anything, too."""
    random = np.random.default_rng(19)
    emulator = Emulator()
    x = emulator.array(random.standard_normal((50, 72), dtype=np.float32))
    y = emulator.zeros((50, 72), "f32")
    maps = [TensorMap(address=one.address, dtype="f32", shape=[50, 72], box=[32, 32]) for one in (x, y)]
    word = int(maps[0])
    for bit in bits:
        word ^= 1 << bit
    given = word.to_bytes(128, "little")[:64] + random.bytes(64)
    kernel = emulator.load(TMA).kernel()
    if not right:
        with pytest.raises(PtxkitError) as refused:
            kernel.launch(grid=(3, 2), block=128, args=[given, maps[1]])
        assert [found.code for found in refused.value.diagnostics] == ["P619"]
        return
    kernel.launch(grid=(3, 2), block=128, args=[given, maps[1]])
    assert np.array_equal(y.numpy(), 2 * x.numpy())
    assert emulator.findings == []
