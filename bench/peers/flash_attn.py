"""flash_attn.ptx beside cuDNN's and FlashAttention-2's, through PyTorch; bench/peers/hopper.py runs it."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

import ptxkit
from ptxkit.driver import Stopwatch

KERNEL = Path(__file__).resolve().parents[2] / "kernels_ptx" / "flash_attn.ptx"
TOKENS, HEADS = 32768, 16
LENGTHS = (4096, 8192, 16384, 32768)
ROWS = {64: 192, 128: 192, 256: 128}
KEYS = {64: 128, 128: 64, 256: 64}
THREADS = {64: 512, 128: 512, 256: 384}
SHARED = {64: 180456, 128: 229608, 256: 196840}
"""By elements of a head, as in the card."""
PEERS = {"cuDNN": SDPBackend.CUDNN_ATTENTION, "FlashAttention-2": SDPBackend.FLASH_ATTENTION}
CHECKED = 64
"""Queries of the first and of the last head that are compared with float64."""


def flash(device: Any, turns: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    """Rates, and errors over the norm, at every length, causal and not, for each type and size of a head."""
    watch = Stopwatch(device, "none")
    module = device.load(KERNEL)
    shapes, errors = [], {}
    cases = [(128, torch.bfloat16, LENGTHS), (128, torch.float16, (8192,))]
    cases += [(d, torch.bfloat16, (4096, 16384)) for d in (64, 256)]
    for d, dtype, lengths in cases:
        for length in lengths:
            for causal in (False, True):
                name = f"d {d}, {str(dtype).removeprefix('torch.')}, {length}{', causal' if causal else ''}"
                launches, wrong = launches_of(watch, module, d, dtype, length, causal)
                work = 4.0 * TOKENS * HEADS * length * d / (1 + causal)
                figures = turns(watch, launches, dict.fromkeys(launches, work))
                errors.update({f"{name}: {launch}": error for launch, error in wrong.items()})
                best = max(figures[peer]["tflops"] for peer in PEERS)
                shapes.append(
                    {"shape": name, "of_best": figures["flash_attn.ptx"]["tflops"] / best, "figures": figures}
                )
    return {"tokens": TOKENS, "heads": HEADS, "shapes": shapes, "errors": errors, "means": means(shapes)}


def means(shapes: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Of each size of a head, bf16: the geometric mean and the least of our rate over the best peer's."""
    found = {}
    for d in ROWS:
        ratios = [each["of_best"] for each in shapes if each["shape"].startswith(f"d {d}, bfloat16")]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        found[f"d {d}"] = {"geometric_mean": mean, "least": min(ratios), "shapes": len(ratios)}
    return found


def launches_of(
    watch: Any, module: Any, d: int, dtype: torch.dtype, length: int, causal: bool
) -> tuple[dict[str, Callable[[], Any]], dict[str, float]]:
    """Our launch and the peers' on the same tensors, and the error of each."""
    batch = TOKENS // length
    q, k, v = (torch.randn(batch, HEADS, length, d, device="cuda").to(dtype) for _ in range(3))
    o, lse = torch.empty_like(q), torch.empty(batch, HEADS, length, device="cuda")
    q_map, k_map, v_map, o_map = (
        tensor_map(x, rows) for x, rows in ((q, 64), (k, KEYS[d]), (v, KEYS[d]), (o, 64))
    )
    tiles = math.ceil(math.ceil(length / ROWS[d]) / (1 + causal)) * batch * HEADS
    tensors = [x.data_ptr() for x in (o, lse)]
    args = [
        q_map,
        k_map,
        v_map,
        o_map,
        *tensors,
        0,
        0,
        0,
        length,
        length,
        length,
        HEADS,
        1,
        batch,
        int(causal),
    ]
    kernel = module.kernel(f"flash_attn_{d}_{'bf16' if dtype is torch.bfloat16 else 'f16'}")
    own = kernel.prepare(min(132, tiles), THREADS[d], [*args, d**-0.5], shared=SHARED[d], stream=watch.stream)
    launches: dict[str, Callable[[], Any]] = {"flash_attn.ptx": own}
    stream = torch.cuda.ExternalStream(int(watch.stream.handle))
    results: dict[str, torch.Tensor] = {"flash_attn.ptx": o}

    def peer(name: str, backend: SDPBackend) -> Callable[[], None]:
        def launch() -> None:
            with torch.cuda.stream(stream), sdpa_kernel(backend):
                results[name] = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

        return launch

    launches.update({name: peer(name, backend) for name, backend in PEERS.items()})
    o.fill_(float("nan"))
    lse.fill_(float("nan"))
    torch.cuda.synchronize()
    for launch in launches.values():
        launch()
    torch.cuda.synchronize()
    wrong = {name: error(result, q, k, v, causal) for name, result in results.items()}
    wrong["flash_attn.ptx, lse"] = error_of_lse(lse, q, k, causal)
    if not (torch.isfinite(o).all() and torch.isfinite(lse).all()):
        wrong["flash_attn.ptx"] = math.nan
    return launches, wrong


def tensor_map(x: torch.Tensor, rows: int) -> Any:
    """Of a tensor of sequences, heads, positions and elements: 64 elements of so many positions at a time."""
    return ptxkit.tensor_map(
        x.data_ptr(),
        dtype="bf16" if x.dtype is torch.bfloat16 else "f16",
        shape=tuple(x.shape),
        strides=tuple(x.element_size() * stride for stride in x.stride()[:3]),
        box=(1, 1, rows, 64),
        swizzle="128B",
    )


def scores(
    sequence: int, head: int, q: torch.Tensor, k: torch.Tensor, causal: bool
) -> tuple[Any, torch.Tensor]:
    """Every so many queries of a head, and their scores in float64."""
    length = q.shape[2]
    chosen = torch.arange(length - 1, -1, -(length // CHECKED), device="cuda")
    found = q[sequence, head, chosen].double() @ k[sequence, head].double().T * q.shape[3] ** -0.5
    if causal:
        found.masked_fill_(torch.arange(length, device="cuda") > chosen[:, None], -math.inf)
    return chosen, found


def error(o: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> float:
    """Over the norm of float64 results, that of the difference to them."""
    differences, exact = [], []
    for sequence, head in ((0, 0), (-1, -1)):
        chosen, found = scores(sequence, head, q, k, causal)
        exact.append(torch.softmax(found, 1) @ v[sequence, head].double())
        differences.append(o[sequence, head, chosen].double() - exact[-1])
    return (torch.cat(differences).norm() / torch.cat(exact).norm()).item()


def error_of_lse(lse: torch.Tensor, q: torch.Tensor, k: torch.Tensor, causal: bool) -> float:
    """The largest difference to float64."""
    worst = 0.0
    for sequence, head in ((0, 0), (-1, -1)):
        chosen, found = scores(sequence, head, q, k, causal)
        differences = lse[sequence, head, chosen].double() - torch.logsumexp(found, 1)
        worst = max(worst, differences.abs().max().item())
    return worst
