"""Shared-memory descriptors: golden values, legality, round trips."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxkit.descriptors import SmemDescTcgen05, SmemDescWgmma, base_offset
from ptxkit.diagnostics import PtxkitError

# What CUTLASS's make_umma_desc and make_gmma_desc give for bf16, MN = 128, BK = 64, address 0.
TCGEN05_GOLDEN = [
    # word                leading  stride  swizzle
    (0x0000400800800000, 128 * 16, 8 * 16, "none"),
    (0x0000404000080000, 8 * 16, 64 * 16, "none"),
    (0xC000401000010000, 16, 256, "32B"),
    (0x8000402000010000, 16, 512, "64B"),
    (0x4000404000010000, 16, 1024, "128B"),
    (0xC000408000100000, 16 * 16, 128 * 16, "32B"),
    (0x8000408000200000, 32 * 16, 128 * 16, "64B"),
    (0x4000410000400000, 64 * 16, 256 * 16, "128B"),
    (0x2000408000200000, 32 * 16, 128 * 16, "128B-32B-atom"),
]
WGMMA_GOLDEN = [
    (0x4000004000010000, 16, 1024, "128B"),
    (0xC000001000010000, 16, 256, "32B"),
    (0x4000008000400000, 64 * 16, 128 * 16, "128B"),
]


@pytest.mark.parametrize(("word", "leading", "stride", "swizzle"), TCGEN05_GOLDEN)
def test_tcgen05_golden(word, leading, stride, swizzle):
    made = SmemDescTcgen05(address=0, leading_byte_offset=leading, stride_byte_offset=stride, swizzle=swizzle)
    assert int(made) == word
    assert SmemDescTcgen05.decode(word) == made


@pytest.mark.parametrize(("word", "leading", "stride", "swizzle"), WGMMA_GOLDEN)
def test_wgmma_golden(word, leading, stride, swizzle):
    made = SmemDescWgmma(address=0, leading_byte_offset=leading, stride_byte_offset=stride, swizzle=swizzle)
    assert int(made) == word
    assert SmemDescWgmma.decode(word) == made


def test_the_high_word_that_triton_writes():
    made = SmemDescTcgen05(address=0, leading_byte_offset=16, stride_byte_offset=1024, swizzle="128B")
    assert int(made) // 2**32 == 0x40004040


units = st.integers(0, 2**14 - 1).map(lambda n: 16 * n)
fields = {"address": units, "leading_byte_offset": units, "stride_byte_offset": units}


@given(st.fixed_dictionaries(fields), st.sampled_from(["none", "32B", "64B", "128B"]), st.integers(0, 7))
def test_wgmma_round_trip(values, swizzle, base):
    values = {**values, "base_offset": base if swizzle != "none" else 0, "swizzle": swizzle}
    word = SmemDescWgmma(**values)
    assert word.fields() == values
    assert SmemDescWgmma.decode(int(word)) == word


@given(
    st.fixed_dictionaries(fields),
    st.sampled_from(["none", "32B", "64B", "128B", "128B-32B-atom"]),
    st.integers(0, 7),
    st.booleans(),
)
def test_tcgen05_round_trip(values, swizzle, base, absolute):
    absolute = absolute and swizzle == "128B"
    base = 0 if absolute or swizzle == "none" else base
    values = {**values, "base_offset": base, "swizzle": swizzle}
    values["leading_mode"] = "absolute" if absolute else "relative"
    values["lut_segment"] = 0
    word = SmemDescTcgen05(**values)
    assert word.fields() == values
    assert SmemDescTcgen05.decode(int(word)) == word


@pytest.mark.parametrize("kind", [SmemDescWgmma, SmemDescTcgen05])
@given(word=st.integers(0, 2**64 - 1), clear=st.booleans())
def test_every_legal_word_encodes_to_itself(kind, word, clear):
    if clear:  # make most words legal: give every fixed field its value
        for field in kind.FIELDS.values():
            if field.fixed is not None:
                word = word - field.place(field.extract(word)) + field.place(field.fixed)
    if kind.diagnose(word):
        with pytest.raises(PtxkitError):
            kind.decode(word)
    else:
        assert int(kind(**kind.decode(word).fields())) == word


def test_reserved_swizzle_codes_are_refused():
    for code in (3, 5, 7):
        with pytest.raises(PtxkitError) as raised:
            SmemDescTcgen05.decode(code << 61 | 1 << 46)
        assert raised.value.diagnostics[0].code == "P404"


@pytest.mark.parametrize("bit", [15, 31, *range(54, 61)])
def test_every_reserved_bit_is_refused(bit):
    with pytest.raises(PtxkitError) as raised:
        SmemDescTcgen05.decode(0x4000404000010000 | 1 << bit)
    assert raised.value.diagnostics[0].code == "P403"


@pytest.mark.parametrize("swizzle", ["none", "32B", "64B", "128B-32B-atom", "128B"])
@pytest.mark.parametrize("base", [0, 1])
def test_absolute_mode_is_for_128B_and_base_offset_0(swizzle, base):
    def make():
        return SmemDescTcgen05(
            address=0,
            leading_byte_offset=1024,
            stride_byte_offset=1024,
            base_offset=base,
            leading_mode="absolute",
            swizzle=swizzle,
        )

    if swizzle == "128B" and not base:
        assert int(make()) >> 52 & 1
    else:
        with pytest.raises(PtxkitError) as raised:
            make()
        assert {d.code for d in raised.value.diagnostics} <= {"P410", "P411"}


@pytest.mark.parametrize("kind", [SmemDescWgmma, SmemDescTcgen05])
@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"address": 8}, "P401"),
        ({"address": 0x80000}, "P401"),
        ({"leading_byte_offset": 4}, "P401"),
        ({"stride_byte_offset": -16}, "P401"),
        ({"base_offset": 8}, "P401"),
        ({"swizzle": "256B"}, "P404"),
        ({"swizzle": None}, "P405"),
        ({"base_offset": 1, "swizzle": "none"}, "P410"),
    ],
)
def test_illegal_fields_are_refused(kind, change, code):
    good = {"address": 0, "leading_byte_offset": 16, "stride_byte_offset": 1024, "swizzle": "128B"}
    with pytest.raises(PtxkitError) as raised:
        kind(**{**good, **change})
    assert [d.code for d in raised.value.diagnostics] == [code]


def test_wgmma_has_no_32_byte_atom():
    with pytest.raises(PtxkitError):
        SmemDescWgmma(address=0, leading_byte_offset=0, stride_byte_offset=0, swizzle="128B-32B-atom")


def test_base_offset_follows_the_manual():
    assert base_offset(0x1234, "none") == 0
    for swizzle, size in (("32B", 256), ("64B", 512), ("128B", 1024)):
        for start in range(0, 4096, 128):
            assert base_offset(start, swizzle) == (0 if start % size == 0 else (start >> 7) & 7)


def test_golden_words_differ_from_one_another():
    assert len({word for word, *_ in itertools.chain(TCGEN05_GOLDEN, WGMMA_GOLDEN)}) == 12
