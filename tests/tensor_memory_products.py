"""Products of the planner, carried out by the emulator's parts on matrices that a test places itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import tcgen05_model

from ptxkit.emulator.memory import TiledBank
from ptxkit.emulator.tensor_memory.arithmetic import arithmetic
from ptxkit.emulator.tensor_memory.cells import CELLS, PITCH, Area, TensorMemory
from ptxkit.emulator.tensor_memory.factors import Side
from ptxkit.emulator.tensor_memory.mma_plan import MmaForm, decode
from ptxkit.emulator.tensor_memory.product import Operands, place
from ptxkit.layouts import SharedTile
from ptxkit.layouts.bitpacking import scatter
from ptxkit.layouts.scales import tmem_cells
from ptxkit.layouts.sparsity import MEANINGFUL, decompress, granularity, metadata_cells
from ptxkit.layouts.tensor_memory import operand_a_cells
from ptxkit.tcgen05 import LookedUpTile, PlannedMma, Product, TensorTile, plan_mma
from ptxkit.tcgen05.problem import scale_count

BASE_A, BASE_B = 0x1000, 0x20000
PLACE_A, PLACE_LUT, PLACE_METADATA, PLACE_SCALE_A, PLACE_SCALE_B = 288, 408, 416, 448, 480
SHARED = 1 << 18
WIDTHS = {
    "tf32": 32,
    "f16": 16,
    "bf16": 16,
    "e4m3": 8,
    "e5m2": 8,
    "s8": 8,
    "u8": 8,
    "e3m2": 6,
    "e2m3": 6,
    "e2m1": 4,
}


@dataclass
class Placed:
    """What a product works on.

    Attributes:
        sides: the CTAs.
        tensor: their tensor memory.
        a, b: the dense matrices as float64, those of all CTAs.
    """

    sides: list[Side]
    tensor: TensorMemory
    a: np.ndarray
    b: np.ndarray


def values(codes: np.ndarray, dtype: str) -> np.ndarray:
    """Codes as float64."""
    return tcgen05_model.decode(codes, dtype)


def random_codes(rng: np.random.Generator, shape: tuple[int, int], dtype: str) -> np.ndarray:
    """Codes of every finite number, those of wide types near one."""
    if dtype in ("tf32", "f16", "bf16"):
        numbers = rng.standard_normal(shape).astype(np.float32)
        if dtype == "f16":
            return numbers.astype(np.float16).view(np.uint16)
        words = numbers.view(np.uint32)
        return (
            words & np.uint32(0xFFFFE000) if dtype == "tf32" else (words >> np.uint32(16)).astype(np.uint16)
        )
    codes = rng.integers(0, 1 << WIDTHS[dtype], shape).astype(np.uint8)
    unusable = {"e4m3": (0x7F,), "e5m2": (0x7C, 0x7D, 0x7E, 0x7F)}.get(dtype, ())
    return np.where(np.isin(codes & 0x7F, unusable), np.uint8(1), codes) if unusable else codes


def put(product: Product, seed: int, small: bool = False) -> Placed:
    """Random matrices at their places: small integers, or anything."""
    rng = np.random.default_rng(seed)
    make = tcgen05_model.random_codes if small else random_codes
    tensor = TensorMemory(product.cta_group, True)
    bank = TiledBank(product.cta_group, SHARED, tracked=True)
    sides, all_a, all_b = [], [], []
    for cta in range(product.cta_group):
        side = Side(cta, bank, 0)
        stored = make(rng, (product.a.mn, product.a.k), product.a.dtype)
        dense = values(stored, product.a.dtype)
        if product.sparse:
            version = product.sparsity_version
            chunk = granularity(product.kind, version).chunk
            choices = MEANINGFUL.get(product.kind, MEANINGFUL["other"])
            nibbles = rng.choice(choices, (product.a.mn, product.k // chunk)).astype(np.uint8)
            put_cells(
                tensor,
                cta,
                PLACE_METADATA,
                *metadata_cells(product.kind, product.path, product.k, version),
                4,
                nibbles,
            )
            dense = decompress(dense, nibbles, product.kind, version)
        all_a.append(dense)
        if isinstance(product.a, SharedTile):
            put_tile(side, product.a, stored, BASE_A)
        else:
            bits = product.operand_bits
            codes = stored << np.uint8(2) if product.a.dtype == "e2m1" and bits == 8 else stored
            put_cells(tensor, cta, PLACE_A, *operand_a_cells(product.path, product.a.k, bits), bits, codes)
        if isinstance(product.b, LookedUpTile):
            codes_b = put_indexes(rng, tensor, side, product.b, make)
        else:
            codes_b = make(rng, (product.b.mn, product.b.k), product.b.dtype)
            put_tile(side, product.b, codes_b, BASE_B)
        all_b.append(values(codes_b, product.b.dtype))
        sides.append(side)
    share = product.step_n // product.cta_group
    b = np.concatenate([part[at : at + share] for at in range(0, product.b.mn, share) for part in all_b])
    return Placed(sides, tensor, np.concatenate(all_a), b)


def put_tile(side: Side, tile: SharedTile, codes: np.ndarray, address: int) -> None:
    """A matrix in shared memory; only its own bits become defined."""
    side.memory[address : address + tile.nbytes] = tile.pack(codes, address)
    ones = np.full(codes.shape, (1 << tile.bits) - 1, codes.dtype)
    side.shadow[address : address + tile.nbytes] &= ~tile.pack(ones, address)


def put_indexes(
    rng: np.random.Generator, tensor: TensorMemory, side: Side, tile: LookedUpTile, make
) -> np.ndarray:
    """Tables of B, eight elements in lane g for columns 8g to 8g + 7, and indexes; the elements."""
    groups = tile.mn // 8
    tables = make(rng, (groups, 8), tile.dtype)
    lane, byte = np.indices(tables.shape)
    put_cells(tensor, side.cta, PLACE_LUT, lane, byte // 4, byte % 4 * 8, 8, tables)
    indexes = rng.integers(0, 8, (tile.mn, tile.k))
    side.memory[BASE_B : BASE_B + tile.nbytes] = tile.pack(indexes)
    side.shadow[BASE_B : BASE_B + tile.nbytes] = 0
    return tables[np.arange(tile.mn)[:, None] // 8, indexes]


def put_cells(
    tensor: TensorMemory, cta: int, place: int, lane, word, bit, bits: int, codes: np.ndarray
) -> None:
    """Codes in tensor memory, over what is there."""
    at = (lane * PITCH + word + place) * 32 + bit
    spread = np.broadcast_to(codes, lane.shape)
    image = scatter(spread, at, bits, 4 * CELLS).view(np.uint32)
    ones = scatter(np.full(lane.shape, (1 << bits) - 1, np.uint32), at, bits, 4 * CELLS).view(np.uint32)
    tensor.data[cta] = tensor.data[cta] & ~ones | image
    tensor.defined[cta] |= ones


def scale_places(product: Product) -> tuple[int, int]:
    """Columns of the scale factors of A and B: more of them with K = 96."""
    return (384, 432) if product.k96 else (PLACE_SCALE_A, PLACE_SCALE_B)


def put_scales(product: Product, placed: Placed, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Random scale factors, near one, and their values for every element of A and B."""
    rng = np.random.default_rng(seed + 1000)
    blocks = product.k // (product.step_k // scale_count(product))
    place_a, place_b = scale_places(product)
    low, high = {"ue8m0": (120, 135), "ue4m3": (0x20, 0x50), "ue5m3": (0x50, 0xA0)}[product.scale]
    found = []
    for size, start, halves in (
        (product.m, place_a, False),
        (product.n, place_b, product.path.name == "B"),
    ):
        codes = rng.integers(low, high, (size, blocks)).astype(np.uint8)
        for side in placed.sides:
            rows = codes
            if start == place_a:
                rows = codes[side.cta * product.a.mn : (side.cta + 1) * product.a.mn]
            lanes = product.sfa_lanes if start == place_a else 32
            lane, word, byte = tmem_cells(len(rows), blocks, halves, lanes)
            put_cells(placed.tensor, side.cta, start, lane, word, byte * 8, 8, rows[..., None])
        form = "ue5m3" if product.scale == "ue5m3" else "e4m3"
        numbers = 2.0 ** (codes.astype(int) - 127) if product.scale == "ue8m0" else values(codes, form)
        found.append(np.repeat(numbers, product.k // blocks, axis=1))
    return found[0], found[1]


def form_of(one: PlannedMma, product: Product, capability: tuple[int, int] = (10, 0)) -> MmaForm:
    """The modifiers of a planned instruction, on a device."""
    vector = product.vector if product.scale else None
    in_tensor = isinstance(product.a, TensorTile)
    return MmaForm(
        product.kind,
        product.cta_group,
        product.ws,
        product.sparse,
        False,
        vector,
        in_tensor,
        capability=(10, 3) if product.k96 else capability,
    )


def carry_out(
    product: Product, placed: Placed, plain: bool = False, capability=(10, 0), plan=None, jit: bool = False
) -> None:
    """Execute every instruction of the plan."""
    for one in plan_mma(product) if plan is None else plan:
        decoded = decode(form_of(one, product, capability), int(one.idesc))
        a = one.a + PLACE_A if isinstance(one.a, int) else int(one.a.moved(BASE_A))
        place_a, place_b = scale_places(product)
        operands = Operands(
            d=one.d,
            a=a,
            b=int(one.b.moved(BASE_B)),
            accumulate=one.accumulate,
            metadata=None if one.metadata is None else one.metadata + PLACE_METADATA,
            scale_a=None if one.scale_a is None else one.scale_a + place_a,
            scale_b=None if one.scale_b is None else one.scale_b + place_b,
        )
        ready = place(decoded, operands)
        arithmetic(capability, decoded, plain, jit).run(ready, placed.sides, placed.tensor, None, 1)


def result(product: Product, placed: Placed) -> np.ndarray:
    """D as float64, out of tensor memory; NaN where undefined."""
    rows = []
    groups, steps = product.lane_groups, product.n // product.step_n
    width = product.accumulator_columns * groups // steps
    for side in placed.sides:
        parts = []
        for part in range(steps):
            group, at = divmod(part, steps // groups)
            area = Area(product.path, product.step_n, 16 * group, at * width)
            words = area.read(placed.tensor.data[side.cta])
            known = area.read(placed.tensor.defined[side.cta]) == 0xFFFFFFFF
            kind = {"f32": np.float32, "s32": np.int32}.get(product.d)
            numbers = words.astype(np.uint16).view(np.float16) if kind is None else words.copy().view(kind)
            parts.append(np.where(known, numbers.astype(np.float64), np.nan))
        rows.append(np.concatenate(parts, axis=1))
    return np.concatenate(rows)
