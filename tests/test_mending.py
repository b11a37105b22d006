"""A change of one place of a kernel that makes its result right is found by trying, and named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command import here

from ptxkit.asm.mends.anchors import anchors, narrowed
from ptxkit.asm.mends.edit import alike
from ptxkit.asm.mends.edits import Edits
from ptxkit.asm.mends.evidence import TextEvidence
from ptxkit.asm.mends.numbers import beyond, meant, out_of_line, written_like
from ptxkit.asm.mends.statements import CONTROL, STEP, KernelText
from ptxkit.asm.preprocess import expand
from ptxkit.diagnostics import Diagnostic, Source
from ptxkit.plan import LaunchPlan, PlanTensorMap
from ptxkit.plan.data import PlanTensor, Program
from ptxkit.running.mending import search
from ptxkit.running.mending.cards import card_edits
from ptxkit.running.mending.trial import ExpandedText, trimmed
from ptxkit.workloads.rearranged import ONE_SIDED

KERNEL = """\
// y[i] = 2 * x[i] of 128 elements, which change their places in shared memory.
//
// /// ptxkit
// [launch]
// grid = 1
// block = 128
// params = ["x", "y"]
//
// [presets]
// smoke = { n = 128 }
//
// [tensors.x]
// dtype = "f32"
// shape = "n"
// init = "randn"
//
// [tensors.y]
// dtype = "f32"
// shape = "n"
// expect = "2 * x"
// ///
#define BYTES 4
#define PLACE(at, from) \\
    shl.b32 at, from, 2; \\
    add.u32 at, at, %base;

.version 8.0
.target sm_80
.address_size 64

.shared .align 16 .b8 room[1024];

.visible .entry doubled(.param .u64 x, .param .u64 y)
{
    .reg .b32 %thread, %turn, %at, %back, %base;
    .reg .b64 %x, %y;
    .reg .f32 %value;

    ld.param.u64 %x, [x];
    ld.param.u64 %y, [y];
    mov.u32 %thread, %tid.x;
    mov.u32 %base, room;
    shr.u32 %turn, %thread, 3;
    xor.b32 %turn, %turn, %thread;
    mad.wide.u32 %x, %thread, BYTES, %x;
    mad.wide.u32 %y, %thread, 4, %y;
    ld.global.f32 %value, [%x];
    add.f32 %value, %value, %value;
    PLACE(%at, %turn)
    st.shared.f32 [%at], %value;
    bar.sync 0;
    PLACE(%back, %turn)
    ld.shared.f32 %value, [%back];
    st.global.f32 [%y], %value;
    ret;
}
"""

TUTORIAL = Path(__file__).parents[1] / "docs" / "tutorial"


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Don't look for further changes for long."""
    monkeypatch.setattr(search, "OTHERS", 0.1)


def first(folder: Path, old: str, new: str, *options: object) -> str:
    """The first error of the kernel with something wrong in it, one line."""
    assert KERNEL.count(old) == 1
    path = folder / "doubled.ptx"
    path.write_text(KERNEL.replace(old, new))
    done = here("run", path, "--device", "emu", "--mend", 30, *options)
    return next(line for line in (done.stdout + done.stderr).splitlines() if line.startswith("error["))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mad.wide.u32 %y, %thread, 4, %y;", "mad.wide.u32 %y, %thread, 8, %y;"),
        ("#define BYTES 4", "#define BYTES 2"),
        ("shl.b32 at, from, 2; \\", "shl.b32 at, from, 1; \\"),
    ],
)
def test_what_was_changed_is_named(tmp_path: Path, old: str, new: str) -> None:
    said = first(tmp_path, old, new)
    assert " result is right with " in said
    line = KERNEL[: KERNEL.index(old)].count("\n") + 1
    assert f"at line {line}: " in said, said


def card(folder: Path, kernel: str, old: str, new: str) -> str:
    """The first error of a kernel of the tutorial with something else in its card or its text, one line."""
    (source,) = TUTORIAL.glob(f"*/{kernel}.ptx")
    text = source.read_text()
    assert text.count(old) >= 1
    (folder / f"{kernel}.ptx").write_text(text.replace(old, new, 1))
    done = here("run", folder / f"{kernel}.ptx", "--device", "emu", "--mend", 30)
    return next(line for line in (done.stdout + done.stderr).splitlines() if line.startswith("error["))


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("box = [64, 64]", "box = [64, 32]", "P6"),
        ('swizzle = "128B"', 'swizzle = "64B"', "P456"),
        ("box = [32, 64]", "box = [64, 32]", "P"),
    ],
)
def test_a_tensor_map_of_the_card_is_named(tmp_path: Path, old: str, new: str, code: str) -> None:
    said = card(tmp_path, "wgmma", old, new)
    assert said.startswith(f"error[{code}")
    entry, right = old.split(" = ")
    wrong = new.split(" = ")[1]
    assert f"the result is right with `{entry} = {right}` instead of `{wrong}` in tensor map `" in said, said


def test_a_grid_that_is_too_small_is_named(tmp_path: Path) -> None:
    said = card(tmp_path, "saxpy", "ceildiv(n, 256)", "ceildiv(n, 512)")
    assert "the result is right with a grid of [4, 1, 1] CTAs instead of [2, 1, 1]: " in said, said


def test_an_address_of_tensor_memory_is_mended(tmp_path: Path) -> None:
    said = card(tmp_path, "tcgen05", "shl.b32 %sums, %warp, 21;", "shl.b32 %sums, %warp, 20;")
    assert said.startswith("error[P6120]: TMEM-LANE-QUARTER: there is no error and the result is right with ")
    assert "`shl.b32 %sums, %warp, 21;` instead of" in said


def test_lines_that_the_preprocessor_leaves_out_are_passed_over(tmp_path: Path) -> None:
    text = "#if 0\n mov.u32 %a, 8;\n#else\n mov.u32 %a, 4;\n#endif\n"
    kernel = KernelText.of(text, (), {4})
    assert [one.text for one in kernel.statements] == ["mov.u32 %a, 4;"]


def test_processes_side_by_side_name_the_same(tmp_path: Path) -> None:
    old, new = "mad.wide.u32 %y, %thread, 4, %y;", "mad.wide.u32 %y, %thread, 8, %y;"
    alone = first(tmp_path, old, new)
    assert first(tmp_path, old, new, "--threads", 2) == alone


def test_the_nearest_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A change that is tried sooner is not the first because another process is slower."""
    monkeypatch.setattr(search, "OTHERS", -1.0)
    answers = iter([(3, True), (0, False), (4, True), (1, True), (2, False), (5, True)])
    assert search.nearest(answers) == ([1, 3, 4], 4)
    assert next(answers) == (2, False)
    assert search.nearest(iter([(3, True), (0, False)])) == ([3], 2)  # the time is over


def test_without_a_mend_the_finding_stays(tmp_path: Path) -> None:
    (tmp_path / "off").mkdir()
    old, new = 'expect = "2 * x"', 'expect = "sin(x)"'
    assert first(tmp_path, old, new, "--mend", 1) == first(tmp_path / "off", old, new, "--mend", 0)


def test_of_scale_factors_of_another_type_nothing_else_is_tried() -> None:
    """The product names what is to be mended, and no time passes."""
    broken = TUTORIAL / "09-block-scaled" / "block_scaled_broken.ptx"
    shown = here("run", broken, "--device", "emu", "--mend", 60)
    assert "error[P801]: the product at line 129 takes the scale factors of A as ue8m0" in shown.stdout


@pytest.mark.parametrize(
    ("token", "value", "written"),
    [("0x08880480", 0x8080480, "0x08080480"), ("0X0F", 31, "0X1f"), ("64", 32, "32"), ("0x10", -1, "-1")],
)
def test_a_number_is_written_like_the_one_before(token: str, value: int, written: str) -> None:
    assert written_like(token, value) == written


def test_numbers_that_may_have_been_meant() -> None:
    assert {128, 32, 0} <= {number for _, number in meant(64)}
    assert 3 in {number for _, number in meant(7)}
    assert min(cost for cost, number in meant(33792) if number == 34816) < 1
    assert 0x4000404000010000 in {number for _, number in meant(0x4000402000010000)}


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ([16, 32, 80, 64], (2, 48)),
        ([0, 64, 60, 192], (2, 128)),
        ([1, 2, 3], None),
        ([1, 2, 7], None),
        ([1, 2, 2], (0, 2)),
        ([2, 2, 2, 5], (3, 2)),
        ([2, 2, 5, 5], None),
    ],
)
def test_a_number_out_of_line(row: list[int], found: tuple[int, int] | None) -> None:
    assert out_of_line(row) == found


@pytest.mark.parametrize(
    ("lines", "place", "meant"),
    [
        (["xor.b32 %c, %a, 32; st.b32 [%c], %p0;", "xor.b32 %c, %a, 64; st.b32 [%c], %p0;",
          "xor.b32 %c, %a, 96; st.b32 [%c], %p0;", "xor.b32 %c, %a, 32; st.b32 [%c], %p0;",
          "xor.b32 %c, %a, 48; st.b32 [%c], %p0;", "xor.b32 %c, %a, 96; st.b32 [%c], %p0;",
          "xor.b32 %c, %a, 32; st.b32 [%c], %p0;", "xor.b32 %c, %a, 64; st.b32 [%c], %p0;",
          "xor.b32 %c, %a, 96; st.b32 [%c], %p0;"], "48", "64"),
        ([f"add.u64 %k, %t, {each};" for each in (0, 2, 512, 514, 1024, 1028, 1536, 1538)], "1028", "1026"),
        ([f"cvt.bf16x2.f32 %p{each}, %s{2 * each + 1 + (each == 2)}, %s{2 * each};" for each in range(4)],
         "6", "5"),
        ([f"cp.async.cg.shared.global [%to], [%from + {each}], 16;"
          for each in (128, 64, 128, 128, 256, 256, 256, 256)], "64", "128"),
        (["MMA(a, 2) MMA(a, 4) MMA(a, 8)"], "8", "6"),
    ],
)  # fmt: skip
def test_a_number_that_breaks_a_row_comes_first(lines: list[str], place: str, meant: str) -> None:
    kernel = KernelText.of("\n".join(lines) + "\n")
    first = Edits(kernel, dict.fromkeys(range(len(kernel.statements)), 0.0)).ordered()[0]
    assert (kernel.text[first.start : first.end], first.new) == (place, meant)


def test_what_another_entry_has_in_its_place_comes_first() -> None:
    text = "mul.lo.u32 %x, %tile, {};\nadd.u32 %x, %x, 2;\nmov.u32 %y, %x;"
    kernel = KernelText.of(
        f".entry one() {{\n{text.format(96)}\n}}\n.entry two() {{\n{text.format(80)}\n}}", ["two"]
    )
    first = Edits(kernel, dict.fromkeys(range(len(kernel.statements)), 0.0)).ordered()[0]
    assert first.said.startswith("`mul.lo.u32 %x, %tile, 96;` instead of `mul.lo.u32 %x, %tile, 80;`")


def test_of_one_matrix_only_its_descriptor_is_near() -> None:
    kernel = KernelText.of(
        "add.u64 %a_desc, %a, 2;\nadd.u64 %b_desc, %b, 2;\n"
        "tcgen05.mma.cta_group::1.kind::f16 [%sums], %a_desc, %b_desc, %idesc, %more;\n"
    )
    cause = "matrix B was written with a swizzle, in the product at line 3"
    begin = anchors(kernel, cause, Diagnostic("P801", "wrong"))
    distances = kernel.distances(begin, narrowed(kernel, cause, begin))
    assert distances[1] == pytest.approx(STEP)
    assert distances[0] > 3 * STEP


def test_of_scale_factors_the_copies_into_tensor_memory_are_near() -> None:
    kernel = KernelText.of(
        "add.u64 %atom_a, %at, 64;\nadd.u64 %atom_b, %at, 64;\n"
        "tcgen05.cp.cta_group::1.32x128b.warpx4 [%scales_a], %atom_a;\n"
        "tcgen05.cp.cta_group::1.32x128b.warpx4 [%scales_b], %atom_b;\n"
        "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X\n"
        "    [%sums], %a_desc, %b_desc, %idesc, [%scales_a], [%scales_b], %more;\n"
    )
    begin = anchors(kernel, "the scale factors of B are another tile's", Diagnostic("P801", "wrong"))
    distances = kernel.distances(begin)
    assert distances[1] == pytest.approx(0.1 + STEP)
    assert distances[0] > distances[1] + 0.5


def test_of_a_swizzle_of_one_side_the_addresses_are_near() -> None:
    kernel = KernelText.of("or.b32 %at, %row, %chunk;\nmul.lo.u32 %n, %n, %n;\nst.shared.b32 [%at], %n;\n")
    distances = {0: 3.0, 1: 0.5, 2: 0.5}
    first = Edits(kernel, distances, f"elements hold what belongs elsewhere: {ONE_SIDED}").ordered()[0]
    assert first.said.startswith("`xor.b32 %at, %row, %chunk;` instead of")


def test_numbers_that_the_finding_tells_come_first() -> None:
    kernel = KernelText.of("add.u32 %x, %x, 64;\nmov.u32 %bytes, 32768;\n")
    told = "32768 bytes are expected, and the copies bring 49152"
    first = Edits(kernel, {0: 0.0, 1: 4.0}, told).ordered()[0]
    assert first.said.startswith("`mov.u32 %bytes, 49152;` instead of")


def test_an_entry_that_a_macro_names_is_looked_at() -> None:
    kernel = KernelText.of('#define ENTRY a\n#include "f.ptx"\n.entry ENTRY() {\n mov.u32 %a, 8;\n}\n', ["a"])
    assert any(one.opcode == "mov.u32" for one in kernel.statements)


def test_entries_that_are_not_launched_are_left_alone() -> None:
    text = ".entry one() { mov.u32 %a, 4; } .entry two() {\n mov.u32 %a, 8;\n}\n"
    statements = KernelText.of(text, ["two"]).statements
    assert [each.shown for each in statements if each.opcode] == ["mov.u32 %a, 8;"]


def test_what_feeds_a_statement_is_near_it() -> None:
    text = KernelText.of("mov.u32 %a, 4;\nmov.u32 %b, 5;\nadd.u32 %c, %a, 1;\nst.global.u32 [%x], %c;\n")
    assert text.distances({3: 0.0}) == {3: 0.0, 2: STEP, 0: 2 * STEP}


def test_a_value_that_nobody_reads_may_be_what_is_left_out() -> None:
    text = """{
        .reg .b32 %a, %swizzle;
        mov.u32 %a, %tid.x;
        and.b32 %swizzle, %a, 7;
        shl.b32 %swizzle, %swizzle, 4;
        st.shared.u32 [%a], 4;
    }"""
    kernel = KernelText.of(text)
    edits = Edits(kernel, dict.fromkeys(range(len(kernel.statements)), 0.0)).ordered()
    assert any(edit.new.strip() == "xor.b32 %a, %a, %swizzle;" for edit in edits)


def test_an_offset_may_be_too_much() -> None:
    kernel = KernelText.of("st.shared.u32 [%at + 4], %value;\n")
    said = [edit.said for edit in Edits(kernel, {0: 0.0}).ordered()[:5]]
    assert any(each.startswith("`st.shared.u32 [%at], %value;` instead of") for each in said)


def test_one_of_several_entries_is_mended(tmp_path: Path) -> None:
    """The card names entries that a trial leaves out."""
    text = KERNEL.replace(
        "block = 128", 'block = 128\nentry = "doubled"\nwhen = "n > 0"'.replace("\n", "\n// ")
    )
    head, body = text.split(".version")
    second = head[: head.index("// [presets]")].partition("// [launch]")[2].replace('"doubled"', '"other"')
    head = head.replace("// [launch]", "// [[launch]]").replace(
        "// [presets]", f"// [[launch]]{second}// [presets]"
    )
    intro, card_ = "#ifndef ENTRY\n", head.replace("n > 0", "n == 128", 1).replace("n > 0", "n > 128")
    top, shared = body.split(".shared .align 16", 1)
    room, entry = shared.split(";", 1)
    twice = "".join(
        f'#define ENTRY {name}\n#include "two.ptx"\n#undef ENTRY\n' for name in ("doubled", "other")
    )
    whole = f"{intro}{card_}.version{top}.shared .align 16{room};\n{twice}#else\n{entry}#endif\n"
    whole = whole.replace("entry doubled", "entry ENTRY").replace("%y, %thread, 4, %y", "%y, %thread, 8, %y")
    (tmp_path / "two.ptx").write_text(whole)
    done = here("run", tmp_path / "two.ptx", "--device", "emu", "--mend", 30)
    assert "result is right with `mad.wide.u32 %y, %thread, 4, %y;` instead of" in done.stdout + done.stderr


def test_what_no_macro_holds_is_changed_behind_the_preprocessor() -> None:
    text = "#define FOUR 4\n#if FOUR == 4\nmov.u32 %a, 8;\n#else\nmov.u32 %a, 9;\n#endif\nmov.u32 %b, FOUR;\n"
    made, _ = expand(Source("f.ptx", text), None, 4096)
    expanded = ExpandedText(text, made)
    assert expanded.of(text.replace("8", "16")) == made.text.replace("8", "16")
    for macro in (text.replace("FOUR;", "5;"), text.replace("FOUR 4", "FOUR 2"), text + "\n"):
        assert expanded.of(macro) == macro


def test_inclusions_for_other_entries_are_passed_over() -> None:
    text = '#define ENTRY a\n#include "f.ptx"\n#define ENTRY b\n#include "f.ptx"\n'
    assert " ".join(trimmed(text, {"b"}).split()) == '#define ENTRY a #define ENTRY b #include "f.ptx"'
    assert trimmed(text, {None}) == text


def test_inclusions_within_an_entry_stay() -> None:
    entries = '#define ENTRY a\n#include "f.ptx"\n#define ENTRY b\n#include "f.ptx"\n'
    parts = '#define PART 0\n#include "f.ptx"\n#undef PART\n#define PART 1\n#include "f.ptx"\n'
    text = f".entry first()\n{entries}{parts}"
    assert trimmed(text, {"first", "b"}) == text.replace(
        '#define ENTRY a\n#include "f.ptx"', "#define ENTRY a\n" + " " * 16
    )


def edits_of(text: str, told: str = "", distance: float = 0.0) -> list[str]:
    """What the changes of a text say, the likeliest first."""
    kernel = KernelText.of(text)
    found = Edits(kernel, dict.fromkeys(range(len(kernel.statements)), distance), told).ordered()
    return [edit.said for edit in found]


ADDRESS = ".reg .b32 %row, %piece, %at, %n;\n"


@pytest.mark.parametrize(
    ("text", "meant", "within"),
    [
        (f"{ADDRESS}and.b32 %at, %row, 7;\nmov.b32 %at, %piece;\nst.shared.b32 [%at], %n;\n",
         "`xor.b32 %at, %at, %piece;` instead of `mov.b32 %at, %piece;` at line 3", 2),
        (f"{ADDRESS}and.b32 %row, %row, 7;\nshr.u32 %at, %n, 4;\nst.shared.b32 [%at], %n;\n",
         "`xor.b32 %at, %at, %row;` behind `shr.u32 %at, %n, 4;` at line 3", 3),
        (f"{ADDRESS}add.u32 %at, %row, 32;\nst.shared.b32 [%at], %n;\n",
         "`xor.b32 %at, %row, 32;` instead of `add.u32 %at, %row, 32;` at line 2", 12),
        ("mad.lo.u32 %i, %col, %n, %row;\n",
         "`mad.lo.u32 %i, %row, %n, %col;` instead of `mad.lo.u32 %i, %col, %n, %row;` at line 1", 6),
        (f"{ADDRESS}mov.b32 %at, %row;\nand.b32 %at, %at, 3;\nst.shared.b32 [%at], %n;\n",
         "`shr.u32 %at, %row, 1;` instead of `mov.b32 %at, %row;` at line 2", 12),
        ("and.b32 %x, %t, 112;\n", "`and.b32 %x, %t, 48;` instead of `and.b32 %x, %t, 112;` at line 1", 6),
    ],
)  # fmt: skip
def test_what_an_address_may_lack_is_tried_soon(text: str, meant: str, within: int) -> None:
    assert meant in edits_of(text)[:within]


def test_a_value_that_a_loop_reads_again_is_not_lost() -> None:
    text = (
        ".reg .b32 %a, %k;\nmov.u32 %k, 0;\nagain:\nadd.u32 %a, %k, 4;\nst.shared.u32 [%a], 4;\n"
        "and.b32 %k, %k, 7;\n@%p bra again;\nmov.u32 %k, 0;\nst.global.u32 [%a], %k;\n"
    )
    assert not any("xor.b32 %a, %a, %k;` behind" in said for said in edits_of(text))


def test_the_same_mistake_in_several_statements_is_tried_together() -> None:
    line = "add.u64 %a_desc, %a_desc, {};\nwgmma.mma_async.x [%d{}], %a_desc, 1;\n"
    kernel = KernelText.of("".join(line.format(4, each) for each in range(3)))
    edits = Edits(kernel, dict.fromkeys(range(len(kernel.statements)), 0.0)).ordered()
    (halved,) = [edit for edit in edits if edit.new == "2" and len(edit.also) == 2]
    assert halved.of(kernel.text) == "".join(line.format(2, each) for each in range(3))
    assert halved.said.endswith(" at line 1, and the same at lines 3, 5")
    assert halved in edits[:20]


def test_numbers_that_statements_put_onto_a_register_are_a_row() -> None:
    lines = ["or.b64 %to, %tile, 4096;", "add.u64 %to1, %tile, 4098;"]
    lines += ["add.u64 %to2, %tile, 4352;", "add.u64 %to3, %tile, 4480;"]
    assert edits_of("\n".join(lines) + "\n")[0].startswith("`add.u64 %to1, %tile, 4224;` instead of")


def test_registers_that_a_compiler_numbers_are_no_row() -> None:
    text = "selp.b32 %r154, 16, 0, %p1;\nselp.b32 %r155, 16, 0, %p2;\nselp.b32 %r159, 16, 0, %p3;\n"
    assert not any("%r156" in said for said in edits_of(text))


def test_a_number_is_off_by_as_much_as_the_cause_says() -> None:
    told = "matrix B takes bytes 0xc400 to 0x143fe, to 0x10400 and on from another"
    assert any("%stage, 3072;" in said for said in edits_of("mul.wide.u32 %wide, %stage, 2048;\n", told)[:4])


def test_to_have_no_swizzle_is_the_last_that_is_tried_of_a_map() -> None:
    asked = PlanTensorMap("map", "a", (8, 64), options={"swizzle": "64B"})
    plan = LaunchPlan(Program("f.ptx", "\n"), (), (), {}, tensor_maps=(asked,))
    said = [edit.said for edit in card_edits(plan, "", None, Diagnostic("P801", "wrong"))]
    assert [each.split('"')[1] for each in said if "swizzle" in each] == ["128B", "32B", "none"]


def test_a_map_that_names_no_swizzle_has_the_widest() -> None:
    plan = LaunchPlan(Program("f.ptx", "\n"), (), (), {}, tensor_maps=(PlanTensorMap("map", "a", (8, 64)),))
    said = [edit.said for edit in card_edits(plan, "", None, Diagnostic("P801", "wrong"))]
    swizzles = [each for each in said if "swizzle" in each]
    assert [each.split('"')[1] for each in swizzles] == ["64B", "32B", "none"]
    assert all("128B" in each for each in swizzles)


TILE = (
    ".reg .b32 %tx, %ty, %at, %tile, %base, %n;\nmov.u32 %tx, %tid.x;\nmov.u32 %base, tile;\n"
    "mad.lo.u32 %at, %ty, 128, %base;\nadd.u32 %at, %at, %n;\nst.shared.b32 [%at], %n;\n"
)


def test_what_only_puts_a_variable_and_an_offset_together_is_no_swizzle() -> None:
    said = edits_of(TILE)
    assert not any(each.startswith("`xor.b32 %at, %at, %n;` instead of `add") for each in said)
    swizzled = edits_of(TILE.replace("add.u32 %at, %at, %n;", "add.u32 %at, %at, 64;"))
    assert any(each.startswith("`xor.b32 %at, %at, 64;` instead of `add") for each in swizzled[:12])


def test_an_offset_that_later_holds_an_address_is_an_offset() -> None:
    apart = "mul.lo.u32 %n, %tx, 2;\nadd.u32 %n, %n, %ty;\nmad.lo.u32 %n, %n, 4, %at;"
    text = TILE.replace("add.u32 %at, %at, %n;", apart)
    said = edits_of(text.replace("[%at]", "[%n]"))
    assert any(each.startswith("`xor.b32 %n, %n, %ty;` instead of `add") for each in said[:20])


def test_rows_that_are_exchanged_with_columns_are_indexes_of_addresses() -> None:
    meant = "`mad.lo.u32 %at, %tx, 128, %base;` instead of `mad.lo.u32 %at, %ty, 128, %base;` at line 4"
    told = "elements hold what belongs elsewhere: rows and columns are exchanged within tiles of 32 by 32"
    assert meant in edits_of(TILE.replace("%n;\nst", "%tx;\nst"), told, 2.0)[:12]


def test_two_registers_may_have_changed_places() -> None:
    text = (
        ".reg .b32 %row, %column;\n.reg .b64 %to;\nmul.wide.u32 %to, %column, 128;\nadd.u64 %d, %d, %to;\n"
        "mul.wide.u32 %to, %row, 8;\n"
    )
    kernel = KernelText.of(text)
    edits = Edits(kernel, dict.fromkeys(range(len(kernel.statements)), 0.0)).ordered()
    (both,) = [edit for edit in edits if edit.said.startswith("`%column` and `%row` exchanged in")]
    assert both.of(text) == text.replace("%column, 128", "%row, 128").replace("%row, 8", "%column, 8")


def test_how_a_thread_takes_its_number_apart_is_near_everything() -> None:
    text = "mov.u32 %t, %tid.x;\nshr.u32 %g, %t, 3;\nadd.u32 %x, %g, 5;\nst.global.u32 [%to], %x;\n"
    said = edits_of(text, distance=4.0)
    assert said[0].startswith("`shr.u32 %g, %t, ")


def test_a_wait_counts_groups() -> None:
    kernel = KernelText.of("cp.async.wait_group 2;\n")
    meant = [edit.new for edit in Edits(kernel, {0: 0.0}).ordered() if edit.new.strip("-").isdecimal()]
    assert {"0", "1", "3"} <= {*meant}
    assert not [each for each in meant if each.startswith("-")]


def test_an_offset_stays_aligned() -> None:
    said = edits_of("st.global.v4.b32 [%to + 16], {%a, %b, %c, %d};\n")
    assert any("[%to + 32]" in each for each in said)
    assert not any("[%to + 8]" in each or "[%to + 17]" in each for each in said)


def test_sides_that_do_not_fit_are_both_named(tmp_path: Path) -> None:
    """A tile is stored in rows of 32 words and loaded in rows of 33: either may be what was meant."""
    said = card(tmp_path, "transpose", "mad.lo.u32 %i, %i, 33, %tx;", "mad.lo.u32 %i, %i, 32, %tx;")
    assert "two places do not fit each other: there is no error and the result is right with `mad" in said
    assert "`mad.lo.u32 %i, %i, 33, %tx;` instead of `mad.lo.u32 %i, %i, 32, %tx;` at line 62" in said


def test_an_exclusive_or_that_is_missing_in_a_race(tmp_path: Path) -> None:
    """With another operation in place of it two threads store to the same place."""
    said = first(tmp_path, "xor.b32 %turn, %turn, %thread;", "or.b32 %turn, %turn, %thread;")
    assert said.startswith("error[P650]: SMEM-RACE: there is no error and the result is right with `")
    assert "` instead of `or.b32 %turn, %turn, %thread;` at line 44: " in said


def test_of_a_swizzle_of_one_side_an_address_that_lacks_it_is_soon() -> None:
    text = "mad.lo.u32 %at, %row, 128, %base;\nadd.u32 %to, %at, %n;\nst.shared.b32 [%to], %n;\n"
    kernel = KernelText.of(".reg .b32 %at, %row, %base, %to, %n;\n" + text)
    edits = Edits(kernel, dict.fromkeys(range(4), 4.0), ONE_SIDED).ordered()
    assert [edit.said for edit in edits[:2]] == [
        "a 128-byte swizzle in the address `%to` that line 3 makes",
        "a 128-byte swizzle in the address `%at` that line 2 makes",
    ]


def test_of_a_swizzle_by_threads_the_masks_are_near() -> None:
    text = (
        "and.b32 %piece, %t, 48;\nxor.b32 %at, %row, %piece;\ncp.async.cg.shared.global [%at], [%from], 16;\n"
    )
    told = (
        "matrix A was written with piece p of row r at p ^ r % 4, and its 128-byte swizzle has it elsewhere"
    )
    meant = "`and.b32 %piece, %t, 112;` instead of `and.b32 %piece, %t, 48;` at line 1"
    assert meant in edits_of(text, told, 4.0)[:12]


def test_of_a_torn_matrix_the_turn_of_its_pieces_comes_first() -> None:
    text = "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%a, %b}, [%at + 8192];\n"
    told = "line 0 has elements 16 to 23 of row 8 of its tensor where elements 24 to 31 of row 0 belong"
    assert ".trans." in edits_of(text, told)[0]
    assert ".trans." not in edits_of(text)[0]


def test_a_copy_that_nobody_reads_is_nothing_left_out() -> None:
    text = f"{ADDRESS}mov.b32 %row, 0;\nshr.u32 %at, %n, 4;\nst.shared.b32 [%at], %n;\n"
    assert not any("xor.b32 %at, %at, %row;` behind" in said for said in edits_of(text))


def test_an_address_that_is_swizzled_lacks_no_swizzle() -> None:
    text = ADDRESS + "xor.b32 %at, %row, %piece;\nmad.lo.u32 %at, %at, 16, %n;\nst.shared.b32 [%at], %n;\n"
    kernel = KernelText.of(text)
    said = [edit.said for edit in Edits(kernel, dict.fromkeys(range(4), 1.0), ONE_SIDED).ordered()]
    assert not any("swizzle in the address `%at` that line 3 makes" in each for each in said)


def test_a_branch_that_decides_is_near_what_it_jumps_over() -> None:
    text = (
        "setp.lt.u32 %inner, %j, %last_row;\n@!%inner bra store;\nadd.f32 %v, %w, %w;\n"
        "store:\nst.global.f32 [%y], %v;\nmov.u32 %other, 1;\n"
    )
    kernel = KernelText.of(text)
    near = kernel.distances({3: 0.0})  # the store
    assert near[2] == pytest.approx(STEP)
    assert near[1] == pytest.approx(STEP + CONTROL)
    assert near[0] == pytest.approx(2 * STEP + CONTROL)
    assert 4 not in near


@pytest.mark.parametrize(
    ("branch", "inside", "decides"),
    [
        ("@%p ret;", 4, True),  # nothing behind it is executed by who is gone
        ("@%p bra again;", 1, True),  # how often the loop goes around
        ("@%p bra again;", 4, False),
        ("bra again;", 1, False),
    ],
)
def test_what_a_branch_decides(branch: str, inside: int, decides: bool) -> None:
    text = f".entry k()\n{{\nadd.u32 %a, %a, 0;\nagain: add.u32 %b, %b, 1;\nadd.u32 %c, %c, 2;\n{branch}\n"
    text += "add.u32 %d, %d, 4;\n}\n.entry other()\n{\nadd.u32 %e, %e, 5;\n}\n"
    kernel = KernelText.of(text)
    place = next(at for at, one in enumerate(kernel.statements) if one.text.endswith(f", {inside};"))
    assert (3 in kernel.distances({place: 0.0})) == decides
    last = len(kernel.statements) - 1
    assert 3 not in kernel.distances({last: 0.0})  # of another entry


@pytest.mark.parametrize(
    ("name", "other", "are"),
    [
        ("%rows", "%columns", True),
        ("%last_row", "%last_column", True),
        ("%last_row", "%first_column", False),
        ("%tile", "%stage", False),
        ("%block", "%cluster", True),
        ("%scale1_2", "%scale2_1", True),
        ("%sum1", "%sum2", False),
    ],
)
def test_names_of_counterparts_are_alike(name: str, other: str, are: bool) -> None:
    assert alike(name, other) == are


def test_what_another_statement_has_in_its_place_comes_first() -> None:
    text = (
        ".reg .b32 %tile, %tall, %broad, %high, %r1, %r2;\ndiv.u32 %high, %tile, %broad;\n"
        "mul.lo.u32 %x, %tile, 3;\ndiv.u32 %high, %tile, %tall;\nadd.u32 %r1, %r1, %r2;\n"
    )
    said = edits_of(text)
    assert "`div.u32 %high, %tile, %tall;` instead of `div.u32 %high, %tile, %broad;` at line 2" in said[:3]


def test_an_argument_of_a_call_is_moved_on_as_another_is() -> None:
    calls = ("MULTIPLY(512 * c + 2, TILE / 16 * c)", "MULTIPLY(512 * c, TILE / 16 * c)")
    text = f"#define STEPS(c) \\\n    {calls[0]} \\\n    {calls[1]}\n"
    assert any("MULTIPLY(512 * c + 2, TILE / 16 * c + 2)" in each for each in edits_of(text)[:4])


def test_vectors_are_pieces_where_pieces_of_a_matrix_are_exchanged() -> None:
    text = (
        ".reg .b32 %a, %b, %c, %d, %at;\nadd.u32 %at, %at, 64;\n"
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%at], {%a, %b, %c, %d};\n"
    )
    told = "all of the wrong elements hold what belongs at [i ^ 8, j ^ 8]"
    assert "{%b, %a, %c, %d};` instead of" in edits_of(text, told)[0]


def test_a_register_that_nobody_reads_was_meant_where_one_like_it_is_read() -> None:
    text = (
        ".reg .b32 %x0, %x1, %x2, %sum;\nld.global.v2.b32 {%x0, %x1}, [%at];\nadd.u32 %sum, %sum, %x0;\n"
        "ld.global.b32 %x2, [%at + 8];\nadd.u32 %sum, %sum, %x0;\nadd.u32 %sum, %sum, %x2;\n"
    )
    said = edits_of(text)
    assert {each.split(" instead")[0] for each in said[:2]} == {"`add.u32 %sum, %sum, %x1;`"}
    assert {int(each.rsplit(" ", 1)[1]) for each in said[:2]} == {3, 5}


def test_a_register_that_nobody_writes_was_meant_where_one_like_it_is_written() -> None:
    text = (
        ".reg .b32 %x0, %x1, %a, %b;\nld.global.b32 %x0, [%at];\nld.global.b32 %x0, [%at + 4];\n"
        "add.u32 %a, %a, %x0;\nadd.u32 %b, %b, %x1;\n"
    )
    assert any(each.startswith("`ld.global.b32 %x1, [%at + 4];` instead of") for each in edits_of(text)[:4])


def test_what_two_loads_give_may_have_changed_places() -> None:
    text = ".reg .b32 %a1, %a2;\nld.global.b32 %a1, [%at + 16];\nld.global.b32 %a2, [%below];\n"
    kernel = KernelText.of(text)
    told = "line 0 of matrix A has elements 0 to 7 of row 8 of its tensor where elements 8 to 15 belong"
    edits = Edits(kernel, dict.fromkeys(range(len(kernel.statements)), 0.0), told).ordered()
    assert edits[0].said.startswith("`%a1` and `%a2` exchanged in")
    exchanged = text.replace("%a1, [", "%a3, [").replace("%a2, [", "%a1, [").replace("%a3, [", "%a2, [")
    assert edits[0].of(text) == exchanged


def test_what_two_computations_make_may_have_changed_places() -> None:
    text = ".reg .b32 %lane, %x, %y;\nbfe.u32 %x, %lane, 3, 1;\nshr.u32 %y, %lane, 4;\n"
    assert any(each.startswith("`%x` and `%y` exchanged in `bfe.u32 %x") for each in edits_of(text))


def test_what_two_comparisons_compare_with_may_have_changed_places() -> None:
    text = (
        ".reg .b32 %column, %row, %height, %width;\nsetp.lt.u32 %inside, %column, %height;\n"
        "setp.lt.and.u32 %inside, %row, %width, %inside;\n"
    )
    assert any(each.startswith("`%height` and `%width` exchanged in `setp") for each in edits_of(text))


def test_a_statement_may_be_meant_ahead_of_what_it_now_follows() -> None:
    text = (
        ".reg .b32 %next, %stage;\nadd.u32 %stage, %stage, 512;\nsetp.eq.u32 %more, %stage, 1536;\n"
        "selp.b32 %stage, 0, %stage, %more;\nmov.u32 %next, %stage;\n"
    )
    kernel = KernelText.of(text)
    edits = Edits(kernel, dict.fromkeys(range(len(kernel.statements)), 0.0)).ordered()
    ahead = [edit for edit in edits if " ahead of " in edit.said and edit.said.startswith("`mov")]
    meant = "mov.u32 %next, %stage; add.u32 %stage, %stage, 512;"
    assert [edit for edit in ahead if meant in " ".join(edit.of(text).split())]
    assert not any("`setp" in edit.said.partition(" ahead of ")[2] for edit in ahead)  # it would be the same


def test_what_a_blocks_number_is_scaled_by_is_near_where_the_first_block_is_right() -> None:
    text = ".reg .b32 %block, %rows, %atoms, %x, %y;\nadd.u32 %y, %y, 64;\nmul.lo.u32 %x, %block, 64;\n"
    late = "they lie in rows from 128 on"
    meant = "`mul.lo.u32 %x, %block, 128;` instead of `mul.lo.u32 %x, %block, 64;` at line 3"
    assert meant in edits_of(text, late, 2.0)[:2]
    assert meant not in edits_of(text, "", 2.0)[:5]


def test_registers_made_alike_may_have_been_meant_for_each_other() -> None:
    text = (
        ".reg .b32 %r<30>;\nmov.u32 %r1, %ctaid.x;\nshl.b32 %r2, %r1, 5;\nmov.u32 %r3, %tid.x;\n"
        "add.s32 %r4, %r2, %r3;\nmov.u32 %r5, %ctaid.y;\nshl.b32 %r6, %r5, 5;\nmov.u32 %r7, %tid.y;\n"
        "add.s32 %r8, %r6, %r7;\nst.global.b32 [%rd1], %r8;\n"
        + "mul.wide.s32 %rd1, %r4, 4;\nld.global.f32 %f1, [%rd1];\n" * 5
        + "add.s32 %r20, %r2, %r3;\nmul.wide.s32 %rd9, %r20, 4;\nst.global.f32 [%rd9], %f1;\n"
    )
    found = edits_of(text, distance=1.0)
    of_line = "instead of `add.s32 %r20, %r2, %r3;` at line 21"
    assert f"`add.s32 %r20, %r6, %r3;` {of_line}" in found[:8]
    assert f"`add.s32 %r20, %r2, %r7;` {of_line}" in found[:8]
    once = text.replace("add.s32 %r4, %r2, %r3;", "add.s32 %r4, %r2, 1;")

    def cost(text: str) -> float:
        kernel = KernelText.of(text)
        edits = Edits(kernel, dict.fromkeys(range(len(kernel.statements)), 1.0)).ordered()
        return next(edit.cost for edit in edits if edit.said == f"`add.s32 %r20, %r6, %r3;` {of_line}")

    assert cost(text) < cost(once)


def test_what_advances_together_advances_as_far() -> None:
    text = (
        ".reg .b64 %a, %b, %c;\nadd.u64 %a, %a, 2048;\nadd.u64 %b, %b, 2048;\nadd.u64 %c, %c, 512;\n"
        ".reg .b32 %k;\nadd.u32 %k, %k, 64;\n"
    )
    evidence = TextEvidence(KernelText.of(text))
    assert evidence.advances == {1: [], 2: [], 3: [2048]}
    assert (
        edits_of(text, distance=2.0)[0]
        == "`add.u64 %c, %c, 2048;` instead of `add.u64 %c, %c, 512;` at line 4"
    )


def test_what_a_loop_sets_may_be_meant_ahead_of_it() -> None:
    text = (
        ".reg .b32 %phase, %tile, %sum;\nmov.u32 %tile, 0;\nmov.u32 %sum, 0;\nnext:\n    mov.u32 %phase, 0;\n"
        "add.u32 %sum, %sum, %phase;\nxor.b32 %phase, %phase, 1;\nadd.u32 %tile, %tile, 1;\n"
        "setp.lt.u32 %more, %tile, 9;\n@%more bra next;\n"
    )
    kernel = KernelText.of(text)
    edits = Edits(kernel, dict.fromkeys(range(len(kernel.statements)), 0.0)).ordered()
    moved = {edit.said: " ".join(edit.of(text).split()) for edit in edits if "the label `next`" in edit.said}
    ahead = moved["`mov.u32 %phase, 0;` ahead of the label `next`, not at line 5"]
    assert "mov.u32 %sum, 0; mov.u32 %phase, 0; next: add.u32" in ahead
    behind = moved["`mov.u32 %sum, 0;` behind the label `next`, not at line 3"]
    assert "mov.u32 %tile, 0; next: mov.u32 %sum, 0; mov.u32 %phase, 0;" in behind


def test_where_an_mbarrier_is_comes_last() -> None:
    text = (
        ".reg .b32 %stage, %bar, %full, %tile, %to;\nmad.lo.u32 %full, %stage, 8, %bar;\n"
        "mad.lo.u32 %to, %stage, 512, %tile;\nst.shared.b32 [%to], %full;\n"
        "mbarrier.arrive.shared.b64 _, [%full];\n"
    )
    waits = text.replace("st.shared.b32 [%to], %full", "st.shared.b32 [%to], %to")
    assert KernelText.of(text).statements[1].writes == {"%full"}
    assert TextEvidence(KernelText.of(waits)).of_barriers == {1}
    assert TextEvidence(KernelText.of(text)).of_barriers == set()


def test_what_two_stores_store_may_have_changed_places() -> None:
    text = ".reg .b32 %a, %b;\nst.global.b32 [%at], %a;\nst.global.b32 [%at + 4], %b;\n"
    assert any(each.startswith("`%a` and `%b` exchanged in `st") for each in edits_of(text))


def test_the_strides_of_a_map_imply_its_extents_and_these_its_strides() -> None:
    q = PlanTensor("q", "bf16", (48, 576), "input")
    asked = PlanTensorMap("map", "q", (8, 64), shape=(48, 512), strides=(1152,))
    plan = LaunchPlan(Program("f.ptx", "\n"), (), (q,), {}, tensor_maps=(asked,))
    said = [edit.said for edit in card_edits(plan, "", None, Diagnostic("P801", "wrong"))]
    assert said[0].startswith("`shape = [48, 576]` instead of `[48, 512]`")
    assert said[1].startswith("`strides = [1024]` instead of `[1152]`")
    assert len(set(said)) == len(said)


def test_strides_may_be_those_of_dimensions_in_another_order() -> None:
    q = PlanTensor("q", "bf16", (48, 64), "input")
    wrong, right = (300 * 64 * 2, 64 * 2), (64 * 2, 8 * 64 * 2)
    asked = PlanTensorMap("map", "q", (1, 8, 64), shape=(8, 300, 64), strides=wrong)
    other = PlanTensorMap("other", "q", (1, 8, 64), shape=(8, 300, 64), strides=right)
    meant = f"`strides = {list(right)}` instead of `{list(wrong)}` in tensor map `map`"
    for maps, within in (((asked,), 6), ((asked, other), 2)):
        plan = LaunchPlan(Program("f.ptx", "\n"), (), (q,), {}, tensor_maps=maps)
        said = [edit.said for edit in card_edits(plan, "", None, Diagnostic("P801", "wrong"))]
        assert meant in said[:within], said[:within]


def test_dimensions_in_another_order_imply_nothing() -> None:
    q = PlanTensor("q", "bf16", (48, 64), "input")
    asked = PlanTensorMap("map", "q", (1, 8, 64), shape=(3, 16, 64), strides=(128, 640))
    plan = LaunchPlan(Program("f.ptx", "\n"), (), (q,), {}, tensor_maps=(asked,))
    said = [edit.said for edit in card_edits(plan, "", None, Diagnostic("P801", "wrong"))]
    assert said
    assert not any(each.startswith("`shape = [3, 16, 320]`") for each in said)


def test_a_box_has_the_swizzle_that_is_as_wide_as_its_rows() -> None:
    q = PlanTensor("q", "bf16", (48, 64), "input")
    maps = (PlanTensorMap("wide", "q", (64, 64)), PlanTensorMap("narrow", "q", (64, 32)))
    plan = LaunchPlan(Program("f.ptx", "\n"), (), (q,), {}, tensor_maps=maps)
    told = "two operations write shared memory: of 8192 bytes each, they begin 4096 apart"
    said = [edit.said for edit in card_edits(plan, "", None, Diagnostic("P654", told))]
    assert said[0].startswith('`swizzle = "64B"` instead of `"128B"` in tensor map `narrow`')
    assert not any(
        number > 256 for each in said for number in map(int, re.findall(r"box = .*?(\d+)\]", each))
    )


def test_a_box_outside_says_how_far_a_map_should_reach() -> None:
    q = PlanTensor("q", "f32", (48, 96), "input")
    asked = PlanTensorMap("map", "q", (8, 32), shape=(48, 64))
    plan = LaunchPlan(Program("f.ptx", "\n"), (), (q,), {}, tensor_maps=(asked,))
    told = "the copy at line 9 moves a box from {64, 0} of a tensor of 64 x 48 elements, all of it outside"
    said = [edit.said for edit in card_edits(plan, "", told, Diagnostic("P801", "wrong"))]
    assert said[0].startswith("`shape = [48, 96]` instead of `[48, 64]`")


def test_a_number_is_too_large_by_what_lies_beyond_the_end() -> None:
    columns = "tensor memory has 128 lanes of 576 columns, found lanes 0-127, columns 576 to 579"
    assert beyond(columns) == {4}
    assert beyond("out of bounds: 16 bytes at 0x7e00\n48 bytes past the end of `x float32[4]`") == {64}
    kernel = KernelText.of("add.u32 %to, %from, 16;\n")
    edits = Edits(kernel, {0: 0.0}, past=beyond(columns)).ordered()
    assert any("%from, 12;" in edit.said for edit in edits[:4])


def test_one_size_of_the_problem_may_stand_for_another_in_a_map() -> None:
    asked = PlanTensorMap("map", "a", (8, 64), shape=(48, 64), strides=(256,))
    plan = LaunchPlan(Program("f.ptx", "\n"), (), (), {"columns": 64, "pitch": 80}, tensor_maps=(asked,))
    said = [edit.said for edit in card_edits(plan, "", None, Diagnostic("P801", "wrong"))]
    assert any(each.startswith("`strides = [320]` instead of `[256]`") for each in said[:4])


def test_an_address_may_lack_the_offset_that_an_index_is_off_by() -> None:
    text = ".reg .b64 %at;\nadd.u64 %at, %at, 64;\nld.shared.f32 %v, [%at];\n"
    told = (
        "`x[i0, i, j - 2]` is taken for `x[i0, i, j]`: all of the wrong elements of `y` are what that gives"
    )
    assert any("[%at + 8];` instead of" in each for each in edits_of(text, told)[:3])


def test_a_descriptor_counts_units_of_16_bytes() -> None:
    text = "mul.wide.u32 %wide, %stage, 49152;\nadd.u64 %desc, %desc, %wide;\n"
    told = "`%desc` has the address 0xc040 itself, not shifted right by 4"
    assert "%stage, 3072;` instead of" in edits_of(text, told)[0]


def test_the_offsets_of_a_descriptor_may_have_changed_places() -> None:
    said = edits_of("or.b64 %x_desc, %x_desc, 0x0000004000080000;\n")
    assert any(each.startswith("`or.b64 %x_desc, %x_desc, 0x0000000800400000;`") for each in said[:3])


def test_an_offset_counts_bytes() -> None:
    said = edits_of("ld.global.nc.f32 %lse, [%at + 8];\n")
    assert any("[%at + 32];` instead of" in each for each in said[:4])


def test_onto_a_swizzled_address_is_put_by_exclusive_or() -> None:
    text = (
        ".reg .b32 %first, %at, %on, %row;\nmov.u32 %first, tile;\nxor.b32 %row, %row, 7;\n"
        "mad.lo.u32 %first, %row, 16, %first;\nadd.u32 %at, %first, %on;\n"
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a, %b, %c, %d}, [%at];\n"
    )
    told = "has elements 48 to 55 of row 2 of its tensor where elements 16 to 23 of row 2 belong"
    meant = "`xor.b32 %at, %first, %on;` instead of `add.u32 %at, %first, %on;` at line 5"
    assert meant in edits_of(text, told)[:4]
    assert meant not in edits_of(text.replace("xor.b32 %row, %row, 7;", "and.b32 %row, %row, 7;"), told)


def test_a_lane_of_tensor_memory_may_be_the_32_of_a_warp() -> None:
    assert any("%warp, 21;" in each for each in edits_of("shl.b32 %x, %warp, 16;\n")[:4])


def test_in_a_copied_statement_a_name_was_to_be_changed() -> None:
    text = (
        ".reg .b32 %tile_row, %tile_column, %steps, %x;\nmul.lo.u32 %x, %tile_row, %steps;\n"
        "add.u32 %a, %a, %x;\nmul.lo.u32 %x, %tile_row, %steps;\nadd.u32 %b, %b, %x;\n"
    )
    said = edits_of(text)
    assert "`mul.lo.u32 %x, %tile_column, %steps;` instead of" in said[0]


def test_of_a_copy_outside_its_tensor_that_coordinate_is_near() -> None:
    copy = "cp.async.bulk.tensor.2d.shared::cta.global.tile [%to], [%map, {%k, %row}], [%full];"
    kernel = KernelText.of(f"add.u32 %k, %k, 256;\nadd.u32 %row, %row, 128;\n{copy}\n")
    cause = (
        "the copy at line 3 moves a box from {256, 0} of a tensor of 256 x 256 elements, all of it outside"
    )
    near = kernel.distances({2: 0.0}, narrowed(kernel, cause, {2: 0.0}))
    assert near[0] == pytest.approx(STEP)
    assert near[1] > 2 * STEP


@pytest.mark.parametrize(
    ("text", "meant", "told"),
    [
        ("setp.ge.s32 %outside, %i, %n;\n", "setp.ge.u32 %outside, %i, %n;", ""),
        ("mov.b32 %order, 0x75316420;\n", "mov.b32 %order, 0x73625140;", ""),
        (
            "mov.u64 %b_step, 2;\nadd.u64 %b, %b, %b_step;\n",
            "mov.u64 %b_step, 128;",
            "the product at line 9 multiplies elements 16 to 31 of A along K with elements 0 to 15 of B",
        ),
        (
            "mad.lo.u32 %a, %warpgroup, 4096, %tile;\n",
            "mad.lo.u32 %a, %warpgroup, 8192, %tile;",
            "matrix A of the product at line 9 begins at row 32 of a box that was copied",
        ),
    ],
)
def test_signs_permutations_steps_and_beginnings(text: str, meant: str, told: str) -> None:
    assert any(each.startswith(f"`{meant}` instead of") for each in edits_of(text, told)[:16])
