"""Tensor maps: equal to the driver's bytes, the driver's refusals, round trips."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tensor_map_cases import DRIVER_SWIZZLES, DRIVER_TYPES

import ptxkit
from ptxkit.descriptors import TensorMap, TiledTensorMap, tensor_map
from ptxkit.diagnostics import PtxkitError, Severity
from ptxkit.encodings.tensor_maps.codes import (
    ELEMENT_CODES,
    PADDED_SWIZZLES,
    SHARED_LIMIT,
    SWIZZLE_CODES,
    box_bytes,
    shared_bits,
)

VECTORS = Path(__file__).parent / "data" / "tensor_maps.txt"
BASE = {
    "address": 1 << 20,
    "dtype": "bf16",
    "shape": [64, 64],
    "strides": [128],
    "box": [64, 64],
    "swizzle": "none",
}
INTERLEAVED = {"shape": [4, 64, 16, 16], "strides": [32768, 512, 32]}


def parameters(name):
    """What each vector of the file was made from."""
    what, _, number = name.partition(" ")
    i = int(number) if number else 0
    return {
        "base": {},
        "dt": {"dtype": DRIVER_TYPES[i], "strides": [1024]},
        "l2": {"l2_promotion": ("none", "64B", "128B", "256B")[i % 4]},
        "oob": {"oob_fill": ("zero", "nan")[i % 2]},
        "sw": {"swizzle": DRIVER_SWIZZLES[i % 7], "box": [64, (64, 16, 32, 64)[i] if i < 4 else 64]},
        "il": (
            {},
            {**INTERLEAVED, "box": [1, 8, 8, 8], "interleave": "16B"},
            {**INTERLEAVED, "box": [1, 8, 8, 16], "interleave": "32B", "swizzle": "32B"},
        )[i if what == "il" else 0],
        "addr": {"address": 0x7F123456780},
        "dim": {"shape": [424090, 74565], "strides": [149136]},
        "r5": {
            "shape": [9, 7, 5, 3, 64],
            "strides": [13440, 1920, 384, 128],
            "box": [5, 4, 3, 2, 64],
            "element_strides": [5, 4, 3, 2, 1],
        },
        "bigstride": {"strides": [2**39 + 80]},
        "r1": {"shape": [4096], "strides": [], "box": [256]},
    }[what]


ROWS = [
    line.rsplit(" ", 1) for line in VECTORS.read_text().splitlines() if not line.startswith(("#", "sw 7"))
]
"""The driver's swizzle code 7 has no name, so nobody can ask for it."""


def address_of(text):
    return int.from_bytes(bytes.fromhex(text)[:8], "little")


@pytest.mark.parametrize(("name", "expected"), ROWS, ids=[name for name, _ in ROWS])
def test_equals_the_driver(name, expected):
    if expected == "rc1":
        with pytest.raises(PtxkitError):
            TensorMap(**{**BASE, **parameters(name)}, target="sm_90a")
        return
    fields = {**BASE, **parameters(name)}
    if name == "addr":
        fields["address"] = address_of(expected)
    made = TensorMap(**fields)
    assert bytes(made).hex() == expected
    decoded = TensorMap.decode(int.from_bytes(bytes.fromhex(expected), "little"))
    assert decoded == made
    assert TensorMap(**decoded.fields()) == made


@st.composite
def legal_maps(draw):
    """Arguments of a map that every sm_100 driver takes."""
    dtype = draw(st.sampled_from(sorted(ELEMENT_CODES)))
    padded = dtype in ("b4x16_p64", "b6x16_p32")
    rank = draw(st.integers(1, 5))
    swizzle = draw(st.sampled_from(PADDED_SWIZZLES.get(dtype, tuple(SWIZZLE_CODES))))
    bits = 8 if padded else 4 if dtype == "b4x16" else shared_bits(dtype)
    unit = 128 // bits
    span = {"32B": 32, "64B": 64, "96B": 96, "128B": 128}.get(swizzle.partition("-")[0], 10**9)
    most = min(256 // unit, span // 16)
    inner = 128 if padded else unit * draw(st.integers(1, most))
    wide = 32 if padded else 16
    shape = [draw(st.integers(1, 2**32)) for _ in range(rank)]
    multiple = 128 if padded else 2 if dtype == "b4x16" else 1
    shape[-1] = max(multiple, shape[-1] // multiple * multiple)
    box = [draw(st.integers(1, 8)) for _ in range(rank - 1)] + [inner]
    element_strides = [draw(st.integers(1, 8)) for _ in range(rank - 1)] + [1]
    assume(box_bytes(dtype, box, element_strides) <= SHARED_LIMIT)
    strides = [wide * draw(st.integers(0, (2**40 - 1) // wide)) for _ in range(rank - 1)]
    floating = dtype in ("f16", "bf16", "f32", "f32.ftz", "tf32", "tf32.ftz", "f64")
    return {
        "dtype": dtype,
        "address": wide * draw(st.integers(0, 2**47 // wide)),
        "shape": shape,
        "strides": strides,
        "box": box,
        "element_strides": element_strides,
        "interleave": "none",
        "swizzle": swizzle,
        "l2_promotion": draw(st.sampled_from(["none", "64B", "128B", "256B"])),
        "oob_fill": draw(st.sampled_from(["zero", "nan"])) if floating else "zero",
    }


@given(legal_maps())
def test_decode_undoes_encode(fields):
    made = TensorMap(**fields)
    assert made.fields() == fields
    assert TensorMap.decode(int(made)) == made
    assert len(bytes(made)) == 128


@given(st.binary(min_size=128, max_size=128), legal_maps(), st.integers(0, 1023))
def test_any_bytes_decode_and_encode_to_themselves_or_are_refused(junk, fields, bit):
    for word in (int.from_bytes(junk, "little"), int(TensorMap(**fields)) ^ 1 << bit):
        assert len(TensorMap.rows(word)) == len(TensorMap.form(word).FIELDS)
        if not TensorMap.diagnose(word):
            assert int(TensorMap(**TensorMap.decode(word).fields())) == word


def test_a_device_made_map_keeps_what_the_driver_would_have_noted():
    zeroed = int(TensorMap(**BASE).replace(box_bytes=0, shared_alignment=0))
    decoded = TensorMap.decode(zeroed)
    assert decoded.fields()["box_bytes"] == 0
    assert int(TensorMap(**decoded.fields())) == zeroed


REFUSED = [
    ({"address": (1 << 20) + 8}, "P451", "`address` must be a multiple of 16 bytes, found 0x100008"),
    ({"address": -16}, "P451", "below 2^57"),
    ({"address": 2**57}, "P451", "below 2^57, found 0x200000000000000"),
    ({"address": "x"}, "P459", "`address` must be an integer"),
    ({"dtype": "f8"}, "P459", "`dtype` must be one of"),
    ({"dtype": None}, "P459", "`dtype` must be one of"),
    ({"shape": []}, "P450", "`shape` must have 1 to 5 dimensions, found 0"),
    ({"shape": [1] * 6}, "P450", "`shape` must have 1 to 5 dimensions, found 6"),
    ({"shape": [64, 0]}, "P450", "`shape[1]` must be 1 .. 4294967296, found 0"),
    ({"shape": [2**32 + 1, 64]}, "P450", "`shape[0]` must be 1 .. 4294967296"),
    ({"shape": 64}, "P459", "`shape` must be a list of integers"),
    ({"shape": [64, 6.5]}, "P459", "`shape[1]` must be an integer"),
    ({"strides": [120]}, "P452", "`strides[0]` must be a multiple of 16 bytes, found 120"),
    ({"strides": [2**40]}, "P452", "`strides[0]` must be 0 .. 1099511627775"),
    ({"strides": [128, 128]}, "P459", "`strides` must have 1 entry"),
    ({"box": [64, 0]}, "P453", "`box[1]` must be 1 .. 256, found 0"),
    ({"box": [257, 64]}, "P453", "`box[0]` must be 1 .. 256, found 257"),
    ({"box": [64, 4]}, "P453", "`box[-1]` must take a multiple of 16 bytes, found 4 elements of `bf16`"),
    ({"box": [64]}, "P459", "`box` must have 2 entries for this `shape`, found 1"),
    ({"element_strides": [9, 1]}, "P454", "`element_strides[0]` must be 1 .. 8, found 9"),
    ({"element_strides": [0, 1]}, "P454", "`element_strides[0]` must be 1 .. 8, found 0"),
    ({"interleave": "16B"}, "P450", "`interleave` 16B needs 3 dimensions or more, found 2"),
    ({"interleave": "64B"}, "P404", "`interleave` of `tensor-map` must be one of"),
    (
        {"swizzle": "32B"},
        "P456",
        "`swizzle` 32B needs an innermost box dimension of at most 32 bytes, found 128",
    ),
    ({"swizzle": "64B"}, "P456", "at most 64 bytes, found 128"),
    ({"swizzle": "128B", "box": [64, 72]}, "P456", "at most 128 bytes, found 144"),
    ({"swizzle": "128B-64B-atom", "target": "sm_90a"}, "P458", "needs sm_100 or later, found `sm_90a`"),
    ({"swizzle": "96B", "box": [64, 48], "target": "sm_100a"}, "P458", "`swizzle` 96B needs sm_103a"),
    ({"dtype": "u16", "oob_fill": "nan"}, "P457", "`oob_fill` nan needs a floating-point type"),
    ({"target": "sm_80"}, "P458", "tensor maps need sm_90 or later, found `sm_80`"),
    ({"target": "h200"}, "P458", "`target` must be a target such as `sm_90a`, found `h200`"),
    ({"l2_promotion": "512B"}, "P404", "`l2_promotion` of `tensor-map` must be one of"),
    ({"colour": 1}, "P402", "`tensor-map` has no field `colour`"),
    ({"dtype": "b4x16", "target": "sm_90a"}, "P458", "`b4x16` needs sm_100 or later"),
    ({"dtype": "b4x16", "oob_fill": "nan"}, "P457", "found `b4x16`"),
    (
        {"dtype": "b4x16", "shape": [64, 65]},
        "P450",
        "`shape[-1]` of `b4x16` must be a multiple of 2, found 65",
    ),
    ({"dtype": "b4x16", "box": [64, 48]}, "P453", "multiple of 16 bytes"),
]
THREE = {"shape": [4, 64, 64], "strides": [8192, 128], "box": [1, 8, 16]}
PADDED = {"shape": [64, 128], "box": [8, 128], "dtype": "b6x16_p32"}
REFUSED += [
    ({**THREE, "interleave": "16B", "box": [1, 8, 1]}, "P453", "multiple of 16 bytes, found 1 element"),
    ({**THREE, "box": [64, 256, 16]}, "P453", "at most 335872 bytes of shared memory, found 524288"),
    (
        {"box": [256, 208], "dtype": "f32", "target": "sm_120a"},
        "P453",
        "at most 102400 bytes of shared memory",
    ),
    (
        {**THREE, "interleave": "32B", "swizzle": "32B", "address": 16},
        "P451",
        "32 bytes with `interleave 32B`",
    ),
    (
        {**THREE, "interleave": "32B", "swizzle": "32B", "strides": [8208, 128]},
        "P452",
        "`strides[0]` must be",
    ),
    (
        {**THREE, "interleave": "16B", "swizzle": "96B"},
        "P455",
        "`swizzle` 96B needs `interleave` none, found 16B",
    ),
    ({**PADDED, "box": [8, 64]}, "P453", "`box[-1]` of `b6x16_p32` must be 128, found 64"),
    (
        {**PADDED, "shape": [64, 192]},
        "P450",
        "`shape[-1]` of `b6x16_p32` must be a multiple of 128, found 192",
    ),
    ({**PADDED, "address": 16}, "P451", "must be a multiple of 32 bytes with `b6x16_p32`, found 0x10"),
    ({**PADDED, "strides": [112]}, "P452", "must be a multiple of 32 bytes with `b6x16_p32`, found 112"),
    ({**PADDED, "swizzle": "128B-32B-atom-8B-flip"}, "P456", "`b6x16_p32` needs `swizzle` none, 128B"),
    (
        {**PADDED, "dtype": "b4x16_p64", "swizzle": "128B-64B-atom"},
        "P456",
        "`b4x16_p64` needs `swizzle` none, 128B",
    ),
]


@pytest.mark.parametrize(("change", "code", "words"), REFUSED, ids=[f"{c}-{w[:30]}" for _, c, w in REFUSED])
def test_refused_with_the_rule(change, code, words):
    with pytest.raises(PtxkitError) as raised:
        TensorMap(**{**BASE, **change})
    found = raised.value.diagnostics
    assert code in [d.code for d in found]
    assert any(words in d.message for d in found), [d.message for d in found]


@pytest.mark.parametrize(
    "fields", [BASE, {**BASE, **PADDED}, {**BASE, **THREE}], ids=["base", "padded", "three"]
)
def test_what_the_refusals_start_from_is_legal(fields):
    TensorMap(**fields)


def test_strides_default_to_contiguous():
    made = tensor_map(0, dtype="f32", shape=[4, 8, 16], box=[1, 8, 16], swizzle="64B")
    assert made.strides == [512, 64]
    packed = tensor_map(0, dtype="b4x16", shape=[8, 64], box=[8, 64], swizzle="none")
    assert packed.strides == [32]


def test_the_public_function_takes_buffers_and_addresses():
    arguments = {"dtype": "bf16", "shape": (64, 64), "strides": (128,), "box": (64, 64)}
    plain = ptxkit.tensor_map(1 << 20, **arguments)
    assert bytes(plain).hex() == dict(ROWS)["sw 3"]
    buffer = SimpleNamespace(address=1 << 20)
    made = ptxkit.tensor_map(buffer, **arguments)
    assert made == plain
    assert made.buffer is buffer
    assert plain.buffer is None
    interface = {"data": (1 << 20, False)}
    assert ptxkit.tensor_map(SimpleNamespace(__cuda_array_interface__=interface), **arguments) == plain
    with pytest.raises(PtxkitError, match="needs a device buffer or an address, found list"):
        ptxkit.tensor_map([1, 2], **arguments)


def warnings_of(made):
    found = TensorMap.diagnose(int(made))
    assert [d.severity for d in found] == [Severity.WARNING] * len(found)
    return [(d.code, d.message) for d in found]


@pytest.mark.parametrize("swizzle", ["none", "64B", "128B"])
def test_32_byte_interleave_goes_with_any_swizzle_as_the_driver_has_it(swizzle):
    interleaved = {**BASE, **THREE, "interleave": "32B"}
    ((code, message),) = warnings_of(TensorMap(**{**interleaved, "swizzle": swizzle}, target="sm_90a"))
    assert code == "P455"
    assert message == f"`interleave` 32B is specified with `swizzle` 32B alone, found {swizzle}"
    assert warnings_of(TensorMap(**{**interleaved, "swizzle": "32B"})) == []


def test_the_driver_measures_a_box_by_floor_and_the_copy_by_ceil():
    large = {
        **BASE,
        "shape": [64, 64, 128],
        "strides": [16384, 256],
        "box": [255, 255, 128],
        "swizzle": "none",
    }
    with pytest.raises(PtxkitError, match="at most 335872 bytes of shared memory, found 16646400"):
        TensorMap(**large)
    made = TensorMap(**{**large, "element_strides": [7, 7, 1]})
    assert made.counted_bytes == made.box_bytes == 36 * 36 * 256 <= SHARED_LIMIT
    assert warnings_of(made) == [
        ("P453", "one copy moves 350464 bytes, more than a CTA's shared memory (334848)")
    ]


def test_the_driver_makes_boxes_as_large_as_the_shared_memory_of_a_multiprocessor():
    """As measured on an H200: 233472 bytes, though a CTA has 232448 at most. Without a target the largest
    one's limit holds."""
    large = {**BASE, "dtype": "u8", "shape": [64, 64, 256], "strides": [16384, 256]}
    made = TensorMap(**{**large, "box": [16, 57, 256]}, target="sm_90a")
    assert made.counted_bytes == 233472
    with pytest.raises(PtxkitError, match="at most 233472 bytes of shared memory, found 237568"):
        TensorMap(**{**large, "box": [16, 58, 256]}, target="sm_90a")
    assert TensorMap(**{**large, "box": [16, 58, 256]}, target="sm_107a").counted_bytes == 237568


@given(legal_maps())
def test_what_sm_90_lacks_is_refused_for_it(fields):
    lacks = "x16" in fields["dtype"] or "atom" in fields["swizzle"]
    assume(fields["swizzle"] != "96B")
    if lacks:
        with pytest.raises(PtxkitError) as raised:
            TensorMap(**fields, target="sm_90a")
        assert {d.code for d in raised.value.diagnostics} == {"P458"}
    else:
        assert TensorMap(**fields, target="sm_90a") == TensorMap(**fields, target="sm_100a")


def test_the_copied_elements_round_up_where_the_driver_rounds_down():
    made = TensorMap(**{**BASE, "box": [7, 64], "element_strides": [2, 1]})
    assert isinstance(made, TiledTensorMap)
    assert made.copied == [4, 64]
    assert made.box_bytes == 3 * 64 * 2
