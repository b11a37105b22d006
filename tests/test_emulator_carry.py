"""The carry flag of extended-precision arithmetic: one meaning, whoever wrote it. PTX ISA 9.7.2."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from both_devices import Both, device, gpu
from emulated import STORE_R1, fault, module, threads

from ptxkit.emulator import Emulator, jit

_ = device, gpu

DATA = Path(__file__).parent / "data"
LANES = 32


@pytest.fixture(params=["numpy", "jit"])
def compiled(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the `jit` extra compiles all that it can, from the first time."""
    if request.param == "jit":
        if not jit.available():
            pytest.skip("the `jit` extra is not installed")
        monkeypatch.setattr(jit, "WORTH", 0)
    return request.param == "jit"


def signed(value: int, size: int) -> int:
    return value - (1 << size) if value >> size - 1 & 1 else value


def edges(size: int) -> tuple[int, ...]:
    return 0, 1, (1 << size) - 1, 1 << size - 1


class Chain:
    """Statements of a random chain, and the values of its registers by Python's integers.

    The flag is the carry out of the machine's adder, which subtracts by adding the complement and 1.
    """

    def __init__(self, seed: int, length: int) -> None:
        self.random = random.Random(seed)
        self.given = {
            size: [
                [self.random.choice((*edges(size), self.random.getrandbits(size))) for _ in range(LANES)]
                for _ in range(3)
            ]
            for size in (32, 64)
        }
        self.values = {size: [list(lanes) for lanes in columns] for size, columns in self.given.items()}
        self.flag = [0] * LANES
        self.text: list[str] = []
        self.outputs: list[tuple[int, list[int]]] = []
        for number in range(length):
            self.step(first=number == 0)

    def step(self, first: bool) -> None:
        kind = self.random.choice(("u32", "s32", "u64", "s64"))
        size = int(kind[1:])
        family = self.random.choice(("add", "sub", "mad"))
        reads = not first and self.random.random() < 0.7
        writes = first or not reads or self.random.random() < 0.8
        part = self.random.choice(("lo", "hi")) if family == "mad" else ""
        count = 3 if part else 2
        chosen = [self.random.randrange(3) for _ in range(count)]
        name = "r" if size == 32 else "rd"
        number = len(self.outputs) % 3
        opcode = ".".join(filter(None, (family + "c" * reads, part, "cc" * writes, kind)))
        operands = ", ".join(f"%{name}{i}" for i in (number, *chosen))
        self.text += [
            f"    {opcode} {operands};",
            f"    st.global.u{size} [%rd20+{8 * len(self.outputs)}], %{name}{number};",
        ]
        total = []
        for lane in range(LANES):
            a, b, *c = (self.values[size][i][lane] for i in chosen)
            carry = self.flag[lane] if reads else int(family == "sub")
            if family == "sub":
                whole = a + (~b & (1 << size) - 1) + carry
            elif family == "add":
                whole = a + b + carry
            else:
                product = signed(a, size) * signed(b, size) if kind[0] == "s" else a * b
                whole = ((product >> size if part == "hi" else product) & (1 << size) - 1) + c[0] + carry
            total.append(whole & (1 << size) - 1)
            if writes:
                self.flag[lane] = whole >> size
        self.values[size][number] = total
        self.outputs.append((size, total))

    def module(self) -> str:
        loads = "".join(
            f"    ld.global.u{size} %{name}{i}, [%rd21+{8 * (i + first)}];\n"
            for size, name, first in ((32, "r", 0), (64, "rd", 3))
            for i in range(3)
        )
        body = f"""
    ld.param.u64 %rd20, [out];
    ld.param.u64 %rd21, [given];
    mov.u32 %r20, %tid.x;
    mad.wide.u32 %rd20, %r20, {8 * len(self.outputs)}, %rd20;
    mad.wide.u32 %rd21, %r20, 48, %rd21;
{loads}"""
        return module(body + "\n".join(self.text) + "\n", ".param .u64 out, .param .u64 given")

    def wanted(self) -> np.ndarray:
        return np.array([[total[lane] for _, total in self.outputs] for lane in range(LANES)], np.uint64)

    def inputs(self) -> np.ndarray:
        columns = [self.given[size][i] for size in (32, 64) for i in range(3)]
        return np.array(columns, np.uint64).T.copy()


@pytest.mark.parametrize("seed", range(20))
def test_chains_of_all_its_instructions(device: Emulator | Both, seed: int) -> None:
    chain = Chain(seed, 40)
    out = device.array(np.zeros((LANES, len(chain.outputs)), np.uint64))
    device.load(chain.module()).kernel("k").launch(1, LANES, [out, device.array(chain.inputs())])
    assert np.array_equal(out.numpy(), chain.wanted())


def test_after_a_subtraction_it_is_the_borrow_inverted(device: Emulator | Both) -> None:
    body = "mov.u32 %r2, 1; mov.u32 %r3, 2; sub.cc.u32 %r4, %r2, %r3; addc.u32 %r1, 0, 0;"
    out: Any = device.empty(32, np.uint32)
    device.load(module(body + STORE_R1)).kernel("k").launch(1, 32, [out])
    assert not out.numpy().any()


def test_instructions_of_16_bits_read_it() -> None:
    """They leave the flag alone, for there is no `.cc` of 16 bits. The manual has none of them; of a product,
    ptxas takes what stands above bit 31 as `.hi`."""
    body = """
    mov.u32 %r10, %tid.x;
    setp.lt.u32 %p1, %r10, 16;
    selp.u32 %r2, 0xffffffff, 0, %p1;
    add.cc.u32 %r3, %r2, 1;
    mov.u16 %h1, 0xffff;
    mov.u16 %h2, 3;
    addc.u16 %h3, %h1, %h2;
    subc.s16 %h4, %h1, %h2;
    madc.lo.u16 %h5, %h2, %h2, %h1;
    madc.hi.u16 %h6, %h1, %h1, 5;
    madc.hi.s16 %h7, %h1, %h2, 5;
    addc.u32 %r4, 0, 0;
    cvt.u32.u16 %r1, %h3;
    cvt.u32.u16 %r5, %h4;
    mad.lo.u32 %r1, %r5, 16, %r1;
    cvt.u32.u16 %r5, %h5;
    mad.lo.u32 %r1, %r5, 0x100000, %r1;
    mad.lo.u32 %r1, %r4, 0x10000000, %r1;
    add.u16 %h6, %h6, %h7;
    cvt.u32.u16 %r5, %h6;
    mad.lo.u32 %r1, %r5, 0x1000000, %r1;
"""
    one = np.where(np.arange(32) < 16, 1, 0)
    wanted = (2 + one) + (0xFFFB + one) * 16 + (8 + one) * 0x100000 + one * 0x10000000
    wanted += (5 + one + 5 - 1 + one) * 0x1000000
    assert threads(body).tolist() == wanted.tolist()


def test_branches_and_loops_keep_it(device: Emulator | Both) -> None:
    """It belongs to the thread: lanes that parted bring their own."""
    body = """
    mov.u32 %r10, %tid.x;
    and.b32 %r11, %r10, 3;
    setp.eq.u32 %p1, %r11, 0;
    setp.eq.u32 %p2, %r11, 1;
    mov.u32 %r1, 0;
    sub.cc.u32 %r2, %r10, %r10;
    @%p1 bra ODD;
    add.cc.u32 %r2, %r10, %r10;
    @%p2 sub.cc.u32 %r2, %r10, 0;
    bra JOIN;
ODD:
    add.u32 %r1, %r1, 100;
JOIN:
    mov.u32 %r4, 0;
AGAIN:
    addc.cc.u32 %r1, %r1, 0xffffffff;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p3, %r4, 5;
    @%p3 bra AGAIN;
    addc.u32 %r1, %r1, 10;
"""

    def expected(lane: int) -> int:
        total, flag = {0: (100, 1), 1: (0, 1)}.get(lane & 3, (0, 0))
        for _ in range(5):
            total += 0xFFFFFFFF + flag
            total, flag = total & 0xFFFFFFFF, total >> 32
        return total + 10 + flag & 0xFFFFFFFF

    out: Any = device.empty(32, np.uint32)
    device.load(module(body + STORE_R1)).kernel("k").launch(1, 32, [out])
    assert out.numpy().tolist() == [expected(lane) for lane in range(32)]


WRITES_IT = ".func f() { .reg .b32 %x; add.cc.u32 %x, 0xffffffff, 1; ret; }"
READS_IT = """
.func f()
{
    .reg .pred %p;
    .reg .b32 %x;
    addc.u32 %x, 0, 0;
    setp.eq.u32 %p, %x, 0;
    @%p bra DONE;
DONE:
    ret;
}
"""
DECIDES = "\n    setp.eq.u32 %p1, %r1, 0;\n    @%p1 bra DONE;\nDONE:\n"


@pytest.mark.parametrize(
    ("function", "body", "what"),
    [
        (WRITES_IT, "    addc.u32 %r1, 0, 0;" + DECIDES, "register `CC.CF`"),
        (
            WRITES_IT,
            "    add.cc.u32 %r1, 0, 0;\n    call f;\n    addc.u32 %r1, 0, 0;" + DECIDES,
            "after a call",
        ),
        (READS_IT, "    add.cc.u32 %r1, 0, 0;\n    call f;\n", "register `CC.CF`"),
    ],
    ids=["at the start", "behind a call", "at a function's start"],
)
def test_what_nobody_wrote_is_undefined(function: str, body: str, what: str) -> None:
    """9.7.2 preserves it across no call."""
    text = module(body, "", function)
    found = fault("P605", text, [])
    assert any(what in note for note in found.notes)
    assert any("addc.u32" in text.splitlines()[label.span.line - 1] for label in found.labels)


def test_a_call_after_the_last_use_does_no_harm() -> None:
    body = """
    add.cc.u32 %r2, 0xffffffff, 1;
    addc.u32 %r1, 0, 0;
    call f;
    add.cc.u32 %r2, %r1, 0;
    addc.u32 %r1, %r1, 1;
"""
    assert set(threads(body, before=WRITES_IT).tolist()) == {2}


# ---- __int128 of C++: tests/data/int128.cu


def words(values: list[int]) -> np.ndarray:
    return np.array([(v & 2**64 - 1, v >> 64 & 2**64 - 1) for v in values], np.uint64)


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def unsigned_parts(x: int, y: int) -> list[int]:
    by = y & 127
    return [x // y, x % y, x * y, x + y, x - y, x << by, x >> by, (x < y) | (x == y) << 64]


def signed_parts(x: int, y: int) -> list[int]:
    x, y = signed(x, 128), signed(y, 128)
    quotient = truncated(x, y)
    low = signed(x & 2**64 - 1, 64) * signed(y & 2**64 - 1, 64)
    return [quotient, x - quotient * y, x * y, -x, x - y, x >> (y & 127), low, (x < y) | (x >= y) << 64]


def operands(seed: int) -> list[int]:
    """Numbers of every length, many around powers of two; none is 0."""
    source = random.Random(seed)
    edges = [1, 3, 2**63, 2**64 - 1, 2**64, 2**64 + 1, 2**127, 2**128 - 1, 10**30]
    drawn = [source.getrandbits(source.randrange(1, 129)) | 1 for _ in range(87)]
    return [*edges, *drawn]


@pytest.mark.parametrize("entry", ["unsigned_parts", "signed_parts"])
@pytest.mark.parametrize("level", ["O0", "O1", "O3"])
def test_128_bit_integers_of_nvcc(device: Emulator | Both, entry: str, level: str) -> None:
    left, right = operands(1), operands(2)
    random.Random(3).shuffle(left)
    out = device.array(np.zeros((len(left), 8, 2), np.uint64))
    given = [device.array(words(side)) for side in (left, right)]
    device.load(DATA / f"int128_{level}.ptx").kernel(entry).launch(1, len(left), [out, *given])
    wanted = [globals()[entry](a, b) for a, b in zip(left, right, strict=True)]
    got = out.numpy()
    for row, (values, a, b) in enumerate(zip(wanted, left, right, strict=True)):
        assert np.array_equal(got[row], words(values)), (hex(a), hex(b))


def test_compiled_code_beside_it(compiled: bool) -> None:
    """The flag's instructions are left to numpy among stretches that the `jit` extra compiles."""
    device = Emulator(jit=compiled)
    for seed in range(100, 104):
        chain = Chain(seed, 30)
        out = device.array(np.zeros((LANES, len(chain.outputs)), np.uint64))
        device.load(chain.module()).kernel("k").launch(1, LANES, [out, device.array(chain.inputs())])
        assert np.array_equal(out.numpy(), chain.wanted())
