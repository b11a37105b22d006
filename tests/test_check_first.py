"""Header, names, labels and calls: what ptxas refuses is an error, what it takes is none."""

import pytest

import ptxkit
from ptxkit.diagnostics import code_info

ENTRY = ".entry k() { ret; }\n"
HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n"


def codes(text, target=None, severity="error"):
    module = ptxkit.parse(text if "\n" in text else text + "\n")
    return [d.code for d in ptxkit.check(module, target) if d.severity == severity]


def body(text, before=""):
    return codes(f"{HEAD}{before}\n.entry k(.param .u64 pa) {{\n{text}\nret;\n}}\n")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        (".reg .b32 a; .reg .b32 a; mov.b32 a, 1;", ["P202"]),
        (".reg .b32 a; { .reg .b64 a; mov.b64 a, 1; } mov.b32 a, 1;", []),
        ("{ .reg .b64 b; mov.b64 b, 1; } mov.b64 b, 1;", ["P201"]),
        ("mov.b64 b, 1; .reg .b64 b;", ["P201"]),
        (".reg .b32 r<3>; mov.b32 r2, 1; mov.b32 r3, 1;", ["P201"]),
        (".reg .b32 r<3>; .reg .b32 r1; mov.b32 r1, 1;", ["P202"]),
        (".reg .b32 r1; .reg .b32 r<3>; mov.b32 r1, 1;", ["P202"]),
        (".reg .b32 r<3>; .reg .b32 r; mov.b32 r, r1;", []),
        (".reg .b32 k; mov.b32 k, 1;", []),
        (".reg .b32 pa;", ["P202"]),
        (".reg .b32 %t; mov.u32 %t, %tid.x;", []),
        (".reg .b32 %t; mov.u32 %t, %tidd.x;", ["P201"]),
        (".reg .b32 a1; @a1 ret;", ["P221"]),
        (".reg .pred p; @!p ret;", []),
        ("L: bra L;", []),
        ("bra L; L:", []),
        ("bra L; { L: ret; }", ["P205"]),
        ("L: { bra L; }", []),
        ("L: { L: bra L; }", []),
        ("L: L: bra L;", ["P206"]),
        ("{ L: ret; } { L: ret; }", []),
        (".reg .b32 L; L: ret;", ["P202"]),
        ("bra elsewhere;", ["P205"]),
        (".shared .align 12 .b8 s[96];", ["P224"]),
        (".local .pred p;", ["P210"]),
    ],
)
def test_names_and_labels(text, found):
    assert body(text) == found


@pytest.mark.parametrize(
    ("before", "text", "found"),
    [
        (".extern .func f(.param .b32 x);", ".param .b32 a1; call f, (a1);", []),
        (".extern .func f(.param .b32 x);", ".param .b32 a1; call f;", ["P209"]),
        (".extern .func f(.param .b32 x);", ".param .b64 a1; call f, (a1);", ["P209"]),
        (".extern .func f(.param .u32 x);", ".param .f32 a1; call f, (a1);", ["P209"]),
        (".extern .func f(.param .u32 x);", ".param .s32 a1; call f, (a1);", []),
        (".extern .func f(.param .u32 x[2]);", ".param .s32 a1[2]; call f, (a1);", ["P209"]),
        (".extern .func f(.param .align 4 .b8 x[8]);", ".param .s32 a1[2]; call f, (a1);", []),
        (".extern .func f(.param .align 8 .b32 x);", ".reg .b32 a1; call f, (a1);", ["P209"]),
        (".extern .func f(.param .b32 x);", ".reg .f32 a1; call f, (a1);", []),
        (".extern .func f(.param .b32 x);", "call f, (7);", []),
        (".extern .func (.param .b32 r) f();", ".reg .b32 o; call (o), f, ();", []),
        (".extern .func (.param .b32 r) f();", "call f;", ["P209"]),
        (".extern .func (.param .b8 r[16]) f();", ".param .b8 o[16]; call (o), f;", []),
        (".extern .func (.param .b8 r[16]) f();", ".param .b8 o[8]; call (o), f;", ["P209"]),
        (".extern .func (.param .align 16 .b8 r[16]) f();", ".param .b8 o[16]; call (o), f;", ["P209"]),
        (".entry e() { ret; }", "call e;", ["P208"]),
        ("", "call nowhere;", ["P201"]),
        (".func f() { ret; }", ".reg .b64 q; P: .callprototype ()_ (); call q, P;", []),
        (".func f() { ret; }", ".reg .b64 q; call q;", ["P208"]),
        (".func f() { ret; }", ".reg .b64 q; T: .calltargets f; call q, T;", []),
        (".func f() { ret; }", ".reg .b64 q; T: .calltargets g; call q, T;", ["P208"]),
        (".func f() { ret; } .global .u64 t[1] = {f};", ".reg .b64 q; call q, t;", []),
        (
            ".func f() { ret; } .global .u64 t[1] = {f};",
            ".reg .b64 q; .reg .b32 r; call q, (r), t;",
            ["P209"],
        ),
        (".func f() { ret; } .global .u64 t[1];", ".reg .b64 q; call q, t;", ["P208"]),
        (".func f() { ret; } .global .u64 t[2] = {f, 0};", ".reg .b64 q; call q, t;", ["P208"]),
        (".func f(.reg .v2 .u32 x) { ret; }", ".reg .v2 .f32 a1; call f, (a1);", []),
        (".func f(.reg .v2 .u32 x) { ret; }", ".reg .f64 a1; call f, (a1);", []),
        (".func f(.reg .f32 x) { ret; }", ".reg .v2 .b16 a1; call f, (a1);", []),
        (".func f(.reg .v4 .u32 x) { ret; }", ".reg .v2 .b64 a1; call f, (a1);", []),
        (".func f(.reg .v2 .u32 x) { ret; }", ".reg .v4 .u32 a1; call f, (a1);", ["P209"]),
        (".func f(.reg .v2 .u32 x) { ret; }", ".reg .u32 a1; call f, (a1);", ["P209"]),
        ("", ".reg .b32 i; A: B: T: .branchtargets A, B; brx.idx i, T;", []),
        ("", ".reg .b32 i; A: T: .branchtargets A, C; brx.idx i, T;", ["P205"]),
    ],
)
def test_calls(before, text, found):
    assert body(text, before) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (".reg .b64 d; call d, (1), nope;", ["P205"]),
        (".reg .b64 d; call d, nope;", ["P205"]),
        (".reg .b32 r; .reg .b64 d; call (r), d, (1), nope;", ["P205"]),
        ("call f, (1), nope;", ["P208"]),
        ("call g, (1), nope;", ["P201", "P205"]),
        (".reg .b64 d; proto: .callprototype _ (.param .b32 x); call d, (1), prot;", ["P205"]),
    ],
)
def test_an_undeclared_label_of_a_call_is_one_error(text, found):
    text = f".version 9.0\n.target sm_90\n.extern .func f(.param .b32 x);\n.entry k() {{ {text} ret; }}\n"
    errors = [d for d in ptxkit.check(ptxkit.parse(text)) if d.is_error]
    assert [d.code for d in errors] == found
    for error in errors:
        if error.code == "P205":
            help = (
                "did you mean `proto`?"
                if "prot;" in text
                else "put `nope: .callprototype ..` before the call"
            )
            assert error.help == help


@pytest.mark.parametrize(("argument", "what"), [("%tid.x", "it"), ("v.x", "the element")])
def test_a_part_of_a_register_is_moved_before_a_call(argument, what):
    text = f".extern .func f(.param .b32 x);\n.entry k() {{ .reg .v2 .b32 v; call f, ({argument}); ret; }}\n"
    errors = [d for d in ptxkit.check(ptxkit.parse(f".version 9.0\n.target sm_90\n{text}")) if d.is_error]
    assert [(d.code, d.help) for d in errors] == [("P209", f"move {what} to a register first")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (".func f() { ret; }\n.func f() { ret; }\n", ["P202"]),
        (".func f();\n.func f() { ret; }\n", []),
        (".global .b32 g;\n.global .b32 g;\n", ["P202"]),
        (".extern .global .b32 g;\n.extern .global .b32 g;\n", []),
        (".func f() { L: ret; }\n.entry k() { bra L; }\n", ["P205"]),
        (".func f(.param .b32 x);\n.func g(.param .b32 n) { call f, (n); ret; }\n", ["P209"]),
        (".func f(.param .b32 x);\n.entry k(.param .b32 n) { call f, (n); ret; }\n", ["P209"]),
        (".func (.reg .b32 r) f();\n.func (.param .b32 m) g() { call (m), f, (); ret; }\n", ["P209"]),
        (".extern .func f(.reg .b32 x);\n.func g(.reg .b32 n) { call f, (n); ret; }\n", []),
        (".entry k(.reg .b32 a) { ret; }\n", ["P210"]),
        (".entry k(.param .b32 a[]) { ret; }\n", ["P210"]),
        (".entry k(.param .pred a) { ret; }\n", ["P210"]),
        (".entry k(.param .b8 a[32764]) { ret; }\n", []),
        (".entry k(.param .b8 a[32765]) { ret; }\n", ["P210"]),
        (".entry k(.param .b32 a, .param .b32 a) { ret; }\n", ["P202"]),
        (".reg .b32 a;\n", ["P210"]),
        (".local .b32 a;\n", ["P210"]),
        (".shared .b32 a;\n", []),
    ],
)
def test_module_level(text, found):
    assert codes(HEAD + text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (".version 9.0\n.target sm_90\n", []),
        (".version 9.0\n.target compute_90\n", []),
        (".version 9.0\n.target sm_90\n.address_size 32\n", ["P310"]),
        (".version 9.0\n", ["P304"]),
        (".target sm_90\n", ["P301"]),
        (".target sm_90\n.version 9.0\n", ["P301"]),
        (".address_size 64\n.version 9.0\n.target sm_90\n", ["P301"]),
        (".version 9.0\n.address_size 64\n.target sm_90\n", ["P304"]),
        (".version 9.0\n.global .u32 g;\n.target sm_90\n", ["P304"]),
        (".version 9.0\n.version 9.0\n.target sm_90\n", ["P304"]),
        (".version 8.9\n.target sm_90\n", ["P302"]),
        (".version 9.0\n.target sm_91\n", ["P305"]),
        (".version 9.0\n.target sm_90, fast\n", ["P305"]),
        (".version 9.0\n.target debug\n", ["P304"]),
        (".version 7.7\n.target sm_90\n", ["P306"]),
        (".version 7.8\n.target sm_90a\n", ["P306"]),
        (".version 8.8\n.target sm_110a\n", ["P306"]),
        (".version 8.8\n.target sm_88\n", ["P306"]),
        (".version 9.0\n.target sm_88\n", []),
        (".version 8.6\n.target sm_101a\n", []),
        (".version 9.0\n.target sm_90, texmode_unified, texmode_independent\n", ["P309"]),
        (".version 9.0\n.target sm_90, map_f64_to_f32\n", ["P309"]),
        (".version 9.2\n.target sm_90\n", []),
    ],
)
def test_versions_and_targets(text, found):
    assert codes(text + ENTRY) == found


def test_a_newer_version_gives_one_note():
    assert codes(".version 9.6\n.target sm_90\n" + ENTRY, severity="note") == ["P303"]
    assert codes(".version 9.5\n.target sm_90\n" + ENTRY, severity="note") == []


@pytest.mark.parametrize(
    ("written", "asked", "found"),
    [
        ("sm_80", "sm_90a", []),
        ("sm_90", "sm_80", ["P313"]),
        ("sm_90a", "sm_90a", []),
        ("sm_90a", "sm_100a", ["P313"]),
        ("sm_100f", "sm_103a", []),
        ("sm_100f", "sm_110", ["P313"]),
    ],
)
def test_the_target_that_was_asked_for(written, asked, found):
    assert codes(f".version 9.0\n.target {written}\n{ENTRY}", asked) == found


def test_advice_about_a_target_that_was_asked_for_fits_together():
    """What the file's own target has and the other lacks is not said of `.target`."""
    text = ".version 9.0\n.target {}\n.entry k() {{ .reg .pred %p; elect.sync _|%p, -1; ret; }}"
    other, lacking = ptxkit.check(ptxkit.parse(text.format("sm_90")), "sm_80")
    assert (other.code, lacking.code) == ("P313", "P312")
    assert other.help.endswith("ask for `sm_90`, or write `.target sm_80`")
    assert lacking.help == "ask for `sm_90` instead of `sm_80`"
    assert not lacking.labels
    (own,) = ptxkit.check(ptxkit.parse(text.format("sm_80")))
    assert own.help == "write `.target sm_90`"
    assert own.labels


def test_a_target_that_does_not_exist_is_refused():
    module = ptxkit.parse(".version 9.0\n.target sm_90\n" + ENTRY)
    with pytest.raises(ptxkit.PtxkitError) as caught:
        ptxkit.check(module, "sm_9")
    assert caught.value.diagnostics[0].code == "P305"


def test_unused_registers_are_warnings_that_a_comment_allows():
    text = HEAD + ".entry k() {\n.reg .b32 a; // ptxkit: allow P203\n.reg .b32 b;\nret;\n}\n"
    found = [d for d in ptxkit.check(ptxkit.parse(text)) if d.severity == "warning"]
    assert [(d.code, d.span.line) for d in found] == [("P203", 6)]


def test_a_comment_alone_on_its_line_speaks_for_the_next():
    text = HEAD + ".entry k() {\n// ptxkit: allow P221, P203\n.reg .b32 a;\nret;\n}\n"
    assert ptxkit.check(ptxkit.parse(text)) == []


def test_findings_come_in_the_order_of_the_source_and_repeat_the_parser():
    text = HEAD + ".entry k() {\nbra A;\n)(\nbra B;\nret;\n}\n"
    module = ptxkit.parse(text)
    found = ptxkit.check(module)
    assert module.diagnostics
    assert [d for d in found if d in module.diagnostics] == module.diagnostics
    assert [d.span for d in found] == sorted(d.span for d in found)


def test_a_message_names_the_place_and_the_remedy():
    text = HEAD + ".entry k() {\n.reg .b32 %r<4>;\nmov.u32 %r4, %r1;\nret;\n}\n"
    (finding,) = (d for d in ptxkit.check(ptxkit.parse(text)) if d.is_error)
    assert finding.message == "`%r4` is not declared"
    assert (finding.span.line, finding.span.column, finding.span.end_column) == (6, 9, 12)
    assert finding.help


def test_every_code_is_explained():
    for number in [*range(201, 211), *range(212, 222), 224, *range(301, 307), *range(309, 314)]:
        assert code_info(f"P{number}"), number
