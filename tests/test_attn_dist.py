"""attn_dist.ptx: random shapes and the edges of the problem, on the emulator in every order and on a GPU."""

from __future__ import annotations

import itertools
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from command import here, refused, verified

import ptxkit
from ptxkit.asm.tree import Instruction, walk
from ptxkit.shipped import kernels

KERNEL = "attn_dist.ptx"
ORDERS = ("lazy", "eager", "random")
NONE = np.iinfo(np.int32).min


def shape(seed: int, most: int) -> tuple[dict[str, int], int]:
    """Sizes, with up to so many queries and so many tiles of keys each, and a grid."""
    rng = np.random.default_rng(seed)
    queries = int(rng.integers(1, most + 1))
    sizes = {
        "s_q": queries,
        "h_q": 64 + 64 * (seed % 2),
        "s_kv": int(rng.integers(1, 70 * most)),
        "topk": 64 * int(rng.integers(1, most + 1)),
        "q_start_index_s": int(rng.integers(0, 100 * most)),
        "k_stride": int(rng.integers(1, 6)),
    }
    return sizes, int(rng.integers(1, 2 * queries + 1))


@pytest.mark.parametrize("seed", range(6))
def test_random_shapes(seed: int) -> None:
    sizes, ctas = shape(seed, 3)
    verified(KERNEL, sizes, "--grid", ctas, "--seed", seed, "--order", ORDERS[seed % 3])


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "order"), list(itertools.product(range(6, 26), ORDERS)))
def test_more_random_shapes(seed: int, order: str) -> None:
    sizes, ctas = shape(seed, 5)
    verified(KERNEL, sizes, "--grid", ctas, "--seed", seed, "--order", order)


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(100, 116))
def test_random_shapes_on_a_gpu(seed: int) -> None:
    sizes, ctas = shape(seed, 24)
    verified(KERNEL, sizes, "--grid", ctas, "--seed", seed, device="cuda")


KEYS = 100
ROWS = {
    "no key is selected": np.full(128, -1),
    "a tile without a key": np.repeat([NONE, 5], 64),
    "the first and the last key, and their neighbours": np.resize([-1, 0, KEYS - 1, KEYS], 128),
    "indices beyond half of what 32 bits hold": np.resize([2**31 - 1, NONE, 7], 128),
    "the same key throughout": np.full(128, 42),
}
CAUSAL = {"q_start_index_s": 5, "k_stride": 8}
"""Queries at 5 and 6 see no key, those at 7 to 14 the first one."""


@pytest.fixture(params=["emu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize("heads", [64, 128])
@pytest.mark.parametrize("limits", [{}, CAUSAL], ids=["all keys seen", "few keys seen"])
def test_edges(limits: dict[str, int], heads: int, device: str, tmp_path: Path) -> None:
    rows = np.stack([np.resize(range(4), 128)] * 4 if limits else list(ROWS.values()))
    np.save(tmp_path / "indices.npy", rows.astype(np.int32))
    sizes = {
        "s_q": len(rows),
        "h_q": heads,
        "s_kv": KEYS,
        "topk": 128,
        "q_start_index_s": KEYS,
        "k_stride": 1,
    }
    given = ("--arg", f"indices=@{tmp_path}/indices.npy", "--grid", 1)
    verified(KERNEL, sizes | limits, *given, device=device)


GATHER = Path(__file__).parents[1] / "bench" / "kernels" / "attn_gather.ptx"


def producers(path: Path) -> str:
    """A kernel's text from the thread's number to the consumers."""
    text = path.read_text()
    return text[text.index("mov.u32 %thread, %tid.x;") : text.index("\nconsume:")]


def test_what_only_gathers_gathers_the_same() -> None:
    """The bound that attn_dist.ptx is measured against is its own producers."""
    assert producers(GATHER) == producers(kernels.shipped()[KERNEL])


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("heads", [64, 128])
def test_what_only_gathers_takes_every_stage_it_gives(heads: int, order: str) -> None:
    queries, keys, chosen = 3, 40, 192
    device = ptxkit.open_device("emu", order=order)
    rng = np.random.default_rng(0)
    q = device.array(np.zeros((queries * heads, 576), ml_dtypes.bfloat16))
    k = device.array(np.zeros((keys, 576), ml_dtypes.bfloat16))
    indices = device.array(rng.integers(-1, keys + 1, (queries, chosen), np.int32))
    q_map = ptxkit.tensor_map(
        q, dtype="bf16", shape=(queries * heads, 576), strides=(1152,), box=(64, 64), swizzle="128B"
    )
    unused = device.array(np.zeros(1, np.float32))
    args = [q_map, k, indices, unused, unused, queries, heads, keys, chosen, keys, 1, 1.0]
    device.load(GATHER).kernel().launch(grid=2, block=384, args=args, shared=229472)
    device.synchronize()
    assert device.findings == []


def instructions() -> list[Instruction]:
    statements = walk(ptxkit.parse(kernels.shipped()[KERNEL]).statements)
    return [statement for statement in statements if isinstance(statement, Instruction)]


def test_sums_need_no_atomic_operation() -> None:
    """Heads meet in registers, shuffles and one store each; so an output has one writer, and one value."""
    opcodes = {instruction.opcode for instruction in instructions()}
    assert "shfl" in opcodes
    assert not opcodes & {"atom", "red"}


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ({"s_q": 0}, "P552"),
        ({"h_q": 192}, "P561"),
        ({"s_kv": 0}, "P552"),
        ({"topk": 0}, "P552"),
        ({"topk": 100}, "P552"),
        ({"q_start_index_s": -1}, "P560"),
        ({"q_start_index_s": 2**32 - 2}, "P561"),
        ({"k_stride": 0}, "P552"),
        ({"k_stride": 2**32}, "P503"),
    ],
    ids=str,
)
def test_sizes_that_it_does_not_take(sizes: dict[str, int], expected: str) -> None:
    sizes = {"s_q": 2, "h_q": 64, "s_kv": 9, "topk": 64, "q_start_index_s": 0, "k_stride": 1} | sizes
    given = [part for name, value in sizes.items() for part in ("-p", f"{name}={value}")]
    refused(here("run", KERNEL, "--device", "emu", *given), 2, expected)


@pytest.mark.parametrize(
    "sizes", [{"q_start_index_s": 2**32 - 3}, {"k_stride": 2**32 - 1}, {"s_kv": 1}], ids=str
)
def test_the_greatest_and_least_that_it_takes(sizes: dict[str, int]) -> None:
    few = {"s_q": 2, "h_q": 64, "s_kv": 9, "topk": 64, "q_start_index_s": 8, "k_stride": 1}
    verified(KERNEL, few | sizes)
