"""Laws that rounding keeps, whatever the operands."""

from __future__ import annotations

import ieee
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ieee import F32, F64
from pure_operations import run

FORMS = {"f32": F32, "f64": F64}


def codes(form: ieee.Form, count: int) -> st.SearchStrategy[list[list[int]]]:
    """`count` operands of eight lanes: special values, small exponents' numbers, any bits."""
    exponents = st.integers(form.bias - 30, form.bias + 30).map(lambda e: e << form.fraction_bits)
    near_one = st.builds(
        lambda e, f, s: s | e | f,
        exponents,
        st.integers(0, (1 << form.fraction_bits) - 1),
        st.sampled_from((0, form.sign)),
    )
    code = st.one_of(st.sampled_from(ieee.specials(form)), near_one, st.integers(0, 2 * form.sign - 1))
    return st.lists(st.lists(code, min_size=8, max_size=8), min_size=count, max_size=count)


def values(form: ieee.Form, words: list[int]) -> np.ndarray:
    return np.array(words, f"uint{form.width}").view(f"float{form.width}")


@pytest.mark.parametrize("kind", FORMS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_directed_results_enclose_the_nearest(kind: str, data: st.DataObject) -> None:
    form = FORMS[kind]
    operands = data.draw(codes(form, 3))
    for opcode, count in (("add", 2), ("mul", 2), ("div", 2), ("fma", 3)):
        results = {mode: run(f"{opcode}.{mode}.{kind}", *operands[:count]) for mode in ieee.MODES}
        down, near, up, chopped = (values(form, results[mode]) for mode in ("rm", "rn", "rp", "rz"))
        nan = np.isnan(near)
        assert (np.isnan(down) == nan).all()
        assert (np.isnan(up) == nan).all()
        assert ((down <= near) & (near <= up) | nan).all()
        for d, u, z, bad in zip(results["rm"], results["rp"], results["rz"], nan, strict=True):
            # Inexact results lie between neighbours; toward zero is one of the two.
            assert bad or d == u or abs(ieee.ordered(form, u) - ieee.ordered(form, d)) == 1
            assert bad or z in (d, u)
        assert ((np.abs(chopped) <= np.abs(near)) | nan).all()


@pytest.mark.parametrize("kind", FORMS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_negation_swaps_down_and_up(kind: str, data: st.DataObject) -> None:
    form = FORMS[kind]
    a, b, c = data.draw(codes(form, 3))

    def negative(words: list[int]) -> list[int]:
        return [word if ieee.is_nan(form, word) else word ^ form.sign for word in words]

    def unsigned_zeros(words: list[int]) -> list[int]:
        return [word if word & form.sign - 1 else 0 for word in words]

    for mode, opposite in (("rm", "rp"), ("rn", "rn"), ("rz", "rz")):
        mirrored = negative(run(f"fma.{mode}.{kind}", a, b, c))
        got = run(f"fma.{opposite}.{kind}", negative(a), b, negative(c))
        # To nearest and toward zero, sums of opposite terms are +0 on both sides.
        assert unsigned_zeros(got) == unsigned_zeros(mirrored)
        assert mode != "rm" or got == mirrored
        one = [form.bias << form.fraction_bits] * len(a)
        assert run(f"fma.{mode}.{kind}", a, one, c) == run(f"add.{mode}.{kind}", a, c)
        # Which of two NaNs comes out is the operands' order.
        assert [word for word in run(f"add.{mode}.{kind}", a, c) if not ieee.is_nan(form, word)] == [
            word for word in run(f"add.{mode}.{kind}", c, a) if not ieee.is_nan(form, word)
        ]


@settings(max_examples=100, deadline=None)
@given(codes(F64, 1))
def test_two_conversions_by_odd_steps_are_one(operands: list[list[int]]) -> None:
    (words,) = operands
    # f64 to f16 and to bf16 in one step, against the reference; by way of f32 they would round twice.
    for kind, form in (("f16", ieee.F16), ("bf16", ieee.BF16)):
        for mode in ieee.MODES:
            for word, got in zip(words, run(f"cvt.{mode}.{kind}.f64", words), strict=True):
                if ieee.is_nan(F64, word):
                    payload = (word & (1 << 52) - 1) >> 52 - form.fraction_bits
                    quiet = form.infinity | payload | 1 << form.fraction_bits - 1
                    assert got == quiet | (form.sign if word & F64.sign else 0)
                elif ieee.is_infinite(F64, word):
                    assert got == form.infinity | (form.sign if word & F64.sign else 0)
                else:
                    sign = int(bool(word & F64.sign))
                    assert got == ieee.rounded(form, ieee.number(F64, word), mode, sign)
