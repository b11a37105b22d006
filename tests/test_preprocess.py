"""Lines that begin with `#`: `#include`, `#define`, `#if`. PTX ISA 4.1."""

from __future__ import annotations

import json
import random
import resource
from pathlib import Path

import pytest
from asm_corpus import each_small_file, read
from command import here, refused
from command import ptxkit as command

import ptxkit
from ptxkit.asm import preprocess
from ptxkit.asm.preprocess import MAX_DEPTH
from ptxkit.diagnostics import Source, code_info
from ptxkit.plan import LaunchPlan, Program

MAIN = """\
// A kernel in two files.
#include "tiles.ptx"
#define COUNT 8
#define ADD(d, a) \\
    add.u32 d, a, COUNT;
.version 9.0
.target sm_90a

#if COUNT > TILE
.entry k()
{
    .reg .b32 %r<COUNT>;
    mov.u32 %r0, %tid.x; ADD(%r1, %r0)
    st.shared.u32 [tile], %r1;
    ret;
}
#else
nothing that could be read
#endif
"""
TILES = """\
#ifndef TILES
#define TILES
#define TILE 4
// The tile.
.shared .b32 tile[TILE];
#endif
"""


@pytest.fixture
def main(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("tiles.ptx").write_text(TILES)
    path = Path("main.ptx")
    path.write_text(
        f".version 9.0\n.target sm_90a\n{MAIN.replace('.version 9.0', '').replace('.target sm_90a', '')}"
    )
    return path


def findings(path: Path | str) -> list[tuple[str, str, str]]:
    """(code, file:line:column, message) of each finding."""
    found = []
    for d in ptxkit.check(ptxkit.parse(path)):
        assert d.span is not None
        assert d.source is not None
        assert code_info(d.code) is not None
        found.append((d.code, f"{d.source.name}:{d.span.line}:{d.span.column}", d.message))
    return found


def test_what_the_assembler_sees(main: Path) -> None:
    module = ptxkit.parse(main)
    assert not module.diagnostics
    assert [f.name for f in module.entries] == ["k"]
    assert ptxkit.check(module) == []
    assert module.source is not None
    assert ".shared .b32 tile[4];" in module.source.text
    assert "    mov.u32 %r0, %tid.x; add.u32 %r1, %r0, 8;" in module.source.text
    assert ptxkit.write(module) == module.source.text
    assert "// The tile." in module.source.text


@each_small_file
def test_a_plain_file_is_not_touched(path: Path) -> None:
    text = read(path)
    module = ptxkit.parse(path)
    assert type(module.source) is Source
    assert module.source.text == text


@pytest.mark.parametrize("text", ['# 12 "a.cu"\nret\n', "// #define A B\n", ".entry k() { // #\n}\n"])
def test_line_markers_and_comments_are_no_directives(text: str) -> None:
    assert type(ptxkit.parse(text).source) is Source


def test_findings_name_the_place_that_they_come_from(main: Path) -> None:
    text = main.read_text()
    main.write_text(
        text.replace("    ret;", "    mov.u32 %r2, %nowhere; ADD(%r1, %other) bra nowhere;\n    ret;")
    )
    Path("tiles.ptx").write_text(TILES.replace(".b32 tile", ".b33 tile"))
    found = findings(main)
    line = main.read_text().split("\n").index("    mov.u32 %r2, %nowhere; ADD(%r1, %other) bra nowhere;") + 1
    assert found == [
        ("P101", "tiles.ptx:5:9", "expected a type, found `.b33`"),
        ("P201", "main.ptx:16:20", "`tile` is not declared"),
        ("P201", f"main.ptx:{line}:18", "`%nowhere` is not declared"),
        ("P201", f"main.ptx:{line}:37", "`%other` is not declared"),
        ("P205", f"main.ptx:{line}:49", "label `nowhere` is not defined in this function"),
    ]
    (_, _, third, fourth, _) = ptxkit.check(ptxkit.parse(main))
    assert "mov.u32 %r2, %nowhere; add.u32 %r1, %other, 8; bra nowhere;" in third.notes[0]
    assert fourth.span is not None
    assert fourth.span.end_column == 37 + len("%other")


def test_labels_in_another_file_become_notes(main: Path) -> None:
    main.write_text(f"{main.read_text()}.shared .b32 tile[8];\n")
    (found,) = [d for d in ptxkit.check(ptxkit.parse(main)) if d.is_error]
    assert found.labels == ()
    assert any("tiles.ptx:5:14" in note for note in found.notes), found


@pytest.mark.parametrize("lost", ["#define X µ", "#if 0\n// µ\n#endif", "\x85\n#undef X"])
def test_characters_that_the_assembler_does_not_see(lost: str) -> None:
    text = f"{lost}\n.version 9.0\n.target sm_90\n"
    assert "P109" not in [d.code for d in ptxkit.parse(text).diagnostics]
    assert "P109" in [d.code for d in ptxkit.parse(f"{text}// µ\n").diagnostics]


def test_comments_allow_codes_in_their_own_file(main: Path) -> None:
    Path("tiles.ptx").write_text(
        TILES.replace("// The tile.", ".func f() { .reg .b32 %unused; // ptxkit: allow P203\n}")
    )
    assert findings(main) == []


@pytest.mark.parametrize(
    ("text", "code", "place", "message"),
    [
        ("#ifdef\n#endif", "P113", "1:1", "expected something after `#ifdef`, found the end of the line"),
        ("#define 3", "P113", "1:1", "expected a name after `#define`, found `3`"),
        ("\n  # foo 3", "P113", "2:3", "there is no directive `#foo`"),
        ("#error no luck", "P113", "1:1", "`#error`: no luck"),
        ("#warning well", "P113", "1:1", "`#warning`: well"),
        ("#if 1 +\n#endif", "P113", "1:1", "cannot evaluate `1 +`"),
        ("#if 1", "P113", "1:1", "unterminated #if 1"),
        ("#endif", "P113", "1:1", "misplaced #endif"),
        ("#define F(x, y) x\nF(1)", "P113", "2:1", "macro F requires 2 arguments but was passed 1"),
        ('#include "absent"', "P114", "1:1", "there is no file `absent`"),
        ("#include absent", "P114", "1:1", "expected `\"file\"` or `<file>`, found `absent`"),
        ("#include <absent", "P113", "1:1", "malformed #include <...>"),
        ('#include "."', "P114", "1:1", "there is no file `.`"),
        ('#include "self.ptx"', "P113", "1:1", f"files are included more than {MAX_DEPTH} deep"),
        ('#include "binary"', "P113", "1:1", "`binary` is not UTF-8 text"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_directive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, code: str, place: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("binary").write_bytes(b"\xff\xfe")
    Path("self.ptx").write_text(f"{text}\n")
    head = "\n.version 9.0\n.target sm_90\n" if "warning" in text else "\n"
    Path("self.ptx").write_text(f"{text}{head}")
    assert findings("self.ptx") == [(code, f"self.ptx:{place}", message)]


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("(1 << 4) == 16 && (1 << 62) != 0", True),
        ("1 << 99999999999999", True),
        ("defined(X) || 7 / 2 != 3", False),
        ("-1 < 0 ? 2 > 3 : 1", False),
        ("0x10 == 020 * 1 && !UNKNOWN", True),
    ],
)
def test_conditions(condition: str, holds: bool) -> None:
    module = ptxkit.parse(f"#if {condition}\n.version 9.0\n#else\n.version 8.0\n#endif\n")
    assert not module.diagnostics
    assert module.version == ((9, 0) if holds else (8, 0))


def test_growth_is_bounded(main: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preprocess, "MAX_TOKENS", 10_000)
    bomb = "".join(f"#define A{i} A{i + 1} A{i + 1}\n" for i in range(40))
    (found,) = ptxkit.check(ptxkit.parse(f"{bomb}A0\n"))
    assert (found.code, found.message) == ("P113", "macros make more than 10000 tokens")
    for count in ("99999999999999", "(1 << 40)", "18446744073709551615u"):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert not ptxkit.parse(f"#if 1 << {count}\n#endif\n").statements
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 100_000
    line = " ".join(f"A{i}" for i in range(3000))
    many = "".join(f"#define A{i} {i}\n" for i in range(3000)) + line
    (found, *_) = ptxkit.parse(f"{many}\n").diagnostics
    assert all(len(note) < 300 for note in found.notes)
    Path("large.ptx").write_text(f"// {'x' * 1000}\n")
    main.write_text('#include "large.ptx"\n' * 5)
    with pytest.raises(ptxkit.PtxkitError) as raised:
        ptxkit.parse(main, max_size=3000)
    assert [d.code for d in raised.value.diagnostics] == ["P111"]
    assert ptxkit.parse(main, max_size=6000).source is not None


def test_macros_and_folders_from_outside(main: Path, tmp_path: Path) -> None:
    folder = tmp_path / "include"
    folder.mkdir()
    Path("tiles.ptx").rename(folder / "tiles.ptx")
    assert [code for code, _, _ in findings(main)] == ["P114"]
    main.write_text(main.read_text().replace("#define COUNT 8\n", ""))
    module = ptxkit.parse(main, include=[folder], define={"COUNT": "16"})
    assert ptxkit.check(module) == []
    assert ".reg .b32 %r<16>;" in ptxkit.write(module)
    done = here("check", main, "-I", folder, "-D", "COUNT=16")
    assert done.returncode == 0, done.stdout
    refused(here("check", main, "-I", folder, "-D", "3=4"), 2, "P560")
    assert here("script", main, "-I", folder, "-D", "COUNT=16").returncode == 0


def test_expand_prints_it(main: Path) -> None:
    text = here("expand", main).stdout
    assert "add.u32 %r1, %r0, 8;" in text
    assert "#" not in text
    Path("plain.ptx").write_text(text)
    assert here("expand", "plain.ptx").stdout == text
    assert here("expand", main, "-o", "out.ptx", "-D", "X").returncode == 0
    assert Path("out.ptx").read_text() == text
    main.write_text("#if\n")
    refused(here("expand", main), 1, "P113")


def test_the_command_shows_the_file_and_the_line(main: Path) -> None:
    Path("tiles.ptx").write_text(TILES.replace(".b32 tile", ".b33 tile"))
    printed = command("check", main).stdout
    assert " --> tiles.ptx:5:9\n" in printed
    assert "5 | .shared .b33 tile[TILE];" in printed
    printed = command("check", "--output-format", "github", main).stdout
    assert "file=tiles.ptx,line=5,col=9" in printed


def test_fmt_leaves_it_alone(main: Path) -> None:
    text = main.read_text()
    refused(here("fmt", main), 1, "P115")
    assert main.read_text() == text


def test_a_kernel_in_two_files_runs(main: Path) -> None:
    main.write_text(main.read_text().replace("st.shared.u32 [tile], %r1;", "trap;"))
    device = ptxkit.open_device("emu")
    kernel = device.load(main).kernel("k")
    with pytest.raises(ptxkit.EmulatorFault) as raised:
        kernel.launch(grid=(1,), block=(1,), args=[])
    (found, *_) = raised.value.diagnostics
    assert found.source is not None
    assert found.source.name == "main.ptx"
    assert found.span is not None
    assert "trap" in main.read_text().split("\n")[found.span.line - 1]


@pytest.mark.long
def test_a_kernel_with_macros_from_outside_is_launched(main: Path, tmp_path: Path) -> None:
    folder = tmp_path / "include"
    folder.mkdir()
    (folder / "store.ptx").write_text("#define STORE(at, value) st.global.u32 [at], value;\n")
    main.write_text(
        '#include "store.ptx"\n'
        '// /// ptxkit\n// [launch]\n// grid = 1\n// block = 1\n// params = ["y"]\n'
        '// [tensors.y]\n// dtype = "u32"\n// shape = [1]\n// expect = "full(1, 7)"\n// ///\n'
        ".version 8.0\n.target sm_90\n.entry k(.param .u64 y) {\n"
        ".reg .b64 %rd; ld.param.u64 %rd, [y]; STORE(%rd, VALUE) ret;\n}\n"
    )
    options = ["--device", "emu", "-I", folder]
    done = command("run", main, *options, "-D", "VALUE=7")
    assert done.returncode == 0, done.stdout + done.stderr
    assert command("run", main, *options, "-D", "VALUE=8").returncode == 4
    refused(command("run", main, "--device", "emu"), 1, "P114")


def test_a_plan_keeps_what_the_preprocessor_needs(main: Path) -> None:
    program = Program("main.ptx", "main.ptx", include=(".",), define=(("COUNT", "9"),))
    plan = LaunchPlan(program=program, launches=(), tensors=(), sizes={})
    again = LaunchPlan.from_json(json.loads(json.dumps(plan.to_json())))
    assert again == plan
    alone = again.embedded().program
    assert alone.path is None
    assert alone.text is not None
    assert "#" not in alone.text
    Path("tiles.ptx").unlink()
    assert alone.module().entries[0].name == "k"


def test_damaged_directives_end_in_diagnostics(main: Path) -> None:
    draw = random.Random(0)
    pieces = [
        *'#()\\\n"<>,; /*',
        "#if ",
        "#define ",
        "#include ",
        "defined",
        "##",
        "__LINE__",
        "//",
        "N",
        "0x",
        "'",
    ]
    for _ in range(300):
        text = list(f"{TILES}{MAIN}")
        for _ in range(draw.choice((1, 2, 5, 20))):
            at = draw.randrange(len(text))
            text[at : at + draw.randrange(3)] = [draw.choice(pieces)]
        module = ptxkit.parse("".join(text) + "\n")
        assert module.source is not None
        for diagnostic in ptxkit.check(module):
            assert str(diagnostic)
        if module.complete:
            assert ptxkit.write(module) == module.source.text
