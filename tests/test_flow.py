"""Control and data flow: blocks, liveness, what may be unassigned."""

from __future__ import annotations

import pytest
from asm_corpus import each_file

from ptxkit.asm import parse
from ptxkit.asm.decode import destinations, sources
from ptxkit.asm.flow import FunctionCode
from ptxkit.asm.symbols import module_scope
from ptxkit.asm.tree import Instruction, Module, Name


def code(body: str, before: str = "") -> FunctionCode:
    module = parse(f".version 8.0\n.target sm_90\n.address_size 64\n{before}\n.entry k()\n{{\n{body}\n}}\n")
    assert module.diagnostics == []
    (entry,) = module.entries
    return FunctionCode(entry, module_scope(module))


def names(code: FunctionCode, bits: int) -> set[str]:
    return {register.name for register in code.registers_of(bits)}


LOOP = """
    .reg .pred %p;
    .reg .b32 %r<6>;
    mov.u32 %r1, 0;
LOOP:
    add.u32 %r1, %r1, %r2;
    setp.lt.u32 %p, %r1, 10;
    @%p bra LOOP;
    @%p mov.u32 %r3, 1;
    add.u32 %r4, %r3, %r1;
    ret;
"""


def test_blocks_and_liveness() -> None:
    c = code(LOOP)
    assert [(b.start, b.stop) for b in c.blocks] == [(0, 1), (1, 4), (4, 7)]
    assert [b.successors for b in c.blocks] == [(1,), (1, 2), (3,)]
    assert [b.predecessors for b in c.blocks] == [(), (0, 1), (1,)]
    assert names(c, c.blocks[0].live_in) == {"%r2", "%r3"}
    assert names(c, c.blocks[1].live_in) == {"%r1", "%r2", "%r3"}
    assert names(c, c.blocks[2].live_in) == {"%r1", "%r3", "%p"}
    assert names(c, c.blocks[2].live_out) == set()


def test_unassigned() -> None:
    c = code(LOOP)
    assert names(c, c.blocks[2].unassigned_in) == {"%r2", "%r3", "%r4"}


def test_targets_and_scopes() -> None:
    c = code("""
    .reg .b32 %r;
    { L: bra M; M: bra L; }
    { L: bra L; }
    ts: .branchtargets A, B;
    brx.idx %r, ts;
A:
    ret;
B:
    exit;
""")
    assert c.targets(0) == [1]
    assert c.targets(1) == [0]
    assert c.targets(2) == [2]
    assert c.targets(3) == [4, 5]
    assert c.successors(4) == (6,)


@pytest.mark.parametrize(
    ("text", "written", "read"),
    [
        ("add.u32 %r1, %r2, %r3;", "%r1", "%r2 %r3"),
        ("setp.lt.u32 %p|%q, %r2, %r3;", "%p %q", "%r2 %r3"),
        ("st.global.u32 [%rd], %r1;", "", "%rd %r1"),
        ("ld.global.v2.u32 {%r1, _}, [%rd + 4];", "%r1", "%rd"),
        ("bar.sync %r1, %r2;", "", "%r1 %r2"),
        ("bar.red.popc.u32 %r1, 0, %p;", "%r1", "%p"),
        ("mbarrier.arrive.shared.b64 _, [%r1];", "", "%r1"),
        ("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f1, %f2, %f3, %f4}, %rd, %rd, 1, 1, 1;",
         "%f1 %f2 %f3 %f4", "%f1 %f2 %f3 %f4 %rd %rd"),
        ("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];", "%r1", "%r2"),
        ("tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%r1};", "", "%r2 %r1"),
        ("cp.async.ca.shared.global [%r1], [%rd], 4;", "", "%r1 %rd"),
        ("nanosleep.u32 %r1;", "", "%r1"),
    ],
)  # fmt: skip
def test_destinations(text: str, written: str, read: str) -> None:
    declarations = ".reg .pred %p, %q;\n.reg .b32 %r<4>;\n.reg .b64 %rd;\n.reg .f32 %f<5>;\n"
    c = code(declarations + text)
    from ptxkit.asm.flow import read_names, written_names

    (instruction,) = c.instructions
    assert [n.name for n in written_names(instruction)] == written.split()
    assert [n.name for n in read_names(instruction)] == read.split()
    assert len(destinations(instruction)) + len(sources(instruction)) >= len(instruction.operands)


def test_calls_write_their_results() -> None:
    c = code(
        ".reg .b32 %a, %b;\ncall (%a), f, (%b);\ncall g;",
        ".func (.reg .b32 r) f(.reg .b32 x) { ret; }\n.func g() { ret; }",
    )
    assert names(c, c.writes[0]) == {"%a"}
    assert names(c, c.reads[0]) == {"%b"}
    assert c.writes[1] == c.reads[1] == 0


@each_file
def test_corpus(path) -> None:  # type: ignore[no-untyped-def]
    """Every name resolves, and every branch leads somewhere."""
    module: Module = parse(path)
    scope = module_scope(module)
    for function in module.functions:
        if function.body is None:
            continue
        c = FunctionCode(function, scope)
        for number, instruction in enumerate(c.instructions):
            assert isinstance(instruction, Instruction)
            assert None not in c.targets(number)
            for operand in destinations(instruction):
                if isinstance(operand, Name) and operand.name != "_":
                    assert c.meaning(operand) is not None
        assert c.blocks[0].start == 0
        assert sum(b.stop - b.start for b in c.blocks) == len(c.instructions)
