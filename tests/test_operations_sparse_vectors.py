"""`spcompress` and `spdecompress` against the manual's loops on plain lists."""

from __future__ import annotations

import random
from typing import Any

import narrow_formats as narrow
import numpy as np
import pytest
from emulated import REGISTERS, fault, launch, module
from ieee import BF16, F16, is_nan, ordered
from pure_operations import propagate, run

from ptxkit.emulator import Emulator

RATIOS = [(1, 2), (1, 4), (1, 8), (1, 16), (2, 4), (2, 8), (2, 16), (4, 8), (4, 16)]


def bits_of(words: list[int]) -> int:
    """All bits of words, the first word lowest."""
    return sum(word << 32 * i for i, word in enumerate(words))


def words_of(number: int, count: int) -> list[int]:
    return [number >> 32 * i & 0xFFFFFFFF for i in range(count)]


def spread(
    mdata: list[int], cdata: list[int], size: int, index: int, some: int, total: int, num: int
) -> list[int]:
    """The manual's loop: `data[mdata[N][S]] = cdata[N][S]`; what an index puts behind its group is lost."""
    metadata, kept, result = bits_of(mdata), bits_of(cdata), 0
    for n in range(num):
        data = [0] * total
        for s in range(some):
            at = n * some + s
            place = metadata >> at * index & (1 << index) - 1
            if place < total:
                data[place] = kept >> at * size & (1 << size) - 1
        for place, element in enumerate(data):
            result |= element << (n * total + place) * size
    return words_of(result, num * total * size // 32)


@pytest.mark.parametrize(("some", "total"), RATIOS)
def test_spread(some: int, total: int) -> None:
    """Every number of repetitions, with random indexes: in order, twice the same, and behind the group."""
    source = random.Random(some * 100 + total)
    tried = 0
    for size, index, num in ((s, i, 1 << n) for s in (8, 16) for i in (2, 4) for n in range(7)):
        whole = total * size * num
        if some * size > 32 or (index == 2 and total > 4) or not 32 <= whole <= 4096:
            continue
        counts = [-(-some * index * num // 32), -(-some * size * num // 32)]
        lanes = [[words_of(source.getrandbits(32 * count), count) for count in counts] for _ in range(40)]
        columns = [
            list(each) for part in (0, 1) for each in zip(*(lane[part] for lane in lanes), strict=True)
        ]
        text = f"spdecompress.b{size}.b{index}.sp::{some}:{total}.x{num}"
        got = run(text, *columns, vectors=(whole // 32, *counts))
        results = [list(each) for each in zip(*(got if whole > 32 else (got,)), strict=True)]
        assert results == [spread(m, c, size, index, some, total, num) for m, c in lanes], text
        tried += 1
    assert tried


def test_undefined_bits_move_with_their_element() -> None:
    text = "spdecompress.b8.b2.sp::2:4.x2"
    values = [0b1101_1000], [0x44332211]
    masks: Any = (None, [0x80000100])
    assert propagate(text, values, masks, vectors=(2, 1, 1)) == ([0x00010000], [0x80000000])
    # An index that is not known: all of its group may be anything.
    assert propagate(text, values, ([0x10], None), vectors=(2, 1, 1)) == ([0], [0xFFFFFFFF])


KINDS = {8: ["u8", "s8", "e5m2", "e4m3", "e3m2", "e2m3"], 16: ["f16", "bf16"]}
ORDERS = ["max", "maxabs", "min", "minabs"]


def key(kind: str, code: int, order: str) -> Any:
    """What makes an element come early: NaN before all, then by value or magnitude; -0 is below +0."""
    if kind in ("f16", "bf16"):
        form = F16 if kind == "f16" else BF16
        nan, size, value = is_nan(form, code), code & 0x7FFF, ordered(form, code)
    elif kind in ("u8", "s8"):
        value = code - 256 if kind == "s8" and code > 127 else code
        nan, size = False, abs(value)
    else:
        bits = narrow.TYPES[kind][0]
        number = narrow.numbers(kind)[code & (1 << bits) - 1]
        nan = number.value == narrow.NAN
        size = code & (1 << bits - 1) - 1
        value = -size - 1 if number.sign else size
    found = size if "abs" in order else value
    return (not nan, 0 if nan else -found if "max" in order else found)


def choose(kind: str, codes: list[int], order: str) -> list[int]:
    """The places of the two, in order; of equals the first."""
    return sorted(sorted(range(4), key=lambda at: key(kind, codes[at], order))[:2])


def compression(size: int, index: int, num: int) -> str:
    """A kernel that compresses 2 * num words of each lane; the descriptor is in `%r1`."""
    metadata = -(-num * index // size)
    lines = [f"    .reg .b32 %in<{2 * num}>;", f"    .reg .b32 %m<{metadata}>;", f"    .reg .b32 %c<{num}>;"]
    lines += [
        "    ld.param.u64 %rd1, [in];",
        "    ld.param.u64 %rd2, [out];",
        "    ld.param.u32 %r1, [spdesc];",
    ]
    lines += ["    mov.u32 %r2, %tid.x;"]
    lines += [
        f"    mad.wide.u32 %rd1, %r2, {8 * num}, %rd1;",
        f"    mad.wide.u32 %rd2, %r2, {4 * (metadata + num)}, %rd2;",
    ]
    lines += [f"    ld.global.u32 %in{i}, [%rd1 + {4 * i}];" for i in range(2 * num)]

    def vector(name: str, count: int) -> str:
        return "{" + ", ".join(f"%{name}{i}" for i in range(count)) + "}"

    operands = f"{vector('m', metadata)}, {vector('c', num)}, {vector('in', 2 * num)}, %r1"
    lines += [f"    spcompress.b{size}.b{index}.sp::2:4.x{num} {operands};"]
    for at, name in enumerate([f"%m{i}" for i in range(metadata)] + [f"%c{i}" for i in range(num)]):
        lines += [f"    st.global.u32 [%rd2 + {4 * at}], {name};"]
    text = module("\n".join(lines), ".param .u64 in, .param .u64 out, .param .u32 spdesc", target="sm_107a")
    assert REGISTERS in text
    return text.replace(".version 8.7", ".version 9.4")


def groups(kind: str, size: int, count: int, seed: int) -> list[list[int]]:
    """Groups of four codes: random ones, equal ones, those that differ in their sign alone, zeros and NaN."""
    source = random.Random(f"{kind} {seed}")
    sign = 1 << (narrow.TYPES[kind][0] if kind in narrow.TYPES else size) - 1
    made = []
    for _ in range(count):
        code = source.getrandbits(size)
        special = [0, sign, code, code ^ sign, code + 1 & (1 << size) - 1, (1 << size) - 1, sign - 1]
        made.append(
            [source.choice(special) if source.random() < 0.5 else source.getrandbits(size) for _ in range(4)]
        )
    return made


@pytest.mark.long
@pytest.mark.parametrize(("size", "index"), [(8, 2), (8, 4), (16, 2), (16, 4)])
@pytest.mark.parametrize("num", [1, 4, 64])
def test_compression(size: int, index: int, num: int) -> None:
    device = Emulator()
    kernel = device.load(compression(size, index, num)).kernel()
    per_lane = 2 * num * 32 // size // 4
    metadata = -(-num * index // size)
    for number, kind in enumerate(KINDS[size]):
        for code, order in enumerate(ORDERS):
            lanes = [groups(kind, size, per_lane, lane) for lane in range(64)]
            flat = np.array(lanes, np.uint8 if size == 8 else np.uint16).reshape(-1).view(np.uint32)
            out = device.empty(64 * (metadata + num), np.uint32)
            kernel.launch((1,), (64,), [device.array(flat), out, number << 2 | code])
            got = out.numpy().reshape(64, -1).tolist()
            for lane, row in zip(lanes, got, strict=True):
                chosen = [choose(kind, group, order) for group in lane]
                at = [place for places in chosen for place in places]
                kept = [group[place] for group, places in zip(lane, chosen, strict=True) for place in places]
                want = words_of(sum(place << i * index for i, place in enumerate(at)), metadata)
                want += words_of(sum(element << i * size for i, element in enumerate(kept)), num)
                assert row == want, (kind, order)


def test_compressed_data_spread_back() -> None:
    """Signed bytes by magnitude: what was kept returns to its place, the rest is zero."""
    data = [0x7F01FE80, 0x00050403]
    places = [0, 3, 0, 2]  # -128 and 127; 3 and 5, for 4 is less than 5 and more than 3
    assert choose("s8", [0x80, 0xFE, 0x01, 0x7F], "maxabs") == places[:2]
    device = Emulator()
    out = device.empty(2, np.uint32)
    launch(compression(8, 2, 1), [device.array(np.array(data, np.uint32)), out, 5], 1, device=device)
    mdata, cdata = map(int, out.numpy())
    assert cdata == 0x05047F80
    assert mdata == 0b10_01_11_00
    got = run("spdecompress.b8.b2.sp::2:4.x2", [mdata], [cdata], vectors=(2, 1, 1))
    assert got == ([0x7F000080], [0x00050400])


@pytest.mark.parametrize(
    ("size", "descriptor"), [(16, 2 << 2), (16, 7 << 2), (8, 6 << 2), (8, 7 << 2 | 1), (8, 32), (16, 1 << 31)]
)
def test_wrong_descriptors(size: int, descriptor: int) -> None:
    device = Emulator()
    args = [device.array(np.zeros(64, np.uint32)), device.empty(64, np.uint32), descriptor]
    found = fault("P617", compression(size, 2, 1), args, device=device)
    assert f"found {descriptor:#x}" in found.message


def test_a_lane_that_is_switched_off_may_have_any_descriptor() -> None:
    text = compression(8, 2, 1).replace(
        "    spcompress", "    setp.eq.u32 %p1, %r2, 3; @%p1 mov.u32 %r1, 99;\n    @!%p1 spcompress"
    )
    device = Emulator()
    args = [device.array(np.full(64, 0x04030201, np.uint32)), device.array(np.zeros(64, np.uint32)), 0]
    launch(text.replace("st.global", "@!%p1 st.global"), args, device=device)
    assert args[1].numpy().reshape(-1, 2).tolist() == [
        [0b1110_1110, 0x04030403] if i != 3 else [0, 0] for i in range(32)
    ]


def test_undefined_bits_of_compressed_groups() -> None:
    """A group with one has no element and no index that is known; others do."""
    text = compression(8, 2, 1).replace("ld.global.u32 %in1, [%rd1 + 4];", "mov.b32 %in1, %r9;")
    decides = "setp.eq.u32 %p1, {}, 0; @%p1 exit;\n    ret;"
    for word, code in (
        ("and.b32 %r3, %c0, 0xffff;", None),
        ("and.b32 %r3, %m0, 15;", None),
        ("and.b32 %r3, %c0, 0x10000;", "P605"),
        ("and.b32 %r3, %m0, 16;", "P605"),
    ):
        body = text.replace("    st.global.u32 [%rd2 + 0], %m0;", f"    {word} {decides.format('%r3')}")
        device = Emulator()
        args = [device.array(np.zeros(64, np.uint32)), device.empty(64, np.uint32), 0]
        if code is None:
            launch(body, args, device=device)
        else:
            fault(code, body, args, device=device)
