"""Hypothesis strategies of syntax trees: every node, every statement, as the parser would give them."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from ptxkit.asm.tree import (
    Address,
    Arguments,
    Binary,
    Block,
    Conditional,
    Constant,
    Declarator,
    Directive,
    Element,
    Float,
    Function,
    Generic,
    Guard,
    Instruction,
    Integer,
    Label,
    Module,
    Name,
    Pair,
    Parenthesized,
    Prototype,
    Section,
    String,
    Unary,
    Variable,
    Vector,
)


def pick(*strategies: Any) -> Any:
    """One of the strategies, each as likely as another, however many branches it has."""
    return st.sampled_from(strategies).flatmap(lambda chosen: chosen)


WORDS = {"WARP_SZ", "function_name", "inlined_at"}
LEVELS = ["||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %"]

_LETTERS = "abcdxyzABXfFeEuU"
_FOLLOW = f"{_LETTERS}0123456789_$"


def _pool(seed: int, count: int, make: Callable[[random.Random], str]) -> list[str]:
    """Words to choose from: drawing one is one choice, which keeps a tree cheap to generate."""
    draw = random.Random(seed)
    return sorted({make(draw) for _ in range(count)} - WORDS)


def _word(draw: random.Random, least: int, most: int) -> str:
    return "".join(draw.choices(_FOLLOW, k=draw.randint(least, most)))


NAMES = [
    *("%r1", "%rd12", "smem", "call", "generic", "_", "$L__BB0_1", "call2", "generics"),
    *_pool(1, 24, lambda draw: draw.choice(_LETTERS) + _word(draw, 0, 5)),
    *_pool(2, 24, lambda draw: draw.choice("_$%") + _word(draw, 1, 5)),
]
MODIFIERS = [
    *("u32", "shared::cta", "v4", "2d", "16x256b", "4X", "weak", "reg", "L1::evict_last", "tile::gather4"),
    *_pool(3, 24, lambda draw: "::".join(_word(draw, 1, 4) for _ in range(draw.randint(1, 3)))),
]
identifiers = st.sampled_from(NAMES)
opcodes = st.sampled_from([name for name in NAMES if name not in ("call", "generic", "_")])
modifiers = st.sampled_from(MODIFIERS)
types = st.sampled_from("b8 b16 b32 b64 b128 u8 s32 u64 f16 f16x2 f32 f64 pred texref".split())
spaces = st.sampled_from("reg global const local param shared tex".split())


def _spelled(value: int, base: str) -> Integer:
    text = {
        "x": f"0x{value:x}",
        "X": f"0X{value:X}U",
        "b": f"0b{value:b}",
        "o": f"0{value:o}",
        "U": f"{value}U",
    }[base]
    return Integer(value, text)


integers = st.one_of(
    st.integers(0, 2**64 - 1).map(Integer),
    st.builds(_spelled, st.integers(0, 2**64 - 1), st.sampled_from("xXboU")),
)
sizes = st.one_of(
    st.integers(0, 4096),
    st.integers(0, 4096).map(lambda n: Constant(n, f"0x{n:x}")),
    st.just(Constant(32, "WARP_SZ")),
)
dimensions = st.one_of(
    st.lists(sizes, max_size=3).map(tuple), st.lists(sizes, max_size=2).map(lambda found: (None, *found))
)
numbers = st.one_of(
    st.integers(0, 4096), st.integers(0, 4096).map(lambda n: Constant(n, f"{n}U" if n else "0U"))
)
names = st.one_of(
    st.builds(Name, identifiers),
    st.builds(
        Name,
        st.sampled_from([name for name in NAMES if name != "_"]),
        st.sampled_from(["x", "b0", "b3210", "h1", "0", "a1b2"]),
    ),
)
plain_names = st.builds(Name, identifiers)
doubles = st.builds(Float, st.integers(0, 2**64 - 1), st.just(64)) | st.sampled_from(
    ["1.5", "1.", ".5", "1e3", "2.5E-3"]
).map(lambda text: Float(_bits(text), 64, text))
singles = st.builds(Float, st.integers(0, 2**32 - 1), st.just(32))
strings = st.builds(String, st.text("abc ;{}/*\\'.,0$%", max_size=12))


def _bits(text: str) -> int:
    import struct

    return int.from_bytes(struct.pack(">d", float(text)))


@st.composite
def expressions(draw: Any, level: int = 0, depth: int = 3) -> Any:
    """A constant expression that binds at least as tightly as `level` of `LEVELS`."""
    choice = draw(st.integers(0, 9 if depth else 3))
    if choice <= 3:
        return draw(st.one_of(integers, doubles, st.just(Name("WARP_SZ"))))
    below = depth - 1
    if choice == 4:
        return Parenthesized(draw(expressions(0, below)))
    if choice == 5:
        return Unary(draw(st.sampled_from(["+", "-", "!", "~", "(.s64)", "(.u64)"])), draw(_unaries(below)))
    if choice == 6 and level == 0:
        return Conditional(
            draw(expressions(1, below)), draw(expressions(0, below)), draw(expressions(0, below))
        )
    at = draw(st.integers(max(level, 1), len(LEVELS)))
    operator = draw(st.sampled_from(LEVELS[at - 1].split()))
    right = draw(expressions(at + 1, below)) if at < len(LEVELS) else draw(_unaries(below))
    return Binary(operator, draw(expressions(at, below)), right)


def _unaries(depth: int) -> Any:
    return st.one_of(
        integers,
        st.builds(Parenthesized, expressions(0, depth)) if depth else integers,
        st.builds(Unary, st.sampled_from("+-!~"), integers),
    )


constants = st.one_of(expressions(), singles, st.builds(Parenthesized, singles))
values = pick(
    constants,
    names,
    st.builds(Binary, st.just("+"), names, expressions()),
    st.builds(Unary, st.sampled_from("-!"), names),
)
vectors = st.lists(values, min_size=1, max_size=8).map(lambda found: Vector(tuple(found)))
addresses = pick(
    st.builds(Address, st.one_of(expressions(), plain_names)),
    st.builds(Address, plain_names, expressions(), st.just("+")),
    st.builds(
        Address,
        plain_names,
        st.none(),
        st.none(),
        st.lists(st.one_of(names, vectors), min_size=1, max_size=3).map(tuple),
    ),
)
operands = pick(
    values,
    vectors,
    addresses,
    st.builds(Pair, names, names),
    st.builds(Element, names, st.one_of(expressions(), names)),
)
guards = st.none() | st.builds(Guard, identifiers, st.booleans())
arguments = st.lists(operands, max_size=3).map(lambda found: Arguments(tuple(found)))


@st.composite
def _calls(draw: Any) -> Instruction:
    found: list[Any] = [draw(arguments)] if draw(st.booleans()) else []
    found.append(draw(names))
    found += [draw(arguments)] if draw(st.booleans()) else []
    found += [draw(names)] if draw(st.booleans()) else []
    return Instruction("call", draw(st.sampled_from([(), ("uni",)])), tuple(found), draw(guards))


instructions = st.one_of(
    st.builds(
        Instruction,
        opcodes,
        st.lists(modifiers, max_size=4).map(tuple),
        st.lists(operands, min_size=1, max_size=4).map(tuple),
        guards,
    ),
    _calls(),
)
labels = st.builds(Label, identifiers)


def _directive(name: str, *arguments: Any) -> Any:
    return st.tuples(*arguments).map(lambda found: Directive(name, tuple(found)))


pragmas = st.lists(strings, min_size=1, max_size=2).map(lambda found: Directive("pragma", tuple(found)))
targets = st.lists(plain_names, min_size=1, max_size=3).map(lambda found: Directive("target", tuple(found)))
plain_integers = integers
debug_integers = st.one_of(plain_integers, st.builds(Unary, st.just("-"), plain_integers))
debug_names = st.one_of(plain_names, st.sampled_from([".debug_str", ".debug_loc"]).map(Name))
debug_symbols = st.one_of(debug_names, st.builds(Binary, st.just("+"), debug_names, debug_integers))
locations = st.one_of(
    _directive("loc", plain_integers, plain_integers, plain_integers),
    _directive(
        "loc",
        plain_integers,
        plain_integers,
        plain_integers,
        st.just(Name("function_name")),
        debug_symbols,
        st.just(Name("inlined_at")),
        plain_integers,
        plain_integers,
        plain_integers,
    ),
)
target_lists = st.builds(
    Directive,
    st.sampled_from(["branchtargets", "calltargets"]),
    st.lists(st.one_of(plain_names, st.builds(Declarator, identifiers, numbers)), min_size=1, max_size=3).map(
        tuple
    ),
)


# ---- declarations


@st.composite
def _initializers(draw: Any, depth: int = 2) -> Any:
    if depth and draw(st.booleans()):
        fields = st.builds(Binary, st.just("="), names, _initial_values)
        return Vector(tuple(draw(st.lists(st.one_of(_initializers(depth - 1), fields), max_size=4))))
    return draw(_initial_values)


_generics = st.builds(Generic, st.just("generic"), names)
_masked = st.one_of(
    expressions(),
    names,
    _generics,
    st.builds(Binary, st.just("+"), st.one_of(names, _generics), expressions()),
)
_initial_values = st.one_of(
    constants,
    names,
    _generics,
    st.builds(Binary, st.just("+"), st.one_of(names, _generics), expressions()),
    st.builds(Generic, integers, _masked),
)
attributes = st.lists(st.sampled_from(["managed", "unified(1, 2)", "unified(0x10, 3U)"]), max_size=2).map(
    tuple
)


@st.composite
def _variables(draw: Any, linked: bool) -> Variable:
    roles = [*draw(st.permutations(["space", "attribute", "align"])), "vector"]
    found = Variable(
        draw(spaces),
        draw(types),
        tuple(
            draw(
                st.lists(
                    st.builds(
                        Declarator,
                        identifiers,
                        st.none() | numbers,
                        dimensions,
                        st.none() | _initializers(),
                    ),
                    max_size=3,
                )
            )
        ),
        draw(st.sampled_from(["extern", "visible", "weak", "common"])) if linked else None,
        draw(st.none() | numbers),
        draw(st.sampled_from([None, "v2", "v4", "v8"])),
        None,
        draw(attributes),
    )
    found.order = (*(role for role in roles if _present(found, role)), "type")
    return found


def _present(node: Variable, role: str) -> bool:
    return {
        "space": True,
        "attribute": bool(node.attributes),
        "align": node.align is not None,
        "vector": node.vector is not None,
    }[role]


parameters = st.lists(
    st.builds(
        Variable,
        spaces,
        types,
        st.tuples(
            st.builds(
                Declarator,
                identifiers,
                st.none(),
                st.lists(st.none() | sizes, max_size=1).map(tuple),
                st.none(),
            )
        ),
        st.none(),
        st.none() | numbers,
        st.none(),
        st.none() | st.tuples(st.none() | spaces, st.none() | numbers),
    ),
    max_size=3,
).map(tuple)
entry_directives = st.lists(
    st.one_of(
        st.sampled_from(["explicitcluster", "blocksareclusters"]).map(Directive),
        st.builds(
            Directive,
            st.sampled_from(["maxnreg", "minnctapersm", "maxnctapersm", "maxclusterrank"]),
            st.tuples(plain_integers),
        ),
        st.builds(
            Directive,
            st.sampled_from(["maxntid", "reqntid", "reqnctapercluster"]),
            st.lists(plain_integers, min_size=1, max_size=3).map(tuple),
        ),
        pragmas,
    ),
    max_size=3,
).map(tuple)
func_directives = st.lists(
    st.one_of(
        st.just(Directive("noreturn")),
        st.builds(
            Directive, st.sampled_from(["abi_preserve", "abi_preserve_control"]), st.tuples(plain_integers)
        ),
    ),
    max_size=2,
).map(tuple)
linkages = st.sampled_from([None, "extern", "visible", "weak"])
parentheses = st.tuples(st.booleans(), st.booleans())
inner_prototypes = st.builds(
    Function,
    st.just("func"),
    identifiers,
    parameters,
    parameters,
    linkages,
    directives=func_directives,
    parentheses=parentheses,
)
call_prototypes = st.builds(Prototype, parameters, st.just("_"), parameters, func_directives, parentheses)

statements = st.recursive(
    pick(
        instructions,
        instructions,
        labels,
        _variables(False),
        locations,
        pragmas,
        targets,
        target_lists,
        call_prototypes,
        inner_prototypes,
    ),
    lambda inner: st.lists(inner, max_size=4).map(Block),
    max_leaves=10,
)
full_bodies = st.builds(
    lambda first, rest: Block([*first, *rest]),
    st.lists(instructions, min_size=1, max_size=5),
    st.lists(statements, max_size=5),
)
bodies = pick(st.none(), st.just(Block([])), full_bodies)
functions = pick(
    st.builds(
        Function,
        st.just("entry"),
        identifiers,
        parameters,
        st.just(()),
        linkages,
        directives=entry_directives,
        body=bodies,
        parentheses=st.tuples(st.just(False), st.booleans()),
    ),
    st.builds(
        Function,
        st.just("func"),
        identifiers,
        parameters,
        parameters,
        linkages,
        attributes,
        func_directives,
        bodies,
        parentheses,
    ),
)
section_lines = st.one_of(
    labels,
    st.builds(
        Directive,
        st.sampled_from(["b8", "b16", "b32", "b64", "4byte"]),
        st.one_of(
            st.lists(debug_integers, min_size=1, max_size=5).map(tuple),
            st.tuples(debug_symbols),
            st.tuples(st.builds(Binary, st.just("-"), plain_names, plain_names)),
        ),
    ),
)
items = pick(
    functions,
    functions,
    _variables(False),
    _variables(True),
    st.builds(
        Section,
        st.sampled_from([".debug_str", ".debug_info"]).map(lambda n: n),
        st.lists(section_lines, max_size=4),
    ),
    st.sampled_from(["9.0", "8.7"]).map(lambda version: Directive("version", (Name(version),))),
    targets,
    _directive("address_size", plain_integers),
    _directive("file", plain_integers, strings),
    _directive("file", plain_integers, strings, plain_integers, plain_integers),
    _directive("alias", plain_names, plain_names),
    pragmas,
)
modules = st.builds(
    lambda before, body, after: Module([*before, Function("entry", "k", body=body), *after]),
    st.lists(items, max_size=3),
    full_bodies,
    st.lists(items, max_size=2),
)

NODES = (
    *(
        Address,
        Arguments,
        Binary,
        Block,
        Conditional,
        Declarator,
        Directive,
        Element,
        Float,
        Function,
        Generic,
    ),
    *(Guard, Instruction, Integer, Label, Name, Pair, Parenthesized, Prototype, Section, String, Unary),
    *(Variable, Vector),
)
"""Every kind of node that the strategies make."""
