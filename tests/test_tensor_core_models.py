"""The tensor cores' arithmetic against the model on Python integers, bit for bit, and the settled probes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import ieee
import ml_dtypes
import numpy as np
import pytest
from fused_sum import as_f16, codes, decode, fused, grouped, product, scale, scaled

from ptxkit.emulator import tensor_cores
from ptxkit.emulator.tensor_cores import MODELS, Evidence, Model, Order, find

HOPPER = (9, 0)


@pytest.fixture(autouse=True)
def quiet() -> object:
    with np.errstate(all="ignore"):
        yield


def multiply(
    model: Model | None,
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    element: str,
    result: str = "f32",
    *,
    b_element: str = "",
) -> np.ndarray:
    """Outputs of separate rows and columns: a and b (K, outputs), c (outputs)."""
    left = tensor_cores.decode(a[:, None, :], element)
    right = tensor_cores.decode(b[:, None, :], b_element or element)
    return tensor_cores.multiply(model, left, right, c[None, :], (result, result))[0]


def rows() -> list[object]:
    """Every model with an ascending sum, element and result, each once."""
    found = {}
    for (generation, instruction, element), model in MODELS.items():
        if model.order is Order.ASCENDING and not element.startswith("mx"):
            for result in ("f32", "f16") if model.zero_f16 is not None else ("f32",):
                name = f"{generation}-{instruction}-{element}-{result}".replace(" ", "")
                found.setdefault((model, element, result), name)
    return [pytest.param(*row, id=name) for row, name in found.items()]


def check_fused(model: Model, element: str, result: str, count: int) -> None:
    random = np.random.default_rng(len(element) + model.step)
    depth = min(2 * model.step, 32)
    a, b = (codes(element, depth * count, random).reshape(depth, count) for _ in range(2))
    a[:, ::9] = 0
    a[1:, ::7] = 0
    c = codes(result, count, random)
    c[::5] = 0
    found = multiply(model, a, b, c, element, result)
    zero = model.zero if result == "f32" else model.zero_f16
    assert zero is not None
    for i in range(count):
        left, right = ([decode(element, int(x)) for x in m[:, i]] for m in (a, b))
        wanted = fused(left, right, int(c[i]), result, model.step, model.fraction, model.bits, zero)
        assert int(found[i]) == wanted, (i, hex(found[i]), hex(wanted))


@pytest.mark.parametrize(("model", "element", "result"), rows())
def test_fused_sum(model: Model, element: str, result: str) -> None:
    check_fused(model, element, result, 250)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "element", "result"), rows())
def test_fused_sum_at_length(model: Model, element: str, result: str) -> None:
    check_fused(model, element, result, 4000)


@pytest.mark.parametrize("element", ["f16", "bf16", "tf32", "e4m3"])
def test_sparse(element: str) -> None:
    """Elements that sparsity leaves out are no terms: neither do they count for a step nor make a NaN."""
    model = find((8, 9), "mma", element)
    assert model is not None
    random = np.random.default_rng(1)
    depth, count = 4 * model.step, 150
    a, b = (codes(element, depth * count, random).reshape(depth, count) for _ in range(2))
    c = codes("f32", count, random)
    present = np.zeros((depth // 4, 4, count), bool)
    pairs = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
    kept = pairs[random.integers(0, 6, (depth // 4, count))]
    for place in range(2):
        np.put_along_axis(present, kept[:, None, :, place], True, axis=1)
    present = present.reshape(depth, 1, count)
    left = tensor_cores.decode(np.where(present, a[:, None, :], a.dtype.type(0)), element)
    left.present = present
    right = tensor_cores.decode(b[:, None, :], element)
    found = tensor_cores.multiply(model, left, right, c[None, :], ("f32", "f32"))[0]
    for i in range(count):
        x, y = ([decode(element, int(v)) for v in m[present[:, 0, i], i]] for m in (a, b))
        wanted = fused(x, y, int(c[i]), "f32", model.step, model.fraction, model.bits, model.zero)
        assert int(found[i]) == wanted


@pytest.mark.parametrize("element", ["bf16", "tf32"])
def test_whole_range_of_exponents(element: str) -> None:
    """Numbers that f32 products can't hold."""
    model = find(HOPPER, "mma", element)
    assert model is not None
    random = np.random.default_rng(5)
    width = np.uint16 if element == "bf16" else np.uint32
    top = np.iinfo(width).max
    count = 400
    a, b = (random.integers(0, top, (model.step, count), dtype=width, endpoint=True) for _ in range(2))
    a[random.random(a.shape) < 0.3] = 0
    c = random.integers(0, 2**32, count, dtype=np.uint32)
    c[random.random(count) < 0.5] = 0
    found = multiply(model, a, b, c, element)
    for i in range(count):
        left, right = ([decode(element, int(x)) for x in m[:, i]] for m in (a, b))
        wanted = fused(left, right, int(c[i]), "f32", model.step, model.fraction, model.bits, model.zero)
        assert int(found[i]) == wanted


@pytest.mark.parametrize("capability", [(8, 0), HOPPER])
def test_results_at_the_lower_end(capability: tuple[int, int]) -> None:
    """Products about 2^-138: the sum is cut to the grid of subnormal numbers."""
    model = find(capability, "mma", "bf16")
    assert model is not None
    random = np.random.default_rng(6)
    depth, count = model.step, 400
    a, b = (random.integers(0, 2**16, (depth, count), dtype=np.uint16) for _ in range(2))
    a, b = (m & 0x807F | random.integers(52, 64, m.shape).astype(np.uint16) << 7 for m in (a, b))
    c = (
        random.integers(0, 2**23, count, dtype=np.uint32)
        | random.integers(0, 2, count).astype(np.uint32) << 31
    )
    c[::2] = 0
    found = multiply(model, a, b, c, "bf16")
    for i in range(count):
        left, right = ([decode("bf16", int(x)) for x in m[:, i]] for m in (a, b))
        wanted = fused(left, right, int(c[i]), "f32", depth, model.fraction, 23, model.zero)
        assert int(found[i]) == wanted


def test_largest_significands_do_not_overflow() -> None:
    """All terms as large as they can be, all of one sign: the sum needs 32 bits."""
    for instruction, capability, element, code in (
        ("mma", HOPPER, "bf16", 0x3FFF),
        ("mma", HOPPER, "f16", 0x3FFF),
        ("tcgen05", (10, 0), "e4m3", 0x3F),
    ):
        model = find(capability, instruction, element)
        assert model is not None
        factor = np.full((model.step, 300), code, np.uint16)
        c = np.full(300, 0x3FFFFFFF, np.uint32)
        found = multiply(model, factor, factor, c, element)
        numbers = [decode(element, code)] * model.step
        wanted = fused(numbers, numbers, 0x3FFFFFFF, "f32", model.step, model.fraction, 23, model.zero)
        assert (found == wanted).all()


def test_different_types_of_a_and_b() -> None:
    model = find((12, 0), "mma", "e4m3")
    assert model is not None
    random = np.random.default_rng(3)
    for left, right in (("e4m3", "e5m2"), ("e3m2", "e2m1"), ("e5m2", "e2m3")):
        a, b = codes(left, 32 * 50, random).reshape(32, 50), codes(right, 32 * 50, random).reshape(32, 50)
        c = codes("f32", 50, random)
        found = multiply(model, a, b, c, left, b_element=right)
        for i in range(50):
            x = [decode(left, int(v)) for v in a[:, i]]
            y = [decode(right, int(v)) for v in b[:, i]]
            assert int(found[i]) == fused(x, y, int(c[i]), "f32", 32, 25, 23, -133)


# ---- block scaling


@pytest.mark.parametrize("element", ["e4m3", "e5m2", "e3m2", "e2m3", "e2m1"])
@pytest.mark.parametrize("spread", [3, 127])
def test_mxf8f6f4(element: str, spread: int) -> None:
    model = find((12, 0), "mma", "mxf8f6f4")
    assert model is not None
    random = np.random.default_rng(spread)
    count = 80
    a, b = (codes(element, 32 * count, random).reshape(32, count) for _ in range(2))
    c = codes("f32", count, random)
    factors = random.integers(127 - spread, 128 + spread, (2, 1, 1, count), dtype=np.uint8)
    scales = tuple(tensor_cores.decode_scales(f, "ue8m0") for f in factors)
    left, right = (tensor_cores.decode(m[:, None, :], element) for m in (a, b))
    found = tensor_cores.multiply(model, left, right, c[None], ("f32", "f32"), (scales[0], scales[1]))[0]
    for i in range(count):
        x = [scaled(decode(element, int(v)), scale("ue8m0", int(factors[0, 0, 0, i]))) for v in a[:, i]]
        y = [scaled(decode(element, int(v)), scale("ue8m0", int(factors[1, 0, 0, i]))) for v in b[:, i]]
        assert int(found[i]) == fused(x, y, int(c[i]), "f32", 32, 25, 23, -133)


@pytest.mark.parametrize(("kind", "blocks"), [("ue8m0", 2), ("ue8m0", 4), ("ue4m3", 4)])
@pytest.mark.parametrize("wild", [False, True])
def test_mxf4(kind: str, blocks: int, wild: bool) -> None:
    model = find((12, 0), "mma", "mxf4nvf4")
    assert model is not None
    random = np.random.default_rng(blocks + wild)
    count = 150
    a, b = (random.integers(0, 16, (64, count), dtype=np.uint8) for _ in range(2))
    a[:16, ::4] = 0
    a[16:32:2, 1::4], a[17:32:2, 1::4] = 1, 9
    b[16:32, 1::4] = 3
    c = codes("f32", count, random)
    low, high = (0, 256) if wild else (120, 136) if kind == "ue8m0" else (0, 127)
    factors = random.integers(low, high, (2, blocks, 1, count), dtype=np.uint16).astype(np.uint8)
    if wild:
        factors[0, 0, 0, ::20] = 0xFF
    if kind == "ue4m3":
        # A group whose factor is zero counts for nothing, however large its other factor is.
        factors[0, 0, 0, ::7], factors[1, 0, 0, ::7], factors[:, 1:, 0, ::7] = 0, 0x7E, 1
        c[::7] = 0x2B800001
    scales = tuple(tensor_cores.decode_scales(f, kind) for f in factors)
    left, right = (tensor_cores.decode(m[:, None, :], "e2m1") for m in (a, b))
    found = tensor_cores.multiply(model, left, right, c[None], ("f32", "f32"), (scales[0], scales[1]))[0]
    for i in range(count):
        x, y = ([decode("e2m1", int(v)) for v in m[:, i]] for m in (a, b))
        pairs = [
            (scale(kind, int(factors[0, at, 0, i])), scale(kind, int(factors[1, at, 0, i])))
            for at in (g * blocks // 4 for g in range(4))
        ]
        assert int(found[i]) == grouped(x, y, int(c[i]), pairs)


# ---- the other orders


def words(values: object, dtype: object = np.float32) -> np.ndarray:
    array = np.asarray(values, dtype)
    return array.view({1: np.uint8, 2: np.uint16, 4: np.uint32}[array.dtype.itemsize])


@pytest.mark.parametrize("result", ["f32", "f16"])
@pytest.mark.parametrize("depth", [16, 32])
def test_halves(result: str, depth: int) -> None:
    """sm_90 makes two f16 products of an e4m3 one, from zero, and adds the accumulator by IEEE rules."""
    model = find(HOPPER, "mma", "e4m3")
    assert model is not None
    random = np.random.default_rng(depth)
    count = 100
    a, b = (codes("e4m3", depth * count, random).reshape(depth, count) for _ in range(2))
    c = codes(result, count, random)
    found = multiply(model, a, b, c, "e4m3", result)
    zero = -133 if result == "f32" else -21
    kind = {"f32": np.float32, "f16": np.float16}[result]
    for i in range(count):
        x, y = ([as_f16(decode("e4m3", int(v))) for v in m[:, i]] for m in (a, b))
        total = 0
        for first in (0, 2):
            chosen = [k for k in range(depth) if k % 4 in (first, first + 1)]
            total = fused(
                [x[k] for k in chosen], [y[k] for k in chosen], total, result, depth // 2, 25, 23, zero
            )
        raw = np.array([total, c[i]], c.dtype).view(kind)
        wanted = raw[0] + raw[1]
        if np.isnan(wanted):
            assert int(found[i]) == (0x7FFFFFFF if result == "f32" else 0x7FFF)
        else:
            assert found[i] == wanted.view(c.dtype)


def test_m8n8k4_by_fused_multiply_adds() -> None:
    model = find(HOPPER, "mma.m8n8k4", "f16")
    assert model is not None
    a = words([[1.0], [2.0**-11], [2.0**-13], [0]], np.float16)
    b = words([[1.0], [2.0**-13], [2.0**-13], [0]], np.float16)
    # Each product is added with a rounding to nearest: 2^-24 ties to even, and so does 2^-26.
    found = multiply(model, a, b, words([0.0]), "f16")
    assert found.view(np.float32)[0] == 1.0
    # The accumulator comes last.
    found = multiply(model, a, b, words([2.0**-23]), "f16")
    assert found.view(np.float32)[0] == 1 + 2.0**-23
    # With f16 the pairs are summed first: 2^-24 + 2^-26 survives beside 1 only if it is added as one.
    pair = words([[2.0**-12], [2.0**-13], [0], [0]], np.float16)
    ones = words([[2.0**-12], [2.0**-13], [0], [0]], np.float16)
    found = multiply(model, pair, ones, words([1.0], np.float16), "f16", "f16")
    assert found.view(np.float16)[0] == 1.0


def test_plain_float32() -> None:
    random = np.random.default_rng(8)
    a, b = random.standard_normal((2, 16, 50)).astype(ml_dtypes.bfloat16)
    c = random.standard_normal(50).astype(np.float32)
    wanted = c
    for k in range(16):
        wanted = (a[k].astype(np.float64) * b[k].astype(np.float64) + wanted).astype(np.float32)
    found = multiply(None, words(a, ml_dtypes.bfloat16), words(b, ml_dtypes.bfloat16), words(c), "bf16")
    assert np.array_equal(found.view(np.float32), wanted)
    infinite = words([[np.inf]], ml_dtypes.bfloat16)
    assert multiply(None, infinite, words([[0.0]], ml_dtypes.bfloat16), words([1.0]), "bf16")[0] == 0x7FFFFFFF


@pytest.mark.parametrize("mode", ieee.MODES)
def test_f64_chain(mode: str) -> None:
    count = 60
    a, b = (np.array(ieee.numbers(ieee.F64, 4 * count, seed), np.uint64) for seed in (1, 2))
    c = np.array(ieee.numbers(ieee.F64, count, 3), np.uint64)
    a, b = a.reshape(4, count), b.reshape(4, count)
    factors = (m.view(np.float64)[:, None, :] for m in (a, b))
    found = tensor_cores.multiply_f64(*factors, c.view(np.float64)[None], mode)[0].view(np.uint64)
    for i in range(count):
        wanted = int(c[i])
        for k in range(4):
            wanted = ieee.fma(ieee.F64, int(a[k, i]), int(b[k, i]), wanted, mode)
        assert int(found[i]) == wanted


# ---- what was seen on an H200


def one(products: list[tuple[float, float]], c: float, element: str, instruction: str = "mma") -> int:
    """The raw f32 of a single output; the other products are zero."""
    model = find(HOPPER, instruction, element)
    assert model is not None
    depth = max(model.step, 16, len(products))
    kind = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "e4m3": ml_dtypes.float8_e4m3fn}[element]
    a, b = np.zeros((2, depth, 1), np.float32)
    for k, (x, y) in enumerate(products):
        a[k], b[k] = x, y
    return int(multiply(model, words(a, kind), words(b, kind), words([c]), element)[0])


TINY = 2.0**-25


@pytest.mark.parametrize("instruction", ["mma", "wgmma"])
@pytest.mark.parametrize("c", [0.0, -0.0])
def test_a_negative_sum_too_small_for_f16(instruction: str, c: float) -> None:
    model = find(HOPPER, instruction, "f16")
    a, b = np.zeros((2, 16, 1), np.float16)
    a[7], b[7] = -(2.0**-14), 2.0**-13
    assert (
        multiply(model, words(a, np.float16), words(b, np.float16), words([c], np.float16), "f16", "f16") == 0
    )


@pytest.mark.parametrize("instruction", ["mma", "wgmma"])
def test_probes_bf16(instruction: str) -> None:
    assert one([(TINY, 1)] * 4, 1, "bf16", instruction) == 0x3F800001
    assert one([(TINY / 2, 1)] * 8, 1, "bf16", instruction) == 0x3F800000
    assert one([(-TINY, 1)], 1, "bf16", instruction) == 0x3F7FFFFF
    assert one([(0, 2.0**127), (1, 2.0**-30)], 0, "bf16", instruction) == 0x30800000
    assert one([(-1, 0)] * 16, -0.0, "bf16", instruction) == 0
    spread = [(32, 32), (-32, 32), *[(0, 0)] * 6, (2.0**-10, 2.0**-10)]
    for element in ("f16", "bf16"):
        assert one(spread, 0, element, instruction) == 0


def test_probes_e4m3_wgmma() -> None:
    assert one([(1, 1), (2.0**-9, 2.0**-4)], 0, "e4m3", "wgmma") == 0x3F800400
    assert one([(1, 1), (2.0**-9, 2.0**-5)], 0, "e4m3", "wgmma") == 0x3F800000
    assert one([], 1 + 2.0**-14, "e4m3", "wgmma") == 0x3F800000


def test_probes_e4m3_mma() -> None:
    assert one([(1, 1), (2.0**-9, 2.0**-5)], 0, "e4m3") == 0x3F800200
    # k0, k1 and k16 share a step.
    zeros = [(0.0, 0.0)]
    assert one([(32, 32), (-32, 32), *14 * zeros, (2.0**-9, 2.0**-9), *15 * zeros], 0, "e4m3") == 0


# ---- the table


def test_table() -> None:
    assert find((8, 9), "mma", "e4m3") is not None
    assert find((8, 0), "mma", "e4m3") is None
    assert find((9, 0), "tcgen05", "f16") is None
    assert find((6, 1), "mma", "f16") is None
    assert find((10, 3), "mma", "bf16") is find((10, 0), "mma", "bf16")
    for model in MODELS.values():
        assert model.evidence in Evidence
        # `int32` holds the sum of as many products as `fused` adds at once.
        assert model.fraction <= 25 or model.group > 1


def test_settled_facts_are_what_the_reference_computes() -> None:
    """The reference reproduces a probe too, so that both sides aren't wrong alike."""
    one_, tiny = decode("bf16", 0x3F80), decode("bf16", 0x3300)
    assert tiny.value << 25 == one_.value
    assert product(one_, tiny).exponent == -25
    assert fused([tiny] * 4, [one_] * 4, 0x3F800000, "f32", 16, 25, 23, -133) == 0x3F800001


def test_the_page_shows_the_table() -> None:
    tool = Path(__file__).parents[1] / "tools" / "write_tensor_core_table.py"
    found = subprocess.run([sys.executable, str(tool), "--check"], check=False)
    assert found.returncode == 0, "run tools/write_tensor_core_table.py"
