"""Divergence, reconvergence, forward progress, barriers: what lanes and warps do together and apart."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import STORE_R1, launch, module, threads
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxkit.emulator import Emulator
from ptxkit.emulator.sync_points import packed

TID = "    mov.u32 %r20, %tid.x;\n"


def test_lanes_part_and_meet() -> None:
    got = threads(
        TID
        + """
    and.b32 %r2, %r20, 1;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra EVEN;
    mul.lo.u32 %r1, %r20, 3;
    bra JOIN;
EVEN:
    add.u32 %r1, %r20, 1000;
JOIN:
    add.u32 %r1, %r1, 1;
""",
        block=80,
    )
    t = np.arange(80)
    assert np.array_equal(got, np.where(t % 2, t * 3, t + 1000) + 1)


def test_loops_of_different_length() -> None:
    got = threads(
        TID
        + """
    mov.u32 %r1, 0;
    mov.u32 %r2, 0;
LOOP:
    setp.ge.u32 %p1, %r2, %r20;
    @%p1 bra DONE;
    add.u32 %r1, %r1, %r2;
    add.u32 %r2, %r2, 1;
    bra LOOP;
DONE:
""",
        block=100,
        grid=3,
    )
    assert np.array_equal(got, [t * (t - 1) // 2 for t in range(100)] * 3)


def test_nested_divergence_keeps_registers_apart() -> None:
    body = (
        TID
        + """
    mov.u32 %r1, 7;
    and.b32 %r2, %r20, 3;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra OUT;
    add.u32 %r1, %r1, %r2;
    setp.eq.u32 %p2, %r2, 1;
    @%p2 bra OUT;
    mul.lo.u32 %r1, %r1, 10;
    setp.eq.u32 %p3, %r2, 2;
    @!%p3 add.u32 %r1, %r1, 1;
OUT:
"""
    )
    assert np.array_equal(threads(body, block=64), [7, 8, 90, 101] * 16)


def test_guarded_exit_and_partial_warps() -> None:
    device = Emulator()
    out = device.array(np.zeros(50, np.uint32))
    text = module(
        TID
        + """
    setp.gt.u32 %p1, %r20, 40;
    @%p1 exit;
    setp.lt.u32 %p2, %r20, 5;
    @%p2 ret;
    add.u32 %r1, %r20, 1;
    ld.param.u64 %rd1, [out];
    mad.wide.u32 %rd1, %r20, 4, %rd1;
    st.global.u32 [%rd1], %r1;
"""
    )
    launch(text, [out], block=50, device=device)
    t = np.arange(50)
    assert np.array_equal(out.numpy(), np.where((t < 5) | (t > 40), 0, t + 1))


def test_branch_table() -> None:
    body = (
        TID
        + """
    and.b32 %r2, %r20, 3;
targets: .branchtargets L0, L1, L2, L3;
    @%p7 bra L0;
    brx.idx %r2, targets;
L0: mov.u32 %r1, 5;
    bra END;
L1: mov.u32 %r1, 6;
    bra END;
L2: mov.u32 %r1, 7;
    bra END;
L3: mov.u32 %r1, 8;
END:
"""
    )
    body = "    setp.ne.u32 %p7, 0, 0;\n" + body
    assert np.array_equal(threads(body, block=64), [5, 6, 7, 8] * 16)


def test_sibling_lanes_do_not_starve() -> None:
    """Lane 0 spins at a lower address until lane 1, further down, has stored."""
    device = Emulator()
    flag, out = device.array(np.zeros(1, np.uint32)), device.empty(32, np.uint32)
    text = module(
        TID
        + """
    ld.param.u64 %rd1, [flag];
    setp.ne.u32 %p1, %r20, 0;
    @%p1 bra OTHERS;
SPIN:
    ld.volatile.global.u32 %r2, [%rd1];
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra SPIN;
    mov.u32 %r1, 100;
    bra JOIN;
OTHERS:
    mov.u32 %r1, 5;
    setp.ne.u32 %p3, %r20, 1;
    @%p3 bra JOIN;
    st.volatile.global.u32 [%rd1], 1;
JOIN:
    ld.param.u64 %rd2, [out];
    mad.wide.u32 %rd2, %r20, 4, %rd2;
    st.global.u32 [%rd2], %r1;
""",
        ".param .u64 flag, .param .u64 out",
    )
    launch(text, [flag, out], device=device)
    assert list(out.numpy()) == [100] + [5] * 31


@pytest.mark.parametrize("ctas", [4, 300])
def test_ctas_wait_for_one_another(ctas: int) -> None:
    """Each CTA waits for the next one's flag; the last one sets its own at once. All must be resident."""
    device = Emulator()
    flags = device.array(np.zeros(ctas + 1, np.uint32))
    text = module(
        TID
        + """
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %nctaid.x;
    ld.param.u64 %rd1, [flags];
    mad.wide.u32 %rd1, %r3, 4, %rd1;
    add.u32 %r5, %r3, 1;
    setp.eq.u32 %p1, %r5, %r4;
    @%p1 bra SET;
WAIT:
    ld.acquire.gpu.global.u32 %r6, [%rd1 + 4];
    setp.eq.u32 %p2, %r6, 0;
    @%p2 nanosleep.u32 20;
    @%p2 bra WAIT;
SET:
    st.release.gpu.global.u32 [%rd1], 1;
""",
        ".param .u64 flags",
    )
    launch(text, [flags], block=64, grid=ctas, device=device)
    assert list(flags.numpy()) == [1] * ctas + [0]


def test_counters_of_time_move_on() -> None:
    body = """
    mov.u64 %rd1, %globaltimer;
    mov.u32 %r2, %clock;
WAIT:
    mov.u64 %rd2, %globaltimer;
    sub.u64 %rd3, %rd2, %rd1;
    setp.lt.u64 %p1, %rd3, 1000;
    @%p1 bra WAIT;
    mov.u32 %r3, %clock;
    setp.gt.u32 %p2, %r3, %r2;
    selp.u32 %r1, 1, 0, %p2;
"""
    assert np.array_equal(threads(body), np.ones(32))


# ---- barriers


def test_barrier_exchanges_data() -> None:
    got = threads(
        TID
        + """
    .shared .align 4 .b32 s[128];
    mov.u32 %r3, s;
    mad.lo.u32 %r4, %r20, 4, %r3;
    st.shared.u32 [%r4], %r20;
    bar.sync 0;
    sub.u32 %r5, 127, %r20;
    mad.lo.u32 %r4, %r5, 4, %r3;
    ld.shared.u32 %r1, [%r4];
""",
        block=128,
        grid=5,
    )
    assert np.array_equal(got, list(range(127, -1, -1)) * 5)


def test_barrier_of_some_warps_and_different_places() -> None:
    """Warps 0 and 1 meet at barrier 1 from different instructions; warps 2 and 3 take no part."""
    got = threads(
        TID
        + """
    .shared .align 4 .b32 s[4];
    shr.u32 %r2, %r20, 5;
    mov.u32 %r1, %r2;
    setp.ge.u32 %p1, %r2, 2;
    @%p1 bra END;
    mov.u32 %r3, s;
    setp.eq.u32 %p2, %r2, 1;
    @%p2 bra ONE;
    st.shared.u32 [%r3], 77;
    barrier.sync 1, 64;
    bra END;
ONE:
    barrier.sync 1, 64;
    ld.shared.u32 %r1, [%r3];
END:
    bar.sync 0;
""",
        block=128,
    )
    assert list(got[::32]) == [0, 77, 2, 3]


def test_producer_arrives_and_goes_on() -> None:
    """Warp 0 only arrives at barrier 2 and runs to its end; warp 1 waits for it."""
    got = threads(
        TID
        + """
    .shared .align 4 .b32 s[2];
    mov.u32 %r3, s;
    mov.u32 %r1, 1;
    setp.ge.u32 %p1, %r20, 32;
    @%p1 bra CONSUMER;
    st.shared.u32 [%r3], 5;
    barrier.arrive 2, 64;
    bra END;
CONSUMER:
    barrier.sync 2, 64;
    ld.shared.u32 %r1, [%r3];
END:
""",
        block=64,
    )
    assert list(got[::32]) == [1, 5]


def test_barrier_waits_for_no_warp_that_exited() -> None:
    device = Emulator()
    out = device.array(np.zeros(96, np.uint32))
    text = module(
        TID
        + """
    setp.lt.u32 %p1, %r20, 32;
    @%p1 exit;
    bar.sync 0;
    ld.param.u64 %rd1, [out];
    mad.wide.u32 %rd1, %r20, 4, %rd1;
    st.global.u32 [%rd1], %r20;
"""
    )
    launch(text, [out], block=96, device=device)
    assert list(out.numpy()) == [0] * 32 + list(range(32, 96))


@pytest.mark.parametrize(
    ("form", "expected"),
    [("popc.u32 %r1", 37), ("and.pred %p2", 0), ("or.pred %p2", 1)],
)
def test_barrier_reduction(form: str, expected: int) -> None:
    body = (
        TID
        + f"""
    setp.lt.u32 %p1, %r20, 37;
    bar.red.{form}, 0, %p1;
"""
    )
    if "%p2" in form:
        body += "    selp.u32 %r1, 1, 0, %p2;\n"
    assert np.array_equal(threads(body, block=96, grid=2), np.full(192, expected))


def test_barrier_in_divergent_warps() -> None:
    """The non-aligned form may be reached by the lanes of a warp one part after the other."""
    got = threads(
        TID
        + """
    .shared .align 4 .b32 s[64];
    mov.u32 %r3, s;
    mad.lo.u32 %r4, %r20, 4, %r3;
    and.b32 %r2, %r20, 1;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra EVEN;
    st.shared.u32 [%r4], 1;
    barrier.sync 0;
    bra END;
EVEN:
    st.shared.u32 [%r4], 2;
    barrier.sync 0;
END:
    xor.b32 %r4, %r4, 4;
    ld.shared.u32 %r1, [%r4];
""",
        block=64,
    )
    assert np.array_equal(got, [1, 2] * 32)


# ---- warp-synchronous instructions


def test_shuffle_among_lanes_that_arrive_apart() -> None:
    """Odd lanes come to the shuffle a loop later than even ones: it waits for all lanes of its mask."""
    got = threads(
        TID
        + """
    and.b32 %r2, %r20, 1;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra MEET;
    mov.u32 %r3, 0;
AGAIN:
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p2, %r3, 50;
    @%p2 bra AGAIN;
MEET:
    shfl.sync.bfly.b32 %r1, %r20, 1, 31, -1;
"""
    )
    assert np.array_equal(got, np.arange(32) ^ 1)


def test_half_warps_with_masks_of_their_own() -> None:
    got = threads(
        TID
        + """
    setp.lt.u32 %p1, %r20, 16;
    @%p1 bra LOW;
    shfl.sync.idx.b32 %r1, %r20, 20, 31, 0xffff0000;
    bra END;
LOW:
    shfl.sync.idx.b32 %r1, %r20, 3, 31, 0x0000ffff;
END:
"""
    )
    assert np.array_equal(got, [3] * 16 + [20] * 16)


def test_activemask_in_divergent_code() -> None:
    got = threads(
        TID
        + """
    mov.u32 %r1, 0;
    setp.ge.u32 %p1, %r20, 12;
    @%p1 bra END;
    activemask.b32 %r2;
    bar.warp.sync %r2;
    vote.sync.ballot.b32 %r1, %p1, %r2;
    not.b32 %r1, %r1;
    and.b32 %r1, %r1, %r2;
END:
"""
    )
    assert np.array_equal(got, np.where(np.arange(32) < 12, 0xFFF, 0))


@settings(max_examples=60, deadline=None)
@given(
    mode=st.sampled_from(["up", "down", "bfly", "idx"]),
    b=st.integers(0, 40),
    clamp=st.integers(0, 31),
    segment=st.sampled_from([0, 16, 24, 28, 30, 31, 5]),
    constant=st.booleans(),
)
def test_shuffle_against_the_manual(mode: str, b: int, clamp: int, segment: int, constant: bool) -> None:
    c = segment << 8 | clamp
    operands = f"{b}, {c}" if constant else "%r3, %r4"
    body = (
        TID
        + f"""
    mul.lo.u32 %r2, %r20, 100;
    add.u32 %r3, %r20, {b};
    sub.u32 %r3, %r3, %r20;
    mov.u32 %r4, {c};
    shfl.sync.{mode}.b32 %r5|%p1, %r2, {operands}, -1;
    selp.u32 %r6, 1, 0, %p1;
    add.u32 %r1, %r5, %r6;
"""
    )
    expected = []
    for lane in range(32):
        offset = b & 31
        low = lane & segment
        high = low | clamp & ~segment & 31
        source = {
            "up": lane - offset,
            "down": lane + offset,
            "bfly": lane ^ offset,
            "idx": low | offset & ~segment & 31,
        }[mode]
        valid = source >= high if mode == "up" else source <= high
        expected.append((source if valid else lane) * 100 + valid)
    assert list(threads(body)) == expected


@pytest.mark.parametrize("operator", ["add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32"])
def test_redux_with_two_masks_in_a_warp(operator: str) -> None:
    name, kind = operator.split(".")
    body = (
        TID
        + f"""
    mad.lo.u32 %r2, %r20, 0x9e3779b9, 77;
    setp.lt.u32 %p1, %r20, 10;
    selp.b32 %r3, 0x3ff, 0xfffffc00, %p1;
    redux.sync.{operator} %r1, %r2, %r3;
"""
    )
    values = np.arange(32, dtype=np.uint32) * np.uint32(0x9E3779B9) + np.uint32(77)
    typed = values.view(np.int32 if kind == "s32" else np.uint32)
    functions = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "add": np.add}
    reduce = functions.get(name) or {"min": np.minimum, "max": np.maximum}[name]
    parts = [reduce.reduce(part, dtype=part.dtype) for part in (typed[:10], typed[10:])]
    expected = np.repeat(np.array(parts).astype(typed.dtype).view(np.uint32), [10, 22])
    assert np.array_equal(threads(body), expected)


def test_match_vote_and_elect() -> None:
    body = (
        TID
        + """
    shr.u32 %r2, %r20, 3;
    match.any.sync.b32 %r3, %r2, -1;
    match.all.sync.b32 %r4|%p1, %r2, -1;
    elect.sync %r5|%p2, 0xfffffff0;
"""
    )
    with_mask = body.replace("    elect.sync %r5|%p2, 0xfffffff0;\n", "    mov.u32 %r1, %r3;\n")
    assert np.array_equal(threads(with_mask), np.repeat([0xFF, 0xFF00, 0xFF0000, 0xFF000000], 8))
    same = """
    mov.u32 %r2, 9;
    match.all.sync.b32 %r1|%p1, %r2, -1;
"""
    assert np.array_equal(threads(same), np.full(32, 0xFFFF_FFFF))
    leader = (
        TID
        + """
    mov.u32 %r1, 99;
    setp.lt.u32 %p1, %r20, 4;
    @%p1 bra END;
    elect.sync %r1|%p2, 0xfffffff0;
    @%p2 add.u32 %r1, %r1, 1000;
END:
"""
    )
    assert np.array_equal(threads(leader), [99] * 4 + [1004] + [4] * 27)


EVEN = 0x5555_5555
ODD = EVEN << 1


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("activemask.b32 %r1;", [EVEN, ODD]),
        ("elect.sync %r1|%p2, %r3;", [0, 1]),
        ("vote.sync.ballot.b32 %r1, %p1, %r3;", [EVEN, 0]),
        ("match.any.sync.b32 %r1, %r4, %r3;", [EVEN, ODD]),
        ("match.all.sync.b32 %r1|%p2, %r4, %r3;", [EVEN, ODD]),
        ("redux.sync.or.b32 %r1, %r20, %r3;", [30, 31]),
        ("shfl.sync.idx.b32 %r1, %r20, %r4, 0x1f, %r3;", [0, 1]),
        ("bar.warp.sync %r3; mov.u32 %r1, 7;", [7, 7]),
    ],
)
def test_lanes_part_by_a_value_that_was_shuffled(statement: str, expected: list[int]) -> None:
    """What a shuffle gathers has another layout in memory than what arithmetic makes; here of four warps."""
    lanes = """
    shfl.sync.bfly.b32 %r2, %r20, 6, 0x1f, -1;
    and.b32 %r4, %r2, 1;
    setp.eq.u32 %p1, %r4, 0;
    selp.b32 %r3, 0x55555555, 0xaaaaaaaa, %p1;
    and.b32 %r20, %r20, 31;
    mov.u32 %r1, 0;
    @%p1 bra EVEN;
    STATEMENT
    bra JOIN;
EVEN:
    STATEMENT
JOIN:
"""
    for seed in range(-1, 5):
        device = Emulator("random", seed=seed) if seed >= 0 else Emulator()
        out = device.empty(256, np.uint32)
        launch(module(TID + lanes.replace("STATEMENT", statement) + STORE_R1), [out], 128, 2, device)
        assert np.array_equal(out.numpy(), np.tile(np.array(expected, np.uint32), 128))


def test_lanes_pack_whatever_their_layout() -> None:
    lanes = np.random.default_rng(0).random((5, 32)) < 0.5
    words = [[sum(1 << lane for lane in range(32) if row[lane])] for row in lanes]
    for laid in (lanes, np.asfortranarray(lanes), np.repeat(lanes, 2, axis=1)[:, ::2], lanes[::-1][::-1]):
        assert packed(laid).tolist() == words
    assert packed(np.broadcast_to(lanes[:, :1], (5, 32))).tolist() == [
        [0xFFFF_FFFF if row[0] else 0] for row in lanes
    ]


ELECTION = """
    setp.lt.u32 %p1, %r20, 4;
    @%p1 bra END;
    elect.sync %r1|%p2, 0xfffffff0;
END:
    elect.sync %r2|%p3, -1;
    mad.lo.u32 %r1, %r2, 100, %r1;
"""


def elected(order: str, seed: int, strict: bool) -> tuple[int, int]:
    """The leaders of lanes 4 to 31 and of all, in three warps that must agree."""
    device = Emulator(order, seed=seed, strict=strict)
    out = device.empty(96, np.uint32)
    launch(
        module("    mov.u32 %r20, %laneid;\n    mov.u32 %r1, 0;\n" + ELECTION + STORE_R1),
        [out],
        96,
        1,
        device,
    )
    found = out.numpy().reshape(3, 32)
    (some,), (everyone,) = np.unique(found[:, 4:] % 100), np.unique(found // 100)
    return int(some), int(everyone)


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
def test_elect_takes_the_lowest_lane_as_hardware_does(order: str) -> None:
    assert {elected(order, seed, False) for seed in range(8)} == {(4, 0)}


def test_a_strict_emulator_elects_any_lane_of_the_mask_in_random_order() -> None:
    assert elected("lazy", 0, True) == elected("eager", 0, True) == (4, 0)
    leaders = {elected("random", seed, True) for seed in range(20)}
    assert len(leaders) > 5
    assert all(4 <= some < 32 and everyone < 32 for some, everyone in leaders)


# ---- any control flow gives what one thread alone would do


@st.composite
def programs(draw: st.DrawFn) -> list[tuple[str, int, int]]:
    """Blocks that each change an accumulator and branch, backward at most a few times."""
    count = draw(st.integers(2, 7))
    return [
        (
            draw(st.sampled_from(["add", "mul", "xor"])),
            draw(st.integers(1, 9)),
            draw(st.integers(0, count)),
        )
        for _ in range(count)
    ]


@settings(max_examples=40, deadline=None)
@given(program=programs(), block=st.sampled_from([32, 70, 256]))
def test_random_control_flow(program: list[tuple[str, int, int]], block: int) -> None:
    """Block i changes %r1, and threads whose %r1 has bit i of its hash set go to another block."""
    lines = [TID, "    mov.u32 %r1, %r20;\n    mov.u32 %r2, 0;\n"]
    opcodes = {"add": "add.u32", "mul": "mul.lo.u32", "xor": "xor.b32"}
    for i, (operation, value, target) in enumerate(program):
        lines.append(f"""
B{i}:
    add.u32 %r2, %r2, 1;
    {opcodes[operation]} %r1, %r1, {value};
    setp.gt.u32 %p1, %r2, 20;
    @%p1 bra B{len(program)};
    shr.u32 %r3, %r1, {i % 5};
    and.b32 %r3, %r3, 1;
    setp.eq.u32 %p2, %r3, 1;
    @%p2 bra B{target};
""")
    lines.append(f"B{len(program)}:\n")
    got = threads("".join(lines), block=block)
    functions = {"add": lambda a, b: a + b, "mul": lambda a, b: a * b, "xor": lambda a, b: a ^ b}
    for thread in range(block):
        acc, steps, at = thread, 0, 0
        while at < len(program):
            operation, value, target = program[at]
            steps += 1
            acc = functions[operation](acc, value) & 0xFFFF_FFFF
            if steps > 20:
                break
            at = target if acc >> at % 5 & 1 else at + 1
        assert got[thread] == acc


# ---- random order


@pytest.mark.parametrize("seed", range(4))
def test_random_order_gives_the_same_results(seed: int) -> None:
    """Divergence, barriers and shuffles; a lock, whose holder is another one each time."""
    text = module(
        TID
        + """
    .shared .align 4 .b32 s[64];
    ld.param.u64 %rd1, [out];
    mov.u32 %r3, s;
    mad.lo.u32 %r4, %r20, 4, %r3;
    mov.u32 %r2, 0;
LOOP:
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, %r20;
    @%p1 bra LOOP;
    shfl.sync.bfly.b32 %r5, %r2, 5, 31, -1;
    st.shared.u32 [%r4], %r5;
    bar.sync 0;
    xor.b32 %r6, %r4, 128;
    ld.shared.u32 %r1, [%r6];
    mad.wide.u32 %rd2, %r20, 4, %rd1;
    st.global.u32 [%rd2 + 4], %r1;
    atom.global.add.u32 %r7, [%rd1], %r20;
"""
    )
    device = Emulator(order="random", seed=seed)
    out = device.array(np.zeros(65, np.uint32))
    launch(text, [out], block=64, device=device)
    held = np.maximum(np.arange(64) ^ 5, 1)
    assert np.array_equal(out.numpy()[1:], held[np.arange(64) ^ 32])
    assert out.numpy()[0] == 63 * 32


def test_random_order_shuffles_atomics() -> None:
    text = module(
        TID
        + """
    ld.param.u64 %rd1, [out];
    atom.global.add.u32 %r1, [%rd1], 1;
    mad.wide.u32 %rd2, %r20, 4, %rd1;
    st.global.u32 [%rd2 + 4], %r1;
"""
    )
    orders = []
    for seed in range(3):
        device = Emulator(order="random", seed=seed)
        out = device.array(np.zeros(33, np.uint32))
        launch(text, [out], device=device)
        orders.append(tuple(out.numpy()[1:]))
        assert sorted(orders[-1]) == list(range(32))
    assert len(set(orders)) == 3


def test_grid_barrier_of_a_cooperative_launch() -> None:
    """As cooperative groups make it: one thread a CTA adds to the word at +4 of the workspace and waits until
    its highest bit has turned; CTA 0 adds what the others leave of 2^31."""
    body = (
        TID
        + """
    .shared .align 4 .b32 dummy;
    mov.u32 %r2, %envreg1;
    mov.u32 %r3, %envreg2;
    mov.b64 %rd1, {%r3, %r2};
    setp.eq.u64 %p1, %rd1, 0;
    @%p1 trap;
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %nctaid.x;
    ld.param.u64 %rd2, [out];
    mad.wide.u32 %rd3, %r4, 4, %rd2;
    setp.ne.u32 %p2, %r20, 0;
    @!%p2 st.global.u32 [%rd3], %r4;
    bar.sync 0;
    @%p2 bra MEET;
    sub.u32 %r6, 0x80000001, %r5;
    setp.eq.u32 %p3, %r4, 0;
    selp.u32 %r6, %r6, 1, %p3;
    membar.gl;
    atom.add.release.gpu.u32 %r7, [%rd1 + 4], %r6;
WAIT:
    ld.acquire.gpu.u32 %r8, [%rd1 + 4];
    xor.b32 %r8, %r8, %r7;
    setp.ge.s32 %p4, %r8, 0;
    @%p4 bra WAIT;
MEET:
    bar.sync 0;
    sub.u32 %r9, %r5, %r4;
    sub.u32 %r9, %r9, 1;
    mad.wide.u32 %rd3, %r9, 4, %rd2;
    ld.global.u32 %r1, [%rd3];
    mad.wide.u32 %rd3, %r4, 4, %rd2;
    @!%p2 st.global.u32 [%rd3 + 2048], %r1;
"""
    )
    device = Emulator()
    out = device.array(np.zeros(1024, np.uint32))
    launch(module(body), [out], block=128, grid=200, device=device, cooperative=True)
    assert list(out.numpy()[512:712]) == list(range(199, -1, -1))


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
def test_a_warp_that_arrives_and_exits_has_arrived(order: str) -> None:
    """Its stores are seen behind the barrier, and its threads count, while another warp is elsewhere."""
    body = (
        TID
        + """
    .shared .align 4 .b32 s[32];
    and.b32 %r2, %r20, 31;
    shr.u32 %r3, %r20, 5;
    mov.u32 %r4, s;
    mad.lo.u32 %r4, %r2, 4, %r4;
    mov.u32 %r1, 0;
    setp.eq.u32 %p1, %r3, 0;
    setp.eq.u32 %p2, %r3, 1;
    @%p1 bra GIVES;
    @%p2 bra TAKES;
    bar.sync 2, 64;
    bra DONE;
GIVES:
    st.shared.u32 [%r4], %r2;
    bar.arrive 1, 64;
    ret;
TAKES:
    bar.sync 1, 64;
    ld.shared.u32 %r1, [%r4];
    bar.sync 2, 64;
DONE:
"""
    )
    device = Emulator(order)
    out = device.array(np.zeros(96, np.uint32))
    launch(module(body + STORE_R1), [out], block=96, device=device)
    assert np.array_equal(out.numpy(), np.r_[np.zeros(32), np.arange(32), np.zeros(32)])
