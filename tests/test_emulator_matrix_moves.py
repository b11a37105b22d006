"""`ldmatrix`, `stmatrix`, `movmatrix` on the emulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulated import fault

from ptxkit.emulator import Emulator, EmulatorFault


def module(body: str, target: str, shared: int = 4096, version: str = "8.8") -> str:
    return f"""\
.version {version}
.target {target}
.address_size 64
.visible .entry k(.param .u64 source, .param .u64 addresses, .param .u64 result)
{{
    .reg .u64 %src, %adr, %dst, %at;
    .reg .u32 %t, %i, %word, %base, %r<8>, %a;
    .reg .pred %p;
    .shared .align 128 .b8 tile[{shared}];
    ld.param.u64 %src, [source];
    ld.param.u64 %adr, [addresses];
    ld.param.u64 %dst, [result];
    mov.u32 %t, %tid.x;
    mov.u32 %base, tile;
    mul.wide.u32 %at, %t, 4;
    add.u64 %adr, %adr, %at;
    ld.global.u32 %a, [%adr];
    add.u32 %a, %a, %base;
{body}
    ret;
}}
"""


def fill(count: int) -> str:
    """Copies `count` words from `source` to `tile`, by all 32 lanes."""
    return "".join(
        f"""
    ld.global.u32 %word, [%src+{128 * i}];
    st.shared.u32 [%i+{128 * i}], %word;"""
        for i in range(count // 32)
    )


START = """
    shl.b32 %i, %t, 2;
    add.u32 %i, %i, %base;
    mul.wide.u32 %at, %t, 4;
    add.u64 %src, %src, %at;"""


def load(
    statement: str,
    tile: np.ndarray,
    addresses: np.ndarray,
    registers: int,
    target: str = "sm_90",
    device: Any = None,
    version: str = "8.8",
) -> np.ndarray:
    """What `statement` loads into %r0 .. of each lane: uint32 (32, registers)."""
    stores = "".join(f"\n    st.global.u32 [%dst+{128 * i}], %r{i};" for i in range(registers))
    body = f"""{START}{fill(tile.nbytes // 4)}
    bar.warp.sync -1;
    {statement};
    add.u64 %dst, %dst, %at;{stores}"""
    device = device or Emulator()
    result = device.empty((registers, 32), np.uint32)
    args = [device.array(tile.view(np.uint32)), device.array(addresses.astype(np.uint32)), result]
    device.load(module(body, target, version=version)).kernel("k").launch((1,), (32,), args)
    return result.numpy().T


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(7)


def names(count: int) -> str:
    return "{" + ", ".join(f"%r{i}" for i in range(count)) + "}"


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("trans", [False, True])
@pytest.mark.parametrize("space", [".shared", ".shared::cta", ""])
def test_ldmatrix_b16(count: int, trans: bool, space: str, random: np.random.Generator) -> None:
    """Thread 4g + t gets elements 2t and 2t + 1 of row g of each matrix, or of column g."""
    tile = random.integers(0, 2**16, 1024, dtype=np.uint16)
    rows = random.permutation(128)[:32] * 16
    addresses = rows.copy()
    addresses[8 * count :] = 1 << 20  # nobody looks at these
    address = "[%a]"
    before = ""
    if not space:
        before = ".reg .u64 %g; cvt.u64.u32 %g, %a; cvta.shared.u64 %g, %g; "
        address = "[%g]"
    shape = f"m8n8.x{count}{'.trans' if trans else ''}"
    statement = f"{before}ldmatrix.sync.aligned.{shape}{space}.b16 {names(count)}, {address}"
    found = load(statement, tile, addresses, count)
    for matrix in range(count):
        cells = np.stack([tile[rows[8 * matrix + i] // 2 :][:8] for i in range(8)])
        if trans:
            cells = cells.T
        for lane in range(32):
            g, t = divmod(lane, 4)
            wanted = int(cells[g, 2 * t]) | int(cells[g, 2 * t + 1]) << 16
            assert found[lane, matrix] == wanted


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("source", ["b8", "b8x16.b6x16_p32", "b8x16.b4x16_p64"])
def test_ldmatrix_m16n16(count: int, source: str, random: np.random.Generator) -> None:
    """Four consecutive columns across rows g and g + 8 of the transposed matrix: matrix A of m16n8k32."""
    tile = random.integers(0, 256, 2048, dtype=np.uint8)
    rows = random.permutation(128)[:32] * 16
    statement = f"ldmatrix.sync.aligned.m16n16.x{count}.trans.shared.{source} {names(2 * count)}, [%a]"
    found = load(statement, tile, rows, 2 * count, "sm_100a")
    for matrix in range(count):
        cells = np.stack([unpacked(tile[rows[16 * matrix + i] :][:16], source) for i in range(16)])
        for lane in range(32):
            g, t = divmod(lane, 4)
            for half in range(2):
                wanted = int.from_bytes(cells[4 * t : 4 * t + 4, g + 8 * half].tobytes(), "little")
                assert found[lane, 2 * matrix + half] == wanted


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("source", ["b6x16_p32", "b4x16_p64"])
def test_ldmatrix_m8n16(count: int, source: str, random: np.random.Generator) -> None:
    """Thread 4g + t gets the elements 4t to 4t + 3 of row g, a byte each."""
    tile = random.integers(0, 256, 2048, dtype=np.uint8)
    rows = random.permutation(128)[:32] * 16
    statement = f"ldmatrix.sync.aligned.m8n16.x{count}.shared.b8x16.{source} {names(count)}, [%a]"
    found = load(statement, tile, rows, count, "sm_120a")
    for matrix in range(count):
        for lane in range(32):
            g, t = divmod(lane, 4)
            row = unpacked(tile[rows[8 * matrix + g] :][:16], source)
            assert found[lane, matrix] == int.from_bytes(row[4 * t : 4 * t + 4].tobytes(), "little")


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("space", [".shared", ".shared::cta", ""])
@pytest.mark.parametrize("target", ["sm_90a", "sm_107a"])
def test_ldmatrix_s8_s4(count: int, space: str, target: str, random: np.random.Generator) -> None:
    """Rows of 8 bytes, wherever they lie; thread 4g + t gets the elements 4t to 4t + 3 of row g, extended."""
    tile = random.integers(0, 256, 2048, dtype=np.uint8)
    rows = random.permutation(256)[:32] * 8
    statement = f"ldmatrix.sync.aligned.m8n16.x{count}{space}.s8.s4 {names(count)}, [%a]"
    if not space:
        statement = "cvt.u64.u32 %at, %a; cvta.shared.u64 %adr, %at; " + statement.replace("%a]", "%adr]")
        statement += "; mul.wide.u32 %at, %t, 4"
    found = load(statement, tile, rows, count, target, version="9.4")
    for matrix, lane in np.ndindex(count, 32):
        g, t = divmod(lane, 4)
        number = int.from_bytes(tile[rows[8 * matrix + g] :][:8].tobytes(), "little")
        nibbles = [number >> 4 * (4 * t + i) & 15 for i in range(4)]
        extended = [(nibble - 16 if nibble > 7 else nibble) & 0xFF for nibble in nibbles]
        assert found[lane, matrix] == int.from_bytes(bytes(extended), "little")


def unpacked(row: np.ndarray, source: str) -> np.ndarray:
    """The 16 elements of a row, a byte each."""
    bits = 4 if "b4x16" in source else 6 if "b6x16" in source else 8
    number = int.from_bytes(row.tobytes(), "little")
    return np.array([number >> bits * i & (1 << bits) - 1 for i in range(16)], np.uint8)


def store(
    statement: str,
    registers: np.ndarray,
    addresses: np.ndarray,
    target: str = "sm_90",
    device: Any = None,
) -> np.ndarray:
    """The tile, 2048 bytes, after `statement` stored %r0 .. to it."""
    count = registers.shape[0]
    loads = "".join(f"\n    ld.global.u32 %r{i}, [%src+{128 * i}];" for i in range(count))
    copy = "".join(
        f"""
    ld.shared.u32 %word, [%i+{128 * i}];
    st.global.u32 [%dst+{128 * i}], %word;"""
        for i in range(16)
    )
    zero = "".join(f"\n    st.shared.u32 [%i+{128 * i}], 0;" for i in range(16))
    body = f"""{START}{zero}{loads}
    bar.warp.sync -1;
    {statement};
    bar.warp.sync -1;
    add.u64 %dst, %dst, %at;{copy}"""
    device = device or Emulator()
    result = device.empty(2048, np.uint8)
    args = [device.array(registers), device.array(addresses.astype(np.uint32)), result]
    device.load(module(body, target)).kernel("k").launch((1,), (32,), args)
    return result.numpy()


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("trans", [False, True])
def test_stmatrix_b16(count: int, trans: bool, random: np.random.Generator) -> None:
    registers = random.integers(0, 2**32, (count, 32), dtype=np.uint32)
    rows = random.permutation(128)[:32] * 16
    statement = (
        f"stmatrix.sync.aligned.m8n8.x{count}{'.trans' if trans else ''}.shared.b16 [%a], {names(count)}"
    )
    tile = store(statement, registers, rows).view(np.uint16)
    wanted = np.zeros(1024, np.uint16)
    for matrix, lane in np.ndindex(count, 32):
        g, t = divmod(lane, 4)
        for half in range(2):
            row, column = (2 * t + half, g) if trans else (g, 2 * t + half)
            wanted[rows[8 * matrix + row] // 2 + column] = registers[matrix, lane] >> (16 * half) & 0xFFFF
    assert np.array_equal(tile, wanted)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_stmatrix_m16n8(count: int, random: np.random.Generator) -> None:
    """The four bytes are c0 to c3 of an accumulator of m16n8; memory has its columns as rows of 16 bytes."""
    registers = random.integers(0, 2**32, (count, 32), dtype=np.uint32)
    rows = random.permutation(128)[:32] * 16
    statement = f"stmatrix.sync.aligned.m16n8.x{count}.trans.shared.b8 [%a], {names(count)}"
    tile = store(statement, registers, rows, "sm_100a")
    wanted = np.zeros(2048, np.uint8)
    for matrix, lane, i in np.ndindex(count, 32, 4):
        g, t = divmod(lane, 4)
        row, column = g + (8 if i >= 2 else 0), 2 * t + (i & 1)
        wanted[rows[8 * matrix + column] + row] = registers[matrix, lane] >> (8 * i) & 0xFF
    assert np.array_equal(tile, wanted)


def test_movmatrix(random: np.random.Generator) -> None:
    tile = random.integers(0, 2**16, (8, 8), dtype=np.uint16)
    words = np.ascontiguousarray(tile).view(np.uint32).reshape(32)
    body = (
        "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %a; add.u64 %dst, %dst, %at; st.global.u32 [%dst], %r0;"
    )
    device = Emulator()
    result = device.empty(32, np.uint32)
    text = module(f"    sub.u32 %a, %a, %base; {body}", "sm_90")
    device.load(text).kernel("k").launch((1,), (32,), [result, device.array(words), result])
    assert np.array_equal(result.numpy().view(np.uint16).reshape(8, 8), tile.T)


# ---- what is wrong with them


def broken(statement: str, addresses: Any, before: str = "", target: str = "sm_90", block: int = 32) -> Any:
    device = Emulator()
    args = [
        device.array(np.zeros(1024, np.uint32)),
        device.array(np.asarray(addresses, np.uint32)),
        device.empty((4, 32), np.uint32),
    ]
    return module(f"{START}\n{before}\n    {statement};", target), args, block, device


LOAD = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%a]"


def test_addresses_are_checked() -> None:
    text, args, block, device = broken(LOAD, [8] * 32)
    assert "multiple of 16" in fault("P603", text, args, block, device=device).message
    text, args, block, device = broken(LOAD, [4096] * 32)
    found = fault("P602", text, args, block, device=device)
    assert "16 bytes" in found.message
    generic = "ldmatrix.sync.aligned.m8n8.x1.b16 {%r0}, [%src]"
    text, args, block, device = broken(generic, [0] * 32, "    ld.param.u64 %src, [source];")
    assert "expected an address of shared memory" in fault("P602", text, args, block, device=device).message


def test_rows_of_signed_nibbles_are_multiples_of_8_bytes() -> None:
    statement = "ldmatrix.sync.aligned.m8n16.x1.shared.s8.s4 {%r0}, [%a]"
    for address, code, said in ((4, "P603", "multiple of 8"), (4096, "P602", "8 bytes")):
        text, args, block, device = broken(statement, [address] * 32, target="sm_90a")
        found = fault(code, text.replace(".version 8.8", ".version 9.4"), args, block, device=device)
        assert said in found.message


def test_every_lane_needs_a_valid_address_up_to_sm_75() -> None:
    addresses = [0] * 8 + [1 << 20] * 24
    text, args, block, device = broken(LOAD, addresses, target="sm_75")
    assert "thread (8, 0, 0)" in fault("P602", text, args, block, device=device).notes[0]
    text, args, block, device = broken(LOAD, addresses)
    device.load(text).kernel("k").launch((1,), (32,), args)


def test_divergence_is_found() -> None:
    text, args, block, device = broken(f"@%p {LOAD}", [0] * 32, "    setp.lt.u32 %p, %t, 7;")
    found = fault("P640", text, args, block, device=device)
    assert "0x0000007f" in found.notes[1]
    text, args, block, device = broken(LOAD, [0] * 32, "    setp.lt.u32 %p, %t, 7;\n    @%p exit;")
    found = fault("P641", text, args, block, device=device)
    assert "0x0000007f" in found.notes[1]
    text, args, block, device = broken(LOAD, [0] * 32)
    fault("P641", text, args, 16, device=device)


def test_a_guard_that_holds_for_whole_warps_is_fine() -> None:
    body = f"""
    st.shared.u32 [%base], 5;
    setp.ge.u32 %p, %t, 32;
    mov.u32 %r0, 9;
    bar.sync 0;
    @%p {LOAD};
    add.u64 %dst, %dst, %at;
    st.global.u32 [%dst], %r0;"""
    device = Emulator()
    result = device.empty(64, np.uint32)
    args = [result, device.array(np.zeros(64, np.uint32)), result]
    text = module(
        body.replace("st.shared.u32 [%base], 5", START + "\n    st.shared.v4.u32 [%base], {5, 5, 5, 5}"),
        "sm_90",
    )
    device.load(text).kernel("k").launch((1,), (64,), args)
    assert (result.numpy() == [9] * 32 + [5] * 32).all()


def test_undefined_nibbles_spoil_the_bits_of_their_byte() -> None:
    """Of each row the last four bytes are never written; threads 2 and 3 of it get them."""
    body = f"""{START}
    shl.b32 %i, %t, 3;
    add.u32 %i, %i, %base;
    st.shared.u32 [%i], 0x12345678;
    bar.warp.sync -1;
    ldmatrix.sync.aligned.m8n16.x1.shared.s8.s4 {{%r0}}, [%a];
    add.u64 %dst, %dst, %at;
    st.global.u32 [%dst], %r0;"""
    device = Emulator()
    result = device.empty(32, np.uint32)
    args = [result, device.array(np.arange(32, dtype=np.uint32) % 8 * 8), result]
    device.load(module(body, "sm_90a", version="9.4")).kernel("k").launch((1,), (32,), args)
    with pytest.raises(EmulatorFault, match="P606") as caught:
        result.numpy()
    assert "element [2]" in caught.value.diagnostics[0].message


def test_undefined_bytes_stay_with_their_elements() -> None:
    """Only the last row of the tile is never written: its elements alone are undefined."""
    body = f"""{START}
    shl.b32 %i, %t, 4;
    add.u32 %i, %i, %base;
    setp.lt.u32 %p, %t, 7;
    @%p st.shared.v4.u32 [%i], {{1, 2, 3, 4}};
    bar.warp.sync -1;
    ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r0}}, [%a];
    add.u64 %dst, %dst, %at;
    st.global.u32 [%dst], %r0;"""
    device = Emulator()
    result = device.empty(32, np.uint32)
    args = [result, device.array(np.arange(32, dtype=np.uint32) % 8 * 16), result]
    device.load(module(body, "sm_90")).kernel("k").launch((1,), (32,), args)
    with pytest.raises(EmulatorFault, match="P606") as caught:
        result.numpy()
    assert "element [28]" in caught.value.diagnostics[0].message
