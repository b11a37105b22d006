"""The kernels of tests/asynchrony: correct ones that say how they are launched, what they compute, and by
which change of a line they break which rule.

A header between `// /// test` and `// ///` is TOML: `grid`, `block`, `cluster`; `x` and `out`, expressions of
numpy for the argument and for what the kernel must leave in `out`; `faults`, each the codes of which one must
be found, the text to change, which occurs once, and the text to put there; then an order, where it is not
found in `lazy`, and `strict`, where a strict emulator alone finds it.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from ptxkit.diagnostics import Diagnostic
from ptxkit.emulator import Emulator, EmulatorFault

FOLDER = Path(__file__).parent / "asynchrony"


@dataclass(frozen=True)
class AsyncKernel:
    """One file."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def text(self) -> str:
        return self.path.read_text()

    @property
    def header(self) -> dict[str, Any]:
        lines = self.text.split("// /// test\n")[1].split("// ///\n")[0].splitlines()
        return tomllib.loads("\n".join(line.removeprefix("//").removeprefix(" ") for line in lines))

    def broken(self, old: str, new: str) -> str:
        """The text with one change in its body."""
        before, mark, after = self.text.partition("// ///\n")
        before += mark
        assert after.count(old) == 1, f"{self.name}: {old!r} occurs {after.count(old)} times"
        return before + after.replace(old, new)

    def run(self, device: Any, text: str | None = None) -> None:
        """Launch it and hold the result against what it must be."""
        header = self.header
        x = evaluate(header["x"], None)
        wanted = evaluate(header["out"], x)
        source, out = device.array(x), device.array(np.zeros_like(wanted))
        kernel = device.load(text or self.text).kernel("k")
        kernel.launch(header["grid"], header["block"], [source, out], cluster=header.get("cluster"))
        device.synchronize()
        np.testing.assert_array_equal(out.numpy(), wanted)


def device_for(order: list[str]) -> Emulator:
    """The emulator that finds a fault: in lazy order, which is the default, if it names no other."""
    return Emulator(order[0] if order else "lazy", strict="strict" in order)


def findings(kernel: AsyncKernel, old: str, new: str, device: Emulator) -> list[Diagnostic]:
    """What is found where a line of the kernel is changed.

    Raises:
        AssertionError: the result is wrong, and no error was found.
    """
    try:
        kernel.run(device, kernel.broken(old, new))
    except EmulatorFault as fault:
        return [*device.findings, *fault.diagnostics]
    return device.findings


def codes_found(kernel: AsyncKernel, old: str, new: str, device: Emulator) -> list[str]:
    """The codes of what is found, and `wrong result` behind them where that is so."""
    try:
        return [found.code for found in findings(kernel, old, new, device)]
    except AssertionError:
        return [*(found.code for found in device.findings), "wrong result"]


KERNELS = [AsyncKernel(path) for path in sorted(FOLDER.glob("*.ptx"))]


def evaluate(expression: str, x: np.ndarray | None) -> np.ndarray:
    """An expression of a header."""
    helpers = (
        addresses,
        copy_groups,
        histograms,
        random_words,
        reduce_types,
        stores_and_reductions,
        wgmma_ring,
    )
    names: dict[str, Any] = {function.__name__: function for function in helpers}
    names |= {name: getattr(np, name) for name in ("array", "concatenate", "repeat", "tile", "where")}
    names |= {"arange": lambda count, kind: np.arange(count, dtype=kind), "u32": np.uint32, "x": x}
    return np.asarray(eval(expression, names), np.uint32)


def copy_groups(x: np.ndarray) -> np.ndarray:
    """Words 0, 2, 3 and 4 to 7 of each thread, the last two from the src-size; word 0 of its neighbour."""
    out = np.zeros_like(x)
    out[..., 0], out[..., 1:3], out[..., 3:5] = x[..., 0], x[..., 2:4], x[..., 4:6]
    even = np.arange(x.shape[1]) % 2 == 0
    own = np.where(even, x[..., 0], 0)
    out[..., 7] = own.reshape(x.shape[0], -1, 2)[..., ::-1].reshape(x.shape[:2])
    return out


def random_words(count: int) -> np.ndarray:
    """Words whose 16-bit halves are small numbers as f16 and as bf16."""
    return (np.random.default_rng(0).standard_normal(count * 2).astype(np.float16)).view(np.uint32)


def reduce_types(x: np.ndarray) -> np.ndarray:
    """What the kernel of that name leaves on zeros."""
    out = x.copy()
    f32 = x[0].view(np.float32)
    out[0] = np.where(np.abs(f32) < np.finfo(np.float32).tiny, np.copysign(0, f32) + 0, f32).view(np.uint32)
    out[1] = (x[1].view(np.float16) + np.float16(0)).view(np.uint32)
    out[2] = (x[2].view(ml_dtypes.bfloat16) + ml_dtypes.bfloat16(0)).view(np.uint32)
    out[3] = np.minimum(x[3].view(np.int32), 0).view(np.uint32)
    return out


def stores_and_reductions(x: np.ndarray) -> np.ndarray:
    """Three words a thread: its neighbour's value and CTA, and the sum of the neighbour's values."""
    ctas, threads = x.shape
    other = np.arange(ctas) ^ 1
    parts = (
        x[other],
        np.repeat(other[:, None], threads, axis=1),
        np.repeat(x.sum(axis=1)[other][:, None], threads, axis=1),
    )
    return np.stack(parts, axis=2).astype(np.uint32).reshape(-1)


def addresses(ctas: int, size: int) -> np.ndarray:
    """What the kernel of that name finds, as measured on an H200: the rank stands in bits 24 and up."""
    out = np.zeros((ctas, 16), np.uint32)
    for cta in range(ctas):
        rank, beside = cta % size, (cta + 1) % size
        found = [0, beside, rank, (beside - rank) << 24, beside, 1 + 2 + 8, rank, cta // size]
        found += [ctas // size, rank, size, size]
        out[cta, : len(found)] = np.array(found, np.int64).astype(np.uint32)
    return out.reshape(-1)


def histograms(x: np.ndarray, bins: int) -> np.ndarray:
    """How often each number occurs in each row."""
    return np.concatenate([np.bincount(row, minlength=bins) for row in x]).astype(np.uint32)


def wgmma_ring(x: np.ndarray) -> np.ndarray:
    """Of each CTA and warpgroup the sum over five steps of 64 x 32 bytes times those of 32 x 8."""

    def rows(words: np.ndarray) -> np.ndarray:
        """Core matrices of 8 rows of 16 bytes, (K, rows) of them, as rows of 32 bytes."""
        cores = np.ascontiguousarray(words).view(np.int8).reshape(*words.shape[:-1], 2, -1, 8, 16)
        whole = np.moveaxis(cores, -4, -2)
        return whole.reshape(*words.shape[:-1], -1, 32).astype(np.int64)

    a, b = rows(x[:10240].reshape(2, 2, 5, 512)), rows(x[10240:].reshape(5, 64))
    return np.einsum("cgsmk,snk->cgmn", a, b).astype(np.int32).view(np.uint32).reshape(-1)
