"""Look-up tables of matrix B, `.decompress::lut::b` of PTX ISA 9.4; what must come out is exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rubin_machine import (
    BASE_A,
    BASE_B,
    LUT,
    SFA,
    SFB,
    Machine,
    form,
    idesc,
    in_shared,
    number,
    put_scales,
    small,
    stream,
)

from ptxkit.emulator.tensor_memory.cells import PITCH
from ptxkit.emulator.tensor_memory.mma_plan import Illegal, decode
from ptxkit.emulator.tensor_memory.product import Operands, place


@pytest.mark.parametrize("segment", [0, 24])
@pytest.mark.parametrize(("kind", "ctas"), [("f8f6f4", 1), ("f8f6f4", 2), ("mxf8f6f4", 1)])
def test_look_up_tables_for_b(kind: str, ctas: int, segment: int) -> None:
    """A row of B is 48 bytes: indexes of three bits for 128 elements, of which one half counts. Columns 8g to
    8g + 7 of a CTA share the 8 bytes of lane g."""
    rng = np.random.default_rng(segment + ctas)
    m, n, k = 128 * ctas, 48 * ctas, 64
    machine = Machine(ctas)
    dense, rows_of_a = [], []
    for side in machine.sides:
        tables = small(rng, (6, 8), "e4m3")
        indexes = rng.integers(0, 8, (48, 128))
        machine.put(
            side.cta,
            np.arange(6)[:, None, None],
            LUT + np.arange(2)[:, None],
            np.arange(4),
            tables.reshape(6, 2, 4),
        )
        used = indexes[:, 64:] if segment else indexes[:, :64]
        dense.append(number(tables[np.arange(48)[:, None] // 8, used], "e4m3"))
        a = small(rng, (128, k), "e4m3")
        rows_of_a.append(number(a, "e4m3"))
        word_a = in_shared(side.memory, BASE_A, a)
        word_b = in_shared(side.memory, BASE_B, stream(indexes, 3))
    given: dict[str, Any] = {"lut": LUT}
    if kind == "mxf8f6f4":
        for start, rows in ((SFA, m), (SFB, n)):
            put_scales(machine, start, np.full((rows, 1), 128, np.uint8), 0, 32)
        given |= {"scale_a": SFA, "scale_b": SFB}
    wanted = form(kind, cta_group=ctas, lut_b=True, vector="1X" if kind == "mxf8f6f4" else None)
    word = idesc(kind, m=m, n=n, k=k, a="e4m3", b="e4m3", d="f32")
    machine.multiply(wanted, word, a=word_a, b=word_b | (segment > 0) << 53, **given)
    scale = 4 if kind == "mxf8f6f4" else 1
    for side in machine.sides:
        expected = scale * rows_of_a[side.cta] @ np.concatenate(dense).T
        assert np.array_equal(machine.words(side.cta)[:, :n].view(np.float32), expected)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"k": 32}, "needs `k` 64"),
        ({"b": "e5m2"}, "needs `b` e4m3"),
        ({"transpose_b": True}, "needs `transpose_b`"),
    ],
)
def test_what_look_up_tables_need(change: dict, says: str) -> None:
    fields = {"m": 128, "n": 64, "k": 64, "a": "e4m3", "b": "e4m3", "d": "f32", **change}
    with pytest.raises(Illegal) as caught:
        decode(form("f8f6f4", lut_b=True), idesc("f8f6f4", **fields))
    assert says in caught.value.problems[0].message


def test_tables_begin_at_an_even_column_and_segments_are_theirs() -> None:
    plan = decode(form("f8f6f4", lut_b=True), idesc("f8f6f4", m=128, n=64, k=64, a="e4m3", b="e4m3", d="f32"))
    word = 64 << 16 | 8 << 32 | 1 << 46
    with pytest.raises(Illegal, match="P6110"):
        place(plan, Operands(0, word, word, False, lut=LUT + 1))
    with pytest.raises(Illegal, match="P6126"):
        place(plan, Operands(0, word | 1 << 53, word, False, lut=LUT))


def test_undefined_entries_count_only_where_an_index_points() -> None:
    machine = Machine()
    m, n = 128, 16
    indexes = np.zeros((n, 128), np.int64)
    indexes[8:] = 3
    machine.put(0, np.arange(2)[:, None], LUT, np.arange(4), np.array([[0x38, 0, 0, 0], [0x38, 0, 0, 0x40]]))
    machine.tensor.defined[0].view(np.uint8).reshape(128, PITCH, 4)[1, LUT, 3] = 0
    memory = machine.sides[0].memory
    a = np.full((m, 64), 0x38, np.uint8)
    word = idesc("f8f6f4", m=m, n=n, k=64, a="e4m3", b="e4m3", d="f32")
    given = {
        "a": in_shared(memory, BASE_A, a),
        "b": in_shared(memory, BASE_B, stream(indexes, 3)),
        "lut": LUT,
    }
    machine.multiply(form("f8f6f4", lut_b=True), word, **given)
    known = machine.tensor.defined[0].reshape(128, PITCH)[:, :n]
    assert (known[:, :8] == 0xFFFFFFFF).all()
    assert (known[:, 8:] == 0).all()
    assert (machine.words(0)[:, :8].view(np.float32) == 64).all()
