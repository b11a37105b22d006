"""Im2col tensor maps: equal to the driver's bytes, the driver's refusals, round trips, ways to reach them."""

import json
import random
from pathlib import Path

import pytest
import tensor_map_cases as cases
from hypothesis import given
from hypothesis import strategies as st

import ptxkit
from ptxkit.descriptors import Im2colTensorMap, TensorMap, TiledTensorMap
from ptxkit.diagnostics import PtxkitError
from ptxkit.encodings.explain import explain
from ptxkit.encodings.requests import answer

VECTORS = Path(__file__).parent / "data" / "im2col_tensor_maps.txt"
ROWS = [line.split(" | ") for line in VECTORS.read_text().splitlines() if not line.startswith("#")]
BASE = json.loads(ROWS[0][1])


def word_of(text):
    return int.from_bytes(bytes.fromhex(text), "little")


@pytest.mark.parametrize(("name", "change", "expected"), ROWS, ids=[row[0] for row in ROWS])
def test_equals_the_driver(name, change, expected):
    fields = {**BASE, **json.loads(change)}
    if expected == "refused":
        with pytest.raises(PtxkitError):
            TensorMap(**fields, target="sm_90a")
        return
    made = TensorMap(**fields, target="sm_90a")
    assert bytes(made).hex() == expected
    assert isinstance(made, Im2colTensorMap)
    decoded = TensorMap.decode(word_of(expected))
    assert decoded == made
    assert decoded.fields() == fields


INTERLEAVED = [
    line.split(" | ")
    for line in (VECTORS.parent / "interleaved_tensor_maps.txt").read_text().splitlines()
    if not line.startswith("#")
]


def test_interleaved_maps_are_refused_as_by_the_driver():
    """The bounding box's corners belong to the innermost dimensions; slices of channels are outside."""
    assert {answer_ for answer_, _ in INTERLEAVED} == {"made", "refused"}
    for answer_, text in INTERLEAVED:
        if answer_ == "made":
            TensorMap(**json.loads(text), target="sm_90a")
        else:
            with pytest.raises(PtxkitError, match=r"P453.* none: .* pixels? along [DHW] between corners"):
                TensorMap(**json.loads(text), target="sm_90a")


def test_the_vectors_move_every_bit_that_is_not_reserved():
    """Of the fields that tiled maps have not: each bit is 1 in some map of its rank, and 0 in another."""
    made = [TensorMap.decode(word_of(row[2])) for row in ROWS if row[2] != "refused"]
    for form in TensorMap.FORMS[1:]:
        ones, zeros = 0, 0
        for one in made:
            if type(one) is form:
                ones |= int(one)
                zeros |= ~int(one)
        own = [field for name, field in form.FIELDS.items() if name.startswith(("lower_", "upper_"))]
        for field in own:
            assert field.extract(zeros) == 2**field.width - 1
            assert field.extract(ones) == 2**field.width - 1, (form, field.name)


@given(st.integers(0, 2**32), st.sampled_from([90, 100]))
def test_decode_undoes_encode(seed, number):
    fields = cases.legal_im2col(random.Random(seed), number)
    made = TensorMap(**fields, target=f"sm_{number}a")
    assert made.fields() == fields
    assert TensorMap.decode(int(made)) == made
    assert made.replace(l2_promotion="256B").replace(l2_promotion=fields["l2_promotion"]) == made
    assert all(size >= 1 for size in made.pixel_box)


@given(st.binary(min_size=128, max_size=128), st.integers(0, 2**32), st.integers(0, 1023))
def test_any_bytes_decode_and_encode_to_themselves_or_are_refused(junk, seed, bit):
    fields = cases.legal_im2col(random.Random(seed), 100)
    broken = bytearray(junk)
    broken[8] = broken[8] & 0xF0 | 1
    for word in (int.from_bytes(broken, "little"), int(TensorMap(**fields)) ^ 1 << bit):
        assert len(TensorMap.rows(word)) == len(TensorMap.form(word).FIELDS)
        if not TensorMap.diagnose(word):
            assert int(TensorMap(**TensorMap.decode(word).fields())) == word


REFUSED = [
    ({"box": [1, 1, 1, 64]}, "P459", "either `box` or `pixel_box_lower_corner`, found both"),
    (
        {"shape": [64, 64], "strides": [128], "element_strides": [1, 1]},
        "P450",
        "an im2col map must have 3 to 5 dimensions, found 2",
    ),
    ({"shape": [1] * 6}, "P450", "`shape` must have 1 to 5 dimensions, found 6"),
    ({"shape": None}, "P459", "`shape` must be a list of integers"),
    ({"pixel_box_lower_corner": [0]}, "P459", "`pixel_box_lower_corner` must have 2 entries"),
    ({"pixel_box_upper_corner": None}, "P459", "`pixel_box_upper_corner` must be a list of integers"),
    ({"pixel_box_lower_corner": [0, -129]}, "P453", "`pixel_box_lower_corner[1]` must be -128 .. 127"),
    ({"pixel_box_upper_corner": [128, 0]}, "P453", "`pixel_box_upper_corner[0]` must be -128 .. 127"),
    ({"pixel_box_lower_corner": [0, 32]}, "P453", "32 pixels along W between corners 32 and 0"),
    ({"pixels_per_column": None}, "P459", "`pixels_per_column` must be an integer, found None"),
    ({"pixels_per_column": 1025}, "P453", "`pixels_per_column` must be 1 .. 1024, found 1025"),
    ({"channels_per_pixel": 257}, "P453", "`channels_per_pixel` must be 1 .. 256, found 257"),
    ({"channels_per_pixel": 4}, "P453", "`channels_per_pixel` must take a multiple of 16 bytes"),
    ({"channels_per_pixel": 72}, "P456", "at most 128 bytes, found 144"),
    (
        {"channels_per_pixel": 256, "pixels_per_column": 1024, "swizzle": "none"},
        "P453",
        "at most 335872 bytes of shared memory, found 524288",
    ),
    ({"element_strides": [1, 9, 1, 1]}, "P454", "`element_strides[1]` must be 1 .. 8, found 9"),
    ({"strides": [65536, 4096, 120]}, "P452", "multiple of 16 bytes, found 120"),
    ({"dtype": "u16", "oob_fill": "nan"}, "P457", "`oob_fill` nan needs a floating-point type"),
    ({"dtype": "b4x16_p64", "shape": [8, 16, 32, 128], "swizzle": "none"}, "P453", "must be 128, found 64"),
]


@pytest.mark.parametrize(("change", "code", "words"), REFUSED, ids=[f"{c}-{w[:40]}" for _, c, w in REFUSED])
def test_refused_with_the_rule(change, code, words):
    with pytest.raises(PtxkitError) as raised:
        TensorMap(**{**BASE, **change})
    found = raised.value.diagnostics
    assert code in [d.code for d in found]
    assert any(words in d.message for d in found), [d.message for d in found]


def test_words_of_other_modes_and_ranks_are_refused():
    word = int(TensorMap(**BASE))
    wide = word + (1 << 64)
    assert (
        TensorMap.diagnose(wide)[0].message == "`mode` of `tensor-map` must be 0 (tile), 1 (im2col), found 2"
    )
    two_dimensional = word & ~(0b111 << 68) | 1 << 68
    (found,) = TensorMap.diagnose(two_dimensional)
    assert found.message == "`shape` of an im2col map must have 3 to 5 dimensions, found 2"
    with pytest.raises(PtxkitError, match="expected a tile map, found one of mode im2col"):
        TiledTensorMap.decode(int(TensorMap(**{**BASE, "pixels_per_column": 1})))


def test_a_map_of_another_rank_has_other_bits():
    made = TensorMap(**BASE)
    flat = made.replace(
        shape=[8, 32, 64], strides=[4096, 128], element_strides=[1] * 3,
        pixel_box_lower_corner=[-300], pixel_box_upper_corner=[300],
    )  # fmt: skip
    assert flat.pixel_box == [632]
    assert type(flat) is not type(made)
    assert (int(flat) >> 0x38 * 8) % 2**32 == 300 << 16 | -300 % 2**16


def test_the_public_function_makes_them():
    arguments = {name: value for name, value in BASE.items() if name != "address"}
    made = ptxkit.tensor_map(BASE["address"], **arguments)
    assert bytes(made).hex() == ROWS[0][2]
    assert made.pixel_box == [16, 32]
    assert (made.counted_bytes, made.box_bytes, made.inner_bytes) == (16384, 16384, 128)


def test_requests_and_explanations_know_them():
    request = {"op": "encode", "kind": "tensor-map", **BASE}
    assert answer(request) == {"value": ROWS[0][2]}
    assert answer({"op": "decode", "kind": "tensor-map", "value": ROWS[0][2]}) == {"fields": BASE}
    found = explain("tensor-map", ROWS[0][2])
    assert found.section == "CUDA driver API, cuTensorMapEncodeIm2col"
    assert found.notes == [
        "`.im2col`: one copy moves 128 pixels of 64 channels of `f16`",
        "the bounding box is 16 x 32 of 16 x 32 pixels",
    ]
    rows = {row.field: row for row in found.rows}
    assert (rows["upper_h"].bits, rows["pixels_per_column"].value) == ("0x38[31:24]", "128")
    meanings = {(where, name): meaning for where, name, meaning, _ in TensorMap.layout()}
    assert meanings["0x38[30:26]", "upper_d"] == "im2col 5D: along D"
    assert meanings["0x38[31:24]", "box_4"] == "tile"
