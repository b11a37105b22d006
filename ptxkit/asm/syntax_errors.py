"""What a syntax error says: what was expected, what was found, and what to do."""

from __future__ import annotations

import re

from ptxkit.asm._grammar import KEYWORDS, KINDS
from ptxkit.asm.lexer import END, outside_comments
from ptxkit.asm.parser import Parser
from ptxkit.asm.states import ACTIONS, GOTOS, ITEMS, RULES, STATEMENTS
from ptxkit.diagnostics import Diagnostic, Severity, Span, SpanLabel

_NAME_OF = {kind: name for name, kind in KINDS.items()}

_CONSTANTS = {KINDS[name] for name in ("INTEGER", "FLOAT", "WARP_SZ", "(", "-", "~")}
NAMES = {KINDS[name] for name in ("NAME", "SINK", "CALL", "GENERIC")}
"""Kinds of tokens that name something."""
_CLOSERS = [KINDS[name] for name in (",", ";", ")", "]", "}", ":", ">", "{")]
"""What ends something, in the order in which a message names them."""
_PHRASES = (
    (_CONSTANTS | NAMES, "an operand"),
    (_CONSTANTS, "a constant"),
    ({KINDS["ENTRY"], KINDS["FUNC"], KINDS["SPACE"]}, "a function or a variable"),
    (NAMES | {KINDS["INTEGER"]}, "an integer or a label"),
    (NAMES, "a name"),
    ({KINDS["TYPE"], KINDS["SPACE"]}, "a state space and a type"),
    ({KINDS["TYPE"]}, "a type"),
    ({KINDS["INTEGER"]}, "an integer"),
    ({KINDS["FLOAT"]}, "a version such as `9.0`"),
    ({KINDS["STRING"]}, "a string"),
    ({KINDS["WORD"]}, "a name that begins with a dot"),
    ({KINDS["IR_NAME"]}, "`.ir_name:`"),
    ({KINDS["SOURCE_FILE_NAME"]}, "`.sourceFileName:`"),
    ({KINDS["SOURCE"]}, "`.source_begin`"),
)
"""Kinds that say what is expected where all of them can stand: the first that applies."""
_MAX_NAMED = 4


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


def report(
    parser: Parser,
    code: str,
    message: str,
    start: int,
    end: int,
    help: str | None = None,
    labels: tuple[SpanLabel, ...] = (),
) -> None:
    """Keep a diagnostic of the text from `start` to `end`, character offsets."""
    parser.diagnostics.append(
        Diagnostic(code, message, _span(parser, start, end), help=help, labels=labels, source=parser.source)
    )


def shown(text: str) -> str:
    """The beginning of what was found."""
    first = text.split("\n", 1)[0].rstrip("\r")
    return first if len(first) <= 40 else first[:37] + "..."


def joined(words: list[str]) -> str:
    """`a, b or c`, of many the first few."""
    if len(words) > _MAX_NAMED:
        words = [*words[:_MAX_NAMED], ".."]
        return ", ".join(words)
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else "something else"


def report_unexpected(parser: Parser, kind: str, text: str, start: int) -> None:
    """P101: a token that cannot follow."""
    words = expected(parser.states, parser.kinds)
    help = _advice(parser, kind, text)
    report(
        parser,
        "P101",
        f"expected {joined(words)}, found `{shown(text)}`",
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
        and previous in NAMES
        and accepts(parser.states, ",")
        and not accepts(parser.states, ":")
    ):
        return f"put a comma before `{shown(text)}`"
    return None


def report_malformed(parser: Parser, text: str, start: int) -> None:
    """P103, P104: text that is not a token."""
    end = start + len(text)
    if text.startswith('"'):
        report(parser, "P104", 'expected `"` before the end of the line', start, end, "close the string")
    elif text.startswith("@@DWARF"):
        report(
            parser,
            "P101",
            "expected a directive, found `@@DWARF`",
            start,
            start + 7,
            "PTX 2.0 replaced `@@DWARF` by `.section`",
        )
    elif text[0].isdigit():
        report(parser, "P103", f"malformed number `{shown(text)}`", start, end, _number_help(text))
    else:
        name = text if text.isprintable() and text != "`" else f"U+{ord(text):04X}"
        help = "a line for the preprocessor begins with `#`" if text == "#" else None
        report(parser, "P103", f"character `{name}` cannot stand here", start, end, help)


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
        return "leave the leading 0 out: with it a literal is octal"
    return (
        "integers are decimal, `0x`, `0b` or octal with an optional `U`; reals are `1.5`, `1e3`, `0f` or `0d`"
    )


def report_not_ascii(parser: Parser) -> None:
    """PTX is ASCII (4.1). One report for a text: the mark at its start, else the first character in a string
    or a source, else the first one."""
    if parser.text.startswith("\ufeff"):
        message, offset, severity = "the file begins with a byte-order mark", 0, Severity.ERROR
        help = "no assembler accepts it; save the file as UTF-8 without a mark"
    else:
        literals = (match for match in outside_comments(parser.text) if not match[0].isascii())
        literal = next(literals, None)
        at = literal.start() if literal else 0
        offset = next(i for i in range(at, len(parser.text)) if parser.text[i] > "\x7f")
        message = f"character `{parser.text[offset]}` is not ASCII"
        severity = Severity.ERROR if literal else Severity.WARNING
        help = "write it in ASCII: ptxas 13.0 and older refuse other characters, in comments too"
        if literal:
            help = "only comments may have other characters"
    line, column = parser.place(offset)
    span = Span(line, column, line, column + 1)
    parser.diagnostics.append(Diagnostic("P109", message, span, severity, help=help, source=parser.source))
