"""Syntax errors: each is found, named at its token, and the rest of the file is read."""

from __future__ import annotations

import random

import pytest
from asm_corpus import each_small_file, read

import ptxkit
from ptxkit.asm.check.undeclared import MAX_SUGGESTIONS
from ptxkit.asm.tree import Function, Instruction, Malformed, walk
from ptxkit.diagnostics import code_info, render_text

HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n"
FUNCTION = f"{HEAD}.visible .entry k(.param .u64 p)\n{{\n"
FIRST = FUNCTION.count("\n") + 1
"""The line on which the body begins."""


def errors(text: str) -> list[tuple[str, int, int, str]]:
    """(code, line, column, message) of each error; the file must be written back as it was."""
    module = ptxkit.parse(text)
    assert ptxkit.write(module) == text
    found = []
    for d in module.diagnostics:
        assert d.is_error
        assert code_info(d.code) is not None
        assert d.message[0].islower() or d.message[0] == "`"
        assert not d.message.endswith(".")
        assert d.span is not None
        found.append((d.code, d.span.line, d.span.column, d.message))
    return found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("mov.b32 %r1 %r2;", ("P101", 13, "expected `,` or `;`, found `%r2`")),
        ("mov.b32 %r1,, %r2;", ("P101", 13, "expected an operand, found `,`")),
        ("mov.b32 %r1, ;", ("P101", 14, "expected an operand, found `;`")),
        ("mov.b32 %r1, [%r2;", ("P101", 18, "expected `,` or `]`, found `;`")),
        ("mov.b32 %r1, {%r2;", ("P101", 18, "expected `,` or `}`, found `;`")),
        ("mov.b32 %r1, (1 + 2;", ("P101", 20, "expected `)`, found `;`")),
        ("mov.b32 %r1, 4+%r2;", ("P101", 16, "expected a constant, found `%r2`")),
        ("mov.b32 %r1, 1 ? 2;", ("P101", 19, "expected `:`, found `;`")),
        ("mov.f32 %f1, -0f3F800000;", ("P101", 15, "expected an operand, found `0f3F800000`")),
        ("ld.b32 %r1, [%r2-4];", ("P101", 17, "expected `+` before an address offset, found `-`")),
        ("ld.b32 %r1, [4, 5];", ("P101", 17, "expected a name, found `5`")),
        ("mov.b32 %r1, 08;", ("P103", 14, "malformed number `08`")),
        ("mov.b32 %r1, 1u;", ("P103", 14, "malformed number `1u`")),
        ("mov.f32 %f1, 1.5f;", ("P103", 14, "malformed number `1.5f`")),
        ("mov.f32 %f1, 0f3F8;", ("P103", 14, "malformed number `0f3F8`")),
        ("mov.f64 %f1, 0d3F8;", ("P103", 14, "malformed number `0d3F8`")),
        ("mov.b32 %r1, 'a';", ("P103", 14, "character `'` cannot stand here")),
        ("mov.b32 %r1, \\;", ("P103", 14, "character `\\` cannot stand here")),
        ("mov.b32 %r1, `;", ("P103", 14, "character `U+0060` cannot stand here")),
        ("mov.b32\v%r1, 3;", ("P103", 8, "character `U+000B` cannot stand here")),
        ("mov. b32 %r1, 3;", ("P103", 4, "character `.` cannot stand here")),
        ("@%p1.x ret;", ("P101", 2, "expected a name, found `%p1.x`")),
        ("@!!%p1 ret;", ("P101", 3, "expected a name, found `!`")),
        (";", ("P101", 1, "expected an instruction, a label, a declaration or `}`, found `;`")),
        ("3;", ("P101", 1, "expected an instruction, a label, a declaration or `}`, found `3`")),
        (
            ".regs .b32 %r1;",
            ("P101", 1, "expected an instruction, a label, a declaration or `}`, found `.regs`"),
        ),
        (".reg .b33 %r1;", ("P101", 6, "expected a type, found `.b33`")),
        (".reg %r1;", ("P101", 6, "expected a type, found `%r1`")),
        (".reg .b32 %r<>;", ("P101", 14, "expected an integer, found `>`")),
        (".reg .b32 %r<3;", ("P101", 15, "expected `>`, found `;`")),
        (".shared .b8 a[2*3];", ("P101", 16, "expected `]`, found `*`")),
        (".shared .reg .b32 a;", ("P101", 9, "a declaration has one space specifier, found two")),
        (".align 4 .b32 a;", ("P101", 10, "expected a state space before the type")),
        (".loc 1 2", ("P101", 1, "expected an integer, found `add.s32`")),
        (".pragma nounroll;", ("P101", 9, "expected a string, found `nounroll`")),
        ('.pragma "nounroll;', ("P104", 9, 'expected `"` before the end of the line')),
        ("call f (a);", ("P101", 8, "expected `,` or `;`, found `(`")),
        ("ret; #define X 3", ("P103", 6, "character `#` cannot stand here")),
        ("@@DWARF .byte 3", ("P101", 1, "expected a directive, found `@@DWARF`")),
    ],
)
def test_one_error_in_a_body(line: str, found: tuple[str, int, str]) -> None:
    text = f"{FUNCTION}{line}\nadd.s32 %r1, %r2, %r3;\nret;\n}}\n"
    code, column, message = found
    line_number = FIRST + (message.endswith("found `add.s32`"))
    assert errors(text) == [(code, line_number, column, message)]
    module = ptxkit.parse(text)
    assert module.entries[0].body is not None
    assert module.entries[0].body.statements[-1] == Instruction("ret")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (".targt sm_90\n.global .u32 x;\n", [("P101", 1, 1, "expected a directive, found `.targt`")]),
        (".version 9\n.global .u32 x;\n", [("P101", 1, 10, "expected a version such as `9.0`, found `9`")]),
        (
            ".visible\n.visible .global .u32 x;\n",
            [("P101", 2, 1, "expected a function or a variable")],
        ),
        (".alias a b;\n", [("P101", 1, 10, "expected `,`, found `b`")]),
        (".entry k(.param .u32 a,) { ret; }\n", [("P101", 1, 24, "expected a parameter, found `)`")]),
        (".entry k(.param .u32 a { ret; }\n", [("P101", 1, 24, "expected `,` or `)`, found `{`")]),
        (".entry k() .maxntid { ret; }\n", [("P101", 1, 21, "expected an integer, found `{`")]),
        (
            ".entry k() .maxntd 3 { ret; }\n",
            [("P101", 1, 12, "expected `;`, `{` or a directive such as `.maxntid`, found `.maxntd`")],
        ),
        (
            ".func f() .maxnreg 3 { ret; }\n",
            [("P101", 1, 11, "expected `;`, `{` or a directive such as `.noreturn`, found `.maxnreg`")],
        ),
        (".section .debug_str { .b8 }\n", [("P101", 1, 27, "expected an integer or a label, found `}`")]),
        (
            "garbage\nmore of it\n.version 9.0\n",
            [("P107", 1, 1, "expected a directive at module scope, found `garbage`")],
        ),
        (".entry k() { ret; } }\n", [("P106", 1, 21, "unmatched `}`: no `{` is open here")]),
        (".entry k() { ret;\n.entry j() { ret; }\n", [("P105", 2, 1, "expected `}` before `.entry`")]),
        (
            ".func f() { ret;\n.visible .func g() { ret; }\n",
            [("P105", 2, 1, "expected `}` before `.visible`")],
        ),
        (".entry k() { { ret; }\n", [("P105", 1, 21, "expected `}`, found the end of the file")]),
        (".entry k() { mov.b32 %r1\n", [("P105", 1, 24, "expected `,` or `;`, found the end of the file")]),
        (".entry k() { ret; /* }\n", [("P104", 1, 19, "expected `*/`, found the end of the file")]),
    ],
)
def test_errors_at_module_scope(text: str, found: list[tuple[str, int, int, str]]) -> None:
    real = errors(text)
    assert [row[:3] for row in real] == [row[:3] for row in found]
    for (*_, message), (*_, start) in zip(real, found, strict=True):
        assert message.startswith(start)


def test_one_run_reports_every_error() -> None:
    bad = [
        "mov.b32 %r1 %r2;",
        "add.s32 %r1,, %r2;",
        "bra 08;",
        ".reg .b33 %x;",
        "ld.b32 %r1, [%r2;",
        "mov.b32 %r1, '",
    ]
    good = "add.s32 %r1, %r2, %r3;\n"
    text = FUNCTION + "".join(f"{line}\n{good}" for line in bad) + "}\n"
    assert [row[1] for row in errors(text)] == [FIRST + 2 * i for i in range(len(bad))]
    module = ptxkit.parse(text)
    assert sum(isinstance(s, Instruction) for s in walk(module.statements)) == len(bad)
    assert sum(isinstance(s, Malformed) for s in walk(module.statements)) == len(bad)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_missing_semicolon_costs_nothing_else(ending: str) -> None:
    text = f"{FUNCTION}mov.b32 %r1, %r2\nadd.s32 %r1, %r2, %r3\nbra L\nL:\nret\n}}\n".replace("\n", ending)
    assert [(code, line) for code, line, *_ in errors(text)] == [("P102", FIRST + i) for i in (0, 1, 2, 4)]
    assert errors(text)[0][2:] == (17, "expected `;` after `%r2`")


def test_a_broken_header_leaves_its_body() -> None:
    text = f"{HEAD}.entry k(.param u32 a) {{\nmov.b32 %r1 %r2;\nret;\n}}\n.entry j() {{ ret; }}\n"
    assert [(code, line) for code, line, *_ in errors(text)] == [("P101", 4), ("P101", 5)]
    assert [f.name for f in ptxkit.parse(text).functions] == ["j"]


def test_what_stands_outside_is_one_error() -> None:
    text = f"{HEAD}.entry k() {{ ret; }}\nadd.s32 %r1, %r2, %r3;\nL: ret;\n}}\n.entry j() {{ ret; }}\n"
    assert [(code, line) for code, line, *_ in errors(text)] == [("P107", 5)]
    assert [f.name for f in ptxkit.parse(text).functions] == ["k", "j"]


def test_help_and_labels() -> None:
    module = ptxkit.parse(f"{FUNCTION}.reg .b33 %r1;\nmov.b32 %r1, 0f3F8;\n", name="k.ptx")
    assert render_text(module.diagnostics) == (
        "error[P101]: expected a type, found `.b33`\n"
        " --> k.ptx:6:6\n"
        "  |\n"
        "6 | .reg .b33 %r1;\n"
        "  |      ^^^^\n"
        "  = help: did you mean `.b32`?\n"
        "\n"
        "error[P103]: malformed number `0f3F8`\n"
        " --> k.ptx:7:14\n"
        "  |\n"
        "7 | mov.b32 %r1, 0f3F8;\n"
        "  |              ^^^^^\n"
        "  = help: `0f` takes exactly 8 hexadecimal digits\n"
        "\n"
        "error[P105]: expected `}`, found the end of the file\n"
        " --> k.ptx:7:19\n"
        "  |\n"
        "5 | {\n"
        "  | - opened here\n"
        "...\n"
        "7 | mov.b32 %r1, 0f3F8;\n"
        "  |                   ^\n"
        "  = help: `.entry k` is not complete; is the file truncated?"
    )


@each_small_file
def test_a_truncated_file_is_one_error(path: object) -> None:
    text = read(path)  # type: ignore[arg-type]
    draw = random.Random(0)
    for _ in range(20):
        cut = text[: draw.randrange(text.index("\n") + 1, len(text))]
        found = errors(cut)
        assert len(found) <= 1, cut[-60:]
        inside = cut.rstrip() != cut[: cut.rfind("}") + 1] and ".entry" in cut
        if inside and cut.count("{") > cut.count("}"):
            assert found[0][0] in ("P104", "P105"), cut[-60:]


def test_a_malformed_statement_does_not_hide_the_function() -> None:
    module = ptxkit.parse(f"{FUNCTION}mov.b32 %r1 %r2;\n}}\n")
    (function,) = module.functions
    assert isinstance(function, Function)
    assert function.body is not None
    assert [type(s) for s in function.body.statements] == [Malformed]


NINES = "9" * 6000
"""More digits than Python reads as one number."""


@pytest.mark.parametrize(
    "text",
    [
        f".version {NINES}.0\n.target sm_90\n",
        f".version 9.{NINES}\n.target sm_90\n",
        f".version 9.0\n.target sm_{NINES}\n",
        f".version 9.0\n.target sm_90\n.address_size {NINES}\n",
        f".version 9.0\n.target sm_90\n.entry k() .maxntid {NINES} {{}}\n",
        f'.version 9.0\n.target sm_90\n.func f() {{ .pragma "frequency {NINES}"; foo; }}\n',
        f"// /// ptxkit\n// block = {NINES}\n// ///\n.version 9.0\n.target sm_90\n.entry k() {{}}\n",
        *(
            f".version 9.0\n.target sm_90\n.entry k() {{\n{body}\n}}\n"
            for body in (
                f".reg .b32 %r<9>; mov.b32 %r{NINES}, 1;",
                f".reg .b32 %r{NINES}; .reg .b32 %r<9>; mov.b32 %r1, 1;",
                f".reg .b32 %r<9>, %r{NINES};",
                f"{{ .reg .b32 %r<9>; }} mov.b32 %r{NINES}, 1;",
                f".reg .b32 %r<{NINES}>;",
                f".reg .b32 %r; mov.b32 %r, {NINES}; mov.b32 %r, 1e{NINES}; mov.b32 %r, %envreg{NINES};",
                f".shared .b8 a[{NINES}]; .loc {NINES} {NINES} {NINES} mov.b32 %q, 1;",
            )
        ),
    ],
    ids=lambda text: text.replace(NINES, "9..9"),
)
def test_numbers_of_any_length_are_read(text: str) -> None:
    module = ptxkit.parse(text)
    assert ptxkit.write(module) == text
    assert ptxkit.check(module)


@pytest.mark.parametrize(
    "text", [".bogus 3\n.entry k() {}", ".addres_size 64", "ret;", "\n/* c */ .bogus\n.global .u32 x;"]
)
def test_a_directive_without_a_semicolon_ends_with_its_line(text: str) -> None:
    (found,) = errors(f".version 9.0\n.target sm_90a\n{text}\n")
    assert found[3].startswith("expected a directive")
    assert [d.code for d in ptxkit.check(ptxkit.parse(f".version 9.0\n.target sm_90a\n{text}\n"))] == [
        found[0]
    ]


@pytest.mark.parametrize("lead", ["// µ\n", "#warning soon\n"])
def test_a_warning_of_the_parser_hides_no_other(lead: str) -> None:
    body = ".reg .b32 %unused; .reg .pred %p; elect.sync _|%p, -1; @%p bra L; bar.sync 0; L: ret;"
    text = f"{lead}.version 9.0\n.target sm_90a\n.entry k() .reqntid 64 {{ {body} }}\n"
    plain = ptxkit.check(ptxkit.parse(text.replace(lead, "")))
    found = ptxkit.check(ptxkit.parse(text))
    assert [d.code for d in plain] == [d.code for d in found][1:]
    assert "P203" in [d.code for d in plain]
    assert not any(d.is_error for d in found)


def test_similar_names_are_looked_for_a_few_times() -> None:
    lines = "".join(f"bra Label{i}_;\nLabel{i}:\n" for i in range(300))
    found = ptxkit.check(ptxkit.parse(f".version 9.0\n.target sm_90\n.entry k() {{\n{lines}}}\n"))
    assert [d.code for d in found] == ["P205"] * 300
    suggested = [(d.help or "").startswith("did you mean `Label") for d in found]
    assert suggested == [True] * MAX_SUGGESTIONS + [False] * (300 - MAX_SUGGESTIONS)
    assert all("before the instruction to jump to" in (d.help or "") for d in found[MAX_SUGGESTIONS:])
