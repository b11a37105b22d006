"""The builder: what it writes, that the checker and the assembler take it, what it computes."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
from assembler import log_of

import ptxkit
from ptxkit.asm.build import (
    WARP_SZ,
    Body,
    Builder,
    Register,
    f32,
    f64,
    generic,
    param,
    sink,
    special,
)
from ptxkit.asm.build.chain import attribute, modifier
from ptxkit.asm.kinds import Names
from ptxkit.asm.tree import Instruction, Pair, Statement
from ptxkit.isa.registry import forms, opcodes, spelling
from ptxkit.isa.sample import MODULE, PREAMBLE, samples


def text(b: Builder) -> str:
    """What has been built, after proof that it reads back as the same tree and that nobody objects to it."""
    assert [str(found) for found in ptxkit.check(b.module) if found.is_error] == []
    written = ptxkit.write(b.module, canonical=True)
    assert ptxkit.parse(written) == b.module
    assert ptxkit.parse(ptxkit.write(b.module)) == b.module
    return written


def lines(b: Builder) -> list[str]:
    """The lines of the last function's body, without their indentation."""
    body = text(b).rpartition("\n{\n")[2].rpartition("}")[0]
    return [line.strip() for line in body.splitlines() if line.strip()]


# ---- instructions and operands


def test_spellings() -> None:
    words = {word for opcode in opcodes() for form in forms(opcode) for word in (opcode, *form.modifiers)}
    spelled = {word: attribute(word) for word in words}
    assert None not in spelled.values()
    assert {modifier(name) for name in spelled.values() if name} == words
    assert [attribute(word) for word in ("global", "shared::cta", "2d", "L1::no_allocate", "sp::2:4")] == [
        *("global_", "shared__cta", "_2d", "L1__no_allocate", "sp__2_4")
    ]
    assert attribute("a b") is None


def test_no_method_hides_an_opcode() -> None:
    assert not [opcode for opcode in opcodes() if attribute(opcode) in dir(object) or hasattr(Body, opcode)]


def test_operands() -> None:
    b = Builder("sm_100a")
    table = b.global_("u32", "table[4]")
    with b.entry("k", [param("b8", "map[128]", align=64)]) as k:
        (tensor,) = k.parameters
        r = k.reg("u32", "%r<8>")
        f, d = k.reg("f32", "%f"), k.reg("f64", "%d")
        p, q = k.reg("pred", "%p", "%q")
        wide = k.reg("b64", "%wide")
        v = k.reg("u32", "%v", vector="v4")
        smem = k.shared("b8", "smem[64]", align=16)
        k.mov.u32(r[0], -1)
        k.mov.u32(r[0], "0xff")
        k.mov.u32(r[0], "-0x10")
        k.mov.u32(r[0], np.int64(7))
        k.mov.f32(f, 1.5)
        k.mov.f32(f, -0.0)
        k.mov.f32(f, f32(1.5))
        k.mov.f32(f, "0f7FC00000")
        k.mov.f64(d, f64(-2.0))
        k.mov.u64(wide, smem + 16)
        k.mov.u64(wide, table)
        k.mov.u32(r[1], special.tid.x)
        k.mov.u32(r[1], special.laneid)
        k.mov.u32(r[1], WARP_SZ)
        k.mov.u32(r[1], v.y)
        k.mov.b64(wide, [r[0], r[1]])
        k.ld.global_.v4.u32(r[2:6], k[wide + 16 - 32])
        k.ld.global_.v4.u32([r[0], sink, sink, r[1]], k[wide])
        k.st.shared.u32(k[smem], r[7])
        k.st.shared.v2.u32(k[smem + 8], r[0:2])
        k.setp.lt.and_.u32(p | q, r[0], r[1], ~p)
        k.fma.rn.f32(f, f, f, f)
        k.vadd.u32.u32.u32(r[0], r[1].b0, r[2].h1)
        k.prefetch.param.tensormap(k[tensor])
        k.cp.async_.bulk.tensor._2d.shared__cta.global_.tile.mbarrier__complete_tx__bytes(
            k[smem], k[wide, [r[0], r[1]]], k[smem]
        )
        k.when(p).st.global_.u32(k[wide], r[0])
        k.when(~q).ret()
        k.ret.uni()
    assert lines(b)[6:] == [
        ".shared .align 16 .b8 smem[64];",
        "mov.u32 %r0, -1;",
        "mov.u32 %r0, 0xff;",
        "mov.u32 %r0, -0x10;",
        "mov.u32 %r0, 7;",
        "mov.f32 %f, 1.5;",
        "mov.f32 %f, -0.0;",
        "mov.f32 %f, 0f3FC00000;",
        "mov.f32 %f, 0f7FC00000;",
        "mov.f64 %d, 0dC000000000000000;",
        "mov.u64 %wide, smem + 16;",
        "mov.u64 %wide, table;",
        "mov.u32 %r1, %tid.x;",
        "mov.u32 %r1, %laneid;",
        "mov.u32 %r1, WARP_SZ;",
        "mov.u32 %r1, %v.y;",
        "mov.b64 %wide, {%r0, %r1};",
        "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%wide + -16];",
        "ld.global.v4.u32 {%r0, _, _, %r1}, [%wide];",
        "st.shared.u32 [smem], %r7;",
        "st.shared.v2.u32 [smem + 8], {%r0, %r1};",
        "setp.lt.and.u32 %p|%q, %r0, %r1, !%p;",
        "fma.rn.f32 %f, %f, %f, %f;",
        "vadd.u32.u32.u32 %r0, %r1.b0, %r2.h1;",
        "prefetch.param.tensormap [map];",
        "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes",
        "[smem], [%wide, {%r0, %r1}], [smem];",
        "@%p st.global.u32 [%wide], %r0;",
        "@!%q ret;",
        "ret.uni;",
    ]


def test_new_registers() -> None:
    b = Builder("sm_90a")
    with b.entry("k", [param("u64", "x")]) as k:
        at = k.ld.param.u64(..., k[k.parameters[0]])
        word = k.ld.global_.u8(..., k[at])
        four = k.ld.global_.v4.f32(..., k[at])
        low, high = k.mov.b64([..., ...], at)
        shuffled, valid = k.shfl.sync.bfly.b32(k.reg("b32") | k.reg("pred"), low, 1, 31, -1), None
        accumulators = k.reg("f32", count=3)
        assert [type(r) for r in (at, word, *four, low, *accumulators)] == [Register] * 10
        assert [r.type for r in (at, word, four[3], high)] == ["u64", "u16", "f32", "b32"]
        assert shuffled is valid is None
        narrow = k.cvt.rn.satfinite.e4m3x2.f32(..., four[0], four[1])
        assert narrow.type == "b16"
        k.ret()
    assert "ld.global.v4.f32 {%f32_0, %f32_1, %f32_2, %f32_3}, [%u64_0];" in lines(b)
    assert ".reg .f32 %f32_<7>;" in lines(b)


def test_every_form_gives_new_registers() -> None:
    """`...` for what an instruction writes: the checker takes the register, whatever the form."""
    statements = "\n".join(
        sample.text for opcode in opcodes() for form in forms(opcode) for sample in samples(form, 2)
    )
    head = f".version 9.0\n.target sm_100a\n.address_size 64\n{MODULE}"
    module = ptxkit.parse(f"{head}.visible .entry k(.param .b32 v_kernel) {{ {PREAMBLE}\n{statements}\n}}\n")
    b = Builder("sm_100a")
    for statement in module.statements[3:-1]:
        b.append(statement)
    entry = module.entries[0]
    assert entry.body is not None
    made = 0
    with b.entry("k", entry.parameters) as k:
        for statement in entry.body.statements:
            if not isinstance(statement, Instruction):
                k.append(statement)
            elif _writes_first(k, statement):
                with contextlib.suppress(ptxkit.PtxkitError):
                    chain: Any = getattr(k, attribute(statement.opcode) or "")
                    for word in statement.modifiers:
                        chain = getattr(chain, attribute(word) or "")
                    assert chain(..., *statement.operands[1:]) is not None
                    made += 1
    assert made > 700
    text(b)


def _writes_first(k: Body, node: Instruction) -> bool:
    kinds = tuple(map(Names(k._frame.scope).kind, node.operands))
    match = spelling(node.opcode, node.modifiers).match(kinds)
    if match is None or not match.places or isinstance(node.operands[0], Pair):
        return False
    return match.form.writes(match.places[0])


def test_discovery() -> None:
    b = Builder("sm_90a")
    with b.entry("k") as k:
        assert {"add", "ld", "and_", "wgmma", "when", "reg"} <= set(dir(k))
        assert {"nc", "v4", "u32", "L1__no_allocate"} <= set(dir(k.ld.global_))
        assert "shared" not in dir(k.ld.global_)
        assert dir(k.when(k.reg("pred")).bra) == ["uni"]
        assert "ld.global{.cop}.nc" in repr(k.ld.global_)
        assert not hasattr(k, "lld")
        assert not hasattr(k.ld, "_ipython_display_")
        assert "tid" in dir(special)


# ---- control flow, on the emulator


def _run(b: Builder, threads: int, *arguments: Any) -> list[np.ndarray]:
    device = ptxkit.open_device("emu")
    buffers = [device.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
    device.load(b.module).kernel().launch(grid=1, block=threads, args=buffers)
    device.synchronize()
    return [buffer.numpy() for buffer in buffers if hasattr(buffer, "numpy")]


def _threads(b: Builder) -> Any:
    """An entry with an input and an output array of `u32`, each thread's address in both, and its number."""
    return b.entry("k", [param("u64", "x"), param("u64", "y")])


def _addresses(k: Body) -> tuple[Register, Register, Register]:
    thread = k.mov.u32(..., special.tid.x)
    x, y = (k.mad.wide.u32(..., thread, 4, k.ld.param.u64(..., k[p])) for p in k.parameters)
    return thread, x, y


def test_branches() -> None:
    b = Builder("sm_90")
    with _threads(b) as k:
        thread, x, y = _addresses(k)
        value = k.ld.global_.u32(..., k[x])
        with k.if_(k.setp.lt.u32(..., thread, 16)):
            other = ~k.setp.eq.u32(..., value, 3)
            with k.if_(other):
                k.add.u32(value, value, 100)
        with k.else_():
            with k.if_(k.setp.gt.u32(..., value, 20)):
                k.mov.u32(value, 7)
            with k.else_():
                k.mul.lo.u32(value, value, 2)
        k.st.global_.u32(k[y], value)
        k.ret()
    text(b)
    given = np.arange(32, dtype=np.uint32)
    expected = np.where(
        given < 16, np.where(given == 3, 3, given + 100), np.where(given > 20, 7, given * 2)
    ).astype(np.uint32)
    assert (_run(b, 32, given, np.zeros_like(given))[1] == expected).all()


def test_loops() -> None:
    b = Builder("sm_90")
    with _threads(b) as k:
        _, x, y = _addresses(k)
        n = k.ld.global_.u32(..., k[x])
        total = k.mov.u32(..., 0)
        with k.for_("u32", 0, n) as i:
            k.continue_(k.setp.eq.u32(..., i, 2))
            k.break_(k.setp.eq.u32(..., i, 10))
            with k.for_("s32", 3, 0, -1) as j:
                k.add.u32(total, total, j)
            j = k.mov.u32(..., 0)
            with k.while_(lambda: k.setp.lt.u32(..., j, i)):
                k.add.u32(j, j, 1)
                k.continue_(k.setp.eq.u32(..., j, 3))
                k.add.u32(total, total, 1)
        k.st.global_.u32(k[y], total)
        k.ret()
    text(b)
    given = np.arange(16, dtype=np.uint32)

    def total_of(n: int) -> int:
        found = 0
        for i in range(n):
            if i == 2:
                continue
            if i == 10:
                break
            found += 6 + sum(j + 1 != 3 for j in range(i))
        return found

    expected = np.array([total_of(n) for n in given], dtype=np.uint32)
    assert (_run(b, 16, given, np.zeros_like(given))[1] == expected).all()


def test_a_loop_over_special_registers() -> None:
    b = Builder("sm_90")
    with _threads(b) as k:
        _, _, y = _addresses(k)
        total = k.mov.u32(..., 0)
        with k.for_("u32", special.tid.x, 100, special.ntid.x) as i:
            k.add.u32(total, total, i)
        with k.for_("u32", 0, special.ntid.x):
            k.add.u32(total, total, 1)
        k.st.global_.u32(k[y], total)
        k.ret()
    text(b)
    given = np.arange(16, dtype=np.uint32)
    expected = np.array([sum(range(n, 100, 16)) + 16 for n in given], dtype=np.uint32)
    assert (_run(b, 16, given, np.zeros_like(given))[1] == expected).all()


def test_while_a_predicate_holds() -> None:
    b = Builder("sm_90")
    with _threads(b) as k:
        _, x, y = _addresses(k)
        value = k.ld.global_.u32(..., k[x])
        steps = k.mov.u32(..., 0)
        more = k.setp.ne.u32(..., value, 1)
        with k.while_(more):
            odd = k.setp.ne.u32(..., k.and_.b32(..., value, 1), 0)
            k.when(~odd).shr.u32(value, value, 1)
            k.when(odd).mad.lo.u32(value, value, 3, 1)
            k.add.u32(steps, steps, 1)
            k.setp.ne.u32(more, value, 1)
        k.st.global_.u32(k[y], steps)
        k.ret()

    def steps_of(n: int) -> int:
        count = 0
        while n != 1:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return count

    given = np.arange(1, 17, dtype=np.uint32)
    assert _run(b, 16, given, np.zeros_like(given))[1].tolist() == [steps_of(int(n)) for n in given]


# ---- modules


def test_a_module() -> None:
    b = Builder("sm_90", "debug", version="8.0", heading=["A module", None, "Its card"])
    b.file(1, "kernel.cu")
    table = b.const("u32", "table[2][2]", init=[[1, 2], ["0x3", 4]], linkage="visible")
    pointers = b.global_("u64", "pointers[2]", init=[generic(table), 0])
    first, second = b.shared("b32", "first", "second[]", align=8, linkage="extern")
    printf = b.func(
        "vprintf",
        [param("b64", "format"), param("b64", "values")],
        returns=[param("b32", "status")],
        linkage="extern",
    )
    b.comment("The kernel")
    with b.entry(
        "k", [param("u64", "x", pointer=("global", 16))], maxntid=(128, 1), minnctapersm=2, pragma="nounroll"
    ) as k:
        k.loc(1, 10, 5)
        k.comment("a call", "of a declared function")
        with k.scope():
            a, c, s = (k.param("b64", "a"), k.param("b64", "c"), k.param("b32", "s"))
            k.st.param.b64(k[a], 0)
            k.st.param.b64(k[c], 0)
            k.call.uni((s,), printf, (a, c))
            k.comment("the status is not looked at")
        k.ld.const.u32(k.reg("u32", "%r"), k[table + 4])
        k.comment("the second", trailing=True)
        k.ld.global_.u64(..., k[pointers])
        k.ld.shared.b32(..., k[first])
        k.ld.shared.b32(..., k[second])
        k.ret()
    with b.section(".debug_str") as s:
        s.label("info_0")
        s.b8(1, "0x2", -3)
    b.comment("The end")
    assert text(b) == (
        """// A module

// Its card
.version 8.0
.target sm_90, debug
.address_size 64
.file 1 "kernel.cu"
.visible .const .u32 table[2][2] = {{1, 2}, {0x3, 4}};
.global .u64 pointers[2] = {generic(table), 0};
.extern .shared .align 8 .b32 first, second[];
.extern .func (.param .b32 status) vprintf(
    .param .b64 format,
    .param .b64 values
);

// The kernel
.visible .entry k(
    .param .u64 .ptr .global .align 16 x
)
.maxntid 128, 1
.minnctapersm 2
.pragma "nounroll";
{
    .reg .u64 %u64_<1>;
    .reg .b32 %b32_<2>;

    .loc 1 10 5
    // a call
    // of a declared function
    {
        .param .b64 a;
        .param .b64 c;
        .param .b32 s;
        st.param.b64 [a], 0;
        st.param.b64 [c], 0;
        call.uni (s), vprintf, (a, c);
        // the status is not looked at
    }
    .reg .u32 %r;
    ld.const.u32 %r, [table + 4];  // the second
    ld.global.u64 %u64_0, [pointers];
    ld.shared.b32 %b32_0, [first];
    ld.shared.b32 %b32_1, [second];
    ret;
}

.section .debug_str
{
info_0:
    .b8 1, 0x2, -3
}
// The end
"""
    )


def test_indirect_calls_and_branches() -> None:
    b = Builder("sm_90")
    with b.func("f", [param("b32", "a", space="reg")], returns=[param("b32", "r", space="reg")]) as f:
        f.add.u32(f.returns[0], f.parameters[0], 1)
        f.ret()
    with b.entry("k") as k:
        index, value = k.mov.u32(..., 1), k.reg("b32")
        one, two = k.forward_label("one"), k.forward_label("two")
        places = k.label("places")
        k.branchtargets(one, two)
        k.brx.idx(index, places)
        k.label(one)
        address = k.mov.u64(..., f)
        prototype = k.label("prototype")
        k.callprototype([param("b32", "_", space="reg")], returns=[param("b32", "_", space="reg")])
        k.call((value,), address, (value,), prototype)
        k.label(two)
        targets = k.label("targets")
        k.calltargets(f)
        k.call((value,), address, (value,), targets)
        k.ret()
    assert lines(b)[4:8] == ["places:", ".branchtargets one, two;", "brx.idx %u32_0, places;", "one:"]


def test_declared_then_defined() -> None:
    b = Builder("sm_90")
    declared = b.func("f", linkage="visible")
    with b.entry("k") as k:
        k.call(declared)
        k.ret()
    with b.func("f", linkage="visible") as f:
        f.call(f)
        f.ret()
    with b.entry("other") as k:
        k.call(declared)
        k.ret()
    assert text(b).count("call f;") == 3


def test_names_of_new_registers_are_free() -> None:
    b = Builder("sm_90")
    with b.entry("k") as k:
        k.reg("u32", "%u32_<2>")
        mine = k.reg("u32")
        k.mov.u32(mine, 1)
        with k.scope():
            k.mov.u32(..., mine)
        k.ret()
    assert mine.name == "%u32__0"
    text(b)


def test_append_takes_any_node() -> None:
    b = Builder("sm_90")
    with b.entry("k") as k:
        nodes: list[Statement] = (
            ptxkit.parse(".version 9.0\n.entry k() {\n .reg .u32 %r; L: bra L; madeup.x %r; }\n")
            .entries[0]
            .body.statements
        )  # type: ignore[union-attr]
        for node in nodes:
            k.append(node)
        k.ret()
    assert [found.code for found in ptxkit.check(b.module) if found.is_error] == ["P212"]


def test_the_assembler_takes_it() -> None:
    b = Builder("sm_90a")
    with b.entry("k", [param("u64", "x")], reqntid=128) as k:
        tile = k.shared("b8", "tile[1024]", align=128)
        accumulators = k.reg("f32", count=4)
        for register in accumulators:
            k.mov.f32(register, 0.0)
        k.wgmma.fence.sync.aligned()
        k.wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16(accumulators, 0, 0, 1, 1, 1, 0, 0)
        k.wgmma.commit_group.sync.aligned()
        k.wgmma.wait_group.sync.aligned(0)
        address = k.ld.param.u64(..., k[k.parameters[0]])
        with k.for_("s32", 4, 0, -1):
            k.st.shared.v4.f32(k[tile], accumulators)
        k.st.global_.v4.f32(k[address], accumulators)
        k.ret()
    errors, _ = log_of(text(b), arch="sm_90a")
    assert errors == ""
