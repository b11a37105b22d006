"""Kernels that make one tensor copy, random copies for them, and what each should leave behind.

A load fills shared memory with a pattern, copies one box, and dumps shared memory; a store or a reduction
brings an image to shared memory and writes a box of the tensor. What should come of it is worked out by
`ptxkit.layouts.tensor_copy` and `ptxkit.emulator.tensor_copies`, so that the same cases hold a GPU against
the formulas and the emulator against both.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from ptxkit.dtypes import DTYPES
from ptxkit.emulator import tensor_copies
from ptxkit.encodings.tensor_maps import TensorMap
from ptxkit.encodings.tensor_maps.codes import SWIZZLE_SPAN
from ptxkit.layouts.tensor_copy import tensor_copy

TYPES = (
    "u8", "u16", "u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64", "f32.ftz", "tf32", "tf32.ftz",
)  # fmt: skip
REDUCTIONS = {
    "add": ("u32", "s32", "u64", "f32", "f32.ftz", "f16", "bf16", "tf32", "f64"),
    "min": ("u32", "s32", "u64", "s64", "f16", "bf16"),
    "max": ("u32", "s32", "u64", "s64", "f16", "bf16"),
    "inc": ("u32",),
    "dec": ("u32",),
    "and": ("u32", "u64"),
    "or": ("u32", "u64"),
    "xor": ("u32", "u64"),
}
"""The combinations of PTX ISA 9.7.9.27.1.3, and what an H200 adds besides."""
PATTERN = 0xA5
IMAGE = 1024
"""Where the image begins in dynamic shared memory; the mbarrier is before it."""
TRIES = 20000
"""How often a kernel looks at the mbarrier before it gives up, so that no count of bytes makes it hang."""


@dataclass(frozen=True)
class Case:
    """One copy.

    Attributes:
        fields: the map's arguments; the address counts from the start of the buffer.
        mode: `.load_mode`.
        operation: `load`, `store`, or what a reduction does.
        coordinates: innermost first.
        offsets: of `.im2col`.
        place: of the box in the image.
        size: bytes of the tensor's buffer.
        seed: of the contents.
    """

    fields: dict[str, Any] = field(hash=False)
    mode: str
    operation: str
    coordinates: tuple[int, ...]
    offsets: tuple[int, ...] = ()
    place: int = 0
    size: int = 1 << 16
    seed: int = 0

    def map(self, base: int = 0) -> TensorMap:
        """The map of the tensor in a buffer at `base`."""
        return TensorMap(**{**self.fields, "address": base + self.fields["address"]})

    @property
    def image_bytes(self) -> int:
        """Bytes of the image, whole rounds of 128 threads."""
        copy = tensor_copy(bytes(self.map(1 << 20)), self.mode)
        return -(-(self.place + copy.count(self.offsets) * copy.pitch) // 512) * 512


# ---- the kernels


@cache
def source(rank: int, mode: str, operation: str, offsets: int = 0) -> str:
    """The kernel: parameters map, image, status, place, bytes of the image, bytes to expect, coordinates."""
    load = operation == "load"
    coordinates = ", ".join(f"%c{i}" for i in range(5 if mode == "tile::gather4" else rank))
    count = coordinates.count("%")
    spelled = "" if mode == "tile" else f".{mode}"
    shifts = ", {" + ", ".join(f"%o{i}" for i in range(offsets)) + "}" if offsets else ""
    if load:
        copy = [
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], %expect;",
            f"cp.async.bulk.tensor.{rank}d.shared::cluster.global{spelled}.mbarrier::complete_tx::bytes "
            f"[%box], [%map, {{{coordinates}}}], [%bar]{shifts};",
        ]
    else:
        verb = "cp.async" if operation == "store" else "cp.reduce.async"
        operator = "" if operation == "store" else f".{operation}"
        copy = [
            f"{verb}.bulk.tensor.{rank}d.global.shared::cta{operator}{spelled}.bulk_group "
            f"[%map, {{{coordinates}}}], [%box];",
            "cp.async.bulk.commit_group;",
            "cp.async.bulk.wait_group 0;",
            "mbarrier.arrive.shared::cta.b64 _, [%bar];",
        ]
    before = (
        [f"mov.b32 %v, {PATTERN * 0x01010101:#x};"]
        if load
        else ["cvt.u64.u32 %wide, %offset;", "add.u64 %at, %image, %wide;", "ld.global.b32 %v, [%at];"]
    )
    parameters = [
        ".param .align 64 .b8 map[128]", ".param .u64 image", ".param .u64 status", ".param .u32 place",
        ".param .u32 size", ".param .u32 expect",
        *(f".param .u32 c{i}" for i in range(count)), *(f".param .u16 o{i}" for i in range(offsets)),
    ]  # fmt: skip
    lines = [
        f".version {'8.6' if '::' in mode else '8.0'}",
        f".target {'sm_100a' if '::' in mode else 'sm_90a'}",
        ".address_size 64",
        ".extern .shared .align 1024 .b8 memory[];",
        f".visible .entry copy({', '.join(parameters)})",
        ".reqntid 128, 1, 1",
        "{",
        ".reg .pred %done, %more, %others;",
        ".reg .b32 %thread, %base, %bar, %box, %place, %size, %expect, %offset, %v, %to, %tries, %state;",
        ".reg .b32 %c<5>;",
        ".reg .b16 %o<3>;",
        ".reg .b64 %map, %image, %status, %wide, %at;",
        "mov.b64 %map, map;",
        "cvta.param.u64 %map, %map;",
        "ld.param.u64 %image, [image];",
        "cvta.to.global.u64 %image, %image;",
        "ld.param.u64 %status, [status];",
        "cvta.to.global.u64 %status, %status;",
        "ld.param.u32 %place, [place];",
        "ld.param.u32 %size, [size];",
        "ld.param.u32 %expect, [expect];",
        *(f"ld.param.u32 %c{i}, [c{i}];" for i in range(count)),
        *(f"ld.param.u16 %o{i}, [o{i}];" for i in range(offsets)),
        "mov.u32 %thread, %tid.x;",
        "mov.u32 %bar, memory;",
        f"add.u32 %base, %bar, {IMAGE};",
        "add.u32 %box, %base, %place;",
        "setp.ne.u32 %others, %thread, 0;",
        "shl.b32 %offset, %thread, 2;",
        "FILL:",
        *before,
        "add.u32 %to, %base, %offset;",
        "st.shared.b32 [%to], %v;",
        "add.u32 %offset, %offset, 512;",
        "setp.lt.u32 %more, %offset, %size;",
        "@%more bra FILL;",
        "@%others bra READY;",
        "mbarrier.init.shared::cta.b64 [%bar], 1;",
        "READY:",
        "fence.proxy.async.shared::cta;",
        "bar.sync 0;",
        "@%others bra WAIT;",
        *copy,
        "WAIT:",
        "mov.u32 %tries, 0;",
        "LOOK:",
        "mbarrier.test_wait.parity.shared::cta.b64 %done, [%bar], 0;",
        "@%done bra DUMP;",
        "nanosleep.u32 64;",
        "add.u32 %tries, %tries, 1;",
        f"setp.lt.u32 %more, %tries, {TRIES};",
        "@%more bra LOOK;",
        "DUMP:",
        "selp.u32 %state, 1, 0, %done;",
        *(
            [
                "shl.b32 %offset, %thread, 2;",
                "COPY:",
                "add.u32 %to, %base, %offset;",
                "ld.shared.b32 %v, [%to];",
                "cvt.u64.u32 %wide, %offset;",
                "add.u64 %at, %image, %wide;",
                "st.global.b32 [%at], %v;",
                "add.u32 %offset, %offset, 512;",
                "setp.lt.u32 %more, %offset, %size;",
                "@%more bra COPY;",
            ]
            if load
            else []
        ),
        "@%others bra END;",
        "st.global.b32 [%status], %state;",
        "st.global.b32 [%status+4], %base;",
        "END:",
        "ret;",
        "}",
    ]
    return "\n".join(lines) + "\n"


def kernel_of(case: Case) -> tuple[int, str, str, int]:
    """The arguments of `source` for a case."""
    return len(case.fields["shape"]), case.mode, case.operation, len(case.offsets)


# ---- running


class Bench:
    """A device with the kernels that it has loaded."""

    def __init__(self, device: Any) -> None:
        self.device = device
        self.kernels: dict[tuple[Any, ...], Any] = {}

    def run(self, case: Case, expect: int | None = None) -> tuple[np.ndarray, bool, int]:
        """What the copy leaves: the image or the tensor's buffer, whether the count of bytes was right, and
        where in shared memory the image began."""
        key = kernel_of(case)
        if key not in self.kernels:
            self.kernels[key] = self.device.load(source(*key)).kernel()
        tensor, image = contents(case)
        held = self.device.array(tensor)
        moved = self.device.array(image)
        status = self.device.array(np.zeros(2, np.uint32))
        made = case.map(held.address)
        count = tensor_copy(bytes(made), case.mode).nbytes(case.offsets) if expect is None else expect
        arguments = [made, moved, status, case.place, len(image), count]
        arguments += [c % 2**32 for c in case.coordinates] + list(case.offsets)
        self.kernels[key].launch(grid=1, block=128, args=arguments, shared=IMAGE + len(image))
        self.device.synchronize()
        done, base = (int(value) for value in status.numpy())
        return (moved if case.operation == "load" else held).numpy(), bool(done), base


def contents(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The tensor's buffer and the image before the copy."""
    rng = np.random.default_rng(case.seed)
    tensor = rng.integers(0, 256, case.size, dtype=np.uint8)
    size = case.image_bytes
    if case.operation == "load":
        return tensor, np.full(size, PATTERN, np.uint8)
    return tensor, rng.integers(0, 256, size, dtype=np.uint8)


def expected(case: Case, base: int = IMAGE) -> np.ndarray:
    """What `Bench.run` should give, where the image begins at `base` in shared memory."""
    tensor, image = contents(case)
    made = case.map(1 << 32)
    copy, storing = tensor_copy(bytes(made), case.mode), case.operation != "load"
    moves = copy.moves(case.coordinates, base + case.place, case.offsets, storing)
    dtype = made.dtype
    places, addresses = moves.places - base, moves.addresses - (1 << 32)
    if case.operation == "load":
        tensor_copies.load(moves, dtype, made.oob_fill, tensor, image, addresses, places)
        return image
    tensor_copies.store(moves, dtype, case.operation, image, tensor, places, addresses)
    return tensor


def different(case: Case, made: np.ndarray, expected: np.ndarray) -> int:
    """How many bytes differ."""
    return int((made != expected).sum())


# ---- random copies


def cases(seed: int, count: int, kinds: tuple[str, ...] = ("load", "store", "reduce")) -> Iterator[Case]:
    """Random copies, three in four across an edge."""
    draw = random.Random(seed)
    for number in range(count):
        kind = kinds[number % len(kinds)]
        mode = "im2col" if draw.random() < 0.35 else "tile"
        while True:
            made = one(draw, kind, mode, number)
            if made is not None:
                yield made
                break


def one(draw: random.Random, kind: str, mode: str, number: int) -> Case | None:
    """A random copy, or None where the draw came to nothing."""
    operation = draw.choice(list(REDUCTIONS)) if kind == "reduce" else kind
    dtype = draw.choice(REDUCTIONS[operation] if kind == "reduce" else TYPES)
    size = DTYPES[dtype].bits // 8
    interleave = draw.choice(("none",) * 8 + ("16B", "32B"))
    wide = {"none": 16, "16B": 16, "32B": 32}[interleave]
    rank = draw.randint(3 if mode == "im2col" or interleave != "none" else 1, 5)
    swizzle = {"16B": "none", "32B": "32B"}.get(interleave) or draw.choice(("none", "32B", "64B", "128B"))
    span = SWIZZLE_SPAN.get(swizzle, 256) if interleave == "none" else 64
    unit = 16 // size
    inner = unit * draw.randint(1, max(1, min(256 * size, span, 512) // 16))
    inner = min(inner, 256 // unit * unit)
    steps = [draw.choice((1, 1, 1, draw.randint(1, 8))) for _ in range(rank - 1)]
    steps.append(1 if interleave == "none" else draw.choice((1, 1, 2)))
    box = [draw.choice((1, 2, 3, 4, draw.randint(1, 12))) for _ in range(rank - 1)] + [inner]
    shape = [max(1, draw.choice((n, n // 2, n * 2, draw.randint(1, 16)))) for n in box[:-1]]
    shape.append(max(1, draw.choice((inner, inner // 2 + 1, inner * 2, draw.randint(1, 2 * inner)))))
    strides: list[int] = []
    least = shape[-1] * (size if interleave == "none" else wide)
    for n in reversed(shape[:-1]):
        stride = -(-least // wide) * wide + wide * draw.choice((0, 0, 1, 3))
        strides.insert(0, stride)
        least = stride * n
    start = wide * draw.randint(0, 8)
    if start + least > 1 << 18:
        return None
    total = -(-(start + least + 256) // 512) * 512
    fields = {
        "dtype": dtype,
        "address": start,
        "shape": shape,
        "strides": strides,
        "element_strides": steps,
        "interleave": interleave,
        "swizzle": swizzle,
        "oob_fill": draw.choice(("zero", "nan")) if DTYPES[dtype].is_float else "zero",
    }
    place = 128 * draw.choice((0, 0, draw.randint(0, 16)))
    if mode == "tile":
        moved = max(inner * size, span if span <= 128 else 0) if interleave == "none" else inner * wide
        for n, step in zip(box[:-1], steps[:-1], strict=True):
            moved *= -(-n // step)
        if moved > 48 << 10:
            return None
        low = 0 if kind != "load" else 1
        coordinates = tuple(
            draw.choice((0, draw.randint(-low * n, size_), draw.randint(0, size_ - 1)))
            for n, size_ in zip(box, shape, strict=True)
        )[::-1]
        if interleave == "none":
            coordinates = (coordinates[0] // unit * unit, *coordinates[1:])
            coordinates = (max(coordinates[0], -low * inner), *coordinates[1:])
        return Case({**fields, "box": box}, "tile", operation, coordinates, (), place, total, number)
    limit = {3: 64, 4: 16, 5: 8}[rank]
    lower, upper, base, offsets = [], [], [], []
    for n in shape[1:-1] if interleave == "none" else shape[2:]:
        low = 0 if kind != "load" else -draw.choice((0, 1, 2))
        high = 0 if kind != "load" else draw.choice((0, 0, -1, -2, 1))
        if n + high - low < 1:
            return None
        lower.append(low)
        upper.append(high)
        base.append(draw.randint(low, n + high - 1))
        offsets.append(draw.choice((0, 1, 2, draw.randint(0, limit - 1))) if kind == "load" else 0)
    pixels = draw.choice((1, 2, 8, 16, draw.randint(1, 64)))
    if pixels * inner * size > 48 << 10:
        return None
    channel = draw.choice((0, draw.randint(0, shape[-1] - 1))) // unit * unit
    image = draw.randint(0, shape[0] - 1)
    coordinates = (channel, *reversed(base), image)
    if interleave != "none":
        coordinates = (*reversed(base), draw.randint(0, shape[1]), image)
    fields |= {
        "pixel_box_lower_corner": lower,
        "pixel_box_upper_corner": upper,
        "channels_per_pixel": inner,
        "pixels_per_column": pixels,
    }
    given = tuple(reversed(offsets)) if kind == "load" else ()
    name = "im2col" if kind == "load" else "im2col_no_offs"
    return Case(fields, name, operation, coordinates, given, place, total, number)
