"""Write the kernels of the arithmetic roofs, kernels_ptx/roofs/wgmma_TYPE.ptx and mma_TYPE.ptx.

    python tools/make_mma_roofs.py [--check]

They differ in little else than the type and long lists of registers, so they are written here. `--check`
writes nothing and fails where a file is another.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import ptxkit

FOLDER = Path(__file__).resolve().parents[1] / "kernels_ptx" / "roofs"

# Type: its bits, its accumulator, what the operands hold, how near the result must be.
WGMMA = {
    "bf16": (16, "f32", "randn", "rtol = 1e-3\n// atol = 1e-3"),
    "f16": (16, "f32", "randn", "rtol = 1e-3\n// atol = 1e-3"),
    "tf32": (32, "f32", "randn", "rtol = 1e-2\n// atol = 5e-2"),
    "e4m3": (8, "f32", "randn", "rtol = 1e-2\n// atol = 0.5"),
    "s8": (8, "s32", "randint(-128, 128)", ""),
}
MMA = {"bf16": (16, "f32"), "f16": (16, "f32"), "tf32": (32, "f32"), "s8": (8, "s32")}

N = 256
M = 128
TILE = 128
"""Bytes of a row along K, one line of the 128-byte swizzle."""

HEADER_WGMMA = """\
// The arithmetic roof of `.{type}` by `wgmma`: products as fast as the tensor cores make them, and
// little else.
//
// Each CTA multiplies the same pair of tiles from shared memory STEPS times: d = a b^T, {m} x {n} x
// {k}, begun anew in every step, or with ADD = 1 added up. The first WRITERS CTAs store their product.
// `ptxkit bench` measures it beside kernels of problems whose operations are products of this type,
// with as many of them.
//
// /// ptxkit
// [launch]
// grid = "CTAS"
// block = 256
// params = ["a", "b", "d", "STEPS", "WRITERS", "ADD"]
// when = "STEPS > 0 and WRITERS <= CTAS and ADD < 2"
//
// [presets]
// smoke = {{ CTAS = 2, WRITERS = 2, STEPS = 3, ADD = 0 }}
// sum = {{ CTAS = 1, WRITERS = 1, STEPS = 2, ADD = 1 }}
//
// [cost]
// operations = "{operations} * CTAS * STEPS"
// arithmetic = "{type}"
//
// [tensors.a]
// dtype = "{stored}"
// shape = [{m}, {k}]
// init = "{init}"
//
// [tensors.b]
// dtype = "{stored}"
// shape = [{n}, {k}]
// init = "{init}"
//
// [tensors.d]
// dtype = "{accumulator}"
// shape = ["WRITERS", {m}, {n}]
// expect = "broadcast_to((1 + ADD * (STEPS - 1)) * (a @ b.T), (WRITERS, {m}, {n}))"
{tolerance}// ///
//
// Two warpgroups, {half} rows of a and all of b each. Rows of 128 bytes along K lie in shared memory as the
// 128-byte swizzle wants them: the 16 bytes c of row r at 128 r + 16 (c xor (r mod 8)).

.version 8.0
.target sm_90a
.address_size 64
"""

BODY_WGMMA = """
.visible .entry wgmma_{type}(
    .param .u64 .ptr .global .align 16 a,
    .param .u64 .ptr .global .align 16 b,
    .param .u64 .ptr .global .align 16 d,
    .param .u32 STEPS,
    .param .u32 WRITERS,
    .param .u32 ADD)
.reqntid 256
{{
    .reg .pred %more, %first, %writes, %all;
    .reg .b32 %thread, %cta, %steps, %writers, %add, %tiles, %at, %row, %chunk, %place, %v<4>;
    .reg .b32 %warpgroup, %lane, %half, %line, %a_low<4>, %b_low<4>, %high;
    .reg .b64 %a, %b, %d, %from, %wide, %a_desc<4>, %b_desc<4>;
    .reg .{accumulator} %d<128>;
    .shared .align 1024 .b8 tiles[49152];

    ld.param.u64 %a, [a];
    ld.param.u64 %b, [b];
    ld.param.u64 %d, [d];
    ld.param.u32 %steps, [STEPS];
    ld.param.u32 %writers, [WRITERS];
    ld.param.u32 %add, [ADD];
    cvta.to.global.u64 %a, %a;
    cvta.to.global.u64 %b, %b;
    cvta.to.global.u64 %d, %d;
    mov.u32 %thread, %tid.x;
    mov.u32 %cta, %ctaid.x;
    mov.u32 %tiles, tiles;

    // Both tiles to shared memory, 16 bytes a thread and round: 1024 times of a, 2048 times of b.
    mov.u32 %at, %thread;
COPY:
    mul.wide.u32 %wide, %at, 16;
    add.u64 %from, %a, %wide;
    setp.lt.u32 %first, %at, 1024;
    @!%first add.u64 %from, %b, %wide;
    @!%first sub.u64 %from, %from, 16384;
    ld.global.v4.b32 {{%v0, %v1, %v2, %v3}}, [%from];
    shr.u32 %row, %at, 3;
    xor.b32 %chunk, %at, %row;
    and.b32 %chunk, %chunk, 7;
    shl.b32 %place, %row, 7;
    mad.lo.u32 %place, %chunk, 16, %place;
    add.u32 %place, %place, %tiles;
    st.shared.v4.b32 [%place], {{%v0, %v1, %v2, %v3}};
    add.u32 %at, %at, 256;
    setp.lt.u32 %more, %at, 3072;
    @%more bra COPY;
    fence.proxy.async.shared::cta;
    bar.sync 0;

    // Descriptors: 128-byte swizzle, 1024 bytes from one group of eight rows to the next; 32 bytes of K each.
    shr.u32 %warpgroup, %thread, 7;
    mad.lo.u32 %place, %warpgroup, 8192, %tiles;
    shr.u32 %a_low0, %place, 4;
    add.u32 %place, %tiles, 16384;
    shr.u32 %b_low0, %place, 4;
    or.b32 %a_low0, %a_low0, 0x10000;
    or.b32 %b_low0, %b_low0, 0x10000;
    mov.b32 %high, 0x40000040;
{descriptors}
    // Whether a step begins anew is known at the launch only: else the assembler would drop all but the last.
    setp.eq.u32 %all, 0, 0;
    setp.ne.u32 %first, 0, 0;
STEP:
    wgmma.fence.sync.aligned;
{products}
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 1;
    setp.ne.u32 %first, %add, 0;
    sub.u32 %steps, %steps, 1;
    setp.ne.u32 %more, %steps, 0;
    @%more bra STEP;
    wgmma.wait_group.sync.aligned 0;

    // Thread t of a warpgroup holds rows 16 (t / 32) + t % 32 / 4 and eight below, columns 8 i + 2 (t % 4)
    // and the next.
    setp.lt.u32 %writes, %cta, %writers;
    @!%writes bra END;
    and.b32 %lane, %thread, 31;
    shr.u32 %half, %thread, 5;
    shl.b32 %half, %half, 4;
    shr.u32 %line, %lane, 2;
    add.u32 %row, %half, %line;
    mad.lo.u32 %row, %cta, {m}, %row;
    and.b32 %chunk, %lane, 3;
    shl.b32 %chunk, %chunk, 3;
    mul.wide.u32 %wide, %row, 1024;
    add.u64 %d, %d, %wide;
    cvt.u64.u32 %wide, %chunk;
    add.u64 %d, %d, %wide;
{stores}
END:
    ret;
}}
"""


def wgmma(kind: str) -> str:
    """The text of wgmma_TYPE.ptx."""
    bits, accumulator, init, near = WGMMA[kind]
    step, k = 256 // bits, 8 * TILE // bits
    scale = {16: ", 1, 1, 0, 0", 32: ", 1, 1", 8: ", 1, 1"}[bits] if accumulator == "f32" else ""
    words = {
        "type": kind, "stored": "f32" if kind == "tf32" else kind, "accumulator": accumulator, "init": init,
        "m": M, "n": N, "k": k, "half": M // 2, "operations": 2 * M * N * k,
        "tolerance": f"// {near}\n" if near else "",
    }  # fmt: skip
    registers = ", ".join(f"%d{i}" for i in range(128))
    products, descriptors = [], []
    for part in range(4):
        for tile in "ab":
            if part:
                descriptors.append(f"    add.u32 %{tile}_low{part}, %{tile}_low0, {2 * part};")
            descriptors.append(f"    mov.b64 %{tile}_desc{part}, {{%{tile}_low{part}, %high}};")
        products.append(
            f"    wgmma.mma_async.sync.aligned.m64n{N}k{step}.{accumulator}.{kind}.{kind} {{{registers}}}, "
            f"%a_desc{part}, %b_desc{part}, {'%all' if part else '%first'}{scale};"
        )
    stores = [
        f"    st.global.v2.{accumulator} [%d + {32 * column + 8192 * low}], "
        f"{{%d{4 * column + 2 * low}, %d{4 * column + 2 * low + 1}}};"
        for column in range(32)
        for low in range(2)
    ]
    body = BODY_WGMMA.format(
        **words,
        descriptors="\n".join(descriptors) + "\n",
        products="\n".join(products),
        stores="\n".join(stores),
    )
    return HEADER_WGMMA.format(**words) + body


HEADER_MMA = """\
// The arithmetic roof of `.{type}` by `mma.sync`: products as fast as the tensor cores make them, and
// little else.
//
// Each warp multiplies the same pair of tiles in its registers STEPS times: d = STEPS a b^T, 32 x 64 x
// {k}. The warps of the first WRITERS CTAs store their sums. `ptxkit bench` measures it where there is
// no `wgmma`, beside kernels of problems whose operations are products of this type, with as many of
// them.
//
// /// ptxkit
// [launch]
// grid = "CTAS"
// block = 256
// params = ["a", "b", "d", "STEPS", "WRITERS"]
// when = "STEPS > 0 and STEPS < 131072 and WRITERS <= CTAS"
//
// [presets]
// smoke = {{ CTAS = 2, WRITERS = 2, STEPS = 3 }}
//
// [cost]
// operations = "{operations} * CTAS * STEPS"
// arithmetic = "{type}"
//
// [tensors.a]
// dtype = "{stored}"
// shape = [32, {k}]
// init = "randint(-2, 3)"
//
// [tensors.b]
// dtype = "{stored}"
// shape = [64, {k}]
// init = "randint(-2, 3)"
//
// [tensors.d]
// dtype = "{accumulator}"
// shape = ["8 * WRITERS", 32, 64]
// expect = "broadcast_to(STEPS * (a @ b.T), (8 * WRITERS, 32, 64))"
// ///
//
// Sums of small integers: exact in f32 below 2^24.

.version 7.0
.target sm_80
.address_size 64
"""

BODY_MMA = """
.visible .entry mma_{type}(
    .param .u64 .ptr .global .align 16 a,
    .param .u64 .ptr .global .align 16 b,
    .param .u64 .ptr .global .align 16 d,
    .param .u32 STEPS,
    .param .u32 WRITERS)
.reqntid 256
{{
    .reg .pred %more, %writes;
    .reg .b32 %thread, %cta, %steps, %writers, %lane, %group, %pair, %warp, %offset;
    .reg .b32 %a<8>, %b<16>;
    .reg .b64 %from_a, %from_b, %d, %wide;
    .reg .{accumulator} %d<64>;

    ld.param.u64 %from_a, [a];
    ld.param.u64 %from_b, [b];
    ld.param.u64 %d, [d];
    ld.param.u32 %steps, [STEPS];
    ld.param.u32 %writers, [WRITERS];
    cvta.to.global.u64 %from_a, %from_a;
    cvta.to.global.u64 %from_b, %from_b;
    cvta.to.global.u64 %d, %d;
    mov.u32 %thread, %tid.x;
    mov.u32 %cta, %ctaid.x;
    and.b32 %lane, %thread, 31;
    shr.u32 %warp, %thread, 5;
    shr.u32 %group, %lane, 2;
    and.b32 %pair, %lane, 3;

    // A row has 32 bytes. Lane l holds words l % 4 and l % 4 + 4 of the rows l / 4 + 8 i.
    shl.b32 %offset, %group, 5;
    mad.lo.u32 %offset, %pair, 4, %offset;
    cvt.u64.u32 %wide, %offset;
    add.u64 %from_a, %from_a, %wide;
    add.u64 %from_b, %from_b, %wide;
{loads}
{zeros}
STEP:
{products}
    sub.u32 %steps, %steps, 1;
    setp.ne.u32 %more, %steps, 0;
    @%more bra STEP;

    setp.lt.u32 %writes, %cta, %writers;
    @!%writes bra END;
    mad.lo.u32 %warp, %cta, 8, %warp;
    mul.wide.u32 %wide, %warp, 8192;
    add.u64 %d, %d, %wide;
    shl.b32 %offset, %group, 8;
    mad.lo.u32 %offset, %pair, 8, %offset;
    cvt.u64.u32 %wide, %offset;
    add.u64 %d, %d, %wide;
{stores}
END:
    ret;
}}
"""


def mma(kind: str) -> str:
    """The text of mma_TYPE.ptx."""
    bits, accumulator = MMA[kind]
    k = 256 // bits
    words = {
        "type": kind, "stored": "f32" if kind == "tf32" else kind, "accumulator": accumulator, "k": k,
        "operations": 2 * 8 * 32 * 64 * k,
    }  # fmt: skip
    # Register i of a tile of A: 8 (i % 2) rows down, 4 (i / 2) words to the right; of B: 4 i words right.
    loads = [
        f"    ld.global.b32 %a{4 * tile + i}, [%from_a + {512 * tile + 256 * (i % 2) + 16 * (i // 2)}];"
        for tile in range(2)
        for i in range(4)
    ]
    loads += [
        f"    ld.global.b32 %b{2 * tile + i}, [%from_b + {256 * tile + 16 * i}];"
        for tile in range(8)
        for i in range(2)
    ]
    products, stores = [], []
    for row in range(2):
        for column in range(8):
            first = 4 * (8 * row + column)
            d = ", ".join(f"%d{first + i}" for i in range(4))
            a = ", ".join(f"%a{4 * row + i}" for i in range(4))
            b = ", ".join(f"%b{2 * column + i}" for i in range(2))
            form = f"mma.sync.aligned.m16n8k{k}.row.col.{accumulator}.{kind}.{kind}.{accumulator}"
            products.append(f"    {form}\n {{{d}}}, {{{a}}}, {{{b}}}, {{{d}}};")
            for low in range(2):
                place = 256 * (16 * row + 8 * low) + 32 * column
                pair = f"{{%d{first + 2 * low}, %d{first + 2 * low + 1}}}"
                stores.append(f"    st.global.v2.{accumulator} [%d + {place}], {pair};")
    zero = "0f00000000" if accumulator == "f32" else "0"
    body = BODY_MMA.format(
        **words,
        loads="\n".join(loads) + "\n",
        zeros="\n".join(f"    mov.{accumulator} %d{i}, {zero};" for i in range(64)) + "\n",
        products="\n".join(products),
        stores="\n".join(stores),
    )
    return HEADER_MMA.format(**words) + body


def texts() -> dict[str, str]:
    """Every file's text by its name, as `ptxkit fmt` lays it out."""
    made = {f"wgmma_{kind}.ptx": wgmma(kind) for kind in WGMMA}
    made |= {f"mma_{kind}.ptx": mma(kind) for kind in MMA}
    return {name: ptxkit.write(ptxkit.parse(text), canonical=True) for name, text in made.items()}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a file is another")
    check = parser.parse_args().check
    others = [
        name
        for name, text in texts().items()
        if not (FOLDER / name).is_file() or (FOLDER / name).read_text(encoding="utf-8") != text
    ]
    if check:
        for name in others:
            print(f"{name} is not what tools/make_mma_roofs.py makes", file=sys.stderr)
        return int(bool(others))
    for name in others:
        (FOLDER / name).write_text(texts()[name], encoding="utf-8")
        print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
