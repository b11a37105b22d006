"""Where `ptxkit fmt` breaks lines that are too long, and how it lays comments behind lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ptxkit
from ptxkit.asm.lines import WIDTH

HEAD = ".version 9.0\n.target sm_90a\n\n"
LONG_LINES = Path(__file__).with_name("data") / "long_lines.ptx"


def laid_out(text: str) -> str:
    """What `fmt` makes of a text, which keeps its tree and is what `fmt` leaves alone."""
    module = ptxkit.parse(text)
    assert not any(found.is_error for found in module.diagnostics), module.diagnostics
    first = ptxkit.write(module, canonical=True)
    again = ptxkit.parse(first)
    assert again == module
    assert ptxkit.write(again, canonical=True) == first
    return first


def test_long_lines_are_broken_as_the_example_shows() -> None:
    wanted = LONG_LINES.read_text()
    assert laid_out(wanted) == wanted
    lines: list[str] = []
    ended = True
    for line in wanted.split("\n"):
        if ended:
            lines.append(line)
        else:
            lines[-1] += f" {line.strip()}"
        ended = line.endswith(";") or re.fullmatch(r" *(//.*|[.][^=]*|[{}])?", line) is not None
    assert max(map(len, lines)) > 2 * WIDTH
    assert laid_out("\n".join(lines)) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param(
            ".reg .b32 %a; // one\n.reg .b32 %abc;/* two */ // more\n.reg .b32 %d;\n.reg .b32 %e; // alone\n",
            "    .reg .b32 %a;    // one\n    .reg .b32 %abc;  /* two */ // more\n    .reg .b32 %d;\n"
            "    .reg .b32 %e;  // alone\n",
            id="of lines one below the other",
        ),
        pytest.param(
            "mov.b32 %a, 1; // one\n\nmov.b32 %abc, 2; // two\n\n{ // in\nret; // three\n}\n"
            "L: // label\nret; // four\n",
            "    mov.b32 %a, 1;  // one\n\n    mov.b32 %abc, 2;  // two\n\n"
            "    {  // in\n        ret;  // three\n    }\nL:  // label\n    ret;  // four\n",
            id="not across blank lines or indentations",
        ),
        pytest.param(
            f"mov.b32 %a, 1; // {'x' * 80}\nmov.b32 %abcdefghijkl, 22; // two\nret; // three\n",
            f"    mov.b32 %a, 1;  // {'x' * 80}\n    mov.b32 %abcdefghijkl, 22;  // two\n"
            "    ret;                        // three\n",
            id="not beyond the width",
        ),
        pytest.param(
            "op.b32 {%a, %bcd, // first\n%e,\n// own\n%f // last\n}, [%t]; // all\n",
            "    op.b32 {\n        %a, %bcd,  // first\n        %e,\n        // own\n        %f  // last\n"
            "    }, [%t];  // all\n",
            id="in brackets",
        ),
        pytest.param(
            "add.s32 %a,/* sum */ %b, // left\n%c // right\n;\n",
            "    add.s32 %a, /* sum */ %b,  // left\n        %c  // right\n        ;\n",
            id="between operands",
        ),
    ],
)
def test_comments_behind_lines(text: str, wanted: str) -> None:
    body = laid_out(f"{HEAD}.entry k\n{{\n{text}}}\n")
    assert body.removeprefix(f"{HEAD}.entry k\n{{\n").removesuffix("}\n") == wanted


def test_comments_of_parameters_share_a_column() -> None:
    text = f"{HEAD}.entry k(\n.param .u64 a, // in\n.param .u32 count // how many\n)\n{{\nret;\n}}\n"
    assert "(\n    .param .u64 a,     // in\n    .param .u32 count  // how many\n)\n" in laid_out(text)


names = st.from_regex(r"%[a-z]{1,18}", fullmatch=True)
lists = st.lists(names, min_size=1, max_size=40).map(", ".join)
operands = st.one_of(
    names,
    lists.map("{{{}}}".format),
    names.map("[{} + 16]".format),
    st.tuples(names, lists).map("[{0[0]}, {{{0[1]}}}]".format),
)


@pytest.mark.long
@given(
    st.from_regex(r"(@%p )?[a-z]{2,9}(\.[a-z0-9]{2,9}){0,9}", fullmatch=True), st.lists(operands, max_size=7)
)
def test_a_line_is_too_long_or_an_operand_broken_only_where_it_must_be(opcode: str, parts: list[str]) -> None:
    statement = f"{opcode} {', '.join(parts)};" if parts else f"{opcode};"
    lines = laid_out(f"{HEAD}.entry k\n{{\n{statement}\n}}\n").split("\n")[5:-2]
    assert max(map(len, lines)) <= WIDTH
    text = "\n".join(lines)
    if len(f"    {statement}") <= WIDTH:
        assert lines == [f"    {statement}"]
    for part in parts:
        if len(f"        {part},") <= WIDTH:
            assert part in text
