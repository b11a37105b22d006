"""Instructions against the instruction set: each kind of mistake with its code, place and remedy."""

import pytest
from asm_corpus import FILES
from assembler import linker, log_of

import ptxkit

REGISTERS = """
.reg .b8 %b<9>; .reg .b16 %h<9>; .reg .b32 %r<39>; .reg .b64 %rd<39>; .reg .f32 %f<39>; .reg .f64 %fd<9>;
.reg .pred %p<9>; .reg .s32 %s<9>; .reg .v4 .f32 %v;
.shared .align 16 .b8 buffer[256]; .local .align 8 .b8 stack[64];
""".replace("\n", " ")
MODULE = ".global .align 16 .b8 table[64]; .const .align 16 .b8 constants[64];"


def check(statement, version="9.0", target="sm_90a"):
    """The findings of one statement."""
    text = (
        f".version {version}\n.target {target}\n.address_size 64\n{MODULE}\n"
        f".entry k(.param .u64 pointer) {{ {REGISTERS}\n{statement}\nDONE: ret;\n}}\n"
    )
    unused = ("P203", "P204")
    return [finding for finding in ptxkit.check(ptxkit.parse(text)) if finding.code not in unused]


def only(statement, **where):
    found = check(statement, **where)
    assert len(found) == 1, "\n".join(map(str, found))
    return found[0]


def text_at(statement, finding):
    """What the span of a finding covers of the statement."""
    return statement[finding.span.column - 1 : finding.span.end_column - 1]


@pytest.mark.parametrize(
    "statement",
    [
        "add.s32 %r1, %r2, %r3;",
        "add.s32 %r1, %s2, 5;",
        "add.f32 %f1, %r2, 0f3F800000;",
        "ld.global.f32 %f1, [%rd1+16];",
        "ld.global.f32 %f1, [table+4];",
        "ld.f32 %f1, [%rd1];",
        "ld.global.b32 {%r1}, [%rd1];",
        "ld.global.v4.f32 {%f1, _, %f3, %f4}, [%rd1];",
        "ld.global.v4.f32 %v, [%rd1];",
        "ld.global.u8 %r1, [%rd1];",
        "mov.b64 {%r1, %r2}, %rd1;",
        "mov.b64 %rd1, {%r1, %r2};",
        "mov.u32 %r1, %tid.x;",
        "mov.u64 %rd1, table;",
        "mov.u32 %r1, buffer;",
        "setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;",
        "set.nan.bf16.bf16 %h1, %h2, %h3;",
        "cp.async.bulk.commit_group;",
        "@!%p1 bra DONE;",
        "bar.sync 0;",
        "atom.shared.add.u32 _, [buffer], 1;",
        "lop3.b32 %r1, %r2, %r3, %r4, 0xE8;",
        "wgmma.fence.sync.aligned;",
        "createpolicy.fractional.L2::evict_last.b64 %rd1, 0.5;",
        "createpolicy.fractional.L2::evict_last.b64 %rd1, 0f3F800000;",
    ],
)
def test_right_statements_have_no_finding(statement):
    assert check(statement) == []


@pytest.mark.parametrize(
    ("statement", "code", "at", "message"),
    [
        ("ad.f32 %f1, %f2, %f3;", "P212", "ad.f32", "no instruction `ad`"),
        ("cp.asink [%rd1], [%rd2], 4;", "P212", "cp.asink", "no instruction `cp.asink`"),
        ("add.f23 %f1, %f2, %f3;", "P213", ".f23", "no modifier `.f23`"),
        ("sub.sat.u32 %r1, %r2, %r3;", "P214", ".sat", "`.sat` does not go with `sub.u32`"),
        ("add %r1, %r2, %r3;", "P214", "add", "found none"),
        ("add.s32.s32 %r1, %r2, %r3;", "P214", ".s32", "given twice"),
        ("ld.global.relaxed.u32 %r1, [%rd1];", "P214", "ld.global.relaxed.u32", "one of `.cta`"),
        ("add.s32 %r1, %r2;", "P215", "add.s32", "expected 3 operands of `add.s32`, found 2"),
        ("createpolicy.fractional.L2::evict_last.b64 %rd1, 0.0;", "P218", "0.0", "above 0.0 and up to 1.0"),
        ("createpolicy.fractional.L2::evict_last.b64 %rd1, 1.5;", "P218", "1.5", "found 1.5"),
        ("bar.sync;", "P215", "bar.sync", "expected 1 or 2 operands of `bar.sync`, found 0"),
        ("mov.u32 5, %r1;", "P217", "5", "found an integer"),
        ("st.global.f32 %rd1, %f1;", "P216", "%rd1", "an address in brackets"),
        ("add.f32 %f1, %r2, %fd1;", "P217", "%fd1", "found `.f64` register `%fd1`"),
        ("add.s32 %r1, %r2, 1.5;", "P217", "1.5", "found a floating-point number"),
        ("add.s32 %r1, %r2, {%r3, %r4};", "P216", "{%r3, %r4}", "found a vector of 2"),
        ("add.s32 %r1, %r2, buffer;", "P216", "buffer", "found variable `buffer` in `.shared`"),
        ("bar.sync 16;", "P218", "16", "from 0 to 15"),
        ("cp.async.ca.shared.global [%rd2], [%rd1], 5;", "P218", "5", "one of 4, 8, 16"),
        ("lop3.b32 %r1, %r2, %r3, %r4, %r5;", "P216", "%r5", "expected a constant from 0 to 255 as `immLut`"),
        ("cp.async.ca.shared.global [%rd2], [%rd1], %r1;", "P216", "%r1", "expected one of 4, 8, 16 as"),
        ("cp.async.ca.shared.global [%rd2], [%rd1], 4, 8;", "P218", "8", "from 0 to 4"),
        ("setmaxnreg.inc.sync.aligned.u32 100;", "P218", "100", "a multiple of 8 from 24 to 256"),
        ("ld.shared.f32 %f1, [table];", "P219", "[table]", "found variable `table` in `.global`"),
        ("st.const.f32 [constants], %f1;", "P213", ".const", "`st` has no modifier `.const`"),
        ("ld.global.v4.f32 {%f1, %f2}, [%rd1];", "P220", "{%f1, %f2}", "a vector of 4 `.f32` registers"),
        ("ld.global.v4.f32 {%f1, %f2, %f3, %h1}, [%rd1];", "P217", "%h1", "as an element of `d`"),
        ("setp.lt.f32 %r1, %f1, %f2;", "P221", "%r1", "expected a predicate as `p`"),
        ("selp.b32 %r1, %r2, %r3, %r4;", "P221", "%r4", "expected a predicate as `c`"),
        ("vote.sync.any.pred !%p1, %p2, -1;", "P216", "!%p1", "found a negated predicate"),
        ("@%r1 bra DONE;", "P221", "@%r1", "expected a predicate register after `@`"),
        ("bra buffer;", "P207", "buffer", "expected a label"),
        ("shfl.sync.down.b32 %r1|%r2, %r3, 1, 31, -1;", "P221", "%r2", "expected a predicate as `p`"),
        ("ld.global.f32 %f1, [%p1];", "P216", "[%p1]", "an address in an integer register"),
    ],
)
def test_mistakes(statement, code, at, message):
    finding = only(statement)
    assert finding.is_error
    assert finding.code == code
    assert message in finding.message
    assert finding.span.line == 6
    assert text_at(statement, finding).startswith(at)


@pytest.mark.parametrize(
    ("statement", "help"),
    [
        ("add.f23 %f1, %f2, %f3;", "did you mean `.f32`?"),
        ("shf.l.clmap.b32 %r1, %r2, %r3, %r4;", "did you mean `.clamp` or `.wrap`?"),
        ("addd.f32 %f1, %f2, %f3;", "did you mean `add`"),
        ("ld.global.L1::no_alocate.f32 %f1, [%rd1];", "did you mean `.L1::no_allocate`?"),
        ("mbarrier.innit.shared.b64 [buffer], 1;", "did you mean `mbarrier.init"),
        ("add.s32 %r1, %r2;", "the form is `add.type d, a, b`"),
        ("cvt.f32.s32 %f1, %r1;", "the nearest form is `cvt.frnd{.ftz}{.sat}.f32.atype d, a`"),
    ],
)
def test_help_names_the_remedy(statement, help):
    assert help in only(statement).help


def test_a_misfit_points_at_the_declaration():
    finding = only("add.f32 %f1, %r2, %fd1;")
    (label,) = finding.labels
    assert label.text == "declared `.reg .f64` here"
    assert label.span.line == 5


@pytest.mark.parametrize(
    ("statement", "version", "target", "code", "help"),
    [
        ("wgmma.fence.sync.aligned;", "9.0", "sm_90", "P312", "write `.target sm_90a`"),
        ("tcgen05.wait::ld.sync.aligned;", "9.0", "sm_90a", "P312", "write `.target sm_100f`"),
        ("mapa.u64 %rd1, %rd2, %r1;", "7.8", "sm_80", "P312", "write `.target sm_90`"),
        ("mov.u32 %r1, %cluster_ctarank;", "9.0", "sm_80", "P312", "write `.target sm_90`"),
        ("mov.u32 %r1, %clusterid.x;", "9.0", "sm_80", "P312", "write `.target sm_90`"),
        ("mov.u32 %r1, %aggr_smem_size;", "8.0", "sm_90", "P311", "write `.version 8.1`"),
        ("mapa.u64 %rd1, %rd2, %r1;", "9.0", "sm_90", None, None),
        ("redux.sync.add.s32 %r1, %r2, -1;", "6.4", "sm_75", "P312", "write `.target sm_80`"),
        ("ld.global.L1::evict_last.f32 %f1, [%rd1];", "7.2", "sm_80", "P311", "write `.version 7.4`"),
        ("min.xorsign.abs.f32 %f1, %f2, %f3;", "7.1", "sm_86", "P311", "write `.version 7.2`"),
        ("min.xorsign.abs.f32 %f1, %f2, %f3;", "7.2", "sm_80", "P312", "write `.target sm_86`"),
        ("vote.any.pred %p1, %p2;", "6.3", "sm_75", None, None),
        ("vote.any.pred %p1, %p2;", "9.0", "sm_75", "P312", "`.sync`"),
    ],
)
def test_versions_and_targets_of_modifiers(statement, version, target, code, help):
    found = check(statement, version, target)
    assert [finding.code for finding in found] == ([code] if code else [])
    if found:
        assert help in found[0].help


def test_the_modifier_that_needs_more_is_marked():
    statement = "ld.global.L1::evict_last.f32 %f1, [%rd1];"
    finding = only(statement, version="7.2", target="sm_80")
    assert text_at(statement, finding) == ".L1::evict_last"
    assert [label.text for label in finding.labels] == ["version set here"]


@pytest.mark.parametrize(
    ("statement", "code", "severity"),
    [
        ("ld.u32.global %r1, [%rd1];", "P223", "note"),
        ("testp.f32 %p1, %f1;", "P222", "warning"),
        ("fma.rz.bf16 %h1, %h2, %h3, %h4;", "P222", "warning"),
        ("lop3.b32 %r1, %r2, %r3, %r4, 0x1FF;", "P218", "warning"),
    ],
)
def test_what_only_ptxas_takes_is_no_error(statement, code, severity):
    finding = only(statement)
    assert (finding.code, finding.severity) == (code, severity)


@pytest.mark.parametrize(
    ("statement", "target", "code"),
    [
        ("wgmma.fence.sync;", "sm_90a", "P222"),
        ("tcgen05.ld.sync.32x32b.x1.b32 {%r1}, [%r2];", "sm_100a", "P214"),
        ("tcgen05.st.sync.16x64b.x1.b32 [%r2], {%r1};", "sm_100a", "P214"),
    ],
)
def test_aligned_may_be_missing_in_wgmma_alone(statement, target, code):
    """ptxas 13.0 takes `tcgen05.ld` and `.st` without it, too; no ptxas since does."""
    (finding,) = (found for found in check(statement, target=target) if found.code in ("P214", "P222"))
    assert (finding.code, finding.severity == "warning") == (code, code == "P222")
    log = log_of(f".version 9.0\n.target {target}\n.entry k() {{ {REGISTERS}\n{statement}\n}}", arch=target)[
        0
    ]
    if linker().version() >= (13, 5):
        assert (".aligned modifier required" in log) == (code == "P214")


def test_samplers_go_with_the_independent_texture_mode():
    registers = "{%f1, %f2, %f3, %f4}"
    bare, given = (f"tex.1d.v4.f32.f32 {registers}, [%rd1{sampler}, {{%f5}}];" for sampler in ("", ", %rd2"))
    assert check(bare) == []
    assert [f.code for f in check(given)] == ["P222"]
    assert check(given, target="sm_90, texmode_independent") == []
    assert [f.code for f in check(bare, target="sm_90, texmode_independent")] == ["P215"]


def test_the_address_of_an_opaque_variable():
    """It is a handle, of 64 bits without a sign (5.3); nothing is added to it."""
    variables = ".global .texref image; .global .surfref pixels;"
    head = ".version 9.0\n.target sm_90\n.address_size 64\n"
    text = head + "{}\n.entry k() {{ .reg .b64 %r; .reg .b32 %s;\n{} ret; }}\n"

    def found(statement):
        module = ptxkit.parse(text.format(variables, statement))
        return [each.code for each in ptxkit.check(module) if each.is_error]

    for good in ("mov.u64 %r, image;", "mov.u64 %r, pixels;"):
        assert found(good) == []
    for bad in ("mov.b64 %r, image;", "mov.s64 %r, image;", "mov.u32 %s, image;", "add.u64 %r, image, 1;"):
        assert found(bad) == ["P216"], bad


def usage(body):
    text = f".version 9.0\n.target sm_90a\n.address_size 64\n.entry k() {{\n{body}\nret;\n}}\n"
    return [(finding.code, finding.span.line) for finding in ptxkit.check(ptxkit.parse(text))]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (".reg .b32 a, b;\nmov.b32 a, 1;\nmov.b32 b, a;", []),
        (".reg .b32 a, b;\nmov.b32 a, b;", [("P204", 6)]),
        (".reg .b32 r<9>;\nmov.b32 r1, r2;\nmov.b32 r3, r2;", [("P204", 6)]),
        (".reg .b32 a, b;\nmov.b32 a, b;\nmov.b32 b, a;", []),
        (".reg .pred p;\n@p ret;", [("P204", 6)]),
        (".reg .b32 a;", [("P203", 5)]),
        (".reg .b32 r<9>;", [("P203", 5)]),
        (".reg .b32 a, b; .reg .b64 c;\nmov.b64 c, 1;\nmov.b64 {a, b}, c;\nadd.s32 a, a, b;", []),
        (".reg .b64 a; .reg .b32 b;\nst.b32 [a], b;", [("P204", 6), ("P204", 6)]),
        (".reg .b32 a;\nmov.b32 a 1;", [("P101", 6)]),
        (".reg .b32 a, b;\nmov.b32 a, 1;\nprmt.b32 a, a, b, 0x0123;", []),
        (".reg .b32 a, b, s;\nmov.b32 a, 1;\nmov.b32 s, 0x0123;\nprmt.b32 a, a, b, s;", []),
        (".reg .b32 a, b;\nmov.b32 a, 1;\nprmt.b32 a, a, b, 0x0523;", [("P204", 7)]),
        (".reg .b32 a, b;\nmov.b32 a, 1;\nprmt.b32 a, b, a, 0xFEDC;", []),
        (".reg .b32 a, b;\nmov.b32 a, 1;\nprmt.b32.f4e a, a, b, 0;", [("P204", 7)]),
        (".reg .b32 a, b;\nmov.b32 a, 1;\nprmt.b32 a, a, b, 0x0123;\nmov.b32 a, b;", [("P204", 8)]),
        ("{ .reg .b32 temp_param_reg; }", []),
        (".reg .b32 r<3>;\nmov.b32 r01, 1;\nadd.s32 r2, r1, r001;", []),
        (".reg .b32 r<3>;\nmov.b32 r2, r01;\nmov.b32 r0, r1;", [("P204", 6)]),
        (".reg .b32 a, c;\n{ .reg .b32 a;\nmov.b32 a, 1; mov.b32 c, a; }\nmov.b32 c, a;", [("P204", 8)]),
        (".reg .b32 a, c;\nmov.b32 a, 1;\n{ mov.b32 c, a;\n.reg .b32 a;\nmov.b32 c, a; }", [("P204", 9)]),
        (".reg .b32 a, c;\n{ mov.b32 a, 1;\n.reg .b32 a;\nmov.b32 a, 1; mov.b32 c, a; }\nmov.b32 c, a;", []),
        (
            ".reg .b32 a, c;\nmov.b32 c, 1;\n"
            "{ .reg .b32 a;\nmov.b32 a, 1; mov.b32 c, a; }\nprmt.b32 c, c, a, 0x0123;",
            [],
        ),
    ],
)
def test_registers_that_nothing_uses_or_writes(body, found):
    assert usage(body) == found


def test_the_corpus_has_no_errors():
    for file in FILES:
        errors = [finding for finding in ptxkit.check(ptxkit.parse(file)) if finding.is_error]
        assert not errors, f"{file.name}\n{errors[0]}"
