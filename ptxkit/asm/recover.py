"""Syntax errors."""

from ptxkit.asm._grammar import ACTIONS


def recover(parser, kind, text, trivia, start):
    raise SyntaxError(f"{kind} {text!r} {parser.line} {parser.tokens} {ACTIONS[parser.states[-1]]}")


def too_deep(parser):
    raise SyntaxError
