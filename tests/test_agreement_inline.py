"""The texts that `tools/agreement/inline` finds in sources, and the kernels that it makes of them."""

import shutil

import pytest

import ptxkit
from tools.agreement.inline import library, modules, record
from tools.agreement.inline.cplusplus import Finder, definitions, scan
from tools.agreement.inline.judge import by_checker, by_ptxas, judge
from tools.agreement.inline.llvm import of_ir, of_python
from tools.agreement.inline.text import Operand, Text, entry

needs_ptxas = pytest.mark.skipif(
    shutil.which("ptxas") is None, reason="ptxas makes the code, and is not here"
)


def found(source):
    finder = Finder(definitions(scan(source)))
    return [*finder.texts(source, "x.cu")], finder


def ptx(source):
    texts, finder = found(source)
    assert not finder.left_out, finder.left_out
    return [" ".join(text.substituted(text.constants("7")).split()) for text in texts]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('asm("add.s32 %0, %1, 3;" : "=r"(x) : "r"(y));', "add.s32 %o0, %o1, 3;"),
        ('asm volatile("mov.u32 %0, "\n  "%%clock;\\n\\t" : "=r"(t) :: "memory");', "mov.u32 %o0, %clock;"),
        ('__asm__ __volatile__ ("membar.gl;" ::: "memory");', "membar.gl;"),
        ('asm("mov.u32 a, %laneid;");', "mov.u32 a, %laneid;"),
        ('asm(R"(shl.b32 %0, %0, %1;)" : "+r"(x) : "n"(5));', "shl.b32 %o0, %o0, 5;"),
        ('asm("shl.b32 %0, %0, %1;" : "+r"(x) : "n"(Count));', "shl.b32 %o0, %o0, 7;"),
        ('asm("neg.f32 %0, %[y];" : "=f"(x[f(1, 2)]) : [y] "f"(a::b(c ? d : e)));', "neg.f32 %o0, %o1;"),
        ('asm("not.b32 %0, %1;" /* : "q" */ : "=r"(x) // , "r"\n : "0"(y));', "not.b32 %o0, %o1;"),
        ('asm("prefetch.global.L2 [%0];" \\\n :: "l"(p));', "prefetch.global.L2 [%o0];"),
        ('#define OP "min"\nasm(OP ".s32 %0, %0, 1;" : "+r"(x));', "min.s32 %o0, %o0, 1;"),
        (
            '#define STEP(op, n) \\\n  asm(#op ".b32 %0, %0, " #n ";" : "+r"(x)); // one\n'
            "void f() { STEP(and, 3); }",
            "and.b32 %o0, %o0, 3;",
        ),
        (
            '#define C_32 "r"\n#define MOVE(w) asm("mov.b" #w " %0, 1;" : "=" C_##w(x))\n'
            "void f() { MOVE(32); }",
            "mov.b32 %o0, 1;",
        ),
        ('auto code = R"x(void f() { asm("exit;"); })x";', "exit;"),
        ('auto code = "asm(\\"exit;\\");";', "exit;"),
    ],
)
def test_the_text_of_a_statement(source, expected):
    assert ptx(source) == [expected]


def test_each_branch_of_a_macro_gives_a_text():
    source = (
        '#if X\n#define SEM ".relaxed.gpu"\n#else\n#define SEM ""\n#endif\n'
        'asm("ld" SEM ".global.b32 %0, [%1];" : "=r"(x) : "l"(p));'
    )
    assert ptx(source) == ["ld.relaxed.gpu.global.b32 %o0, [%o1];", "ld.global.b32 %o0, [%o1];"]


def test_a_macro_that_no_source_uses_gives_its_text():
    finder = Finder(definitions(scan('#define STOP() asm volatile("trap;")\n')))
    assert [text.template for text in finder.of_unused()] == ["trap;"]


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ('asm(text : "=r"(x));', "the text depends on something that is no macro"),
        ('asm("mov %0, %1" : "=a"(x) : "m"(y));', "an operand's constraint is none of PTX's"),
    ],
)
def test_what_gives_no_text_is_counted(source, why):
    texts, finder = found(source)
    assert (texts, dict(finder.left_out)) == ([], {why: 1})


def test_what_is_no_statement_is_passed_over():
    assert found('int asm_count = 1; // asm("exit;")\n/* asm("exit;") */ f("plasma (x)");')[0] == []


def test_mlir_llvm_and_python():
    finder = Finder({})
    ir = r"""llvm.inline_asm has_side_effects "@$1 st.global.b32 [$2], $0;\0A", "r,b,l" %a, %b, %c : ()
    %1 = call i32 asm "mov.u32 $0, $$x;", "=r,~{memory}"()
    // CHECK: llvm.inline_asm {{.*}} "mma{{.*}}", "=r"
    """
    texts = [*of_ir(ir, "x.mlir", finder)]
    assert [t.substituted(t.constants("7")).strip() for t in texts] == [
        "@%o1 st.global.b32 [%o2], %o0;",
        "mov.u32 %o0, $x;",
    ]
    assert [operand.letter for operand in texts[0].operands] == ["r", "b", "l"]
    python = '''
TEXT = "ex2.approx.f32 $0, $1;"
a = tl.inline_asm_elementwise(TEXT, "=f,f", [x], dtype=tl.float32)
b = llvm.inline_asm(i32(), [x], "add.s32 $0, $1, "
    "$2;", constraints="=r, r, n")
c = llvm.inline_asm(i32(), [x], f"{op} $0, $1;", "=r,r")
source = """void f() { asm("exit;"); }"""
'''
    texts = [*of_python(python, "x.py", finder)]
    assert sorted(t.substituted(t.constants("4")) for t in texts) == [
        "add.s32 %o0, %o1, 4;",
        "ex2.approx.f32 %o0, %o1;",
        "exit;",
    ]
    assert dict(finder.left_out) == {"a pattern of a test": 1, "the text is put together at run time": 1}


def test_a_library_has_each_text_once(tmp_path):
    (tmp_path / "a.cuh").write_text('#define WAIT() asm volatile("bar.sync 0;")\n')
    (tmp_path / "b.cu").write_text('void f() { WAIT(); }\nvoid g() { asm("bar.sync  0; // all\\n"); }\n')
    (tmp_path / "c.cu").write_text('asm("mov.b32 %1, 0;" : "=r"(x));')
    read = library.read(tmp_path)
    assert ([text.template for text in read.texts], read.statements, read.commit) == (["bar.sync 0;"], 3, "")
    assert dict(read.left_out) == {"the text names an operand that it has not": 1}


ALL = tuple(Operand(letter, output=True) for letter in "bhrlqfd") + (Operand("n", value="3"),)


@pytest.mark.parametrize("operands", [ALL, tuple(Operand(o.letter, True, False) for o in ALL), ()])
def test_a_kernel_declares_loads_and_stores_every_operand(operands):
    text = Text("// %0 %7" if operands else "", operands)
    made = {"k0": entry(text, "k0", text.constants("1"))}
    assert by_checker(made, ("9.0", "sm_90a")) == {}
    assert made["k0"].count(".reg") == (9 if operands else 1)
    if shutil.which("ptxas"):
        assert by_ptxas(made, ("9.0", "sm_90a")) == {}


def test_open_constants_are_the_same_or_one_of_them_0():
    text = Text("", (Operand("n"), Operand("r"), Operand("n"), Operand("n", value="9")))
    tried = ["".join(values) for values in text.attempts()]
    assert tried[:5] == ["119", "009", "019", "109", "229"]
    assert Text("", (Operand("r"),)).attempts() == [[""]]


@needs_ptxas
def test_verdicts_go_on_until_ptxas_accepts():
    texts = [
        Text("mapa.shared::cluster.u32 %0, %1, 0;", (Operand("r", True, False), Operand("r"))),
        Text("setmaxnreg.inc.sync.aligned.u32 %0;", (Operand("n"),)),
        Text("no such thing;", ()),
        Text("}", ()),
        Text("wgmma.fence.sync.aligned;", ()),
    ]
    verdicts = {text.template: found for text, found in judge(texts)}
    places = [[v.place for v in found if v.theirs is None] for found in verdicts.values()]
    assert places == [["9.0 sm_90"], ["9.0 sm_90a"], [], [], ["9.0 sm_90a"]]
    assert verdicts["setmaxnreg.inc.sync.aligned.u32 %0;"][-1].text == "setmaxnreg.inc.sync.aligned.u32 32;"
    assert all(verdict.agrees for found in verdicts.values() for verdict in found)


@needs_ptxas
def test_whole_modules_and_their_changes(tmp_path):
    head = ".version 9.0\n.target sm_90\n.address_size 64\n"
    (tmp_path / "a.ptx").write_text(
        head + ".visible .entry k() { .reg .b32 %r<3>; add.s32 %r1, %r2, 4; ret; }\n"
    )
    (tmp_path / "nothing.ptx").write_text(head)
    part = modules.part(modules.verdicts(tmp_path, 30, seed=1))
    assert {name: counts["modules"] for name, counts in part["changes"].items()} == {
        "as written": 2,
        "delete": 10,
        "double": 10,
        "replace": 10,
    }
    assert part["changes"]["as written"]["accepted"] == 2
    assert 2 < sum(counts["accepted"] for counts in part["changes"].values()) < 32
    assert modules.unstable(tmp_path) == []


def test_a_module_that_is_written_otherwise_is_found(tmp_path, monkeypatch):
    (tmp_path / "a.ptx").write_text(".version 9.0\n.target sm_90\n.address_size 64\n")
    monkeypatch.setattr(ptxkit, "write", lambda module: "")
    assert modules.unstable(tmp_path) == ["a.ptx: written otherwise than read"]


def test_a_library_without_assembly_counts_nothing(tmp_path):
    (tmp_path / "a.cu").write_text("int one() { return 1; }\n")
    found = record.library(library.read(tmp_path), [])
    assert found["texts"] == found["answers that differ"] == 0
