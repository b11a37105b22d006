"""Declarations, headers and calls as ptxas takes them when it makes code; each was judged otherwise once."""

import pytest

import ptxkit

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
MAIN = "\n.entry main() { ret; }\n"


def codes(text):
    return [d.code for d in ptxkit.check(ptxkit.parse(HEAD + text)) if d.is_error]


def body(text, before=""):
    return codes(f"{before}\n.entry main() {{ {text} ret; }}\n")


@pytest.mark.parametrize("type_", ["bf16", "bf16x2", "tf32", "u16x2", "s16x2"])
@pytest.mark.parametrize("place", ["reg", "local", "shared", "param", "global"])
def test_types_of_instructions_declare_nothing(type_, place):
    assert body(f".{place} .{type_} x;") == ["P210"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (".global .v8 .b16 x;", ["P210"]),
        (".global .v2 .texref x;", ["P210"]),
        (".global .samplerref x;", ["P210"]),
        (".global .samplerref x[4];", []),
        (".shared .texref x[4];", []),
        (".shared .texref x;", ["P210"]),
        (".shared .u16x2 x[4];", []),
        (".tex .u32 x;", ["P210"]),
        (".global .b32 _;", ["P210"]),
        (".extern .global .b32 x[2][0];", ["P210"]),
        (".global .b32 x[0] = {1, 2};", []),
        (".global .b32 x[] = {};", ["P226"]),
        (".const .f16 x[2] = {};", []),
        (".global .u64 x = -2.5;", ["P226"]),
        (".global .f64 x = 1.0 < 2.0;", ["P226"]),
        (".global .b32 x = 1.0 < 2.0;", []),
        (".global .b32 x = 1 + 1.0;", ["P226"]),
        (".global .b32 x = ~1.0;", ["P226"]),
        (".global .b32 x = 7 / 0;", ["P226"]),
        (".global .f64 x = 1e400;", ["P226"]),
        (".global .f64 x = 1e-310;", ["P226"]),
        (".global .f64 x = 0e400;", []),
        (".func f() { ret; } .global .u8 x = 0xFF00(f);", []),
        (".func f() { ret; } .global .u8 x = 0xFF00(f + 4);", ["P226"]),
        (".func f() { ret; } .global .u64 x = generic(f);", ["P226"]),
        (".const .b8 x[65536];", []),
        (".const .b8 x[65535]; .const .align 256 .b8 y;", ["P210"]),
        (".global .b32 %tid;", ["P202"]),
        (".func %laneid() { ret; }", ["P202"]),
        (".global .v2 .align 8 .b32 x;", ["P101"]),
        (".v2 .global .b32 x;", ["P101"]),
        (".const .attribute(.unified(1, 2)) .u32 x;", ["P225"]),
        (".global .attribute(.unified) .u32 x;", ["P225"]),
        (".global .attribute(.managed(1, 2)) .u32 x;", ["P225"]),
        (".extern .shared .b32 x[4], x[8];", ["P227"]),
        (".common .global .u32 x[] = {1, 2}; .extern .global .u32 x[4];", ["P227"]),
        (".shared .samplerref x[3], y;", ["P210"]),
        (".global .b32 g; .global .u64 x = g + 1.5;", ["P226"]),
    ],
)
def test_variables(text, found):
    assert codes(text + MAIN) == found


@pytest.mark.parametrize(("shape", "found"), [("", ["P311"]), ("[2]", [])])
def test_arrays_of_128_bits_are_older_than_the_type(shape, found):
    text = f".version 8.0\n.target sm_80\n.global .b128 x{shape};{MAIN}"
    assert [d.code for d in ptxkit.check(ptxkit.parse(text)) if d.is_error] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (".param .v2 .b32 x;", ["P210"]),
        (".param .v2 .b32 x[2];", []),
        (".param .v2 .b32 x[2], y;", ["P210"]),
        (".param .align 256 .b32 x;", ["P224"]),
        (".global .texref x;", ["P210"]),
        (".reg .b32 _;", ["P210"]),
        ("_: ret;", ["P210"]),
        (".reg .attribute(.managed) .b32 x;", ["P225"]),
        (".reg .attribute(.managed) .b32 x<4>;", []),
        (".reg .b32 x1<4>, q; mov.b32 q, x13;", ["P201"]),
        (".reg .b64 x1<4>; .reg .b32 x<20>, q; mov.b32 q, x13;", []),
        (".reg .b32 L<4>; L0: mov.b32 L0, 1;", []),
        (".reg .b32 L<4>; L0: bra L0;", ["P207"]),
        (".reg .b32 r; T: .branchtargets L<2>; brx.idx r, T; L0: L1: ret;", []),
        (".reg .b32 r; T: .branchtargets L<2>; brx.idx r, T; L0: ret;", ["P205"]),
        (".reg .b32 r; .branchtargets L0; L0: ret;", ["P210"]),
        ("T: .branchtargets L<0>; L0: ret;", []),
        (".reg .b32 r; T: .branchtargets L<0>; brx.idx r, T; L0: ret;", ["P207"]),
        (".reg .b32 r; brx.idx r, T; T: .branchtargets L0; L0: ret;", ["P207"]),
    ],
)
def test_bodies(text, found):
    assert body(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (".func f(.reg .b32 _) { ret; }", ["P210"]),
        (".func f(.param .align 256 .b8 x[4]) { ret; }", ["P224"]),
        (".func f(.param .f16x2 x[2]) { ret; }", []),
        (".func f(.param .f16x2 x) { ret; }", ["P210"]),
        (".func f(.param .texref x[2]) { ret; }", []),
        (".extern .func f(.param .v2 .b32 x);", []),
        (".extern .func f(.param .align 256 .f16x2 x);", []),
        (".extern .func f(.param .v2 .b128 x);", ["P210"]),
        (".extern .func f(.param .bf16 x);", ["P210"]),
        (".func f(.global .b32 x) { ret; }", ["P210"]),
        (".func f(.param .b8 x[]) { ret; }", []),
        (".func f(.param .b8 x[], .param .b32 y) { ret; }", ["P210"]),
        (".func (.param .b8 x[]) f() { ret; }", ["P210"]),
        (".func f(.param .b64 .align 8 x) { ret; }", ["P210"]),
        (".entry e(.param .b64 .align 8 x) { ret; }", []),
        (".entry e(.param .b64 .ptr .param x) { ret; }", ["P210"]),
        (".entry e(.param .attribute(.managed) .b32 x) { ret; }", ["P225"]),
        (".func f(.param .attribute(.unified(1, 2)) .b32 x) { ret; }", []),
        (".func .attribute(.managed) f() { ret; }", ["P225"]),
        (".func (.reg .b32 r) f() .noreturn { trap; }", ["P225"]),
        (".func f() .noreturn .noreturn { trap; }", ["P225"]),
        (".func f() .abi_preserve 4 .noreturn { trap; }", ["P225"]),
        (".func f() .noreturn .abi_preserve 4 { trap; }", []),
        (".func f() .abi_preserve 4 .abi_preserve 4 { ret; }", ["P225"]),
        (".func f() .abi_preserve 4; .func f() { ret; }", ["P227"]),
        (".entry e() .maxntid 32; .entry e() { ret; }", ["P225"]),
        (".entry e() .maxntid 32 .maxnreg 4294967296 { ret; }", ["P225"]),
        (".entry e() .maxntid 32 .maxnreg 4294967295 { ret; }", []),
        (".entry e() .reqnctapercluster 1, 4294967297 { ret; }", ["P225"]),
        (".func f(); .entry f() { ret; }", ["P227"]),
        (".func f(.param .b32 x, .param .b32 x); .func f(.param .b32 x, .param .b32 y) { ret; }", []),
        (".func f();", ["P228"]),
        (".visible .func f();", ["P228"]),
        (".extern .func f();", []),
        (".func f(); .func f() { ret; }", []),
        (".func a(); .func f() { ret; } .alias a, f;", []),
        (".func a(); .func f() { ret; } .alias a, f; .alias a, f;", ["P227"]),
        (".func a(); .func f() { ret; } .alias a, a;", ["P227"]),
        (".func a(); .weak .func f() { ret; } .alias a, f;", ["P227"]),
        (".func a(); .func f() .noreturn { trap; } .alias a, f;", ["P227"]),
        (".entry e() { ret; } .func a(); .alias a, e;", ["P227"]),
    ],
)
def test_headers(text, found):
    assert codes(text + MAIN) == found


@pytest.mark.parametrize(
    ("parameter", "argument", "found"),
    [
        (".reg .b32", "1", []),
        (".reg .b32", "2.0", []),
        (".reg .u32", "1+1", []),
        (".reg .u32", "2.0", ["P209"]),
        (".reg .f32", "1", ["P209"]),
        (".reg .f32", "1.0", []),
        (".reg .f64", "1e400", ["P209"]),
        (".reg .b32", "_", ["P209"]),
        (".reg .b32", "b+1", ["P209"]),
        (".reg .b32", "-b", ["P209"]),
        (".reg .b32", "[b]", ["P209"]),
        (".reg .b32", "{b}", ["P209"]),
        (".reg .b32", "%clock", ["P209"]),
        (".reg .b64", "g", ["P209"]),
        (".reg .b64", "f", ["P209"]),
        (".reg .v2 .b32", "v", []),
        (".reg .b32", "v.x", ["P209"]),
        (".reg .v2 .b32", "{b, b}", ["P209"]),
        (".reg .v2 .b32", "1", []),
        (".reg .v4 .b32", "1", ["P209"]),
        (".param .b32", "7", []),
        (".param .f32", "7", ["P209"]),
    ],
)
def test_arguments(parameter, argument, found):
    before = f".global .b32 g; .func f({parameter} x) {{ ret; }}"
    assert body(f".reg .b32 b; .reg .v2 .b32 v; call f, ({argument});", before) == found


def test_unified_is_for_sm_90_and_later():
    text = f".version 9.0\n.target sm_80\n.func .attribute(.unified(1, 2)) f() {{ ret; }}{MAIN}"
    assert [d.code for d in ptxkit.check(ptxkit.parse(text)) if d.is_error] == ["P312"]


def test_arrays_of_vectors_are_passed_to_nobody():
    before = ".func f(.param .v2 .b32 x[2]) { ret; }"
    assert body(".param .v2 .b32 a[2]; call f, (a);", before) == ["P209"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("call (_), f;", []),
        ("call (1), f;", ["P209"]),
        ("call (b+1), f;", ["P209"]),
        ("call (%clock), f;", ["P209"]),
        ("call (b), f, P; P: .callprototype (.reg .b32 _) _ ();", ["P208"]),
        ("P: .callprototype (.reg .b32 _) _ (); call (b), f, P;", ["P208"]),
        ("P: .callprototype (.reg .b32 _) _ (); call (b), h, P;", ["P208"]),
        ("P: .callprototype (.reg .b32 _) _ (); call (b), w, P;", []),
        ("P: .callprototype (.reg .b32 _) _ (); call (b), _, P;", ["P208"]),
        ("P: .branchtargets P; call (b), w, P;", ["P208"]),
        (".callprototype (.reg .b32 _) _ ();", ["P210"]),
        ("P: .callprototype _ (.param .align 3 .b8 _[4]);", ["P224"]),
        ("P: .callprototype (.reg .b32 _) _ () .noreturn;", ["P225"]),
        ("P: .callprototype (.param .b32 _, .param .b32 _) _ ();", ["P210"]),
        ("P: .callprototype _ (.reg .v2 .b128 _);", ["P210"]),
    ],
)
def test_calls(text, found):
    registers = ".reg .b32 b; .reg .b16 h; .reg .b64 w;"
    assert body(registers + text, ".func (.reg .b32 r) f() { ret; }") == found


@pytest.mark.parametrize("prototype", [".extern .func g();", ".func g();"])
def test_a_prototype_in_a_body_declares_for_the_module(prototype):
    defined = "" if "extern" in prototype else ".func g() { ret; }"
    assert codes(f".entry main() {{ {{ {prototype} }} call g; ret; }} {defined}") == []


NARROW = ".func f(.reg .u16 x) { ret; }\n"
CALL = ".reg .u16 a; call f, (a);"
SEVERAL = ".func (.reg .b32 r, .reg .b32 s) f() { ret; }\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (NARROW + MAIN, []),
        (NARROW + f".entry main() {{ {CALL} ret; }}", ["P229"]),
        (NARROW.replace("u16", "b16") + f".entry main() {{ {CALL} ret; }}", []),
        (
            NARROW.replace(".u16", ".v2 .u16")
            + f".entry main() {{ {CALL.replace('.u16', '.v2 .u16')} ret; }}",
            [],
        ),
        (NARROW + f".func g() {{ {CALL} ret; }}" + MAIN, []),
        (NARROW + f".func g() {{ {CALL} ret; }} .entry main() {{ call g; ret; }}", ["P229"]),
        (NARROW + ".global .u64 t = f;" + MAIN, []),
        (NARROW + ".global .u64 t = f; .entry main() { .reg .b64 a; mov.u64 a, t; ret; }", ["P229"]),
        (NARROW + ".extern .func e(); .entry main() { call e; ret; }", ["P229"]),
        (".func (.reg .pred p) f() { ret; } .entry main() { .reg .pred p; call (p), f; ret; }", ["P229"]),
        (SEVERAL + ".entry main() { .reg .b32 a, b; call (a, b), f; ret; }", []),
        (SEVERAL + ".func g() { call g; ret; }" + MAIN, []),
        (SEVERAL + ".func g() { call g; ret; } .entry main() { call g; ret; }", ["P229"]),
        (SEVERAL + ".extern .func e(); .entry main() { call e; ret; }", ["P229"]),
        (SEVERAL + ".global .u64 t = f;" + MAIN, ["P229"]),
        (
            SEVERAL
            + ".func g() { ret; } .entry main() { .reg .b64 a; mov.u64 a, g; "
            + "P: .callprototype _ (); call a, P; ret; }",
            ["P229"],
        ),
        (SEVERAL + ".func .attribute(.unified(1, 2)) g() { ret; }" + MAIN, ["P229"]),
    ],
)
def test_the_abi(text, found):
    assert codes(text) == found


def test_a_list_of_more_labels_than_there_can_be_is_told_once() -> None:
    head = ".version 9.0\n.target sm_90\n.entry k()\n"
    text = head + "{\nL: .branchtargets L<0xffffffffffffffffffff>;\nret;\n}\n"
    found = ptxkit.check(ptxkit.parse(text))
    assert [each.code for each in found if each.is_error].count("P205") == 1
