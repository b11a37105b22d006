"""What the rules of `ptx.lark` for statements and declarations build: makers (`reduce_operands.py`)."""

from __future__ import annotations

from functools import lru_cache
from sys import intern
from typing import Any

from ptxkit.asm import tree
from ptxkit.asm._grammar import KINDS
from ptxkit.asm.lexer import SOURCE_BEGIN, SOURCE_END
from ptxkit.asm.reduce_operands import Maker, OperandReducer, Spanner, StatementPart, Tokens, integer_value

USUAL_ORDER = ("space", "attribute", "align", "vector", "type")


@lru_cache(maxsize=4096)
def split_opcode(text: str) -> tuple[str, tuple[str, ...]]:
    """`ld.global.v4.u32` -> `ld`, `(global, v4, u32)`."""
    opcode, *modifiers = map(intern, text.split("."))
    return opcode, tuple(modifiers)


def constant(text: str) -> int:
    """An integer of a declaration: a plain `int` where that says how it is spelled."""
    value = 32 if text == "WARP_SZ" else integer_value(text)
    return value if str(value) == text else tree.Constant(value, text)


class Reducer(OperandReducer):
    """One method a rule, named as in the grammar, those of operands included."""

    # ---- statements of a body

    def guard(self, children: list[Any]) -> StatementPart:
        first, last = children[0], children[-1]
        negated = len(children) == 3
        return StatementPart("guard", lambda t, s: tree.Guard(intern(t[last]), negated, span=s(first, last)))

    def instruction(self, children: list[Any]) -> Maker:
        guard: Maker | None = None
        if type(children[0]) is StatementPart:
            guard, children = children[0].make, children[1:]
        opcode, last = children[0], children[-1]
        modifiers = [c for c in children[1:-1] if type(c) is int and self.kinds[c] in _MODIFIERS]
        operands = [c for c in children if type(c) is not int]

        def make(t: Tokens, s: Spanner) -> tree.Instruction:
            name, fused = split_opcode(t[opcode])
            for index in modifiers:
                fused = (*fused, intern(t[index][1:]))
            return tree.Instruction(
                name,
                fused,
                tuple([operand(t, s) for operand in operands]),
                guard(t, s) if guard else None,
                span=s(0, last),
            )

        return make

    call = instruction

    def label(self, children: list[Any]) -> Maker:
        first, last = children
        return lambda t, s: tree.Label(intern(t[first]), span=s(first, last))

    def directive(self, children: list[Any]) -> Maker:
        first = children[0]
        arguments = [
            self._argument(child) if type(child) is int else child
            for child in children[1:]
            if type(child) is not int or self.kinds[child] not in _PUNCTUATION
        ]

        def make(t: Tokens, s: Spanner) -> tree.Directive:
            last = len(t) - 1 if whole else children[-1]
            found = tuple([argument(t, s) for argument in arguments])
            return tree.Directive(t[first][1:], found, span=s(first, last))

        whole = type(children[-1]) is not int
        return make

    def _argument(self, index: int) -> Maker:
        kind = self.kinds[index]
        if kind == KINDS["INTEGER"]:
            return self.integer([index])
        if kind == KINDS["STRING"]:
            return lambda t, s: tree.String(t[index][1:-1], span=s(index, index))
        return lambda t, s: tree.Name(intern(t[index]), None, span=s(index, index))

    def string(self, children: list[Any]) -> Maker:
        return self._argument(children[0])

    def code_block(self, children: list[Any]) -> Maker:
        directive, _, _, language, _, file, source, last = children
        named, number = self._argument(language), self._argument(file)

        def make(t: Tokens, s: Spanner) -> tree.Directive:
            text = tree.String(t[source][len(SOURCE_BEGIN) : -len(SOURCE_END)], span=s(source, source))
            arguments = named(t, s), number(t, s), text
            return tree.Directive(t[directive][1:], arguments, span=s(directive, last))

        return make

    def target_label(self, children: list[Any]) -> Maker:
        first = children[0]
        if len(children) == 1:
            return self.name(children)
        count = children[1].make
        return lambda t, s: tree.Declarator(intern(t[first]), count(t, s), span=s(first, first + 3))

    def difference(self, children: list[Any]) -> Maker:
        return self.directive([children[0], self.binary(children[1:])])

    def call_prototype(self, children: list[Any]) -> Maker:
        returns, name, parameters, directives = self._signature(children[1:-1])
        last = children[-1]
        parentheses = returns is not _nothing, parameters is not _nothing
        return lambda t, s: tree.Prototype(
            returns(t, s),
            intern(t[name]),
            parameters(t, s),
            tuple([make(t, s) for make in directives]),
            parentheses,
            span=s(0, last),
        )

    # ---- declarations

    def alignment(self, children: list[Any]) -> StatementPart:
        index = children[1]
        return StatementPart("align", lambda t, s: constant(t[index]))

    def attribute(self, children: list[Any]) -> Maker:
        name = children[0]
        if len(children) == 1:
            return lambda t, s: t[name][1:]
        first, second = children[2], children[4]
        return lambda t, s: f"{t[name][1:]}({t[first]}, {t[second]})"

    def attributes(self, children: list[Any]) -> StatementPart:
        makers = [child for child in children if type(child) is not int]
        return StatementPart("attribute", lambda t, s: tuple([make(t, s) for make in makers]))

    def count(self, children: list[Any]) -> StatementPart:
        index = children[1]
        return StatementPart("count", lambda t, s: constant(t[index]))

    def unsized(self, children: list[Any]) -> StatementPart:
        return StatementPart("dimension", lambda t, s: None)

    def dimension(self, children: list[Any]) -> StatementPart:
        index = children[1]
        return StatementPart("dimension", lambda t, s: constant(t[index]))

    def declarator(self, children: list[Any]) -> StatementPart:
        return StatementPart("declarator", self._declarator(children))

    def _declarator(self, children: list[Any]) -> Maker:
        name = children[0]
        dimensions = [c.make for c in children if type(c) is StatementPart and c.role == "dimension"]
        counts = [c.make for c in children if type(c) is StatementPart and c.role == "count"]
        initializer = children[-1] if type(children[-1]) not in (int, StatementPart) else None

        def make(t: Tokens, s: Spanner) -> tree.Declarator:
            return tree.Declarator(
                intern(t[name]),
                counts[0](t, s) if counts else None,
                tuple([dimension(t, s) for dimension in dimensions]),
                initializer(t, s) if initializer else None,
                span=s(name, name),
            )

        return make

    def _specifiers(self, children: list[Any]) -> tuple[dict[str, Any], tuple[str, ...] | None]:
        """Role -> what gives it, for the specifiers before a name; and their order where it is unusual."""
        found: dict[str, Any] = {}
        for child in children:
            if type(child) is int:
                role, given = _SPECIFIERS[self.kinds[child]], child
            else:
                role, given = child.role, child.make
            if role in found:
                index = child if type(child) is int else next(c for c in children if type(c) is int)
                self.problems.append(
                    ("P101", f"a declaration has one {role} specifier, found two", index, index, "")
                )
                self.broken = True
            found[role] = given
        order = tuple(found)
        if "space" not in found:
            index = found["type"]
            self.problems.append(
                (
                    "P101",
                    "expected a state space before the type",
                    index,
                    index,
                    "start with `.reg`, `.shared`, `.global`, ..",
                )
            )
            self.broken = True
        if "vector" in found and order[order.index("vector") + 1] != "type":
            index = found["vector"]
            message = "expected the vector right before the type"
            self.problems.append(("P101", message, index, index, "write `.global .align 8 .v2 .b32 x;`"))
        usual = tuple(role for role in USUAL_ORDER if role in found)
        return found, None if order == usual else order

    def _variable(
        self, specifiers: list[Any], declarators: list[Maker], pointer: StatementPart | None
    ) -> Maker:
        found, order = self._specifiers(specifiers)
        space, kind, vector = found.get("space"), found["type"], found.get("vector")
        align, attributes = found.get("align"), found.get("attribute")

        def make(t: Tokens, s: Spanner) -> tree.Variable:
            return tree.Variable(
                t[space][1:] if space is not None else "",
                t[kind][1:],
                tuple([declarator(t, s) for declarator in declarators]),
                None,
                align(t, s) if align else None,
                t[vector][1:] if vector is not None else None,
                pointer.make(t, s) if pointer else None,
                attributes(t, s) if attributes else (),
                order,
            )

        return make

    def variable(self, children: list[Any]) -> Maker:
        last = children[-1]
        specifiers = [
            c
            for c in children
            if (type(c) is int and self.kinds[c] in _SPECIFIERS)
            or (type(c) is StatementPart and c.role in USUAL_ORDER)
        ]
        declarators = [c.make for c in children if type(c) is StatementPart and c.role == "declarator"]
        inner = self._variable(specifiers, declarators, None)

        def make(t: Tokens, s: Spanner) -> tree.Variable:
            node: tree.Variable = inner(t, s)
            node.span = s(0, last)
            return node

        return make

    def linked_variable(self, children: list[Any]) -> Maker:
        index, inner = children

        def make(t: Tokens, s: Spanner) -> tree.Variable:
            node: tree.Variable = inner(t, s)
            node.linkage = t[index][1:]
            return node

        return make

    def pointer(self, children: list[Any]) -> StatementPart:
        spaces = [c for c in children[1:] if type(c) is int]
        aligns = [c.make for c in children[1:] if type(c) is StatementPart]
        return StatementPart(
            "pointer",
            lambda t, s: (t[spaces[0]][1:] if spaces else None, aligns[0](t, s) if aligns else None),
        )

    def parameter(self, children: list[Any]) -> Maker:
        at = next(i for i, c in enumerate(children) if type(c) is int and self.kinds[c] in _NAMES)
        hidden = type(children[0]) is int and self.kinds[children[0]] == KINDS["HIDDEN"]
        specifiers = [c for c in children[hidden:at] if type(c) is int or c.role in USUAL_ORDER]
        pointers = [c for c in children[:at] if type(c) is StatementPart and c.role == "pointer"]
        name, declarator = children[at], self._declarator(children[at:])
        inner = self._variable(specifiers, [declarator], pointers[0] if pointers else None)
        ints = [c for c in children[:at] if type(c) is int]
        first = min([name, *ints])

        def make(t: Tokens, s: Spanner) -> tree.Variable:
            node: tree.Variable = inner(t, s)
            node.span = s(first, name)
            node.linkage = "hidden" if hidden else None
            return node

        return make

    def parameters(self, children: list[Any]) -> StatementPart:
        makers = [c for c in children if type(c) is not int]
        return StatementPart("parameters", lambda t, s: tuple([make(t, s) for make in makers]))

    # ---- functions

    def _signature(self, children: list[Any]) -> tuple[Maker, int, Maker, list[Maker]]:
        """Return parameters, the token of the name, parameters, directives."""
        name = next(c for c in children if type(c) is int and self.kinds[c] in _NAMES)
        at = children.index(name)
        before = [c.make for c in children[:at] if type(c) is StatementPart and c.role == "parameters"]
        after = [c.make for c in children[at:] if type(c) is StatementPart and c.role == "parameters"]
        directives = [c for c in children[at:] if type(c) not in (int, StatementPart)]
        return (before or [_nothing])[0], name, (after or [_nothing])[0], directives

    def func(self, children: list[Any]) -> Maker:
        linkage = children[0] if self.kinds[children[0]] == KINDS["LINKAGE"] else None
        keyword = children[0] if linkage is None else children[1]
        attributes = [c.make for c in children if type(c) is StatementPart and c.role == "attribute"]
        returns, name, parameters, directives = self._signature(children)
        parentheses = returns is not _nothing, parameters is not _nothing

        def make(t: Tokens, s: Spanner) -> tree.Function:
            return tree.Function(
                t[keyword][1:],
                intern(t[name]),
                parameters(t, s),
                returns(t, s),
                t[linkage][1:] if linkage is not None else None,
                attributes[0](t, s) if attributes else (),
                tuple([directive(t, s) for directive in directives]),
                parentheses=parentheses,
                span=s(0, len(t) - 1),
            )

        return make

    entry = func
    function_header = func
    inner_prototype = func


def _nothing(t: Tokens, s: Spanner) -> tuple[()]:
    return ()


_NAMES = {KINDS[name] for name in ("NAME", "SINK", "CALL", "GENERIC")}
_MODIFIERS = {KINDS[name] for name in ("WORD", "TYPE", "SPACE", "VECTOR", "LINKAGE")}
_PUNCTUATION = frozenset(",;{}()<>")
_SPECIFIERS = {KINDS["SPACE"]: "space", KINDS["TYPE"]: "type", KINDS["VECTOR"]: "vector"}
