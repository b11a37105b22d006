"""The zero-column mask: fields, the manual's four examples, round trips."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxkit.descriptors import ZeroColumnMask
from ptxkit.diagnostics import PtxkitError


def test_fields_land_on_their_bits():
    word = ZeroColumnMask(
        start_count=[1, 2, 3, 4],
        first_span=[0, 1, 0, 1],
        non_zero_mask=True,
        skip_span=2,
        use_span=3,
        shift=32,
    )
    assert int(word) == 1 | 2 << 8 | 3 << 16 | 4 << 24 | 0b1010 << 32 | 1 << 39 | 2 << 40 | 3 << 48 | 32 << 56
    assert word.fields()["first_span"] == 0b1010


def low_first(text):
    """The manual prints the highest column first."""
    return [int(c) for c in reversed(text.replace(" ", ""))]


EXAMPLES = [  # start counts and first spans as {3, 2, 1, 0}; the low end of each sub-mask
    (128, (0, 0, 0, 0), (0, 0, 0, 0), 0, 4, 3, 0, ["000000"]),
    (128, (0, 0, 0, 0), (0, 0, 0, 0), 1, 2, 3, 0, ["111 0000 111 0000"]),
    (64, (0, 0, 0, 0), (0, 0, 0, 1), 1, 2, 3, 0, ["111 0000 111 0000 111", "0000 111 0000 111 0000"]),
    (
        32,
        (1, 2, 1, 0),
        (0, 0, 1, 1),
        1,
        2,
        3,
        2,
        ["0000 111 0000 111", "111 0000 11", "111 0000 111 00", "111 0000 111 000"],
    ),
]


@pytest.mark.parametrize(("m", "counts", "firsts", "generate", "skip", "use", "shift", "lows"), EXAMPLES)
def test_the_manuals_examples(m, counts, firsts, generate, skip, use, shift, lows):
    word = ZeroColumnMask(
        start_count=list(reversed(counts)),
        first_span=list(reversed(firsts)),
        non_zero_mask=generate,
        skip_span=skip,
        use_span=use,
        shift=shift,
    )
    mask = word.mask(m, 128)
    assert len(mask) == 128
    columns = 128 // len(lows)
    for i, low in enumerate(lows):
        expected = low_first(low)
        assert mask[i * columns : i * columns + len(expected)] == expected, i


@given(
    st.lists(st.integers(0, 255), min_size=4, max_size=4),
    st.integers(0, 15),
    st.booleans(),
    st.integers(0, 255),
    st.integers(0, 255),
    st.integers(0, 32),
)
def test_round_trip(counts, first, generate, skip, use, shift):
    values = {
        "start_count": counts,
        "first_span": first,
        "non_zero_mask": generate,
        "skip_span": skip,
        "use_span": use,
        "shift": shift,
    }
    word = ZeroColumnMask(**values)
    assert word.fields() == values
    assert ZeroColumnMask.decode(int(word)) == word
    for m, n in ((128, 64), (64, 256), (32, 128)):
        if m == 32 and shift > 16:
            with pytest.raises(PtxkitError) as raised:
                word.mask(m, n)
            assert raised.value.diagnostics[0].code == "P440"
            continue
        mask = word.mask(m, n)
        assert len(mask) == n
        assert set(mask) <= {0, 1}
        assert generate or not any(mask)


@given(st.integers(0, 2**64 - 1))
def test_words_encode_to_themselves_or_are_refused(word):
    word &= ~(7 << 36 | 3 << 62)
    if ZeroColumnMask.diagnose(word):
        assert word >> 56 & 63 > 32
    else:
        assert int(ZeroColumnMask(**ZeroColumnMask.decode(word).fields())) == word


@pytest.mark.parametrize(
    "change",
    [{"shift": 33}, {"start_count": [1, 2]}, {"start_count": [1, 2, 3, 256]}, {"first_span": [0, 1]}]
    + [{"first_span": 16}, {"first_span": [0, 0, 0, 2]}, {"skip_span": 256}, {"start_count": 3}],
)
def test_illegal_fields_are_refused(change):
    with pytest.raises(PtxkitError) as raised:
        ZeroColumnMask(**change)
    assert raised.value.diagnostics[0].code == "P401"


@pytest.mark.parametrize("shape", [(256, 128), (64, 63), (16, 64)])
def test_shapes_that_ws_lacks_are_refused(shape):
    with pytest.raises(PtxkitError):
        ZeroColumnMask().mask(*shape)
