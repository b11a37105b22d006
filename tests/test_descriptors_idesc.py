"""Instruction descriptors: golden values, and the manual's tables walked through in full.

The tables are restated here, independently of `ptxkit.encodings.shapes`, as the manual prints them.
"""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxkit.descriptors import INSTRUCTION_DESCRIPTORS
from ptxkit.diagnostics import PtxkitError

BF16 = {"a": "bf16", "b": "bf16", "d": "f32"}
F16 = {"a": "f16", "b": "f16", "d": "f32"}
MXF8 = {"a": "e4m3", "b": "e4m3"}

GOLDEN = [  # CUTLASS = JAX = Triton = CuTe DSL where they overlap
    (0x08200490, "f16", {"m": 128, "n": 128, **BF16}),
    (0x08210490, "f16", {"m": 128, "n": 128, "transpose_b": True, **BF16}),
    (0x04210490, "f16", {"m": 64, "n": 128, "transpose_b": True, **BF16}),
    (0x10408490, "f16", {"m": 256, "n": 256, "transpose_a": True, **BF16}),
    (0x04020000, "f16", {"m": 64, "n": 8, "a": "f16", "b": "f16", "d": "f16"}),
    (0x08200910, "tf32", {"m": 128, "n": 128}),
    (0x082004A0, "i8", {"m": 128, "n": 128, "a": "s8", "b": "s8"}),
    (0x08040028, "i8", {"m": 128, "n": 16, "a": "u8", "b": "u8", "saturate": True}),
    (0x08200410, "f8f6f4", {"m": 128, "n": 128, "a": "e4m3", "b": "e5m2", "d": "f32"}),
    (0x08200014, "f16", {"m": 128, "n": 128, "sparse": True, **F16}),
    (0x08200015, "f16", {"m": 128, "n": 128, "sparse": True, "sparsity_selector": 1, **F16}),
    (0x42100490, "f16", {"m": 32, "n": 64, "max_shift": 8, **BF16}),
    (0x08200480, "mxf4nvf4", {"m": 128, "n": 128, "scale": "ue4m3"}),
    (0x08020480, "mxf4nvf4", {"m": 128, "n": 8, "scale": "ue4m3"}),
    (0x10400480, "mxf4nvf4", {"m": 256, "n": 256, "scale": "ue4m3"}),
    (0x08A00480, "mxf4", {"m": 128, "n": 128}),
    (0x48A004A0, "mxf4", {"m": 128, "n": 128, "sfa_id": 2, "sfb_id": 2}),
    (0x08A00000, "mxf8f6f4", {"m": 128, "n": 128, **MXF8}),
    (0x28A00010, "mxf8f6f4", {"m": 128, "n": 128, "sfa_id": 1, "sfb_id": 1, **MXF8}),
    (0x48A00020, "mxf8f6f4", {"m": 128, "n": 128, "sfa_id": 2, "sfb_id": 2, **MXF8}),
    (0x68A00030, "mxf8f6f4", {"m": 128, "n": 128, "sfa_id": 3, "sfb_id": 3, **MXF8}),
    (
        0x708980A0,
        "mxf8f6f4",
        {"m": 256, "n": 32, "a": "e5m2", "b": "e4m3", "transpose_a": True, "transpose_b": True}
        | {"sfa_id": 3, "sfb_id": 2},
    ),
]


@pytest.mark.parametrize(("word", "kind", "fields"), GOLDEN, ids=[hex(word) for word, *_ in GOLDEN])
def test_golden(word, kind, fields):
    cls = INSTRUCTION_DESCRIPTORS[kind]
    made = cls(**fields)
    assert int(made) == word
    assert cls.decode(word) == made
    assert cls(**cls.decode(word).fields()) == made


# ---- table 39, as printed: (kinds, cta_group, ws, sparse) -> M, N

FLOATS, PLAIN, FOUR_BIT = ("tf32", "f16", "f8f6f4"), ("tf32", "f16", "f8f6f4", "i8"), ("mxf4", "mxf4nvf4")


def legal_shapes(kind, sparse, k96=False):
    """{(cta_group, ws): {(m, n)}} of table 39."""
    out = {}

    def put(cta, ws, ms, ns):
        out[cta, ws] = set(itertools.product(ms, ns))

    if kind in FLOATS:
        put(1, False, (64, 128), range(8, 257, 8))
        put(2, False, (128, 256), range(16, 257, 16))
    if kind == "i8":
        put(1, False, (64, 128), [8, 16, 24, 32, *range(48, 257, 16)])
        put(2, False, (128, 256), range(32, 257, 32))
    if kind in PLAIN:
        put(1, True, (32, 64, 128), (64, 128) if sparse else (64, 128, 256))
    if kind not in PLAIN:
        put(1, False, (128,), range(8, 257, 8))
        put(2, False, (256,) if sparse or k96 else (128, 256), range(16, 257, 16))
    return out


TYPES = {
    "tf32": {},
    "f16": BF16,
    "i8": {"a": "s8", "b": "u8"},
    "f8f6f4": {"a": "e4m3", "b": "e2m1", "d": "f32"},
    "mxf8f6f4": {"a": "e5m2", "b": "e3m2"},
    "mxf4": {},
    "mxf4nvf4": {"scale": "ue4m3"},
}
KINDS = list(TYPES)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sparse", [False, True])
def test_exactly_the_shapes_of_table_39(kind, sparse):
    cls = INSTRUCTION_DESCRIPTORS[kind]
    variants = legal_shapes(kind, sparse)
    legal = set().union(*variants.values())
    for m, n in itertools.product(range(0, 321, 16), range(0, 289, 8)):
        if (m, n) not in legal:
            with pytest.raises(PtxkitError) as raised:
                cls(m=m, n=n, sparse=sparse, **TYPES[kind])
            assert {d.code for d in raised.value.diagnostics} <= {"P401", "P420"}
            continue
        made = cls(m=m, n=n, sparse=sparse, **TYPES[kind])
        for cta, ws in itertools.product((1, 2), (False, True)):
            fits = (m, n) in variants.get((cta, ws), ())
            assert bool(made.check_use(cta, ws)) != fits, (m, n, cta, ws)


@pytest.mark.parametrize("kind", FOUR_BIT)
def test_k_96_is_dense(kind):
    """For one CTA, too, as table 48 of 9.4 has it; CUTLASS has that on sm_103a."""
    cls = INSTRUCTION_DESCRIPTORS[kind]
    legal = set().union(*legal_shapes(kind, False, k96=True).values())
    for m, n in itertools.product((128, 256), range(8, 257, 8)):
        try:
            made = cls(m=m, n=n, k=96, **TYPES[kind])
        except PtxkitError:
            assert (m, n) not in legal
            continue
        assert (m, n) in legal
        for cta in (1, 2):
            fits = (m, n) in legal_shapes(kind, False, k96=True)[cta, False]
            assert bool(made.check_use(cta, False)) != fits
        assert int(made) >> 31 == 1
        assert made.k == 96
        assert made.fields()["k"] == 96
    with pytest.raises(PtxkitError):
        cls(m=256, n=256, k=96, sparse=True, **TYPES[kind])
    assert cls.decode(int(cls(m=256, n=256, sparse=True, **TYPES[kind])) | 1 << 31).k == 192


K = {"tf32": 8, "f16": 16, "i8": 32, "f8f6f4": 32, "mxf8f6f4": 32, "mxf4": 64, "mxf4nvf4": 64}
OTHER_K = {
    (kind, sparse): {size * 2 if sparse else size for size in sizes}
    for sparse in (False, True)
    for kind, sizes in {"f8f6f4": (64,), "mxf8f6f4": (64,), "mxf4": (96, 128), "mxf4nvf4": (96, 128)}.items()
}
"""What only some targets have; see test_descriptors_later.py."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sparse", [False, True])
def test_k_is_the_one_of_table_39(kind, sparse):
    cls = INSTRUCTION_DESCRIPTORS[kind]
    fields = {"m": 256, "n": 64, "sparse": sparse, **TYPES[kind]}
    implied = K[kind] * (2 if sparse else 1)
    assert cls(k=implied, **fields) == cls(**fields)
    assert cls(**fields).k == implied
    for k in {8, 16, 32, 64, 96, 128, 192, 256} - {implied} - OTHER_K.get((kind, sparse), set()):
        with pytest.raises(PtxkitError) as raised:
            cls(k=k, **fields)
        assert raised.value.diagnostics[0].code == "P425"


def test_ws_alone_has_a_maximum_shift():
    cls = INSTRUCTION_DESCRIPTORS["f16"]
    for m, n, shift in itertools.product((32, 64, 128, 256), range(8, 257, 8), (8, 16, 32)):
        legal = m < 256 and n in (64, 128, 256)
        try:
            made = cls(m=m, n=n, max_shift=shift, **BF16)
        except PtxkitError:
            assert not legal
            continue
        assert legal
        assert int(made) >> 30 == {8: 1, 16: 2, 32: 3}[shift]
        assert not made.check_use(1, ws=True)
        assert made.check_use(1) or made.check_use(2)
    for shift in (1, 4, 64, -8, True, "8"):
        with pytest.raises(PtxkitError):
            cls(m=128, n=128, max_shift=shift, **BF16)


# ---- types, flags

TYPE_CODES = {
    "tf32": {"tf32": 2},
    "f16": {"f16": 0, "bf16": 1},
    "i8": {"u8": 0, "s8": 1},
    "f8f6f4": {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5},
    "mxf8f6f4": {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5},
    "mxf4": {"e2m1": 1},
    "mxf4nvf4": {"e2m1": 1},
}
D_TYPES = {"tf32": {"f32"}, "f16": {"f16", "f32"}, "i8": {"s32"}, "f8f6f4": {"f16", "f32"}}
ALL_TYPES = ["f16", "bf16", "tf32", "f32", "u8", "s8", "s32", "e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "ue8m0"]


@pytest.mark.parametrize("kind", KINDS)
def test_exactly_the_types_of_the_tables(kind):
    cls = INSTRUCTION_DESCRIPTORS[kind]
    codes = TYPE_CODES[kind]
    for a, b, d in itertools.product(ALL_TYPES, ALL_TYPES, ["f16", "f32", "s32", "bf16"]):
        legal = a in codes and b in codes and d in D_TYPES.get(kind, {"f32"})
        if kind == "f16" and d == "f16":
            legal = a == b == "f16"
        fields = {**TYPES[kind], "a": a, "b": b, "d": d, "m": 128, "n": 64}
        if not legal:
            with pytest.raises(PtxkitError) as raised:
                cls(**fields)
            assert {x.code for x in raised.value.diagnostics} <= {"P404", "P421", "P427"}
            continue
        word = int(cls(**fields))
        width = 2 if kind in FOUR_BIT else 3
        assert word >> 7 & 7 == codes[a]
        assert word >> 10 & (1 << width) - 1 == codes[b]
        if kind in D_TYPES:
            assert word >> 4 & 3 == {"f16": 0, "f32": 1, "s32": 2}[d]


FLAGS = {
    "transpose_a": 15,
    "transpose_b": 16,
    "negate_a": 13,
    "negate_b": 14,
    "saturate": 3,
    "sparse": 2,
}


def has_flag(kind, flag):
    """Table 51, and the rows of tables 42 to 44."""
    if flag.startswith("transpose"):
        return kind not in FOUR_BIT
    if flag.startswith("negate"):
        return kind != "i8"
    return kind == "i8" if flag == "saturate" else True


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("flag", FLAGS)
def test_exactly_the_flags_of_table_51(kind, flag):
    cls = INSTRUCTION_DESCRIPTORS[kind]
    types = {**TYPES[kind], **({"a": "e4m3", "b": "e4m3"} if "f8f6f4" in kind else {})}
    plain = cls(m=256, n=64, **types)
    assert cls(m=256, n=64, **{flag: False}, **types) == plain
    if has_flag(kind, flag):
        assert int(cls(m=256, n=64, **{flag: True}, **types)) == int(plain) | 1 << FLAGS[flag]
    else:
        with pytest.raises(PtxkitError) as raised:
            cls(m=256, n=64, **{flag: True}, **types)
        assert raised.value.diagnostics[0].code == "P427"


@pytest.mark.parametrize("kind", ["f8f6f4", "mxf8f6f4"])
def test_small_types_are_k_major(kind):
    cls = INSTRUCTION_DESCRIPTORS[kind]
    for a, b, ta, tb in itertools.product(TYPE_CODES[kind], TYPE_CODES[kind], (False, True), (False, True)):
        legal = not (ta and a not in ("e4m3", "e5m2")) and not (tb and b not in ("e4m3", "e5m2"))
        fields = {**TYPES[kind], "a": a, "b": b, "m": 128, "n": 64, "transpose_a": ta, "transpose_b": tb}
        if legal:
            cls(**fields)
        else:
            with pytest.raises(PtxkitError) as raised:
                cls(**fields)
            assert {d.code for d in raised.value.diagnostics} == {"P423"}


@pytest.mark.parametrize("kind", ["i8", "f8f6f4", "mxf8f6f4", "f16"])
@pytest.mark.parametrize("sparse", [False, True])
def test_n_of_transposed_8_bit_b_is_table_52(kind, sparse):
    cls = INSTRUCTION_DESCRIPTORS[kind]
    types = {"i8": {"a": "s8", "b": "s8"}, "f16": BF16}.get(kind, {**TYPES[kind], "a": "e4m3", "b": "e5m2"})
    table_52 = {1: set(range(16, 257, 16)), 2: set(range(32, 257, 32))}
    variants = legal_shapes(kind, sparse)
    for m, n in itertools.product((32, 64, 128, 256), range(8, 257, 8)):
        fitting = {
            (cta, ws)
            for (cta, ws), shapes in variants.items()
            if (m, n) in shapes and (kind == "f16" or n in table_52[cta])
        }
        try:
            made = cls(m=m, n=n, sparse=sparse, transpose_b=True, **types)
        except PtxkitError:
            assert not fitting, (m, n)
            continue
        assert {(c, w) for c, w in variants if not made.check_use(c, w)} == fitting


def test_the_sparsity_selector_needs_a_sparse_kind_with_sub_columns():
    for kind, sparse, selector in itertools.product(KINDS, (False, True), range(4)):
        legal = selector == 0 or (sparse and kind in ("tf32", "f16"))
        fields = {"m": 256, "n": 64, "sparse": sparse, "sparsity_selector": selector, **TYPES[kind]}
        if legal:
            assert int(INSTRUCTION_DESCRIPTORS[kind](**fields)) & 3 == selector
        else:
            with pytest.raises(PtxkitError) as raised:
                INSTRUCTION_DESCRIPTORS[kind](**fields)
            assert {d.code for d in raised.value.diagnostics} <= {"P422", "P427"}


def legal_ids(kind, scale, k):
    """9.7.16.10.7.2 and table 44; ue4m3 has 2, too, for blocks of 32, which 9.4 brought."""
    if kind == "mxf8f6f4":
        return {0, 1, 2, 3}
    if k == 96:
        return {0, 2} if scale == "ue4m3" else {0, 1, 2, 3}
    return {0, 2}


def test_scale_ids_and_types():
    for kind, scale, sfa, sfb, k in itertools.product(
        KINDS, ("ue8m0", "ue4m3"), range(4), range(4), (None, 96)
    ):
        if k == 96 and kind not in FOUR_BIT:
            continue
        scaled = kind.startswith("mx")
        legal = (
            scaled and (scale == "ue8m0" or kind == "mxf4nvf4") and {sfa, sfb} <= legal_ids(kind, scale, k)
        )
        fields = {**TYPES[kind], "m": 256, "n": 64, "scale": scale, "sfa_id": sfa, "sfb_id": sfb, "k": k}
        if legal:
            word = int(INSTRUCTION_DESCRIPTORS[kind](**fields))
            assert (word >> 29 & 3, word >> 4 & 3, word >> 23 & 1) == (sfa, sfb, scale == "ue8m0")
        else:
            with pytest.raises(PtxkitError) as raised:
                INSTRUCTION_DESCRIPTORS[kind](**fields)
            assert {d.code for d in raised.value.diagnostics} <= {"P404", "P424", "P427"}


# ---- round trips over whole words


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_every_word_decodes_and_encodes_to_itself_or_is_refused(kind, data):
    cls = INSTRUCTION_DESCRIPTORS[kind]
    word = 0
    for field in cls.FIELDS.values():
        if field.fixed is not None:
            word |= field.place(field.fixed)
        elif field.codes is not None:
            word |= field.place(data.draw(st.sampled_from(sorted(field.codes.values()))))
        else:
            word |= field.place(data.draw(st.integers(0, 2**field.width - 1)))
    if cls.diagnose(word):
        with pytest.raises(PtxkitError):
            cls.decode(word)
    else:
        decoded = cls.decode(word)
        assert int(cls(**decoded.fields())) == word
        assert decoded.uses()


@pytest.mark.parametrize("kind", KINDS)
@given(word=st.integers(0, 2**32 - 1))
def test_random_words_never_crash(kind, word):
    cls = INSTRUCTION_DESCRIPTORS[kind]
    assert cls.rows(word)
    problems = cls.diagnose(word)
    assert all(d.notes and d.message for d in problems)
    if not problems:
        assert int(cls(**cls.decode(word).fields())) == word


@pytest.mark.parametrize("kind", KINDS)
def test_every_reserved_bit_is_refused(kind):
    cls = INSTRUCTION_DESCRIPTORS[kind]
    good = int(cls(m=256, n=64, **TYPES[kind]))
    reserved = [bit for field in cls.FIELDS.values() if field.fixed is not None for bit in field.positions]
    assert reserved
    for bit in reserved:
        with pytest.raises(PtxkitError) as raised:
            cls.decode(good ^ 1 << bit)
        assert "P403" in [d.code for d in raised.value.diagnostics]


def test_a_refusal_names_the_rule_and_the_table():
    with pytest.raises(PtxkitError) as raised:
        INSTRUCTION_DESCRIPTORS["f16"](m=256, n=24, **BF16)
    (only,) = raised.value.diagnostics
    assert only.message == (
        "`n` of dense `idesc.f16` with m = 256 must be 16 .. 256 in steps of 16 (`.cta_group::2`), found 24"
    )
    assert only.notes == ("PTX ISA 9.7.16.2.1, table 39",)
