"""Tokens of PTX text. Manual sections 4.1, 4.2 and 4.4, and what ptxas 13.0 makes of them.

The terminals are those of `ptx.lark`. White space is blank, tab, carriage return, line feed, form
feed and the end-of-file mark of DOS; only a line feed ends a line and a `//` comment. A line marker of a
preprocessor (`# 12 "file.cu"`) and a byte-order mark at the start are trivia like comments.

A kind is one character. A one-character literal is its own kind; other terminals have a letter (`KINDS`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptxkit.asm._grammar import KEYWORDS, KINDS, LITERALS, PATTERNS

END = "$"
"""The kind of the end of the text."""
UNKNOWN = "\x00"
"""The kind of what no terminal matches: a malformed number, a lone quote, a stray character."""

_literals = "|".join(re.escape(literal) for literal in LITERALS)
_identifier = r"(?:[A-Za-z][\w$]*|[_$%][\w$]+|_)"
_dotted = r"\.[\w$]+(?:::\d+:\d+|::[\w$]+)*"

TOKEN = re.compile(
    "|".join(f"(?P<{name}>{pattern})" for name, pattern in PATTERNS.items())
    + f'|(?P<bad>/\\*.*|\\d[\\w$.]*|"[^"\\n]*|@@DWARF[^\\n]*)|(?P<literal>{_literals})|(?P<stray>.)',
    re.ASCII | re.DOTALL,
)
WHITE = " \t\r\n\f\x1a"
_blank = f"[{WHITE}]*"
COMMENT = r"//[^\n]*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/"
"""The pattern of a comment."""
_line_marker = r"(?<![^\n])#[ \t]*\d[^\n]*"
_byte_order_mark = r"(?<![\s\S])\ufeff"
TRIVIA = re.compile(rf"{_blank}(?:(?:{COMMENT}|{_line_marker}|{_byte_order_mark}){_blank})*")
PLAIN_STATEMENT = re.compile(rf'((?>{TRIVIA.pattern}))([^;"/#]*;)')
"""A statement without comments, strings or line markers inside, with the trivia before it: the fast path.
The trivia group is atomic, so a failed match doesn't backtrack into a comment."""
PIECES = re.compile(
    rf"({_identifier}(?:{_dotted})*|0[xX][\w$.]*|\d[\w$.]*(?:(?<=[eE])[+-]\d+)?|\.\d+[eE][+-]\d+|{_dotted}"
    rf"|{_literals}|[^{WHITE}])",
    re.ASCII,
)
"""Splits such a statement at its tokens. Coarser than `TOKEN` where a token is malformed, and only there."""
_REGISTER = re.compile(r"%[\w$]+", re.ASCII)
_NAME = KINDS["NAME"]
LITERALS_AHEAD = re.compile(rf"(?:{_blank}\d[\w$.]*{_blank},){{256,4096}}", re.ASCII)
"""Literals of a long initializer, each with its comma."""
PREPROCESSOR_LINE = re.compile(r"^[ \t]*#[ \t]*(?:[A-Za-z_]|\r?$)", re.MULTILINE)
"""A line for the preprocessor (4.1): any that begins with `#` and is not a line marker."""
SOURCE_BEGIN, SOURCE_END = ".source_begin", ".source_end"
"""What a source of another language stands between (11.5.6)."""
SOURCE_CLOSED = re.compile(rf"^[ \t]*\{SOURCE_END}", re.MULTILINE)
"""What looks like the end of a source."""
LABEL_AHEAD = re.compile(rf"{_identifier}{_blank}:(?!:)", re.ASCII)


class KindCache(dict[str, str]):
    """Token text -> kind, one character, by the terminals of the grammar."""

    def __missing__(self, text: str) -> str:
        if _REGISTER.fullmatch(text):
            kind = _NAME
        else:
            match = TOKEN.fullmatch(text)
            kind = kind_of(match) if match else UNKNOWN
        self[text] = kind
        return kind


def outside_comments(text: str) -> Iterator[re.Match[str]]:
    """The strings of a text, and the sources of other languages in it (group `source`), broken ones too."""
    source = rf"\{SOURCE_BEGIN}\b[^\n]*\n(?:(?![ \t]*\{SOURCE_END})[^\n]*\n)*"
    literal = f"(?P<string>{PATTERNS['STRING']})|(?P<source>{source})"
    return (match for match in re.finditer(f"{COMMENT}|{literal}", text) if match.lastgroup)


def source_lines(text: str) -> Iterator[tuple[int, int]]:
    """Where the lines of each source of another language begin and end: offsets behind line ends."""
    if SOURCE_BEGIN in text:
        for match in outside_comments(text):
            if match["source"]:
                yield text.index("\n", match.start()) + 1, match.end()


def without_sources(text: str) -> str:
    """The text, every line of a source of another language empty."""
    parts, end = [], 0
    for first, last in source_lines(text):
        parts += [text[end:first], "\n" * text.count("\n", first, last)]
        end = last
    return "".join([*parts, text[end:]])


def kind_of(match: re.Match[str]) -> str:
    """The kind of what `TOKEN` has matched."""
    group = match.lastgroup or "stray"
    if group in KINDS:
        return KEYWORDS.get(match[0]) or KINDS[group]
    return KINDS[match[0]] if group == "literal" else UNKNOWN
