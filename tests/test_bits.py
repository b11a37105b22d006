"""Bit fields: every bit accounted for, every error names field and rule, values round-trip."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxkit.bits import Word32, Word64, bits
from ptxkit.diagnostics import PtxkitError


class Sample(Word32):
    """A word with a field of every sort."""

    __slots__ = ()
    KIND = "sample"
    SECTION = "section 1"

    start = bits[7:0].scaled(16, "where it starts")
    size = bits[11:8].less_one("how much")
    way = bits[13:12].enum({"up": 0, "down": 2}, "which way")
    fast = bits[14].flag("quick")
    hole = bits[15].reserved()
    magic = bits[18:16] == 0b101
    split = bits[19].then(bits[31:28]).about("apart").default(0)
    step = bits[21:20].enum({1: 0, 8: 3}).default(1)
    narrow = bits[25:22].between(2, 9).default(2)
    rest = bits[27:26].reserved()


GOOD = {"start": 32, "size": 3, "way": "down"}


def codes(excinfo):
    return [d.code for d in excinfo.value.diagnostics]


def test_fields_land_on_their_bits():
    word = Sample(start=32, size=3, way="down", fast=True, split=0b10011, step=8, narrow=9)
    assert int(word) == (
        2 | 2 << 8 | 2 << 12 | 1 << 14 | 0b101 << 16 | 1 << 19 | 0b1001 << 28 | 3 << 20 | 9 << 22
    )
    assert (word.start, word.size, word.way, word.fast, word.split, word.step) == (32, 3, "down", True, 19, 8)
    assert bytes(word) == int(word).to_bytes(4, "little")
    assert word.hex == f"0x{int(word):08x}"


def test_words_are_values():
    assert Sample(**GOOD) == Sample(**GOOD)
    assert hash(Sample(**GOOD)) == hash(Sample(**GOOD))
    assert Sample(**GOOD) != Sample(**{**GOOD, "size": 4})
    assert Sample(**GOOD) != int(Sample(**GOOD))
    assert eval(repr(Sample(**GOOD))) == Sample(**GOOD)
    assert Sample(**GOOD).replace(size=4) == Sample(**{**GOOD, "size": 4})


@given(
    start=st.integers(0, 255).map(lambda n: n * 16),
    size=st.integers(1, 16),
    way=st.sampled_from(["up", "down"]),
    fast=st.booleans(),
    split=st.integers(0, 31),
    step=st.sampled_from([1, 8]),
    narrow=st.integers(2, 9),
)
def test_decode_undoes_encode(**values):
    word = Sample(**values)
    assert Sample.decode(int(word)) == word
    assert word.fields() == values


@given(st.integers(0, 2**32 - 1))
def test_every_word_decodes_or_is_diagnosed(value):
    if Sample.diagnose(value):
        with pytest.raises(PtxkitError):
            Sample.decode(value)
    else:
        word = Sample.decode(value)
        assert int(Sample(**word.fields())) == value
    assert [row.raw for row in Sample.rows(value)] == [f.extract(value) for f in Sample.FIELDS.values()]


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"start": 8}, "P401", "`start` of `sample` must be a multiple of 16, found 8"),
        ({"start": 4096}, "P401", "`start` of `sample` must be 0 .. 4080, found 4096"),
        ({"start": -16}, "P401", "must be 0 .. 4080, found -16"),
        ({"start": True}, "P401", "must be an integer, found True"),
        ({"start": "16"}, "P401", "must be an integer, found `16`"),
        ({"size": 0}, "P401", "`size` of `sample` must be 1 .. 16, found 0"),
        ({"size": 17}, "P401", "must be 1 .. 16, found 17"),
        ({"way": "left"}, "P404", "must be one of `up`, `down`, found `left`"),
        ({"way": ["up"]}, "P404", "must be one of `up`, `down`"),
        ({"fast": 2}, "P401", "must be true or false, found 2"),
        ({"step": 2}, "P404", "must be one of `1`, `8`, found 2"),
        ({"step": True}, "P404", "must be one of `1`, `8`, found True"),
        ({"narrow": 10}, "P401", "`narrow` of `sample` must be 2 .. 9, found 10"),
        ({"way": None}, "P405", "`sample` needs `way`"),
        ({"speed": 1}, "P402", "`sample` has no field `speed`"),
        ({"magic": 5}, "P402", "`sample` has no field `magic`"),
    ],
)
def test_a_value_that_does_not_fit_names_field_and_rule(change, code, words):
    with pytest.raises(PtxkitError) as raised:
        Sample(**{**GOOD, **change})
    assert codes(raised) == [code]
    assert words in raised.value.diagnostics[0].message


def test_all_wrong_fields_are_reported_at_once():
    with pytest.raises(PtxkitError) as raised:
        Sample(start=8, size=0, way="left", speed=1)
    assert codes(raised) == ["P401", "P401", "P404", "P402"]
    assert "section 1" in raised.value.diagnostics[0].notes


@pytest.mark.parametrize(
    ("value", "code", "words"),
    [
        (1 << 32, "P406", "`sample` is a word of 32 bits"),
        (-1, "P406", "`sample` is a word of 32 bits"),
        (0b101 << 16 | 1 << 15, "P403", "bit 15 of `sample` must be 0b0, found 0b1"),
        (0, "P403", "bits 18:16 of `sample` must be 0b101, found 0b0"),
        (0b101 << 16 | 2 << 22 | 1 << 12, "P404", "`way` of `sample` must be 0 (up), 2 (down), found 1"),
        (0b101 << 16, "P401", "`narrow` of `sample` must be 2 .. 9, found 0"),
    ],
)
def test_a_word_that_is_not_legal_says_which_bits(value, code, words):
    with pytest.raises(PtxkitError) as raised:
        Sample.decode(value)
    assert code in codes(raised)
    assert any(words in d.message for d in raised.value.diagnostics)


def test_the_table_shows_value_meaning_and_problem():
    rows = {row.field: row for row in Sample.rows(int(Sample(**GOOD)) | 1 << 15)}
    assert rows["start"][:5] == ("7:0", "start", 2, "32", "where it starts")
    assert rows["split"].bits == "19 + 31:28"
    assert rows["fast"].value == "no"
    assert "must be 0b0" in rows["hole"].problem
    assert rows["way"].problem is None


def test_the_layout_lists_bits_values_and_meaning():
    layout = {name: rest for bits_, name, *rest in Sample.layout()}
    assert layout["start"] == ["where it starts", "0 .. 4080 in steps of 16"]
    assert layout["way"] == ["which way", "up: 0, down: 2"]
    assert layout["magic"] == ["always 5", "always 5"]
    assert layout["fast"] == ["quick", "0, 1"]
    assert layout["narrow"][1] == "2 .. 9"
    assert [row[0] for row in Sample.layout()][:3] == ["7:0", "11:8", "13:12"]


def test_a_gap_an_overlap_and_a_bit_too_many_can_not_be_defined():
    with pytest.raises(TypeError, match=r"bits \[31\] are in no field"):
        type("Gap", (Word32,), {"a": bits[30:0]})
    with pytest.raises(TypeError, match="bit 16 is in low and in high"):
        type("Overlap", (Word32,), {"low": bits[16:0], "high": bits[31:16]})
    with pytest.raises(TypeError, match="or beyond the word"):
        type("Wide", (Word32,), {"a": bits[32:0]})
    with pytest.raises(TypeError, match="from high to low"):
        bits[0:3]


def test_a_subclass_replaces_the_fields_whose_bits_it_takes():
    class Base(Word64, abstract=True):
        __slots__ = ()
        KIND = "base"
        low = bits[31:0]
        high = bits[63:32].reserved()

    class Split(Base):
        __slots__ = ()
        first = bits[39:32]
        second = bits[63:40].reserved()

    assert list(Split.FIELDS) == ["low", "first", "second"]
    assert int(Split(low=1, first=2)) == 2 << 32 | 1


class Signed(Word32):
    """Numbers in two's complement."""

    __slots__ = ()
    KIND = "signed"

    low = bits[4:0].signed("five bits")
    high = bits[31:16].signed("sixteen bits")
    hole = bits[15:5].reserved()


@given(st.integers(-16, 15), st.integers(-(2**15), 2**15 - 1))
def test_signed_fields_hold_twos_complement(low, high):
    word = Signed(low=low, high=high)
    assert bytes(word)[2:] == high.to_bytes(2, "little", signed=True)
    assert int(word) % 32 == low % 32
    assert Signed.decode(int(word)) == word
    assert (word.low, word.high) == (low, high)


@pytest.mark.parametrize(
    ("field", "value", "words"), [("low", 16, "-16 .. 15"), ("high", -32769, "-32768 .. 32767")]
)
def test_signed_fields_know_their_limits(field, value, words):
    with pytest.raises(PtxkitError, match=f"must be {words}, found {value}"):
        Signed(**{"low": 0, "high": 0, field: value})
    assert Signed.FIELDS[field].allowed == words
