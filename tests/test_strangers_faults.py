"""Mistakes of people who write products of matrices: the first sentence of the finding names the cause.

Threads store matrices themselves, a tile is another's, scale factors are another tile's, bytes do not add up.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command import here

from ptxkit.running.loaded_plan import LoadedPlan
from ptxkit.running.session import Session

ROOT = Path(__file__).parents[1]
STORED = ROOT / "tests" / "data" / "stored_wgmma.ptx"
KERNELS = ROOT / "kernels_ptx"
HOPPER, BLACKWELL, SCALED, GATHERED, ATTENTION, BLOCKS = (
    KERNELS / f"{name}.ptx"
    for name in ("gemm_wgmma", "gemm_tcgen05", "gemm_nvfp4", "attn_dist", "flash_attn", "gemm_fp8")
)


def opening(folder: Path, kernel: Path, *changes: tuple[str, str]) -> str:
    """What the first error says, before what was expected, after some changes of a kernel."""
    text = kernel.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / kernel.name
    path.write_text(text)
    done = here("run", path, "--device", "emu", "--preset", "smoke")
    assert done.returncode in (1, 4)
    (first,) = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("error[")][:1]
    return first.partition("]: ")[2].partition(": expected")[0]


XOR = "xor.b32 %x, %x, %chunk;"
ROW = "and.b32 %x, %row, 7;"
DESCRIPTOR = "0x4000004000010000"
SHIFTED = "shr.u32 %x, %memory, 4;\n    cvt.u64.u32 %a_desc, %x;"
STORES: list[tuple[str, str, str]] = [
    (
        XOR,
        "mov.b32 %x, %chunk;",
        "matrix A was written without a swizzle and is read with a 128-byte swizzle",
    ),
    (
        ROW,
        "shr.u32 %x, %row, 1;\n    and.b32 %x, %x, 3;",
        "matrix A was written with piece p of row r at p ^ (r / 2) % 4, and its 128-byte swizzle has it at p",
    ),
    (
        ROW,
        "and.b32 %x, %row, 3;",
        "matrix A was written with piece p of row r at p ^ r % 4, and its 128-byte",
    ),
    (DESCRIPTOR, "0x0000004000010000", "matrix A was written with a 128-byte swizzle and is read without a"),
    (
        DESCRIPTOR,
        "0x4000002000010000",
        "matrix A has a stride byte offset of 512 in its descriptor, and groups",
    ),
    (
        "%acc, 1, 1, 0, 0;",
        "%acc, 1, 1, 0, 1;",
        "reads A as K-major and B as MN-major and multiplies elements",
    ),
    (
        SHIFTED,
        "cvt.u64.u32 %a_desc, %memory;",
        "matrix A lies at 0x400, and its descriptor has that address itself",
    ),
    (
        "add.u64 %b_desc, %b_desc, 2;",
        "add.u64 %b_desc, %b_desc, 4;",
        "16 to 31 of A along K with elements 32 to 47",
    ),
    (
        "add.u64 %b_desc, %a_desc, 512;",
        "add.u64 %b_desc, %a_desc, 8192;",
        "matrix B lies at 0x2400, and its descriptor has 0x20400: bytes were added to it that were not",
    ),
]


def test_threads_that_store_right_are_right(tmp_path: Path) -> None:
    assert here("run", STORED, "--device", "emu").returncode == 0


@pytest.mark.parametrize(("old", "new", "says"), STORES, ids=[says for *_, says in STORES])
def test_matrices_that_threads_stored(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert says in opening(tmp_path, STORED, (old, new))


def test_rows_farther_apart_than_they_are_read(tmp_path: Path) -> None:
    wider = [
        ("mad.lo.u32 %at, %row, 128, %x;", "mad.lo.u32 %at, %row, 144, %x;"),
        (XOR, "mov.b32 %x, %chunk;"),
    ]
    wider += [("[%at + 8192]", "[%at + 9216]"), ("// shared = 16384", "// shared = 18432")]
    assert "rows of matrix A lie 144 bytes apart, and its descriptor" in opening(tmp_path, STORED, *wider)


def test_rows_that_ldmatrix_reads_at_another_distance(tmp_path: Path) -> None:
    kernel = ROOT / "tests" / "data" / "loaded_rows.ptx"
    assert here("run", kernel, "--device", "emu").returncode == 0
    half = "mad.lo.u32 %at, %half, 16, %at;\n    "
    at = f"mad.lo.u32 %at, %row, 48, %memory;\n    {half}"
    for wrong in (32, 64):
        change = (f"{at}ldmatrix", f"{at.replace('48', str(wrong))}ldmatrix")
        said = opening(tmp_path, kernel, change)
        assert f"reads rows {wrong} bytes apart, and they lie 48 bytes apart" in said


TUTORIAL = ROOT / "docs" / "tutorial"
WGMMA, TCGEN05 = TUTORIAL / "06-wgmma" / "wgmma.ptx", TUTORIAL / "08-tcgen05" / "tcgen05.ptx"
SMALL: list[tuple[Path, list[tuple[str, str]], str]] = [
    (
        WGMMA,
        [("bf16.bf16", "f16.f16")],
        "the product at line 92 takes matrix A as f16, and its tensor holds bf16",
    ),
    (
        WGMMA,
        [
            (
                "%a_desc, %a_at;\n    cvt.u64.u32 %b_desc, %b_at",
                "%a_desc, %b_at;\n    cvt.u64.u32 %b_desc, %a_at",
            )
        ],
        "matrices A and B are read by each other's descriptors",
    ),
    (
        WGMMA,
        [("// box = [32, 64]", "// box = [16, 64]"), ("12288;", "10240;")],
        "matrix B has 32 elements along N, and 16 of them were copied",
    ),
    (
        WGMMA,
        [
            ("[%d + 1024], {%d2, %d3}", "[%d + 1024], {%d4, %d5}"),
            ("[%d + 32], {%d4, %d5}", "[%d + 32], {%d2, %d3}"),
        ],
        "elements hold what belongs at [i ^ 8, j ^ 8]",
    ),
    (
        WGMMA,
        [("mul.wide.u32 %offset, %row, 128;", "mul.wide.u32 %offset, %row, 64;")],
        "a write races with another thread's write of global memory at 0x7e0000223400, element [8, 0] of `d",
    ),
    (
        WGMMA,
        [("mov.u32 %b_at, b_tile;", "mov.u32 %b_at, a_tile + 4096;")],
        "at 0x1400 of CTA (0, 0, 0), one from 0x400 to 0x23ff, the other from 0x1400 to 0x23ff, and nothing",
    ),
    (TCGEN05, [("0x08080490", "0x08080410")], "takes matrix A as f16, and its tensor holds bf16"),
    (TCGEN05, [("0x08080490", "0x08082490")], "elements have the opposite sign"),
    (
        TCGEN05,
        [("0x08080490", "0x08040490")],
        "elements 16 to 31 along N of matrix B are copied, and no product takes them",
    ),
    (
        TCGEN05,
        [("0x08080490", "0x04080490")],
        "elements 64 to 127 along M of matrix A are copied, and no product takes them",
    ),
    (
        TCGEN05,
        [("[%tensor], %a_desc, %b_desc,", "[%tensor], %b_desc, %a_desc,")],
        "matrices A and B are read by each other's descriptors",
    ),
]


@pytest.mark.parametrize(("kernel", "changes", "says"), SMALL, ids=[says for *_, says in SMALL])
def test_small_kernels(tmp_path: Path, kernel: Path, changes: list[tuple[str, str]], says: str) -> None:
    assert says in opening(tmp_path, kernel, *changes)


MMA = ROOT / "tests" / "data" / "mma_tile.ptx"
REGISTERS: list[tuple[list[tuple[str, str]], str]] = [
    (
        [("    and.b32 %at, %arow, 7;\n    xor.b32 %x, %x, %at;\n", "")],
        "the `ldmatrix` at line 100 reads piece p of row r at p, and it was written at p ^ r % 8",
    ),
    (
        [("and.b32 %at, %arow, 7;", "and.b32 %at, %arow, 3;")],
        "reads piece p of row r at p ^ r % 4, and it was written at p ^ r % 8",
    ),
    (
        [("    xor.b32 %piece, %piece, %row;\n", "")],
        "reads piece p of row r at p ^ r % 8, and it was written at p, of pieces of 16 bytes",
    ),
    ([("x2.shared", "x2.trans.shared")], "matrix B of the product at line 109 is transposed"),
    (
        [("mad.lo.u32 %x, %k, 2, %apiece;", "mad.lo.u32 %x, %k, 1, %apiece;")],
        "multiplies elements 8 to 23 of A along K with elements 16 to 31 of B",
    ),
    (
        [("{%a0, %a1, %a2, %a3}, [%at]", "{%a0, %a2, %a1, %a3}, [%at]")],
        "line 0 of matrix A along K has, in the product at line 109, elements 0 to 7 of row 8 of its tensor",
    ),
    (
        [("{%b0, %b1}, [%at]", "{%b1, %b0}, [%at]")],
        "matrix B of the product at line 109 has its elements along K in",
    ),
    (
        [("setp.lt.u32 %more, %k, 4;", "setp.lt.u32 %more, %k, 3;")],
        "elements 48 to 63 along K are taken by no",
    ),
    ([("and.b32 %brow, %lane, 7;", "and.b32 %brow, %lane, 3;")], "elements hold what belongs at [i, j ^ 4]"),
    (
        [("[%d + 256]", "[%d + 32]"), ("mad.lo.u32 %x, %row, 4, %x;", "mad.lo.u32 %x, %row, 8, %x;")],
        "elements hold what belongs at [i // 2 + i % 2 * 8, j]",
    ),
]


@pytest.mark.parametrize(("changes", "says"), REGISTERS, ids=[says for _, says in REGISTERS])
def test_matrices_in_registers(tmp_path: Path, changes: list[tuple[str, str]], says: str) -> None:
    assert says in opening(tmp_path, MMA, *changes)


def test_the_search_for_a_cause_is_no_emulation_that_stands_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may take longer between two instructions than any kernel does."""
    sessions: list[Session] = []
    retired: list[int | None] = []
    begin, search = Session.__init__, LoadedPlan.cause

    def begun(session: Session, *given: Any, **more: Any) -> None:
        sessions.append(session)
        begin(session, *given, **more)

    def searched(plan: LoadedPlan, inputs: Any) -> str | None:
        retired.append(sessions[-1].retired())
        return search(plan, inputs)

    monkeypatch.setattr(Session, "__init__", begun)
    monkeypatch.setattr(LoadedPlan, "cause", searched)
    opening(tmp_path, WGMMA, ("bf16.bf16", "f16.f16"))
    opening(tmp_path, WGMMA, ("// box = [32, 64]", "// box = [16, 64]"), ("12288;", "10240;"))
    assert retired == [None, None]


def test_what_is_missing_of_a_launch_that_ended_early_is_no_cause(tmp_path: Path) -> None:
    """Of the products to come nobody knows what they would have taken."""
    second = "add.u64 %a_desc, %a_desc, 2;"
    early = f"{second} ld.shared.b32 %zero, [%full + 65536];"
    assert opening(tmp_path, WGMMA, (second, early)).startswith("out of bounds: 4 bytes")


DYNAMIC = """\
.version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 16 .b8 tile[];
.shared .align 8 .b64 bar;
.shared .align 16 .b8 buffer[512];
.visible .entry k(.param .u64 .ptr .global .align 16 y)
{{
    .reg .b32 %thread, %at, %tile;
    .reg .b64 %y;
    .reg .pred %leads, %done;
    ld.param.u64 %y, [y];
    mov.u32 %thread, %tid.x;
    setp.eq.u32 %leads, %thread, 0;
    {}
    ret;
}}
"""
STORE = "mov.u32 %tile, tile; mad.lo.u32 %at, %thread, 4, %tile; st.shared.u32 [%at], %thread;"
WAIT = "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %done, [bar], 0; @!%done bra WAIT;"
BRING = "@%leads cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [buffer], [%y], 256, [bar];"
COPY = f"{BRING} @%leads mbarrier.arrive.shared::cta.b64 _, [bar];"
EXPECT = f"{BRING} @%leads mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;"
INIT = "@%leads mbarrier.init.shared::cta.b64 [bar], 1; bar.sync 0;"


@pytest.mark.parametrize(
    ("body", "options", "opens", "helps"),
    [
        (STORE, [], "out of bounds: 4 bytes at", "say how many bytes, by `--shared`, `shared` in the card"),
        (STORE, ["--shared", 64], "out of bounds: 4 bytes at", "check the index computation"),
        (
            f"{INIT} mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;",
            [],
            "MBAR-OVER-ARRIVE: 32 threads arrive and expect bytes at the mbarrier at 0x400",
            "let one elected thread execute `expect_tx`",
        ),
        (
            f"{INIT} mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 256; bar.sync 0; {COPY} {WAIT}",
            ["--shared", 16],
            "MBAR-TX-MISMATCH: 32 threads expect 256 bytes each, and the copies bring that once",
            "let one elected thread expect the bytes of all copies",
        ),
        (
            f"{INIT} {EXPECT} {WAIT}",
            ["--shared", 16],
            "MBAR-TX-MISMATCH: 512 bytes are expected, and the copies bring 256",
            "expect exactly the bytes of the copies",
        ),
    ],
    ids=["--shared forgotten", "too little", "all arrive", "all expect", "other bytes"],
)
def test_advice_fits_the_cause(tmp_path: Path, body: str, options: list[Any], opens: str, helps: str) -> None:
    (tmp_path / "k.ptx").write_text(DYNAMIC.format(body))
    given = ["--device", "emu", "--grid", 1, "--block", 32, "--arg", "y=u32[64]:zeros", *options]
    text = here("run", tmp_path / "k.ptx", *given).stderr
    assert f"]: {opens}" in text
    assert helps in text.partition("= help: ")[2]


TRITON = """\
// /// ptxkit
// [launch]
// grid = 1
// block = 128
// shared = 49152
// params = ["a", "b", "c", "M", "N", "K", "K", "N", "N", 0, 0]
// [presets]
// smoke = { M = 64, N = 64, K = 64 }
// [tensors.a]
// dtype = "bf16"
// shape = ["M", "K"]
// init = "randn"
// [tensors.b]
// dtype = "bf16"
// shape = ["K", "N"]
// init = "randn"
// [tensors.c]
// dtype = "bf16"
// shape = ["M", "N"]
// expect = "a @ b"
// rtol = 0.02
// atol = 0.02
// ///
"""


def test_a_step_along_k_is_no_other_order(tmp_path: Path) -> None:
    """The first product has read B in its order; the second begins two units of 16 bytes on, not 128."""
    kernel = (ROOT / "tests" / "corpus" / "triton" / "matmul_bf16_sm90.ptx").read_text()
    (tmp_path / "triton.ptx").write_text(TRITON + kernel)
    right, wrong = "%rd46, 4611686293305294976", "%rd46, 4611686293305294850"
    said = opening(tmp_path, tmp_path / "triton.ptx", (right, wrong))
    assert said.endswith("multiplies elements 16 to 31 of A along K with elements 0 to 15 of B")
    assert "was written" not in said


def test_a_square_of_another_tensor_is_no_shifted_address(tmp_path: Path) -> None:
    """B begins a stage of A too soon; A's own tile lies where B would if bytes had not been shifted."""
    text = TRITON.replace("shared = 49152", "shared = 73744")
    text = text.replace("M = 64, N = 64, K = 64", "M = 128, N = 64, K = 192")
    kernel = (ROOT / "tests" / "corpus" / "triton" / "matmul_bf16_sm100.ptx").read_text()
    (tmp_path / "triton.ptx").write_text(text + kernel)
    said = opening(tmp_path, tmp_path / "triton.ptx", ("%r146, %r32, 49152", "%r146, %r32, 32768"))
    assert "shifted" not in said


def test_copies_that_meet_say_how_far_apart_they_begin(tmp_path: Path) -> None:
    right, wrong = "mad.lo.u32 %b_stage, %rank, 16384,", "mad.lo.u32 %b_stage, %rank, 8192,"
    said = opening(tmp_path, HOPPER, (right, wrong))
    assert said.endswith(": of 16384 bytes each, they begin 8192 apart")


TILES = "mad.lo.u32 %row, %tile_row, 2, %rank;\n    mul.lo.u32 %row, %row, 128;\n    "
SWAPPED = TILES.replace("%tile_row", "%tile_column")
MEMORY = "mov.u32 %memory, memory;\n    add.u32 %full"
QUARTERS = "{%pa##t, %pb##t, %pc##t, %pd##t}, %v"
LARGER: list[Any] = [
    (
        ATTENTION,
        [(QUARTERS, "{%pa##t, %pc##t, %pb##t, %pd##t}, %v")],
        "registers 1 and 2 of matrix A of the product at line 837 are exchanged",
    ),
    (
        ATTENTION,
        [("mul.lo.u32 %row, block, KEYS; \\\n    sub", "mul.lo.u32 %row, block, 32; \\\n    sub")],
        "multiplies sums for rows 256 to 271 of matrix B of the product at line 794 with rows 128 to 143",
    ),
    (
        ATTENTION,
        [('maps.k_map]\n// tensor = "k"', 'maps.k_map]\n// tensor = "v"')],
        "`v` is read in place of `k`",
    ),
    (
        SCALED,
        [("add.u64 %atom_a, %atom_a, 2048;", "add.u64 %atom_a, %atom_a, 1024;")],
        "`sfa[i, j // 16 * 8 + j % 16]` is taken for `sfa[i, j]`",
    ),
    (
        BLOCKS,
        [
            (
                "add.u32 %own_scales, %own_scales, SCALES_AT;",
                "add.u32 %own_scales, %own_scales, SCALES_AT + 256;",
            )
        ],
        "`sa[i, j + 64]` is taken for `sa[i, j]`",
    ),
    (
        BLOCKS,
        [("ld.param.u64 %sb, [sb];", "ld.param.u64 %sb, [sb]; add.u64 %sb, %sb, 4;")],
        "`sb[i, j + 1]` is taken for `sb[i, j]`",
    ),
    (
        HOPPER,
        [("consume_stage:\n", "consume_stage:\n    setp.ne.u32 %accumulate, 0, 0;\n")],
        "columns 0 to 63 of `a` do not count",
    ),
    (
        HOPPER,
        [("shr.u32 %b_at, %b_at, 4;", "")],
        "`%b_step` has the address 0x4400 itself, not shifted",
    ),
    (
        HOPPER,
        [("{%k, %b_row}", "{%b_row, %k}")],
        "whose copy has its coordinates exchanged: matrix B begins at row",
    ),
    (
        HOPPER,
        [
            (MEMORY, MEMORY.replace("add", "add.u32 %memory, %memory, 512;\n    add")),
            ("// shared = 229504", "// shared = 230016"),
        ],
        "has its box at 0x600 of shared memory, 512 bytes into the 1024 that a 128-byte swizzle repeats",
    ),
    (
        HOPPER,
        [("mad.lo.u32 %a_at, %warpgroup, 8192,", "mad.lo.u32 %a_at, %warpgroup, 4096,")],
        "begins at row 32 of a box that was copied, and has 64 of its 128 rows",
    ),
    (
        HOPPER,
        [("xor.b32 %x, %x, %row;\n    mad.lo.u32 %store_at", "mad.lo.u32 %store_at")],
        "elements hold what belongs at [i, j ^ (i % 8) * 8]: a swizzle that only one side applies: the "
        "tensor map `d_map` copies tiles that lie with a 128-byte one, and they must be stored so",
    ),
    (
        BLACKWELL,
        [(f"{TILES}mad.lo.u32 %column, %tile_column", f"{SWAPPED}mad.lo.u32 %column, %tile_row")],
        "moves a box from {0, 256} of a tensor of 192 x 256 elements, all of it outside",
    ),
    (
        BLACKWELL,
        [(f"{TILES}mul.lo.u32 %column, %tile_column", f"{SWAPPED}mul.lo.u32 %column, %tile_row")],
        "moves a box into {0, 256} of a tensor of 512 x 256 elements, all of it outside",
    ),
    (
        HOPPER,
        [("shl.b32 %x, %rank, 7;\n    add.u32 %row", "shl.b32 %x, %rank, 6;\n    add.u32 %row")],
        "matrix B has rows 64 to 127 of its tensor twice",
    ),
    (
        ATTENTION,
        [("%adds_out, 1, 1, 1; \\", "%adds_out, 1, 1, 0; \\")],
        "is read as K-major and was written MN",
    ),
    (
        ATTENTION,
        [("%low, %v_low, 128 * t;", "%low, %v_low, 64 * t;")],
        "begins at row 8 of a box that was copied, and has 16 of its 64 rows along K",
    ),
    (
        ATTENTION,
        [("%v_low, VALUES_AT, TILE / 16 * 65536)", "%v_low, VALUES_AT, 0x10000)")],
        "matrix B has a leading byte offset of 16 in its descriptor, and pieces of 128 bytes along N",
    ),
    (
        BLOCKS,
        [("add.u32 %b_low, %a_low, A_BYTES;", "add.u32 %b_low, %a_low, 8192;")],
        "takes bytes 0x2400 to 0x63ff of shared memory, which were copied from several tensors",
    ),
    (
        BLOCKS,
        [("%b_low, WIDTH * 8 * half + on;", "%b_low, WIDTH * 8 * half;")],
        "multiplies elements 32 to 63 of A along K with elements 0 to 31 of B",
    ),
    (BLACKWELL, [("0x10400490", "0x10200490")], "elements 64 to 127 along N of matrix B are copied, and no"),
    (BLACKWELL, [("0x10400490", "0x10408490")], "matrix A is read as MN-major and was written K-major"),
    (
        BLACKWELL,
        [('"a"\n// box = [128, 64]', '"a"\n// box = [64, 64]')],
        "MBAR-TX-MISMATCH: 65536 bytes are expected, and the copies bring 49152",
    ),
    (
        SCALED,
        [("%idesc, [%scales_a], [%scales_b]", "%idesc, [%scales_b], [%scales_a]")],
        "takes the scale factors of B for A, and those of A for B",
    ),
    (
        SCALED,
        [("0x0000400800010000", "0x0000400100080000")],
        "have a stride byte offset of 16 in its descriptor, and groups of 8 rows lie 128 bytes apart",
    ),
    (
        SCALED,
        [("add.u64 %atom_b, %atom_b, 32;", "add.u64 %atom_b, %atom_b, 16;")],
        "takes 512 bytes of scale factors from 256 bytes behind where an atom of them begins",
    ),
    (
        GATHERED,
        [
            (
                "and.b32 %x, %row, 7;\n    xor.b32 %x, %x, %column;",
                "and.b32 %x, %row, 3;\n    xor.b32 %x, %x, %column;",
            )
        ],
        "matrix B was written with piece p of row r at p ^ r % 4, and its 128-byte swizzle has it at p",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "changes", "says"), LARGER, ids=[says for *_, says in LARGER])
def test_larger_kernels(tmp_path: Path, kernel: Path, changes: list[tuple[str, str]], says: str) -> None:
    assert says in opening(tmp_path, kernel, *changes)
