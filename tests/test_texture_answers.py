"""Fetches that an H200 answered (driver 580.159.04): texels, weights and places of random fetches, and the
bits that it gave for them. No document says how these come out."""

from __future__ import annotations

import numpy as np
import pytest
from textures import array, run, surface, texture

from ptxkit.emulator import Emulator
from ptxkit.emulator.texels import coordinates, cubes, filters, weights
from ptxkit.emulator.texels.formats import FORMATS
from ptxkit.emulator.texels.objects import AddressMode, Sampler, Texture
from ptxkit.virtual.gpu.textures import ViewRequest, viewed

FOUR = "{%o0, %o1, %o2, %o3}"


@pytest.fixture
def device() -> Emulator:
    return Emulator()


def numbers(words: str) -> np.ndarray:
    """Numbers of f32 by the hexadecimal digits of their bits."""
    return np.array([int(word, 16) for word in words.split()], np.uint32).view(np.float32)


def test_a_level_is_cut_off_before_the_bias_is_added(device: Emulator) -> None:
    """-0.1312 and a bias of 0.6316 are -33 and 161 units of 1/256, cut off toward zero: half a level."""
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
    """The weight of the texel that there is not goes to the others in whole units, the rest across."""
    faces = numbers("bef33edd bfbae0b5 3ef5d6a6 bd9dd162 bf6da3ff bf1a9a3f")
    sampler = Sampler(linear=True, normalized=True, seamless=True)
    handle = texture(device, array(device, "cube", [faces.reshape(6, 1, 1, 1)]), sampler)
    places = """3ebafb66 3dd14ea8 bf9b2237  40000000 3f800000 3f800000  bf0e7557 be2ed4d7 bea2a53b
        40000000 40000000 bf800000  3f95e301 bf03cc27 bead931c"""
    inputs = numbers(places).reshape(-1, 3).view(np.uint32)
    statement = f"tex.cube.v4.f32.f32 {FOUR}, [%rd0, {{%i0, %i1, %i2, %i2}}]"
    found = run(device, statement, handle, inputs, dtype=np.uint32)[:, 0]
    assert found.tolist() == [0xBF0ADDCC, 0xBEBE074D, 0xBF888035, 0xBDCF40DB, 0xBED2E439]


@pytest.mark.parametrize(
    ("how", "texels", "weight", "answer"),
    [
        (filters.SINGLE, "bf7f7836 3bbbb666", 248, 0xBCD20209),
        (filters.SINGLE, "bf5388ec 3bbbb666", 248, 0xBCA612BF),
        (filters.SINGLE, "3d55ca29 bf96c140", 10, 0x3B87F59B),
        # Of each exponent modulo four: bits behind the unit that a half is decided by.
        (filters.HALF, "bd424000 c1472000", 114, 0xC0B22000),
        (filters.HALF, "3eaa6000 c1b16000", 5, 0xBDDAA000),
        (filters.HALF, "3cdd8000 c1c2c000", 167, 0xC17DE000),
        (filters.HALF, "c20ec000 3de4e000", 250, 0xBF3A4000),
        (filters.HALF, "bcf82000 c0a14000", 4, 0xBDDE6000),
        (filters.SINGLE, "bd800005 41003b00", 2, 0x3A1D7D85),
        (filters.SINGLE, "c3a554d9 3cd537b0", 254, 0xC023ADBE),
        (filters.SINGLE, "bafc73c0 c201fcd4", 57, 0xC0E7969E),
        (filters.SINGLE, "c4d721f0 41d2a73b", 243, 0xC2799CC8),
    ],
)
def test_levels_are_aligned_in_steps_of_four_bits(
    how: filters.SumRule, texels: str, weight: int, answer: int
) -> None:
    values, weights_ = list(numbers(texels)[:, None]), [np.array([256 - weight]), np.array([weight])]
    for slices in ((0, 1), (0, filters.SLICES_OF_LEVEL)):
        assert filters.number_sum(values, weights_, [np.True_] * 2, slices, how).tolist() == [answer]


@pytest.mark.parametrize(
    ("edge", "way", "place"),
    [
        # 1/256 of a texel further along s or t there would be another weight: places are cut off.
        (13, (-2.0491318702697754, -0.3388773202896118, 1.0214879512786865), (2493, 1939)),
        (14, (-0.6034060120582581, -0.4526413381099701, 1.0651767253875732), (777, 2553)),
    ],
)
def test_places_on_a_cube_are_cut_off(edge: int, way: tuple[float, ...], place: tuple[int, int]) -> None:
    faces = cubes.project(*np.array(way, np.float32)[:, None])
    for part, units in zip((faces.s, faces.t), place, strict=True):
        found = coordinates.linear(part, edge, AddressMode.CLAMP, True, 0)
        assert int(found.lower.number[0]) * 256 + int(found.weight[0]) + 128 == units


@pytest.mark.parametrize(
    ("shares", "texels", "answer"),
    [
        (
            ((221, (182, 106, 128)), (35, (27, 117, 128))),
            """bf6b65dc 3e888f04 bfe31509 3ff39c76 3ff26b13 bfb875e6 3f0ec6c3 3f5bdccd
            3f5a179d be86511b 3f85bdaf be243bbc bbaa4b55 bfcd64f9 3f3edf8f 3ebf0d92""",
            0x3E0891DB,
        ),
        (
            ((43, (223, 212, 128)), (213, (151, 170, 128))),
            """bf97e226 3fba9f1e beaad017 bee3619b 3e8ceaba 3e0d8f46 bfb27783 bf970c60
            bfda174e 3fcd0922 3fd22809 be5ef67d bf073bc8 bfa39e36 3fe88996 bffc0d02""",
            0xBE8CFF27,
        ),
    ],
)
def test_a_half_between_slices_goes_to_the_lower(
    shares: tuple[tuple[int, tuple[int, ...]], ...], texels: str, answer: int
) -> None:
    """Two levels of three dimensions, each with its weight and fractions along x, y and z: sixteen texels."""
    parts = [
        weight
        for total, fractions in shares
        for _, weight in weights.split(np.array([total]), [np.array([part]) for part in fractions])
    ]
    values = list(numbers(texels)[:, None])
    slices = [number // 4 for number in range(16)]  # Two of each level.
    assert filters.number_sum(
        values, parts, [part != 0 for part in parts], slices, filters.SINGLE
    ).tolist() == [answer]


@pytest.mark.parametrize(
    ("texels", "parts", "slices", "how", "answer"),
    [
        # The small sum of the other slice is positive: nothing is left of it, the half goes away from zero.
        ("ba99a000 3c1ce000 c7734000 bef56000", (96, 32, 96, 32), (0, 0, 1, 1), filters.HALF, 0xC6B68000),
        # It is negative: one unit is left, and there is no half.
        ("906d5b30 7d92ef2a 0087573e b60b227f", (41, 40, 88, 87), (0, 0, 1, 1), filters.SINGLE, 0x7C37AAF4),
        # What one more bit of the smaller slice would change, and what one bit less would.
        ("c6cd0000 bd4ce000 b8898000 c28fc000 42400000 44c54000 bdf26000 37958000",
         (1, 1, 26, 69, 1, 3, 42, 113), (0, 0, 0, 0, 1, 1, 1, 1), filters.HALF, 0xC2CE0000),
        ("38bae000 c5408000 c177a000 3eb5a000", (118, 12, 115, 11), (0, 0, 1, 1), filters.HALF, 0xC3174000),
        ("f828db7b 680f7654 e9b5cd97 97439dc3 c2c20725 68764373",
         (6, 76, 13, 155, 2, 4), (0, 0, 0, 0, 1, 1), filters.SINGLE, 0xF57D4939),
        # Below the normal numbers of f16 there are multiples of 2^-24.
        ("3809c000 b8dc8000", (123, 133), (0, 0), filters.HALF, 0xB8230000),
        ("399f4000 badca000", (214, 42), (0, 0), filters.HALF, 0xB7BA8000),
        # A negative zero, or what counts as one, stays.
        ("8028a4c9", (256,), (0,), filters.SINGLE, 0x80000000),
        # A NaN counts although its weight was rounded to nothing.
        ("ba54e000 7fe48000 4676e000 c4710000", (1, 0, 127, 128), (0, 0, 0, 0), filters.HALF, 0x7FFFE000),
    ],
)  # fmt: skip
def test_sums_of_texels_of_any_bits(
    texels: str, parts: tuple[int, ...], slices: tuple[int, ...], how: filters.SumRule, answer: int
) -> None:
    weight = [np.array([part]) for part in parts]
    taken = [np.array([True])] * len(parts)
    assert filters.number_sum(list(numbers(texels)[:, None]), weight, taken, slices, how).tolist() == [answer]


def test_at_a_corner_all_three_texels_take_part(device: Emulator) -> None:
    """The direction points at the middle of the texel at the corner, which has the whole weight; a NaN is on
    a neighbouring face."""
    faces = numbers(
        """d286a951 5bc56bb8 43aad152 9a329269 c1b68102 68974da5 c9cfe534 4f7b4e53 941a4f76 27051714 1b12e477
        ce0b34ba 90e6a712 4e608a33 a6a8f169 5ad9dddc 16d03fb6 23c202b2 42511744 bb4dd301 8055c111 36ddddb6
        ffa69f76 cf6b1a52"""
    )
    sampler = Sampler(linear=True, normalized=True, seamless=True)
    handle = texture(device, array(device, "cube", [faces.reshape(6, 2, 2, 1)]), sampler)
    inputs = np.array([[2, -1, -1], [2, 1, -1]], np.float32).view(np.uint32)
    statement = f"tex.cube.v4.f32.f32 {FOUR}, [%rd0, {{%i0, %i1, %i2, %i2}}]"
    found = run(device, statement, handle, inputs, dtype=np.uint32)[:, 0]
    assert found.tolist() == [0x7FFFFFFF, 0x5BC56BB8]


@pytest.mark.parametrize(
    ("texels", "parts", "answer"),
    [
        ((-16, 0, 57, 0), (74, 58, 69, 55), 0x3DAD215A),
        ((-78, -14, -48, -44), (30, 0, 226, 0), 0xBECFB19F),
        ((0, -25, 0, -104), (112, 45, 70, 29), 0xBE027105),
        ((14, 117, 81, -43), (139, 0, 117, 0), 0x3EB3E168),
        ((86, -96, 13, 17), (236, 9, 11, 0), 0x3F1A2134),
    ],
)
def test_sums_of_fractions_of_eight_bits_with_a_sign(
    texels: tuple[int, ...], parts: tuple[int, ...], answer: int
) -> None:
    raw = [np.array([texel], np.int8) for texel in texels]
    weight = [np.array([part]) for part in parts]
    assert filters.fraction_sum(raw, weight, FORMATS["s8"]).tolist() == [answer]


def test_a_gather_gives_fractions_as_a_filter_does(device: Emulator) -> None:
    """Although the sampler takes the nearest texel: -2 of 127 are 516 of 32767."""
    texels = np.array([[-98, 114], [-2, 88]], np.int8)[..., None]
    handle = texture(device, array(device, "2d", [texels]), Sampler(), fractions=True)
    inputs = np.ones((1, 2), np.float32).view(np.uint32)
    found = run(device, f"tld4.r.2d.v4.u32.f32 {FOUR}, [%rd0, {{%i0, %i1}}]", handle, inputs, dtype=np.uint32)
    assert found[0].tolist() == [0xBC810102, 0x3F316363, 0x3F65CBCC, 0xBF458B8B]


def test_a_gather_of_f16_gives_the_nan_of_f16(device: Emulator) -> None:
    texels = np.array([[0xFF8C, 0x7E26], [0x7C54, 0xFEE6]], np.uint16).view(np.float16)[..., None]
    handle = texture(device, array(device, "2d", [texels]), Sampler(linear=True))
    inputs = np.ones((1, 2), np.float32).view(np.uint32)
    found = run(device, f"tld4.r.2d.v4.f32.f32 {FOUR}, [%rd0, {{%i0, %i1}}]", handle, inputs, dtype=np.uint32)
    assert found[0].tolist() == [0x7FFFE000] * 4


@pytest.mark.parametrize(
    ("integers", "parts", "answer"),
    [
        # The smaller one is cut off below the last of eight bits of the larger.
        ((253, 94), (56, 200), 0x3E9A0000),
        ((94, 229), (90, 166), 0x3F0C2000),
        # From 248 on integers have the exponent of 255.
        ((230, 253), (128, 128), 0x3F630000),
        ((230, 253), (46, 210), 0x3F730000),
    ],
)
def test_filters_over_srgb(
    device: Emulator, integers: tuple[int, int], parts: tuple[int, int], answer: int
) -> None:
    texels = np.array(integers, np.uint8)[:, None]
    sampler = Sampler((AddressMode.CLAMP,) * 3, linear=True, srgb=True)
    handle = texture(device, array(device, "1d", [texels]), sampler, fractions=True)
    inputs = np.array([[0.5 + parts[1] / 256]], np.float32).view(np.uint32)
    statement = f"tex.1d.v4.f32.f32 {FOUR}, [%rd0, {{%i0}}]"
    assert run(device, statement, handle, inputs, dtype=np.uint32)[0, 0] == answer


@pytest.mark.parametrize(
    ("slopes", "answer"),
    [
        ("3e1ae18f 3e18bb02 3e032fe5 bd323b05", 693),
        ("3dc88a6e bcba5390 3cc107bb 3d1a05f5", 437),
        ("bb3bed99 3c79f9e6 3da0e0b5 bd5c1d9b", 381),
        ("3e2d69e5 3b8099db 3bf2e37c bc23e737", 625),
    ],
)
def test_the_level_of_derivatives(device: Emulator, slopes: str, answer: int) -> None:
    """In units of 1/256, on 32 x 16 texels that hold the numbers of their levels."""
    levels = [np.full((max(1, 16 >> n), 32 >> n, 1), n, np.float32) for n in range(6)]
    sampler = Sampler(normalized=True, levels_linear=True, level_clamp=(0, 16))
    handle = texture(device, array(device, "2d", levels), sampler)
    inputs = numbers(f"3f000000 3f000000 {slopes}").view(np.uint32)[None]
    statement = f"tex.grad.2d.v4.f32.f32 {FOUR}, [%rd0, {{%i0, %i1}}], {{%i2, %i3}}, {{%i4, %i5}}"
    assert run(device, statement, handle, inputs)[0, 0] * 256 == answer


def test_derivatives_that_are_no_numbers_count_as_zero(device: Emulator) -> None:
    levels = [np.full((64 >> n, 64 >> n, 1), n, np.float32) for n in range(7)]
    sampler = Sampler(normalized=True, levels_linear=True, level_clamp=(0, 16))
    handle = texture(device, array(device, "2d", levels), sampler)
    inputs = numbers("3f000000 3f000000 bca5c23f 3c7012f7 3d3ff024 7fc00000").view(np.uint32)[None]
    statement = f"tex.grad.2d.v4.f32.f32 {FOUR}, [%rd0, {{%i0, %i1}}], {{%i2, %i3}}, {{%i4, %i5}}"
    assert run(device, statement, handle, inputs)[0, 0] * 256 == 426


@pytest.mark.parametrize(
    ("bias", "level", "clamp", "answer"),
    [
        (-16.0, 0x41772805, (0.3, 1.0), 114 / 256),
        (15.99, 0xC178F108, (0.3, 2.0), 76 / 256),
    ],
)
def test_a_bias_ends_at_fifteen(
    device: Emulator, bias: float, level: int, clamp: tuple[float, float], answer: float
) -> None:
    levels = [np.full((8 >> n, 1), n, np.float32) for n in range(4)]
    sampler = Sampler(normalized=True, levels_linear=True, level_bias=bias, level_clamp=clamp)
    handle = texture(device, array(device, "1d", levels), sampler)
    inputs = np.array([[0x3F000000, level]], np.uint32)
    assert (
        run(device, f"tex.level.1d.v4.f32.f32 {FOUR}, [%rd0, {{%i0}}], %i1", handle, inputs)[0, 0] == answer
    )


@pytest.mark.parametrize(
    ("format", "fractions", "border", "answer"),
    [
        (np.float16, False, 0.3, 0x3E998000),
        (np.float16, False, 65520.0, 0x477FE000),
        (np.float16, False, np.inf, 0x7F800000),
        (np.uint8, True, 0.5, 0x3EFEFEFF),
        (np.uint16, True, 0.3, 0x3E99989A),
        (np.int16, True, 0.5, 0x3EFFFE00),
    ],
)
def test_borders_are_brought_to_the_format(
    device: Emulator, format: type, fractions: bool, border: float, answer: int
) -> None:
    """Numbers of f16 are cut off, halves of fractions go toward zero."""
    sampler = Sampler((AddressMode.BORDER,) * 3, border=(border, 0.0, 0.0, 0.0))
    texels = array(device, "2d", [np.ones((2, 2, 1), format)])
    handle = texture(device, texels, sampler, fractions=fractions)
    inputs = np.array([[-3, 0]], np.float32).view(np.uint32)
    statement = f"tex.2d.v4.f32.f32 {FOUR}, [%rd0, {{%i0, %i1}}]"
    assert run(device, statement, handle, inputs, dtype=np.uint32)[0, 0] == answer


def test_a_gather_at_a_corner_gives_the_mean_of_three(device: Emulator) -> None:
    """The texel that there is not has 85, 86 and 85 of 256 parts of the others."""
    faces = np.arange(1, 7, dtype=np.float32) ** 2
    sampler = Sampler(linear=True, normalized=True, seamless=True)
    handle = texture(device, array(device, "cube", [faces.reshape(6, 1, 1, 1)]), sampler)
    inputs = np.array([[-0.75, 0.875, 1.0]], np.float32).view(np.uint32)
    statement = f"tld4.r.cube.v4.f32.f32 {FOUR}, [%rd0, {{%i0, %i1, %i2, %i2}}]"
    upper_left, *others = (float(part) for part in run(device, statement, handle, inputs)[0][[3, 0, 1, 2]])
    assert sorted(others) == [4.0, 9.0, 25.0]
    beside, across, other = others
    assert upper_left == (85 * beside + 86 * across + 85 * other) / 256


def test_of_the_number_of_a_layer_sixteen_bits_count_for_a_surface(device: Emulator) -> None:
    made = array(device, "a1d", [np.array([[7], [9]], np.uint32)[..., None]])
    found = run(device, "suld.b.a1d.b32.zero %o0, [%rd0, {%i0, %i1}]", surface(device, made),
                np.array([[0x10001, 0], [0xFFFF, 0]], np.uint32), dtype=np.uint32)  # fmt: skip
    assert found[:, 0].tolist() == [9, 0]


@pytest.mark.parametrize(("first", "last"), [(0, 0), (0, 1), (1, 2)])
def test_a_view_of_some_layers(device: Emulator, first: int, last: int) -> None:
    """A number of a layer beyond the last means the last; layer 0 alone is a view like others."""
    held = array(device, "a2d", [np.arange(3, dtype=np.float32).reshape(3, 1, 1, 1)])
    shown = viewed(held, ViewRequest(0, 1, 1, 0, 0, 0, first, last))
    inputs = np.array([[0, 0, 0], [2, 0, 0]], np.uint32)
    statement = f"tex.a2d.v4.f32.f32 {FOUR}, [%rd0, {{%i0, %i1, %i2, %i2}}]"
    handle = device.textures.add(Texture(shown, Sampler(), False))
    assert run(device, statement, handle, inputs)[:, 0].tolist() == [first, last]
