"""What the manual forbids and shipping kernels do: a warning or nothing in exactly that pattern.

Where the emulator is strict it is an error, and a neighbour of the pattern always is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensor_memory_faults
from asynchronous_kernels import KERNELS

from ptxkit.emulator import Emulator, EmulatorFault

CLUSTER = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
.reqnctapercluster 2
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %d<4>;
    .shared .align 8 .b64 first;
    .shared .align 8 .b64 late;
    ld.param.u64 %d1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %cluster_ctarank;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [first], 1;
    @%p1 fence.mbarrier_init.release.cluster;
    @%p1 mbarrier.init.shared.b64 [late], 1;
    barrier.cluster.arrive.relaxed;
    barrier.cluster.wait;
    mov.u32 %r3, late;
    xor.b32 %r4, %r2, 1;
    mapa.shared::cluster.u32 %r3, %r3, %r4;
    @%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];
again:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [late], 0;
    @!%p2 bra again;
    mad.lo.u32 %r5, %r2, 32, %r1;
    mul.wide.u32 %d2, %r5, 4;
    add.u64 %d1, %d1, %d2;
    st.global.u32 [%d1], %r5;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    ret;
}
"""
FENCE = "    @%p1 fence.mbarrier_init.release.cluster;\n"

ENCODED = ", ".join(str({32: 15, 55: 15}.get(at, 0)) for at in range(56))
"""A tensor map of u8[16], boxes of 16; zeros behind."""
MAP = f"""\
.version 8.7
.target sm_90a
.address_size 64
.global .align 128 .b8 map[192] = {{{ENCODED}}};
.visible .entry k(.param .u64 out)
{{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %d<4>;
    mov.u32 %r1, %tid.x;
    mov.b64 %d2, map;
    cvta.global.u64 %d2, %d2;
    mov.u32 %r2, 0;
    setp.eq.u32 %p1, %r1, 0;
    setp.eq.u32 %p2, %r1, 32;
    setp.lt.u32 %p3, %r1, 32;
    @%p1 tensormap.replace.tile.fill_mode.global.b1024.b32 [%d2], 0;
    @%p1 fence.proxy.tensormap::generic.release.gpu;
    bar.warp.sync 0xffffffff;
    @%p3 fence.proxy.tensormap::generic.acquire.gpu [%d2], 128;
    bar.sync 0;
    @%p2 cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%d2, {{%r2}}];
    ret;
}}
"""
ACQUIRE = "    @%p3 fence.proxy.tensormap::generic.acquire.gpu [%d2], 128;\n"


def told(text: str, grid: Any = 1, block: int = 64, **options: Any) -> list[tuple[str, str]]:
    """The code and severity of each finding."""
    device = Emulator(**options)
    kernel, out = device.load(text).kernel(), device.array(np.zeros(4096, np.uint32))
    try:
        kernel.launch(grid, block, [out])
    except EmulatorFault as fault:
        return [(each.code, str(each.severity)) for each in (*device.findings, *fault.diagnostics)]
    return [(each.code, str(each.severity)) for each in device.findings]


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
def test_an_mbarrier_that_a_relaxed_cluster_barrier_hands_on(order: str) -> None:
    """CUTLASS's examples 70, 72a, 74 and 83: the fence comes before the last init."""
    found = told(CLUSTER, 2, 32, order=order)
    assert set(found) == {("P669", "warning")}
    assert told(CLUSTER, 2, 32, order=order, strict=True) == [("P669", "error")]


def test_an_mbarrier_that_no_fence_came_before() -> None:
    assert told(CLUSTER.replace(FENCE, ""), 2, 32) == [("P669", "error")]


def test_an_mbarrier_that_no_cluster_barrier_hands_on() -> None:
    barrier = "    barrier.cluster.arrive.relaxed;\n    barrier.cluster.wait;\n"
    assert ("P669", "error") in told(CLUSTER.replace(barrier, "", 1), 2, 32)


def test_a_fence_behind_the_last_init_is_right() -> None:
    late = "    @%p1 mbarrier.init.shared.b64 [late], 1;\n"
    assert told(CLUSTER.replace(FENCE, "").replace(late, late + FENCE), 2, 32) == []


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
def test_a_tensor_map_that_one_warp_acquires_for_all(order: str) -> None:
    """Triton's maps made on the device, and CUTLASS's example 75."""
    assert told(MAP, order=order) == []
    assert told(MAP, order=order, strict=True) == [("P625", "error")]


@pytest.mark.parametrize(
    "gone", [ACQUIRE, "    @%p1 fence.proxy.tensormap::generic.release.gpu;\n", "    bar.sync 0;\n"]
)
def test_a_tensor_map_without_one_of_the_three(gone: str) -> None:
    assert gone in MAP
    assert [code for code, severity in told(MAP.replace(gone, "")) if severity == "error"][:1] == ["P625"]


NOWHERE = "    selp.b64 %d3, %d2, {}, %p3;\n    fence.proxy.tensormap::generic.acquire.gpu [%d3], 128;\n"


def test_warps_that_have_no_tensor_map_acquire_null() -> None:
    """CUTLASS's grouped products for sm_90: one warp of a warpgroup has the map, all four acquire."""
    null, elsewhere = (MAP.replace(ACQUIRE, NOWHERE.format(address)) for address in (0, 256))
    assert told(null) == []
    assert told(null, strict=True) == [("P602", "error")]
    assert told(elsewhere) == [("P602", "error")]
    every = MAP.replace(ACQUIRE, NOWHERE.format(0).replace("%d2, 0", "0, 0"))
    assert told(every) == [("P625", "error")]


def test_an_address_that_is_undefined_is_not_null() -> None:
    undefined = MAP.replace(ACQUIRE, "    fence.proxy.tensormap::generic.acquire.gpu [%d3], 128;\n")
    assert told(undefined)[0] == ("P605", "error")


RELEASE = "    @%p1 fence.proxy.tensormap::generic.release.gpu;\n"
CHANGE = "    @%p1 tensormap.replace.tile.fill_mode.global.b1024.b32 [%d2], 0;\n"


def test_a_release_of_another_map_behind_the_acquire() -> None:
    """Triton's kernels with several maps make one after the other."""
    assert told(MAP.replace(ACQUIRE, ACQUIRE + RELEASE)) == []
    assert told(MAP.replace(ACQUIRE, ACQUIRE + CHANGE + RELEASE)) == [("P625", "error")]


def test_registers_that_change_twice_without_a_meeting() -> None:
    """Triton 3.9's warp-specialised products."""
    (kernel,) = (kernel for kernel in KERNELS if kernel.name == "registers")
    text = kernel.broken("barrier.sync 1, 128;", "")
    device = Emulator()
    kernel.run(device, text)
    assert {(each.code, str(each.severity)) for each in device.findings} == {("P667", "warning")}
    with pytest.raises(EmulatorFault) as ended:
        kernel.run(Emulator(strict=True), text)
    assert ended.value.diagnostics[0].code == "P667"


ZERO = "    mov.f32 %f{}, 0f00000000;\n"
ZEROS = "".join(map(ZERO.format, range(4)))
REPAIR = "    wgmma.fence.sync.aligned;                                         // repaired\n"
FENCED = (Path(__file__).parent / "findings" / "P647_no_fence.ptx").read_text()
FENCED = "\n".join(line for line in FENCED.split("\n") if "broken" not in line)
ZEROED = FENCED.replace(ZEROS, "").replace(REPAIR, REPAIR + ZEROS)


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
def test_an_accumulator_that_is_zeroed_behind_the_fence(order: str) -> None:
    """CuTe DSL's persistent product for sm_90; some of its zeros are moved from register to register."""
    copied = ZEROED.replace(ZERO.format(3), "    mov.f32 %f3, %f2;\n")
    for text in (ZEROED, copied):
        assert told(text, 1, 128, order=order) == [("P647", "warning")]
        assert told(text, 1, 128, order=order, strict=True) == [("P647", "error")]
    assert told(FENCED, 1, 128, order=order) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (REPAIR, ""),
        (REPAIR, REPAIR.replace("wgmma", "@%p0 bra on;\n    wgmma", 1) + "on:\n"),
        (ZERO.format(3), "    mov.f32 %f3, 0f3f800000;\n"),
        (ZERO.format(3), "    mov.b32 %f3, %r0;\n"),
        (ZERO.format(3), "    add.f32 %f3, %f2, %f2;\n"),
        (ZERO.format(3), "    add.f32 %f8, %f3, %f3;\n" + ZERO.format(3)),
        (ZERO.format(3), "    @%p0 mov.f32 %f3, 0f00000000;\n"),
    ],
)
def test_an_accumulator_that_is_touched_otherwise_behind_the_fence(old: str, new: str) -> None:
    """No fence at all or not on each path, other values, other instructions."""
    assert old in ZEROED
    assert ("P647", "error") in told(ZEROED.replace(old, new), 1, 128)


WAITED_STORE = "    tcgen05.wait::st.sync.aligned;\n"
AGAIN = "    tcgen05.ld.sync.aligned.32x32b.x8.b32 {%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27}, [%r8];\n"
TESTED = "    mbarrier.try_wait.parity.shared::cta.b64 %p4, [handed], 1;\n"
STORED_BACK = tensor_memory_faults.SINGLE.replace(WAITED_STORE, TESTED + AGAIN + WAITED_STORE, 1).replace(
    "    @%p1 tcgen05.alloc", "    bar.sync 0;\n    @%p1 tcgen05.alloc", 1
)


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
def test_a_store_that_its_own_warp_loads_back(order: str) -> None:
    """CUTLASS's stream-K products for sm_100, its example 74."""
    found = told(STORED_BACK, block=128, order=order)
    assert [each for each in found if each[0] == "P6105"] == [("P6105", "warning")]
    assert "error" not in dict.fromkeys(severity for _, severity in found)
    assert ("P6105", "error") in told(STORED_BACK, block=128, order=order, strict=True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (TESTED, ""),
        (TESTED, "    @%p1 bra on;\n" + TESTED + "on:\n"),
        (AGAIN, AGAIN.replace(".x8", ".x4").replace(", %r24, %r25, %r26, %r27", "")),
        (AGAIN, AGAIN.replace(".32x32b", ".16x64b")),
        (AGAIN, AGAIN.replace("[%r8]", "[%r8+1]")),
        (AGAIN, AGAIN.replace(".x8.b32", ".x8.pack::16b.b32")),
        (AGAIN + WAITED_STORE, ""),
    ],
)
def test_a_store_that_is_used_otherwise_before_its_wait(old: str, new: str) -> None:
    """No test of an mbarrier, or not on each path; other cells, another shape; a product."""
    assert old in STORED_BACK
    assert ("P6105", "error") in told(STORED_BACK.replace(old, new), block=128)


def test_a_quarter_of_the_lanes_is_implied() -> None:
    """DeepGEMM's kernels for sm_100."""
    load = tensor_memory_faults.LOAD
    text = tensor_memory_faults.SINGLE.replace(load, load.replace("%r7", "%r5"), 1)
    assert told(text, 1, 128) == [("P6120", "warning")]
    assert told(text, 1, 128, strict=True) == [("P6120", "error")]


def test_there_are_no_lanes_beyond_the_last() -> None:
    """Public products for pairs of CTAs address `rank * 128 + warp * 32`: lane 128 is lane 0."""
    load = tensor_memory_faults.LOAD
    beyond = "    add.u32 %r24, %r7, 0x800000;\n" + load.replace("%r7", "%r24")
    text = tensor_memory_faults.SINGLE.replace(load, beyond, 1)
    assert told(text, 1, 128) == [("P6120", "warning")]
    assert told(text, 1, 128, strict=True)[0] == ("P6120", "error")


def test_another_warps_lanes_are_an_error() -> None:
    load = tensor_memory_faults.LOAD
    other = "    xor.b32 %r24, %r7, 0x600000;\n" + load.replace("%r7", "%r24")
    assert told(tensor_memory_faults.SINGLE.replace(load, other, 1), 1, 128)[-1] == ("P6120", "error")
    beyond = other.replace("0x600000", "0xe00000")
    assert told(tensor_memory_faults.SINGLE.replace(load, beyond, 1), 1, 128)[-1] == ("P6120", "error")


LOAD, WAIT_LD = tensor_memory_faults.LOAD, tensor_memory_faults.WAIT_LD
READ = "    mov.b32 %f0, %r22;\n"


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
def test_a_load_whose_registers_are_read_is_over(order: str) -> None:
    """CuTe DSL's kernels for sm_100 and CUTLASS's tutorial 04 wait for no load."""
    text = tensor_memory_faults.SINGLE.replace(LOAD + WAIT_LD, LOAD + READ, 1)
    assert told(text, 1, 128, order=order) == []
    assert told(text, 1, 128, order=order, strict=True)[-1] == ("P6106", "error")


def test_a_load_whose_registers_are_read_behind_a_loop_is_over() -> None:
    loop = "turn:\n    add.u32 %r9, %r9, 1;\n    setp.lt.u32 %p6, %r9, 5;\n    @%p6 bra turn;\n"
    text = tensor_memory_faults.SINGLE.replace(LOAD + WAIT_LD, f"{LOAD}    mov.u32 %r9, 0;\n{loop}{READ}", 1)
    assert told(text, 1, 128) == []


@pytest.mark.parametrize(
    "between",
    [
        "",
        "    mov.b32 %r22, 0;\n",
        "    @%p3 bra on;\n" + READ + "on:\n",
        "    tcgen05.fence::before_thread_sync;\n" + READ,
        "    bar.warp.sync 0xffffffff;\n" + READ,
        "    st.release.gpu.global.b32 [%rd3+64], 0;\n" + READ,
    ],
)
def test_a_load_whose_registers_are_not_read_before_others_go_on_is_warned_of(between: str) -> None:
    text = tensor_memory_faults.SINGLE.replace(LOAD + WAIT_LD, LOAD + between, 1)
    text = text.replace("    mov.b64 %rd3, 0;\n", "    ld.param.u64 %rd3, [out];\n")
    assert told(text, 1, 128) == [("P6106", "warning")]


def sparse(metadata: int, first: int = 0x3F80, second: int = 0x3F80) -> str:
    """The kernel of two products, its second with A of these pairs of elements and the metadata."""
    word, found = tensor_memory_faults.SPARSE, tensor_memory_faults.SINGLE
    product = tensor_memory_faults.SECOND
    store = tensor_memory_faults.STORE
    found = found.replace(store, store.replace("%r4", "%r15"))
    found = found.replace("    mov.b32 %r15, 0;\n", f"    mov.b32 %r15, {metadata:#010x};\n")
    found = found.replace("mov.b32 %r4, 0x3f803f80", f"mov.b32 %r4, {second:#06x}{first:04x}")
    second = product.replace("mma.", "mma.sp.").replace("%rd2, ", "%rd2, [%r13], ")
    return found.replace(product, word + second + "    mov.b32 %r12, 0x08100490;\n")


@pytest.mark.parametrize(
    ("first", "second", "sum_"),
    [(0x3F80, 0, 16.0), (0, 0x3F80, 8.0), (0, 0, 0.0)],
    ids=["the first element", "the second", "none"],
)
def test_metadata_of_zeros_is_warned_of(first: int, second: int, sum_: float) -> None:
    """CUTLASS's compressor begins each chunk with zeros.

    A and B hold the same pairs: of the sparse product each of 8 chunks adds what it holds times the first of
    a pair of B, of the dense one each of 8 pairs its squares.
    """
    text = sparse(0, first, second)
    device = Emulator()
    kernel, out = device.load(text).kernel(), device.array(np.zeros(4096, np.uint32))
    kernel.launch(1, 128, [out])
    assert [(each.code, str(each.severity)) for each in device.findings] == [("P6128", "warning")]
    assert out.numpy().view(np.float32)[:128].tolist() == [sum_] * 128
    assert told(text, 1, 128, strict=True)[-1] == ("P6128", "error")


def test_two_elements_at_one_place_have_no_sum() -> None:
    device = Emulator()
    kernel, out = device.load(sparse(0)).kernel(), device.array(np.zeros(4096, np.uint32))
    kernel.launch(1, 128, [out])
    with pytest.raises(EmulatorFault) as undefined:
        out.numpy()
    assert undefined.value.diagnostics[0].code == "P606"


def test_metadata_that_means_nothing_is_an_error() -> None:
    assert ("P6128", "error") in told(sparse(0x55555555), 1, 128)


def test_a_base_offset_without_a_swizzle_is_not_read() -> None:
    """Triton's scale factors, in pieces of a buffer."""
    given = "mov.b64 %rd2, {%r11, 0x00004010};"
    assert given in tensor_memory_faults.SINGLE
    text = tensor_memory_faults.SINGLE.replace(given, given.replace("0x00004010", "0x00084010"))
    assert told(tensor_memory_faults.SINGLE, 1, 128) == []
    assert {*told(text, 1, 128)} == {("P6126", "warning")}
    assert told(text, 1, 128, strict=True)[-1] == ("P6126", "error")
    reserved = tensor_memory_faults.SINGLE.replace(given, given.replace("0x00004010", "0x00484010"))
    assert told(reserved, 1, 128)[-1] == ("P6126", "error")


BARRIER = "    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;\n"
MEETING = BARRIER.replace(".arrive.", ".arrive.relaxed.")
ALLOCATED = (
    "    @%p1 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 64;\n"
    "    @%p1 tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;\n"
)
READS = tensor_memory_faults.READ
GRANTED = tensor_memory_faults.PAIR.replace(ALLOCATED, "").replace(BARRIER, BARRIER + ALLOCATED + MEETING, 1)
"""The pair, which has met already when tensor memory is allocated, and hands the address on by a relaxed
arrival."""
GONE_ON = f"    @%p1 bra last;\n{READS}last:\n{MEETING}    @%p1 ld.shared.b32 %r5, [slot];\n"
"""Others read while the warp that allocated may stand at the next barrier."""


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
@pytest.mark.parametrize("read", [READS, GONE_ON], ids=["by all", "by others, later"])
def test_the_address_of_tensor_memory_that_a_relaxed_cluster_barrier_hands_on(order: str, read: str) -> None:
    """DeepGEMM's kernels for pairs of CTAs."""
    text = GRANTED.replace(READS, read, 1)
    assert set(told(text, 2, 128, order=order)) == {("P650", "warning")}
    assert told(text, 2, 128, order=order, strict=True)[-1] == ("P650", "error")


@pytest.mark.parametrize("strict", [False, True])
def test_the_first_column_of_tensor_memory(strict: bool) -> None:
    """DeepGEMM's kernels for sm_100 trap unless it is 0."""
    trap = "    setp.ne.u32 %p0, %r5, 0;\n    @%p0 trap;\n"
    text = tensor_memory_faults.SMALL.replace("    ld.shared.b32 %r5, [slot];\n", READS + trap)
    assert trap in text
    ends = {tuple(told(text, 1, 32, order="random", seed=seed, strict=strict)) for seed in range(8)}
    assert (("P610", "error") in {each for end in ends for each in end}) == strict


LAST = tensor_memory_faults.BEFORE + BARRIER
UNREAD = "    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r7];\n"
FREED = tensor_memory_faults.PAIR.replace(LAST, tensor_memory_faults.BEFORE + MEETING)


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
def test_cells_that_are_freed_behind_a_relaxed_cluster_barrier(order: str) -> None:
    """DeepGEMM's kernels for pairs of CTAs: `tcgen05.fence` goes before the arrival."""
    assert LAST in tensor_memory_faults.PAIR
    assert told(FREED, 2, 128, order=order) == []
    assert told(FREED, 2, 128, order=order, strict=True)[-1] == ("P6114", "error")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (tensor_memory_faults.BEFORE + MEETING, MEETING),
        (tensor_memory_faults.BEFORE + MEETING, MEETING + tensor_memory_faults.BEFORE),
        (MEETING, ""),
        (tensor_memory_faults.BEFORE, tensor_memory_faults.BEFORE + UNREAD),
        (tensor_memory_faults.BEFORE, tensor_memory_faults.BEFORE + UNREAD + tensor_memory_faults.WAIT_LD),
    ],
    ids=["no fence", "the fence behind", "no barrier", "another load", "another load that is waited for"],
)
def test_cells_that_are_freed_too_early(old: str, new: str) -> None:
    assert old in FREED
    found = told(FREED.replace(old, new), 2, 128)
    waited = tensor_memory_faults.WAIT_LD in new or UNREAD not in new
    assert [severity for code, severity in found if code == "P6114"] == ["error" if waited else "warning"]


def test_an_address_that_no_barrier_hands_on_is_an_error() -> None:
    assert told(GRANTED.replace(MEETING, "", 1), 2, 128)[-1] == ("P650", "error")


def test_the_address_of_another_cta_is_an_error() -> None:
    remote = (
        "    mov.u32 %r17, slot;\n    xor.b32 %r18, %r14, 1;\n"
        "    mapa.shared::cluster.u32 %r17, %r17, %r18;\n    ld.shared::cluster.b32 %r5, [%r17];\n"
    )
    assert told(GRANTED.replace(READS, remote, 1), 2, 128)[-1] == ("P650", "error")


def test_other_data_that_a_relaxed_cluster_barrier_hands_on_is_an_error() -> None:
    declared = "    .shared .align 4 .b32 data;\n    .shared .align 8 .b64 late;\n"
    text = CLUSTER.replace("    .shared .align 8 .b64 late;\n", declared)
    text = text.replace(RELAXED, "    @%p1 st.shared.u32 [data], 1;\n" + RELAXED, 1)
    text = text.replace("    st.global", "    ld.shared.u32 %r5, [data];\n    st.global")
    assert told(text, 2, 64)[-1] == ("P650", "error")


RELAXED = "    barrier.cluster.arrive.relaxed;\n"

FILLED = """\
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<4>;
    .reg .b32 %r<10>;
    .reg .b64 %d<4>;
    .shared .align 128 .b8 tile[4096];
    ld.param.u64 %d3, [out];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 127;
    setp.lt.u32 %p1, %r1, 128;
    mov.u32 %r3, tile;
    mad.lo.u32 %r4, %r2, 32, %r3;
    mov.b32 %r8, 0;
    @%p1 st.shared.v4.b32 [%r4], {%r8, %r8, %r8, %r8};
    @%p1 st.shared.v4.b32 [%r4+16], {%r8, %r8, %r8, %r8};
    fence.proxy.async.shared::cta;
    @!%p1 bra done;
    bfe.u32 %r4, %r3, 4, 14;
    cvt.u64.u32 %d1, %r4;
    or.b64 %d1, %d1, 0x0000000800080000;
    add.u64 %d2, %d1, 128;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r4, %r5, %r6, %r7}, %d1, %d2, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    mad.wide.u32 %d3, %r2, 4, %d3;
    st.global.u32 [%d3], %r4;
done:
    ret;
}
"""
PROXY = "    fence.proxy.async.shared::cta;\n"
MEET = "    wgmma.fence.sync.aligned;\n"


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
def test_zeros_that_a_warpgroup_stores_for_its_own_product(order: str) -> None:
    """FlashMLA's dense decoding, where the last tile is ragged."""
    assert set(told(FILLED, 1, 128, order=order)) == {("P650", "warning")}
    assert told(FILLED, 1, 128, order=order, strict=True) == [("P650", "error")]


@pytest.mark.parametrize(
    ("old", "new", "block"),
    [
        ("mov.b32 %r8, 0;", "mov.b32 %r8, 1;", 128),
        ("mov.b32 %r8, 0;", "mov.b32 %r8, 0;\n    ld.global.u32 %r8, [%d3];", 128),
        (PROXY, "", 128),
        (MEET, PROXY + MEET.replace(";", "; // again"), 128),
        ("setp.lt.u32 %p1, %r1, 128;", "setp.ge.u32 %p1, %r1, 128;", 256),
    ],
    ids=["not zeros", "zeros that came so", "no fence", "a fence that comes too late", "another warpgroup"],
)
def test_what_is_stored_for_a_product_without_the_pattern(old: str, new: str, block: int) -> None:
    text = FILLED.replace(old, new)
    if block == 256:
        text = text.replace("    @!%p1 bra done;\n", "    @%p1 bra done;\n")
    if "again" in new:
        text = text.replace(PROXY + "    @!", "    @!").replace(
            PROXY + MEET.replace(";", "; // again"), MEET + PROXY
        )
    assert told(text, 1, block)[-1] == ("P650", "error")


SCALES = """\
.version 8.0
.target sm_90a
.address_size 64
.global .align 16 .b32 scales[128];
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<8>;
    .reg .b32 %r<16>;
    .reg .b64 %d<6>;
    .shared .align 128 .b8 tile[4096];
    .shared .align 128 .b8 ring[512];
    .shared .align 8 .b64 full;
    .shared .align 8 .b64 empty;
    ld.param.u64 %d3, [out];
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %p1, %r1, 0;
    setp.lt.u32 %p2, %r1, 128;
    setp.lt.u32 %p3, %r1, 32;
    setp.eq.u32 %p4, %r1, 200;
    mov.u32 %r3, tile;
    and.b32 %r2, %r1, 127;
    mad.lo.u32 %r4, %r2, 32, %r3;
    mov.b32 %r5, 0;
    st.shared.v4.b32 [%r4], {%r5, %r5, %r5, %r5};
    st.shared.v4.b32 [%r4+16], {%r5, %r5, %r5, %r5};
    fence.proxy.async.shared::cta;
    @%p1 mbarrier.init.shared.b64 [full], 32;
    @%p1 mbarrier.init.shared.b64 [empty], 1;
    bar.sync 0;
    mov.u32 %r8, 0;
    mov.u32 %r10, ring;
    @!%p2 bra consume;
    @!%p3 bra done;
    mad.lo.u32 %r10, %r1, 16, %r10;
    mov.u64 %d4, scales;
    mad.wide.u32 %d4, %r1, 16, %d4;
fill:
    xor.b32 %r9, %r8, 1;
    and.b32 %r9, %r9, 1;
emptied:
    mbarrier.try_wait.parity.shared::cta.b64 %p5, [empty], %r9;
    @!%p5 bra emptied;
    cp.async.cg.shared.global [%r10], [%d4], 16;
    cp.async.mbarrier.arrive.noinc.shared.b64 [full];
    add.u32 %r8, %r8, 1;
    setp.lt.u32 %p6, %r8, 3;
    @%p6 bra fill;
    cp.async.wait_all;
    bra done;
consume:
    mad.lo.u32 %r10, %r2, 4, %r10;
    bfe.u32 %r4, %r3, 4, 14;
    cvt.u64.u32 %d1, %r4;
    or.b64 %d1, %d1, 0x0000000800080000;
    add.u64 %d2, %d1, 128;
turn:
    and.b32 %r9, %r8, 1;
filled:
    mbarrier.try_wait.parity.shared::cta.b64 %p5, [full], %r9;
    @!%p5 bra filled;
    ld.shared.u32 %r11, [%r10];
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r4, %r5, %r6, %r7}, %d1, %d2, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    @%p4 mbarrier.arrive.shared.b64 _, [empty];
    add.u32 %r4, %r4, %r11;
    add.u32 %r8, %r8, 1;
    setp.lt.u32 %p6, %r8, 3;
    @%p6 bra turn;
    mad.wide.u32 %d3, %r2, 4, %d3;
    st.global.u32 [%d3], %r4;
done:
    ret;
}
"""
WAITED = "    wgmma.wait_group.sync.aligned 0;\n"
PRODUCT = SCALES[SCALES.index("    wgmma.fence") : SCALES.index(WAITED) + len(WAITED)]
ARRIVES = "    @%p4 mbarrier.arrive.shared.b64 _, [empty];\n"
COPY = """\
    cp.async.cg.shared.global [%r10], [%d4], 16;
    cp.async.mbarrier.arrive.noinc.shared.b64 [full];
"""
BULK = """\
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [full], 512;
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%d4], 512, [full];
"""
STORED = "    st.shared.u32 [%r10], %r8;\n    mbarrier.arrive.shared.b64 _, [full];\n"


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
def test_scales_that_are_filled_anew_behind_a_product(order: str) -> None:
    """CUTLASS's example 67, once its ring wraps."""
    assert set(told(SCALES, 1, 256, order=order)) == {("P650", "warning")}
    assert told(SCALES, 1, 256, order=order, strict=True) == [("P650", "error")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (PRODUCT, "    mov.u32 %r4, 0;\n"),
        (WAITED + ARRIVES, ARRIVES + WAITED),
        (COPY, STORED),
        (COPY, BULK),
    ],
    ids=["no product", "told before the wait", "plain stores", "a bulk copy"],
)
def test_scales_that_are_filled_anew_without_the_pattern(old: str, new: str) -> None:
    text = SCALES.replace(old, new).replace("[full], 32", "[full], 1" if new is BULK else "[full], 32")
    assert told(text, 1, 256)[-1] == ("P650", "error")


def test_scales_that_a_warpgroup_reads_which_does_not_tell() -> None:
    assert told(SCALES, 1, 384)[-1] == ("P650", "error")


ELECTED = "@!%p1 bra DONE;"
WARP = "setp.lt.u32 %p3, %thread, 32;\n    @!%p3 bra DONE;\n    "


@pytest.mark.parametrize(
    ("issued", "severity"), [(WARP, "note"), ("", "warning")], ids=["a warp", "all warps"]
)
def test_a_bulk_store_that_all_lanes_issue(issued: str, severity: str) -> None:
    """CUTLASS's examples 67, 72a, 76 and 79a. Two stores: a hint is given once."""
    kernel = next(kernel for kernel in KERNELS if kernel.name == "bulk_round_trip")
    store = "cp.async.bulk.global.shared::cta.bulk_group [%d2], [%r3], %r8;\n"
    again = (
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nbar.warp.sync 0xffffffff;\n"
        if issued
        else ""
    )
    device = Emulator()
    kernel.run(device, kernel.broken(ELECTED, issued).replace(store, store + again + store * bool(issued)))
    assert [(each.code, str(each.severity)) for each in device.findings] == [("P607", severity)]


def test_a_copy_into_shared_memory_that_a_warp_issues_is_warned_of() -> None:
    kernel = next(kernel for kernel in KERNELS if kernel.name == "bulk_round_trip")
    expect = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 1024;"
    lanes = f"@%p1 {expect.replace('1024', '32768')}\n    bar.warp.sync 0xffffffff;"
    text = kernel.broken(expect, lanes).replace("@!%p1 bra WAIT0;", WARP.replace("DONE", "WAIT0"))
    device = Emulator()
    kernel.run(device, text)
    assert [(each.code, str(each.severity)) for each in device.findings] == [("P607", "warning")]


COMMIT = "    wgmma.commit_group.sync.aligned;\n"
COMMITTED = COMMIT + "    wgmma.wait_group.sync.aligned 0;\n"
STORED = "    st.global.f32 [%rd1], %f0;\n"


def hasty(between: str = "", zeros: str = "mov.f32 %f0, 0f3f800000;") -> str:
    """A product of zeros onto 1, its accumulator stored before the group is committed."""
    text = (Path(__file__).parent / "findings" / "P649_not_committed.ptx").read_text()
    head = text[: text.index("    wgmma.commit_group")].replace("mov.f32 %f0, 0f00000000;", zeros)
    return head + between + STORED + COMMITTED + "    ret;\n}\n"


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
@pytest.mark.parametrize("sanitize", [True, False])
def test_an_accumulator_that_is_read_straight_behind_its_product(order: Any, sanitize: bool) -> None:
    """Triton's partial sums of FP8: ptxas injects `warpgroup.wait`, and says so (C7517)."""
    device = Emulator(order=order, sanitize=sanitize)
    out = device.array(np.zeros(128, np.float32))
    # ones for the first matrix and the second, so that a product that is not over shows
    text = hasty().replace("mov.u32 %r3, 0;", "mov.u32 %r3, 0x3f803f80;")
    device.load(text).kernel().launch(1, 128, [out])
    assert (out.numpy() == 17).all()
    assert [(each.code, str(each.severity)) for each in device.findings] == [("P649", "warning")] * sanitize
    assert told(text, 1, 128, strict=True)[-1] == ("P649", "error")


@pytest.mark.parametrize(
    "between",
    [
        "    wgmma.wait_group.sync.aligned 0;\n",
        "again:\n    @!%p0 bra again;\n",
    ],
)
def test_an_accumulator_that_is_read_elsewhere_before_its_commit(between: str) -> None:
    assert told(hasty(between), 1, 128)[0] == ("P649", "error")


SCALAR = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<3>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    setp.eq.b32 %p1, %r1, 0;
    mov.u32 %r4, 3;
again:
    ld.global.b32 %r2, [%rd1];
    add.s32 %r3, %r2, 1;
    @%p1 st.global.b32 [%rd1], %r3;
    add.s32 %r4, %r4, -1;
    setp.ne.b32 %p2, %r4, 0;
    @%p2 bra again;
    ret;
}
"""


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
def test_a_scalar_that_all_threads_load_and_one_stores(order: Any) -> None:
    """Triton's `tl.store(x, tl.load(x) + 1)`."""
    device = Emulator(order=order)
    out = device.array(np.zeros(1, np.uint32))
    device.load(SCALAR).kernel().launch(1, 128, [out])
    assert out.numpy()[0] == 3
    assert {(each.code, str(each.severity)) for each in device.findings} == {("P651", "warning")}
    assert told(SCALAR, 1, 128, strict=True)[-1] == ("P651", "error")


def test_replicas_that_load_what_others_store() -> None:
    """64 elements of 128 threads: Triton has the second half load, too."""
    replicas = SCALAR.replace("%p1, %r1, 0;", "%p1, %r5, %r1;").replace(
        "mov.u32 %r1, %tid.x;",
        "mov.u32 %r1, %tid.x;\n    and.b32 %r5, %r1, 63;\n    mad.wide.u32 %rd1, %r5, 4, %rd1;",
    )
    assert {*told(replicas, 1, 128)} == {("P651", "warning")}
    both = replicas.replace("%p1, %r5, %r1;", "%p1, %r1, %r1;")
    assert ("P651", "error") in told(both, 1, 128)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("%r1, 0;", "%r1, 127;\n    @!%p1 setp.eq.b32 %p1, %r1, 0;"),  # two threads store
        ("%p2, %r4, 0;", "%p2, %r3, 3;"),  # the value decides how often
        ("    add.s32 %r3, %r2, 1;", "    add.s32 %r3, %r2, 1;\n    shfl.sync.bfly.b32 %r3, %r3, 1, 31, -1;"),
        ("    @%p1 st", "    st.global.b32 [%rd1 + 64], %r2;\n    @%p1 st"),  # it is stored elsewhere
    ],
)
def test_a_scalar_that_is_used_by_those_that_race(old: str, new: str) -> None:
    assert old in SCALAR
    assert ("P651", "error") in told(SCALAR.replace(old, new, 1), 1, 128)


TAKE_OVER = next(kernel.text for kernel in KERNELS if kernel.name == "take_over")
ASK = "    @!%p3 bra DONE;\n"
TAKE = "    clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r6, %q1;\n"


def taken(text: str, **options: Any) -> tuple[list[tuple[str, str]], np.ndarray]:
    """What is found where CTAs take the work of others over, and what they have done of it."""
    device = Emulator(**options)
    x, out = device.array(np.arange(2000, dtype=np.uint32)), device.array(np.zeros(2000, np.uint32))
    kernel = device.load(text).kernel()
    try:
        kernel.launch(2000, 64, [x, out])
        found = device.findings
    except EmulatorFault as fault:
        found = [*device.findings, *fault.diagnostics]
    return [(each.code, str(each.severity)) for each in found], out.numpy()


@pytest.mark.parametrize("sanitize", [True, False])
def test_a_cta_of_no_cluster_that_nobody_uses(sanitize: bool) -> None:
    """CuTe DSL's schedulers: the query stands ahead of the test, or behind the loop."""
    assert ASK + TAKE in TAKE_OVER
    text = TAKE_OVER.replace(ASK + TAKE, TAKE + ASK)
    found, out = taken(text, sanitize=sanitize)
    assert found == [("P698", "warning")]
    assert np.array_equal(out, 7 * np.arange(2000))
    assert taken(text, sanitize=sanitize, strict=True)[0] == [("P698", "error")]


def test_a_cta_of_no_cluster_that_decides_or_that_nobody_asked_for() -> None:
    assert taken(TAKE_OVER.replace(ASK, ""))[0] == [("P698", "warning"), ("P605", "error")]
    query = "    clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q1;\n"
    assert query in TAKE_OVER
    assert taken(TAKE_OVER.replace(query, "").replace(ASK, ""))[0] == [("P698", "error")]


def products_of_registers(between: str) -> str:
    """A product of ones, A from registers, and what stands between its commit and the last wait."""
    text = (Path(__file__).parent / "findings" / "P629_one_group_too_many.ptx").read_text()
    lines = [line for line in text.splitlines() if "// broken" not in line]
    text = "\n".join(lines).replace("mov.u32 %r3, 0;", "mov.u32 %r3, 0x3f803f80;")
    ones = "".join(f"    mov.b32 %r{at}, %r3;\n" for at in range(10, 14))
    text = text.replace("    wgmma.fence", ones + "    wgmma.fence", 1)
    text = text.replace("%rd2, %rd2, %p0, 1, 1, 0, 0;", "{%r10, %r11, %r12, %r13}, %rd2, %p0, 1, 1, 0;")
    return text.replace("    wgmma.wait_group", between + "    wgmma.wait_group", 1) + "\n"


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
@pytest.mark.parametrize("sanitize", [True, False])
def test_registers_of_a_are_free_behind_a_shallow_wait(order: Any, sanitize: bool) -> None:
    """Triton's loops whose products take A from registers: ptxas reuses these at once."""
    text = products_of_registers("    wgmma.wait_group.sync.aligned 1;\n    mov.b32 %r10, 0;\n")
    device = Emulator(order=order, sanitize=sanitize)
    out = device.array(np.zeros(128, np.float32))
    device.load(text).kernel().launch(1, 128, [out])
    assert (out.numpy() == 16).all()
    assert [(each.code, str(each.severity)) for each in device.findings] == [("P629", "warning")] * sanitize
    assert told(text, 1, 128, strict=True)[-1] == ("P629", "error")


@pytest.mark.parametrize(
    ("between", "code"),
    [
        ("    mov.b32 %r10, 0;\n", "P646"),  # no wait has come at all
        ("    wgmma.wait_group.sync.aligned 1;\n    mov.b32 %f0, 0;\n", "P629"),  # the accumulator's
    ],
)
def test_other_registers_of_a_product_in_flight(between: str, code: str) -> None:
    assert told(products_of_registers(between), 1, 128)[0] == (code, "error")


UNUSED = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %d<4>;
    .shared .align 128 .b8 buf[256];
    .shared .align 8 .b64 full;
    ld.param.u64 %d1, [out];
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %p1, %r1, 0;
    setp.eq.u32 %p3, %r1, 32;
    mov.u32 %r2, buf;
    @%p1 mbarrier.init.shared.b64 [full], 1;
    @%p1 mbarrier.init.shared.b64 [%r2], 1;
    bar.sync 0; // first
    @%p1 mbarrier.init.shared.b64 [%r2], 1; // again
    bar.sync 0;
    @!%p1 bra WAIT;
    mbarrier.arrive.expect_tx.shared.b64 _, [full], 256;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf], [%d1], 256, [full];
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p2, [full], 0;
    @!%p2 bra WAIT;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    ld.shared.u32 %r5, [%r4];
    add.u32 %r5, %r5, 1;
    mul.wide.u32 %d2, %r3, 1;
    add.u64 %d1, %d1, %d2;
    st.global.u32 [%d1+256], %r5; // end
    ret;
}
"""
"""An mbarrier of which nothing makes use, and data in its place."""
ONCE_MORE = "    @%p1 mbarrier.init.shared.b64 [%r2], 1; // again\n"
BY_HAND = "    mbarrier.arrive.shared.b64 _, [full];\n    st.shared.u32 [buf], %r1;\n"


@pytest.mark.parametrize("sanitize", [True, False])
@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
def test_an_mbarrier_without_a_use_is_initialised_again(order: Any, sanitize: bool) -> None:
    """Triton 3.6's warp-specialised products: rings whose mbarriers nothing uses lie in their tiles."""
    device = Emulator(order=order, sanitize=sanitize)
    out = device.array(np.arange(128, dtype=np.uint32))
    device.load(UNUSED).kernel().launch(1, 64, [out])
    found = [(each.code, str(each.severity)) for each in device.findings]
    assert found == [("P671", "warning"), ("P672", "warning")]
    assert np.array_equal(out.numpy()[64:], np.arange(64) + 1)
    assert told(UNUSED, strict=True, sanitize=sanitize)[0] == ("P671", "error")


def test_an_mbarrier_without_a_use_is_overwritten_by_a_store() -> None:
    copy = UNUSED[UNUSED.index("    mbarrier.arrive.expect_tx") : UNUSED.index("WAIT:\n")]
    text = UNUSED.replace(copy, BY_HAND).replace("    ld.shared.u32 %r5, [%r4];\n", "    mov.u32 %r5, 0;\n")
    assert told(text) == [("P671", "warning"), ("P672", "warning")]
    read = text.replace("st.shared.u32 [buf], %r1;", "ld.shared.u32 %r6, [buf];")
    assert told(read) == [("P671", "warning"), ("P672", "error")]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("    bar.sync 0; // first\n", "    @%p1 mbarrier.arrive.shared.b64 _, [%r2];\n", "P671"),
        (
            "    bar.sync 0; // first\n",
            "    @%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 16;\n",
            "P671",
        ),
        (ONCE_MORE, ONCE_MORE.replace("%p1", "%p3"), "P671"),
        (ONCE_MORE, "", "P672"),
        (ONCE_MORE, ONCE_MORE + "    @%p1 mbarrier.arrive.shared.b64 _, [%r2];\n", "P672"),
        (" // end\n", "\n    @%p1 mbarrier.arrive.shared.b64 _, [%r2];\n", "P673"),
    ],
    ids=["arrived", "expects", "another warp", "once", "used since", "used behind"],
)
def test_an_mbarrier_that_is_used_and_initialised_again(old: str, new: str, code: str) -> None:
    assert old in UNUSED
    assert told(UNUSED.replace(old, new))[-1] == (code, "error")
