"""Fetches that an H200 answered (driver 580.159.04): texels, weights and places of random fetches, and the bits
that it gave for them. No document says how these come out."""

from __future__ import annotations

import numpy as np
import pytest
from textures import array, run, texture

from ptxkit.emulator import Emulator
from ptxkit.emulator.texels.objects import Sampler

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
