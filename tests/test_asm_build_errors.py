"""Mistakes in what is built raise where they are made, with the checker's own findings."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import pytest

import ptxkit
from ptxkit.asm.build import Body, Builder, param, special
from ptxkit.asm.build.place import UnknownName
from ptxkit.asm.tree import Declarator, Integer, Name

INSTRUCTIONS = {
    "k.lld.u32(r, k[at])": ("P212", "did you mean `ld`?"),
    "k.cp.bulk(r)": ("P212", None),
    "k.ld.globl.u32(r, k[at])": ("P213", "did you mean `.global`?"),
    "k.ld.global_.u3_2(r, k[at])": ("P213", "did you mean"),
    "k.sub.sat.u32(r, r, r)": ("P214", "the nearest form is"),
    "k.add(r, r, r)": ("P214", None),
    "k.add.u32(r, r)": ("P215", "the form is `add.type d, a, b`"),
    "k.ld.global_.u32(r, at)": ("P216", None),
    "k.ld.global_.u32(5, k[at])": ("P217", None),
    "k.ld.global_.u32(r, k[r])": ("P216", "cvt.u64.u32"),
    "k.ld.shared.u32(r, k[r])": (None, None),
    "k.add.u32(r, r, f)": ("P217", "the form is"),
    "k.add.u32(r, r, 1.5)": ("P217", None),
    "k.add.u32(r, r, [r])": ("P216", None),
    "k.add.u32(r, r, r + 1)": (None, None),
    "k.add.u32(r, r, f + 1)": ("P216", None),
    "k.add.f32(f, f, -f)": ("P216", None),
    "k.bra(r)": ("P207", None),
    "k.pmevent(16)": ("P218", None),
    "k.ld.shared.u32(r, k[table])": ("P219", None),
    "k.ld.global_.v4.u32([r, r], k[at])": ("P220", None),
    "k.when(r).ret()": ("P221", None),
    "k.when(None).ret()": ("P221", "setp"),
    "k.when(-p).ret()": ("P221", None),
    "k.if_(None).__enter__()": ("P221", "setp"),
    "k.when(p).retu()": ("P212", "did you mean `ret`"),
    "k.call((), k)": ("P208", None),
    "k.call((), helper)": ("P209", "helper"),
    "k.tcgen05.wait__ld.sync.aligned()": ("P312", None),
    "k.mov.u32(r, 'r')": ("P240", "a name is an object"),
    "k.mov.u32(r, {1})": ("P240", "operands are"),
    "k.mov.u32(r, object())": ("P240", None),
    "k.mov.u32(r, ...)": ("P240", "what an instruction writes"),
    "k.call((...,), gives)": ("P240", "declare the register"),
    "k.mov.u32(r, Name('nothing'))": ("P201", None),
    "k.mov.u32(r, Name('%r'))": (None, None),
    "k.mov.u32(other, 1)": ("P201", "its own block"),
    "k.mov.u32(inner, 1)": ("P201", None),
    "bool(r)": ("P241", "if_"),
}
DECLARATIONS = {
    "k.reg('u33')": ("P240", "one of `b8`"),
    "k.reg('u33', '%x')": ("P240", None),
    "k.reg('u32', '7x')": ("P240", "as in PTX"),
    "k.reg('u32', '%r')": ("P202", None),
    "k.reg('u32', '%n<4>')[4]": ("P201", "`%n0` to `%n3`"),
    "k.reg('u32', '%a[4]')": ("P210", None),
    "k.shared('u32')": ("P240", None),
    "k.shared('pred', 's')": ("P210", None),
    "k.shared('b8', 's[16]', align=12)": ("P224", "power of two"),
    "k.shared('b8', 's[16]', align='4.0')": ("P240", None),
    "k.local('u32', 'a', 'b', init=1)": ("P240", None),
    "k.variable('shred', 'u32', 'a')": ("P240", "did you mean `shared`?"),
    "k.shared('u32', 'a', linkage='extrn')": ("P240", "did you mean `extern`?"),
    "k.shared('u32', 'a', vector='v3')": ("P240", None),
    "k.local('u32', Declarator('a', initializer=Integer(1)))": ("P226", None),
    "b.global_('u32', 'g', init=1)": (None, None),
    "b.global_('u32', 'table')": ("P202", None),
    "b.shared('u32', 's', init=1)": ("P226", None),
    "b.variable('reg', 'u32', '%r')": ("P210", None),
    "b.entry('k')": ("P202", None),
    "b.entry('1')": ("P240", None),
    "b.entry('e', [param('pred', 'x')])": ("P210", None),
    "b.entry('e', [param('u64', 'x'), param('u64', 'x')])": ("P202", None),
    "b.entry('e', maxntids=1)": ("P240", "did you mean `maxntid`?"),
    "b.entry('e', maxntid=128, reqntid=128)": ("P225", None),
    "b.entry('e', linkage='visble')": ("P240", "did you mean `visible`?"),
    "b.func('e', [param('u64', 'x', pointer=('globl', 1))])": ("P240", None),
    "b.alias('e', 'nothing')": ("P201", None),
    "b.file(1, 'a'), b.file(1, 'b')": ("P202", None),
    "b.comment('/* open')": ("P240", "leave the `/*` out"),
    "k.pragma(1)": ("P240", "a string"),
    "b.file(-1, 'a')": ("P240", None),
    "k.loc(1, -2, 3)": ("P240", "from 0 on"),
    "Builder('sm_91')": ("P305", None),
    "Builder('sm_100a', version='8.0')": ("P306", None),
    "Builder('sm_90', version='nine')": ("P302", None),
    "Builder('sm_90', address_size=16)": ("P310", None),
}
PLACES = {
    "k.label(one)": ("P206", "forward_label"),
    "k.label('one')": ("P206", None),
    "k.label('a b')": ("P240", None),
    "k.label(elsewhere)": ("P206", None),
    "k.bra(elsewhere)": ("P201", "its own block"),
    "k.forward_label('%r'), k.bra(k.forward_label('%r'))": ("P206", None),
    "k.else_().__enter__()": ("P241", "nothing may stand between"),
    "k.break_()": ("P241", "while_"),
    "k.continue_(p)": ("P241", None),
    "k.for_('b32', 0, 4).__enter__()": ("P217", None),
    "k.for_('u32', 0, 4, 0).__enter__()": ("P218", None),
    "helper.ret()": ("P241", "with .. as k"),
    "helper.__enter__()": ("P241", None),
    "declared.ret()": ("P241", None),
    "k.__enter__()": ("P241", "already"),
    "b.pragma('nounroll')": ("P241", None),
}


@pytest.mark.parametrize("statement", [*INSTRUCTIONS, *DECLARATIONS, *PLACES])
def test_mistakes(statement: str) -> None:
    code, help = (INSTRUCTIONS | DECLARATIONS | PLACES)[statement]
    b = Builder("sm_90")
    table = b.global_("u32", "table[4]")
    helper = b.func("helper", [param("b32", "x")])
    with helper as f:
        other = f.reg("u32")
        elsewhere = f.label("elsewhere")
        f.mov.u32(other, 1)
        f.ret()
    declared, gives = b.func("declared"), b.func("gives", returns=[param("b32", "y")])
    k = b.entry("k")
    k.__enter__()
    r, f32_, p, at = k.reg("u32", "%r"), k.reg("f32", "%f"), k.reg("pred", "%p"), k.reg("b64", "%at")
    one = k.label("one")
    with k.scope():
        inner = k.reg("u32", "%inner")
    before = ptxkit.write(b.module)
    names: dict[str, Any] = {
        "b": b,
        "k": k,
        "r": r,
        "f": f32_,
        "p": p,
        "at": at,
        "one": one,
        "inner": inner,
        "other": other,
        "gives": gives,
        "table": table,
        "helper": helper,
        "declared": declared,
        "elsewhere": elsewhere,
        "Builder": Builder,
        "param": param,
        "Declarator": Declarator,
        "Integer": Integer,
        "Name": Name,
    }
    if statement.startswith("b.") and "pragma" not in statement:
        k.__exit__(None, None, None)
    linecache.cache["mistake.py"] = (len(statement), None, [statement], "mistake.py")
    if code is None:
        eval(compile(statement, "mistake.py", "eval"), names)
        return
    with pytest.raises(ptxkit.PtxkitError) as problem:
        eval(compile(statement, "mistake.py", "eval"), names)
    (found,) = problem.value.diagnostics
    assert found.code == code, found
    assert ptxkit.diagnostics.code_info(code)
    assert help is None or help in f"{found.message} {found.help}"
    assert found.source is not None
    assert (found.source.name, found.span and found.span.line) == ("mistake.py", 1)
    if not statement.startswith("b.file") and "%n" not in statement:
        assert ptxkit.write(b.module) == before


def _line(problem: pytest.ExceptionInfo[ptxkit.PtxkitError]) -> str:
    """The text under the caret of the first finding."""
    found = problem.value.diagnostics[0]
    assert found.source is not None
    assert found.span is not None
    line = found.source.line(found.span.line) or ""
    return line[found.span.column - 1 : found.span.end_column - 1]


def _fails(function: Callable[[Body], None]) -> pytest.ExceptionInfo[ptxkit.PtxkitError]:
    with pytest.raises(ptxkit.PtxkitError) as problem, Builder("sm_90").entry("k") as k:
        function(k)
    return problem


def test_the_expression_is_marked() -> None:
    def statements(k: Body) -> None:
        é = k.reg("f32")
        k.mov.f32(é, 0.0), k.add.u32(..., é, 1)

    assert _line(_fails(statements)) == "k.add.u32(..., é, 1)"


def test_a_label_never_placed_is_shown_where_it_was_made() -> None:
    problem = _fails(lambda k: k.bra(k.forward_label("done")))
    assert problem.value.diagnostics[0].code == "P205"
    assert _line(problem) == 'k.forward_label("done")'


def test_what_a_later_label_makes_wrong_is_shown_where_it_stands() -> None:
    def statements(k: Body) -> None:
        later = k.forward_label("later")
        k.brx.idx(0, later)
        k.label(later)
        k.ret()

    problem = _fails(statements)
    assert problem.value.diagnostics[0].code == "P207"
    assert _line(problem) == "k.brx.idx(0, later)"


def test_a_label_of_an_inner_block_is_not_known_outside() -> None:
    def statements(k: Body) -> None:
        inside = k.forward_label("inside")
        k.bra(inside)
        with k.scope():
            k.label(inside)

    problem = _fails(statements)
    assert problem.value.diagnostics[0].code == "P205"
    assert _line(problem) == "k.bra(inside)"


def test_a_hidden_register_is_not_taken_for_another() -> None:
    def statements(k: Body) -> None:
        outer = k.reg("u32", "%r")
        with k.scope():
            k.reg("f32", "%r")
            k.mov.u32(outer, 1)

    problem = _fails(statements)
    assert problem.value.diagnostics[0].code == "P201"
    assert "another register" in problem.value.diagnostics[0].notes[0]


def test_after_a_mistake_the_statement_can_be_made_again() -> None:
    b = Builder("sm_90")
    with pytest.raises(ptxkit.PtxkitError):
        b.shared("u32", "s", init=1)
    with pytest.raises(ptxkit.PtxkitError):
        b.file(1, "a", -1, 2.5, "x")  # type: ignore[arg-type]
    b.shared("u32", "s")
    b.file(1, "a")
    with b.entry("k") as k:
        with pytest.raises(ptxkit.PtxkitError):
            k.shared("pred", "t")
        k.shared("b32", "t")
        with pytest.raises(ptxkit.PtxkitError):
            k.mov.u32(k.reg("u32", "%r"), Name("nothing"))
        with pytest.raises(ptxkit.PtxkitError):
            k.mov.u32(Name("nothing"), 1)
        k.ret()
    assert ptxkit.check(b.module) == []


def test_unknown_names_are_attribute_errors_too() -> None:
    with Builder("sm_90").entry("k") as k:
        with pytest.raises(UnknownName):
            k.when(k.reg("pred")).nonsense  # noqa: B018
        for there in (k, k.ld, special, special.tid, special.laneid, k.reg("u32")):
            with pytest.raises(AttributeError):
                there._nonsense  # noqa: B018
    with pytest.raises(AttributeError, match="did you mean `laneid`"):
        special.laneidx  # noqa: B018
