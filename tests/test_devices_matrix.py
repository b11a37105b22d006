"""Matrix instructions on a GPU and on the emulator: the same bits."""

from __future__ import annotations

from collections.abc import Iterator

import matrix_kernels as matrices
import numpy as np
import pytest
from matrix_kernels import BITS, execute, random_codes
from test_emulator_matrix_moves import load, names, store
from test_emulator_wmma import SMALL, multiply, registers, vector
from test_emulator_wmma import module as wmma_module

from ptxkit import targets
from ptxkit.device.protocol import Device
from ptxkit.emulator import Emulator
from ptxkit.running.devices import open_device

pytestmark = pytest.mark.gpu
WARPS = 400


@pytest.fixture(scope="module")
def devices() -> Iterator[tuple[Emulator, Device]]:
    gpu = open_device("cuda")
    target = targets.for_capability(gpu.limits.capability)  # type: ignore[attr-defined]
    if target is None or target.capability < (8, 0):
        gpu.close()
        pytest.skip("these tests need compute capability 8.0")
    yield Emulator(arch=str(target)), gpu
    gpu.close()


def needs(devices: tuple[Emulator, Device], target: str) -> None:
    capability = targets.parse(target).capability  # type: ignore[union-attr]
    if devices[1].limits.capability < capability:  # type: ignore[attr-defined]
        pytest.skip(f"the GPU is older than {target}")


FORMS = [
    ("m16n8k8", "f16", "f16 f32", "sm_80"),
    ("m16n8k16", "f16", "f16 f32", "sm_80"),
    ("m16n8k8", "bf16", "f32", "sm_80"),
    ("m16n8k16", "bf16", "f32", "sm_80"),
    ("m16n8k4", "tf32", "f32", "sm_80"),
    ("m16n8k8", "tf32", "f32", "sm_80"),
    ("m16n8k16", "e4m3", "f16 f32", "sm_89"),
    ("m16n8k32", "e4m3", "f16 f32", "sm_89"),
    ("m16n8k16", "e5m2", "f16 f32", "sm_89"),
    ("m16n8k32", "e5m2", "f16 f32", "sm_89"),
    ("m8n8k4", "f64", "f64", "sm_80"),
    ("m16n8k4", "f64", "f64", "sm_90"),
    ("m16n8k8", "f64", "f64", "sm_90"),
    ("m16n8k16", "f64", "f64", "sm_90"),
    ("m8n8k16", "s8", "s32", "sm_80"),
    ("m16n8k16", "u8", "s32", "sm_80"),
    ("m16n8k32", "s8", "s32", "sm_80"),
    ("m8n8k32", "s4", "s32", "sm_80"),
    ("m16n8k32", "u4", "s32", "sm_80"),
    ("m16n8k64", "s4", "s32", "sm_80"),
    ("m8n8k128", "b1", "s32", "sm_80"),
    ("m16n8k256", "b1", "s32", "sm_80"),
]
SPARSE = [
    ("m16n8k16", "f16", "f16 f32", "sm_80"),
    ("m16n8k32", "f16", "f16 f32", "sm_80"),
    ("m16n8k32", "bf16", "f32", "sm_80"),
    ("m16n8k8", "tf32", "f32", "sm_80"),
    ("m16n8k16", "tf32", "f32", "sm_80"),
    ("m16n8k64", "e4m3", "f32", "sm_89"),
    ("m16n8k32", "s8", "s32", "sm_80"),
    ("m16n8k64", "u8", "s32", "sm_80"),
    ("m16n8k64", "s4", "s32", "sm_80"),
    ("m16n8k128", "u4", "s32", "sm_80"),
]
CASES = [
    (f"mma{sparse}", shape, element, result, target)
    for sparse, forms in (("", FORMS), (".sp", SPARSE), (".sp::ordered_metadata", SPARSE))
    for shape, element, results, target in forms
    for result in results.split()
]


@pytest.mark.parametrize(("name", "shape", "element", "result", "target"), CASES)
def test_mma(
    devices: tuple[Emulator, Device], name: str, shape: str, element: str, result: str, target: str
) -> None:
    needs(devices, target)
    random = np.random.default_rng(len(shape) + len(element))
    m, _, rest = shape[1:].partition("n")
    n, _, k = rest.partition("k")
    rows, columns, depth = int(m), int(n), int(k)
    stored = depth // 2 if "sp" in name else depth

    def fragment(kind: str, elements: int) -> np.ndarray:
        return matrices.pack(random_codes(kind, (WARPS, 32, elements // 32), random), BITS[kind])

    operands = [
        fragment(element, rows * stored),
        fragment(element, depth * columns),
        fragment(result, rows * columns),
    ]
    tail = " {0}, {1}, {2}, {3}"
    if stored < depth:
        meaningful = np.array([0b0100, 0b1110] if element == "tf32" else [0x4, 0x8, 0x9, 0xC, 0xD, 0xE])
        nibbles = meaningful[random.integers(0, len(meaningful), (WARPS, 32, 8))]
        operands.append(matrices.pack(nibbles, 4)[..., 0])
        tail += ", {4}, 0"
    suffix = ".xor.popc" if element == "b1" else ".satfinite" if result == "s32" else ""
    types = f"{result}.{element}.{element}.{result}"
    statement = f"{name}.sync.aligned.{shape}.row.col.{types}{suffix}{tail}"
    width = max(32, BITS[result])
    count = rows * columns // 32 * BITS[result] // width
    found = [execute(statement, operands, (count, width), target, device) for device in devices]
    if result == "f64":
        numbers = [each.view(np.float64) for each in found]
        assert np.array_equal(*numbers, equal_nan=True)
    else:
        assert np.array_equal(*found)


@pytest.mark.parametrize("layouts", [(a, b) for a in ("row", "col") for b in ("row", "col")])
@pytest.mark.parametrize(("d", "c"), [("f16", "f16"), ("f32", "f16"), ("f32", "f32")])
def test_m8n8k4(devices: tuple[Emulator, Device], layouts: tuple[str, str], d: str, c: str) -> None:
    random = np.random.default_rng(1)
    counts = {"f16": 4, "f32": 8}
    operands = [matrices.pack(random_codes("f16", (WARPS, 32, 4), random), 16) for _ in range(2)]
    operands.append(matrices.pack(random_codes(c, (WARPS, 32, 8), random), BITS[c]))
    statement = f"mma.sync.aligned.m8n8k4.{'.'.join(layouts)}.{d}.f16.f16.{c} {{0}}, {{1}}, {{2}}, {{3}}"
    assert np.array_equal(*(execute(statement, operands, (counts[d], 32), "sm_80", x) for x in devices))


ANY = ["row row row row", "col col col col", "row col col row", "col row row col"]


@pytest.mark.parametrize("layouts", ANY)
@pytest.mark.parametrize(
    ("shape", "types"),
    [
        *((shape, ("f32", "f16", "f16", "f32")) for shape in SMALL),
        *((shape, ("f16", "f16", "f16", "f16")) for shape in SMALL),
        *((shape, ("f16", "f16", "f16", "f32")) for shape in SMALL),
        *((shape, ("f32", "bf16", "bf16", "f32")) for shape in SMALL),
        *((shape, ("s32", "s8", "s8", "s32")) for shape in SMALL),
        ("m16n16k8", ("f32", "tf32", "tf32", "f32")),
    ],
)
def test_wmma(
    devices: tuple[Emulator, Device], shape: str, types: tuple[str, str, str, str], layouts: str
) -> None:
    for seed in range(8):
        found = [
            multiply(shape, types, layouts, "sm_80", np.random.default_rng(seed), device=device)[3]
            for device in devices
        ]
        assert np.array_equal(*found)


@pytest.mark.parametrize("layout", ["row", "col"])
@pytest.mark.parametrize(
    ("matrix", "shape", "element"),
    [(x, s, e) for x in "ab" for s in SMALL for e in ("f16", "bf16", "s8")]
    + [("c", s, e) for s in SMALL for e in ("f16", "f32")]
    + [("a", "m16n16k8", "tf32"), ("b", "m16n16k8", "tf32")],
)
def test_wmma_fragments(
    devices: tuple[Emulator, Device], matrix: str, shape: str, element: str, layout: str
) -> None:
    """PTX leaves the fragment's layout open; this one is observed."""
    count = registers(matrix, shape, element)
    name = f"wmma.load.{matrix}.sync.aligned.{layout}.{shape}.global.{element}"
    stores = "\n".join(f"    st.global.u32 [%pd+{4 * i}], %a{i};" for i in range(count))
    statements = f"    {name} {vector('a', count)}, [%pa];\n    mad.wide.u32 %pd, %t, 32, %pd;\n{stores}"
    found = []
    for device in devices:
        source, result = (
            device.array(np.arange(2048, dtype=np.uint16)),
            device.array(np.zeros((32, 8), np.uint32)),
        )
        args = [source, source, source, result, 0, 0, 0, 0]
        device.load(wmma_module(statements, "sm_80")).kernel("k").launch((1,), (32,), args)
        found.append(result.numpy())
    assert np.array_equal(*found)


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("trans", ["", ".trans"])
def test_ldmatrix_and_stmatrix(devices: tuple[Emulator, Device], count: int, trans: str) -> None:
    needs(devices, "sm_90")
    random = np.random.default_rng(count)
    tile = random.integers(0, 2**16, 1024, dtype=np.uint16)
    rows = random.permutation(128)[:32] * 16
    statement = f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {names(count)}, [%a]"
    assert np.array_equal(*(load(statement, tile, rows, count, device=device) for device in devices))
    held = random.integers(0, 2**32, (count, 32), dtype=np.uint32)
    statement = f"stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%a], {names(count)}"
    assert np.array_equal(*(store(statement, held, rows, device=device) for device in devices))


def test_movmatrix(devices: tuple[Emulator, Device]) -> None:
    held = np.random.default_rng(2).integers(0, 2**32, (WARPS, 32), dtype=np.uint32)
    statement = "movmatrix.sync.aligned.m8n8.trans.b16 %d0, {1}"
    assert np.array_equal(*(execute(statement, [held], (1, 32), "sm_80", device) for device in devices))
