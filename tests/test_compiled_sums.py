"""Sums of products by compiled code: the bits that numpy has, for every model and shape of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="the `jit` extra is not installed")

from ptxkit.emulator import tensor_cores
from ptxkit.emulator.numerics.formats import FORMATS
from ptxkit.emulator.tensor_cores import compiled
from ptxkit.emulator.tensor_cores.elements import expand
from ptxkit.emulator.tensor_cores.models import MODELS, Order

CASES = {
    f"{model.step}-{model.fraction}-{model.zero_exponent(result)}-{result}": (model, element, result)
    for (_, _, element), model in sorted(MODELS.items())
    for result in ("f32", "f16")
    if model.order is not Order.FMA and model.group == 1 and element in (*FORMATS, "tf32")
    if result == "f32" or model.zero_f16 is not None
}
"""A model of each kind of sum, with a type that it multiplies."""
BITS = {**{name: form.bits for name, form in FORMATS.items()}, "tf32": 32}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sum is compiled, however little there is to do."""
    monkeypatch.setattr(compiled, "WORTH", 0)


def words(random: np.random.Generator, name: str, shape: tuple[int, ...], spread: int) -> np.ndarray:
    """Codes of numbers whose exponents spread so far, some of them zero."""
    bits = BITS[name]
    kind = {32: np.uint32, 16: np.uint16}.get(bits, np.uint8)
    if bits < 16:
        codes = random.integers(0, 1 << bits, shape).astype(kind)
        return codes & kind(0xBF)  # 8 bits without what is large, infinities and NaN among it
    numbers = random.standard_normal(shape) * 2.0 ** random.integers(-spread, spread + 1, shape)
    numbers[random.random(shape) < 0.05] = 0
    if name == "f16":
        return numbers.astype(np.float16).view(np.uint16)
    raw = numbers.astype(np.float32).view(np.uint32)
    return raw if bits == 32 else (raw >> 16).astype(np.uint16)


def accumulator(random: np.random.Generator, result: str, shape: tuple[int, ...], spread: int) -> np.ndarray:
    return words(random, "f16" if result == "f16" else "tf32", shape, spread)


def both(*given: Any) -> tuple[np.ndarray, np.ndarray]:
    """What numpy makes of a product, and what compiled code does."""
    return tensor_cores.multiply(*given), tensor_cores.multiply(*given, jit=True)


SHAPES = [(1, 1, 1), (16, 40, 1), (16, 24, 2), (16, 8, 33), (8, 96, None), (16, 8, 4)]
"""Rows, columns and tiles of D."""


@pytest.mark.parametrize("case", CASES)
def test_the_bits_are_those_of_numpy(monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    """By the code itself, not by numpy after all: of some inputs only it is not sure."""
    model, element, result = CASES[case]
    ran = []
    run = compiled._Axes.run

    def noted(self: Any, *given: Any) -> Any:
        made = run(self, *given)
        ran.append(made is not None)
        return made

    monkeypatch.setattr(compiled._Axes, "run", noted)
    random = np.random.default_rng(5)
    for number, (m, n, tiles) in enumerate(SHAPES):
        deep = () if tiles is None else (tiles,)
        k = 2 * max(model.step, 8)
        for spread in (1, 3 if result == "f16" else 12):
            a = tensor_cores.decode(words(random, element, (k, m, 1, *deep), spread), element)
            b = tensor_cores.decode(words(random, element, (k, 1, n, *deep), spread), element)
            for factor in (a, b):
                factor.special = None
            c = accumulator(random, result, (m, n, *deep), spread)
            if number % 2:
                c = np.zeros_like(c)
            plain, made = both(model, a, b, c, (result, result))
            np.testing.assert_array_equal(plain, made)
    assert all(ran)
    assert len(ran) >= 2 * len(SHAPES)


@pytest.mark.parametrize("element", ["f16", "bf16", "e4m3", "tf32"])
def test_words_of_every_kind(element: str) -> None:
    """Infinities, NaN, subnormal and huge numbers, in factors and accumulators."""
    random = np.random.default_rng(7)
    for capability in ((8, 9), (9, 0), (10, 0)):
        model = tensor_cores.find(capability, "mma", element) or tensor_cores.find((9, 0), "wgmma", element)
        kind = {32: np.uint32, 16: np.uint16}.get(BITS[element], np.uint8)
        for _ in range(4):
            a, b = (
                tensor_cores.decode(random.integers(0, 1 << BITS[element], shape).astype(kind), element)
                for shape in ((32, 16, 1, 8), (32, 1, 8, 8))
            )
            c = random.integers(0, 1 << 32, (16, 8, 8)).astype(np.uint32)
            np.testing.assert_array_equal(*both(model, a, b, c, ("f32", "f32")))
            c[...] = random.choice(
                [0, 1, 0x80000000, 0x80000001, 0x00800000, 0x007FFFFF, 0x0C800000], c.shape
            )
            a.exponents[...], a.values[...], a.special = -16384, 0, None
            np.testing.assert_array_equal(*both(model, a, b, c, ("f32", "f32")))


@pytest.mark.parametrize(
    ("element", "instruction"), [("bf16", "wgmma"), ("e4m3", "wgmma"), ("f16", "tcgen05")]
)
def test_structured_sparsity(element: str, instruction: str) -> None:
    random = np.random.default_rng(9)
    model = tensor_cores.find((9, 0) if instruction == "wgmma" else (10, 0), instruction, element)
    for k in (32, 64, 128):
        nibbles = random.choice([0b0100, 0b1000, 0b1110, 0b1001], (k // 4, 64, 2)).astype(np.uint8)
        stored = words(random, element, (k // 2, 64, 2), 3)
        dense, kept = expand(stored, nibbles, BITS[element])
        a = tensor_cores.decode(dense[:, :, None], element)
        a.present = kept[:, :, None]
        b = tensor_cores.decode(words(random, element, (k, 1, 24, 2), 3), element)
        c = accumulator(random, "f32", (64, 24, 2), 3)
        np.testing.assert_array_equal(*both(model, a, b, c, ("f32", "f32")))


@pytest.mark.parametrize("k", [64, 128, 96])
@pytest.mark.parametrize(("name", "blocks"), [("ue8m0", 2), ("ue4m3", 4), ("ue4m3", 2)])
def test_groups_with_scale_factors(monkeypatch: pytest.MonkeyPatch, k: int, name: str, blocks: int) -> None:
    """Blocks of 16 and of 32, of mxf4 and mxf4nvf4; 96 along K make one step."""
    ran = []
    run = compiled._Axes.run
    monkeypatch.setattr(compiled._Axes, "run", lambda *given: ran.append(run(*given)) or ran[-1])
    random = np.random.default_rng(k)
    model = tensor_cores.find((10, 0), "tcgen05", "mxf4nvf4")
    for tiles in ((), (2,), (9,)):
        a, b = (
            tensor_cores.decode(
                random.choice([0, 0, 1, 2, 5, 7, 8, 9, 12, 15], shape).astype(np.uint8), "e2m1"
            )
            for shape in ((k, 16, 1, *tiles), (k, 1, 24, *tiles))
        )
        a.values[:32, :4], a.exponents[:32, :4] = 0, -16384
        count = blocks * k // 64
        scales = tuple(
            tensor_cores.decode_scales(
                random.integers(90 if name == "ue8m0" else 1, 125, shape).astype(np.uint8), name
            )
            for shape in ((count, 16, 1, *tiles), (count, 1, 24, *tiles))
        )
        scales[0].significands[:, 5] = 0
        c = accumulator(random, "f32", (16, 24, *tiles), 12)
        np.testing.assert_array_equal(*both(model, a, b, c, ("f32", "f32"), scales))
        assert ran.pop() is not None
        for factor in scales:
            factor.exponents[...] -= 60  # Some sums are subnormal numbers, of which the code is not sure.
        np.testing.assert_array_equal(*both(model, a, b, c & np.uint32(0), ("f32", "f32"), scales))


def test_a_little_is_left_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "WORTH", 1 << 40)
    ones = tensor_cores.decode(np.full((16, 8, 1), 0x3F80, np.uint16), "bf16")
    given = tensor_cores.find((9, 0), "wgmma", "bf16"), ones, ones.__class__(*(
        each.transpose(0, 2, 1) for each in (ones.values, ones.exponents)
    )), np.zeros((8, 8), np.uint32)  # fmt: skip
    assert compiled.ascending(given[0], given[1], given[2], given[3], "f32", 16, 1) is None
    monkeypatch.setattr(compiled, "WORTH", 0)
    made = compiled.ascending(given[0], given[1], given[2], given[3], "f32", 16, 1)
    assert made is not None
    assert (made.view(np.float32) == 16).all()
