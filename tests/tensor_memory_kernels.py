"""Kernels that place matrices as a test made them, carry out a plan, and give back D."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensor_memory_products as products

import ptxkit
from ptxkit.asm.build import Builder, param, special
from ptxkit.descriptors import ZeroColumnMask
from ptxkit.emulator import Emulator
from ptxkit.emulator.tensor_memory.cells import PITCH, Area
from ptxkit.tcgen05 import (
    PlannedMma,
    Product,
    TensorTile,
    emit,
    plan_commit,
    plan_metadata_copy,
    plan_mma,
    plan_move,
    plan_scale_copy,
)

FIRST, COLUMNS = 256, 512
"""The columns of tensor memory that the host fills; D lies before them."""
SHARED = products.BASE_B + 0x10000
THREADS = 128


COPIED = 0x18000
"""Where shared memory holds what `tcgen05.cp` brings to tensor memory: four columns after four."""


def copied_columns(product: Product) -> list[tuple[int, bool]]:
    """The first of each four columns of scale factors, or of metadata; whether all lanes differ."""
    if product.sparse and not product.scale:
        return [(products.PLACE_METADATA + at, True) for at in range(0, 16, 4)]
    places = products.PLACE_SCALE_A, products.PLACE_SCALE_B
    return [(place + at, False) for place in places for at in range(0, 16, 4)]


def product_kernel(
    product: Product,
    plan: list[PlannedMma] | None = None,
    mask: ZeroColumnMask | None = None,
    copied: bool = False,
) -> str:
    """The text: `image` holds shared memory and columns 256 to 511 of each CTA, `out` takes columns 0 to 255.

    These are cleared first, so that all of `out` is defined.
    """
    pair = product.cta_group == 2
    target = product.target or ("sm_103a" if product.k96 else "sm_100a")
    b = Builder(target, version="9.4" if product.later else "8.8")
    place_a, place_b = products.scale_places(product)
    buffer = b.shared("b8", "buffer[]", align=1024, linkage="extern")
    barrier = b.shared("b64", "barrier", align=8)
    slot = b.shared("b32", "slot", align=4)
    parameters = [param("u64", "image"), param("u64", "out")]
    kind = {"reqnctapercluster": 2} if pair else {}
    with b.entry("product", parameters, reqntid=(THREADS, 1, 1), **kind) as k:
        image = k.ld.param.u64(..., k[k.parameters[0]])
        out = k.ld.param.u64(..., k[k.parameters[1]])
        thread = k.mov.u32(..., special.tid.x)
        cta = k.mov.u32(..., special.ctaid.x)
        warp = k.shr.u32(..., thread, 5)
        k.mad.wide.u32(image, cta, SHARED + THREADS * (COLUMNS - FIRST) * 4, image)
        k.mad.wide.u32(out, cta, THREADS * FIRST * 4, out)
        smem = k.mov.b32(..., buffer)
        first_thread = k.setp.eq.u32(..., thread, 0)
        first_warp = k.setp.eq.u32(..., warp, 0)
        start = k.shl.b32(..., thread, 4)
        with k.for_("u32", start, SHARED, THREADS * 16) as at:
            source = k.cvt.u64.u32(..., at)
            k.add.u64(source, source, image)
            four = k.ld.global_.v4.b32(..., k[source])
            target = k.add.u32(..., smem, at)
            k.st.shared.v4.b32(k[target], four)
        k.fence.proxy.async_.shared__cta()
        with k.if_(first_thread):
            k.mbarrier.init.shared.b64(k[barrier], 1)
        with k.if_(first_warp):
            emit.allocation(k, 512, slot, product.cta_group)
        _meet(k, pair)
        tensor = k.ld.shared.b32(..., k[slot])
        lanes = k.shl.b32(..., warp, 21)
        mine = k.add.u32(..., tensor, lanes)
        words = k.mad.wide.u32(..., thread, (COLUMNS - FIRST) * 4, image)
        nothing = [k.mov.b32(..., 0)] * 32
        for column in range(0, FIRST, 32):
            emit.store(k, plan_move("st", 32), _plus(k, mine, column), nothing)
        for column in range(FIRST, COLUMNS, 32):
            held: list[Any] = []
            for i in range(0, 32, 4):
                held += k.ld.global_.v4.b32(..., k[words + SHARED + (column - FIRST + i) * 4])
            emit.store(k, plan_move("st", 32), _plus(k, mine, column), held)
        k.tcgen05.fence__before_thread_sync()
        _meet(k, pair)
        k.tcgen05.fence__after_thread_sync()
        leader = first_thread
        if pair:
            k.setp.eq.and_.u32(leader, cta, 0, first_thread)
        with k.if_(leader):
            operands = emit.ProductOperands(
                d=tensor,
                a=_plus(k, tensor, products.PLACE_A)
                if isinstance(product.a, TensorTile)
                else _plus(k, smem, products.BASE_A),
                b=_plus(k, smem, products.BASE_B),
                accumulate=k.setp.ne.u32(..., 0, 0),
                scale_a=_plus(k, tensor, place_a),
                scale_b=_plus(k, tensor, place_b),
                metadata=_plus(k, tensor, products.PLACE_METADATA),
                lut=_plus(k, tensor, products.PLACE_LUT),
            )
            for i, (column, different) in enumerate(copied_columns(product) if copied else ()):
                (one,) = plan_metadata_copy(4, pair + 1) if different else plan_scale_copy(128, 4, pair + 1)
                emit.copies(k, [one], _plus(k, smem, COPIED + 2048 * i), _plus(k, tensor, column))
            emit.mma(k, plan_mma(product) if plan is None else plan, operands, mask)
            emit.commit(k, plan_commit(product.cta_group, [0, 1] if pair else None), barrier)
        done = k.reg("pred")
        k.mbarrier.try_wait.parity.shared.b64(done, k[barrier], 0)
        with k.while_(~done):
            k.mbarrier.try_wait.parity.shared.b64(done, k[barrier], 0)
        k.tcgen05.fence__after_thread_sync()
        row = k.mad.wide.u32(..., thread, FIRST * 4, out)
        for column in range(0, FIRST, 32):
            held = emit.load(k, plan_move("ld", 32), _plus(k, mine, column))
            for i in range(0, 32, 4):
                k.st.global_.v4.b32(k[row + (column + i) * 4], held[i : i + 4])
        k.tcgen05.fence__before_thread_sync()
        _meet(k, pair)
        with k.if_(first_warp):
            emit.deallocation(k, 512, tensor, product.cta_group)
        k.ret()
    return ptxkit.write(b.module, canonical=True)


def _plus(k: Any, base: Any, offset: int) -> Any:
    made = k.reg("b32")
    k.add.u32(made, base, offset)
    return made


def _meet(k: Any, pair: bool) -> None:
    if pair:
        k.barrier.cluster.arrive.aligned()
        k.barrier.cluster.wait.aligned()
    else:
        k.bar.sync(0)


def move_to_shared(product: Product, placed: products.Placed) -> None:
    """Take what `copied_columns` names from tensor memory and put it where copies find it."""
    for side in placed.sides:
        cells = placed.tensor.data[side.cta].reshape(128, PITCH)
        for i, (column, different) in enumerate(copied_columns(product)):
            held = np.ascontiguousarray(cells[: 128 if different else 32, column : column + 4]).view(np.uint8)
            side.memory[COPIED + 2048 * i :][: held.size] = held.reshape(-1)
            cells[:, column : column + 4] = 0


def launch(product: Product, placed: products.Placed, text: str, device: Emulator) -> np.ndarray:
    """D of every CTA as its columns 0 to 255, uint32 (CTAs, 128, 256), of a product that `placed` holds."""
    parts = []
    for side in placed.sides:
        columns = placed.tensor.data[side.cta].reshape(128, PITCH)[:, FIRST:COLUMNS]
        parts += [side.memory[:SHARED], np.ascontiguousarray(columns).view(np.uint8).reshape(-1)]
    image = device.array(np.concatenate(parts))
    ctas = product.cta_group
    out = device.empty((ctas, 128, FIRST), np.uint32)
    kernel = device.load(text).kernel()
    kernel.launch((ctas,), (THREADS,), [image, out], shared=SHARED)
    device.synchronize()
    assert device.findings == []
    columns: np.ndarray = out.numpy()
    return columns


def result(product: Product, placed: products.Placed, columns: np.ndarray) -> np.ndarray:
    """D as float64 out of what `launch` gives."""
    for side, words in zip(placed.sides, columns, strict=True):
        placed.tensor.data[side.cta].reshape(128, PITCH)[:, :FIRST] = words
        for area in areas(product):
            area.write(placed.tensor.defined[side.cta], np.full((product.path.rows, area.n), 0xFFFFFFFF))
    return products.result(product, placed)


def areas(product: Product) -> list[Area]:
    """Where the parts of D lie."""
    groups, steps = product.lane_groups, product.n // product.step_n
    width = product.accumulator_columns * groups // steps
    return [
        Area(product.path, product.step_n, 16 * (part // (steps // groups)), part % (steps // groups) * width)
        for part in range(steps)
    ]
