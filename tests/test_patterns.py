"""A wrong result is told by what its wrong elements have in common."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import here, ptxkit, refused
from hypothesis import given
from hypothesis import strategies as st

from ptxkit.workloads.patterns import patterns
from ptxkit.workloads.rearranged import rearranged

RANDOM = np.random.default_rng(20)
A, B = RANDOM.standard_normal((128, 256)), RANDOM.standard_normal((256, 96))
C = A @ B
S = RANDOM.standard_normal((64, 64))
V = np.arange(1000.0)
ROW, COLUMN = np.indices(C.shape)


def having(values: np.ndarray, index: Any, new: Any) -> np.ndarray:
    changed = values.copy()
    changed[index] = new
    return changed


def said(found: np.ndarray, expected: np.ndarray) -> tuple[str, ...]:
    """As of an output of bf16 whose tolerance is a few of its units."""
    bits = np.asarray(found, np.float32).view(np.uint32)
    stored = ((bits + 0x8000) & 0xFFFF0000).view(np.float32).astype(np.float64)
    stored = np.where(np.isnan(found), np.nan, stored)
    allowed = np.abs(expected) * 2.0**-7 + 1e-3
    return patterns(~(np.abs(stored - expected) <= allowed), stored, expected, allowed)


def taken(row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """What lies at other indexes of C, 1/3 where they are outside."""
    inside = (row < C.shape[0]) & (column < C.shape[1])
    return np.where(inside, C[row % C.shape[0], column % C.shape[1]], 1 / 3)


EDGE = C[:100, :92]
REARRANGED: list[tuple[np.ndarray, str]] = [
    (
        taken(ROW, COLUMN ^ (ROW ^ ROW // 2) % 8 * 4),
        "at [i, j ^ (i % 8) * 4 ^ (i / 2 % 8) * 4]: the two sides of a swizzle take different bits",
    ),
    (
        taken(ROW, COLUMN // 16 * 16 + COLUMN % 4 * 4 + COLUMN // 4 % 4),
        "at [i, j // 16 * 16 + j % 4 * 4 + j / 4",
    ),
    (
        taken(ROW // 8 * 8 + COLUMN % 8, COLUMN // 8 * 8 + ROW % 8),
        "at [i // 8 * 8 + j % 8, j // 8 * 8 + i % 8]",
    ),
    (taken(ROW ^ 5, COLUMN ^ ROW // 16 % 2 * 24), "at [i ^ 5, j ^ (i / 16 % 2) * 24]"),
]


@pytest.mark.parametrize(("found", "where"), REARRANGED, ids=[where for _, where in REARRANGED])
def test_elements_that_exchanged_bits_of_their_indexes(found: np.ndarray, where: str) -> None:
    text = said(found, C)[-1]
    assert re.match(r"(each of them holds|\d+% of them hold) what belongs ", text)
    assert where in text


def test_the_edge_of_an_output_has_elements_of_tiles_that_go_beyond() -> None:
    row, column = ROW[:100, :92], COLUMN[:100, :92]
    inside = ((row ^ 8) < 100) & ((column ^ 8) < 92)
    turned = np.where(inside, C[row ^ 8, column ^ 8], 7.0)
    found = np.where((row // 8 + column // 8) % 2, turned, EDGE)
    assert "of them hold what belongs at [i ^ 8, j ^ 8]" in said(found, EDGE)[-1]


@pytest.mark.parametrize(
    "expected", [C, np.sign(C), C * 0 + COLUMN % 4, S], ids=["any", "signs", "few", "small"]
)
def test_noise_is_no_rearrangement(expected: np.ndarray) -> None:
    noise = np.random.default_rng(3).standard_normal(expected.shape) * np.abs(expected).mean()
    assert not any("what belongs" in text for text in said(expected + noise, expected))


@pytest.mark.parametrize(
    ("found", "expected", "sentences"),
    [
        (C, C, ()),
        (
            np.where((ROW % 16 < 8) == (COLUMN % 16 < 8), C, C[ROW ^ 8, COLUMN ^ 8]),
            C,
            ("each of them holds what belongs at [i ^ 8, j ^ 8]",),
        ),
        (having(C, np.s_[64:], 0), C, ("they fill rows from 64 on", "each of them is 0")),
        (having(C, np.s_[:, 1::2], np.nan), C, ("they fill odd columns", "each of them is NaN")),
        (
            having(C, np.s_[:, 3::4], 99),
            C,
            ("they fill columns whose number modulo 4 is 3", "each of them is 99"),
        ),
        (having(C, np.s_[5], C[6]), C, ("they fill row 5", "each of them holds what belongs at [i + 1, j]")),
        (
            having(C, np.s_[32:64, 16:32], C[32:64, 16:32] * 4),
            C,
            ("they fill columns 16 to 31 of rows 32 to 63", "each of them is 4 times what it should be"),
        ),
        (np.where(COLUMN > ROW, 0, C), C, ("they lie above the diagonal", "each of them is 0")),
        (-C, C, ("each of them has the opposite sign",)),
        (C / 2, C, ("each of them is 1/2 times what it should be",)),
        (C * 1.5, C, ("each of them is 1.5 times what it should be",)),
        (C + 8, C, ("each of them is 8 too large",)),
        (S.T, S, ("each of them holds what belongs at [j, i]: it is transposed",)),
        (C[ROW, COLUMN ^ 8], C, ("each of them holds what belongs at [i, j ^ 8]",)),
        (C[ROW, COLUMN ^ 24], C, ("each of them holds what belongs at [i, j ^ 24]",)),
        (
            np.where(COLUMN % 32 < 16, C[ROW, COLUMN ^ 16], 0),
            C,
            ("each of them that is not 0 holds what belongs at [i, j ^ 16]",),
        ),
        (
            C[ROW, COLUMN // 8 * 8],
            C,
            (
                "they lie in columns whose number modulo 8 is 1 to 7",
                "each of them holds what belongs at [i, j // 8 * 8]",
            ),
        ),
        (np.roll(C, 1, 0), C, ("each of them holds what belongs at [(i - 1) % 128, j]",)),
        (V[::-1], V, ("each of them holds what belongs at [999 - i]",)),
        (
            np.where(V % 32 == 31, -5, V),
            V,
            ("they fill elements whose number modulo 32 is 31", "each of them is -5"),
        ),
        (C * 1e-9, C, ()),
        (having(V, [3, 17, 400], 0), V, ()),
        (C + RANDOM.standard_normal(C.shape), C, ()),
    ],
    ids=[
        "right",
        "fragments exchanged",
        "rows",
        "odd columns",
        "every fourth",
        "a row of another",
        "a tile",
        "a triangle",
        "sign",
        "half",
        "factor",
        "offset",
        "transposed",
        "exclusive or",
        "exclusive or of two bits",
        "moved or zero",
        "the first of eight",
        "rolled",
        "mirrored",
        "a lane",
        "lost",
        "few",
        "noise",
    ],
)
def test_what_is_said(found: np.ndarray, expected: np.ndarray, sentences: tuple[str, ...]) -> None:
    if expected is V and sentences and "belongs" in sentences[-1]:
        assert patterns(found != V, found, V, 0) == sentences
    else:
        assert said(found, expected) == sentences


SPECIAL = (0.0, -0.0, 1.0, -3.0, 5e-324, 1e-300, 1e308, -1e308, np.inf, -np.inf, np.nan)


@given(st.data())
def test_any_values_are_looked_at(data: st.DataObject) -> None:
    """Also those whose quotients and differences are beyond every number."""
    shape = data.draw(st.lists(st.integers(1, 9), max_size=3).map(tuple))
    numbers = st.lists(st.sampled_from(SPECIAL), min_size=int(np.prod(shape)), max_size=int(np.prod(shape)))
    found, expected = (np.array(data.draw(numbers)).reshape(shape) for _ in range(2))
    allowed = data.draw(st.sampled_from((0.0, 1e-3, np.inf)))
    with np.errstate(over="ignore"):
        wrong = ~(np.abs(np.nan_to_num(found) - np.nan_to_num(expected)) <= allowed)
    for sentence in patterns(wrong, found, expected, allowed):
        assert sentence.startswith(("they ", "each of them ", "the differences "))


def test_a_quotient_beyond_all_numbers() -> None:
    found, expected = np.arange(1, 10) * 1e-308, np.arange(9, 0, -1) * 1e300
    assert patterns(found != expected, found, expected, 0.0) == ()


@pytest.mark.parametrize("dtype", [np.uint64, np.int64, np.uint8])
def test_integers_are_looked_at(dtype: type) -> None:
    values = np.arange(256).astype(dtype).reshape(16, 16)
    most = np.full_like(values, np.iinfo(dtype).max)
    assert patterns(values != most, most, values, 0)[-1] == f"each of them is {float(most[0, 0]):.9g}"


@pytest.mark.parametrize(("rows", "shift", "piece"), [(8, 0, 8), (4, 1, 8), (2, 2, 16)])
def test_a_swizzle_of_one_side(rows: int, shift: int, piece: int) -> None:
    values = RANDOM.standard_normal((64, 64))
    row, column = np.indices(values.shape)
    moved = values[row, column ^ ((row >> shift) % rows * piece)]
    by = f"(i / {1 << shift} % {rows})" if shift else f"(i % {rows})"
    assert said(moved, values)[-1] == (
        f"each of them holds what belongs at [i, j ^ {by} * {piece}]: a swizzle that only one side applies"
    )


@pytest.mark.parametrize("steps", [1, 16, 32])
def test_a_part_of_the_sum_is_missing(steps: int) -> None:
    part = np.s_[48 : 48 + steps]
    number = "one step" if steps == 1 else f"{steps} steps"
    (sentence,) = said(C - A[:, part] @ B[part], C)
    assert sentence.startswith(f"the differences are a matrix of rank {steps}: as if {number} along")


SQUARES = """\
// /// ptxkit
// [launch]
// grid = [4, 4]
// block = 16
// params = ["x", "y"]
// [presets]
// only = {}
// [tensors]
// x = { dtype = "f32", shape = ["64", "64"], init = "randn" }
// y = { dtype = "f32", shape = ["64", "64"], expect = "x" }
// ///
.version 8.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 x, .param .u64 y)
{
    .reg .pred %p;
    .reg .u32 %i, %j, %n, %cx, %cy;
    .reg .u64 %x, %y, %a, %b;
    .reg .f32 %v;
    ld.param.u64 %x, [x];
    ld.param.u64 %y, [y];
    mov.u32 %j, %tid.x;
    mov.u32 %cx, %ctaid.x;
    mov.u32 %cy, %ctaid.y;
    mad.lo.u32 %j, %cx, 16, %j;
    mad.lo.u32 %i, %cy, 1024, %j;
    mov.u32 %n, 0;
ROW:
    mad.wide.u32 %a, %i, 4, %x;
    mad.wide.u32 %b, %i, 4, %y;
    ld.global.f32 %v, [%a];
    WRONG @%p add.f32 %v, %v, %v;
    st.global.f32 [%b], %v;
    add.u32 %i, %i, 64;
    add.u32 %n, %n, 1;
    setp.lt.u32 %p, %n, 16;
    @%p bra ROW;
    ret;
}
"""


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("setp.eq.u32 %p, %cx, %cy;", "CTAs (0, 0, 0), (1, 1, 0), (2, 2, 0), (3, 3, 0)"),
        ("setp.eq.u32 %p, %cx, 1; setp.eq.and.u32 %p, %cy, 2, %p;", "CTA (1, 2, 0)"),
        ("setp.eq.u32 %p, %cx, 3;", "the CTAs with `%ctaid.x` 3"),
        ("setp.eq.u32 %p, %n, 3;", ""),
        ("setp.le.u32 %p, %cx, %cy;", ""),
    ],
    ids=["on the diagonal", "one", "a column", "a row of each", "more than a few"],
)
def test_tiles_of_some_ctas(tmp_path: Path, wrong: str, says: str) -> None:
    kernel = tmp_path / "copy.ptx"
    kernel.write_text(SQUARES.replace("WRONG", wrong))
    printed = refused(here("run", kernel, "--device", "emu"), 4, "P801")
    assert ("they are all that" in printed) == bool(says)
    assert not says or f"= note: they are all that {says} wrote\n" in printed


CARD = """// /// ptxkit
// [launch]
// grid = 64
// block = 64
// params = ["x", "y"]
// [presets]
// smoke = {}
// [tensors]
// x = { dtype = "f32", shape = ["64", "64"], init = "randn" }
// y = { dtype = "f32", shape = ["64", "64"], expect = "x" }
// ///
.version 8.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 x, .param .u64 y)
{
    .reg .pred %p;
    .reg .u32 %i, %j, %at, %to;
    .reg .u64 %x, %y, %a, %b;
    .reg .f32 %v;
    ld.param.u64 %x, [x];
    ld.param.u64 %y, [y];
    mov.u32 %i, %ctaid.x;
    mov.u32 %j, %tid.x;
    mad.lo.u32 %at, %i, 64, %j;
    mad.wide.u32 %a, %at, 4, %x;
    ld.global.f32 %v, [%a];
    MOVE
    mad.wide.u32 %b, %to, 4, %y;
    st.global.f32 [%b], %v;
    ret;
}
"""


@pytest.mark.parametrize(
    ("move", "code", "sentences", "writer"),
    [
        (
            "xor.b32 %to, %at, 4;",
            "P801",
            ["each of them holds what belongs at [i, j ^ 4]"],
            "thread (4, 0, 0) of CTA (0, 0, 0)",
        ),
        (
            "mad.lo.u32 %to, %j, 64, %i;",
            "P801",
            ["each of them holds what belongs at [j, i]: it is transposed"],
            "thread (0, 0, 0) of CTA (1, 0, 0)",
        ),
        ("setp.ge.u32 %p, %i, 48; @%p ret; mov.u32 %to, %at;", "P802", ["they fill rows from 48 on"], None),
        (
            "mov.u32 %to, %at; setp.lt.u32 %p, %j, 32; @%p add.f32 %v, %v, %v;",
            "P801",
            ["they fill columns 0 to 31", "each of them is 2 times what it should be"],
            "thread (0, 0, 0) of CTA (0, 0, 0)",
        ),
        (
            "mov.u32 %to, %at; setp.eq.u32 %p, %i, 3; @%p add.f32 %v, %v, %v; setp.eq.u32 %p, %i, 40; "
            "@%p add.f32 %v, %v, %v;",
            "P801",
            [
                "each of them is 2 times what it should be",
                "they are all that CTAs (3, 0, 0), (40, 0, 0) wrote",
            ],
            "thread (0, 0, 0) of CTA (3, 0, 0)",
        ),
    ],
    ids=["exclusive or", "transposed", "too few rows", "columns doubled", "two CTAs"],
)
def test_a_run_says_it(
    tmp_path: Path, move: str, code: str, sentences: list[str], writer: str | None
) -> None:
    kernel = tmp_path / "copy.ptx"
    kernel.write_text(CARD.replace("MOVE", move))
    printed = refused(ptxkit("run", kernel, "--device", "emu"), 4, code)
    for sentence in sentences:
        assert f"= note: {sentence}\n" in printed
    assert f'"{sentences[0]}"' in here("run", kernel, "--device", "emu", "--json").stdout
    line = CARD[: CARD.index("st.global")].count("\n") + 1
    by = f"= note: the first was written by `st.global.f32` at line {line}, {writer}\n"
    assert (by in printed) == (writer is not None)
    assert "the first was written" not in here("run", kernel, "--device", "emu", "--no-sanitize").stdout


def test_rows_exchanged_with_columns_within_tiles_are_called_so() -> None:
    right = np.random.default_rng(0).permutation(64 * 96).reshape(64, 96).astype(np.float64)
    tiles = right.reshape(2, 32, 3, 32)
    turned = tiles.transpose(0, 3, 2, 1).reshape(64, 96)
    said = rearranged(turned != right, turned, right, np.zeros(right.shape))
    assert said is not None
    assert said.endswith(": rows and columns are exchanged within tiles of 32 by 32")
