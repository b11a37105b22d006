"""Declarations and directives: what ptxas refuses is an error, what it takes is none."""

import os
import shutil
import subprocess

import pytest

import ptxkit
from ptxkit.asm.format import format_module

HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n"
CASES = [
    (".entry k() .maxntid 32 .maxntid 64 { ret; }", []),
    (".entry k() .maxntid 2048 { ret; }", []),
    (".entry k() .maxntid 0 { ret; }", ["P225"]),
    (".entry k() .maxntid 32,0 { ret; }", ["P225"]),
    (".entry k() .maxntid 32,2,3,4 { ret; }", ["P101"]),
    (".entry k() .maxntid 32 .reqntid 32 { ret; }", ["P225"]),
    (".entry k() .reqntid 0 { ret; }", ["P225"]),
    (".entry k() .reqntid 1,1,128 { ret; }", []),
    (".entry k() .maxnreg 0 { ret; }", ["P225"]),
    (".entry k() .maxnreg 256 { ret; }", []),
    (".entry k() .minnctapersm 0 { ret; }", ["P225"]),
    (".entry k() .minnctapersm 2 { ret; }", []),
    (".entry k() .maxntid 32 .maxnctapersm 2 { ret; }", ["P225"]),
    (".entry k() .reqnctapercluster 3,3,3 { ret; }", []),
    (".entry k() .reqnctapercluster 2 .maxclusterrank 8 { ret; }", ["P225"]),
    (".entry k() .maxclusterrank 8 { ret; }", []),
    (".entry k() .explicitcluster .reqnctapercluster 2 { ret; }", []),
    (".entry k() .blocksareclusters { ret; }", ["P225"]),
    (".entry k() .blocksareclusters .reqntid 32 { ret; }", ["P225"]),
    (".entry k() .blocksareclusters .reqntid 32 .reqnctapercluster 2 { ret; }", []),
    (".entry k() .noreturn { ret; }", ["P101"]),
    (".func f() .maxntid 32 { ret; }", ["P101"]),
    (".func f() .noreturn { ret; }", []),
    (".func f() .abi_preserve 500 { ret; }", ["P225"]),
    (".func f() .abi_preserve 239 .abi_preserve_control 11 { ret; }", []),
    (".func f() .abi_preserve_control 4 { ret; }", []),
    (".alias g, f;", ["P201"]),
    (".func f(){ ret; } .alias g, f;", ["P201"]),
    (".visible .func g(); .alias g, f;", ["P201"]),
    (".visible .func f(){ ret; } .visible .func g(); .alias g, f;", []),
    (".visible .func f(){ ret; } .visible .func g(){ ret; } .alias g, f;", ["P202"]),
    (".visible .func f(){ ret; } .visible .func g(.param .b32 x); .alias g, f;", ["P227"]),
    (".extern .entry k();", []),
    (".entry k();", ["P228"]),
    (".weak .entry k() { ret; }", []),
    (".func f();", ["P228"]),
    (".extern .func f() { ret; }", ["P210"]),
    (".common .func f() { ret; }", ["P210"]),
    (".visible .shared .b32 x;", []),
    (".weak .shared .b32 x;", []),
    (".common .shared .b32 x;", ["P210"]),
    (".common .const .b32 x;", ["P210"]),
    (".extern .shared .b8 x[100];", []),
    (".extern .shared .b8 x;", []),
    (".extern .global .b8 x[];", []),
    (".global .b8 x[];", ["P210"]),
    (".shared .b8 x[];", ["P210"]),
    (".global .b8 x[0];", ["P210"]),
    (".global .b8 x[2] = {1,2,3};", ["P226"]),
    (".global .b8 x[4] = {1,2};", []),
    (".global .b8 x[] = {1,2};", []),
    (".global .b8 x = {1};", ["P226"]),
    (".global .b8 x[2][2] = {{1,2},{3,4}};", []),
    (".global .b8 x[2][2] = {1,2,3,4};", ["P226"]),
    (".global .b8 x[2][2] = {{1,2,3}};", ["P226"]),
    (".global .f32 x = 1;", ["P226"]),
    (".global .f32 x = 1.5;", []),
    (".global .u32 x = 1.5;", ["P226"]),
    (".global .u32 x = -1;", []),
    (".global .u8 x = 300;", []),
    (".global .s8 x = -200;", []),
    (".global .f16 x = 1.5;", ["P226"]),
    (".global .b16 x = 0x3c00;", []),
    (".global .f64 x = 0d3FF0000000000000;", []),
    (".global .f64 x = 0f3F800000;", []),
    (".shared .u32 x = 1;", ["P226"]),
    (".const .u32 x = 1;", []),
    (".entry k() { .local .u32 x = 1; ret; }", ["P226"]),
    (".entry k() { .reg .u32 x = 1; ret; }", ["P226"]),
    (".entry k() { .global .u32 x = 1; ret; }", []),
    (".global .u64 p = foo;", ["P201"]),
    (".global .u32 foo; .global .u64 p = foo;", []),
    (".global .u32 foo; .global .u64 p = foo+4;", []),
    (".global .u32 foo; .global .u32 p = foo;", []),
    (".global .u32 foo; .global .u16 p = foo;", ["P226"]),
    (".global .u32 foo; .global .f32 p = foo;", ["P226"]),
    (".global .u64 p = f; .func f() { ret; }", ["P201"]),
    (".func f() { ret; } .global .u64 p = f;", []),
    (".entry k() { .reg .b32 r<0>; ret; }", []),
    (".entry k() { .reg .b32 r[4]; ret; }", ["P210"]),
    (".entry k() { .reg .v2 .b64 r; ret; }", []),
    (".entry k() { .reg .v4 .b64 r; ret; }", ["P210"]),
    (".entry k() { .reg .v2 .pred r; ret; }", ["P210"]),
    (".entry k() { .reg .v2 .b8 r; ret; }", []),
    (".entry k() { .reg .align 8 .b32 r; ret; }", []),
    (".entry k() { .param .b32 x; ret; }", []),
    (".entry k() { .local .align 16 .b8 x[16]; ret; }", []),
    (".entry k() { .const .b32 x = 4; ret; }", []),
    (".entry k(.param .b32 x, .param .b32 x) { ret; }", ["P202"]),
    (".entry k() { ret; } .entry k() { ret; }", ["P202"]),
    (".func k() { ret; } .entry k() { ret; }", ["P202"]),
    (".func k(); .func k(.param .b32 x);", ["P227"]),
    (".func k(); .func k() { ret; }", []),
    (".func k() { ret; } .func k();", ["P202"]),
    (".extern .func k(); .func k() { ret; }", ["P227"]),
    (".extern .func k(); .visible .func k() { ret; }", ["P227"]),
    (".visible .func k(); .func k() { ret; }", []),
    (".global .b32 x; .global .b32 x;", ["P202"]),
    (".extern .global .b32 x; .global .b32 x;", ["P227"]),
    (".extern .global .b32 x; .visible .global .b32 x;", []),
    (".extern .global .b32 x; .visible .global .b64 x;", ["P227"]),
    (".extern .global .b32 x; .extern .global .b32 x;", []),
    (".weak .global .b32 x; .weak .global .b32 x;", ["P202"]),
    (".visible .global .b32 x; .visible .global .b32 x;", ["P202"]),
    (".global .attribute(.managed) .b32 x;", []),
    (".shared .attribute(.managed) .b32 x;", ["P225"]),
    (".global .attribute(.foo) .b32 x;", ["P225"]),
    (".entry k(.param .u64 .ptr .shared .align 4 p) { ret; }", []),
    (".entry k(.param .u32 .ptr .global p) { ret; }", []),
    (".entry k(.param .u64 .ptr .global .align 3 p) { ret; }", ["P224"]),
    (".func f(.param .u64 .ptr .global p) { ret; }", ["P210"]),
    (".entry k(.param .b8 p[]) { ret; }", ["P210"]),
    (".entry k(.param .b8 p[0]) { ret; }", ["P210"]),
    (".func f(.param .b8 p[]) { ret; }", []),
    (".func (.param .b32 a, .param .b32 b) f() { ret; }", ["P210"]),
    (".func (.reg .b32 a, .reg .b32 b) f() { ret; }", []),
    ('.entry k() { .pragma "frequency 0"; ret; }', ["P225"]),
    ('.entry k() { .pragma "frequency 7"; ret; }', []),
    ('.entry k() { .pragma "frequency"; ret; }', ["P225"]),
    ('.entry k() { .pragma "used_bytes_mask 1"; ret; }', []),
    ('.entry k() .pragma "nounroll"; { ret; }', []),
    ('.entry k() .pragma "enable_smem_spilling"; { ret; }', ["P225"]),
    ('.entry k() { .pragma "enable_smem_spilling"; ret; }', []),
    ('.pragma "enable_smem_spilling";', ["P225"]),
    ('.pragma "whatever";', ["P225"]),
    ('.pragma "nounroll";', []),
    ('.entry k() .pragma "whatever"; { ret; }', []),
    ('.entry k() { .pragma "whatever"; ret; }', []),
    ('.file 1 "a.cu" .file 1 "b.cu"', ["P202"]),
    (".func f(); .func f() .noreturn { trap; }", ["P227"]),
    (".func f() .noreturn; .func f() .noreturn { trap; }", []),
    (".func f(.param .b32 x); .func f(.param .b64 x) { ret; }", ["P227"]),
    (".func f(.param .b32 x); .func f(.param .u32 x) { ret; }", ["P227"]),
    (".func f(.param .b32 x); .func f(.reg .b32 x) { ret; }", ["P227"]),
    (".func f(.param .b32 x); .func f(.param .b32 y) { ret; }", []),
    (".func f(.param .b32 x); .func f(.param .align 8 .b32 y) { ret; }", ["P227"]),
    (".func f(.param .b8 x[4]); .func f(.param .b8 x[8]) { ret; }", ["P227"]),
    (".func f(.param .b8 x[4]); .func f(.param .b32 x) { ret; }", ["P227"]),
    (".func (.param .b32 r) f(); .func f() { ret; }", ["P227"]),
    (".func (.param .b32 r) f(); .func (.param .b64 r) f() { ret; }", ["P227"]),
    (".func (.param .b32 r) f(); .func (.reg .b32 r) f() { ret; }", ["P227"]),
    (".visible .func f(); .extern .func f();", ["P227"]),
    (".extern .func f(); .extern .func f();", []),
    (".extern .func f(); .weak .func f() { ret; }", ["P227"]),
    (".weak .func f(); .func f() { ret; }", []),
    (".func f(); .weak .func f() { ret; }", ["P227"]),
    (".func f(); .visible .func f() { ret; }", ["P227"]),
    (".entry k(); .entry k() { ret; }", []),
    (".entry k(.param .b32 x); .entry k() { ret; }", ["P227"]),
    (".entry k(); .visible .entry k() { ret; }", ["P227"]),
    (".extern .global .b32 x; .weak .global .b32 x;", []),
    (".extern .global .b32 x; .common .global .b32 x;", []),
    (".common .global .b32 x; .common .global .b32 x;", ["P202"]),
    (".common .global .b32 x; .global .b32 x;", ["P202"]),
    (".weak .global .b32 x; .extern .global .b32 x;", []),
    (".global .b32 x; .extern .global .b32 x;", []),
    (".extern .global .b32 x; .extern .global .u32 x;", ["P227"]),
    (".extern .global .b8 x[]; .visible .global .b8 x[4];", []),
    (".extern .global .b8 x[8]; .visible .global .b8 x[4];", ["P227"]),
    (".extern .global .align 8 .b8 x[4]; .visible .global .b8 x[4];", []),
    (".extern .shared .b8 x[]; .shared .b8 x[4];", ["P227"]),
    (".extern .global .b32 x = 4;", ["P210"]),
    (".common .global .b32 x = 4;", []),
    (".global .b32 foo; .global .b32 x[2] = {1, foo};", ["P226"]),
    (".global .b8 x[2] = {1.5, 2};", []),
    (".global .f32 x[2] = {1.5, 2};", ["P226"]),
    (".global .f32 x = 0d3FF0000000000000;", []),
    (".global .b32 x = 1.5;", []),
    (".global .pred x;", ["P210"]),
    (".global .u32 x = 1+2*3;", []),
    (".global .v2 .b32 x = {1,2};", []),
    (".global .v2 .b32 x = {1,2,3};", ["P226"]),
    (".global .v2 .b32 x = 5;", ["P226"]),
    (".global .v2 .b32 x[2] = {{1,2},{3,4}};", []),
    (".global .b128 x = 1;", []),
    (".global .f16x2 x;", []),
    (".shared .f16x2 x;", []),
    (".entry k(.param .f16x2 x) { ret; }", ["P210"]),
    (".local .b32 x;", ["P210"]),
    (".const .align 4 .b8 x[] = {1,2,3};", []),
    (".global .texref t = 1;", ["P226"]),
    (".global .texref t = {width = 3, filter_mode = linear, addr_mode_0 = clamp_to_border};", []),
    (".global .surfref s = {width = 3, memory_layout = 1}; .global .texref t = {};", []),
    (".global .texref t = {1};", ["P226"]),
    (".global .texref t = {filter_mode = quirk};", ["P226"]),
    (".global .u32 x = {width = 1};", ["P226"]),
    (".global .surfref s[4];", []),
    (".shared .texref t;", ["P210"]),
    (".entry k() { .reg .texref t; ret; }", ["P210"]),
    (".entry k(.param .texref t) { ret; }", []),
    (".func f(.param .texref t) { ret; }", ["P210"]),
    (".global .u32 foo; .global .u8 a[4] = {foo};", ["P226"]),
    (".global .u32 foo; .global .u8 a[4] = {0xff(foo)};", []),
    (".global .u32 foo; .global .u8 a[4] = {0xf(foo)};", ["P226"]),
    (".global .u32 foo; .global .b8 a[4] = {0xff(foo)};", ["P226"]),
    (".shared .u32 s; .global .u64 p = s;", ["P226"]),
    (".shared .u32 s; .global .u64 p = generic(s);", ["P226"]),
    (".const .u32 s; .global .u64 p = generic(s);", []),
    (".global .u32 s; .global .u64 p = generic(s)+4;", []),
    (".func f(){ret;} .global .u64 p = generic(f);", ["P226"]),
    (".func f(){ret;} .global .u64 p = f+4;", ["P226"]),
    (".global .u32 s[4]; .global .u64 p[2] = {s, s+8};", []),
    (".global .b32 x[2][3] = {{1,2,3},{4,5}};", []),
    (".global .b32 x[][3] = {{1,2,3},{4,5}};", []),
    (".global .b32 x[2] = 5;", ["P226"]),
    (".global .b32 x[2] = {{1,2}};", ["P226"]),
    (".global .b32 x[2] = {};", []),
    (".global .u32 x = WARP_SZ;", []),
    (".entry k() { .shared .b8 x[]; ret; }", ["P210"]),
    (".entry k() { .local .b8 x[0]; ret; }", ["P210"]),
    (".func f(.reg .b32 x[4]) { ret; }", ["P210"]),
    (".func f(.param .b8 x[0]) { ret; }", []),
    (".global .align 4096 .b8 x;", []),
    (".entry k() { .reg .v2 .b128 x; ret; }", ["P210"]),
]


def codes(text, severity="error"):
    found = ptxkit.check(ptxkit.parse(text))
    return sorted({finding.code for finding in found if finding.severity == severity})


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_declarations(text, expected):
    assert codes(f"{HEAD}{text}\n") == expected


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("ptxas") is None, reason="no ptxas on PATH")
@pytest.mark.parametrize(("text", "expected"), CASES)
def test_ptxas_agrees(text, expected, tmp_path):
    file = tmp_path / "case.ptx"
    file.write_text(f"{HEAD}{text}\n")
    # What another module defines is missing where nothing is linked.
    part = ["-c"] if ".extern" in text else []
    run = subprocess.run(
        ["ptxas", *part, "-arch=sm_90a", str(file), "-o", os.devnull], capture_output=True, check=False
    )
    assert (run.returncode == 0) == (expected == [])


@pytest.mark.parametrize(
    ("version", "target", "text", "expected"),
    [
        ("7.7", "sm_80", ".entry k() .maxclusterrank 8 { ret; }", ["P312"]),
        ("9.0", "sm_80", ".entry k() .explicitcluster { ret; }", ["P312"]),
        ("8.8", "sm_90", ".entry k() .blocksareclusters .reqntid 32 .reqnctapercluster 2 { ret; }", ["P311"]),
        ("6.3", "sm_75", ".func f() .noreturn { trap; }", ["P311"]),
        ("8.8", "sm_90", ".func f() .abi_preserve 8 { ret; }", ["P311"]),
        ("8.2", "sm_90", ".global .b128 x;", ["P311"]),
        ("8.2", "sm_90", '.entry k() { .pragma "used_bytes_mask 1"; ret; }', ["P311"]),
        ("8.3", "sm_90", '.entry k() { .pragma "used_bytes_mask 1"; ret; }', []),
    ],
)
def test_availability(version, target, text, expected):
    assert codes(f".version {version}\n.target {target}\n.address_size 64\n{text}\n") == expected


def test_more_threads_than_a_cta_has_are_a_warning():
    assert codes(f"{HEAD}.entry k() .reqntid 64, 32 {{ ret; }}\n", "warning") == ["P225"]
    assert codes(f"{HEAD}.entry k() .reqntid 32, 32 {{ ret; }}\n", "warning") == []


def test_a_finding_points_at_both_declarations():
    text = f"{HEAD}.func f(.param .b32 x);\n.func f(.param .b64 x) {{ ret; }}\n"
    (finding,) = ptxkit.check(ptxkit.parse(text))
    assert (finding.span.line, [label.span.line for label in finding.labels]) == (5, [4])
    assert "the types of parameters" in finding.message


@pytest.mark.parametrize(
    "text", [".global .surfref s = {filter_mode = linear};", ".global .texref t = {nonsense = 1};"]
)
def test_members_that_there_are_not(text):
    """ptxas takes any name."""
    (found,) = ptxkit.check(ptxkit.parse(f"{HEAD}{text}\n"))
    assert (found.code, found.is_error) == ("P226", False)


@pytest.mark.parametrize(
    ("text", "version", "code"),
    [
        (".entry k(.param .u64 a, .hidden .param .align 64 .b8 b[128]) { ret; }", "9.5", None),
        (".entry k(.hidden .param .u64 .ptr .global .align 8 a) { ret; }", "8.8", None),
        (".entry k(.hidden .param .u64 a) { ret; }", "8.7", "P311"),
        (".func f(.hidden .param .u64 a) { ret; }", "9.5", "P210"),
        (".func (.hidden .param .u64 r) f() { ret; }", "9.5", "P210"),
        (".entry k(.param .hidden .u64 a) { ret; }", "9.5", "P101"),
        (".hidden .global .u32 x;", "9.5", "P101"),
        (".entry k() { P: .callprototype _ (.hidden .param .u64 _); ret; }", "9.5", None),
    ],
)
def test_hidden_parameters(text, version, code):
    """As cuda-tile's compiler writes them; ptxas 13.0 to 13.5 say the same of each."""
    module = ptxkit.parse(f".version {version}\n.target sm_90\n.address_size 64\n{text}\n")
    errors = [finding.code for finding in ptxkit.check(module) if finding.is_error]
    assert errors[:1] == ([code] if code else [])
    if code != "P101":
        assert ".hidden .param" in ptxkit.write(module)
        assert ptxkit.parse(format_module(module)) == module
