"""Assembler logs become diagnostics. The logs are real: nvJitLink writes them as the tests run."""

from __future__ import annotations

import pytest
from assembler import log_of

from ptxkit.asm.assembler_log import ResourceUsage, read_log, read_usage
from ptxkit.diagnostics import Severity, Source, code_info, exit_code

HEADER = ".version 8.0\n.target sm_90a\n.address_size 64\n"
BODY = """.visible .entry k(.param .u64 p)
{
    .reg .b32 %r<9>;
    .reg .f32 %f<9>;
    .reg .b64 %rd<9>;
"""


def findings(text: str, *options: str, arch: str = "sm_90a"):
    errors, info = log_of(text, *options, arch=arch)
    found = read_log(info + "\n" + errors, Source("test.ptx", text))
    assert all(code_info(d.code) for d in found)
    return found


def at(text: str, diagnostic) -> str:
    """The text under the caret."""
    span = diagnostic.span
    return text.split("\n")[span.line - 1][span.column - 1 : span.end_column - 1]


def test_a_clean_log_has_no_findings() -> None:
    assert findings(HEADER + BODY + "    ret;\n}\n") == []


def test_errors_point_at_what_they_quote() -> None:
    text = HEADER + BODY + "    mov.u32 %r1, %nope;\n    add.u32 %r1, %r2, %absent;\n    ret;\n}\n"
    found = findings(text)
    assert {d.code for d in found} == {"P706"}
    assert {(d.span.line, at(text, d)) for d in found} >= {(9, "%nope"), (10, "%absent")}
    assert all(d.message[0].islower() and "'" not in d.message for d in found)
    assert not any("aborted" in d.message for d in found)
    assert exit_code(found) == 1


def test_a_syntax_error_has_its_line() -> None:
    text = HEADER + BODY + "    add.u32 %r1 %r2, %r3;\n    ret;\n}\n"
    (diagnostic,) = findings(text)
    assert (diagnostic.code, diagnostic.span.line, at(text, diagnostic)) == ("P706", 9, "%r2")


def test_a_line_whose_quote_is_not_in_it_is_marked_whole() -> None:
    text = HEADER + BODY + "    ret\n"
    (diagnostic,) = findings(text)
    assert diagnostic.code == "P706"
    assert diagnostic.span is not None


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        (HEADER.replace("8.0", "99.9") + BODY + "ret;\n}\n", 1),
        (HEADER.replace("sm_90a", "sm_99") + BODY + "ret;\n}\n", 2),
    ],
)
def test_bad_headers(text: str, marked: int) -> None:
    found = findings(text)
    assert [d.code for d in found] == ["P706"]
    assert found[0].span.line == marked


def test_an_error_without_a_line() -> None:
    found = findings(HEADER.replace("sm_90a", "sm_100a").replace("8.0", "8.6") + BODY + "ret;\n}\n")
    assert [d.code for d in found] == ["P706"]
    assert found[0].span is None


def test_undefined_references() -> None:
    text = (
        HEADER + ".extern .func foo;\n.extern .global .u32 gg;\n" + BODY + "    call foo;\n"
        "    ld.global.u32 %r1, [gg];\n    st.global.u32 [gg+4], %r1;\n    ret;\n}\n"
    )
    found = findings(text)
    assert [d.code for d in found] == ["P709", "P709"]
    assert [at(text, d) for d in found] == ["foo", "gg"]
    assert exit_code(found) == 1


def test_too_much_shared_memory_points_at_the_entry() -> None:
    text = (
        HEADER + ".shared .b8 tile[300000];\n" + BODY + "    mov.u32 %r1, tile;\n"
        "    st.shared.u32 [%r1], %r1;\n    ret;\n}\n"
    )
    (diagnostic,) = findings(text)
    assert (diagnostic.code, at(text, diagnostic)) == ("P706", "k")


def test_warnings() -> None:
    text = HEADER + ".visible .entry k()\n.maxntid 128\n.minnctapersm 99\n{\n    ret;\n}\n"
    (diagnostic,) = findings(text)
    assert (diagnostic.code, diagnostic.severity) == ("P707", Severity.WARNING)
    assert exit_code([diagnostic]) == 0


def test_advice_about_slow_code() -> None:
    zeros = "".join(f"    mov.f32 %f{i}, 0f00000000;\n" for i in range(4))
    text = (
        HEADER + BODY + "    ld.param.u64 %rd1, [p];\n" + zeros + "    wgmma.fence.sync.aligned;\n"
        "    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, %rd1,%rd1,1,1,1,0,0;\n"
        "    add.f32 %f5, %f0, %f1; // used before it is waited for\n"
        "    wgmma.commit_group.sync.aligned;\n    wgmma.wait_group.sync.aligned 0;\n"
        "    st.global.f32 [%rd1], %f5;\n    ret;\n}\n"
    )
    (diagnostic,) = findings(text)
    assert (diagnostic.code, diagnostic.severity) == ("P708", Severity.WARNING)
    assert "wgmma.wait_group" in diagnostic.message
    assert diagnostic.help == "put `wgmma.wait_group` before the registers are used"
    assert "used before" in text.split("\n")[diagnostic.span.line - 1]


def test_registers_that_linking_keeps_from_moving() -> None:
    (found,) = findings(HEADER + BODY + "    setmaxnreg.dec.sync.aligned.u32 40;\n    ret;\n}\n")
    assert (found.code, found.severity) == ("P708", Severity.WARNING)
    assert "`setmaxnreg` ignored" in found.message
    assert found.help is not None
    assert "`ptxas` without `-c` keeps it" in found.help


def test_a_word_in_a_comment_is_not_the_place() -> None:
    source = Source("k.ptx", "// multiply by wgmma\n.visible .entry wgmma() { ret; }\n")
    log = "info    : (C7514) Potential Performance Loss: serialized in the function 'wgmma' in line 0"
    (found,) = read_log(log, source)
    assert found.span is not None
    assert tuple(found.span) == (2, 17, 2, 22)


def test_a_fatal_line_stands_where_nothing_explains_it() -> None:
    (diagnostic,) = read_log("ptxas fatal   : Ptx assembly aborted due to errors\n")
    assert diagnostic.code == "P706"


def test_usage() -> None:
    loads = "".join(
        f"    ld.global.v4.f32 {{%f{i}, %f{i + 1}, %f{i + 2}, %f{i + 3}}}, [%rd1+{i * 4}];\n" for i in (0, 4)
    )
    text = (
        HEADER
        + BODY
        + "    ld.param.u64 %rd1, [p];\n"
        + loads
        + "    st.global.f32 [%rd1], %f1;\n    ret;\n}\n"
    )
    _, info = log_of(text)
    usage = read_usage(info)
    assert usage.keys() == {"k"}
    assert usage["k"] == ResourceUsage(usage["k"].registers, 0, 0, 0)
    assert 1 <= usage["k"].registers <= 255


def test_spills_are_read() -> None:
    """512 live values in 32 registers must spill; the log says how much."""
    registers = "".join(f"    ld.volatile.global.u32 %x{i}, [%rd1+{4 * i}];\n" for i in range(512))
    sums = "".join(f"    st.volatile.global.u32 [%rd1+{4 * i}], %x{511 - i};\n" for i in range(512))
    text = HEADER + BODY.replace("{", ".maxnreg 32\n{", 1)
    text += "    .reg .b32 %x<512>;\n    ld.param.u64 %rd1, [p];\n" + registers + sums + "    ret;\n}\n"
    usage = read_usage(log_of(text)[1])["k"]
    assert usage.registers <= 32
    assert usage.spill_stores > 1000
    assert usage.spill_loads > 1000
    assert usage.stack >= 4 * 400
