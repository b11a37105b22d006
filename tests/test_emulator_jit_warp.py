"""Instructions by which the lanes of a warp see one another, with the `jit` extra and without."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("llvmlite", reason="the `jit` extra is not installed")

from emulated import launch, module

import ptxkit.emulator.jit.lowerings
from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator import Emulator, jit
from ptxkit.emulator.code import Exchange
from ptxkit.emulator.global_memory import BASE
from ptxkit.emulator.jit import stretch
from ptxkit.emulator.jit.chain import BlockChain
from ptxkit.emulator.jit.lowering import EXCHANGES, lowerings_of
from ptxkit.emulator.jit.stretch import Stretch
from ptxkit.emulator.values import WARP

assert ptxkit.emulator.jit.lowerings


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Every block is compiled when it first runs, however little there is to do."""
    monkeypatch.setattr(jit, "WORTH", 0)
    monkeypatch.setattr(stretch, "CALL_COST", 0)


# ---- one instruction

ALL = "0xffffffff"
SHUFFLES = [f"shfl.sync.{mode}.b32 %r1|%p1, %r2, %r3, %r4, {ALL};" for mode in ("up", "down", "bfly", "idx")]
CONSTANT = [
    f"shfl.sync.{mode}.b32 %r1|%p1, %r2, {b}, {c:#x}, {ALL};"
    for mode in ("up", "down", "bfly", "idx")
    for b, c in ((1, 31 if mode != "up" else 0), (16, 31), (3, 0x1807), (31, 0x1000), (37, 0x0C0B))
]
VOTES = [
    f"vote.sync.all.pred %p1, %p2, {ALL};",
    f"vote.sync.any.pred %p1, !%p2, {ALL};",
    f"vote.sync.uni.pred %p1, %p2, {ALL};",
    f"vote.sync.ballot.b32 %r1, !%p2, {ALL};",
]
REDUCTIONS = [
    *(f"redux.sync.{o}.{kind} %r1, %r2, {ALL};" for o in ("add", "min", "max") for kind in ("u32", "s32")),
    *(f"redux.sync.{o}.b32 %r1, %r2, {ALL};" for o in ("and", "or", "xor")),
]
EVERY_FORM = [*SHUFFLES, *CONSTANT, *VOTES, *REDUCTIONS]


def exchange_of(text: str) -> tuple[Exchange, Any]:
    code = Emulator(jit=False).load(module(text, "")).kernel("k").program.code
    (found,) = (node for block in code.blocks for node in block.ir if isinstance(node, Exchange))
    return found, code


def values_of(exchange: Exchange, code: Any, random: np.random.Generator, shapes: Any) -> dict[int, Any]:
    made = {}
    for slot in dict.fromkeys(s.slot for each in exchange.computations for s in each.sources):
        if slot is None:
            continue
        shape = shapes[len(made) % len(shapes)]
        if code.widths[slot] == 1:
            chance = random.choice([0.0, 0.02, 0.98, 1.0], size=(*shape[:1], 1) if shape else ())
            made[slot] = random.random(shape) < chance
        else:
            made[slot] = random.integers(0, 1 << 32, shape, np.uint32)
        if not shape:
            made[slot] = np.asarray(made[slot])[()]
    return made


@pytest.mark.parametrize("shapes", [
    [(5, WARP)], [(1, WARP)], [(5, 1)], [()], [(5, WARP), ()], [(5, WARP), (1, WARP), ()],
    [(1, WARP), (5, 1), ()], [(5, 1), (5, WARP)], [(), (5, WARP)], [(5, WARP), (5, 1), (1, WARP)],
])  # fmt: skip
@pytest.mark.parametrize("text", EVERY_FORM)
def test_compiled_exchange_has_numpys_bits(text: str, shapes: list[Any]) -> None:
    exchange, code = exchange_of(text)
    random = np.random.default_rng(len(text))
    values = values_of(exchange, code, random, shapes)
    lowerings = lowerings_of(exchange, code)
    assert lowerings is not None
    made = Stretch(exchange.computations, lowerings, [], [], code.widths, -1)
    regs = [values.get(slot) for slot in range(len(code.widths))]
    made(SimpleNamespace(undefined={}, n=5, regs=regs))
    for each in exchange.computations:
        arguments = [s.value if s.slot is None else values[s.slot].view(s.dtype) for s in each.sources]
        arguments = [~a if s.invert else a for a, s in zip(arguments, each.sources, strict=True)]
        if len(arguments) == 1:
            arguments = [np.broadcast_to(arguments[0], (5, WARP))]
        expected = np.asarray(each.operation.function(*arguments))
        (target,) = each.targets
        found = np.asarray(regs[target.slot])
        assert found.shape == expected.shape
        assert (found.view(f"u{found.itemsize}") == expected.view(f"u{found.itemsize}")).all()


def test_every_exchange_is_tested() -> None:
    tested = {
        (each.form.row.chapter, each.form.row.name)
        for text in EVERY_FORM
        for each in exchange_of(text)[0].computations
    }
    assert tested == set(EXCHANGES)


# ---- chains

SUM = "".join(
    f"shfl.sync.bfly.b32 %r4, %r3, {offset}, 31, MASK; add.u32 %r3, %r3, %r4;" for offset in (16, 8, 4, 2, 1)
)


@pytest.mark.parametrize(
    ("before", "mask", "whole"),
    [
        ("", ALL, True),
        ("mov.b32 %r9, -1;", "%r9", True),
        ("mov.b32 %r9, -1; bar.sync 0;", "%r9", True),
        ("mov.b32 %r9, -1; @%p1 mov.b32 %r9, %r1; bar.sync 0;", "%r9", False),
        ("activemask.b32 %r9;", "%r9", False),
        ("mov.b32 %r9, -1; @%p1 activemask.b32 %r9;", "%r9", False),
    ],
)
def test_a_sum_of_a_warp_is_one_stretch(before: str, mask: str, whole: bool) -> None:
    """Where it is known that no lane is missing, in the code or as the chain is entered."""
    text = module(
        f"""
        ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
        setp.gt.u32 %p1, %r1, 99; {before} ld.global.u32 %r3, [%rd1]; {SUM.replace("MASK", mask)}
        st.global.u32 [%rd1], %r3;"""
    )
    device = Emulator(jit=True)
    values = np.arange(64, dtype=np.uint32)
    out = device.array(values)
    kernel = device.load(text).kernel("k")
    kernel.launch((1,), (64,), [out])
    assert (out.numpy() == values.reshape(2, 32).sum(axis=1).repeat(32)).all()
    chains = [block.chain for block in kernel.program.code.blocks if block.chain is not None]
    ran = [len(each.blocks) for each in chains if isinstance(each, BlockChain) and each.steps is not None]
    assert (6 in ran) == whole


# ---- programs

STEPS = """
shfl.sync.bfly.b32 R|P, R, 16, 31, M;  shfl.sync.down.b32 R, R, 5, 31, M;  shfl.sync.up.b32 R|P, R, 3, 0, M;
shfl.sync.idx.b32 R|P, R, R, 0x1c1f, M;  shfl.sync.down.b32 R|P, R, R, R, M;
shfl.sync.up.b32 R, R, R, 0x800, M;
shfl.sync.idx.b32 R, R, 0, 31, M;  shfl.sync.bfly.b32 R|P, R, %r20, %r21, M;
vote.sync.ballot.b32 R, P, M;  vote.sync.all.pred P, !P, M;  vote.sync.any.pred P, P, M;
vote.sync.uni.pred P, P, M;
redux.sync.add.u32 R, R, M;  redux.sync.max.s32 R, R, M;  redux.sync.xor.b32 R, R, M;
match.any.sync.b32 R, R, M;  elect.sync R|P, M;  activemask.b32 R;  bar.warp.sync M;
add.u32 R, R, R;  xor.b32 R, R, R;  mul.lo.u32 R, R, R;  setp.lt.u32 P, R, R;  selp.b32 R, R, R, P;
popc.b32 R, R;  mov.u32 R, 9;  mov.u32 R, R;  div.u32 R, R, 7;
ld.global.b32 R, [%rd2];  st.global.b32 [%rd4], R;  ld.shared.b32 R, [%r24];  ld.shared.b32 R, [%r25];
st.shared.b32 [%r25], R;  mov.u32 R, %clock;  mov.b32 %r29, -1;  mov.b32 %r29, R;
"""
ALL_STEPS = [f"{text.strip()};" for text in STEPS.split(";") if text.strip()]
BEGIN = """
    mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, 0x80000001; mul.lo.u32 %r3, %r0, 0x9e3779b9;
    mov.u32 %r4, %laneid; mov.u32 %r28, %ntid.x; mad.lo.u32 %r5, %r1, %r28, %r0;
    setp.lt.u32 %p0, %r4, 7; setp.eq.u32 %p1, %r1, 1; setp.lt.s32 %p2, %r3, 0;
    mov.u32 %r20, 4; mov.u32 %r21, 0x181f; mov.b32 %r29, -1;
    ld.param.u64 %rd5, [in]; ld.param.u64 %rd6, [out];
    mul.wide.u32 %rd2, %r5, 4; add.u64 %rd2, %rd5, %rd2; mul.wide.u32 %rd4, %r5, 32; add.u64 %rd4, %rd6, %rd4;
    mov.u32 %r24, data; mov.u32 %r25, data; mad.lo.u32 %r25, %r0, 4, %r25;
"""
FINISH = "".join(f"st.global.b32 [%rd4 + {4 + 4 * i}], %r{i};" for i in range(6))


@st.composite
def programs(draw: Any) -> tuple[str, bool]:
    """A body of random instructions, and whether errors are gone past. Most masks name all lanes, some by a
    register; %r4 and shared memory are undefined in some of the programs. Masks are right where errors are
    gone past: an instruction that is left out leaves what nobody may rely on."""
    keep_going = draw(st.booleans())
    steps, masks = ALL_STEPS, [ALL, ALL, "%r29", "%r29", "0xff"]
    if keep_going:
        steps, masks = ALL_STEPS[:-1], masks[:-1]
    lines = ["st.shared.b32 [%r25], %r3; bar.sync 0;"] if draw(st.booleans()) else []
    if draw(st.booleans()):
        lines.append("ld.shared.b32 %r4, [%r25];")
    for text in draw(st.lists(st.sampled_from(steps), min_size=3, max_size=25)):
        text = text.replace(", M;", f", {draw(st.sampled_from(masks))};")
        text = text.replace("sync M", f"sync {ALL}").replace("R|P", "R|%p0")
        for letter, count, name in (("R", 6, "r"), ("P", 3, "p")):
            first, *pieces = text.split(letter)
            text = first + "".join(f"%{name}{draw(st.integers(0, count - 1))}{piece}" for piece in pieces)
        place = draw(st.integers(0, 9))
        if place == 0:
            text = f"@%p{draw(st.integers(0, 2))} {text}"
        elif place == 1:
            label = f"L{len(lines)}"
            text = f"@%p{draw(st.integers(0, 2))} bra {label};\n{text}\n{label}:"
        lines.append(text)
    return "\n".join(lines), keep_going


@pytest.mark.long
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    program=programs(),
    block=st.sampled_from([64, 64, 96, 40]),
    order=st.sampled_from(["lazy", "lazy", "random"]),
)
def test_random_exchanges_are_the_same(program: tuple[str, bool], block: int, order: str) -> None:
    body, keep_going = program
    text = module(
        BEGIN + body + FINISH,
        ".param .u64 in, .param .u64 out",
        before=".shared .align 8 .b32 data[96];",
        target="sm_100a",
    )
    assert run(text, False, block, order, keep_going) == run(text, True, block, order, keep_going)


def run(text: str, jitted: bool, block: int, order: str, keep_going: bool) -> Any:
    """What three CTAs leave, find, and count, and what ends them."""
    device = Emulator(jit=jitted, order=order, keep_going=keep_going, arch="sm_100a")
    source = device.array(np.random.default_rng(0).integers(0, 1 << 32, 3 * 96, np.uint32))
    out = device.array(np.zeros(3 * 96 * 8, np.uint32))
    ended = ""
    try:
        launch(text, [source, out], block, 3, device)
    except PtxkitError as fault:
        ended = str(fault)
    memory, place = device.memory, slice(out.address - BASE, out.address - BASE + out.nbytes)
    assert memory.shadow is not None
    undefined = memory.shadow[place]
    defined = (memory.data[place] & ~undefined).tobytes()
    counts = device.counts
    counted = counts.instructions, counts.loaded, counts.stored, counts.barriers
    blocks = {block.number: threads for block, threads in counts.executed.items()}
    return [*map(str, device.findings)], ended, counted, blocks, undefined.tobytes(), defined
