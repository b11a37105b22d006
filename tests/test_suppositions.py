"""A wrong result that a change of an input gives opens with that change; without one, with none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from test_strangers_faults import TCGEN05, WGMMA, opening

from ptxkit.workloads.comparison import compare
from ptxkit.workloads.input_changes import changes
from ptxkit.workloads.problem import Arrays, Expected, Tensor, Tolerance
from ptxkit.workloads.suppositions import supposed

M = N = 32
K = 64
TENSORS = {
    tensor.name: tensor
    for tensor in (
        Tensor("a", "bf16", (M, K)),
        Tensor("b", "bf16", (N, K)),
        Tensor("c", "bf16", (N, K)),
        Tensor("s", "ue4m3", (M,)),
        Tensor("d", "f32", (M, N), "output"),
    )
}
TOLERANCE = Tolerance(1e-3, 1e-3)


def inputs() -> Arrays:
    random = np.random.default_rng(0)
    made = {name: random.standard_normal((M, K)).astype(ml_dtypes.bfloat16) for name in "abc"}
    return {**made, "s": random.integers(118, 126, M, np.uint8).view(ml_dtypes.float8_e4m3fn)}


def product(given: Arrays) -> dict[str, Expected]:
    a, b, scales = (given[name].astype(np.float64) for name in ("a", "b", "s"))
    return {"d": Expected(scales[:, None] * (a @ b.T))}


def said(found: np.ndarray) -> str | None:
    """What is supposed of a wrong result."""
    stored = found.astype(np.float32)
    wrong = compare(TENSORS["d"], stored, product(inputs())["d"], TOLERANCE)
    return supposed(product, TENSORS, inputs(), stored, wrong)


def rolled(name: str, change: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    given = inputs()
    with np.errstate(all="ignore"):
        return product({**given, name: change(given[name])})["d"].values


def zeroed(of: np.ndarray, *at: Any) -> np.ndarray:
    of = of.copy()
    of[at] = 0
    return of


def negated(of: np.ndarray, columns: slice) -> np.ndarray:
    of = of.copy()
    of[:, columns] = -of[:, columns]
    return of


CHANGED: list[tuple[str, Callable[[np.ndarray], np.ndarray], str]] = [
    ("b", lambda b: inputs()["c"], "`c` is read in place of `b`"),
    ("a", lambda a: inputs()["b"], "`b` is read in place of `a`"),
    ("a", lambda a: zeroed(a, slice(None), slice(0, 48)), "columns 0 to 47 of `a` do not count"),
    ("a", lambda a: negated(a, slice(48, 64)), "columns from 48 on of `a` count with the other sign"),
    ("b", lambda b: b[np.arange(N) ^ 4], "`b[i ^ 4, j]` is taken for `b[i, j]`"),
    ("b", lambda b: b[np.arange(N) // 8 * 4 + np.arange(N) % 8], "`b[i // 8 * 4 + i % 8, j]` is taken for"),
    ("b", lambda b: b[np.arange(N) // 4], "`b[i // 4, j]` is taken for `b[i, j]`"),
    ("s", lambda s: np.append(s[1:], s[:1] * 0), "`s[i + 1]` is taken for `s[i]`"),
    ("s", lambda s: s.view(ml_dtypes.float8_e8m0fnu), "`s`, of ue4m3, is taken as ue8m0"),
    ("b", lambda b: np.roll(b.ravel(), -32).reshape(N, K), "`b` is read 32 elements, 64 bytes, farther on"),
    (
        "b",
        lambda b: np.take_along_axis(b, np.arange(K) ^ np.arange(N)[:, None] % 8 * 8, 1),
        "`b[i, j ^ (i % 8) * 8]` is taken for `b[i, j]`",
    ),
]


@pytest.mark.parametrize(("name", "change", "says"), CHANGED, ids=[says for *_, says in CHANGED])
def test_a_change_is_known_by_what_it_gives(
    name: str, change: Callable[[np.ndarray], np.ndarray], says: str
) -> None:
    text = said(rolled(name, change))
    assert text is not None
    assert text.startswith(says)
    assert "wrong elements of `d` are what that gives" in text


def test_two_inputs_in_place_of_each_other() -> None:
    given = inputs()
    found = product({**given, "a": given["b"], "b": given["a"]})["d"].values
    assert said(found) == (
        "`a` and `b` are read in place of each other: the wrong elements of `d` are what that gives"
    )


def test_half_of_what_is_wrong_may_be_something_else() -> None:
    found = rolled("b", lambda b: b[np.arange(N) ^ 4])
    found[M // 2 :] = np.random.default_rng(1).standard_normal((M // 2, N))
    text = said(found)
    assert text is not None
    assert text.startswith("`b[i ^ 4, j]` is taken for `b[i, j]`: ")
    assert "% of the wrong elements of `d` are what that gives" in text


@pytest.mark.parametrize("found", ["noise", "zeros", "few", "right"])
def test_what_no_change_gives_has_no_cause(found: str) -> None:
    right = product(inputs())["d"].values
    few = right.copy()
    few[0, :8] = rolled("b", lambda b: b[::-1])[0, :8]
    noise = np.random.default_rng(1).standard_normal((M, N)) * 10
    assert said({"noise": noise, "zeros": right * 0, "few": few, "right": right}[found]) is None


def test_every_change_keeps_the_shape() -> None:
    given = inputs()
    seen = 0
    for change in changes({name: TENSORS[name] for name in given}, given):
        for name, array in change.made().items():
            assert (array.shape, array.itemsize) == (given[name].shape, given[name].itemsize), change.text
        seen += 1
    assert seen > 100


LOST = "does not add to the sums in its accumulator but overwrites those of the product at line"
KERNELS = [
    (WGMMA, [("%a_desc, %b_desc, 1, 1, 1", "%a_desc, %b_desc, 0, 1, 1")], [LOST, "columns 0 to 47 of `"]),
    (TCGEN05, [("setp.eq.u32 %accumulate, 0, 0;", "")], [LOST, "do not count"]),
    (
        TCGEN05,
        [("setp.eq.u32 %accumulate, 0, 0;", "setp.eq.u32 %accumulate, 0, 0; mov.b32 %idesc, 0x08082490;")],
        ["negates one of its matrices", "with the other sign"],
    ),
]


@pytest.mark.parametrize(("kernel", "edits", "says"), KERNELS)
def test_sums_that_are_lost_and_products_that_subtract(
    tmp_path: Path, kernel: Path, edits: list[tuple[str, str]], says: list[str]
) -> None:
    said = opening(tmp_path, kernel, *edits)
    assert all(one in said for one in says), said


SHIFTED = """\
// /// ptxkit
// [launch]
// grid = 2
// block = 64
// params = ["x", "y"]
// [presets]
// smoke = {{ n = 128 }}
// [tensors.x]
// dtype = "f32"
// shape = "n"
// init = "randn"
// [tensors.y]
// dtype = "f32"
// shape = "n"
// expect = "x + 1"
// ///
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 .ptr .global .align 16 x, .param .u64 .ptr .global .align 16 y)
{{
    .reg .b32 %i, %t, %at;
    .reg .b64 %x, %y;
    .reg .f32 %v;
    .shared .align 16 .b8 tile[256];
    ld.param.u64 %x, [x];
    ld.param.u64 %y, [y];
    mov.u32 %t, %tid.x;
    mov.u32 %i, %ctaid.x;
    mad.lo.u32 %i, %i, 64, %t;
    mad.wide.u32 %x, %i, 4, %x;
    mad.wide.u32 %y, %i, 4, %y;
    mov.u32 %at, tile;
    mad.lo.u32 %at, %t, 4, %at;
    cp.async.ca.shared.global [%at], [%x{offset}], 4;
    {wait}
    ld.shared.f32 %v, [%at];
    add.f32 %v, %v, 0f3F800000;
    st.global.f32 [%y], %v;
    ret;
}}
"""


def test_beyond_an_error_an_index_is_known_and_a_missing_wait_is_no_index(tmp_path: Path) -> None:
    kernel = tmp_path / "in" / "k.ptx"
    kernel.parent.mkdir()
    kernel.write_text(SHIFTED.format(offset=" + 4", wait="cp.async.wait_all;"))
    assert opening(tmp_path, kernel).startswith("`x[i + 1]` is taken for `x[i]`")
    kernel.write_text(SHIFTED.format(offset="", wait=""))
    assert "taken for" not in opening(tmp_path, kernel)


def test_a_wrong_place_in_shared_memory_is_told_by_where_results_lie(tmp_path: Path) -> None:
    kernel = tmp_path / "in" / "k.ptx"
    kernel.parent.mkdir()
    moved = "ld.shared.f32 %v, [%at];\n    add.f32"
    text = SHIFTED.format(offset="", wait="cp.async.wait_all;")
    assert moved in text
    beside = "xor.b32 %at, %at, 64; bar.sync 0; ld.shared.f32 %v, [%at];\n    add.f32"
    kernel.write_text(text.replace(moved, beside))
    assert "elements hold what belongs at [i ^ 16]" in opening(tmp_path, kernel)


def test_a_change_that_another_wrong_output_contradicts_is_none() -> None:
    """`e` is the sums of rows, and what is wrong with it is not what is wrong with `d`."""
    tensors = {**TENSORS, "e": Tensor("e", "f32", (M,), "output")}

    def both(given: Arrays) -> dict[str, Expected]:
        (values,) = (expected.values for expected in product(given).values())
        return {"d": Expected(values), "e": Expected(values.sum(axis=1))}

    given = inputs()
    changed = both({**given, "b": given["b"][np.arange(N) // 4]})
    stored = {name: expected.values.astype(np.float32) for name, expected in changed.items()}
    for others, known in ((stored["e"], True), (stored["e"] * 0 + 1, False)):
        wrong = compare(tensors["d"], stored["d"], both(given)["d"], TOLERANCE)
        other = compare(tensors["e"], others, both(given)["e"], TOLERANCE)
        text = supposed(both, tensors, given, stored["d"], wrong, [(others, other)])
        assert (text is not None) == known
