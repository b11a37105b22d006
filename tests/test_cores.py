"""Launches on several cores: the results, counts and findings of one core."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tensor_memory_faults
from command import codes, here, ptxkit
from small_kernels import DOUBLE

from ptxkit import card
from ptxkit.asm import parse
from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator import Emulator, execution, jit
from ptxkit.emulator.cores import sharing
from ptxkit.emulator.cores.crew import Crew
from ptxkit.emulator.faults import EmulatorFault
from ptxkit.emulator.global_memory import BASE
from ptxkit.plan import Program, Request, make
from ptxkit.running.devices import open_device, open_machine
from ptxkit.running.loaded_plan import Case, LoadedPlan
from ptxkit.shipped.kernels import find

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no processes to fork")

BLOCK = 64
HEAD = """.version 9.0
.target sm_90a
.address_size 64
.extern .func (.param .s32 r) vprintf (.param .u64 f, .param .u64 a);
.func helper { ret; }
.visible .entry k(.param .u64 p)
{
.reg .b64 %a, %b, %c; .reg .b32 %r<20>; .reg .pred %p<4>; .shared .align 16 .b32 s[64];
ld.param.u64 %a, [p];
cvta.to.global.u64 %a, %a;
mov.u32 %r0, %ctaid.x;
mov.u32 %r1, %tid.x;
mad.lo.u32 %r2, %r0, 64, %r1;
mul.wide.u32 %b, %r2, 4;
add.u64 %b, %b, %a;
ld.global.u32 %r3, [%b];
"""
TAIL = "\nret;\n}\n"
PLAIN = "mad.lo.u32 %r3, %r3, 1664525, %r2; st.global.u32 [%b], %r3;"
BODIES = {
    "plain": PLAIN,
    "through shared memory": "mul.lo.u32 %r4, %r1, 4; mov.u32 %r5, s; add.u32 %r4, %r4, %r5;"
    " st.shared.u32 [%r4], %r3; bar.sync 0; xor.b32 %r4, %r4, 4; ld.shared.u32 %r3, [%r4];" + PLAIN,
    "a write over another's": "and.b32 %r4, %r2, 255; mul.wide.u32 %c, %r4, 4; add.u64 %c, %c, %a;"
    " st.global.u32 [%c], %r3;",
    "a read of another's": PLAIN + "xor.b32 %r4, %r2, 1024; mul.wide.u32 %c, %r4, 4; add.u64 %c, %c, %a;"
    " ld.global.u32 %r5, [%c]; add.u32 %r3, %r3, %r5; st.global.u32 [%b], %r3;",
    "out of bounds": "setp.eq.u32 %p0, %r2, 1500; @%p0 add.u64 %b, %b, 1073741824;" + PLAIN,
    "undefined": "setp.eq.u32 %p0, %r2, 1500; @%p0 mov.u32 %r3, %r9; st.global.u32 [%b], %r3;",
    "a trap": "setp.eq.u32 %p0, %r2, 1500; @%p0 trap;" + PLAIN,
}


@pytest.fixture
def crews(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bool]]:
    """Launches go over to several cores at once, in small batches. Gives of each whether that came to its
    end."""
    found: list[bool] = []
    processes: list[int] = []
    run, fork = Crew.run, os.fork

    def watched(self: Crew, *given: Any) -> Any:
        made = run(self, *given)
        found.append(made is not None)
        return made

    monkeypatch.setattr(sharing, "PATIENCE", 0.0)
    monkeypatch.setattr(execution, "BATCH_LANES", 4 * BLOCK)
    monkeypatch.setattr(execution, "MOST_LANES", 4 * BLOCK)
    monkeypatch.setattr(execution, "LANES_APART", 4 * BLOCK)

    def noted() -> int:
        processes.append(fork())
        return processes[-1]

    monkeypatch.setattr(Crew, "run", watched)
    monkeypatch.setattr(os, "fork", noted)
    yield found
    for process in processes:  # all have ended, and somebody waited for them
        with pytest.raises(ChildProcessError):
            os.waitpid(process, os.WNOHANG)


def test_what_processes_need_is_compiled_before_them(
    crews: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loop is compiled once, not by each process in each launch; a block that runs once is not."""
    pytest.importorskip("llvmlite", reason="the `jit` extra is not installed")
    seconds = count()
    monkeypatch.setattr(sharing, "PATIENCE", 9.0)
    monkeypatch.setattr(sharing, "time", SimpleNamespace(monotonic=lambda: float(next(seconds))))
    monkeypatch.setattr(
        jit, "WORTH", 4 * 4 * BLOCK * 5
    )  # after 20 turns of a batch, or 5 of a launch that lasts
    loop = "AGAIN: mad.lo.u32 %r3, %r3, 1664525, %r2; xor.b32 %r3, %r3, 99; add.u32 %r4, %r4, 1;"
    text = HEAD + f"mov.u32 %r4, 0; {loop} setp.lt.u32 %p0, %r4, 40; @%p0 bra AGAIN; {PLAIN}" + TAIL
    device = Emulator(threads=2, jit=True)
    buffer = device.array(np.arange(32 * BLOCK, dtype=np.uint32))
    kernel = device.load(text).kernel("k")
    kernel.launch(32, BLOCK, [buffer])
    assert crews == [True]
    assert [block.compiled for block in kernel.program.code.blocks if block.count] == [False, True, False]


@pytest.mark.parametrize(
    ("ended", "lasted", "worth"),
    [(0, 0.9, False), (0, 1.0, True), (8, 1.0, True), (16, 1.0, True), (17, 1.0, False), (31, 9.0, False)],
)
def test_a_launch_that_is_nearly_over_stays_where_it_is(
    ended: int, lasted: float, worth: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "PATIENCE", 1.0)
    launch: Any = SimpleNamespace(counts=SimpleNamespace(ctas=ended), shape=SimpleNamespace(ctas=32))
    assert sharing.is_worth_others(launch, lasted) == worth


def outcome(text: str, threads: int, **options: Any) -> tuple[Any, ...]:
    """What a launch of 32 CTAs gives: bytes, counts and findings."""
    device = Emulator(threads=threads, **options)
    buffer = device.array(np.arange(32 * BLOCK, dtype=np.uint32))
    said: tuple[str, ...] = ()
    try:
        device.load(text).kernel("k").launch(32, BLOCK, [buffer])
    except EmulatorFault as fault:
        said = tuple(str(found) for found in fault.diagnostics)
    start = buffer.address - BASE
    data = device.memory.data[start : start + buffer.nbytes].tobytes()
    shadow = device.memory.shadow
    assert shadow is not None
    undefined = shadow[start : start + buffer.nbytes].tobytes()
    traffic, device.counts.traffic = device.counts.traffic, None
    costs = dict(traffic.counts) if traffic is not None else {}
    counts = None if said else (device.counts, device.counts.by_chapter, costs)
    return said or data, undefined, counts, [str(found) for found in device.findings]


@pytest.mark.parametrize("rounds", [16, 0], ids=["begun anew", "between batches"])
@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("name", BODIES)
def test_one_core_and_several_agree(
    name: str, threads: int, rounds: int, crews: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "ROUNDS", rounds)
    text = HEAD + BODIES[name] + TAIL
    for options in ({}, {"order": "random", "seed": 3}, {"keep_going": True}, {"traffic": True}):
        alone = outcome(text, 1, **options)
        assert not crews
        assert outcome(text, threads, **options) == alone, options
        if name in ("plain", "through shared memory"):
            assert crews == [True]
        crews.clear()


@pytest.mark.parametrize(
    ("body", "stays"),
    [
        ("ld.global.nc.u32 %r4, [%b];", True),
        ("atom.shared.add.u32 %r4, [s], 1;", True),
        ("ld.volatile.shared.u32 %r4, [s];", True),
        ("ld.relaxed.cta.global.u32 %r4, [%b];", True),
        ("call helper;", True),
        ("atom.global.add.u32 %r4, [%b], 1;", False),
        ("red.add.u32 [%b], 1;", False),
        ("ld.volatile.global.u32 %r4, [%b];", False),
        ("ld.acquire.gpu.u32 %r4, [%b];", False),
        ("st.release.sys.global.u32 [%b], 1;", False),
        ("mov.u32 %r4, %clock;", False),
        ("griddepcontrol.launch_dependents;", False),
        ("mov.u64 %c, helper; pr: .callprototype _ (); call %c, (), pr;", False),
        ("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%b], [s], 16;", False),
        ("{ .param .u64 f; .param .u64 v; .param .s32 r; call (r), vprintf, (f, v); }", False),
    ],
)
def test_which_ctas_stay_apart(body: str, stays: bool) -> None:
    kernel = Emulator().load(HEAD + body + PLAIN + TAIL).kernel("k")
    assert sharing.stays_apart(kernel.program) is stays


@pytest.mark.parametrize(
    ("kernel", "sizes"),
    [
        ("gemm_wgmma.ptx", {"M": 512, "N": 256, "K": 128}),
        ("gemm_tcgen05.ptx", {"M": 512, "N": 512, "K": 128}),
        ("attn_dist.ptx", {}),
        ("gemv.ptx", {}),
    ],
)
def test_shipped_kernels(kernel: str, sizes: dict[str, int], crews: list[bool]) -> None:
    """With copies that nobody waits for but the end of the kernel."""
    path = find(kernel)[1]
    module = parse(path)
    assert module.source is not None
    plan = make(Program(kernel, str(path)), module, card.read(module.source), Request(sizes=sizes))
    case, seen = Case(plan), []
    for threads in (1, 2):
        device = Emulator(threads=threads)
        loaded = LoadedPlan(device, device.load(module), plan)
        loaded.fill(case.inputs)
        loaded.launch()
        assert all(each.ok for each in case.compare(loaded.outputs()))
        seen.append((device.counts, device.counts.by_chapter, device.findings))
    assert seen[0] == seen[1]
    assert crews
    assert all(crews)


def test_a_wrong_result_names_who_wrote_it(crews: list[bool], tmp_path: Path) -> None:
    wrong = DOUBLE.replace("add.f32 %f2, %f1, %f1;", "setp.gt.u32 %p, %r4, 140; @%p mov.f32 %f1, 0f3F800000;"
                           " add.f32 %f2, %f1, %f1;")  # fmt: skip
    assert wrong != DOUBLE
    file = tmp_path / "double.ptx"
    file.write_text(wrong)
    done = [here("run", file, "--device", "emu", "--threads", threads) for threads in (1, 2)]
    printed = [each.stdout[each.stdout.index("error[") :] for each in done]
    assert crews[:1] == [True]
    assert "the first was written by" in printed[0]
    assert printed[0] == printed[1]


def test_ctas_of_one_sm_wait_for_each_others_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """More CTAs than SMs: the last one shares tensor memory with the first, which keeps its permit."""
    monkeypatch.setattr(sharing, "is_worth_others", lambda *_: True)
    monkeypatch.setenv("PTXKIT_THREADS", "2")
    fault = tensor_memory_faults.FAULTS["a permit that is kept"]
    found = tensor_memory_faults.findings(fault.text, fault.grid, fault.orders[0])
    assert [one.code for one in found] == ["P6119"]


def test_a_process_that_is_lost(crews: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """One core does it then."""
    text = HEAD + PLAIN + TAIL
    alone = outcome(text, 1)
    work = sharing.Sharing._work

    def dies(self: Any, member: Any, footprints: Any) -> Any:
        if member.number == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return work(self, member, footprints)

    monkeypatch.setattr(sharing.Sharing, "_work", dies)
    assert outcome(text, 2) == alone
    assert crews == [False]


def test_an_interrupt_leaves_no_process(crews: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Crew, "_gather", interrupted)
    with pytest.raises(KeyboardInterrupt):
        outcome(HEAD + PLAIN + TAIL, 2)


def test_a_store_through_a_pointer_in_memory(crews: list[bool]) -> None:
    """Nobody knew that the kernel stores there."""
    text = HEAD.replace(".param .u64 p)", ".param .u64 p, .param .u64 q)") + (
        "ld.param.u64 %c, [q]; ld.global.u64 %c, [%c]; mul.wide.u32 %b, %r2, 4; add.u64 %c, %c, %b;"
        " st.global.u32 [%c], %r3;" + TAIL
    )
    results = []
    for threads in (1, 2):
        device = Emulator(threads=threads)
        source = device.array(np.arange(32 * BLOCK, dtype=np.uint32))
        target = device.array(np.zeros(32 * BLOCK, np.uint32))
        pointer = device.array(np.array([target.address], np.uint64))
        device.load(text).kernel("k").launch(32, BLOCK, [source, pointer])
        results.append(target.numpy())
    assert np.array_equal(*results)
    assert crews == [False]


def test_the_second_launch_goes_over_at_once(crews: list[bool]) -> None:
    device = Emulator(threads=2)
    buffer = device.array(np.arange(32 * BLOCK, dtype=np.uint32))
    kernel = device.load(HEAD + PLAIN + TAIL).kernel("k")
    for _ in range(3):
        kernel.launch(32, BLOCK, [buffer])
    expected = np.arange(32 * BLOCK, dtype=np.uint32)
    for _ in range(3):
        expected = expected * np.uint32(1664525) + np.arange(32 * BLOCK, dtype=np.uint32)
    assert np.array_equal(buffer.numpy(), expected)
    assert crews == [True] * 3


def test_the_option() -> None:
    printed = [
        here("run", "gemv.ptx", "--device", "emu", "--threads", str(threads), "--json") for threads in (1, 2)
    ]
    one, two = (json.loads(done.stdout)["runs"][0] for done in printed)
    assert one["ok"]
    assert one["counters"] == two["counters"]
    done = ptxkit("run", "gemv.ptx", "--device", "emu", PTXKIT_THREADS="none")
    assert done.returncode == 2
    assert codes(done.stderr) == ["P520"]
    with pytest.raises(PtxkitError, match="at least 1 thread, found 0"):
        Emulator(threads=0)


def test_how_many_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PTXKIT_THREADS", raising=False)
    assert Emulator().options.threads == len(os.sched_getaffinity(0))
    assert open_device("emu", threads=3).options.threads == 3
    assert {device.options.threads for device in open_machine(2).devices} == {1}
    monkeypatch.setenv("PTXKIT_THREADS", "5")
    assert Emulator().options.threads == 5
