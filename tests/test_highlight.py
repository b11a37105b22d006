"""The lexer for documents knows what the checker knows, and loses no character."""

from __future__ import annotations

import pytest
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Error, Keyword, Name, Number, Operator

from ptxkit.editors.highlight import PtxLexer
from ptxkit.isa import registry
from ptxkit.isa.sample import PREAMBLE, samples
from ptxkit.shipped import kernels


def test_pygments_finds_it() -> None:
    assert isinstance(get_lexer_by_name("ptxkit"), PtxLexer)


@pytest.mark.parametrize("name", sorted(kernels.shipped()))
def test_a_shipped_kernel_has_no_error(name: str) -> None:
    text = kernels.shipped()[name].read_text()
    found = list(PtxLexer().get_tokens(text))
    assert [value for token, value in found if token is Error] == []
    assert "".join(value for _, value in found) == text


def test_samples_of_every_form_have_no_error() -> None:
    lines = [
        PREAMBLE,
        *(s.text for opcode in registry.opcodes() for f in registry.forms(opcode) for s in samples(f, 2)),
    ]
    found = PtxLexer().get_tokens("\n".join(lines))
    assert [value for token, value in found if token is Error] == []


@pytest.mark.parametrize(
    ("text", "value", "token"),
    [
        ("    mov.b32 %a##t, %b##t;", "##", Operator),
        ("    ret; \\\n", "\\", Operator),
        ("tcgen05.mma.cta_group::1.kind::f16 [%d], %a, %b, %i, %p;", "tcgen05", Keyword),
        ("tcgen05.mma.cta_group::1.kind::f16 [%d], %a, %b, %i, %p;", ".cta_group::1", Name.Attribute),
        ("add.nonsense %a;", ".nonsense", Error),
        ("mov.u32 %r, %tid.x;", "%tid.x", Name.Builtin),
        ("mov.f32 %r, 0f3F800000;", "0f3F800000", Number.Hex),
        ("loop: bra loop;", "loop", Name.Label),
        ("ret; // done", "// done", Comment.Single),
    ],
)
def test_words(text: str, value: str, token: object) -> None:
    assert (token, value) in list(PtxLexer().get_tokens(text))
