"""Fetches that an H200 answered (driver 580.159.04): texels, weights and places of random fetches, and the bits
that it gave for them. No document says how these come out."""

from __future__ import annotations

import numpy as np
import pytest
from textures import array, run, texture

from ptxkit.emulator import Emulator
from ptxkit.emulator.texels.objects import AddressMode, Sampler

FOUR = "{%o0, %o1, %o2, %o3}"


@pytest.fixture
def device() -> Emulator:
    return Emulator()


def numbers(words: str) -> np.ndarray:
    """Numbers of f32 by the hexadecimal digits of their bits."""
    return np.array([int(word, 16) for word in words.split()], np.uint32).view(np.float32)


def test_a_level_is_cut_off_before_the_bias_is_added(device: Emulator) -> None:
    """-0.1312 and a bias of 0.6316 make half a level of units of 1/256 that are cut off toward zero: -33 and 161."""
    levels = [np.full((8 >> n, 8 >> n, 1), n, np.float32) for n in range(3)]
    clamp = (0.35814607603893944, 0.5768907274831111)
    sampler = Sampler(normalized=True, level_bias=0.6316125010810163, level_clamp=clamp)
    inputs = np.array([[0x3F2EEEEF, 0x401A43F5, 0xBE065762]], np.uint32)
    statement = f"tex.level.2d.v4.f32.f32 {FOUR}, [%rd0, {{%i0, %i1}}], %i2"
    handle = texture(device, array(device, "2d", levels), sampler)
    assert run(device, statement, handle, inputs)[0, 0] == 1


@pytest.mark.parametrize(
    ("texels", "place", "answer"),
    [
        ("3fb7c88d bebef2a9 bf24edf6 bf681146", (128, 35, 237), 0x3E83B2CA),
        ("bf76bd6f bf1db88e 3f208588 bfa5113d", (55, 148, 128), 0xBF343CD6),
    ],
)
def test_a_clamped_coordinate_has_no_fraction(
    device: Emulator, texels: str, place: tuple[int, ...], answer: int
) -> None:
    """Along z both neighbours are the same: no rounding of its weight is left."""
    held = numbers(texels).reshape(2, 2).T.reshape(1, 2, 2, 1)
    sampler = Sampler((AddressMode.CLAMP,) * 3, linear=True)
    handle = texture(device, array(device, "3d", [held]), sampler)
    inputs = np.array([[0.5 + part / 256 for part in place]], np.float32).view(np.uint32)
    statement = f"tex.3d.v4.f32.f32 {FOUR}, [%rd0, {{%i0, %i1, %i2, %i2}}]"
    assert run(device, statement, handle, inputs, dtype=np.uint32)[0, 0] == answer


def test_corners_of_a_seamless_cube(device: Emulator) -> None:
    """The weight of the texel that there is not goes to the others in whole units, the rest to the one across."""
    faces = numbers("bef33edd bfbae0b5 3ef5d6a6 bd9dd162 bf6da3ff bf1a9a3f")
    sampler = Sampler(linear=True, normalized=True, seamless=True)
    handle = texture(device, array(device, "cube", [faces.reshape(6, 1, 1, 1)]), sampler)
    places = """3ebafb66 3dd14ea8 bf9b2237  40000000 3f800000 3f800000  bf0e7557 be2ed4d7 bea2a53b
        40000000 40000000 bf800000  3f95e301 bf03cc27 bead931c"""
    inputs = numbers(places).reshape(-1, 3).view(np.uint32)
    statement = f"tex.cube.v4.f32.f32 {FOUR}, [%rd0, {{%i0, %i1, %i2, %i2}}]"
    found = run(device, statement, handle, inputs, dtype=np.uint32)[:, 0]
    assert found.tolist() == [0xBF0ADDCC, 0xBEBE074D, 0xBF888035, 0xBDCF40DB, 0xBED2E439]
