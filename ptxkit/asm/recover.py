"""Where to read on after a syntax error.

After an error the rest of the statement is skipped, up to its `;` or to what plainly begins another; what
was skipped stays in the tree as `Malformed`, so that the file is still written back as it was. A missing
`;` or `}` costs nothing of what follows.
"""

from __future__ import annotations

from ptxkit.asm._grammar import KEYWORDS, KINDS
from ptxkit.asm.lexer import END, LABEL_AHEAD, SOURCE_BEGIN, SOURCE_CLOSED, TRIVIA, UNKNOWN
from ptxkit.asm.parser import Parser
from ptxkit.asm.states import ACTIONS, HEADER, ITEMS, LISTS
from ptxkit.asm.syntax_errors import (
    NAMES,
    accepts,
    expected,
    joined,
    report,
    report_malformed,
    report_unexpected,
    shown,
)
from ptxkit.asm.tree import Block, Function, Malformed
from ptxkit.diagnostics import SpanLabel

_MODULE_ONLY = {
    KINDS[name]
    for name in "ENTRY SECTION METADATA_SECTION SOURCES_SECTION VERSION ADDRESS_SIZE FILE ALIAS".split()
}
"""What can only stand at module scope, so that in a body it says that a `}` is missing."""
_STARTERS = _MODULE_ONLY | {
    KINDS[name]
    for name in (
        "@ FUNC LINKAGE SPACE LOC PRAGMA TARGET TARGETS CALLPROTOTYPE CODE_BLOCK DOTTED QUALIFIED CALL"
    ).split()
}
"""What begins a statement where it is the first on its line."""
MAX_BLOCKS = 200
"""Deepest nesting of blocks."""


def recover(parser: Parser, kind: str, text: str, trivia: str, start: int) -> None:
    """Report that this token cannot follow, and leave the parser where it can read on."""
    if parser.tokens and "\n" in trivia and accepts(parser.states, END):
        parser.feed(END, "", "", start)
    state = parser.states[-1]
    if kind == END:
        _end_of_file(parser)
    elif text.startswith("/*"):
        _unterminated_comment(parser, kind, text, trivia, start)
    elif text == SOURCE_BEGIN and KINDS["CODE_BLOCK"] in parser.kinds:
        _broken_source(parser, start)
    elif kind not in (";", "}") and _is_cut_off(parser, text, start):
        while kind != END:
            parser.take(kind, text, trivia, start)
            kind, text, trivia, start = parser.next()
        _end_of_file(parser)
    elif state == HEADER:
        report_unexpected(parser, kind, text, start)
        _skip_header(parser)
    elif _inside(parser) and (kind in _MODULE_ONLY or (kind == "{" and KINDS["FUNC"] in parser.kinds)):
        _missing_brace(parser, start, text)
    elif kind == UNKNOWN:
        report_malformed(parser, text, start)
        _skip_header(parser) if _in_header(parser) else _skip(parser)
    elif parser.tokens and ("\n" in trivia or kind == "}") and accepts(parser.states, ";"):
        _missing_semicolon(parser)
    elif kind == "}" and state == ITEMS:
        report(parser, "P106", "unmatched `}`: no `{` is open here", start, start + 1)
        parser.take(kind, text, trivia, start)
        _keep_malformed(parser)
    elif _outside(parser, kind):
        report(
            parser,
            "P107",
            f"expected a directive at module scope, found `{shown(text)}`",
            start,
            start + len(text),
            help="instructions and labels belong inside the `{ }` of an `.entry` or a `.func`",
        )
        _skip_to_item(parser)
    else:
        report_unexpected(parser, kind, text, start)
        _skip_header(parser) if _in_header(parser) else _skip(parser)


def skip_too_deep(parser: Parser) -> None:
    """Skip a block that is nested deeper than anything reads."""
    _, _, _, start = parser.next()
    report(
        parser,
        "P108",
        "blocks are nested too deep",
        start,
        start + 1,
        help=f"{MAX_BLOCKS} levels are read; move the inner ones out",
    )
    depth = 0
    while True:
        kind, text, trivia, start = parser.next()
        if kind == END:
            break
        parser.take(kind, text, trivia, start)
        depth += (kind == "{") - (kind == "}")
        if depth == 0:
            break
    _keep_malformed(parser)


def _unterminated_comment(parser: Parser, kind: str, text: str, trivia: str, start: int) -> None:
    """The rest of the file is a comment: one report, whatever else it leaves open."""
    report(parser, "P104", "expected `*/`, found the end of the file", start, start + 2, "close the comment")
    parser.take(kind, text, trivia, start)
    _end_here(parser)


def _broken_source(parser: Parser, start: int) -> None:
    """`.source_begin` is not alone in its line, or no `.source_end` is (11.5.6)."""
    end = start + len(SOURCE_BEGIN)
    behind = parser.text[end:].split("\n", 1)[0]
    if behind.strip(" \t"):
        found = f"`{shown(behind.strip())}`" if behind.strip() else "a carriage return"
        message = f"expected the end of the line after `.source_begin`, found {found}"
        report(parser, "P101", message, start, end, help="begin the source in the next line")
    else:
        message = "expected a line with nothing but `.source_end`, found the end of the file"
        report(parser, "P104", message, start, end, help="end the source with such a line")
    closing = SOURCE_CLOSED.search(parser.text, end)
    text = parser.text[start : closing.end() if closing else len(parser.text)]
    parser.take(UNKNOWN, text, parser.text[parser.position : start], start)
    if closing:
        _skip(parser)
    else:
        _end_here(parser)


# ---- where to read on


def _inside(parser: Parser) -> bool:
    """Whether the statement being read is in the braces of a function."""
    return _list_index(parser) > 1


def _is_cut_off(parser: Parser, text: str, start: int) -> bool:
    """Whether this token is what is left of a longer one, or of a longer statement, where the file ends."""
    end = start + len(text)
    if text == ":" and parser.text.startswith(":", end):
        end += 1
    trivia = TRIVIA.match(parser.text, end)
    if trivia is None or trivia.end() != len(parser.text):
        return False
    if parser.tokens or _inside(parser):
        return True
    starts = (word for word, kind in KEYWORDS.items() if kind in ACTIONS[ITEMS])
    return text == "/" or any(word.startswith(text) for word in starts)


def _list_index(parser: Parser) -> int:
    """Where in the stack of states the innermost list of statements is."""
    return next(i for i in range(len(parser.states) - 1, -1, -1) if parser.states[i] in LISTS)


def _in_header(parser: Parser) -> bool:
    """Whether the tokens so far begin a function at module scope."""
    return not _inside(parser) and any(kind in parser.kinds for kind in (KINDS["ENTRY"], KINDS["FUNC"]))


def _outside(parser: Parser, kind: str) -> bool:
    """Whether an instruction or a label is at module scope."""
    return parser.states[-1] == ITEMS and (
        kind in NAMES or kind in "@{" or kind in (KINDS["DOTTED"], KINDS["QUALIFIED"], KINDS["CALL"])
    )


def _drop(parser: Parser) -> None:
    """Forget what the machine has of the current statement."""
    index = _list_index(parser)
    del parser.states[index + 1 :]
    del parser.values[index:]


def _keep_malformed(parser: Parser) -> Malformed | None:
    """Put the tokens of the current statement into the tree as they are."""
    _drop(parser)
    if not parser.tokens:
        return None
    span = parser.here()(0, len(parser.tokens) - 1)
    node = Malformed(tuple(parser.tokens), span=span, layout=tuple(parser.trivia))
    parser.values[-1].append(node)
    parser.begin()
    return node


def _missing_semicolon(parser: Parser) -> None:
    end = parser.starts[-1] + len(parser.tokens[-1])
    report(
        parser,
        "P102",
        f"expected `;` after `{shown(parser.tokens[-1])}`",
        end,
        end + 1,
        help="end the statement with `;`",
    )
    _keep_malformed(parser)


def _missing_brace(parser: Parser, start: int, text: str) -> None:
    """A function begins inside another: close what is open and read the function again."""
    if parser.tokens:
        start, text = parser.starts[0], parser.tokens[0]
        parser.position = start - len(parser.trivia[0])
        parser.begin()
    _drop(parser)
    report(
        parser,
        "P105",
        f"expected `}}` before `{shown(text)}`",
        start,
        start + len(text),
        help="close the function above it",
        labels=_opened(parser),
    )
    _close_all(parser)


def _opened(parser: Parser) -> tuple[SpanLabel, ...]:
    for value in reversed(parser.values):
        if isinstance(value, Block):
            return (SpanLabel(value.span, "opened here"),)  # type: ignore[arg-type]
    return ()


def _end_of_file(parser: Parser) -> None:
    """The file ends inside a statement or a block: one report for all of it."""
    if parser.tokens or not _inside(parser):
        words = expected(parser.states, parser.kinds)
        message = f"expected {joined(words)}, found the end of the file"
    else:
        message = "expected `}`, found the end of the file"
    end = len(parser.text.rstrip())
    function = next((v for v in parser.values if isinstance(v, Function)), None)
    report(
        parser,
        "P105",
        message,
        max(0, end - 1),
        end,
        help=f"`.{function.kind} {function.name}` is not complete; is the file truncated?"
        if function
        else "is the file truncated?",
        labels=_opened(parser),
    )
    _end_here(parser)


def _end_here(parser: Parser) -> None:
    """Keep what has been read of the statement at the end of the file, and close what is open."""
    parser.complete = False
    _keep_malformed(parser)
    _close_all(parser)


def _close_all(parser: Parser) -> None:
    """Close every open block as if its `}` stood here."""
    while parser.states[-1] != ITEMS:
        parser.close_unwritten()


def _skip(parser: Parser) -> None:
    """Skip the rest of a statement."""
    depth = parser.kinds.count("{") - parser.kinds.count("}")
    while True:
        kind, text, trivia, start = parser.next()
        first = "\n" in trivia and bool(parser.tokens)
        if kind == END or (kind == "}" and depth <= 0 and (parser.tokens or _inside(parser))):
            break
        if (
            first
            and depth <= 0
            and (kind in _STARTERS or kind == "{" or LABEL_AHEAD.match(parser.text, start))
        ):
            break
        parser.take(kind, text, trivia, start)
        depth += (kind == "{") - (kind == "}")
        if kind == ";":
            break
    _keep_malformed(parser)


def _skip_header(parser: Parser) -> None:
    """Skip the rest of a function's header; its body is read all the same."""
    while True:
        kind, text, trivia, start = parser.next()
        if kind == "{":
            node = _keep_malformed(parser)
            if node is not None:
                parser.values[-1].pop()
                parser.values.append(node)
                parser.states.append(HEADER)
            return
        if kind in (END, "}") or ("\n" in trivia and kind in _MODULE_ONLY):
            break
        parser.take(kind, text, trivia, start)
        if kind == ";":
            break
    _keep_malformed(parser)


def _skip_to_item(parser: Parser) -> None:
    """Skip what stands outside of any function, up to the next directive."""
    depth = 0
    while True:
        kind, text, trivia, start = parser.next()
        if kind == END or (depth <= 0 and text.startswith(".") and kind in ACTIONS[ITEMS] and "\n" in trivia):
            break
        parser.take(kind, text, trivia, start)
        depth += (kind == "{") - (kind == "}")
        if depth < 0:
            break
    _keep_malformed(parser)
