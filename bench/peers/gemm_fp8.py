"""gemm_fp8.ptx beside DeepGEMM and cuBLAS, through PyTorch; bench/peers/hopper.py runs it.

DeepGEMM takes part where the package `deep_gemm` is installed, cuBLAS where it takes the shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import ptxkit
from ptxkit.card import read
from ptxkit.diagnostics import Source
from ptxkit.driver import Stopwatch

try:
    import deep_gemm
except ImportError:
    deep_gemm = None

KERNEL = Path(__file__).resolve().parents[2] / "kernels_ptx" / "gemm_fp8.ptx"
WEIGHTS = ((2112, 7168), (576, 7168), (24576, 1536), (32768, 512), (7168, 16384), (4096, 7168), (7168, 2048))
"""(n, k) of DeepGEMM's benchmark."""
SHAPES = [(m, n, k) for m in (1, 128, 4096) for n, k in WEIGHTS] + [(4096, k, n) for n, k in WEIGHTS]
"""(m, n, k) of its dense products with scales 1x128 and 128x128: forward, and the gradients of the inputs."""
CHECKED = 64
"""Rows of d that are compared with float64."""


def fp8(device: Any, turns: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    """Rates and errors over the norm of every shape; the L2 cache is flushed before each sample."""
    watch = Stopwatch(device, "read")
    own = Own(device, watch)
    shapes, errors = [], {}
    for m, n, k in SHAPES:
        name = f"{m} x {n} x {k}"
        inputs = operands(m, n, k)
        launches, results = peers(watch, inputs)
        launches["gemm_fp8.ptx"], results["gemm_fp8.ptx"] = own.launch(inputs)
        for result in results.values():
            result.fill_(math.nan)
        torch.cuda.synchronize()
        for launch in launches.values():
            launch()
        torch.cuda.synchronize()
        errors.update({f"{name}: {launch}": error(result, inputs) for launch, result in results.items()})
        figures = turns(watch, launches, dict.fromkeys(launches, 2.0 * m * n * k))
        best = max(figure["tflops"] for launch, figure in figures.items() if launch != "gemm_fp8.ptx")
        shapes.append(
            {"shape": name, "of_best": figures["gemm_fp8.ptx"]["tflops"] / best, "figures": figures}
        )
    return {"flush": "read", "shapes": shapes, "errors": errors, "means": means(shapes)}


def means(shapes: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """The geometric mean and the least of our rate over the best peer's: of all shapes, and by m."""
    found = {}
    for name, start in (("all", ""), *((f"m = {m}", f"{m} x") for m in (1, 128, 4096))):
        ratios = [each["of_best"] for each in shapes if each["shape"].startswith(start)]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        found[name] = {"geometric_mean": mean, "least": min(ratios), "shapes": len(ratios)}
    return found


def operands(m: int, n: int, k: int) -> dict[str, torch.Tensor]:
    """a, b and their scales, quantized from normal numbers."""
    a, sa = quantized(torch.randn(m, k, device="cuda"), 1)
    b, sb = quantized(torch.randn(n, k, device="cuda"), 128)
    padded = torch.zeros(sa.shape[1], -(-m // 4) * 4, device="cuda")
    padded[:, :m] = sa.T
    # Others' launches go into a stream of their own, which does not wait for what makes these.
    torch.cuda.synchronize()
    return {"a": a, "b": b, "sa": padded, "sb": sb}


def quantized(x: torch.Tensor, tall: int) -> tuple[torch.Tensor, torch.Tensor]:
    """e4m3 numbers and the scales of their blocks, `tall` x 128: the largest of a block becomes 448."""
    rows, length = x.shape
    padded = torch.zeros(-(-rows // tall) * tall, -(-length // 128) * 128, device="cuda")
    padded[:rows, :length] = x
    blocks = padded.view(-1, tall, padded.shape[1] // 128, 128)
    scales = blocks.abs().amax((1, 3), keepdim=True).clamp(1e-4) / 448.0
    numbers = (blocks / scales).to(torch.float8_e4m3fn).view(padded.shape)
    return numbers[:rows, :length].contiguous(), scales[:, 0, :, 0].contiguous()


class Own:
    """gemm_fp8.ptx, launched as its card says."""

    def __init__(self, device: Any, watch: Stopwatch, file: Path = KERNEL) -> None:
        card = read(Source(str(file), file.read_text("utf-8")))
        assert card is not None
        self.card, self.watch = card, watch
        self.module = device.load(file)

    def launch(
        self, inputs: dict[str, torch.Tensor], entry: str | None = None, cluster: int | None = None
    ) -> tuple[Callable[[], Any], torch.Tensor]:
        """A launch and what it fills: the first of the card that takes the sizes, or that of an entry."""
        (m, k), n = inputs["a"].shape, len(inputs["b"])
        sizes = {"M": m, "N": n, "K": k}
        d = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
        tensors = {**inputs, "d": d}
        chosen = next(
            launch
            for launch in self.card.launches
            if (launch.entry == entry if entry else launch.when is None or launch.when.evaluate(sizes))
        )
        maps = {each.name: each for each in self.card.tensor_maps}

        def argument(param: Any) -> Any:
            if param.name in maps:
                return self.tensor_map(maps[param.name], tensors, sizes)
            if param.name in tensors:
                return tensors[param.name].data_ptr()
            return param.value.evaluate(sizes)

        grid, block = (each[0].evaluate(sizes) for each in (chosen.grid, chosen.block))
        ctas = chosen.cluster[0].evaluate(sizes) if chosen.cluster else None
        if cluster is not None and cluster > 1:
            tiles = math.prod(param.value.evaluate(sizes) for param in chosen.params[-2:])
            grid, ctas = tiles * cluster, cluster
        return self.module.kernel(chosen.entry).prepare(
            grid,
            block,
            [argument(param) for param in chosen.params],
            cluster=ctas,
            shared=chosen.shared.evaluate(sizes),
            stream=self.watch.stream,
        ), d

    def tensor_map(self, card: Any, tensors: dict[str, torch.Tensor], sizes: dict[str, int]) -> Any:
        """The tensor map that the card describes."""
        tensor = tensors[card.tensor]
        dtype = {"a": "u8", "b": "u8", "sa": "f32", "d": "bf16"}[card.tensor]
        shape = tuple(each.evaluate(sizes) for each in card.shape) if card.shape else tuple(tensor.shape)
        return ptxkit.tensor_map(
            tensor.data_ptr(),
            dtype=dtype,
            shape=shape,
            strides=(tensor.stride(0) * tensor.element_size(),),
            box=tuple(each.evaluate(sizes) for each in card.box),
            **card.options,
        )


def peers(
    watch: Stopwatch, inputs: dict[str, torch.Tensor]
) -> tuple[dict[str, Callable[[], Any]], dict[str, torch.Tensor]]:
    """Launches of those that take the shape, and what they fill."""
    a, b, sb = inputs["a"], inputs["b"], inputs["sb"]
    sa = inputs["sa"][:, : len(a)].T
    launches: dict[str, Callable[[], Any]] = {}
    results: dict[str, torch.Tensor] = {}
    stream = torch.cuda.ExternalStream(int(watch.stream.handle))
    if deep_gemm is not None:
        d = results["DeepGEMM"] = torch.empty(len(a), len(b), device="cuda", dtype=torch.bfloat16)

        def deep() -> None:
            with torch.cuda.stream(stream):
                deep_gemm.fp8_gemm_nt((a, sa), (b, sb), d, disable_ue8m0_cast=True)

        launches["DeepGEMM"] = deep
    # cuBLAS wants four scales of a row of b together, and scales of a column after column.
    blocks = sb.shape[1]
    padded = torch.zeros(len(sb), -(-blocks // 4) * 4, device="cuda")
    padded[:, :blocks] = sb
    out = torch.empty(len(a), len(b), device="cuda", dtype=torch.bfloat16)

    def cublas() -> None:
        with torch.cuda.stream(stream):
            torch._scaled_mm(
                a, b.T, scale_a=sa, scale_b=padded[:, :blocks].T, out_dtype=torch.bfloat16, out=out
            )

    try:
        cublas()
        torch.cuda.synchronize()
    except RuntimeError:
        return launches, results
    launches["cuBLAS"], results["cuBLAS"] = cublas, out
    return launches, results


def error(d: torch.Tensor, inputs: dict[str, torch.Tensor]) -> float:
    """Over the norm of float64 results, that of the difference to them, of rows from first to last."""
    a, b = inputs["a"], inputs["b"]
    rows = torch.linspace(0, len(a) - 1, min(CHECKED, len(a)), device="cuda").round().long()
    exact = torch.zeros(len(rows), len(b), device="cuda", dtype=torch.float64)
    for block in range(len(inputs["sa"])):
        k = slice(128 * block, 128 * (block + 1))
        scale_b = inputs["sb"][:, block].double().repeat_interleave(128)[: len(b)]
        products = a[rows, k].double() @ b[:, k].double().T
        exact += inputs["sa"][block, rows].double()[:, None] * scale_b * products
    if not torch.isfinite(d).all():
        return math.nan
    return ((d[rows].double() - exact).norm() / exact.norm()).item()
