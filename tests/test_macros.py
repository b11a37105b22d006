"""Macros are expanded as pcpp itself does it, token by token, and so are the errors that it finds."""

from __future__ import annotations

import io
from typing import Any

import pcpp
import pytest

from ptxkit.asm.macros import MacroExpansion

PROGRAMS = {
    "names": r"""
#define A B
#define B C 1
A B C
#undef B
A B
""",
    "itself": r"""
#define A A B
#define B A
A;B;A B
""",
    "arguments": r"""
#define F(x, y) x + y * F
F(1, 2) F (3, (4, 5)) F(F(1, 2), F(3, 4))
F
(5, 6) F F
""",
    "nested": r"""
#define TWICE(x) x x
#define NUM(n) TWICE(n) TWICE(TWICE(n))
#define N 7
NUM(N)TWICE(NUM)(3)
""",
    "hidden": r"""
#define f(a) a*g
#define g(a) f(a)
f(2)(9)
#define x 2
#define h(y) y + x(y)
h(x) h(h)(1)
""",
    "pasted": r"""
#define CAT(a, b) a##b
#define R(n) %r##n
#define ab 5
CAT(a, b) R(3) CAT(CAT, (1, 2)) CAT(,x)
""",
    "text": r"""
#define S(x) #x
#define A 3
S(A "b" \n) S( a   b )
""",
    "variadic": r"""
#define V(a, ...) f(a, ## __VA_ARGS__)
V(1) V(1, 2) V(1, 2, (3, 4))
V()
""",
    "empty": r"""
#define E()
#define O(x) [x]
#define NOTHING
E() O() NOTHING O(NOTHING) x
E ()y O(1)z
""",
    "places": r"""
__LINE__ __COUNTER__
#define L __LINE__ __COUNTER__
L L
#define G(x) x L
G(__LINE__)
__FILE__
""",
    "too few": r"""
#define F(a, b) a b
F(1) F(1, 2, 3)
#define V(a, b, ...) a
V(1)
#define W(a, ...) a
W()
""",
    "unclosed": r"""
#define F(a) a
#define A 1
A F(1, A
A
""",
    "conditions": r"""
#define A 3
#if A == 3 && defined(A) && !defined(B)
yes A
#else
no A
#endif
""",
    "again": r"""
#ifndef N
#define N 0
#include "again"
#undef N
#define N 1
#include "again"
#include "again"
#else
#define X(a) a N
X(x) X(X(N)) // X
#undef X
#endif
""",
}
"""Programs, by what they are about."""


def made(kind: type[Any], text: str) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """The tokens of a program, and what is wrong with it."""
    errors: list[tuple[Any, ...]] = []

    class Run(kind):  # type: ignore[misc, valid-type]
        def on_error(self, file: str, line: int, msg: str) -> None:
            errors.append((file, line, msg))

        def on_file_open(self, is_system_include: bool, includepath: str) -> io.StringIO:
            return io.StringIO(text)

    run = Run()
    run.parse(text, "again")
    tokens = []
    while (token := run.token()) is not None:
        tokens.append((token.type, token.value, token.lineno, token.source))
    return tokens, errors


@pytest.mark.parametrize("program", PROGRAMS)
def test_tokens_are_those_of_pcpp(program: str) -> None:
    text = PROGRAMS[program]
    assert made(MacroExpansion, text) == made(pcpp.Preprocessor, text)
