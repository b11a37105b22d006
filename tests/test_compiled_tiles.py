"""Products of tiles in memory by compiled code: numpy's bits, for types, layouts and scale factors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_compiled_sums import words

pytest.importorskip("llvmlite", reason="the `jit` extra is not installed")

from ptxkit.emulator import tensor_cores
from ptxkit.emulator.tensor_cores import compiled, tiles
from ptxkit.emulator.tensor_cores.elements import Scales, decode, decode_scales
from ptxkit.emulator.tensor_cores.tiles import BITS, TiledFactor, TiledSums

TILES = 3
RNG = np.random.default_rng


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every product is compiled, however little there is to do."""
    monkeypatch.setattr(compiled, "WORTH", 0)


def stored(
    random: np.random.Generator, codes: np.ndarray, dtype: str, major: str, parts: int, **more: Any
) -> TiledFactor:
    """Matrices (tiles, MN, K) somewhere in memory, their pieces of 16 bytes in disorder."""
    if BITS[dtype] == 4:
        codes = codes[..., ::2] | codes[..., 1::2] << 4
    count, mn, _ = codes.shape
    matrices = codes.reshape(count * parts, mn // parts, -1)
    if major == "MN":
        matrices = matrices.transpose(0, 2, 1)
    pieces = np.ascontiguousarray(matrices).view(np.uint8).reshape(count * parts, matrices.shape[1], -1, 16)
    places = random.permutation(pieces[0].size // 16) * 16
    apart = pieces[0].size + 48
    data = random.integers(0, 256, 64 + apart * len(pieces)).astype(np.uint8)
    origins = 16 + apart * random.permutation(len(pieces))
    for origin, matrix in zip(origins, pieces, strict=True):
        for place, piece in zip(places, matrix.reshape(-1, 16), strict=True):
            data[origin + place : origin + place + 16] = piece
    return TiledFactor(
        data, places.reshape(pieces.shape[1:3]), origins.reshape(count, parts), major, dtype, **more
    )


def expected(
    model: Any, a: np.ndarray, b: np.ndarray, c: np.ndarray, dtypes: tuple[str, str], result: str, scales: Any
) -> np.ndarray:
    """D (tiles, M, N) by numpy, of codes (tiles, MN, K)."""
    made = []
    for at in range(len(c)):
        left, right = decode(a[at].T[:, :, None], dtypes[0]), decode(b[at].T[:, None], dtypes[1])
        pair = None
        if scales is not None:
            pair = scales[0][at].at(np.s_[:, :, None]), scales[1][at].at(np.s_[:, None, :])
        made.append(tensor_cores.multiply(model, left, right, c[at], (result, result), pair))
    return np.stack(made)


@pytest.mark.parametrize(
    ("instruction", "dtypes", "result", "majors"),
    [
        ("wgmma", "bf16 bf16", "f32", "K K"),
        ("wgmma", "f16 f16", "f16", "MN K"),
        ("wgmma", "e4m3 e5m2", "f32", "K K"),
        ("tcgen05", "f16 f16", "f32", "K MN"),
        ("tcgen05", "e5m2 e4m3", "f16", "MN MN"),
    ],
)
def test_every_layout(instruction: str, dtypes: str, result: str, majors: str) -> None:
    random = RNG(3)
    first, second = dtypes.split()
    major_a, major_b = majors.split()
    model = tensor_cores.find((9, 0) if instruction == "wgmma" else (10, 0), instruction, first)
    k = 2 * model.step
    for m, n, parts in ((16, 48, 1), (32, 64, 2)):
        a, b = words(random, first, (TILES, m, k), 3), words(random, second, (TILES, n, k), 3)
        pitch = n + 8
        words_of_d = np.uint16 if result == "f16" else np.uint32
        room = random.integers(0, 1 << 12, TILES * m * pitch + 40).astype(words_of_d)
        places = 40 + random.permutation(TILES) * (m * pitch)
        fresh = np.array([True, False, False])
        index = places[:, None, None] + np.arange(m)[:, None] * pitch + np.arange(n)
        start = np.where(fresh[:, None, None], 0, room[index]).astype(words_of_d)
        for negated in (False, True):
            factors = (
                stored(random, a, first, major_a, 1, negated=negated),
                stored(random, b, second, major_b, parts),
            )
            assert tiles.fits(model, *factors)
            d = room.copy()
            assert tiles.add(model, *factors, TiledSums(d, places, pitch, fresh)) == TILES
            flipped = a ^ (1 << BITS[first] - 1) if negated else a
            wanted = room.copy()
            wanted[index] = expected(model, flipped, b, start, (first, second), result, None)
            np.testing.assert_array_equal(d, wanted)


@pytest.mark.parametrize(
    ("kind", "dtype", "scale", "each"),
    [
        ("mxf8f6f4", "e4m3", "ue8m0", 32),
        ("mxf4", "e2m1", "ue8m0", 32),
        ("mxf4nvf4", "e2m1", "ue4m3", 16),
        ("mxf4nvf4", "e2m1", "ue8m0", 32),
    ],
)
def test_scale_factors(kind: str, dtype: str, scale: str, each: int) -> None:
    random = RNG(5)
    model = tensor_cores.find((10, 0), "tcgen05", kind)
    k, m, n = 128, 32, 48
    for _ in range(3):
        a, b = (random.integers(0, 1 << BITS[dtype], (TILES, rows, k)).astype(np.uint8) for rows in (m, n))
        if BITS[dtype] == 8:
            a, b = a & 0xBF, b & 0xBF
        codes = [
            random.integers(*((120, 134) if scale == "ue8m0" else (0, 100)), (TILES, k // each, rows))
            for rows in (m, n)
        ]
        scales = [tuple(decode_scales(one, scale) for one in side.astype(np.uint8)) for side in codes]
        c = random.standard_normal((TILES, m, n)).astype(np.float32).view(np.uint32)
        d = c.copy()
        factors = [
            stored(random, side, dtype, "K", 1, scales=factor)
            for side, factor in zip((a, b), scales, strict=True)
        ]
        sums = TiledSums(d.reshape(-1), np.arange(TILES) * m * n, n, np.zeros(TILES, bool))
        assert tiles.fits(model, *factors)
        assert tiles.add(model, *factors, sums) == TILES
        np.testing.assert_array_equal(d, expected(model, a, b, c, (dtype, dtype), "f32", scales))


def product(element: str, a: np.ndarray, b: np.ndarray, c: np.ndarray, scales: Any = (None, None)) -> int:
    """How many of some products are added; what is not is as it was."""
    model = tensor_cores.find((10, 0), "tcgen05", "mxf8f6f4" if scales[0] else element)
    left, right = (
        stored(RNG(1), side, element, "K", 1, scales=factor)
        for side, factor in zip((a, b), scales, strict=True)
    )
    count, m, n = c.shape
    d = c.copy()
    done = tiles.add(
        model, left, right, TiledSums(d.reshape(-1), np.arange(count) * m * n, n, np.zeros(count, bool))
    )
    np.testing.assert_array_equal(d[done:], c[done:])
    wanted = expected(model, a, b, c, (element, element), "f32", scales if scales[0] else None)
    np.testing.assert_array_equal(d[:done], wanted[:done])
    return done


def test_what_is_left_to_numpy() -> None:
    """Infinities and NaN in factors, exponents far apart, sums that are no numbers: from that tile on."""
    random = RNG(7)
    a, b = words(random, "bf16", (TILES, 16, 16), 3), words(random, "bf16", (TILES, 16, 16), 3)
    c = np.zeros((TILES, 16, 16), np.uint32)
    assert product("bf16", a, b, c) == TILES
    for word in (0x7F80, 0xFFC0, 0x7F00, 0x0001):
        for side in (a, b):
            kept = side[1, 2, 3]
            side[1, 2, 3] = word
            assert product("bf16", a, b, c) == 1
            side[1, 2, 3] = kept
    for word in (0x7F800000, 0xFFC00000):
        c[2, 5, 7] = word
        assert product("bf16", a, b, c) == 2
    c[2, 5, 7] = 0
    a[:], b[1] = 0, 0
    assert product("bf16", a, b, c) == TILES


def test_scale_factors_that_are_left_to_numpy() -> None:
    random = RNG(9)
    a, b = (words(random, "e4m3", (TILES, 16, 32), 3) for _ in range(2))
    c = np.zeros((TILES, 16, 16), np.uint32)

    def scales(code: int) -> tuple[Scales, ...]:
        codes = np.full((TILES, 1, 16), 127, np.uint8)
        codes[1, 0, 4] = code
        return tuple(decode_scales(one, "ue8m0") for one in codes)

    for code, done in ((130, TILES), (60, 1), (200, 1), (255, 0)):
        assert product("e4m3", a, b, c, (scales(code), scales(127))) == done
        assert product("e4m3", a, b, c, (scales(127), scales(code))) == done
