"""A file that is cut off somewhere: one error says so, and none that only follows from the cut."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from asm_corpus import each_file, each_small_file, read

import ptxkit
from ptxkit.asm.lexer import TOKEN, TRIVIA

ROOT = Path(__file__).resolve().parents[1]
KERNEL = ROOT / "bench" / "kernels" / "gemv_simt.ptx"
HEAD = ".version 9.0\n.target sm_90a\n"


def errors(text: str) -> list[ptxkit.Diagnostic]:
    module = ptxkit.parse(f"{text}\n")
    found = [d for d in ptxkit.check(module) if d.is_error]
    syntax = [d for d in found if d.code.startswith("P1")]
    assert module.complete == (not syntax), found
    return found


def starts(text: str) -> list[tuple[int, int]]:
    """Where each token of a text starts and ends."""
    found, position = [], 0
    while True:
        trivia = TRIVIA.match(text, position)
        assert trivia is not None
        token = TOKEN.match(text, trivia.end())
        if token is None:
            return found
        found.append((token.start(), token.end()))
        position = token.end()


def bodies(text: str) -> list[tuple[int, int]]:
    """The stretches of text in which braces are open: functions' bodies, initializers."""
    found, depth, opening = [], 0, 0
    for start, end in starts(text):
        if text[start:end] == "{":
            opening = opening if depth else end
            depth += 1
        elif text[start:end] == "}":
            depth -= 1
            if not depth:
                found.append((opening, start))
    return found


def cut_anywhere(text: str, places: list[int]) -> None:
    assert not errors(text)
    inside = bodies(text)
    for place in places:
        # Between functions nothing is cut in two, but what was declared may have lost its definition.
        found = [error for error in errors(text[:place]) if error.code != "P228"]
        assert len(found) <= 1, (place, text[max(0, place - 40) : place], found)
        if any(start <= place <= end for start, end in inside):
            assert found
            (cut,) = found
            assert cut.code in ("P104", "P105"), (place, text[place - 40 : place], found)
            assert "found the end of the file" in cut.message
            assert cut.help
            assert cut.span is not None
            assert cut.span.line >= text[:place].rstrip().count("\n")


def places(text: str, count: int, seed: int) -> list[int]:
    return random.Random(seed).sample(range(len(text)), min(count, len(text)))


def test_a_kernel_cut_anywhere_gives_one_error() -> None:
    text = read(KERNEL)
    body = text.index(".version")
    cut_anywhere(text, places(text, 120, 0) + list(range(body - 10, body + 80)))


@each_small_file
def test_a_file_cut_anywhere_gives_one_error(path: Path) -> None:
    text = read(path)
    cut_anywhere(text, places(text, 12, len(text)))


@pytest.mark.slow
@each_file
def test_every_file_cut_in_many_places_gives_one_error(path: Path) -> None:
    text = read(path)
    cut_anywhere(text, places(text, 100, 1))


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("", "P301", "expected `.version` at the start of the file, found none"),
        ("// nothing yet", "P301", "expected `.version` at the start of the file, found none"),
        (".vers", "P105", "expected a directive, found the end of the file"),
        (".version", "P105", "expected a version such as `9.0`, found the end of the file"),
        (".version 9.", "P302", "expected a version like `9.0`"),
        (".version 9.0", "P304", "expected a `.target` after `.version`, found none"),
        (".version 9.0\n.tar", "P105", "expected a directive, found the end of the file"),
        (".version 9.0\n.target", "P105", "expected a name, found the end of the file"),
        (f"{HEAD}/", "P105", "expected a directive, found the end of the file"),
        (f"{HEAD}/* a", "P104", "expected `*/`, found the end of the file"),
        (f"{HEAD}.entry k() {{ bra L; /* ", "P104", "expected `*/`, found the end of the file"),
        (f"{HEAD}.entry k() {{ bra L; ", "P105", "expected `}`, found the end of the file"),
        (f"{HEAD}.func f() {{ {{ bra L; }} ld.L1::", "P105", "expected an operand or `;`, found the end of the file"),  # noqa: E501
        ("// /// ptxkit\n// [launch]\n// b", "P531", "expected `// ///` at the end of the card, found none"),
        ("// /// ptxkit\n// [launch]\n/", "P105", "expected a directive, found the end of the file"),
    ],
)  # fmt: skip
def test_what_a_cut_says(text: str, code: str, message: str) -> None:
    (found,) = [d for d in ptxkit.check(ptxkit.parse(f"{text}\n")) if d.is_error]
    assert (found.code, found.message) == (code, message)


def test_what_does_not_follow_from_the_cut_is_reported() -> None:
    text = f"{HEAD}.entry j() {{ bra L; }}\n.entry k() {{ mov.b32 %r1, 3; bra M; mov.b32 "
    codes = [d.code for d in errors(text)]
    assert codes == ["P205", "P201", "P105"]


def test_a_label_is_missed_in_a_function_that_ends() -> None:
    text = f"{HEAD}.entry k() {{ bra L; }}\n.entry j() {{ ret; }}\n.global .b32 "
    assert [d.code for d in errors(text)] == ["P205", "P105"]
