"""Syntax errors: what to say, and where to read on.

After an error the rest of the statement is skipped, up to its `;` or to what plainly begins another; what
was skipped stays in the tree as `Malformed`, so that the file is still written back as it was. A missing
`;` or `}` costs nothing of what follows.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ptxkit.asm._grammar import KEYWORDS, KINDS
from ptxkit.asm.lexer import END, LABEL_AHEAD, TRIVIA, UNKNOWN
from ptxkit.asm.states import ACTIONS, GOTOS, HEADER, ITEMS, LISTS, RULES, STATEMENTS
from ptxkit.asm.tree import Block, Function, Malformed
from ptxkit.diagnostics import Diagnostic, Label, Span

if TYPE_CHECKING:
    from ptxkit.asm.parse import Parser

_NAME_OF = {kind: name for name, kind in KINDS.items()}

_CONSTANTS = {KINDS[name] for name in ("INTEGER", "FLOAT", "WARP_SZ", "(", "-", "~")}
_NAMES = {KINDS[name] for name in ("NAME", "SINK", "CALL", "GENERIC")}
_CLOSERS = [KINDS[name] for name in (",", ";", ")", "]", "}", ":", ">", "{")]
"""What ends something, in the order in which a message names them."""
_MODULE_ONLY = {KINDS[name] for name in ("ENTRY", "SECTION", "VERSION", "ADDRESS_SIZE", "FILE", "ALIAS")}
"""What can only stand at module scope, so that in a body it says that a `}` is missing."""
_STARTERS = _MODULE_ONLY | {
    KINDS[name]
    for name in (
        "@",
        "FUNC",
        "LINKAGE",
        "SPACE",
        "LOC",
        "PRAGMA",
        "TARGET",
        "TARGETS",
        "CALLPROTOTYPE",
        "DOTTED",
        "QUALIFIED",
        "CALL",
    )
}
"""What begins a statement where it is the first on its line."""
_PHRASES = (
    (_CONSTANTS | _NAMES, "an operand"),
    (_CONSTANTS, "a constant"),
    ({KINDS["ENTRY"], KINDS["FUNC"], KINDS["SPACE"]}, "a function or a variable"),
    (_NAMES | {KINDS["INTEGER"]}, "an integer or a label"),
    (_NAMES, "a name"),
    ({KINDS["TYPE"], KINDS["SPACE"]}, "a state space and a type"),
    ({KINDS["TYPE"]}, "a type"),
    ({KINDS["INTEGER"]}, "an integer"),
    ({KINDS["FLOAT"]}, "a version such as `9.0`"),
    ({KINDS["STRING"]}, "a string"),
    ({KINDS["WORD"]}, "a name that begins with a dot"),
)
"""Kinds that say what is expected where all of them can stand: the first that applies."""
_MAX_NAMED = 4


def recover(parser: Parser, kind: str, text: str, trivia: str, start: int) -> None:
    """Report that this token cannot follow, and leave the parser where it can read on."""
    if parser.tokens and "\n" in trivia and accepts(parser.states, END):
        parser.feed(END, "", "", start)
    state = parser.states[-1]
    if kind == END:
        _end_of_file(parser)
    elif text.startswith("/*"):
        _unterminated_comment(parser, kind, text, trivia, start)
    elif kind not in (";", "}") and _is_cut_off(parser, text, start):
        while kind != END:
            parser.take(kind, text, trivia, start)
            kind, text, trivia, start = parser.next()
        _end_of_file(parser)
    elif state == HEADER:
        _report_unexpected(parser, kind, text, start)
        _skip_header(parser)
    elif _inside(parser) and (kind in _MODULE_ONLY or (kind == "{" and KINDS["FUNC"] in parser.kinds)):
        _missing_brace(parser, start, text)
    elif kind == UNKNOWN:
        _report_malformed(parser, text, start)
        _skip_header(parser) if _in_header(parser) else _skip(parser)
    elif parser.tokens and ("\n" in trivia or kind == "}") and accepts(parser.states, ";"):
        _missing_semicolon(parser)
    elif kind == "}" and state == ITEMS:
        _report(parser, "P106", "unmatched `}`: no `{` is open here", start, start + 1)
        parser.take(kind, text, trivia, start)
        _keep_malformed(parser)
    elif _outside(parser, kind):
        _report(
            parser,
            "P107",
            f"expected a directive at module scope, found `{_shown(text)}`",
            start,
            start + len(text),
            help="instructions and labels stand inside the `{ }` of an `.entry` or a `.func`",
        )
        _skip_to_item(parser)
    else:
        _report_unexpected(parser, kind, text, start)
        _skip_header(parser) if _in_header(parser) else _skip(parser)


def too_deep(parser: Parser) -> None:
    """Skip a block that is nested deeper than anything reads."""
    _, _, _, start = parser.next()
    _report(
        parser,
        "P108",
        "blocks are nested too deep",
        start,
        start + 1,
        help="200 levels are read; move the inner ones out",
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


# ---- what the parser would take


def accepts(states: list[int], kind: str) -> bool:
    """Whether a parser with these states would shift a token of this kind."""
    stack = list(states)
    while stack[-1] != ITEMS or kind != END:
        action = ACTIONS[stack[-1]].get(kind)
        if action is None:
            return False
        if action >= 0:
            return True
        origin, _, length, _ = RULES[-1 - action]
        if length:
            del stack[-length:]
        stack.append(GOTOS[stack[-1]][origin])
    return True


def expected(states: list[int], before: list[str]) -> list[str]:
    """What a person would say can stand here, after tokens of the kinds `before` of the same statement."""
    if states[-1] == ITEMS:
        return ["a directive"]
    if states[-1] == STATEMENTS:
        return ["an instruction", "a label", "a declaration", "`}`"]
    if before and before[-1] in "(," and (KINDS["ENTRY"] in before or KINDS["FUNC"] in before):
        return ["a parameter"]
    kinds = {kind for kind in ACTIONS[states[-1]] if kind != END and accepts(states, kind)}
    if KINDS["SPACE"] in before:
        kinds.discard(KINDS["SPACE"])
    operand = next((phrase for group, phrase in _PHRASES if group <= kinds), None)
    closers = [kind for kind in _CLOSERS if kind in kinds]
    if "," not in kinds and ")" not in kinds and operand == "an operand" and closers != ["{"]:
        return [operand, *(f"`{kind}`" for kind in closers if kind != "{")]
    if closers and closers != ["{"]:
        header = ["a directive such as `.maxntid`"] if KINDS["ENTRY_EXTENT"] in kinds else []
        header = header or (["a directive such as `.noreturn`"] if KINDS["FUNC_FLAG"] in kinds else [])
        opening = ["`(`"] if header and "(" in kinds else []
        return [*opening, *(f"`{kind}`" for kind in closers), *header]
    if operand:
        return [operand]
    return [f"`{word}`" for kind in sorted(kinds) for word in _spellings(kind)]


def _spellings(kind: str) -> list[str]:
    """How a kind with few spellings is spelled: `.version`, `;`."""
    return [word for word, of in KEYWORDS.items() if of == kind] or [_NAME_OF[kind]]


# ---- reports


def _span(parser: Parser, start: int, end: int) -> Span:
    """The span of a stretch of text, cut at the end of its first line."""
    line, column = parser.place(start)
    newline = parser.text.find("\n", start, end)
    return Span(line, column, line, column + max(1, (end if newline < 0 else newline) - start))


def _report(
    parser: Parser,
    code: str,
    message: str,
    start: int,
    end: int,
    help: str | None = None,
    labels: tuple[Label, ...] = (),
) -> None:
    parser.diagnostics.append(
        Diagnostic(code, message, _span(parser, start, end), help=help, labels=labels, source=parser.source)
    )


def _shown(text: str) -> str:
    first = text.split("\n", 1)[0].rstrip("\r")
    return first if len(first) <= 40 else first[:37] + "..."


def _joined(words: list[str]) -> str:
    if len(words) > _MAX_NAMED:
        words = [*words[:_MAX_NAMED], ".."]
        return ", ".join(words)
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else "something else"


def _report_unexpected(parser: Parser, kind: str, text: str, start: int) -> None:
    words = expected(parser.states, parser.kinds)
    help = _advice(parser, kind, text)
    _report(
        parser,
        "P101",
        f"expected {_joined(words)}, found `{_shown(text)}`",
        start,
        start + len(text),
        help=help,
    )


def _advice(parser: Parser, kind: str, text: str) -> str | None:
    """A hint for the commonest slips."""
    previous = parser.kinds[-1] if parser.kinds else ""
    if previous == "," and kind in ",;)]}":
        return "remove the comma before it, or add what it separates"
    if kind == ";" and not parser.tokens:
        return "PTX has no empty statement; remove the `;`"
    if text.startswith("."):
        from difflib import get_close_matches

        known = [word for word in KEYWORDS if word.startswith(".")]
        near = get_close_matches(text, known, 1)
        if near and near[0] != text:
            return f"did you mean `{near[0]}`?"
    if (
        kind not in _CLOSERS
        and previous in _NAMES
        and accepts(parser.states, ",")
        and not accepts(parser.states, ":")
    ):
        return f"put a comma before `{_shown(text)}`"
    return None


def _report_malformed(parser: Parser, text: str, start: int) -> None:
    end = start + len(text)
    if text.startswith('"'):
        _report(parser, "P104", 'expected `"` before the end of the line', start, end, "close the string")
    elif text.startswith("@@DWARF"):
        _report(
            parser,
            "P101",
            "expected a directive, found `@@DWARF`",
            start,
            start + 7,
            "PTX 2.0 replaced `@@DWARF` by `.section`",
        )
    elif text[0].isdigit():
        _report(parser, "P103", f"malformed number `{_shown(text)}`", start, end, _number_help(text))
    else:
        name = text if text.isprintable() else f"U+{ord(text):04X}"
        help = "a line for the preprocessor begins with `#`" if text == "#" else None
        _report(parser, "P103", f"character `{name}` cannot stand here", start, end, help)


def _unterminated_comment(parser: Parser, kind: str, text: str, trivia: str, start: int) -> None:
    """The rest of the file is a comment: one report, whatever else it leaves open."""
    _report(parser, "P104", "expected `*/`, found the end of the file", start, start + 2, "close the comment")
    parser.take(kind, text, trivia, start)
    _end_here(parser)


def _number_help(text: str) -> str:
    if re.match(r"0[fF]", text):
        return "`0f` takes exactly 8 hexadecimal digits"
    if re.match(r"0[dD]", text):
        return "`0d` takes exactly 16 hexadecimal digits"
    if text[-1] == "u":
        return "the suffix is a capital `U`"
    if text[-1] in "fF" and "." in text:
        return "a floating-point literal has no suffix"
    if re.fullmatch(r"0\d+U?", text):
        return "a literal that begins with 0 is octal"
    return (
        "integers are decimal, `0x`, `0b` or octal with an optional `U`; reals are `1.5`, `1e3`, `0f` or `0d`"
    )


# ---- where to read on


def _inside(parser: Parser) -> bool:
    """Whether the statement being read stands in the braces of a function."""
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
    """Whether an instruction or a label stands at module scope."""
    return parser.states[-1] == ITEMS and (
        kind in _NAMES or kind in "@{" or kind in (KINDS["DOTTED"], KINDS["QUALIFIED"], KINDS["CALL"])
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
    _report(
        parser,
        "P102",
        f"expected `;` after `{_shown(parser.tokens[-1])}`",
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
    _report(
        parser,
        "P105",
        f"expected `}}` before `{_shown(text)}`",
        start,
        start + len(text),
        help="close the function above it",
        labels=_opened(parser),
    )
    _close_all(parser)


def _opened(parser: Parser) -> tuple[Label, ...]:
    for value in reversed(parser.values):
        if isinstance(value, Block):
            return (Label(value.span, "opened here"),)  # type: ignore[arg-type]
    return ()


def _end_of_file(parser: Parser) -> None:
    """The file ends inside a statement or a block: one report for all of it."""
    if parser.tokens or not _inside(parser):
        words = expected(parser.states, parser.kinds)
        message = f"expected {_joined(words)}, found the end of the file"
    else:
        message = "expected `}`, found the end of the file"
    end = len(parser.text.rstrip())
    function = next((v for v in parser.values if isinstance(v, Function)), None)
    _report(
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
