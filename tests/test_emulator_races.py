"""Data races: each is found, and the same kernel with the order that was missing is clean."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from emulated import STORE_R1, fault, launch, line_of, module

from ptxkit.diagnostics import Diagnostic
from ptxkit.emulator import Emulator, EmulatorFault

SHARED = """
    .shared .align 16 .b32 s[256];
    mov.u32 %r20, %tid.x;
    mov.u32 %r21, s;
    mad.lo.u32 %r22, %r20, 4, %r21;
    xor.b32 %r23, %r20, 32;
    mad.lo.u32 %r23, %r23, 4, %r21;
    xor.b32 %r24, %r20, 1;
    mad.lo.u32 %r24, %r24, 4, %r21;
"""
"""%r22 is the thread's own place, %r23 that of the thread one warp over, %r24 that of its neighbour."""


def clean(
    body: str, block: int = 64, grid: int = 1, parameters: str = ".param .u64 out", args: int = 1
) -> None:
    """The kernel has no finding; its arguments are zeroed buffers."""
    device = Emulator()
    buffers = [device.array(np.zeros(1024, np.uint32)) for _ in range(args)]
    launch(module(body, parameters), buffers, block, grid, device)
    assert device.findings == []


def racy(
    body: str,
    code: str = "P650",
    block: int = 64,
    grid: int = 1,
    args: int = 1,
    parameters: str = ".param .u64 out",
) -> Diagnostic:
    """The kernel's finding."""
    device = Emulator()
    buffers = [device.array(np.zeros(1024, np.uint32)) for _ in range(args)]
    return fault(code, module(body, parameters), buffers, block, grid, device)


def test_read_after_write_of_another_warp() -> None:
    body = SHARED + "    st.shared.u32 [%r22], %r20;\n    SYNC\n    ld.shared.u32 %r1, [%r23];\n"
    found = racy(body.replace("SYNC", ""))
    text = module(body.replace("SYNC", ""))
    assert found.message == "SMEM-RACE: a read races with another thread's write of shared memory at 0x480"
    assert found.span is not None
    assert found.span.line == line_of(text, "ld.shared")
    assert [label.span.line for label in found.labels] == [line_of(text, "st.shared")]
    assert found.notes == (
        "thread (0, 0, 0) of CTA (0, 0, 0) makes the read here",
        "thread (32, 0, 0) of CTA (0, 0, 0) made the write: "
        f"`st.shared.u32` at line {line_of(text, 'st.shared')}",
    )
    clean(body.replace("SYNC", "bar.sync 0;"))


def test_write_after_read_of_another_warp() -> None:
    body = (
        SHARED
        + """
    st.shared.u32 [%r22], %r20;
    bar.sync 0;
    ld.shared.u32 %r1, [%r23];
    SYNC
    st.shared.u32 [%r22], 1000;
"""
    )
    assert "a write races with another thread's read" in racy(body.replace("SYNC", "")).message
    clean(body.replace("SYNC", "bar.sync 0;"))


def test_write_after_a_read_by_all_warps() -> None:
    """The warp that was the last to read overwrites what the others read too."""
    body = (
        SHARED
        + """
    st.shared.u32 [s], 5;
    bar.sync 0;
    ld.shared.u32 %r1, [s];
    SYNC
    setp.ge.u32 %p1, %r20, 96;
    @%p1 st.shared.u32 [s], 6;
"""
    )
    racy(body.replace("SYNC", ""), block=128)
    clean(body.replace("SYNC", "bar.sync 0;"), block=128)


def test_tree_without_its_barrier() -> None:
    body = (
        SHARED
        + """
    st.shared.u32 [%r22], %r20;
    bar.sync 0;
    mov.u32 %r2, 64;
LOOP:
    setp.ge.u32 %p1, %r20, %r2;
    @%p1 bra SKIP;
    mad.lo.u32 %r3, %r2, 4, %r22;
    ld.shared.u32 %r4, [%r3];
    ld.shared.u32 %r5, [%r22];
    add.u32 %r5, %r4, %r5;
    st.shared.u32 [%r22], %r5;
SKIP:
    SYNC
    shr.u32 %r2, %r2, 1;
    setp.ne.u32 %p2, %r2, 0;
    @%p2 bra LOOP;
"""
    )
    racy(body.replace("SYNC", ""), block=128)
    clean(body.replace("SYNC", "bar.sync 0;"), block=128)


def test_lanes_of_one_warp() -> None:
    body = SHARED + "    st.shared.u32 [%r22], %r20;\n    SYNC\n    ld.shared.u32 %r1, [%r24];\n"
    found = racy(body.replace("SYNC", ""), block=32)
    assert any("WARP-SYNC-ASSUMED" in note for note in found.notes)
    clean(body.replace("SYNC", "bar.warp.sync -1;"), block=32)
    racy(body.replace("SYNC", "shfl.sync.bfly.b32 %r9, %r20, 1, 31, -1;"), block=32)


def test_lanes_of_one_store() -> None:
    body = SHARED + "    and.b32 %r2, %r20, VALUE;\n    st.shared.u32 [s], %r2;\n"
    assert "a write races with another thread's write" in racy(body.replace("VALUE", "1"), block=32).message
    clean(body.replace("VALUE", "0"), block=32)


def test_bytes_of_one_word_are_apart() -> None:
    body = (
        SHARED
        + """
    add.u32 %r2, %r21, %r20;
    st.shared.u8 [%r2], %r20;
    bar.sync 0;
    ld.shared.u32 %r1, [s];
    st.shared.u8 [%r2 + 512], %r20;
    ld.shared.u8 %r3, [%r2 + 512];
"""
    )
    clean(body)


def test_vectors_are_sought_piece_by_piece() -> None:
    body = (
        SHARED
        + """
    mad.lo.u32 %r2, %r20, 16, %r21;
    setp.lt.u32 %p1, %r20, 16;
    @%p1 st.shared.v4.u32 [%r2], {%r20, %r20, %r20, %r20};
    SYNC
    setp.eq.u32 %p2, %r20, 40;
    @%p2 ld.shared.u32 %r1, [s + 124];
"""
    )
    found = racy(body.replace("SYNC", ""))
    assert "at 0x47c" in found.message
    assert found.notes[1].startswith("thread (7, 0, 0)")
    clean(body.replace("SYNC", "bar.sync 0;"))


# ---- barriers of some warps


PIPELINE = (
    SHARED
    + """
    setp.ge.u32 %p1, %r20, 32;
    @%p1 bra CONSUMER;
    st.shared.u32 [%r22], 1;
    barrier.arrive 1, 64;
    WAIT
    st.shared.u32 [%r22], 2;
    barrier.arrive 3, 64;
    bra END;
CONSUMER:
    barrier.sync 1, 64;
    ld.shared.u32 %r1, [%r23];
    DONE
    barrier.sync 3, 64;
    ld.shared.u32 %r1, [%r23];
END:
"""
)


def test_producer_overwrites_what_the_consumer_still_reads() -> None:
    found = racy(PIPELINE.replace("WAIT", "").replace("DONE", ""))
    assert "races" in found.message
    clean(PIPELINE.replace("WAIT", "barrier.sync 2, 64;").replace("DONE", "barrier.arrive 2, 64;"))


def test_a_warp_outside_the_barrier_is_not_ordered() -> None:
    body = (
        SHARED
        + """
    setp.lt.u32 %p1, %r20, 32;
    @%p1 st.shared.u32 [%r22], %r20;
    setp.lt.u32 %p2, %r20, COUNT;
    @%p2 bar.sync 1, COUNT;
    setp.ge.u32 %p3, %r20, 64;
    @%p3 ld.shared.u32 %r1, [s + 8];
"""
    )
    racy(body.replace("COUNT", "64"), block=96)
    clean(body.replace("COUNT", "96"), block=96)


# ---- global memory


def test_ctas_write_one_place() -> None:
    body = """
    mov.u32 %r1, %ctaid.x;
    ld.param.u64 %rd1, [out];
    mad.wide.u32 %rd1, %r1, STEP, %rd1;
    mov.u32 %r20, %tid.x;
    setp.eq.u32 %p1, %r20, 0;
    @%p1 st.global.u32 [%rd1], %r1;
"""
    found = racy(body.replace("STEP", "0"), "P651", grid=3)
    assert found.message.startswith("GMEM-RACE: a write races with another thread's write")
    assert "byte 0 of `array uint32[1024]`" in found.notes[2]
    clean(body.replace("STEP", "4"), grid=3)


def test_batches_are_not_ordered_by_their_turns() -> None:
    """So many CTAs that they don't run together; a launch orders them."""
    body = """
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r20, %tid.x;
    ld.param.u64 %rd1, [out];
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    setp.ne.u32 %p1, %r20, 0;
    @%p1 bra END;
    st.global.u32 [%rd2], %r1;
    setp.ne.u32 %p2, %r1, 999;
    @%p2 bra END;
    ld.global.u32 %r2, [%rd1];
END:
"""
    racy(body, "P651", block=256, grid=1000)
    device = Emulator()
    out = device.array(np.zeros(1024, np.uint32))
    launch(module(body.split("    setp.ne.u32 %p2")[0] + "END:\n"), [out], 256, 1000, device)
    launch(module("    ld.param.u64 %rd1, [out];\n    ld.global.u32 %r2, [%rd1];\n"), [out], 32, 1, device)


def test_threads_of_a_cta_exchange_through_global_memory() -> None:
    body = """
    mov.u32 %r20, %tid.x;
    ld.param.u64 %rd1, [out];
    mad.wide.u32 %rd2, %r20, 4, %rd1;
    st.global.u32 [%rd2], %r20;
    SYNC
    xor.b32 %r2, %r20, 32;
    mad.wide.u32 %rd2, %r2, 4, %rd1;
    ld.global.u32 %r1, [%rd2];
"""
    assert racy(body.replace("SYNC", ""), "P651").code == "P651"
    clean(body.replace("SYNC", "bar.sync 0;"))


FLAG = """
    mov.u32 %r20, %tid.x;
    mov.u32 %r2, %ctaid.x;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [flag];
    setp.ne.u32 %p1, %r20, 0;
    @%p1 bra END;
    setp.eq.u32 %p2, %r2, 1;
    @%p2 bra READ;
    st.global.u32 [%rd1], 77;
    RELEASE
    bra END;
READ:
    ACQUIRE
    setp.eq.u32 %p3, %r3, 0;
    @%p3 bra READ;
    FENCE
    ld.global.u32 %r1, [%rd1];
END:
"""


@pytest.mark.parametrize(
    ("release", "acquire", "after", "ordered"),
    [
        ("st.release.gpu.global.u32 [%rd2], 1;", "ld.acquire.gpu.global.u32 %r3, [%rd2];", "", True),
        ("st.relaxed.gpu.global.u32 [%rd2], 1;", "ld.acquire.gpu.global.u32 %r3, [%rd2];", "", False),
        ("st.release.gpu.global.u32 [%rd2], 1;", "ld.relaxed.gpu.global.u32 %r3, [%rd2];", "", False),
        (
            "membar.gl;\n    st.volatile.global.u32 [%rd2], 1;",
            "ld.volatile.global.u32 %r3, [%rd2];",
            "membar.gl;",
            True,
        ),
        (
            "fence.acq_rel.gpu;\n    red.relaxed.gpu.global.add.u32 [%rd2], 1;",
            "atom.relaxed.gpu.global.add.u32 %r3, [%rd2], 0;",
            "fence.acq_rel.gpu;",
            True,
        ),
        (
            "atom.release.gpu.global.exch.b32 %r4, [%rd2], 1;",
            "atom.acquire.gpu.global.cas.b32 %r3, [%rd2], 1, 2;",
            "",
            True,
        ),
        ("red.relaxed.gpu.global.add.u32 [%rd2], 1;", "ld.acquire.gpu.global.u32 %r3, [%rd2];", "", False),
    ],
)
def test_order_through_a_flag(release: str, acquire: str, after: str, ordered: bool) -> None:
    body = FLAG.replace("RELEASE", release).replace("ACQUIRE", acquire).replace("FENCE", after)
    parameters = ".param .u64 out, .param .u64 flag"
    if ordered:
        clean(body, grid=2, parameters=parameters, args=2)
    else:
        found = racy(body, "P651", grid=2, parameters=parameters, args=2)
        assert "a read races with another thread's write" in found.message


def test_a_flag_read_by_plain_loads() -> None:
    body = FLAG.replace("RELEASE", "st.release.gpu.global.u32 [%rd2], 1;").replace("FENCE", "")
    found = racy(
        body.replace("ACQUIRE", "ld.global.u32 %r3, [%rd2];"),
        "P651",
        grid=2,
        parameters=".param .u64 out, .param .u64 flag",
        args=2,
    )
    assert "races" in found.message


def test_atomics_do_not_race_with_each_other() -> None:
    body = """
    mov.u32 %r20, %tid.x;
    ld.param.u64 %rd1, [out];
    atom.global.add.u32 %r1, [%rd1], 1;
    red.global.max.u32 [%rd1 + 4], %r20;
    STORE
"""
    clean(body.replace("STORE", ""), grid=3)
    store = "setp.eq.u32 %p1, %r20, 9;\n    @%p1 st.global.u32 [%rd1], 0;"
    assert "write" in racy(body.replace("STORE", store), "P651", grid=3).message


def test_the_last_cta_reads_what_the_others_stored() -> None:
    """As the CUDA programming guide's sum over CTAs does: fence, relaxed ticket, barrier, volatile reads. No
    fence stands after the ticket; yet no GPU reads ahead of it. Plain reads need that fence."""
    body = """
    .shared .u32 last;
    mov.u32 %r20, %tid.x;
    mov.u32 %r2, %ctaid.x;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [ticket];
    setp.ne.u32 %p1, %r20, 0;
    @%p1 bra MEET;
    mad.wide.u32 %rd3, %r2, 4, %rd1;
    st.global.u32 [%rd3], 5;
    PUBLISH
    atom.global.inc.u32 %r3, [%rd2], 3;
    st.shared.u32 [last], %r3;
MEET:
    bar.sync 0;
    ld.shared.u32 %r4, [last];
    setp.ne.u32 %p2, %r4, 3;
    @%p2 bra END;
    setp.ge.u32 %p3, %r20, 4;
    @%p3 bra END;
    mad.wide.u32 %rd4, %r20, 4, %rd1;
    READ
END:
"""
    parameters = ".param .u64 out, .param .u64 ticket"
    published = body.replace("PUBLISH", "membar.gl;")
    clean(published.replace("READ", "ld.volatile.global.u32 %r1, [%rd4];"), 64, 4, parameters, 2)
    clean(published.replace("READ", "membar.gl;\n    ld.global.u32 %r1, [%rd4];"), 64, 4, parameters, 2)
    for wrong in (
        published.replace("READ", "ld.global.u32 %r1, [%rd4];"),
        body.replace("PUBLISH", "").replace("READ", "ld.volatile.global.u32 %r1, [%rd4];"),
    ):
        assert "races" in racy(wrong, "P651", 64, 4, 2, parameters).message


def test_order_passes_from_cta_to_cta() -> None:
    """What one CTA has acquired, its release passes on; a barrier passes it on inside the CTA."""
    body = """
    mov.u32 %r20, %tid.x;
    mov.u32 %r2, %ctaid.x;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [flag];
    mad.wide.u32 %rd3, %r2, 4, %rd2;
    setp.ne.u32 %p1, %r20, 0;
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra WORK;
    @%p1 bra MEET;
WAIT:
    ld.acquire.gpu.global.u32 %r3, [%rd3];
    setp.eq.u32 %p3, %r3, 0;
    @%p3 bra WAIT;
MEET:
    BARRIER
WORK:
    mad.wide.u32 %rd4, %r20, 4, %rd1;
    ld.global.u32 %r4, [%rd4];
    add.u32 %r4, %r4, 1;
    st.global.u32 [%rd4], %r4;
    bar.sync 0;
    @%p1 bra END;
    st.release.gpu.global.u32 [%rd3 + 4], 1;
END:
"""
    parameters = ".param .u64 out, .param .u64 flag"
    clean(body.replace("BARRIER", "bar.sync 0;"), grid=4, parameters=parameters, args=2)
    assert racy(body.replace("BARRIER", ""), "P651", grid=4, parameters=parameters, args=2)


ONE_SLOT = """
    .shared .align 4 .b32 slot;
    mov.u32 %r20, %tid.x;
    setp.eq.u32 %p1, %r20, 0;
    GUARD st.shared.u32 [slot], %r21;
    MEET
    ld.shared.u32 %r1, [slot];
"""


@pytest.mark.parametrize("meet", ["", "bar.warp.sync 0xffffffff;", "bar.sync 0;"])
@pytest.mark.parametrize("guard", ["@%p1", ""])
def test_all_threads_load_what_one_or_all_stored(guard: str, meet: str) -> None:
    """The other warps, and without `bar.warp.sync` the other lanes, must wait; who stored need not."""
    body = "    mov.u32 %r21, 7;" + ONE_SLOT.replace("GUARD", guard).replace("MEET", meet) + STORE_R1
    if guard and "bar.sync" not in meet:
        found = racy(body, "P650")
        thread = "thread (32, 0, 0)" if meet else "thread (1, 0, 0)"
        assert thread in str(found)
    else:
        clean(body)


def test_one_overwrites_what_all_have_loaded() -> None:
    """The thread that writes is the first of those that read."""
    body = "    mov.u32 %r21, 7;" + ONE_SLOT.replace("GUARD", "@%p1").replace("MEET", "bar.sync 0;")
    body += "    MEET\n    mov.u32 %r21, 9;\n    @%p1 st.shared.u32 [slot], %r21;\n" + STORE_R1
    assert "a write races with another thread's read" in racy(body.replace("MEET", "")).message
    clean(body.replace("MEET", "bar.sync 0;"))


CTAS_THAT_KNOW = """
    mov.u32 %r20, %ctaid.x;
    mov.u32 %r21, %tid.x;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [flag];
    red.relaxed.gpu.global.add.u32 [%rd2 + 4], 1;
    red.release.gpu.global.add.u32 [%rd2], 1;
    setp.ne.u32 %p1, %r20, KNOWS;
    @%p1 bra LOAD;
    ld.acquire.gpu.global.u32 %r2, [%rd2];
    bar.sync 0;
LOAD:
    ld.global.VECTOR, [%rd1];
    setp.eq.u32 %p2, %r20, 1;
    setp.eq.and.u32 %p2, %r21, 0, %p2;
    @%p2 st.global.u32 [%rd1], 5;
"""


@pytest.mark.parametrize("vector", ["u32 %r1", "u64 %rd3", "v4.u32 {%r1, %r2, %r3, %r4}"])
@pytest.mark.parametrize("knows", [0, 1])
def test_ctas_that_know_unequally_much_load_one_place(knows: int, vector: str) -> None:
    """One CTA has acquired, the other has not; the reads of both count against the store of the second."""
    body = CTAS_THAT_KNOW.replace("VECTOR", vector).replace("KNOWS", str(knows))
    parameters = ".param .u64 out, .param .u64 flag"
    found = racy(body, "P651", grid=2, args=2, parameters=parameters)
    assert "a write races with another thread's read" in found.message


READ_EXCHANGE_WRITE = """
    FIRST
    shfl.sync.bfly.b32 %r25, %r20, 1, 31, MASK;
    SECOND
"""
READ, WRITE = "ld.shared.u32 %r1, [%r24];", "st.shared.u32 [%r22], %r25;"


@pytest.mark.parametrize(
    ("first", "mask", "second", "ordered"),
    [
        (READ, "-1", WRITE, True),
        (READ, "%r27", WRITE, True),
        (READ.replace("%r24", "%r23"), "-1", WRITE, False),
        (READ, "%r26", WRITE, False),
        (WRITE.replace("%r25", "%r20"), "-1", READ, False),
        (WRITE.replace("%r25", "%r20"), "-1", "st.shared.u32 [%r24], %r20;", False),
    ],
    ids=["read", "read-named", "another-warp", "some-lanes", "write-read", "write-write"],
)
def test_a_read_before_an_exchange_is_over_behind_it(
    first: str, mask: str, second: str, ordered: bool
) -> None:
    """Not so of other warps, of lanes that exchange apart from others, and of writes."""
    body = READ_EXCHANGE_WRITE.replace("FIRST", first).replace("MASK", mask).replace("SECOND", second)
    zero = "    st.shared.u32 [%r22], 0;\n    bar.sync 0;\n    and.b32 %r26, %r20, 2;\n"
    zero += "    mov.b32 %r27, 0xffffffff;\n"
    zero += "    setp.eq.u32 %p1, %r26, 0;\n    selp.b32 %r26, 0x33333333, 0xcccccccc, %p1;\n"
    text = SHARED + zero + body + STORE_R1
    if ordered:
        clean(text)
    else:
        racy(text)


def test_nothing_is_sought_without_the_sanitizer() -> None:
    body = SHARED + "    st.shared.u32 [%r22], %r20;\n    ld.shared.u32 %r1, [%r23];\n"
    device = Emulator(sanitize=False)
    launch(module(body + STORE_R1), [device.empty(64, np.uint32)], 64, 1, device)


def test_lines_of_included_files_are_named_as_they_stand_there(tmp_path: Path) -> None:
    (tmp_path / "store.ptxh").write_text("// stores\nmov.u32 %r2, 5;\nst.shared.u32 [%r1], %r2;\n")
    main = tmp_path / "main.ptx"
    main.write_text(
        ".version 8.0\n.target sm_80\n.address_size 64\n.shared .b32 s;\n.entry k() {\n"
        ".reg .b32 %r<4>;\n.reg .pred %p;\nmov.u32 %r1, %tid.x;\nsetp.gt.u32 %p, %r1, 31;\nmov.u32 %r1, s;\n"
        '@%p bra LOAD;\n#include "store.ptxh"\nret;\nLOAD:\nld.shared.u32 %r3, [%r1];\nret;\n}\n'
    )
    with pytest.raises(EmulatorFault) as caught:
        Emulator().load(main).kernel().launch(1, 64, [])
    (found,) = caught.value.diagnostics
    assert found.code == "P650"
    assert "`st.shared.u32` at line 3 of `" in str(found.notes)
    assert "store.ptxh`" in str(found.notes)
    assert ":15:" in str(found)


def test_a_guard_that_differs_between_ctas_alone() -> None:
    """Those that take no part have neither a record nor an address of their own in an access."""
    body = (
        SHARED
        + """
    mov.u32 %r1, %ctaid.x;
    setp.eq.u32 %p1, %r1, 1;
    ld.param.u64 %rd1, [out];
    selp.b64 %rd1, %rd1, 0, %p1;
    mad.wide.u32 %rd1, %r20, 4, %rd1;
    @%p1 st.shared.u32 [%r22], %r20;
    @%p1 ld.global.u32 %r2, [%rd1];
    st.shared.u32 [%r22], %r1;
"""
    )
    clean(body, grid=3)


def test_a_guard_that_is_the_same_in_every_warp() -> None:
    """Warps that load one place together under it count as its lanes do."""
    body = (
        SHARED
        + """
    mov.u32 %r1, %laneid;
    setp.lt.u32 %p1, %r1, 7;
    ld.param.u64 %rd1, [out];
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    @%p1 ld.global.u32 %r2, [%rd2];
    st.global.u32 [%rd1 + 2048], %r1;
"""
    )
    body = body.replace(
        "st.global.u32 [%rd1 + 2048], %r1",
        "mad.wide.u32 %rd1, %r20, 4, %rd1;\n    st.global.u32 [%rd1 + 2048], %r1",
    )
    clean(body)


@pytest.mark.parametrize(
    "store",
    [
        "st.global.f32 [%rd1], %f1;",
        f"wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1], {{{', '.join(['%f1'] * 8)}}};",
    ],
)
def test_a_store_beside_a_load_of_another_cta(store: str) -> None:
    """Races are sought in what a kernel stores through, whichever instruction it is."""
    body = f"""
    mov.f32 %f1, 0f3F800000;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %ctaid.x;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra STORE;
    ld.global.f32 %f2, [%rd1];
    ret;
STORE:
    {store}
"""
    device = Emulator()
    found = fault("P651", module(body), [device.array(np.zeros(256, np.float32))], grid=2, device=device)
    assert found.message.startswith("GMEM-RACE")


SWAPS = (
    SHARED
    + """
    setp.eq.u32 %p1, %r20, 0;
    @%p1 st.shared.u32 [s], 0;
    bar.sync 0;
    setp.lt.u32 %p2, %r20, 32;
    @%p2 bra TURN;
    membar.cta;
    membar.cta;
    membar.cta;
TURN:
    ld.shared.u32 %r1, [s];
AGAIN:
    add.u32 %r2, %r1, 1;
    SWAP
    setp.ne.u32 %p1, %r1, %r3;
    mov.u32 %r1, %r3;
    @%p1 bra AGAIN;
    LAST
    ld.shared.u32 %r1, [s];
"""
)
SWAP = "atom.shared.cas.b32 %r3, [s], %r1, %r2;"


@pytest.mark.parametrize(
    ("swap", "last", "code"),
    [
        (SWAP, "bar.sync 0;", ""),
        ("call (%r3), swap, (%r21, %r1, %r2);", "bar.sync 0;", ""),
        # What is loaded last is no guess.
        (SWAP, "", "P650"),
        ("atom.shared.add.u32 %r3, [s], 1; mov.u32 %r1, %r3;", "bar.sync 0;", "P650"),
    ],
)
def test_a_plain_load_may_guess_what_a_compare_and_swap_will_find(swap: str, last: str, code: str) -> None:
    """CUDA's atomics on two bfloat16 begin with one: the swap tells whether the guess was good."""
    function = """.func (.reg .b32 %r0) swap(.reg .b32 %r1, .reg .b32 %r2, .reg .b32 %r3) {
    atom.shared.cas.b32 %r0, [%r1], %r2, %r3;
    ret;
}"""
    body = SWAPS.replace("SWAP", swap).replace("LAST", last)
    found = set()
    for seed in range(20):
        device = Emulator(order="random", seed=seed)
        try:
            launch(module(body, before=function), [0], 64, device=device)
        except EmulatorFault as problem:
            found |= {diagnostic.code for diagnostic in problem.diagnostics}
    assert found == ({code} if code else set())
