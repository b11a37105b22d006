"""Several modules as one text."""

from __future__ import annotations

import pytest
from gpu_kernels import CALLER, SQUARE

from ptxkit.asm import parse
from ptxkit.asm.check import check
from ptxkit.asm.link import link
from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator import Emulator

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
READ = (
    HEADER
    + """.extern .global .u32 table[4];
.visible .entry read(.param .u64 out)
{
    .reg .b32 %r;
    .reg .b64 %d;
    ld.param.u64 %d, [out];
    ld.global.u32 %r, [table+8];
    st.global.u32 [%d], %r;
    ret;
}
"""
)
TABLE = HEADER + ".visible .global .u32 table[4] = {1, 2, 3, 4};\n"


def modules(*texts: str):
    return [parse(text, name=f"{name}.ptx") for name, text in zip("abcd", texts, strict=False)]


def first_word(module, *arguments: int) -> int:
    device = Emulator()
    out = device.empty(1, "u32")
    device.load(module).kernel().launch(1, 1, [out, *arguments])
    return int(out.numpy()[0])


@pytest.mark.parametrize("turned", [False, True])
def test_functions_and_variables_are_resolved_in_either_order(turned: bool) -> None:
    functions, variables = modules(CALLER, SQUARE), modules(READ, TABLE)
    if turned:
        functions.reverse()
        variables.reverse()
    assert first_word(link(functions), 12) == 144
    assert first_word(link(variables)) == 3


def test_a_function_may_come_after_its_call() -> None:
    """The callee needs a variable of the caller's file, which so has to come first."""
    caller = CALLER.replace(".extern .func", ".visible .global .u32 bias = 7;\n.extern .func")
    square = SQUARE.replace(".visible .func", ".extern .global .u32 bias;\n.visible .func").replace(
        "mul.lo.u32 %r2, %r1, %r1;", "ld.global.u32 %r2, [bias];\n    mad.lo.u32 %r2, %r1, %r1, %r2;"
    )
    whole = link(modules(caller, square))
    assert check(whole) == []
    assert first_word(whole, 5) == 32


def test_the_whole_has_the_newest_version_and_the_first_target() -> None:
    newer = SQUARE.replace("8.0", "8.4").replace("sm_80", "sm_70")
    whole = link(modules(CALLER, newer))
    assert (whole.version, whole.target) == ((8, 4), "sm_80")


def test_findings_stand_in_their_own_file() -> None:
    whole = link(modules(CALLER, SQUARE.replace("mul.lo.u32 %r2", "mul.lo.u32 %r9")))
    (finding,) = [finding for finding in check(whole) if finding.is_error]
    assert "--> b.ptx:8:" in str(PtxkitError(finding))


def test_what_cannot_be_one_text_is_refused() -> None:
    local = ".global .u32 count;\n"
    crossed = READ + ".visible .global .u32 other;\n", TABLE + ".extern .global .u32 other;\n"
    for texts in ((READ + local, TABLE + local), (READ, TABLE.replace(".visible ", "")), crossed):
        with pytest.raises(PtxkitError) as caught:
            link(modules(*texts))
        assert caught.value.diagnostics[0].code == "P526"


def test_what_nobody_defines_stays_open() -> None:
    whole = link(modules(READ, SQUARE))
    assert any(getattr(s, "linkage", None) == "extern" for s in whole.statements)


CALLS = (
    HEADER
    + """.visible .entry read(.param .u64 out)
{
    .reg .b32 %r;
    .reg .b64 %d;
    call (%r), f, ();
    ld.param.u64 %d, [out];
    st.global.u32 [%d], %r;
    ret;
}
"""
)
DEFINED = ".{linkage} .func (.reg .b32 r) f()\n{{\n    mov.b32 r, {value};\n    ret;\n}}\n"


@pytest.mark.parametrize(
    ("first", "second", "held"),
    [("weak", "visible", 2), ("visible", "weak", 1), ("weak", "weak", 1), ("extern", "weak", 2)],
)
@pytest.mark.parametrize("turned", [False, True])
def test_the_visible_function_holds_else_the_first(first: str, second: str, held: int, turned: bool) -> None:
    if first == "extern":
        before = ".extern .func (.reg .b32 r) f();\n"
    else:
        before = DEFINED.format(linkage=first, value=1)
    caller = CALLS.replace(".visible .entry", f"{before}.visible .entry")
    other = HEADER + ".visible .global .b32 table;\n" + DEFINED.format(linkage=second, value=2)
    if turned:  # The other one needs a variable of the caller's file, which so has to come first.
        caller = caller.replace(before, f".visible .global .b32 mine;\n{before}")
        other = other.replace(".visible .global .b32 table;", ".extern .global .b32 mine;")
    assert first_word(link(modules(caller, other))) == held


@pytest.mark.parametrize(
    ("first", "second", "held"),
    [
        (".weak .global .u32 table[4] = {1, 2, 3, 4};", ".weak .global .u32 table[4] = {5, 6, 7, 8};", 3),
        (".weak .global .u32 table[4] = {1, 2, 3, 4};", ".visible .global .u32 table[4] = {5, 6, 7, 8};", 7),
        (".common .global .u32 table[4];", ".visible .global .u32 table[4] = {5, 6, 7, 8};", 7),
        (".common .global .u32 table[4];", ".common .global .u32 table[4];", 0),
    ],
)
def test_the_visible_variable_holds_else_the_first(first: str, second: str, held: int) -> None:
    reader = READ.replace(".extern .global .u32 table[4];", first)
    assert first_word(link(modules(reader, f"{HEADER}{second}\n"))) == held


@pytest.mark.parametrize(
    "declared",
    [".extern .global .u64 table[4];", ".extern .global .u32 table[2];", ".extern .const .u32 table[4];"],
)
def test_a_variable_has_one_size_and_state_space(declared: str) -> None:
    reader = READ.replace(".extern .global .u32 table[4];", declared)
    with pytest.raises(PtxkitError, match="P526"):
        link(modules(reader, TABLE))


def test_a_sizeless_declaration_takes_the_definition_of_any_size() -> None:
    reader = READ.replace("table[4];", "table[];")
    assert first_word(link(modules(reader, TABLE))) == 3


def test_source_files_are_numbered_anew() -> None:
    """Each module has its files from 1 on, as compilers number them; `.loc` and `inlined_at` follow."""
    one = HEADER + '.file 1 "a.py"\n.visible .func f()\n{\n    .loc 1 3 1\n    ret;\n}\n'
    two = (
        HEADER
        + ".extern .func f();\n.visible .entry k()\n{\n    .loc 2 5 1, function_name x, inlined_at 1 4 2\n"
        + '    call f;\n    ret;\n}\n.file 1 "b.py"\n.file 2 "c.py"\n.section .debug_str\n{\nx:\n.b8 0\n}\n'
    )
    whole = link(modules(two, one))
    assert not [d for d in check(whole) if d.is_error]
    assert whole.source is not None
    text = whole.source.text
    assert [line.split()[1] for line in text.splitlines() if line.startswith(".file")] in (
        ["1", "2", "3"],
        ["2", "3", "1"],
    )
    files = dict(line.split()[1:3] for line in text.splitlines() if line.startswith(".file"))
    locations = [line.split() for line in text.splitlines() if ".loc" in line]
    assert {files[words[1]] for words in locations} == {'"a.py"', '"c.py"'}
    (inlined,) = [words for words in locations if "inlined_at" in words]
    assert files[inlined[inlined.index("inlined_at") + 1]] == '"b.py"'
