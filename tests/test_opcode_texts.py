"""Outside `isa/` and `asm/` nobody asks what an opcode or a modifier is called: rows, traits and slots
say what an instruction is. Found are comparisons, matches and look-ups of what is named like such
a text, or made of one."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

import ptxkit

ROOT = Path(ptxkit.__file__).parent
FILES = [path for path in sorted(ROOT.rglob("*.py")) if path.relative_to(ROOT).parts[0] not in ("isa", "asm")]
NAMED = re.compile(r"_?(opcode|mnemonic|modifier|spelling)s?")
GATHERS = frozenset({"str", "tuple", "list", "set", "frozenset", "sorted", "reversed", "enumerate"})
"""Functions that make one value of texts, or walk over them."""
ASKS = frozenset(
    """startswith endswith find index count match fullmatch search get setdefault pop isdisjoint issubset
    issuperset""".split()
)
"""Methods that ask for a text, for a part of it, or for what is kept under it."""


def texts(node: ast.AST | None, known: Collection[str]) -> bool:
    """Whether an expression is such a text, several of them, or made of one, as the variables `known` are."""
    match node:
        case ast.Attribute(attr=name):
            return NAMED.fullmatch(name) is not None
        case ast.Name(id=name):
            return name in known or NAMED.fullmatch(name) is not None
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return name in GATHERS and any(texts(argument, known) for argument in arguments)
        case ast.Call(func=ast.Attribute(value=inner, attr=method), args=arguments):
            return texts(inner, known) or (method == "join" and any(texts(each, known) for each in arguments))
        case ast.Subscript(value=inner) | ast.NamedExpr(value=inner) | ast.Starred(value=inner):
            return texts(inner, known)
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return any(texts(part, known) for part in parts)
        case ast.BinOp(left=left, right=right):
            return texts(left, known) or texts(right, known)
        case ast.IfExp(body=body, orelse=other):
            return texts(body, known) or texts(other, known)
        case ast.GeneratorExp(elt=made) | ast.ListComp(elt=made) | ast.SetComp(elt=made):
            return texts(made, known)
    return False


def bound(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST | None]]:
    """What a statement or an expression binds, and to what."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case ast.AnnAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
            yield target, value
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            yield target, value


def variables(scope: ast.AST) -> set[str]:
    """The variables of a function, or of a module, that are such texts by what they are bound to."""
    found: set[str] = set()
    pairs = [pair for node in ast.walk(scope) for pair in bound(node)]
    while True:
        more = {
            name.id
            for target, value in pairs
            if texts(value, found)
            for name in ast.walk(target)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        }
        if more <= found:
            return found
        found |= more


def asks(node: ast.AST, known: Collection[str]) -> bool:
    """Whether an expression or a statement compares, matches or looks up such a text."""
    match node:
        case ast.Compare(left=left, ops=ops, comparators=others):
            identity = all(isinstance(op, (ast.Is, ast.IsNot)) for op in ops)
            return not identity and any(texts(each, known) for each in (left, *others))
        case ast.Match(subject=subject):
            return texts(subject, known)
        case ast.Subscript(slice=key, ctx=ast.Load()):
            return texts(key, known)
        case ast.Call(func=ast.Attribute(value=inner, attr=method), args=arguments):
            return method in ASKS and any(texts(each, known) for each in (inner, *arguments))
    return False


def lines(source: str) -> list[int]:
    """The lines of a file that ask for such a text."""
    module = ast.parse(source)
    functions = [
        node for node in ast.walk(module) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    found: set[int] = set()
    inside: set[ast.AST] = set()
    for scope in (*functions, module):
        known = variables(scope) if scope is not module else set()
        nodes = [node for node in ast.walk(scope) if scope is not module or node not in inside]
        inside.update(nodes)
        found |= {node.lineno for node in nodes if asks(node, known)}  # type: ignore[attr-defined]
    return sorted(found)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nobody_asks_what_an_opcode_or_a_modifier_is_called(path: Path) -> None:
    assert lines(path.read_text()) == []


PLANTED = """
def function(instruction, site, table, name):
    if instruction.opcode == "ld": pass
    if site.instruction.opcode in ("red", "atom"): pass
    if "noinc" in site.instruction.modifiers: pass
    if instruction.modifiers[:1] == ("arrive",): pass
    if any(word in ("wait", "commit") for word in instruction.modifiers): pass
    if instruction.opcode.startswith("tcgen05"): pass
    if name.startswith(instruction.opcode): pass
    if set(instruction.modifiers) & {"cta"} != set(): pass
    table[instruction.opcode]
    table.get(instruction.spelling)
    match instruction.opcode:
        case "ld": pass
    called = instruction.opcode
    if called != "st": pass
    for modifier in instruction.modifiers:
        if modifier == "relaxed": pass
    if (head := instruction.spelling.split(".")[0]) == "cp": pass
"""
ALLOWED = """
@operation("ex2")
def function(form, site, instruction, table):
    if "stores" in site.row.traits: pass
    if form["shape"] is Shape.P4X256B: pass
    if form.the(Rounding) == Rounding.RN: pass
    if instruction.match is None: pass
    said = f"`{instruction.spelling}` at {site.where}"
    name = instruction.opcode
    table[said] = name
"""


def test_each_way_to_ask_is_found() -> None:
    expected = [
        number
        for number, line in enumerate(PLANTED.split("\n"), 1)
        if line.startswith(("    if ", "        if ", "    table", "    match "))
    ]
    assert lines(PLANTED) == expected
    assert lines(ALLOWED) == []
