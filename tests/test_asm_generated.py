"""Properties of parse and write over generated trees, odd layouts and damaged files."""

from __future__ import annotations

import random
import re

import pytest
from asm_corpus import FILES, read
from asm_trees import NODES, modules
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

import ptxkit
from ptxkit.asm.lexer import LITERALS, TOKEN, TRIVIA
from ptxkit.asm.tree import Malformed, Module, Node, walk
from ptxkit.diagnostics import render_text
from tools.fuzz import DEBRIS

calm = settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # a deep tree takes minutes to shrink
)


class Case:
    """A generated module; it shows as its text, for the builds of a deep tree take forever to print."""

    def __init__(self, module: Module) -> None:
        self.module = module

    def __repr__(self) -> str:
        return repr(ptxkit.write(self.module))


cases = modules.map(Case)


def _kinds(module: Module) -> set[type]:
    kinds = set()
    found: list[object] = [module.statements]
    while found:
        node = found.pop()
        if isinstance(node, Node):
            kinds.add(type(node))
            found += [getattr(node, name) for name in node.__dataclass_fields__]
        elif isinstance(node, list | tuple):
            found += node
    return kinds


@pytest.mark.long
def test_what_is_written_parses_to_the_same_tree() -> None:
    seen: set[type] = set()

    @settings(calm, max_examples=100)
    @given(cases)
    def holds(case: Case) -> None:
        seen.update(_kinds(case.module))
        for canonical in (False, True):
            text = ptxkit.write(case.module, canonical=canonical) + "\n"
            again = ptxkit.parse(text)
            assert not again.diagnostics, render_text(again.diagnostics)
            assert again == case.module
            assert ptxkit.write(again) == text
        assert ptxkit.write(again, canonical=True) + "\n" == text

    holds()
    rare = settings(calm, max_examples=5000)
    for kind in set(NODES) - seen:
        found = find(cases, lambda case: kind in _kinds(case.module), settings=rare)  # noqa: B023
        assert kind in _kinds(found.module)


# ---- layouts

_BLANK = ["", " ", "\t", "\n", "\r\n", "\r", "\f", "  \n\n "]
_COMMENT = [
    "/* c */",
    "/**/",
    " // c\n",
    "//;\r\n",
    "\n// ret;\n\n",
    "/* ; \n } */",
    '\n# 1 "a.cu"\n',
    "/***/ // { \n",
]


def tokens_of(text: str) -> list[str]:
    """The tokens of a text without errors."""
    found = []
    position = 0
    while True:
        trivia = TRIVIA.match(text, position)
        assert trivia is not None
        match = TOKEN.match(text, trivia.end())
        if match is None:
            return found
        found.append(match[0])
        position = match.end()


def _apart(left: str, right: str) -> bool:
    """Whether these tokens must not touch, on the safe side."""
    word = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%."
    return (left[-1:] in word and right[:1] in word) or left[-1:] + right[:1] in (*LITERALS, "/*", "//")


def laid_out(module: Module, draw: random.Random) -> str:
    """A text of a module with odd white space and comments everywhere."""

    def space() -> str:
        return "".join(draw.choices(_BLANK + _COMMENT, k=draw.randrange(3)))

    out = [space()]
    previous = ""
    for token in tokens_of(ptxkit.write(module)):
        pieces = [token]
        if "." in token[1:] and token[0] not in '.0123456789"' and draw.random() < 0.2:
            first, *rest = token.split(".")
            if not any(
                re.match(r"\d+([eE]\d+)?(?![\w$])", piece) for piece in rest
            ):  # `.5` alone is a number
                pieces = [first, *(f".{piece}" for piece in rest)]
        for piece in pieces:
            between = space() if previous else ""
            if _apart(previous, between or piece):
                between = f" {between}"
            out += [between, piece]
            previous = piece
    return "".join([*out, space(), "\n"])


@pytest.mark.long
@calm
@given(cases, st.integers(0, 2**32))
def test_odd_layouts_are_read_and_written_back(case: Case, seed: int) -> None:
    module = case.module
    text = laid_out(module, random.Random(seed))
    found = ptxkit.parse(text)
    assert not found.diagnostics, render_text(found.diagnostics)
    assert found == module
    found.source = None
    assert ptxkit.write(found) == text
    canonical = ptxkit.write(found, canonical=True) or "\n"
    again = ptxkit.parse(canonical)
    assert again == module, canonical
    assert (ptxkit.write(again, canonical=True) or "\n") == canonical


# ---- damage


def damaged(draw: random.Random, text: str) -> str:
    """A piece of a text with a few things lost, doubled, swapped or added."""
    start = draw.randrange(len(text))
    piece = text[start : start + draw.choice([200, 1000, 4000])]
    parts = tokens_of(piece) if draw.random() < 0.5 else list(piece)
    gap = " " if parts and len(parts[0]) > 1 else ""
    for _ in range(draw.choice([1, 1, 2, 5, 30])):
        at, other = draw.randrange(len(parts) + 1), draw.randrange(len(parts) + 1)
        action = draw.randrange(5)
        if action == 0:
            del parts[at : at + draw.choice([1, 1, 10])]
        elif action == 1:
            parts[at:at] = parts[other : other + draw.choice([1, 1, 10])]
        elif action == 2:
            parts.insert(at, draw.choice(DEBRIS))
        elif action == 3:
            parts[at : at + 1] = [draw.choice(DEBRIS)]
        else:
            del parts[at:]
    return gap.join(parts) + "\n"


def _survives(text: str) -> None:
    module = ptxkit.parse(text)
    source = module.source
    made = source is not None and source.made
    if made and not module.complete:  # What the preprocessor refuses is not parsed.
        assert any(d.is_error for d in module.diagnostics)
        return
    assert ptxkit.write(module) == (source.text if made else text)
    broken = any(isinstance(statement, Malformed) for statement in walk(module.statements))
    assert not broken or any(d.is_error for d in module.diagnostics)
    canonical = ptxkit.write(module, canonical=True) or "\n"
    if not any(d.is_error for d in module.diagnostics):
        assert ptxkit.parse(canonical) == module


def _damage(count: int, seed: int) -> None:
    draw = random.Random(seed)
    texts = [read(path) for path in FILES]
    for _ in range(count):
        text = damaged(draw, draw.choice(texts))
        try:
            _survives(text)
        except BaseException:
            print(repr(text))
            raise


def test_damaged_files_end_in_diagnostics() -> None:
    _damage(600, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 10))
def test_many_damaged_files_end_in_diagnostics(seed: int) -> None:
    _damage(5000, seed)


@calm
@given(st.text(alphabet="".join(DEBRIS[:40]) + "rxét019", max_size=80))
def test_any_text_ends_in_diagnostics(text: str) -> None:
    _survives(text + "\n")
