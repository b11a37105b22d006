"""Colours for PTX in documents: a lexer for Pygments, which finds it as `ptxkit`.

Pygments has a lexer called `ptx` that knows no `::` and no `@`. This one knows what the checker knows:
its words are those of the grammar and of the rows of the instruction set, and a modifier that no
instruction has is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pygments.lexer import RegexLexer, bygroups
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Text

from ptxkit.asm._grammar import KEYWORDS, KINDS
from ptxkit.dtypes import DTYPES
from ptxkit.isa import registry
from ptxkit.isa.special_registers import SPECIAL_REGISTERS


def _words(found: Iterable[str]) -> str:
    """An alternative of words, the longest first, none of them the beginning of a longer word."""
    ordered = sorted(set(found), key=lambda word: (-len(word), word))
    return "(?:" + "|".join(re.escape(word) for word in ordered) + r")(?![\w$]|::)"


def _of(kind: str) -> list[str]:
    return [word for word, number in KEYWORDS.items() if word.startswith(".") and number == KINDS[kind]]


_SPACES = _of("SPACE")
_TYPES = _of("TYPE") + [f".{name}" for name in DTYPES if re.fullmatch(r"\w+", name)]
_MODIFIERS = {f".{m}" for opcode in registry.opcodes() for f in registry.forms(opcode) for m in f.modifiers}
_DIRECTIVES = [
    word for word in KEYWORDS if word.startswith(".") and word not in {*_SPACES, *_TYPES, *_MODIFIERS}
]
_NAME = r"(?:[A-Za-z][\w$]*|[_$%][\w$]+)"


class PtxLexer(RegexLexer):
    """PTX, as the rows of `ptxkit.isa` have it."""

    name = "PTX (ptxkit)"
    aliases = ["ptxkit"]
    filenames = ["*.ptx"]
    flags = re.MULTILINE

    tokens = {
        "root": [
            (r"\s+", Text),
            (r"//.*$", Comment.Single),
            (r"/\*[\s\S]*?\*/", Comment.Multiline),
            (r"^#.*$", Comment.Preproc),
            (r'"[^"\n]*"', String),
            (rf"({_NAME})(\s*)(:)(?!:)", bygroups(Name.Label, Text, Punctuation)),
            (rf"(@)(!?)({_NAME})", bygroups(Operator, Operator, Name.Decorator)),
            (_words([*_SPACES, *(m for m in _MODIFIERS if m.split("::")[0] in _SPACES)]), Keyword.Type),
            (_words(_TYPES), Keyword.Type),
            (_words(_DIRECTIVES), Keyword.Declaration),
            (_words(_MODIFIERS), Name.Attribute),
            (_words(registry.opcodes()), Keyword),
            (r"0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|0[xX][0-9a-fA-F]+U?|0[bB][01]+U?", Number.Hex),
            (r"\d+\.\d*(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+", Number.Float),
            (r"\d+U?", Number.Integer),
            (rf"{_words(SPECIAL_REGISTERS)}(?:\.[xyzw])?", Name.Builtin),
            (r"(%[\w$]+)(\.(?:[xyzwrgba]|[bh]\d{1,4})\b)?", bygroups(Name.Variable, Name.Attribute)),
            (rf"{_NAME}|_", Name),
            (r"\.(?:[xyzwrgba]|unified)\b", Name.Attribute),
            (r"\.[A-Z][A-Z\d_]*\b", Name.Constant),  # a macro in the place of a modifier
            (r"\.[\w$]+(?:::\d+:\d+|::[\w$]+)*", Error),
            (r"##|\\$|[-+*/|&^~!=<>?]", Operator),
            (r"[\[\](){},;:.]", Punctuation),
        ]
    }  # fmt: skip
