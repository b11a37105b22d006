"""Products of PTX ISA 9.4 on sm_107: integers of 12 bits, more K, more scale factors.

What must come out is computed in exact arithmetic: integers, fractions, and sums that f32 holds.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from rubin_machine import (
    A_CELLS,
    BASE_A,
    BASE_B,
    BITS,
    METADATA,
    NIBBLES,
    RUBIN,
    SFA,
    SFB,
    Machine,
    form,
    idesc,
    in_shared,
    number,
    put_scales,
    scale_codes,
    small,
    sparse_row,
    stream,
)

from ptxkit.descriptors import INSTRUCTION_DESCRIPTORS
from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator.tensor_cores import decode_scales
from ptxkit.emulator.tensor_memory.mma_plan import Illegal, decode
from ptxkit.emulator.tensor_memory.product import Operands, place

# ---- integers


def ti16_rows(m: int, ws: bool) -> tuple[np.ndarray, int]:
    """The lane of each row of D, and into how many groups of lanes N is split (9.7.18.10.5)."""
    row = np.arange(m)
    if m == 64 and not ws:
        return row % 16 + row // 16 * 32, 1
    return row, 128 // m


@pytest.mark.parametrize(("m", "ws"), [(128, False), (64, False), (128, True), (64, True), (32, True)])
@pytest.mark.parametrize("negate", [(False, False), (True, False), (True, True)])
def test_integers_of_twelve_bits(m: int, ws: bool, negate: tuple[bool, bool]) -> None:
    rng = np.random.default_rng(m + ws)
    n, k = 64, 16
    a, b = small(rng, (m, k), "s1z4m11"), small(rng, (n, k), "s1z4m11")
    a[0], b[0] = 0x87FF, 0x7FF
    machine = Machine()
    memory = machine.sides[0].memory
    descriptors = (
        in_shared(memory, BASE_A, np.ascontiguousarray(a).view(np.uint8)),
        in_shared(memory, BASE_B, np.ascontiguousarray(b).view(np.uint8)),
    )
    lanes, groups = ti16_rows(m, ws)
    width = n // groups
    start = rng.integers(-(2**31), 2**31, (m, n)).astype(np.int32)
    words = machine.words(0)
    for group in range(groups):
        words[lanes + group * m, :width] = start[:, group * width : (group + 1) * width].view(np.uint32)
    machine.tensor.defined[:] = 0xFFFFFFFF
    word = idesc("ti16", m=m, n=n, negate_a=negate[0], negate_b=negate[1])
    machine.multiply(form("ti16", ws=ws), word, a=descriptors[0], b=descriptors[1], accumulate=True)
    sign = -1 if negate[0] != negate[1] else 1
    product = sign * number(a, "s1z4m11") @ number(b, "s1z4m11").T
    expected = (product + start).astype(np.int64).astype(np.uint32)
    assert abs(product[0, 0]) == 16 * 2047**2
    made = np.concatenate([words[lanes + group * m, :width] for group in range(groups)], axis=1)
    assert np.array_equal(made, expected)


@pytest.mark.parametrize("selector", [0, 1])
def test_sparse_integers_of_twelve_bits(selector: int) -> None:
    """Metadata as of f16: of 16 rows a lane holds two, 8 apart, and the halves of K lie 8 lanes apart."""
    rng = np.random.default_rng(selector)
    m, n, k = 128, 32, 32
    stored, b = small(rng, (m, k // 2), "s1z4m11"), small(rng, (n, k), "s1z4m11")
    nibbles = rng.choice(NIBBLES, (m, k // 4)).astype(np.uint8)
    machine = Machine()
    row, chunk = np.indices(nibbles.shape)
    lane = row // 16 * 16 + row % 8 + 8 * (chunk // 4)
    cells = np.zeros((128, 2), np.uint32)
    np.bitwise_or.at(
        cells,
        (lane, np.full_like(lane, selector)),
        nibbles.astype(np.uint32) << (16 * (row % 16 // 8) + chunk % 4 * 4),
    )
    machine.put(
        0, slice(None), slice(METADATA, METADATA + 2), slice(None), cells.view(np.uint8).reshape(128, 2, 4)
    )
    memory = machine.sides[0].memory
    word = idesc("ti16", m=m, n=n, sparse=True, sparsity_selector=selector)
    machine.multiply(
        form("ti16", sparse=True),
        word,
        a=in_shared(memory, BASE_A, stored.view(np.uint8)),
        b=in_shared(memory, BASE_B, b.view(np.uint8)),
        metadata=METADATA,
    )
    expected = number(sparse_row(stored, nibbles), "s1z4m11") @ number(b, "s1z4m11").T
    assert np.array_equal(machine.words(0)[:, :n].view(np.int32), expected)


# ---- more K


@pytest.mark.parametrize(("a_type", "b_type"), list(itertools.product(("e4m3", "e5m2"), repeat=2)))
@pytest.mark.parametrize("d", ["f32", "f16"])
def test_eight_bits_with_64_along_k(a_type: str, b_type: str, d: str) -> None:
    rng = np.random.default_rng(1)
    m, n, k = 128, 48, 64
    a, b = small(rng, (m, k), a_type), small(rng, (n, k), b_type)
    machine = Machine()
    memory = machine.sides[0].memory
    machine.multiply(
        form("f8f6f4"),
        idesc("f8f6f4", m=m, n=n, k=k, a=a_type, b=b_type, d=d),
        a=in_shared(memory, BASE_A, a),
        b=in_shared(memory, BASE_B, b),
    )
    made = machine.words(0)[:, :n]
    made = made.view(np.float32) if d == "f32" else made.astype(np.uint16).view(np.float16)
    assert np.array_equal(made, number(a, a_type) @ number(b, b_type).T)


def test_addresses_beyond_256_kib() -> None:
    """B begins at 0x48000, which 14 bits of a descriptor can't say: here it is 0x4800 in units of 16."""
    assert BASE_B >> 4 >= 1 << 14
    machine = Machine()
    word = in_shared(machine.sides[0].memory, BASE_B, np.zeros((64, 64), np.uint8))
    blackwell = form("f8f6f4", capability=(10, 0))
    with pytest.raises(Illegal) as caught:
        place(
            decode(blackwell, idesc("f8f6f4", m=128, n=64, a="e4m3", b="e4m3", d="f32")),
            Operands(0, word, word, False),
        )
    assert caught.value.code == "P6126"
    assert caught.value.problems[0].code == "P428"


@pytest.mark.parametrize("lanes", [32, 128])
@pytest.mark.parametrize(
    ("a_type", "b_type"), [("e4m3", "e5m2"), ("e2m3", "e3m2"), ("e3m2", "e2m1"), ("e2m1", "e4m3")]
)
def test_block_scaled_types_with_64_along_k(a_type: str, b_type: str, lanes: int) -> None:
    """Elements follow each other without gaps, those of 6 bits across bytes; one factor a row."""
    rng = np.random.default_rng(lanes)
    m, n, k = 128, 40, 64
    a, b = small(rng, (m, k), a_type), small(rng, (n, k), b_type)
    machine = Machine()
    memory = machine.sides[0].memory
    (sa, fa), (sb, fb) = scale_codes(rng, (m, 1), "ue8m0"), scale_codes(rng, (n, 1), "ue8m0")
    put_scales(machine, SFA, sa, 1, lanes)
    put_scales(machine, SFB, sb, 3, 32)
    word = idesc("mxf8f6f4", m=m, n=n, k=k, a=a_type, b=b_type, sfa_id=1, sfb_id=3, sfa_lanes=lanes)
    machine.multiply(
        form("mxf8f6f4", vector="1X"),
        word,
        a=in_shared(memory, BASE_A, stream(a, BITS[a_type])),
        b=in_shared(memory, BASE_B, stream(b, BITS[b_type])),
        scale_a=SFA,
        scale_b=SFB,
    )
    expected = (number(a, a_type) * fa) @ (number(b, b_type) * fb).T
    assert np.array_equal(machine.words(0)[:, :n].view(np.float32), expected)


@pytest.mark.parametrize("a_type", ["e2m3", "e3m2", "e4m3"])
def test_a_in_tensor_memory_with_64_along_k(a_type: str) -> None:
    """Elements of 6 bits take 6 (table 66), those of 8 take 8."""
    rng = np.random.default_rng(7)
    m, n, k = 128, 16, 64
    a, b = small(rng, (m, k), a_type), small(rng, (n, k), "e4m3")
    machine = Machine()
    held = stream(a, BITS[a_type])
    machine.put(
        0, slice(None), slice(A_CELLS, A_CELLS + held.shape[1] // 4), slice(None), held.reshape(m, -1, 4)
    )
    for start, rows in ((SFA, m), (SFB, n)):
        put_scales(machine, start, np.full((rows, 1), 127, np.uint8), 0, 32)
    machine.multiply(
        form("mxf8f6f4", vector="1X", tensor_a=True),
        idesc("mxf8f6f4", m=m, n=n, k=k, a=a_type, b="e4m3"),
        a=A_CELLS,
        b=in_shared(machine.sides[0].memory, BASE_B, b),
        scale_a=SFA,
        scale_b=SFB,
    )
    assert np.array_equal(machine.words(0)[:, :n].view(np.float32), number(a, a_type) @ number(b, "e4m3").T)


def test_four_bits_in_tensor_memory_have_no_64_along_k() -> None:
    wanted = form("mxf8f6f4", vector="1X", tensor_a=True)
    with pytest.raises(Illegal) as caught:
        decode(wanted, idesc("mxf8f6f4", m=128, n=64, k=64, a="e2m1", b="e4m3"))
    assert "needs `k` of 32" in caught.value.problems[0].message


FOUR_BITS = [
    # K, vector, by block, scale, factors
    (64, "2X", True, "ue4m3", 2),
    (64, "2X", True, "ue5m3", 2),
    (64, "4X", True, "ue5m3", 4),
    (96, "2X", True, "ue5m3", 3),
    (96, "4X", True, "ue5m3", 6),
    (128, "2X", True, "ue8m0", 4),
    (128, "2X", True, "ue5m3", 4),
    (128, "4X", True, "ue5m3", 8),
    (128, "4X", True, "ue4m3", 8),
    (128, "2X", False, "ue8m0", 2),
    (128, "4X", False, "ue5m3", 4),
]


@pytest.mark.parametrize("lanes", [32, 128])
@pytest.mark.parametrize(("k", "vector", "by_block", "scale", "count"), FOUR_BITS)
def test_four_bits_with_more_scale_factors(
    k: int, vector: str, by_block: bool, scale: str, count: int, lanes: int
) -> None:
    rng = np.random.default_rng(k + count)
    ctas = 1 if k == 64 else 2
    m, n = 128 * ctas, 32
    first = 2 if count == 2 else 0
    machine = Machine(ctas)
    b = small(rng, (n, k), "e2m1")
    sb, fb = scale_codes(rng, (n, count), scale)
    expected = []
    for side in machine.sides:
        a = small(rng, (128, k), "e2m1")
        sa, fa = scale_codes(rng, (128, count), scale)
        share = slice(side.cta * n // ctas, (side.cta + 1) * n // ctas)
        word_a = in_shared(side.memory, BASE_A, stream(a, 4))
        word_b = in_shared(side.memory, BASE_B, stream(b[share], 4))
        each = Machine(1)
        put_scales(each, SFA, sa, first, lanes)
        put_scales(each, SFB, sb, first, 32)
        machine.tensor.data[side.cta], machine.tensor.defined[side.cta] = (
            each.tensor.data[0],
            each.tensor.defined[0],
        )
        expected.append(
            (number(a, "e2m1") * np.repeat(fa, k // count, axis=1))
            @ (number(b, "e2m1") * np.repeat(fb, k // count, axis=1)).T
        )
    word = idesc("mxf4nvf4", m=m, n=n, k=k, scale=scale, sfa_id=first, sfb_id=first, sfa_lanes=lanes)
    wanted = form("mxf4nvf4", vector=vector, by_block=by_block, cta_group=ctas)
    machine.multiply(wanted, word, a=word_a, b=word_b, scale_a=SFA, scale_b=SFB)
    for side in machine.sides:
        assert np.array_equal(machine.words(side.cta)[:, :n].view(np.float32), expected[side.cta])


def test_block32_of_ue4m3_is_for_rubin() -> None:
    word = idesc("mxf4nvf4", m=128, n=64, scale="ue4m3")
    with pytest.raises(Illegal) as caught:
        decode(form("mxf4nvf4", vector="2X", capability=(10, 3)), word)
    assert "need `.scale_vec::4X`" in caught.value.problems[0].message


@pytest.mark.parametrize("k", [128, 192])
def test_sparse_four_bits_element_by_element(k: int) -> None:
    """Sparsity version 1: a nibble for each four elements, a row a lane, eight nibbles to a column."""
    rng = np.random.default_rng(k)
    m, n, count = 128, 24, {128: 2, 192: 3}[k]
    stored, b = small(rng, (m, k // 2), "e2m1"), small(rng, (n, k), "e2m1")
    nibbles = rng.choice(NIBBLES, (m, k // 4)).astype(np.uint8)
    machine = Machine()
    memory = machine.sides[0].memory
    held = nibbles[:, ::2] | nibbles[:, 1::2] << 4
    machine.put(0, slice(None), slice(METADATA, METADATA + k // 32), slice(None), held.reshape(m, -1, 4))
    (sa, fa), (sb, fb) = scale_codes(rng, (m, count), "ue8m0"), scale_codes(rng, (n, count), "ue8m0")
    put_scales(machine, SFA, sa, 0, 32)
    put_scales(machine, SFB, sb, 0, 32)
    word = idesc("mxf4", m=m, n=n, k=k, sparse=True, sparsity_version=1)
    machine.multiply(
        form("mxf4", vector="2X", sparse=True),
        word,
        a=in_shared(memory, BASE_A, stream(stored, 4)),
        b=in_shared(memory, BASE_B, stream(b, 4)),
        scale_a=SFA,
        scale_b=SFB,
        metadata=METADATA,
    )
    a = number(sparse_row(stored, nibbles), "e2m1") * np.repeat(fa, k // count, axis=1)
    expected = a @ (number(b, "e2m1") * np.repeat(fb, k // count, axis=1)).T
    assert np.array_equal(machine.words(0)[:, :n].view(np.float32), expected)


def test_the_sparsity_version_goes_with_the_device() -> None:
    for version, capability in ((0, RUBIN), (1, (10, 0)), (1, (10, 3)), (1, (11, 0))):
        word = idesc("mxf4", m=128, n=64, sparse=True, sparsity_version=version)
        with pytest.raises(Illegal) as caught:
            decode(form("mxf4", vector="2X", sparse=True, capability=capability), word)
        assert caught.value.problems[0].code == "P428"


@pytest.mark.parametrize("kind", ["f8f6f4", "mxf8f6f4"])
def test_sparse_eight_bits_with_128_along_k(kind: str) -> None:
    rng = np.random.default_rng(3)
    m, n, k = 128, 16, 128
    stored, b = small(rng, (m, k // 2), "e4m3"), small(rng, (n, k), "e4m3")
    nibbles = rng.choice(NIBBLES, (m, k // 4)).astype(np.uint8)
    machine = Machine()
    memory = machine.sides[0].memory
    held = nibbles[:, ::2] | nibbles[:, 1::2] << 4
    machine.put(0, slice(None), slice(METADATA, METADATA + 4), slice(None), held.reshape(m, -1, 4))
    given: dict[str, Any] = {"metadata": METADATA}
    if kind == "mxf8f6f4":
        for start, rows in ((SFA, m), (SFB, n)):
            put_scales(machine, start, np.full((rows, 1), 127, np.uint8), 0, 32)
        given |= {"scale_a": SFA, "scale_b": SFB}
    types: Mapping[str, str] = {"a": "e4m3", "b": "e4m3"}
    machine.multiply(
        form(kind, sparse=True, vector="1X" if kind == "mxf8f6f4" else None),
        idesc(kind, m=m, n=n, k=k, d="f32", sparse=True, **types),
        a=in_shared(memory, BASE_A, stored),
        b=in_shared(memory, BASE_B, b),
        **given,
    )
    expected = number(sparse_row(stored, nibbles), "e4m3") @ number(b, "e4m3").T
    assert np.array_equal(machine.words(0)[:, :n].view(np.float32), expected)


def test_every_scale_factor_of_type_ue5m3() -> None:
    """Five bits of exponent with a bias of 15, three of fraction, no sign; 0xff is the NaN."""
    codes = np.arange(256, dtype=np.uint8)
    found = decode_scales(codes, "ue5m3")
    for code in range(255):
        exponent, fraction = code >> 3, Fraction(code & 7, 8)
        wanted = (
            fraction * Fraction(2) ** -14
            if exponent == 0
            else (1 + fraction) * Fraction(2) ** (exponent - 15)
        )
        made = Fraction(float(found.significands[code])) * Fraction(2) ** int(found.exponents[code])
        assert made == wanted
    assert found.nan is not None
    assert found.nan.nonzero()[0].tolist() == [255]


def test_a_descriptor_of_another_kind_is_refused() -> None:
    with pytest.raises(PtxkitError):
        INSTRUCTION_DESCRIPTORS["ti16"].decode(idesc("i8", m=128, n=64, a="s8", b="s8"))
