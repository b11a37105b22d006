"""Loads, stores, atomics, fences and special registers that PTX ISA 9.1 to 9.5 brought."""

from __future__ import annotations

import numpy as np
import pytest
from asynchronous_kernels import KERNELS
from emulated import STORE_R1, fault, launch, module

from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator import Emulator

RING = next(kernel for kernel in KERNELS if kernel.name == "ring")
RELEASE = "mbarrier.arrive.shared::cta.b64 _, [%r15]; // release"
READ_FENCE = "fence.proxy.async::generic.release.sync_restrict::shared::cluster::read.cluster;"


def later(body: str, parameters: str = ".param .u64 out", before: str = "", target: str = "sm_107a") -> str:
    """A module of the newest version, with `k` and the usual registers."""
    return module(body, parameters, before, target).replace(".version 8.7", ".version 9.5")


@pytest.mark.parametrize("space", [".global", ""])
def test_loads_through_the_read_only_proxy(space: str) -> None:
    """Vectors and narrow types load as others do, a generic address of constants among them."""
    body = f"""
    ld.param.u64 %rd1, [in];
    ld.proxy::readonly{space}.v4.u32 {{%r1, %r2, %r3, %r4}}, [%rd1];
    ld.proxy::readonly{space}.s8 %r5, [%rd1 + 16];
    mad.lo.u32 %r1, %r2, 3, %r1;
    mad.lo.u32 %r1, %r4, %r5, %r1;
"""
    if not space:
        body += """
    mov.u64 %rd2, table;
    cvta.const.u64 %rd2, %rd2;
    ld.proxy::readonly.u32 %r6, [%rd2];
    add.u32 %r1, %r1, %r6;
"""
    device = Emulator()
    source, out = device.array(np.array([5, 7, 11, 13, 0xFE], np.uint32)), device.empty(1, np.uint32)
    before = ".const .u32 table = 1000;"
    launch(later(body + STORE_R1, ".param .u64 in, .param .u64 out", before), [source, out], 1, device=device)
    assert out.numpy().view(np.int32)[0] == 5 + 3 * 7 + 13 * -2 + (0 if space else 1000)


def test_the_read_only_proxy_has_no_shared_memory() -> None:
    body = """
    .shared .align 4 .b32 s;
    st.shared.u32 [s], 1;
    mov.u64 %rd1, s;
    cvta.shared.u64 %rd1, %rd1;
    ld.proxy::readonly.u32 %r1, [%rd1];
"""
    device = Emulator()
    found = fault("P602", later(body + STORE_R1), [device.empty(32, np.uint32)], device=device)
    assert "read-only proxy" in found.message


def test_a_prefetch_of_a_valid_address() -> None:
    body = """
    ld.param.u64 %rd1, [out];
    prefetch.global.L1::32B.valid_addr [%rd1 + OFFSET];
"""
    device = Emulator()
    array = device.array(np.zeros(4, np.uint32))
    # Of the 32 bytes only one must be there.
    launch(later(body.replace("OFFSET", "15")), [array], 1, device=device)
    fault("P602", later(body.replace("OFFSET", "16")), [array], 1, device=device)
    generic = """
    .local .align 4 .b32 l;
    mov.u64 %rd1, l;
    cvta.local.u64 %rd1, %rd1;
    prefetch.L1::32B.valid_addr [%rd1];
"""
    assert "global memory" in fault("P602", later(generic), [array], 1, device=device).message


def test_atomic_sums_keep_subnormal_numbers() -> None:
    """With `.noftz` in global memory too, scalar and in vectors, returned and not."""
    tiny, other = np.float32(2.0**-140), np.float32(-(2.0**-126) * 1.5)
    body = """
    ld.param.u64 %rd1, [out];
    mov.b32 %f1, 0x200;
    atom.global.add.noftz.f32 %f2, [%rd1], %f1;
    red.global.add.noftz.f32 [%rd1], %f1;
    red.global.add.f32 [%rd1 + 4], %f1;
    atom.global.add.noftz.v2.f32 {%f3, %f4}, [%rd1 + 8], {%f1, %f2};
    red.global.add.noftz.v4.f32 [%rd1 + 16], {%f1, %f2, %f3, %f4};
"""
    start = np.array([other, other, tiny, -tiny, other, 1, tiny, 0], np.float32)
    device = Emulator()
    out = device.array(start)
    launch(later(body), [out], 1, device=device)
    add = [tiny, tiny, None, None, tiny, other, tiny, -tiny]
    want = start + np.array([0 if each is None else each for each in add], np.float32)
    want[0] = other + tiny + tiny
    want[1] = other  # flushed: 2^-140 counts as zero
    want[2], want[3] = tiny + tiny, -tiny + other
    np.testing.assert_array_equal(out.numpy(), want)


def test_atomic_sums_round_once_and_have_one_nan() -> None:
    body = """
    ld.param.u64 %rd1, [out];
    mov.f32 %f1, 0f33800001;
    red.global.add.noftz.f32 [%rd1], %f1;
    mov.f32 %f2, 0fFF800001;
    red.global.add.noftz.f32 [%rd1 + 4], %f2;
"""
    device = Emulator()
    out = device.array(np.array([1, 1], np.float32))
    launch(later(body), [out], 1, device=device)
    assert list(out.numpy().view(np.uint32)) == [0x3F800001, 0x7FFFFFFF]


def hand_over(store: str, release: str, flag: str, wait: str, acquire: str) -> str:
    """The first CTA writes data and a flag; the second waits for the flag and reads the data."""
    return later(
        f"""
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %ctaid.x;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra WRITER;
LOOP:
    {wait} %r2, [%rd1];
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra LOOP;
    {acquire}
    ld.global.u32 %r3, [%rd1 + 4];
    st.global.u32 [%rd1 + 8], %r3;
    bra END;
WRITER:
    {store} [%rd1 + 4], 77;
    {release}
    {flag} [%rd1], 1;
END:
"""
    )


PLAIN = ("st.global.u32", "fence.proxy.alias.release.sys;", "st.relaxed.sys.global.u32")
READER = ("ld.relaxed.sys.global.u32", "fence.proxy.alias.acquire.sys;")
MMIO = ("st.global.u32", "", "st.mmio.release.sys.global.u32", "ld.mmio.acquire.sys.global.u32", "")


@pytest.mark.parametrize("steps", [(*PLAIN, *READER), MMIO], ids=["alias", "mmio"])
def test_releases_and_acquires_hand_data_over(steps: tuple[str, ...]) -> None:
    device = Emulator()
    out = device.array(np.zeros(3, np.uint32))
    launch(hand_over(*steps), [out], 1, 2, device=device)
    assert list(out.numpy()) == [1, 77, 77]
    assert device.findings == []


@pytest.mark.parametrize(
    "steps",
    [
        (PLAIN[0], "", PLAIN[2], *READER),
        (PLAIN[0], "fence.proxy.alias;", PLAIN[2], *READER),
        (*PLAIN, READER[0], ""),
        (PLAIN[0], "", "st.mmio.relaxed.sys.global.u32", *MMIO[3:]),
        (*MMIO[:3], "ld.mmio.relaxed.sys.global.u32", ""),
    ],
    ids=["no release", "no order", "no acquire", "relaxed store", "relaxed load"],
)
def test_without_them_the_data_races(steps: tuple[str, ...]) -> None:
    device = Emulator()
    fault("P651", hand_over(*steps), [device.array(np.zeros(3, np.uint32))], 1, 2, device=device)


@pytest.mark.parametrize("kind", ["b8", "s16", "u64", "f32", "b128"])
def test_memory_mapped_accesses_move_every_type(kind: str) -> None:
    size = int(kind[1:])
    register = {"b8": "%h1", "s16": "%h1", "u64": "%rd3", "f32": "%f1", "b128": "%q1"}[kind]
    body = f"""
    .reg .b128 %q1;
    ld.param.u64 %rd1, [out];
    ld.mmio.acquire.sys.{kind} {register}, [%rd1];
    st.mmio.release.sys.{kind} [%rd1 + 16], {register};
"""
    data = np.arange(1, 33, dtype=np.uint8)
    device = Emulator()
    out = device.array(data)
    launch(later(body), [out], 1, device=device)
    want = data.copy()
    want[16 : 16 + size // 8] = data[: size // 8]
    np.testing.assert_array_equal(out.numpy(), want)


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
def test_a_read_fence_lets_a_stage_be_refilled(order: str) -> None:
    """It covers reads of its own thread, and is to come before what releases the stage."""

    def found(text: str) -> list[str]:
        device = Emulator(order, strict=True)
        RING.run(device, text.replace(".version 8.6", ".version 9.5"))
        return [finding.code for finding in device.findings]

    assert found(RING.text) == ["P666"]
    assert found(RING.broken(RELEASE, f"{READ_FENCE} {RELEASE}")) == []
    assert found(RING.broken(RELEASE, f"{RELEASE} {READ_FENCE}")) == ["P666"]


@pytest.mark.parametrize(("before", "after", "codes"), [(READ_FENCE, "", []), ("", READ_FENCE, ["P666"])])
def test_a_read_fence_counts_once_it_is_known(before: str, after: str, codes: list[str]) -> None:
    """One that comes behind the release may be over when the stage is written, but nothing says so."""
    body = f"""
    .shared .align 16 .b8 buffer[16];
    .shared .align 8 .b64 bars[2];
    .shared .align 4 .b32 flag;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %p1, %r1, 0;
    mov.u32 %r2, 0;
    @%p1 mbarrier.init.shared.b64 [bars], 1;
    @%p1 mbarrier.init.shared.b64 [bars + 8], 1;
    @%p1 st.shared.u32 [flag], %r2;
    @%p1 st.shared.v4.u32 [buffer], {{%r2, %r2, %r2, %r2}};
    bar.sync 0;
    @%p1 bra WRITER;
    setp.ne.u32 %p2, %r1, 32;
    @%p2 bra END;
    ld.shared.u32 %r3, [buffer];
    {before}
    mbarrier.arrive.shared.b64 _, [bars];
    {after}
    st.relaxed.cta.shared.u32 [flag], 1;
    bra END;
WRITER:
    mbarrier.try_wait.parity.shared.b64 %p3, [bars], 0;
    @!%p3 bra WRITER;
FLAG:
    ld.relaxed.cta.shared.u32 %r4, [flag];
    setp.eq.u32 %p4, %r4, 0;
    @%p4 bra FLAG;
    mbarrier.arrive.expect_tx.shared.b64 _, [bars + 8], 16;
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [buffer], [%rd1], 16, [bars + 8];
DONE:
    mbarrier.try_wait.parity.shared.b64 %p3, [bars + 8], 0;
    @!%p3 bra DONE;
END:
"""
    device = Emulator(strict=True)
    launch(later(body), [device.array(np.zeros(4, np.uint32))], 64, device=device)
    assert [finding.code for finding in device.findings] == codes


def test_a_read_fence_covers_no_write() -> None:
    """What a thread has written needs a fence for writes before a copy reads it."""
    body = """
    .shared .align 16 .b8 buffer[16];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, 5;
    st.shared.v4.u32 [buffer], {%r1, %r1, %r1, %r1};
    FENCE
    cp.async.bulk.global.shared::cta.bulk_group [%rd1], [buffer], 16;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
"""
    device = Emulator()
    out = device.array(np.zeros(4, np.uint32))
    launch(later(body.replace("FENCE", "fence.proxy.async.shared::cta;")), [out], 1, device=device)
    assert list(out.numpy()) == [5] * 4
    fault("P665", later(body.replace("FENCE", READ_FENCE)), [out], 1, device=device)


def test_memory_of_each_cta() -> None:
    """A slice of global memory for each CTA: 10.34, 10.35, 11.4.10."""
    body = """
    mov.u64 %rd1, %perctamemoryoffset;
    mov.u32 %r2, %perctamemorysize;
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %ctaid.x;
    mad.wide.u32 %rd2, %r3, 4, %rd1;
    mad.lo.u32 %r5, %r4, 100, %r3;
    st.global.u32 [%rd2], %r5;
    bar.sync 0;
    xor.b32 %r6, %r3, 1;
    mad.wide.u32 %rd2, %r6, 4, %rd1;
    ld.global.u32 %r1, [%rd2];
    mad.lo.u32 %r1, %r2, 1000, %r1;
"""
    text = later(body + STORE_R1, target="sm_90").replace(")\n{", ")\n.minperctamemory 1025\n{")
    device = Emulator()
    out = device.empty(3 * 64, np.uint32)
    launch(text, [out], 64, 3, device=device)
    want = [2048 * 1000 + cta * 100 + (thread ^ 1) for cta in range(3) for thread in range(64)]
    assert list(out.numpy()) == want
    assert device.findings == []
    # Its bytes are nobody's before they are written, and the last slice ends.
    unwritten = text.replace("xor.b32 %r6, %r3, 1", "add.u32 %r6, %r3, 64")
    decides = "setp.eq.u32 %p1, %r1, 0; @%p1 exit;"
    fault("P605", unwritten.replace("mad.lo.u32 %r1, %r2, 1000, %r1;", decides), [out], 64, 3, device)
    fault("P602", text.replace("xor.b32 %r6, %r3, 1", "mov.u32 %r6, 1536"), [out], 64, 3, device)


def test_a_policy_of_the_fabric_is_an_opaque_number() -> None:
    body = """
    mov.u32 %r2, 0;
    mov.u64 %rd2, 0;
    createpolicy.range.fabric.L2::evict_last.L2::evict_first.b64 %rd1, [%r2, %rd2], 128, 256;
    createpolicy.fractional.L2::evict_last.b64 %rd3, 1.0;
    setp.eq.b64 %p1, %rd1, %rd3;
    selp.u32 %r1, 1, 0, %p1;
"""
    device = Emulator()
    out = device.empty(32, np.uint32)
    launch(later(body + STORE_R1), [out], device=device)
    assert out.numpy().all()


def test_locality_domains_and_trace_marks() -> None:
    """One domain, all of whose multiprocessors are guaranteed; nobody listens to marks."""
    body = """
    mov.u32 %r1, %locality_domain_id;
    mov.u32 %r2, %locality_domain_supplemental_sm;
    shl.b32 %r2, %r2, 16;
    or.b32 %r1, %r1, %r2;
    setp.eq.u32 %p1, %r1, 0;
    trace.mark 7;
    trace.mark.b32 4095, %r1;
    trace.mark.cond 1, !%p1;
    trace.mark.cond.b64 0, %p1, %rd1;
"""
    device = Emulator()
    out = device.empty(32, np.uint32)
    launch(later(body + STORE_R1), [out], device=device)
    assert not out.numpy().any()


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("fence.alias.sync_restrict::read.release.sys;", "no manual has it"),
        ("tensormap.replace.tile.global_address.alloc_same.global.b1024.b64 [%rd1], %rd2;", "told nowhere"),
        ("tensormap.query.alloc_class_large.b1024 %p1, [%rd1];", "told nowhere"),
    ],
)
def test_what_no_text_explains_is_refused(statement: str, reason: str) -> None:
    with pytest.raises(PtxkitError, match=reason) as caught:
        launch(later(f"    {statement}\n"), [0])
    assert [found.code for found in caught.value.diagnostics] == ["P601"]
