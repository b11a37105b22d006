"""Lints: what they warn of, and what they leave alone."""

import pytest
from asm_corpus import FILES
from wide_parameters import WAYS

import ptxkit
from ptxkit.diagnostics import code_info

LINTS = {"P230", "P231", "P232", "P233", "P234", "P235", "P236", "P237", "P238", "P239", "P406"}


def lints(body, target="sm_90a", header=""):
    """(code, line in the body from 1) of every lint."""
    text = (
        f".version 9.0\n.target {target}\n.address_size 64\n"
        ".shared .align 1024 .b8 data[8192]; .shared .align 8 .b64 barrier, barriers[4];\n"
        f".entry k(.param .u64 pointer) {header} {{ .reg .pred %p<9>; .reg .b32 %r<39>; .reg .b64 %rd<39>; "
        f".reg .f32 %f<39>;\n{body}\nret;\n}}\n"
    )
    found = ptxkit.check(ptxkit.parse(text))
    assert not [finding for finding in found if finding.is_error], "\n".join(map(str, found))
    known = {"P203", "P204", "P222", "P223"}
    return [(finding.code, finding.span.line - 5) for finding in found if finding.code not in known]


# ---- aligned instructions under divergent control flow

LDMATRIX = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r9}, [%r8];"


@pytest.mark.parametrize(
    ("predicate", "diverges"),
    [
        ("elect.sync _|%p1, -1;", True),
        ("mov.u32 %r1, %tid.x; setp.eq.s32 %p1, %r1, 0;", True),
        ("mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 5;", True),
        ("mov.u32 %r1, %laneid; setp.lt.u32 %p1, %r1, 16;", True),
        ("mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; setp.eq.s32 %p1, %r2, 0;", True),
        ("mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 33;", True),
        ("mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 31;", False),
        ("mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32;", False),
        ("mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; setp.eq.s32 %p1, %r2, 0;", False),
        ("mov.u32 %r1, %ctaid.x; setp.eq.s32 %p1, %r1, 0;", False),
        ("mov.u32 %r1, %laneid; setp.lt.u32 %p1, %r1, 32;", False),
        (
            "elect.sync _|%p2, -1; mov.u32 %r1, %ctaid.x; setp.eq.s32 %p3, %r1, 0; and.pred %p1, %p2, %p3;",
            True,
        ),
    ],
)
def test_divergent_predicates(predicate, diverges):
    guarded = f"{predicate}\n@%p1 {LDMATRIX}"
    branch = f"{predicate}\n@%p1 bra L;\n{LDMATRIX}\nL:"
    assert lints(guarded) == ([("P230", 2)] if diverges else [])
    assert lints(branch) == ([("P230", 3)] if diverges else [])


def test_what_comes_after_the_branch_is_aligned_again():
    elect = "elect.sync _|%p1, -1;\n"
    assert lints(f"{elect}@%p1 bra L;\nmov.u32 %r1, 1;\nL: {LDMATRIX}") == []
    assert lints(f"{elect}@!%p1 bra L;\n{LDMATRIX}\nbra M;\nL: {LDMATRIX}\nM: {LDMATRIX}") == [
        ("P230", 3),
        ("P230", 5),
    ]


def test_a_barrier_for_some_threads_of_a_warp():
    assert lints("mov.u32 %r1, %tid.x; setp.eq.s32 %p1, %r1, 0;\n@%p1 bar.sync 0;") == [("P230", 2)]
    assert lints("mov.u32 %r1, %tid.x; setp.eq.s32 %p1, %r1, 0;\n@%p1 barrier.sync 0;") == []


def test_a_cta_of_one_thread_does_not_diverge():
    text = f"mov.u32 %r1, %tid.x; setp.eq.s32 %p1, %r1, 0;\n@%p1 {LDMATRIX}"
    assert lints(text, header=".reqntid 1") == []


# ---- mbarriers

WAIT = "mbarrier.try_wait.parity.shared::cta.b64 %p1, [{}], 0;"
INIT = "mbarrier.init.shared::cta.b64 [{}], 1;"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (WAIT.format("barrier"), [("P231", 1)]),
        (f"{INIT.format('barrier')}\n{WAIT.format('barrier')}", []),
        (f"{INIT.format('barriers')}\n{WAIT.format('barriers+8')}", [("P231", 2)]),
        (
            f"{INIT.format('barriers+8')}\nmov.u32 %r1, barriers; add.u32 %r2, %r1, 8;\n{WAIT.format('%r2')}",
            [],
        ),
        (f"{INIT.format('barriers')}\nmov.u32 %r1, %ctaid.x;\n{WAIT.format('%r1')}", []),
        (f"mov.u32 %r1, %ctaid.x; {INIT.format('%r1')}\n{WAIT.format('barrier')}", []),
    ],
)
def test_barriers_that_nobody_initialises(body, found):
    assert lints(body) == found


COPY = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [data{0}], [%rd1], {1}, [barrier];"
EXPECT = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [barrier], {0};"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (f"{EXPECT.format(1024)}\n{COPY.format('', 1024)}", []),
        (f"{EXPECT.format(1024)}\n{COPY.format('', 512)}", [("P232", 2)]),
        (f"{EXPECT.format(1024)}\n{COPY.format('', 512)}\n{COPY.format('+512', 512)}", []),
        (f"{EXPECT.format(1024)}\n{COPY.format('', 512)}\n{COPY.format('+512', 256)}", [("P232", 2)]),
        (f"mov.u32 %r1, 512;\n{EXPECT.format(1024)}\n{COPY.format('', '%r1')}", [("P232", 3)]),
        (f"mov.u32 %r1, %ctaid.x;\n{EXPECT.format(1024)}\n{COPY.format('', '%r1')}", []),
        (f"{EXPECT.format(1024)}\nL: {COPY.format('', 512)}\n@%p1 bra L;", []),
        (f"{EXPECT.format(1024)}\n@%p1 {COPY.format('', 512)}", []),
    ],
)
def test_bytes_that_the_copies_do_not_bring(body, found):
    assert lints(f"{INIT.format('barrier')}\n{body}") == found


# ---- wgmma

FENCE, COMMIT, WAIT_GROUP = (
    f"wgmma.{what}.sync.aligned{n};"
    for what, n in (("fence", ""), ("commit_group", ""), ("wait_group", " 0"))
)
PRODUCT = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, 1, 1, 1, 0, 0;"
ZERO = "mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, %f1; mov.f32 %f4, %f1;"
USE = "st.global.f32 [%rd3], %f1;"


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ([ZERO, FENCE, PRODUCT, COMMIT, WAIT_GROUP, USE], []),
        ([ZERO, FENCE, PRODUCT, PRODUCT, COMMIT, WAIT_GROUP, USE], []),
        ([ZERO, PRODUCT, COMMIT, WAIT_GROUP, USE], [("P233", 2)]),
        ([FENCE, ZERO, PRODUCT, COMMIT, WAIT_GROUP, USE], [("P233", 3)]),
        ([ZERO, FENCE, PRODUCT, COMMIT, USE, WAIT_GROUP], [("P233", 5)]),
        ([ZERO, FENCE, PRODUCT, COMMIT, USE], [("P233", 3)]),
        ([ZERO, FENCE, PRODUCT, USE], [("P233", 3)]),
        ([ZERO, "L:", FENCE, PRODUCT, COMMIT, "@%p1 bra L;", WAIT_GROUP, USE], []),
        (
            [ZERO, "L:", "add.f32 %f1, %f1, %f9;", FENCE, PRODUCT, COMMIT, "@%p1 bra L;", WAIT_GROUP],
            [("P233", 3)],
        ),
        ([ZERO, FENCE, PRODUCT, COMMIT, "mov.f32 %f9, %f8;", WAIT_GROUP, USE], []),
        ([FENCE, "@%p1 bra L;", ZERO, "L:", PRODUCT, COMMIT, WAIT_GROUP, USE], []),
        (["@%p1 bra L;", ZERO, "L:", PRODUCT, COMMIT, WAIT_GROUP, USE], [("P233", 4)]),
    ],
)
def test_the_order_of_warpgroup_products(lines, found):
    assert lints("\n".join(lines)) == found


# ---- tcgen05

ALLOC = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [data], 32;"
DEALLOC = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;"
MMA = "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;"
TCGEN05_COMMIT = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [barrier];"
STORE = "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r1], {%r2};"


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ([ALLOC, DEALLOC], []),
        ([ALLOC], [("P235", 1)]),
        ([MMA], [("P234", 1)]),
        ([INIT.format("barrier"), MMA, TCGEN05_COMMIT], []),
        ([STORE], [("P234", 1)]),
        ([STORE, "tcgen05.wait::st.sync.aligned;"], []),
    ],
)
def test_counterparts(lines, found):
    assert lints("\n".join(lines), target="sm_100a") == found


TMEM_LOAD = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r9}}, [{}];"
MBARRIER_WAIT = "W: mbarrier.try_wait.parity.shared::cta.b64 %p3, [barrier], 0;\n@!%p3 bra W;"


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ([MMA, TCGEN05_COMMIT, MBARRIER_WAIT, TMEM_LOAD.format("%r1")], []),
        ([MMA, TCGEN05_COMMIT, TMEM_LOAD.format("%r1"), MBARRIER_WAIT], [("P234", 4)]),
        ([MMA, TCGEN05_COMMIT, TMEM_LOAD.format("%r1+16")], [("P234", 4)]),
        ([MMA, TCGEN05_COMMIT, TMEM_LOAD.format("%r3")], []),
        ([MMA, TCGEN05_COMMIT, "bar.sync 0;", TMEM_LOAD.format("%r1")], []),
        ([MMA, TCGEN05_COMMIT, "add.u32 %r1, %r1, 64;", TMEM_LOAD.format("%r1")], []),
        (["@!%p2 bra L;", MMA, TCGEN05_COMMIT, "L:", TMEM_LOAD.format("%r1")], [("P234", 6)]),
        ([MMA, TCGEN05_COMMIT, "bra M;", "L:", TMEM_LOAD.format("%r1"), "M:"], []),
    ],
)
def test_results_of_products_that_nothing_waited_for(lines, found):
    body = "\n".join([INIT.format("barrier"), *lines])
    assert lints(body, target="sm_100a") == found


# ---- addresses in variables


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("ld.shared.b32 %r1, [data+4];", None),
        ("ld.shared.b32 %r1, [data+2];", "P236"),
        ("ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [data+8];", "P236"),
        ("ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [data+16];", None),
        ("st.shared.v2.f32 [data+8188], {%f1, %f2};", "P236"),
        ("st.shared.b64 [data+8184], %rd1;", None),
        ("st.shared.b64 [data+8192], %rd1;", "P237"),
        ("ld.shared.b32 %r1, [data+-4];", "P237"),
        ("atom.shared.add.u32 %r1, [data+6], 1;", "P236"),
        ("red.shared.add.u32 [data+8192], 1;", "P237"),
        ("mbarrier.init.shared::cta.b64 [barriers+24], 1;", None),
        ("mbarrier.init.shared::cta.b64 [barriers+20], 1;", "P236"),
        ("mbarrier.init.shared::cta.b64 [barriers+32], 1;", "P237"),
        ("cp.async.ca.shared.global [data+8], [%rd1], 16;", "P236"),
        ("cp.async.ca.shared.global [data+8], [%rd1], 8;", None),
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [data+8];", "P236"),
        ("ld.param.u64 %rd1, [pointer];", None),
        ("ld.param.u64 %rd1, [pointer+8];", "P237"),
        ("ld.param.u32 %r1, [pointer+4];", None),
        ("ld.param.u32 %r1, [pointer+2];", "P236"),
        ("mov.u32 %r2, data; add.u32 %r2, %r2, 2; ld.shared.b32 %r1, [%r2];", None),
    ],
)
def test_addresses_in_variables(statement, code):
    assert [found for found, _ in lints(statement)] == ([code] if code else [])


def test_a_wrong_size_of_a_copy_is_all_that_is_wrong():
    text = (
        ".version 9.0\n.target sm_90\n.address_size 64\n.entry k() { .shared .align 16 .b8 data[64];\n"
        ".reg .b64 %rd1; mov.u64 %rd1, 0;\ncp.async.ca.shared.global [data+2], [%rd1], 0;\nret; }\n"
    )
    assert [finding.code for finding in ptxkit.check(ptxkit.parse(text))] == ["P218"]


def test_addresses_in_registers():
    address = "mov.u32 %r2, data; add.u32 %r3, %r2, {};\n"
    row = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r3+16];"
    assert lints(address.format(16) + row) == []
    assert lints(address.format(8) + row) == [("P236", 2)]
    copy = COPY.replace("data{0}", "%r3").replace("{1}", "64")
    barrier = INIT.format("barrier") + address.format(24)
    assert lints(f"{barrier}{copy}") == [("P236", 2)]


def test_sizes_that_another_module_decides():
    text = (
        ".version 9.0\n.target sm_90\n.address_size 64\n.extern .shared .align 16 .b8 window[];\n"
        ".entry k() { .reg .b32 %r1;\nld.shared.b32 %r1, [window+65536];\n"
        "st.shared.b32 [window+2], %r1;\nret; }\n"
    )
    assert [(d.code, d.span.line) for d in ptxkit.check(ptxkit.parse(text))] == [("P236", 7)]


@pytest.mark.parametrize(
    ("value", "right"),
    [(0x08200010, True), (0x08200018, False), (0x08300010, True), (0x08020010, True), (0x00200010, False)],
)
def test_constant_instruction_descriptors(value, right):
    body = f"{INIT.format('barrier')}\nmov.b32 %r2, {value:#x};\n{MMA}\n{TCGEN05_COMMIT}"
    found = lints(body, target="sm_100a")
    assert [line for _, line in found] == ([] if right else [3])
    assert all(code.startswith("P4") for code, _ in found)


def test_compilers_output_has_no_lint():
    for file in FILES:
        found = [finding for finding in ptxkit.check(ptxkit.parse(file)) if finding.code in LINTS]
        assert not found, f"{file.name}\n{found[0]}"


def test_a_lint_can_be_allowed():
    assert lints(f"{ALLOC} // ptxkit: allow P235", target="sm_100a") == []
    name = code_info("P235").name
    assert lints(f"{ALLOC} // ptxkit: allow {name}, the caller frees it", target="sm_100a") == []


# ---- what the assembler makes wrong

HALVES = ".reg .b16 %h<9>; .reg .b32 %w<9>;"


@pytest.mark.parametrize(
    ("statement", "destination", "lost"),
    [
        ("testp.finite.f32 %p2, %f1;", "setp.eq.s32 %p2, %r1, 0;", True),
        ("set.lt.f32.f32 %f3, %f1, %f2;", "mov.f32 %f3, 0f00000000;", True),
        ("set.lt.f32.s32 %f3, %r1, %r2;", "mov.f32 %f3, 0f00000000;", True),
        ("set.lt.f16.f16 %h3, %h1, %h2;", "mov.b16 %h3, 1;", True),
        ("set.lt.and.bf16.f32 %h3, %f1, %f2, %p3;", "mov.b16 %h3, 1;", True),
        ("set.lt.u32.f16 %r3, %h1, %h2;", "mov.u32 %r3, 1;", True),
        ("set.lt.u32.f32 %r3, %f1, %f2;", "mov.u32 %r3, 1;", False),
        ("set.lt.f16x2.f16x2 %r3, %w1, %w2;", "mov.u32 %r3, 1;", False),
        ("setp.lt.f32 %p2, %f1, %f2;", "setp.eq.s32 %p2, %r1, 0;", False),
    ],
)
def test_guards_that_the_assembler_drops(statement, destination, lost):
    """Only where the register has held something before."""
    assert lints(f"{HALVES} {destination}\n@%p1 {statement}") == ([("P238", 2)] if lost else [])
    assert lints(f"{HALVES} {destination}\n{statement}") == []
    assert lints(f"{HALVES}\n@%p1 {statement}") == []


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_halves_that_the_assembler_loses(way):
    """Of 128 bits on their way to a device function and back; a kernel's parameter comes whole."""
    found = ptxkit.check(ptxkit.parse(way.text))
    assert [finding.code for finding in found] == (["P239"] if way.lost else []), found
    assert all(way.lost in finding.message for finding in found)


def test_a_declaration_is_nothing_to_warn_of():
    """What is passed in part, the definition or the call tells."""
    text = ".version 8.8 .target sm_90 .extern .func (.reg .b128 result) swap(.reg .b128 value);"
    assert ptxkit.check(ptxkit.parse(f"{text}\n")) == []
