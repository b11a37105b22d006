"""Kernels that multiply many random tiles by one `wgmma` each, and what the model of the tensor cores says.

Every CTA is a warpgroup with tiles of its own: the factors come as images of shared memory or as registers,
the accumulator and the metadata as registers. The product is compared bit for bit.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ptxkit.emulator import tensor_cores
from ptxkit.emulator.numerics.formats import FORMATS
from ptxkit.layouts import PATTERNS, SharedTile, fragments

M = 64
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "b1": 1}
TYPES = (
    ("f16", "f16", "f16"), ("f32", "f16", "f16"), ("f32", "bf16", "bf16"), ("f32", "tf32", "tf32"),
    *((d, a, b) for d in ("f16", "f32") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")),
    *(("s32", a, b) for a in ("s8", "u8") for b in ("s8", "u8")),
    ("s32", "b1", "b1"),
)  # fmt: skip
"""D, A, B."""
NIBBLES = (0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110)
NIBBLES_TF32 = (0b0100, 0b1110)


@dataclass(frozen=True)
class Variant:
    """A spelling of the instruction, and how its operands lie.

    Attributes:
        types: of D, A and B.
        n: columns of D.
        sparse: `.sp`.
        registers: A comes from registers.
        selector: the sparsity selector.
        transposed: whether A and B are MN-major.
        negated: `imm-scale-a` and `imm-scale-b` of -1.
        accumulate: scale-d.
        saturate: `.satfinite`.
        swizzles: of A and B.
    """

    types: tuple[str, str, str]
    n: int = 8
    sparse: bool = False
    registers: bool = False
    selector: int = 0
    transposed: tuple[bool, bool] = (False, False)
    negated: tuple[bool, bool] = (False, False)
    accumulate: bool = True
    saturate: bool = False
    swizzles: tuple[str, str] = ("none", "none")

    @property
    def bits(self) -> int:
        return BITS[self.types[1]]

    @property
    def k(self) -> int:
        """K, dense."""
        return (512 if self.sparse else 256) // self.bits

    @property
    def stored(self) -> int:
        """Elements of A along K."""
        return 256 // self.bits

    @property
    def count(self) -> int:
        """Registers of D."""
        return self.n // (4 if self.types[0] == "f16" else 2)

    @property
    def spelling(self) -> str:
        """The instruction without operands."""
        d, a, b = self.types
        sparse = ".sp" if self.sparse else ""
        saturate = ".satfinite" if self.saturate else ""
        tail = ".and.popc" if a == "b1" else ""
        return f"wgmma.mma_async{sparse}.sync.aligned.m64n{self.n}k{self.k}{saturate}.{d}.{a}.{b}{tail}"

    def tile(self, side: int) -> SharedTile:
        """A (0) or B (1) in shared memory; single bits as bytes."""
        mn, k = (M, self.stored) if side == 0 else (self.n, self.k)
        dtype = self.types[1 + side]
        if dtype == "b1":
            dtype, k = "u8", k // 8
        swizzle, major = self.swizzles[side], "MN" if self.transposed[side] else "K"
        along = PATTERNS[swizzle].row_bytes * 8 // max(self.bits, 8)
        mn, k = (mn, -(-k // along) * along) if major == "K" else (-(-mn // along) * along, k)
        return SharedTile(mn, k, dtype, major, swizzle)


def sources(variant: Variant) -> str:
    """The kernel: parameters A's images, B's images, registers of A, metadata, D before, D after."""
    a, b = variant.tile(0), variant.tile(1)
    place = -(-a.nbytes // 1024) * 1024
    count = variant.count
    kind = "f32" if variant.types[0] == "f32" else "b32"
    d = "{" + ", ".join(f"%d{i}" for i in range(count)) + "}"
    low_a, high_a = _halves(a.descriptor(0, "smem.wgmma"))
    low_b, high_b = _halves(b.descriptor(0, "smem.wgmma"))
    operands = [d, "{%a0, %a1, %a2, %a3}" if variant.registers else "%desc_a", "%desc_b"]
    if variant.sparse:
        operands += ["%meta", str(variant.selector)]
    operands.append("%accumulate")
    if variant.types[0] != "s32":
        operands += ["-1" if negated else "1" for negated in variant.negated]
    if variant.bits == 16:
        operands += [str(int(t)) for t in variant.transposed[int(variant.registers) :]]
    names = ("images_a", "images_b", "registers_a", "metadata", "before", "after")

    def copied(name: str, nbytes: int, place: int) -> list[str]:
        return [
            f"mad.wide.u32 %from, %tile, {nbytes}, %{name};",
            "shl.b32 %offset, %thread, 2;",
            f"{name.upper()}:",
            f"setp.ge.u32 %more, %offset, {nbytes};",
            f"@%more bra {name.upper()}_END;",
            "cvt.u64.u32 %wide, %offset;",
            "add.u64 %at, %from, %wide;",
            "ld.global.b32 %v, [%at];",
            "add.u32 %to, %base, %offset;",
            f"st.shared.b32 [%to+{place}], %v;",
            "add.u32 %offset, %offset, 512;",
            f"bra {name.upper()};",
            f"{name.upper()}_END:",
        ]

    lines = [
        ".version 8.4",
        ".target sm_90a",
        ".address_size 64",
        f".shared .align 1024 .b8 buffer[{place + b.nbytes}];",
        f".visible .entry multiply({', '.join(f'.param .u64 {name}' for name in names)})",
        ".reqntid 128, 1, 1",
        "{",
        ".reg .pred %accumulate, %more;",
        f".reg .{kind} %d<{count}>;",
        ".reg .b32 %thread, %tile, %base, %at_a, %at_b, %offset, %v, %to, %meta, %a<4>;",
        f".reg .b64 {', '.join('%' + name for name in names)}, %from, %wide, %at, %desc_a, %desc_b;",
        f"setp.{'eq' if variant.accumulate else 'ne'}.b32 %accumulate, 0, 0;",
        "mov.u32 %thread, %tid.x;",
        "mov.u32 %tile, %ctaid.x;",
        "mov.u32 %base, buffer;",
        *(
            line
            for name in names
            for line in (f"ld.param.u64 %{name}, [{name}];", f"cvta.to.global.u64 %{name}, %{name};")
        ),
        *([] if variant.registers else copied("images_a", a.nbytes, 0)),
        *copied("images_b", b.nbytes, place),
        "bfe.u32 %at_a, %base, 4, 14;",
        f"add.u32 %at_b, %base, {place};",
        "bfe.u32 %at_b, %at_b, 4, 14;",
        f"or.b32 %at_a, %at_a, {low_a:#x};",
        f"or.b32 %at_b, %at_b, {low_b:#x};",
        f"mov.b64 %desc_a, {{%at_a, {high_a:#x}}};",
        f"mov.b64 %desc_b, {{%at_b, {high_b:#x}}};",
        "mul.wide.u32 %wide, %thread, 4;",
        "mad.wide.u32 %at, %tile, 2048, %registers_a;",
        "add.u64 %at, %at, %wide;",
        *(f"ld.global.b32 %a{i}, [%at+{512 * i}];" for i in range(4) if variant.registers),
        "mad.wide.u32 %at, %tile, 512, %metadata;",
        "add.u64 %at, %at, %wide;",
        *(["ld.global.b32 %meta, [%at];"] if variant.sparse else []),
        f"mad.wide.u32 %at, %tile, {512 * count}, %before;",
        "add.u64 %at, %at, %wide;",
        *(f"ld.global.b32 %d{i}, [%at+{512 * i}];" for i in range(count)),
        "fence.proxy.async.shared::cta;",
        "bar.sync 0;",
        "wgmma.fence.sync.aligned;",
        f"{variant.spelling} {', '.join(operands)};",
        "wgmma.commit_group.sync.aligned;",
        "wgmma.wait_group.sync.aligned 0;",
        f"mad.wide.u32 %at, %tile, {512 * count}, %after;",
        "add.u64 %at, %at, %wide;",
        *(f"st.global.b32 [%at+{512 * i}], %d{i};" for i in range(count)),
        "ret;",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _halves(descriptor: Any) -> tuple[int, int]:
    high, low = divmod(int(descriptor), 2**32)
    return low, high


# ---- the tiles


@dataclass(frozen=True)
class Tiles:
    """Random factors: codes of A (tiles, 64, stored), B (tiles, n, k), C (tiles, 64, n), metadata nibbles."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    nibbles: np.ndarray | None


def random_tiles(variant: Variant, tiles: int, seed: int) -> Tiles:
    """Tiles whose elements are partly any bits, partly numbers of near magnitudes, partly zeros."""
    rng = np.random.default_rng(seed)
    stored, k = variant.stored, variant.k
    if variant.bits == 1:
        stored, k = stored // 8, k // 8
    a = random_codes(rng, (tiles, M, stored), variant.types[1])
    b = random_codes(rng, (tiles, variant.n, k), variant.types[2])
    c = random_codes(rng, (tiles, M, variant.n), variant.types[0])
    nibbles = None
    if variant.sparse:
        meaningful = np.array(NIBBLES_TF32 if variant.bits == 32 else NIBBLES, np.uint8)
        nibbles = rng.choice(meaningful, (tiles, M, variant.k // (2 if variant.bits == 32 else 4)))
    return Tiles(a, b, c, nibbles)


def random_codes(rng: np.random.Generator, shape: tuple[int, ...], name: str) -> np.ndarray:
    """Codes of a type; the style changes from tile to tile."""
    width = {"b1": 8, "tf32": 32, "f32": 32, "s32": 32}.get(name) or BITS[name]
    kind = {8: np.uint8, 16: np.uint16, 32: np.uint32}[width]
    whole = rng.integers(0, 1 << width, shape, dtype=np.uint64).astype(kind)
    if name in ("b1", "s8", "u8", "s32"):
        return whole
    form = FORMATS.get("tf32" if name == "f32" else name)
    assert form is not None
    fraction = 23 if width == 32 else form.fraction_bits
    exponent_bits = form.exponent_bits
    tile = (shape[0],) + (1,) * (len(shape) - 1)
    middle = rng.integers(form.bias - 3, form.bias + 4, tile)
    spread = rng.choice([0, 1, 3, 6, 12], tile)
    exponent = middle + rng.integers(-(1 << 20), 1 << 20, shape) % (2 * spread + 1) - spread
    exponent = np.clip(exponent, 0, (1 << exponent_bits) - 2)
    keep = kind((1 << width - 1) | ((1 << fraction) - 1))
    near = whole & keep | exponent.astype(kind) << kind(fraction)
    style = rng.integers(0, 16, tile)
    codes = np.where(style < 2, whole, near)
    zeros = rng.random(shape) < np.where(style % 4 == 3, 0.5, 0.05)
    codes = np.where(zeros, codes & kind(1 << width - 1), codes)
    # Infinities and NaN now and then, so that most tiles of any bits have none of them by chance.
    field = codes >> kind(fraction) & kind((1 << exponent_bits) - 1)
    odd = field == (1 << exponent_bits) - 1
    rare = rng.random(shape) < 0.98
    codes = np.where(odd & rare, codes & ~kind(1 << fraction), codes)
    return codes.astype(kind)


def operands(variant: Variant, tiles: Tiles) -> list[np.ndarray]:
    """The kernel's arrays, but for D after: images of A and B, registers of A, metadata, D before."""
    images = [_images(variant.tile(side), codes) for side, codes in enumerate((tiles.a, tiles.b))]
    count = len(tiles.a)
    word_bits = max(variant.bits, 8)
    row, column = fragments.wgmma_a(tiles.a.shape[2], word_bits)
    registers = _words(tiles.a[:, row, column])
    row, column = fragments.wgmma_d(variant.n)
    before = _words(tiles.c[:, row, column])
    metadata = np.zeros((count, 128), np.uint32)
    if tiles.nibbles is not None:
        lanes, shifts = fragments.mma_metadata(variant.k, variant.bits, variant.selector)
        for warp in range(4):
            part = tiles.nibbles[:, 16 * warp : 16 * warp + 16].astype(np.uint32) << shifts.astype(np.uint32)
            np.bitwise_or.at(metadata, (slice(None), lanes + 32 * warp), part)
    return [*images, registers, metadata, before]


def _images(tile: SharedTile, codes: np.ndarray) -> np.ndarray:
    padded = np.zeros((len(codes), tile.mn, tile.k), codes.dtype)
    padded[:, : codes.shape[1], : codes.shape[2]] = codes
    size = codes.dtype.itemsize
    image = np.zeros((len(codes), tile.nbytes // size), codes.dtype)
    image[:, tile.element_bits() // 8 // size] = padded
    return image


def _words(held: np.ndarray) -> np.ndarray:
    """Codes (tiles, threads, elements) as words (tiles, registers, threads)."""
    words = np.ascontiguousarray(held).view(np.uint32)
    return np.ascontiguousarray(words.transpose(0, 2, 1))


def product(variant: Variant, registers: np.ndarray) -> np.ndarray:
    """D's registers (tiles, registers, threads) as a matrix of codes (tiles, 64, n)."""
    kind = np.uint16 if variant.types[0] == "f16" else np.uint32
    held = np.ascontiguousarray(registers.transpose(0, 2, 1)).view(kind)
    row, column = fragments.wgmma_d(variant.n)
    out = np.zeros((len(held), M, variant.n), kind)
    out[:, row, column] = held
    return out


def expected(variant: Variant, tiles: Tiles) -> np.ndarray:
    """What the model says: codes of D (tiles, 64, n)."""
    with np.errstate(all="ignore"):
        return _expected(variant, tiles)


def _expected(variant: Variant, tiles: Tiles) -> np.ndarray:
    d, a_type, b_type = variant.types
    a = np.ascontiguousarray(tiles.a.transpose(2, 1, 0))
    b = np.ascontiguousarray(tiles.b.transpose(2, 1, 0))
    c = np.ascontiguousarray(tiles.c.transpose(1, 2, 0))
    if not variant.accumulate:
        c = np.zeros_like(c)
    present = None
    if tiles.nibbles is not None:
        a, present = dense(a, np.ascontiguousarray(tiles.nibbles.transpose(2, 1, 0)), variant.bits)
    left, right = a[:, :, None], b[:, None]
    if a_type == "b1":
        left, right = (_words_of_bits(codes) for codes in (left, right))
        made = tensor_cores.multiply_bits(left, right, c.view(np.int32), "and").view(np.uint32)
    elif d == "s32":
        factors = [codes.view(np.int8 if name == "s8" else np.uint8).astype(np.int32)
                   for codes, name in ((left, a_type), (right, b_type))]  # fmt: skip
        made = tensor_cores.multiply_integers(*factors, c.view(np.int32), variant.saturate).view(np.uint32)
    else:
        first, second = (
            tensor_cores.decode(codes ^ _sign(codes, negated), name)
            for codes, name, negated in zip((left, right), variant.types[1:], variant.negated, strict=True)
        )
        if present is not None:
            first.present = present[:, :, None]
        model = tensor_cores.find((9, 0), "wgmma", a_type)
        made = tensor_cores.multiply(model, first, second, c, (d, d))
    return np.ascontiguousarray(made.transpose(2, 0, 1))


def _sign(codes: np.ndarray, negated: bool) -> Any:
    return codes.dtype.type(1 << codes.dtype.itemsize * 8 - 1 if negated else 0)


def _words_of_bits(codes: np.ndarray) -> np.ndarray:
    k, *rest = codes.shape
    grouped = np.ascontiguousarray(np.moveaxis(codes.reshape(k // 4, 4, *rest), 1, -1))
    return grouped.view(np.uint32)[..., 0]


def dense(stored: np.ndarray, nibbles: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """A (stored, 64, tiles) spread over K, and which elements there are."""
    chunks, *rest = nibbles.shape
    if bits == 32:
        places, width = [(nibbles == 0b1110).astype(np.int64)], 2
    else:
        places, width = [(nibbles & 3).astype(np.int64), (nibbles >> 2).astype(np.int64)], 4
    kept = stored.reshape(chunks, len(places), *rest)
    out = np.zeros((chunks, width, *rest), stored.dtype)
    present = np.zeros((chunks, width, *rest), bool)
    for at, place in enumerate(places):
        np.put_along_axis(out, place[:, None], kept[:, at][:, None], axis=1)
        np.put_along_axis(present, place[:, None], True, axis=1)
    return out.reshape(-1, *rest), present.reshape(-1, *rest)


# ---- which


@cache
def variants(seed: int = 0, each: int = 6) -> tuple[Variant, ...]:
    """Every type, dense and sparse, with `each` drawn widths, places, majors, signs and swizzles."""
    draw = random.Random(seed)
    return tuple(v for types in TYPES for sparse in (False, True) for v in _drawn(draw, types, sparse, each))


def _drawn(draw: random.Random, types: tuple[str, str, str], sparse: bool, each: int) -> Iterator[Variant]:
    d, a, _ = types
    if a == "b1" and sparse:
        return
    bits = BITS[a]
    for number in range(each):
        registers = number % 2 == 1
        every = 16 if d == "s32" else 8
        n = 8 if number < 2 else draw.choice([8, 16, 24, *range(32, 257, every)])
        transposed = (False, False)
        if bits == 16:
            transposed = (not registers and draw.random() < 0.5, draw.random() < 0.5)
        swizzles = ["none", "none"]
        for side in (0, 1):
            size = (64, n)[side]
            allowed = [
                name for name in ("none", "32B", "64B", "128B")
                if (not transposed[side] or size % (PATTERNS[name].row_bytes * 8 // bits) == 0)
                # A row of B takes 64 bytes where A is sparse, which one 32-byte atom has not.
                and not (side and sparse and not transposed[side] and name == "32B")
            ]  # fmt: skip
            swizzles[side] = draw.choice(allowed)
        yield Variant(
            types,
            n,
            sparse,
            registers,
            draw.randrange(2) if sparse and bits >= 16 else 0,
            transposed,
            (False, False) if d == "s32" else (draw.random() < 0.3, draw.random() < 0.3),
            draw.random() < 0.8,
            d == "s32" and a != "b1" and draw.random() < 0.5,
            (swizzles[0], swizzles[1]),
        )


def run(device: Any, variant: Variant, tiles: Tiles) -> np.ndarray:
    """D on a device: codes (tiles, 64, n)."""
    kernel = device.load(sources(variant)).kernel()
    arrays = [device.array(array) for array in operands(variant, tiles)]
    after = device.empty((len(tiles.a), variant.count, 128), "u32")
    kernel.launch(grid=len(tiles.a), block=128, args=[*arrays, after])
    device.synchronize()
    return product(variant, after.numpy())
