"""The notation of rows: what it means, and that a row that makes no sense is refused."""

from __future__ import annotations

import pytest

from ptxkit import targets
from ptxkit.isa.candidate import assign
from ptxkit.isa.conditions import Availability, Condition, NotationError, Rule
from ptxkit.isa.match import match_operands
from ptxkit.isa.notation import parse_form
from ptxkit.isa.registry import named_forms, opcodes, spelling


def row(syntax, **given):
    return parse_form(syntax, section="9.7.1.1", **given)


@pytest.mark.parametrize(
    ("syntax", "given", "reason"),
    [
        ("add.type d, a, b", {}, "type"),
        ("add.type d, a", {"type": "u32 u32"}, "twice"),
        ("add.type d, a", {"type": ""}, "no values"),
        ("add.type d, a", {"type": "u32", "b": "u32"}, "`b` is nowhere in the syntax"),
        ("add.type d, a", {"type": "u32", "d": "u33"}, "`u33`"),
        ("add.type d, a", {"type": "u32", "a": ".ctype"}, "`.ctype`"),
        ("add.type d, a", {"type": "u32.v2"}, "dot"),
        ("add.type d, a", {"type": "b32, b64"}, "value `b32,` of slot `.type` has a comma"),
        ("add.type d, a b", {"type": "u32"}, "expected `,` before `b`"),
        ("add.type d, a{, b} c", {"type": "u32"}, "expected `,` before `c`"),
        ("add.type d, [a b]", {"type": "u32"}, "expected `,` before `b`"),
        ("add.type d, {a b}", {"type": "u32"}, "expected `,` before `b`"),
        ("add.type d, a,", {"type": "u32"}, "expected one after the last `,`"),
        ("add.type d, a, mode", {"type": "u32"}, "operand `mode` needs `mode=`"),
        ("add{.type} d, a", {"type": "u32"}, "`d` takes its type from `.type`, which may be left out"),
        ("add{.type d, a", {"type": "u32"}, "malformed"),
        ("add.type d, [a", {"type": "u32"}, ""),
        ("add.type d, {a", {"type": "u32"}, ""),
        ("add.type d, a{.sel}", {"type": "u32"}, "`.sel` has no values"),
        ("add.type d, a", {"type": "u32", "rules": ".sat -> .u32"}, "`.sat` is not in the row"),
        ("add.type d, a", {"type": "u32", "rules": ".u32 ->"}, ""),
        ("add.type d, a", {"type": "u32", "rules": "(.u32"}, ""),
        ("add.type d, a", {"type": "u32", "needs": {".s32": "8.0"}}, "`.s32` is not in the row"),
        ("add.type d, a", {"type": "u32", "needs": {".u32": "8.x"}}, "`8.x`"),
        ("add.type d, a", {"type": "u32", "needs": {".u32": "8.9"}}, "8.9"),
        ("add.type d, a", {"type": "u32", "since": "8.0 sm_42"}, "`sm_42` is no target"),
        ("add.type d, a", {"type": "u32", "since": ""}, "empty"),
        ("add.type d, a", {"type": "u32", "ptxas_optional": "sat"}, "`sat`"),
    ],
)
def test_a_wrong_row_is_refused(syntax, given, reason):
    with pytest.raises(NotationError) as raised:
        row(syntax, **given)
    assert reason in str(raised.value)
    assert str(raised.value).startswith(f"row `{syntax}`")


def test_a_section_outside_the_instructions_is_refused():
    with pytest.raises(NotationError, match="no section"):
        parse_form("add.u32 d, a", section="8.1")


def modifiers_fit(form, *modifiers):
    return assign(form, form.opcode, modifiers) is not None


def test_optional_modifiers_may_be_left_out():
    form = row("ld{.weak}{.ss}.type d, [a]", ss="global shared", type="b32 u32")
    assert modifiers_fit(form, "u32")
    assert modifiers_fit(form, "weak", "global", "b32")
    assert modifiers_fit(form, "global", "weak", "b32")
    assert not modifiers_fit(form, "weak")
    assert not modifiers_fit(form, "global", "shared", "b32")
    assert not modifiers_fit(form, "f32")


def test_modifiers_in_one_pair_of_braces_go_together():
    form = row("ld{.sem.scope}.type d, [a]", sem="relaxed acquire", scope="cta gpu", type="b32")
    (both, *_) = [assign(form, form.opcode, ("acquire", "gpu", "b32"))]
    assert all(rule.holds(both.facts) for rule in form.rules)
    half = assign(form, form.opcode, ("acquire", "b32"))
    assert not all(rule.holds(half.facts) for rule in form.rules)


def test_a_suffix_in_braces_makes_two_spellings():
    form = row("ld.shared{::cta}.u32 d, [a]")
    assert modifiers_fit(form, "shared", "u32")
    assert modifiers_fit(form, "shared::cta", "u32")
    assert not modifiers_fit(form, "shared::cluster", "u32")


def test_types_keep_their_order():
    form = row("cvt.dtype.atype d, a", dtype="u32 s64", atype="u32 s64")
    assert assign(form, form.opcode, ("u32", "s64")).slots == {"dtype": "u32", "atype": "s64"}
    assert assign(form, form.opcode, ("s64", "u32")).slots == {"dtype": "s64", "atype": "u32"}


@pytest.mark.parametrize(
    ("kinds", "fits"),
    [
        (("u32", "b32", "int"), True),
        (("u32", "s32"), True),
        (("f32", "b32", "int"), False),
        (("u32", "b64", "int"), False),
        (("u32", "int", "b32"), True),
        (("int", "b32", "b32"), False),
        (("u32", "float", "b32"), False),
        (("u32", "b32", "b32", "b32"), False),
        (("u32",), False),
    ],
)
def test_operands(kinds, fits):
    form = row("add.type d, a{, b}", type="u32 s32")
    assert (match_operands(assign(form, form.opcode, ("u32",)), kinds) is not None) == fits


def test_optional_operands_become_facts():
    form = row(
        "ld{.hint}.type d, [a]{, policy}", type="b32", policy="u64", hint="hint", rules=".hint -> policy"
    )
    bare = assign(form, form.opcode, ("b32",))
    assert "policy" not in match_operands(bare, ("b32", ("[", "u64", None, None))).facts
    hinted = assign(form, form.opcode, ("hint", "b32"))
    assert match_operands(hinted, ("b32", ("[", "u64", None, None))) is None
    assert "policy" in match_operands(hinted, ("b32", ("[", "u64", None, None), "u64")).facts


@pytest.mark.parametrize(
    ("condition", "facts", "holds"),
    [
        (".a", ".a", True),
        ("!.a", ".a", False),
        (".a & .b", ".a", False),
        (".a | .b", ".b", True),
        ("!(.a | .b)", ".c", True),
        (".a & !b", ".a b", False),
        ("!.a & .b | .c", ".a .c", True),
    ],
)
def test_conditions(condition, facts, holds):
    assert Condition.parse(condition).holds(frozenset(facts.split())) == holds


def test_a_rule_says_nothing_where_its_premise_fails():
    rule = Rule.parse(".a -> .b")
    assert rule.holds(frozenset({".c"}))
    assert rule.holds(frozenset({".a", ".b"}))
    assert not rule.holds(frozenset({".a"}))


@pytest.mark.parametrize(
    ("availability", "version", "target", "met"),
    [
        ("7.0 sm_80", (7, 0), "sm_80", True),
        ("7.0 sm_80", (6, 5), "sm_80", False),
        ("7.0 sm_80", (7, 0), "sm_75", False),
        ("8.6 sm_100a, 8.8 sm_100f", (8, 6), "sm_100a", True),
        ("8.6 sm_100a, 8.8 sm_100f", (8, 6), "sm_103a", False),
        ("8.6 sm_100a, 8.8 sm_100f", (8, 8), "sm_103a", True),
        ("8.6 sm_100a, 8.8 sm_100f", (8, 8), "sm_103f", True),
        ("8.6 sm_100a, 8.8 sm_100f", (8, 8), "sm_120f", False),
        ("8.0 sm_90a", (8, 0), "sm_90", False),
    ],
)
def test_availability(availability, version, target, met):
    assert Availability.parse(availability).met(version, targets.TARGETS[target]) == met


def test_a_longer_name_wins_over_a_shorter_one():
    assert spelling("cp", ("async", "bulk", "commit_group")).name == "cp.async.bulk.commit_group"
    assert spelling("cp", ("async", "commit_group")).name == "cp.async.commit_group"
    assert spelling("ld", ("global", "u32")).name == "ld"


def test_a_spelling_finds_the_same_forms_as_every_row_would():
    for opcode in opcodes():
        for name, forms in named_forms(opcode).items():
            for form in forms:
                modifiers = [
                    slot.values[0] for slot in form.slots if not slot.optional and not slot.ptxas_optional
                ]
                found = spelling(opcode, tuple(modifiers))
                slow = [f for f in named_forms(opcode)[found.name] if assign(f, found.name, modifiers)]
                assert [c.form for c in found.candidates] == slow, name
