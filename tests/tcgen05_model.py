"""What the hardware computes from a plan: a model in numpy, of layouts and descriptors alone.

Values are small integers in exact types, so that a product is right or wrong, never rounded.
"""

from __future__ import annotations

import numpy as np

from ptxkit.layouts import SharedTile, operand_bits
from ptxkit.layouts.bitpacking import gather, scatter
from ptxkit.layouts.scales import selected_bytes, tmem_cells
from ptxkit.layouts.sparsity import GRANULARITY, decompress, metadata_cells, metadata_columns
from ptxkit.layouts.tensor_memory import DATA_PATHS, accumulator_cells, operand_a_cells
from ptxkit.tcgen05 import Product, TensorTile, plan_mma
from ptxkit.tcgen05.problem import scale_count

SHARED_BYTES = 1 << 18
FORMATS = {
    "e4m3": (4, 3, 7),
    "e5m2": (5, 2, 15),
    "e2m3": (2, 3, 1),
    "e3m2": (3, 2, 3),
    "e2m1": (2, 1, 1),
    "ue5m3": (5, 3, 15),
}
WIDE = {"f16": np.float16, "tf32": np.float32, "s8": np.int8, "u8": np.uint8}


def decode(codes: np.ndarray, dtype: str) -> np.ndarray:
    """Element codes as float64."""
    if dtype == "bf16":
        return (codes.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if dtype == "s1z4m11":
        return np.where(codes >> 15, -1.0, 1.0) * (codes & 0x7FF)
    if dtype in WIDE:
        return codes.astype(np.dtype(f"u{WIDE[dtype]().itemsize}")).view(WIDE[dtype]).astype(np.float64)
    exponent_bits, mantissa_bits, bias = FORMATS[dtype]
    codes = codes.astype(np.int64)
    sign = np.where(codes >> (exponent_bits + mantissa_bits) & 1, -1.0, 1.0)
    exponent = codes >> mantissa_bits & (1 << exponent_bits) - 1
    mantissa = (codes & (1 << mantissa_bits) - 1) / (1 << mantissa_bits)
    return sign * np.where(
        exponent == 0, mantissa * 2.0 ** (1 - bias), (1 + mantissa) * 2.0 ** (exponent - bias)
    )


def random_codes(rng: np.random.Generator, shape: tuple[int, int], dtype: str) -> np.ndarray:
    """Codes of small integers, -2 .. 2 (0 .. 3 for u8); of s1z4m11 all that there are."""
    if dtype == "s1z4m11":
        return (rng.integers(0, 2, shape) << 15 | rng.integers(0, 1 << 11, shape)).astype(np.uint16)
    values = rng.integers(0, 4, shape) if dtype == "u8" else rng.integers(-2, 3, shape)
    width = {"bf16": 16, "f16": 16, "tf32": 32, "e2m1": 4, "e2m3": 6, "e3m2": 6}.get(dtype, 8)
    if dtype == "tf32":
        return values.astype(np.float32).view(np.uint32)
    if dtype == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if dtype in WIDE:
        return values.astype(WIDE[dtype]).view(np.dtype(f"u{WIDE[dtype]().itemsize}"))
    known = {
        float(value): code for code, value in reversed(list(enumerate(decode(np.arange(1 << width), dtype))))
    }
    return np.array([known[float(v)] for v in range(-2, 3)], dtype=np.uint8)[values + 2]


def product_of(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A B^T without a BLAS, whose threads cost more than these small products."""
    return np.einsum("mk,nk->mn", a, b)


class Cta:
    """Shared memory and tensor memory of one CTA."""

    def __init__(self) -> None:
        self.shared = np.zeros(SHARED_BYTES, dtype=np.uint8)
        self.tensor = np.zeros((128, 512 * 4), dtype=np.uint8)
        self.d = np.full((128, 512), np.nan)

    def read_tensor(self, lane: np.ndarray, word: np.ndarray, bit: np.ndarray, bits: int) -> np.ndarray:
        """Codes of `bits` bits out of tensor memory."""
        return gather(self.tensor.reshape(-1), (lane * 512 + word) * 32 + bit, bits)

    def write_tensor(
        self, lane: np.ndarray, word: np.ndarray, bit: np.ndarray, bits: int, codes: np.ndarray
    ) -> None:
        """Put codes into tensor memory, over zeros."""
        image = scatter(codes, (lane * 512 + word) * 32 + bit, bits, self.tensor.size)
        self.tensor |= image.reshape(self.tensor.shape)


def run(product: Product, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Place random matrices, carry out the plan, and give D as tensor memory has it and as it should be."""
    rng = np.random.default_rng(seed)
    ctas = [Cta() for _ in range(product.cta_group)]
    base_a, base_b = 0x1000, 0x20000
    place_a, place_d = (256 if product.k96 else 288), 0
    chunk = GRANULARITY[product.kind].chunk if product.sparse else 1
    dense_a, dense_b = [], []
    scale_a = scale_b = None
    for cta in ctas:
        stored = random_codes(rng, (product.a.mn, product.a.k), product.a.dtype)
        if product.sparse:
            choices = (
                [0b0100, 0b1110]
                if product.kind == "tf32"
                else [0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110]
            )
            nibbles = rng.choice(choices, (product.a.mn, product.k // chunk)).astype(np.uint8)
            lane, word, bit = metadata_cells(product.kind, product.path, product.k)
            codes = np.broadcast_to(nibbles, lane.shape)
            cta.write_tensor(lane, word + 460, bit, 4, codes)
            dense_a.append(decompress(decode(stored, product.a.dtype), nibbles, product.kind))
        else:
            dense_a.append(decode(stored, product.a.dtype))
        if isinstance(product.a, SharedTile):
            tile = product.a
            cta.shared[base_a : base_a + tile.nbytes] = tile.pack(stored, base_a)
        else:
            lane, word, bit = operand_a_cells(product.path, product.a.k, product.operand_bits)
            copies = np.broadcast_to(stored, lane.shape)
            width = min(product.operand_bits, 8 * stored.itemsize)
            cta.write_tensor(lane, word + place_a, bit, max(width, 8) if width > 4 else 4, copies)
        codes_b = random_codes(rng, (product.b.mn, product.b.k), product.b.dtype)
        dense_b.append(decode(codes_b, product.b.dtype))
        cta.shared[base_b : base_b + product.b.nbytes] = product.b.pack(codes_b, base_b)
    a = np.concatenate(dense_a)
    share = product.step_n // product.cta_group
    b = np.concatenate([part[at : at + share] for at in range(0, product.b.mn, share) for part in dense_b])
    place_sa, place_sb = (352, 400) if product.k96 else (430, 446)
    if product.scale:
        blocks = product.k // (product.step_k // scale_count(product))
        scale_a = rng.integers(0, 3, (product.m, blocks)).astype(np.uint8)
        scale_b = rng.integers(0, 3, (product.n, blocks)).astype(np.uint8)
        for rank, cta in enumerate(ctas):
            rows = scale_a[rank * product.a.mn : (rank + 1) * product.a.mn]
            lane, word, byte = tmem_cells(product.a.mn, blocks)
            cta.write_tensor(lane, word + place_sa, byte * 8, 8, np.broadcast_to(rows[..., None], lane.shape))
            lane, word, byte = tmem_cells(product.n, blocks, halves=product.path.name == "B")
            cta.write_tensor(
                lane, word + place_sb, byte * 8, 8, np.broadcast_to(scale_b[..., None], lane.shape)
            )
        block = product.k // blocks
        scaled_a = a * (1.0 + np.repeat(scale_a, block, axis=1))
        scaled_b = b * (1.0 + np.repeat(scale_b, block, axis=1))
        expected = product_of(scaled_a, scaled_b)
    else:
        expected = product_of(a, b)
    for one in plan_mma(product):
        execute(product, one, ctas, base_a, base_b, place_a, place_d, place_sa, place_sb)
    return read_d(product, ctas, place_d), expected


def execute(product, one, ctas, base_a, base_b, place_a, place_d, place_sa, place_sb) -> None:
    """One instruction, by its descriptors alone."""
    fields = one.idesc.fields()
    step, n = one.idesc.k, fields["n"]
    stored_k = step // 2 if product.sparse else step
    parts_b = []
    for cta in ctas:
        descriptor = one.b.moved(base_b)
        major = "MN" if fields.get("transpose_b") else "K"
        bits = operand_bits(descriptor, n // len(ctas), step, fields["b"], major, product.b.padded)
        parts_b.append(decode(gather(cta.shared, bits, product.b.bits), fields["b"]))
    b = np.concatenate(parts_b)
    for cta in ctas:
        a = read_a(product, one, cta, fields, stored_k, base_a, place_a)
        if product.sparse:
            chunk = GRANULARITY[product.kind].chunk
            lane, word, bit = metadata_cells(product.kind, product.path, step)
            column = one.metadata + fields.get("sparsity_selector", 0) + 460
            assert metadata_columns(product.kind, step) * chunk >= 1
            nibbles = cta.read_tensor(lane[0], word[0] + column, bit[0], 4)
            a = decompress(a, nibbles, product.kind)
        partial = multiply(product, one, cta, fields, a, b, place_sa, place_sb)
        lane, column = accumulator_cells(DATA_PATHS[product.path.name], n)
        lane = lane + (one.d >> 16)
        column = column + (one.d & 0xFFFF) + place_d
        before = cta.d[lane, column] if one.accumulate else 0.0
        cta.d[lane, column] = before + partial


def read_a(product, one, cta, fields, stored_k, base_a, place_a) -> np.ndarray:
    if isinstance(product.a, TensorTile):
        width = product.operand_bits
        lane, word, bit = operand_a_cells(product.path, stored_k, width)
        codes = cta.read_tensor(lane[-1], word[-1] + place_a + one.a, bit[-1], width)
        return decode(codes, fields["a"])
    descriptor = one.a.moved(base_a)
    major = "MN" if fields.get("transpose_a") else "K"
    bits = operand_bits(descriptor, product.a.mn, stored_k, fields["a"], major, product.a.padded)
    return decode(gather(cta.shared, bits, product.a.bits), fields["a"])


def multiply(product, one, cta, fields, a, b, place_sa, place_sb) -> np.ndarray:
    if not product.scale:
        return product_of(a, b)
    step, n = one.idesc.k, fields["n"]
    count = scale_count(product)
    sa = read_scales(product, cta, product.a.mn, False, fields["sfa_id"], place_sa + one.scale_a)
    halves = product.path.name == "B"
    sb = read_scales(product, cta, n, halves, fields["sfb_id"], place_sb + one.scale_b)
    block = step // count
    return product_of(a * (1.0 + np.repeat(sa, block, axis=1)), b * (1.0 + np.repeat(sb, block, axis=1)))


def read_scales(product, cta, rows, halves, identity, place) -> np.ndarray:
    """The scales of each row that one instruction reads."""
    byte = np.array(selected_bytes(scale_count(product), identity))
    lane, word, _ = tmem_cells(rows, 8, halves)
    wide = word[0, 4, 0] - word[0, 0, 0]
    return cta.read_tensor(lane[:, 0, :1], word[:, 0, :1] + byte // 4 * wide + place, byte % 4 * 8, 8)


def read_d(product, ctas, place_d) -> np.ndarray:
    """D as a matrix, out of tensor memory."""
    groups = product.lane_groups
    rows = []
    for cta in ctas:
        parts = []
        steps = product.n // product.step_n
        width = product.accumulator_columns * groups // steps
        for part in range(steps):
            group, place = divmod(part, steps // groups)
            lane, column = accumulator_cells(product.path, product.step_n)
            parts.append(cta.d[lane + 16 * group, column + place * width + place_d])
        rows.append(np.concatenate(parts, axis=1))
    return np.concatenate(rows)
