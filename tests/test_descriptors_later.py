"""Descriptors as PTX ISA 9.4 has them: tables 48, 49 and 51 to 53 restated as the manual prints them."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys

import pytest

from ptxkit.descriptors import INSTRUCTION_DESCRIPTORS, KINDS, SmemDescTcgen05
from ptxkit.diagnostics import PtxkitError
from ptxkit.encodings.requests import answer
from ptxkit.layouts.scales import factor_count

RUBIN, BLACKWELL, ULTRA = (10, 7), (10, 0), (10, 3)
TYPES = {
    "f8f6f4": {"a": "e4m3", "b": "e5m2", "d": "f32"},
    "mxf8f6f4": {"a": "e5m2", "b": "e3m2"},
    "mxf4": {},
    "mxf4nvf4": {"scale": "ue4m3"},
    "ti16": {},
}
SIZES = list(itertools.product(range(16, 321, 16), range(8, 289, 8)))


def steps(first: int, step: int) -> range:
    return range(first, 257, step)


# kind, K, sparse -> {(cta_group, ws): (M, N)}, what table 48 adds to table 39
WS = (32, 64, 128)
SHAPES = {
    ("ti16", 16, False): {
        (1, False): [((64,), steps(8, 8)), ((128,), steps(16, 16))],
        (2, False): [((128, 256), steps(32, 32))],
        (1, True): [(WS, (64, 128, 256))],
    },
    ("ti16", 32, True): {
        (1, False): [((64,), steps(8, 8)), ((128,), steps(16, 16))],
        (2, False): [((128, 256), steps(32, 32))],
        (1, True): [(WS, (64, 128))],
    },
    ("f8f6f4", 64, False): {
        (1, False): [((128,), steps(16, 16))],
        (2, False): [((256,), steps(16, 16))],
        (1, True): [(WS, (64, 128, 256))],
    },
    ("f8f6f4", 128, True): {
        (1, False): [((64, 128), steps(8, 8))],
        (2, False): [((128, 256), steps(16, 16))],
        (1, True): [(WS, (64, 128))],
    },
    ("mxf8f6f4", 64, False): {(1, False): [((128,), steps(8, 8))], (2, False): [((256,), steps(16, 16))]},
    ("mxf8f6f4", 128, True): {(1, False): [((128,), steps(8, 8))], (2, False): [((256,), steps(16, 16))]},
    ("mxf4", 128, False): {(2, False): [((256,), steps(16, 16))]},
    ("mxf4nvf4", 128, False): {(2, False): [((256,), steps(16, 16))]},
    ("mxf4", 192, True): {(1, False): [((128,), steps(8, 8))], (2, False): [((256,), steps(16, 16))]},
    ("mxf4nvf4", 192, True): {(1, False): [((128,), steps(8, 8))], (2, False): [((256,), steps(16, 16))]},
}


@pytest.mark.parametrize(("kind", "k", "sparse"), SHAPES)
def test_exactly_the_shapes_of_table_48(kind: str, k: int, sparse: bool) -> None:
    cls = INSTRUCTION_DESCRIPTORS[kind]
    ways = {
        way: {size for ms, ns in parts for size in itertools.product(ms, ns)}
        for way, parts in SHAPES[kind, k, sparse].items()
    }
    for m, n in SIZES:
        try:
            made = cls(m=m, n=n, k=k, sparse=sparse, **TYPES[kind])
        except PtxkitError:
            assert not any((m, n) in sizes for sizes in ways.values()), (m, n)
            continue
        assert made.k == k
        assert cls.decode(int(made)) == made
        assert cls(**made.fields()) == made
        for way in itertools.product((1, 2), (False, True)):
            assert bool(made.check_use(*way)) != ((m, n) in ways.get(way, ())), (m, n, way)


def bits_of(m: int, n: int, **fields: int) -> int:
    """A descriptor from bit positions of tables 51 to 53; M >> 4 at 24 and M >> 7 at 27 are the same."""
    return n >> 3 << 17 | m >> 4 << 24 | sum(value << int(at[3:]) for at, value in fields.items())


GOLDEN = [
    ("ti16", {"m": 128, "n": 64}, bits_of(128, 64, bit4=2, bit7=3, bit10=3)),
    ("ti16", {"m": 64, "n": 8, "negate_b": True}, bits_of(64, 8, bit4=2, bit7=3, bit10=3, bit14=1)),
    (
        "ti16",
        {"m": 256, "n": 32, "sparse": True, "sparsity_selector": 1},
        bits_of(256, 32, bit0=1, bit2=1, bit4=2, bit7=3, bit10=3),
    ),
    ("f8f6f4", {"m": 128, "n": 64, "k": 64, **TYPES["f8f6f4"]}, bits_of(128, 64, bit4=1, bit10=1, bit29=1)),
    (
        "mxf8f6f4",
        {"m": 256, "n": 64, "k": 64, "sfa_id": 1, "sfa_lanes": 128, **TYPES["mxf8f6f4"]},
        bits_of(256, 64, bit7=1, bit10=4, bit23=1, bit26=1, bit29=1, bit31=1),
    ),
    ("mxf4", {"m": 256, "n": 64, "k": 128}, bits_of(256, 64, bit3=1, bit7=1, bit10=1, bit23=1)),
    ("mxf4", {"m": 256, "n": 64, "k": 96}, bits_of(256, 64, bit7=1, bit10=1, bit23=1, bit31=1)),
    (
        "mxf4",
        {"m": 128, "n": 64, "k": 192, "sparse": True, "sparsity_version": 1},
        bits_of(128, 64, bit2=1, bit7=1, bit10=1, bit12=1, bit23=1, bit31=1),
    ),
    (
        "mxf4nvf4",
        {"m": 128, "n": 64, "scale": "ue5m3", "sfa_id": 2, "sfb_id": 2, "sfa_lanes": 128},
        bits_of(128, 64, bit4=2, bit7=1, bit10=1, bit24=1, bit26=1, bit29=2),
    ),
    (
        "mxf4nvf4",
        {"m": 128, "n": 64, "scale": "ue4m3", "sparse": True, "sparsity_version": 1},
        bits_of(128, 64, bit2=1, bit7=1, bit10=1, bit12=1),
    ),
]


@pytest.mark.parametrize(("kind", "fields", "word"), GOLDEN, ids=[hex(word) for *_, word in GOLDEN])
def test_bits_are_where_tables_51_to_53_have_them(kind: str, fields: dict, word: int) -> None:
    cls = INSTRUCTION_DESCRIPTORS[kind]
    assert int(cls(**fields)) == word
    found = cls.decode(word).fields()
    assert {name: found[name] for name in fields} == fields
    assert int(cls(**found)) == word


TARGETS = [
    ("ti16", {}, {RUBIN}),
    ("f8f6f4", {}, {BLACKWELL, ULTRA, RUBIN}),
    ("f8f6f4", {"k": 64}, {RUBIN}),
    ("f8f6f4", {"k": 128, "sparse": True}, {RUBIN}),
    ("mxf8f6f4", {"k": 64}, {RUBIN}),
    ("mxf8f6f4", {"sfa_lanes": 128}, {RUBIN}),
    ("mxf4", {}, {BLACKWELL, ULTRA, RUBIN}),
    ("mxf4", {"k": 96}, {ULTRA, RUBIN}),
    ("mxf4", {"k": 128}, {RUBIN}),
    ("mxf4", {"sparse": True}, {BLACKWELL, ULTRA}),
    ("mxf4", {"sparse": True, "sparsity_version": 1}, {RUBIN}),
    ("mxf4", {"sparse": True, "sparsity_version": 1, "k": 192}, {RUBIN}),
    ("mxf4", {"sparsity_version": 1}, {BLACKWELL, ULTRA, RUBIN}),
    ("mxf4nvf4", {"scale": "ue5m3"}, {RUBIN}),
    ("mxf4nvf4", {"scale": "ue4m3"}, {BLACKWELL, ULTRA, RUBIN}),
]


@pytest.mark.parametrize(("kind", "change", "targets"), TARGETS)
def test_what_only_some_targets_have(kind: str, change: dict, targets: set) -> None:
    word = INSTRUCTION_DESCRIPTORS[kind](**{**TYPES[kind], "m": 256, "n": 64, **change})
    for capability in (BLACKWELL, ULTRA, RUBIN):
        problems = word.check_target(capability)
        assert (not problems) == (capability in targets)
        assert all(problem.code == "P428" for problem in problems)


@pytest.mark.parametrize(
    ("kind", "change", "code"),
    [
        ("ti16", {"transpose_a": True}, "P427"),
        ("ti16", {"saturate": True}, "P427"),
        ("ti16", {"k": 32}, "P425"),
        ("ti16", {"sparsity_selector": 1}, "P422"),
        ("f8f6f4", {"k": 64, "a": "e2m3"}, "P421"),
        ("f8f6f4", {"k": 64, "b": "e2m1"}, "P421"),
        ("f8f6f4", {"k": 96}, "P425"),
        ("f8f6f4", {"k": 32, "sparse": True}, "P425"),
        ("mxf8f6f4", {"k": 64, "b": "e2m1", "transpose_b": True}, "P423"),
        ("mxf8f6f4", {"scale": "ue5m3"}, "P404"),
        ("mxf4", {"scale": "ue5m3"}, "P404"),
        ("mxf4", {"k": 128, "sparse": True, "m": 256}, None),
        ("mxf4", {"k": 256, "sparse": True}, "P425"),
        ("mxf4nvf4", {"sfa_lanes": 64}, "P404"),
        ("mxf4nvf4", {"scale": "ue5m3", "sfa_id": 1}, "P424"),
    ],
)
def test_what_no_target_has_is_refused(kind: str, change: dict, code: str | None) -> None:
    fields = {**TYPES[kind], "m": 128, "n": 64, **change}
    if code is None:
        assert INSTRUCTION_DESCRIPTORS[kind](**fields).k_code == 0
        return
    with pytest.raises(PtxkitError) as raised:
        INSTRUCTION_DESCRIPTORS[kind](**fields)
    assert raised.value.diagnostics[0].code == code


def test_codes_of_k_without_meaning_are_refused() -> None:
    dense = int(INSTRUCTION_DESCRIPTORS["mxf4"](m=256, n=64))
    for word in (dense | 1 << 3 | 1 << 31, dense | 1 << 3 | 1 << 2):
        with pytest.raises(PtxkitError):
            INSTRUCTION_DESCRIPTORS["mxf4"].decode(word)


# table 68: scale_vec, K's code, by block -> columns of scale_A
FACTORS = {
    ("1X", 0): (1, 1), ("1X", 1): (1, 1),
    ("2X", 0): (2, 2), ("2X", 1): (3, 2), ("2X", 2): (4, 2),
    ("4X", 0): (4, 4), ("4X", 1): (6, 4), ("4X", 2): (8, 4),
}  # fmt: skip


def test_scale_factors_of_a_row_by_table_68() -> None:
    for (vector, code), (by_block, by_count) in FACTORS.items():
        assert factor_count(vector, code) == by_block
        if code != 1:  # with K = 96, `.scale_vec` is read as the size of a block
            assert factor_count(vector, code, by_block=False) == by_count


# ---- shared memory


def test_addresses_of_15_bits() -> None:
    fields = {"address": 0x51230, "leading_byte_offset": 0x40010}
    word = SmemDescTcgen05(**fields, stride_byte_offset=128, swizzle="none")
    assert int(word) & 0xFFFFFFFF == 0x5123 | 0x4001 << 16
    assert SmemDescTcgen05.decode(int(word)) == word
    assert [problem.message for problem in word.check_target(BLACKWELL)] == [
        "`address` of 0x51230 needs sm_107f, found sm_100",
        "`leading_byte_offset` of 0x40010 needs sm_107f, found sm_100",
    ]
    assert word.check_target(RUBIN) == []


def test_the_segment_of_a_row_of_indexes_is_bit_53() -> None:
    word = SmemDescTcgen05(
        address=0, leading_byte_offset=16, stride_byte_offset=128, swizzle="none", lut_segment=24
    )
    assert int(word) >> 53 & 1 == 1
    assert word.check_target(BLACKWELL)
    assert not word.check_target(RUBIN)


# ---- by request


def test_requests_may_name_a_target() -> None:
    request = {"op": "encode", "kind": "idesc.ti16", "m": 128, "n": 64}
    assert answer({**request, "arch": "sm_107f"}) == answer(request) == {"value": "0x08100da0"}
    assert answer({**request, "arch": "sm_100a"})["error"]["code"] == "P428"
    assert answer({**request, "arch": "sm_1"})["error"]["code"] == "P407"
    decoded = {"op": "decode", "kind": "idesc.ti16", "value": "0x08100da0"}
    assert answer({**decoded, "arch": "sm_107a"})["fields"]["a"] == "s1z4m11"
    assert answer({**decoded, "arch": "sm_120a"})["error"]["code"] == "P428"


def test_explain_says_what_needs_a_target() -> None:
    made = subprocess.run(
        [sys.executable, "-m", "ptxkit", "explain", "idesc.mxf4nvf4", "0x11100488", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(made.stdout)["notes"][2:] == ["`k` of 128 needs sm_107f", "`scale` ue5m3 needs sm_107f"]
    assert "idesc.ti16" in KINDS
