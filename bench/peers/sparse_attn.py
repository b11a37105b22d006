"""sparse_attn_bwd_sm90a.ptx beside Triton, PyTorch, cuBLAS and its additions alone.

bench/peers/hopper.py runs it. The kernel puts each list in order first, and its time counts
that; Triton's kernels run on the lists as they are, and on lists that torch.sort has put in order, whose
time counts too. The additions alone run on both kinds of lists, without the time to put them in order.
PyTorch is timed apart: it launches more kernels than a stream holds while they wait for each other's start.
"""

from __future__ import annotations

import importlib.metadata
import itertools
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import sparse_attn_triton
import torch

import ptxkit
from ptxkit.driver import Stopwatch

ROOT = Path(__file__).resolve().parents[2]
QUERIES, KEYS, CHOSEN, DEPTH = 4096, 32768, 2048, 576
SHARED = {128: 226392, 64: 229936}
"""By heads, as in the card."""
SCALE = DEPTH**-0.5
ADDS = ("adds_sixteen", "adds_line", "adds_bulk")
CHUNK = 32
"""Queries that PyTorch takes at a time."""
NAMES = ("q", "kv", "o", "do", "lse", "indices", "topk_length", "dq", "dkv")


def sparse(device: Any, turns: Callable[..., dict[str, Any]], cublas: Callable[..., Any]) -> dict[str, Any]:
    """Rates with 128 and 64 heads, and errors over the norm of dkv, and of dq of every 64th query."""
    watch = Stopwatch(device, "none")
    sparse_attn_triton.compile_all((128, 64))
    figures, errors, tuned, ratios = {}, {}, {}, {}
    for heads in (128, 64):
        tensors = problem(heads)
        exact = reference(heads, tensors)
        launches = own(watch, device, heads, tensors)
        triton, tuned[f"{heads} heads"] = sparse_attn_triton.tune(
            heads, tuple(tensors[name] for name in NAMES)
        )
        launches |= {f"Triton, {name}": in_stream(watch, launch) for name, launch in triton.items()}
        launches["PyTorch"] = in_stream(watch, lambda heads=heads, tensors=tensors: eager(heads, tensors))
        for name, launch in launches.items():
            errors |= {
                f"{heads} heads, {name}, {key}": x for key, x in wrong(launch, device, heads, tensors, exact)
            }
        del launches["PyTorch"]
        apart = sparse_attn_triton.seconds(lambda heads=heads, tensors=tensors: eager(heads, tensors))
        work = dict.fromkeys(launches, 2.0 * QUERIES * heads * CHOSEN * (3 * DEPTH + 2 * 512))
        launches["cuBLAS"], work["cuBLAS"] = cublas(watch)[0], 2.0 * 8192**3
        module = device.load(ROOT / "bench" / "kernels" / "sparse_attn_adds.ptx")
        for name, lists in itertools.product(ADDS, ("indices", "keys")):
            args = [tensors["dkv"].data_ptr(), tensors[lists].data_ptr(), CHOSEN, 1]
            launch = module.kernel(name).prepare(QUERIES, 256, args, shared=4096, stream=watch.stream)
            name += ", in order" if lists == "keys" else ""
            launches[name], work[name] = launch, float(QUERIES * CHOSEN * DEPTH)
        found = turns(watch, launches, work)
        figures[f"{heads} heads"] = found
        kernel = found["sparse_attn_bwd_sm90a.ptx"]
        found["PyTorch"] = {
            "seconds": apart,
            "tflops": work["sparse_attn_bwd_sm90a.ptx"] / apart / 1e12,
            "samples": sparse_attn_triton.LAUNCHES,
        }
        ratios[f"{heads} heads"] = {
            "of_cublas": kernel["tflops"] / found["cuBLAS"]["tflops"],
            "of_triton": min(found[name]["seconds"] for name in found if "Triton" in name)
            / kernel["seconds"],
            "of_adds": min(found[name]["seconds"] for name in found if "adds" in name) / kernel["seconds"],
        }
        del tensors, exact, launches
        torch.cuda.empty_cache()
    return {
        "sizes": {"s_q": QUERIES, "s_kv": KEYS, "topk": CHOSEN, "d_qk": DEPTH},
        "figures": figures,
        "ratios": ratios,
        "errors": errors,
        "triton": {"version": importlib.metadata.version("triton"), **tuned},
    }


def problem(heads: int) -> dict[str, torch.Tensor]:
    """Random inputs, every list full, with o and lse by the forward pass; and places for the results."""
    found = {
        "q": torch.randn(QUERIES * heads, DEPTH, device="cuda").bfloat16(),
        "kv": torch.randn(KEYS, DEPTH, device="cuda").bfloat16(),
        "do": torch.randn(QUERIES * heads, 512, device="cuda").bfloat16(),
        "indices": torch.randint(0, KEYS, (QUERIES, CHOSEN), device="cuda", dtype=torch.int32),
        "topk_length": torch.full((QUERIES,), CHOSEN, device="cuda", dtype=torch.int32),
        "lse": torch.empty(QUERIES, heads, device="cuda"),
        "dkv": torch.empty(KEYS, DEPTH, device="cuda"),
        "keys": torch.empty(QUERIES, CHOSEN, device="cuda", dtype=torch.int32),
        "counts": torch.empty(QUERIES, device="cuda", dtype=torch.int32),
    }
    found["o"], found["dq"] = torch.empty_like(found["do"]), torch.empty_like(found["q"])
    for query, rows in by_query(heads):
        keys = found["kv"][found["indices"][query].long()]
        scores = (found["q"][rows] @ keys.T).float() * (SCALE * math.log2(math.e))
        top = scores.amax(1, keepdim=True)
        terms = torch.exp2(scores - top)
        total = terms.sum(1, keepdim=True)
        found["o"][rows] = (terms / total).bfloat16() @ keys[:, :512]
        found["lse"][query] = (top + torch.log2(total))[:, 0]
    return found


def by_query(heads: int) -> Iterator[tuple[int, slice]]:
    """Queries, and their rows of q."""
    for query in range(QUERIES):
        yield query, slice(query * heads, (query + 1) * heads)


def own(
    watch: Any, device: Any, heads: int, tensors: dict[str, torch.Tensor]
) -> dict[str, Callable[[], Any]]:
    """Our launches, as the card has them."""
    tiles = [("q", 64, "128B"), ("q", 32, "64B"), ("do", 64, "128B")]
    if heads == 64:
        del tiles[1]
    maps = [
        ptxkit.tensor_map(
            tensors[name].data_ptr(),
            dtype="bf16",
            shape=tuple(tensors[name].shape),
            strides=(2 * tensors[name].shape[1],),
            box=(64, columns),
            swizzle=swizzle,
        )
        for name, columns, swizzle in tiles
    ]
    names = ("kv", "o", "do", "lse", "keys", "counts", "dq", "dkv")
    args = [*maps, *(tensors[name].data_ptr() for name in names), CHOSEN]
    module = device.load(ROOT / "kernels_ptx" / "sparse_attn_bwd_sm90a.ptx")
    pieces = KEYS * DEPTH // 8
    clear = module.kernel("sparse_attn_bwd_clear").prepare(
        math.ceil(pieces / 256), 256, [tensors["dkv"].data_ptr(), pieces], stream=watch.stream
    )
    lists = [tensors[name].data_ptr() for name in ("indices", "topk_length", "keys", "counts")]
    order = module.kernel("sparse_attn_bwd_order").prepare(
        QUERIES, 256, [*lists, KEYS, CHOSEN], stream=watch.stream
    )
    options = {"cluster": 2} if heads == 128 else {}
    kernel = module.kernel(f"sparse_attn_bwd_576{'_pair' if heads == 128 else ''}").prepare(
        QUERIES * heads // 64, 384, args, shared=SHARED[heads], stream=watch.stream, **options
    )

    def launch() -> None:
        clear()
        order()
        kernel()

    return {"sparse_attn_bwd_sm90a.ptx": launch}


def in_stream(watch: Any, launch: Callable[[], None]) -> Callable[[], None]:
    """The launch in the watch's stream."""
    stream = torch.cuda.ExternalStream(int(watch.stream.handle))

    def launched() -> None:
        with torch.cuda.stream(stream):
            launch()

    return launched


def eager(heads: int, tensors: dict[str, torch.Tensor]) -> None:
    """PyTorch's batched products, some queries at a time."""
    q, kv, o, do, lse, indices, _, dq, dkv = (tensors[name] for name in NAMES)
    dkv.zero_()
    for first in range(0, QUERIES, CHUNK):
        queries = slice(first, first + CHUNK)
        rows = slice(first * heads, (first + CHUNK) * heads)
        listed = indices[queries].long()
        keys = kv[listed]
        q_part, do_part = q[rows].view(CHUNK, heads, DEPTH), do[rows].view(CHUNK, heads, 512)
        delta = (o[rows].float() * do[rows].float()).sum(1).view(CHUNK, heads, 1)
        scores = torch.bmm(q_part, keys.mT).float() * (SCALE * math.log2(math.e))
        w = torch.exp2(scores - lse[queries][:, :, None])
        ds = (w * (torch.bmm(do_part, keys[:, :, :512].mT).float() - delta) * SCALE).bfloat16()
        dq[rows] = torch.bmm(ds, keys).view(-1, DEPTH)
        sums = torch.bmm(ds.mT, q_part).float()
        sums[:, :, :512] += torch.bmm(w.bfloat16().mT, do_part)
        dkv.index_add_(0, listed.view(-1), sums.view(-1, DEPTH))


def reference(heads: int, tensors: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[int, torch.Tensor]]:
    """dkv, and dq of every 64th query, in float64."""
    q, kv, o, do, lse, indices, _, _, dkv = (tensors[name] for name in NAMES)
    exact, dq = torch.zeros_like(dkv, dtype=torch.float64), {}
    for query, rows in by_query(heads):
        listed = indices[query].long()
        keys, q_rows, do_rows = kv[listed].double(), q[rows].double(), do[rows].double()
        w = torch.exp2(q_rows @ keys.T * (SCALE * math.log2(math.e)) - lse[query].double()[:, None])
        delta = (o[rows].double() * do_rows).sum(1, keepdim=True)
        ds = w * (do_rows @ keys[:, :512].T - delta) * SCALE
        sums = ds.T @ q_rows
        sums[:, :512] += w.T @ do_rows
        exact.index_add_(0, listed, sums)
        if query % 64 == 0:
            dq[query] = ds @ keys
    return exact, dq


def wrong(
    launch: Callable[[], Any],
    device: Any,
    heads: int,
    tensors: dict[str, torch.Tensor],
    exact: tuple[torch.Tensor, dict[int, torch.Tensor]],
) -> Iterator[tuple[str, float]]:
    """Over the norm of float64 results, that of the difference to them; NaN where a result isn't written."""
    tensors["dq"].fill_(math.nan)
    tensors["dkv"].fill_(math.nan)
    torch.cuda.synchronize()
    launch()
    device.synchronize()
    dkv, dq = exact
    yield "dkv", ((tensors["dkv"].double() - dkv).norm() / dkv.norm()).item()
    whole = torch.isfinite(tensors["dq"]).all().item()
    found = torch.stack([tensors["dq"][query * heads : (query + 1) * heads].double() for query in dq])
    expected = torch.stack(list(dq.values()))
    yield "dq", ((found - expected).norm() / expected.norm()).item() if whole else math.nan
