"""`ptx.lark` and the tables made from it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import lark
import pytest
from asm_corpus import each_file, each_small_file, read

from ptxkit.asm import _grammar
from ptxkit.asm.lexer import KINDS, PIECES, TOKEN, TRIVIA, UNKNOWN, KindCache, kind_of

ROOT = Path(__file__).resolve().parent.parent
GRAMMAR = (ROOT / "ptxkit" / "asm" / "ptx.lark").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_grammar", ROOT / "tools" / "build_grammar.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def reference() -> lark.Lark:
    """Lark's own lexer and parser on the same grammar, blanks and comments left out."""
    ignore = r"%ignore /([ \t\r\n\f]|\/\/[^\n]*|\/\*(.|\n)*?\*\/)+/"
    return lark.Lark(f"{GRAMMAR}\n{ignore}\n", parser="lalr", lexer="basic", start="module")


def test_tables_are_those_of_the_grammar(builder: ModuleType) -> None:
    found = builder.tables(GRAMMAR)
    for name, value in found.items():
        assert getattr(_grammar, name) == value, f"{name} is stale: run tools/build_grammar.py"


def test_an_ambiguous_grammar_is_refused(builder: ModuleType) -> None:
    with pytest.raises((SystemExit, lark.exceptions.GrammarError)):
        builder.tables("module: a | b\na: NAME\nb: NAME\nNAME: /x(?![y])/\n")


@each_small_file
def test_lark_reads_the_corpus_with_it(reference: lark.Lark, path: Path) -> None:
    reference.parse(read(path))


@each_file
def test_pieces_of_a_statement_are_its_tokens(path: Path) -> None:
    kinds = KindCache()
    for line in read(path).splitlines():
        chunk = line.split("//")[0]
        if "/" in chunk or '"' in chunk:
            continue
        _compare(chunk, kinds)


@pytest.mark.parametrize(
    "chunk",
    [
        "a.b::c .5 5. 1e3 1.5e-3 .5e+3 0x1e+3 0x1F 0f3F800000 0d3FF0000000000000 10 % 3 a<<3 a >>b",
        "x::y z .w .2d .16x256b.x1 tcgen05.ld.16x256b %tid.x %tid .x _ _x $a @!%p a|b [a+-4] {a,b}",
        "a&&b||c^~d==e!=f<=g>=h?i:j call call.uni calls generic generic.x WARP_SZ",
    ],
)
def test_pieces_of_odd_text_are_its_tokens(chunk: str) -> None:
    assert _compare(chunk, KindCache())


@pytest.mark.parametrize(
    "chunk", ["z. x", "mov. b32", "08", "1.5f", "4.u32", "0f3F8", "a@@b.", "x $ y", "1_000"]
)
def test_pieces_of_malformed_text_have_no_kind(chunk: str) -> None:
    kinds = KindCache()
    assert UNKNOWN in [kinds[piece] for piece in PIECES.split(chunk)[1::2]]


def _compare(chunk: str, kinds: KindCache) -> bool:
    """Whether every piece has a kind; if so the pieces must be the tokens."""
    pieces = PIECES.split(chunk)[1::2]
    if any(kinds[piece] == UNKNOWN for piece in pieces):
        return False
    tokens = []
    position = 0
    while True:
        trivia = TRIVIA.match(chunk, position)
        assert trivia is not None
        match = TOKEN.match(chunk, trivia.end())
        if match is None:
            break
        tokens.append((match[0], kind_of(match)))
        position = match.end()
    assert [(piece, kinds[piece]) for piece in pieces] == tokens
    return True


def test_every_kind_is_one_character_of_its_own() -> None:
    assert all(len(kind) == 1 for kind in KINDS.values())
    assert len(set(KINDS.values())) == len(KINDS)
