"""What the manual forbids and shipping kernels do: a warning or nothing in exactly that pattern.

Where the emulator is strict it is an error, and a neighbour of the pattern always is.
"""

from __future__ import annotations

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


def test_a_quarter_of_the_lanes_is_implied() -> None:
    """DeepGEMM's kernels for sm_100."""
    load = tensor_memory_faults.LOAD
    text = tensor_memory_faults.SINGLE.replace(load, load.replace("%r7", "%r5"), 1)
    assert told(text, 1, 128) == [("P6120", "warning")]
    assert told(text, 1, 128, strict=True) == [("P6120", "error")]


def test_another_warps_lanes_are_an_error() -> None:
    load = tensor_memory_faults.LOAD
    other = "    xor.b32 %r24, %r7, 0x600000;\n" + load.replace("%r7", "%r24")
    assert told(tensor_memory_faults.SINGLE.replace(load, other, 1), 1, 128)[-1] == ("P6120", "error")


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
