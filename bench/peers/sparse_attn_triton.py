"""sparse_attn_bwd in Triton: what a compiler makes of it, in three ways, each at its best configuration.

- `whole`: a program has HEADS heads of a query, which stay on chip, and gathers KEYS keys at a time; dq is
  its accumulator, dkv goes to memory by atomic additions. Keys come as 512 elements and the last 64: extents
  must be powers of two.
- `halves`: the same with the 512 as twice 256, so that fewer results are in registers at a time.
- `two`: one kernel for dq, as in `whole` without dkv, and one for dkv, whose programs have KEYS keys of a
  query and run over all of its heads: each element of dkv is added to memory once for all heads, but the
  products q . kv and do . kv are made twice.

All make delta first and clear dkv. SEARCHED is what `tune` tries, compiled by many processes beforehand,
then one after another; what doesn't fit drops out. The fastest of each way is a peer, on the lists as they
are and on lists in order.
"""

from __future__ import annotations

import itertools
import multiprocessing
from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl

LOG2E: tl.constexpr = tl.constexpr(1.4426950408889634)
LAUNCHES = 3
"""Of a configuration when it is tuned; the median counts."""


@triton.jit
def add_up(o, do, delta, ROWS: tl.constexpr):
    """delta = o . do of ROWS rows."""
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    at = rows[:, None] * 512 + tl.arange(0, 512)[None, :]
    products = tl.load(o + at).to(tl.float32) * tl.load(do + at).to(tl.float32)
    tl.store(delta + rows, tl.sum(products, 1))


@triton.jit
def look_up(indices, length, query, first, s_kv, topk, KEYS: tl.constexpr):
    """KEYS keys of a query's list, and which of them are seen."""
    listed = first + tl.arange(0, KEYS)
    key = tl.load(indices + query.to(tl.int64) * topk + listed)
    seen = (key >= 0) & (key < s_kv) & (listed < length)
    return tl.where(seen, key, 0).to(tl.int64), seen


@triton.jit
def weigh(scores, dp, lse, delta, seen, scale):
    """w and ds in bf16, of heads x keys."""
    w = tl.where(seen[None, :], tl.exp2(scores * (scale * LOG2E) - lse[:, None]), 0.0)
    return w.to(tl.bfloat16), (w * (dp - delta[:, None]) * scale).to(tl.bfloat16)


@triton.jit
def whole(
    q, kv, do, delta, lse, indices, lengths, dq, dkv, s_kv, topk, scale,
    ALL: tl.constexpr, HEADS: tl.constexpr, KEYS: tl.constexpr, DKV: tl.constexpr,
):  # fmt: skip
    """dq, and with DKV dkv, of HEADS heads of a query."""
    PARTS: tl.constexpr = ALL // HEADS
    query = tl.program_id(0) // PARTS
    heads = tl.program_id(0).to(tl.int64) * HEADS + tl.arange(0, HEADS)
    main, rest = tl.arange(0, 512), 512 + tl.arange(0, 64)
    q_main, q_rest = (
        tl.load(q + heads[:, None] * 576 + main[None, :]),
        tl.load(q + heads[:, None] * 576 + rest[None, :]),
    )
    do_main = tl.load(do + heads[:, None] * 512 + main[None, :])
    delta_own, lse_own = tl.load(delta + heads), tl.load(lse + heads)
    dq_main, dq_rest = tl.zeros((HEADS, 512), tl.float32), tl.zeros((HEADS, 64), tl.float32)
    length = tl.minimum(tl.load(lengths + query), topk)
    for first in range(0, length, KEYS):
        key, seen = look_up(indices, length, query, first, s_kv, topk, KEYS)
        kv_main = tl.load(kv + key[:, None] * 576 + main[None, :], mask=seen[:, None], other=0.0)
        kv_rest = tl.load(kv + key[:, None] * 576 + rest[None, :], mask=seen[:, None], other=0.0)
        scores = tl.dot(q_rest, kv_rest.T, tl.dot(q_main, kv_main.T))
        w, ds = weigh(scores, tl.dot(do_main, kv_main.T), lse_own, delta_own, seen, scale)
        dq_main = tl.dot(ds, kv_main, dq_main)
        dq_rest = tl.dot(ds, kv_rest, dq_rest)
        if DKV:
            to = dkv + key[:, None] * 576
            sums = tl.dot(ds.T, q_main, tl.dot(w.T, do_main))
            tl.atomic_add(to + main[None, :], sums, mask=seen[:, None], sem="relaxed")
            tl.atomic_add(to + rest[None, :], tl.dot(ds.T, q_rest), mask=seen[:, None], sem="relaxed")
    tl.store(dq + heads[:, None] * 576 + main[None, :], dq_main.to(tl.bfloat16))
    tl.store(dq + heads[:, None] * 576 + rest[None, :], dq_rest.to(tl.bfloat16))


@triton.jit
def halves(
    q, kv, do, delta, lse, indices, lengths, dq, dkv, s_kv, topk, scale,
    ALL: tl.constexpr, HEADS: tl.constexpr, KEYS: tl.constexpr, AGAIN: tl.constexpr,
):  # fmt: skip
    """The same, 256 elements at a time; with AGAIN q and do come again, from the L2 cache, for each block."""
    PARTS: tl.constexpr = ALL // HEADS
    query = tl.program_id(0) // PARTS
    heads = tl.program_id(0).to(tl.int64) * HEADS + tl.arange(0, HEADS)
    main, rest = tl.arange(0, 256), 512 + tl.arange(0, 64)
    q_rows, do_rows = q + heads[:, None] * 576, do + heads[:, None] * 512
    if not AGAIN:
        q0, q1 = tl.load(q_rows + main[None, :]), tl.load(q_rows + 256 + main[None, :])
        q2 = tl.load(q_rows + rest[None, :])
        do0, do1 = tl.load(do_rows + main[None, :]), tl.load(do_rows + 256 + main[None, :])
    delta_own, lse_own = tl.load(delta + heads), tl.load(lse + heads)
    dq0, dq1 = tl.zeros((HEADS, 256), tl.float32), tl.zeros((HEADS, 256), tl.float32)
    dq2 = tl.zeros((HEADS, 64), tl.float32)
    length = tl.minimum(tl.load(lengths + query), topk)
    for first in range(0, length, KEYS):
        key, seen = look_up(indices, length, query, first, s_kv, topk, KEYS)
        rows, here = kv + key[:, None] * 576, seen[:, None]
        kv0 = tl.load(rows + main[None, :], mask=here, other=0.0)
        kv1 = tl.load(rows + 256 + main[None, :], mask=here, other=0.0)
        kv2 = tl.load(rows + rest[None, :], mask=here, other=0.0)
        if AGAIN:
            q0, q1 = tl.load(q_rows + main[None, :]), tl.load(q_rows + 256 + main[None, :])
            q2 = tl.load(q_rows + rest[None, :])
            do0, do1 = tl.load(do_rows + main[None, :]), tl.load(do_rows + 256 + main[None, :])
        scores = tl.dot(q2, kv2.T, tl.dot(q1, kv1.T, tl.dot(q0, kv0.T)))
        dp = tl.dot(do1, kv1.T, tl.dot(do0, kv0.T))
        w, ds = weigh(scores, dp, lse_own, delta_own, seen, scale)
        dq0, dq1, dq2 = tl.dot(ds, kv0, dq0), tl.dot(ds, kv1, dq1), tl.dot(ds, kv2, dq2)
        to = dkv + key[:, None] * 576
        if AGAIN:
            q0, do0 = tl.load(q_rows + main[None, :]), tl.load(do_rows + main[None, :])
        tl.atomic_add(to + main[None, :], tl.dot(ds.T, q0, tl.dot(w.T, do0)), mask=here, sem="relaxed")
        if AGAIN:
            q1, do1 = tl.load(q_rows + 256 + main[None, :]), tl.load(do_rows + 256 + main[None, :])
            q2 = tl.load(q_rows + rest[None, :])
        tl.atomic_add(to + 256 + main[None, :], tl.dot(ds.T, q1, tl.dot(w.T, do1)), mask=here, sem="relaxed")
        tl.atomic_add(to + rest[None, :], tl.dot(ds.T, q2), mask=here, sem="relaxed")
    dq_rows = dq + heads[:, None] * 576
    tl.store(dq_rows + main[None, :], dq0.to(tl.bfloat16))
    tl.store(dq_rows + 256 + main[None, :], dq1.to(tl.bfloat16))
    tl.store(dq_rows + rest[None, :], dq2.to(tl.bfloat16))


@triton.jit
def keys_first(
    q, kv, do, delta, lse, indices, lengths, dkv, s_kv, topk, scale,
    ALL: tl.constexpr, HEADS: tl.constexpr, KEYS: tl.constexpr,
):  # fmt: skip
    """dkv of KEYS keys of a query, over all its heads."""
    query, first = tl.program_id(1), tl.program_id(0) * KEYS
    length = tl.minimum(tl.load(lengths + query), topk)
    if first < length:
        main, rest = tl.arange(0, 512), 512 + tl.arange(0, 64)
        key, seen = look_up(indices, length, query, first, s_kv, topk, KEYS)
        kv_main = tl.load(kv + key[:, None] * 576 + main[None, :], mask=seen[:, None], other=0.0)
        kv_rest = tl.load(kv + key[:, None] * 576 + rest[None, :], mask=seen[:, None], other=0.0)
        dkv_main, dkv_rest = tl.zeros((KEYS, 512), tl.float32), tl.zeros((KEYS, 64), tl.float32)
        for head in range(0, ALL, HEADS):
            heads = query.to(tl.int64) * ALL + head + tl.arange(0, HEADS)
            q_main = tl.load(q + heads[:, None] * 576 + main[None, :])
            q_rest = tl.load(q + heads[:, None] * 576 + rest[None, :])
            do_main = tl.load(do + heads[:, None] * 512 + main[None, :])
            scores = tl.dot(q_rest, kv_rest.T, tl.dot(q_main, kv_main.T))
            dp = tl.dot(do_main, kv_main.T)
            w, ds = weigh(scores, dp, tl.load(lse + heads), tl.load(delta + heads), seen, scale)
            dkv_main = tl.dot(ds.T, q_main, tl.dot(w.T, do_main, dkv_main))
            dkv_rest = tl.dot(ds.T, q_rest, dkv_rest)
        to = dkv + key[:, None] * 576
        tl.atomic_add(to + main[None, :], dkv_main, mask=seen[:, None], sem="relaxed")
        tl.atomic_add(to + rest[None, :], dkv_rest, mask=seen[:, None], sem="relaxed")


SHAPES = [
    {"HEADS": heads, "KEYS": keys, "num_warps": warps, "num_stages": stages}
    for heads, keys, warps, stages in itertools.product((16, 32, 64), (16, 32, 64), (4, 8), (1, 2))
    if stages == 1 or heads * keys < 2048
]
SEARCHED: dict[str, list[dict[str, int]]] = {
    "whole": [shape for shape in SHAPES if shape["HEADS"] < 64],
    "halves": [{**shape, "AGAIN": again} for shape in SHAPES for again in (0, 1)],
    "dq alone": SHAPES,
    "dkv alone": [shape for shape in SHAPES if shape["HEADS"] * shape["KEYS"] < 4096],
}
"""Every configuration of each kernel; larger ones don't fit into shared memory."""


class Problem:
    """Tensors and launches. `tensors`: q, kv, o, do, lse, indices, topk_length, dq, dkv; d_qk is 576."""

    def __init__(self, heads: int, tensors: tuple[torch.Tensor, ...]) -> None:
        self.heads, self.tensors = heads, tensors
        self.delta = torch.empty_like(tensors[4])
        self.queries, self.topk = tensors[5].shape
        self.ordered = torch.empty_like(tensors[5])
        self.places = torch.empty(tensors[5].shape, device="cuda", dtype=torch.int64)
        self.sizes = (tensors[1].shape[0], self.topk, tensors[0].shape[-1] ** -0.5)

    def launch(self, name: str, configuration: dict[str, int], ordered: bool = False) -> None:
        """A kernel of SEARCHED in the current stream, on the lists in order or as they are."""
        q, kv, _, do, lse, indices, lengths, dq, dkv = self.tensors
        if ordered:
            indices = self.ordered
        inputs = (q, kv, do, self.delta, lse, indices, lengths)
        options = {"ALL": self.heads, **configuration}
        grid = (self.queries * self.heads // configuration["HEADS"],)
        if name == "halves":
            halves[grid](*inputs, dq, dkv, *self.sizes, **options)
        elif name == "dkv alone":
            grid = (triton.cdiv(self.topk, configuration["KEYS"]), self.queries)
            keys_first[grid](*inputs, dkv, *self.sizes, **options)
        else:
            whole[grid](*inputs, dq, dkv, *self.sizes, DKV=name == "whole", **options)

    def prepare(self, ordered: bool = False) -> None:
        """What every way begins with. All lists are full, and all of their indices keys."""
        if ordered:
            torch.sort(self.tensors[5], dim=1, out=(self.ordered, self.places))
        self.tensors[8].zero_()
        add_up[(self.queries * self.heads // 16,)](self.tensors[2], self.tensors[3], self.delta, ROWS=16)


def seconds(launch: Callable[[], None]) -> float:
    """The median of some launches."""
    times = []
    for _ in range(LAUNCHES):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        launch()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1e3)
    return sorted(times)[LAUNCHES // 2]


def compiled(job: tuple[str, int, dict[str, int]]) -> None:
    """One configuration, left in Triton's cache; one that can't be compiled fails again when it is tuned."""
    name, heads, configuration = job
    half, single, whole_number = torch.bfloat16, torch.float32, torch.int32
    inputs = (half, half, half, single, single, whole_number, whole_number)
    sizes, options = (32768, 2048, 576**-0.5), {"ALL": heads, "grid": (1,), **configuration}
    try:
        if name == "halves":
            halves.warmup(*inputs, half, single, *sizes, **options)
        elif name == "dkv alone":
            keys_first.warmup(*inputs, single, *sizes, **options)
        else:
            whole.warmup(*inputs, half, single, *sizes, DKV=name == "whole", **options)
    except (triton.runtime.errors.OutOfResources, triton.CompilationError, RuntimeError):
        return


def compile_all(heads: tuple[int, ...], processes: int = 14) -> None:
    """Every configuration for so many heads."""
    jobs = [(name, each, shape) for each in heads for name, shapes in SEARCHED.items() for shape in shapes]
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        pool.map(compiled, jobs, chunksize=1)


def tune(
    heads: int, tensors: tuple[torch.Tensor, ...]
) -> tuple[dict[str, Callable[[], None]], dict[str, Any]]:
    """By way its launch at its kernels' fastest configurations; by kernel what each configuration took."""
    problem = Problem(heads, tensors)
    problem.prepare()
    times: dict[str, Any] = {}
    best: dict[str, dict[str, int]] = {}
    for name, configurations in SEARCHED.items():
        times[name], least = [], float("inf")
        for configuration in configurations:
            try:
                problem.launch(name, configuration)
                torch.cuda.synchronize()
            except (triton.runtime.errors.OutOfResources, triton.CompilationError, RuntimeError) as reason:
                times[name].append({**configuration, "failed": type(reason).__name__})
                continue
            took = seconds(lambda name=name, each=configuration: problem.launch(name, each))
            times[name].append({**configuration, "seconds": took})
            if took < least:
                least, best[name] = took, configuration

    def way(ordered: bool, *names: str) -> Callable[[], None]:
        def launch() -> None:
            problem.prepare(ordered)
            for name in names:
                problem.launch(name, best[name], ordered)

        return launch

    ways = {"whole": ("whole",), "halves": ("halves",), "two": ("dq alone", "dkv alone")}
    launches = {}
    for name, names in ways.items():
        if all(each in best for each in names):
            launches[name] = way(False, *names)
            launches[f"{name}, in order"] = way(True, *names)
    return launches, {"best": best, "searched": times}
