"""Workloads: inputs, references, contents, expectations, comparison."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxkit.card import initial
from ptxkit.diagnostics import PtxkitError, code_info
from ptxkit.dtypes import DTYPES
from ptxkit.workloads import WORKLOADS, Expected, Tensor, Tolerance, content, workload
from ptxkit.workloads.comparison import compare
from ptxkit.workloads.declared import Declared, DeclaredProblem
from ptxkit.workloads.expect import Expect
from ptxkit.workloads.nvfp4_gemv import permute_scales
from ptxkit.workloads.ue5m3_gemm import UE5M3

GEMV = workload("nvfp4_gemv")
SMALL = {"M": 24, "K": 128, "L": 2}
LONG = {"M": 256, "K": 4096, "L": 1}


def code_of(call: object, *arguments: object, **named: object) -> str:
    with pytest.raises(PtxkitError) as caught:
        call(*arguments, **named)  # type: ignore[operator]
    code = caught.value.diagnostics[0].code
    assert code_info(code)
    return code


# ---- nvfp4_gemv


def slow_reference(sizes: dict[str, int], inputs: dict[str, np.ndarray]) -> np.ndarray:
    """The sum as the task states it, element by element, through ml_dtypes' own decoding."""
    M, K, L = sizes["M"], sizes["K"], sizes["L"]
    out = np.zeros((L, M))
    fp4 = ml_dtypes.float4_e2m1fn

    def value(packed: np.ndarray, k: int) -> float:
        code = (int(packed[k // 2]) >> (4 * (k % 2))) & 15
        return float(np.array([code], np.uint8).view(fp4)[0])

    for batch in range(L):
        for m in range(M):
            out[batch, m] = sum(
                value(inputs["a"][batch, m], k)
                * float(inputs["sfa"][batch, m, k // 16])
                * value(inputs["b"][batch, 0], k)
                * float(inputs["sfb"][batch, 0, k // 16])
                for k in range(K)
            )
    return out


@pytest.mark.parametrize("generator", ["full", "contest"])
def test_the_reference_is_the_sum_of_the_task(generator: str) -> None:
    inputs = GEMV.generate(SMALL, generator, 3, frozenset())
    expected = GEMV.reference(SMALL, inputs)["c"].values
    slow = slow_reference(SMALL, inputs)
    assert np.all(np.abs(expected - slow) <= 1e-12 * np.abs(slow).max())


def test_inputs_lie_as_the_tensors_say() -> None:
    for generator in GEMV.generators:
        inputs = GEMV.generate(SMALL, generator, 0, frozenset({"sfa_permuted", "sfb_permuted"}))
        tensors = {tensor.name: tensor for tensor in GEMV.tensors(SMALL)}
        for name, array in inputs.items():
            assert array.shape == tensors[name].storage_shape
            assert array.dtype == tensors[name].storage_dtype
            assert array.nbytes == tensors[name].nbytes
        assert inputs["b"].shape[1] == 128
        assert tensors["a"].strides == (24 * 64, 64)


def test_full_covers_the_formats_and_mostly_fits_f16() -> None:
    inputs = GEMV.generate(LONG, "full", 0, frozenset())
    nibbles = np.concatenate([inputs["a"].ravel(), inputs["b"][:, 0].ravel()])
    assert set(np.unique(nibbles & 15)) | set(np.unique(nibbles >> 4)) == set(range(16))
    for name, scales in (("sfa", inputs["sfa"]), ("sfb", inputs["sfb"][:, 0])):
        assert set(np.unique(scales.view(np.uint8))) == set(range(0x7F)), name
    magnitude = np.abs(GEMV.reference(LONG, inputs)["c"].values)
    assert 0 < np.mean(magnitude > 65504) < 0.1
    assert np.mean((magnitude > 0.1) & (magnitude < 65504)) > 0.75


def test_contest_is_the_tasks_distribution() -> None:
    inputs = GEMV.generate(LONG, "contest", 1111, frozenset())
    assert set(np.unique(inputs["a"])) == {0, 1, 2, 3}
    assert set(np.unique(inputs["sfa"].astype(np.float64))) == {0.0, 1.0, 2.0}
    assert GEMV.generators["contest"].seed == 1111


def test_a_seed_gives_the_same_inputs_and_another_gives_others() -> None:
    first, same, other = (GEMV.generate(SMALL, "full", seed, frozenset())["a"] for seed in (1, 1, 2))
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


def test_permuted_scales_lie_in_atoms_of_512_bytes() -> None:
    plain = np.arange(1, 1 + 2 * 200 * 6).reshape(2, 200, 6).astype(np.uint16)
    permuted = permute_scales(plain)
    assert permuted.shape == (2, 2, 2, 32, 4, 4)
    for batch, m, j in ((0, 0, 0), (1, 199, 5), (0, 127, 4), (1, 128, 3), (0, 77, 2)):
        assert permuted[batch, m // 128, j // 4, m % 32, m // 32 % 4, j % 4] == plain[batch, m, j]
    assert np.count_nonzero(permuted) == plain.size


def test_the_cost_is_the_tasks_traffic() -> None:
    cost = GEMV.cost({"M": 7168, "K": 16384, "L": 1})
    assert round(cost.bytes / 1e6, 1) == 66.1
    assert cost.operations == 2 * 7168 * 16384


@pytest.mark.parametrize(
    ("sizes", "code"),
    [
        ({"M": 1, "K": 16}, "P551"),
        ({"M": 1, "K": 16, "L": 1, "N": 1}, "P551"),
        ({"M": 0, "K": 16, "L": 1}, "P552"),
        ({"M": 1, "K": 24, "L": 1}, "P552"),
        ({"M": 1, "K": 0, "L": 1}, "P552"),
    ],
)
def test_impossible_sizes(sizes: dict[str, int], code: str) -> None:
    assert code_of(GEMV.check, sizes) == code


def test_the_reference_of_the_matrix_product() -> None:
    problem = workload("nvfp4_gemm")
    sizes = {"M": 5, "N": 7, "K": 96}
    problem.check(sizes)
    inputs = problem.generate(sizes, "full", 3, frozenset({"sfb_permuted"}))
    expected = problem.reference(sizes, inputs)["d"]
    values = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    for m, n in [(0, 0), (4, 6), (2, 3)]:
        total, magnitude = 0.0, 0.0
        for k in range(96):
            a, b = ((int(inputs[x][row, k // 2]) >> 4 * (k % 2)) & 15 for x, row in (("a", m), ("b", n)))
            term = values[a & 7] * values[b & 7] * (-1) ** (a // 8 + b // 8)
            term *= float(inputs["sfa"][m, k // 16]) * float(inputs["sfb"][n, k // 16])
            total, magnitude = total + term, magnitude + abs(term)
        assert expected.values[m, n] == total
        assert expected.slack[m, n] == pytest.approx(magnitude * 2.0**-20)
    assert inputs["sfb_permuted"].shape == (1, 2, 32, 4, 4)
    assert inputs["sfb_permuted"][0, 1, 6, 0, 1] == inputs["sfb"][6, 5]
    assert {tensor.name for tensor in problem.tensors(sizes)} == {*inputs, "sfa_permuted", "d"}
    assert problem.cost(sizes).bytes_read == (5 + 7) * (48 + 6)


def test_the_reference_of_the_products_by_experts() -> None:
    problem = workload("ue5m3_gemm")
    sizes = {"M": 300, "N": 5, "K": 96, "E": 2}
    problem.check(sizes)
    inputs = problem.generate(sizes, "full", 3, frozenset({"sfa_permuted", "sfb_permuted"}))
    expected = problem.reference(sizes, inputs)["d"]
    assert inputs["experts"].tolist() == [0, 0, 1] or inputs["experts"].tolist() == [0, 1, 1]
    values = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])

    def element(packed: np.ndarray, codes: np.ndarray, k: int) -> float:
        code, scale = int(packed[k // 2]) >> 4 * (k % 2) & 15, int(codes[k // 16])
        power = 2.0 ** (scale // 8 - 15) * (1 + scale % 8 / 8) if scale >= 8 else scale * 2.0**-17
        return float(values[code & 7]) * (-1) ** (code // 8) * power

    for m, n in [(0, 0), (127, 4), (128, 1), (299, 3)]:
        expert = inputs["experts"][m // 128]
        terms = [
            element(inputs["a"][m], inputs["sfa"][m], k)
            * element(inputs["b"][expert, n], inputs["sfb"][expert, n], k)
            for k in range(96)
        ]
        assert expected.values[m, n] == pytest.approx(sum(terms), rel=1e-12)
        assert expected.slack[m, n] == pytest.approx(sum(map(abs, terms)) * 2.0**-20)
    assert inputs["sfa_permuted"].shape == (3, 2, 32, 4, 4)
    assert inputs["sfa_permuted"][2, 1, 11, 1, 0] == inputs["sfa"][299, 4]
    assert inputs["sfb_permuted"].shape == (2, 1, 2, 32, 4, 4)
    assert inputs["sfb_permuted"][1, 0, 1, 4, 0, 1] == inputs["sfb"][1, 4, 5]
    assert not inputs["sfb_permuted"][:, :, 1, :, :, 2:].any()
    assert {tensor.name for tensor in problem.tensors(sizes)} == {*inputs, "d"}
    assert problem.cost(sizes).bytes_read == (300 + 2 * 5) * (48 + 6) + 4 * 3


def test_inputs_by_experts_have_every_finite_scale_factor() -> None:
    inputs = workload("ue5m3_gemm").generate({"M": 200, "N": 512, "K": 544, "E": 2}, "full", 0, frozenset())
    for name in ("sfa", "sfb"):
        assert set(inputs[name].reshape(-1).tolist()) == set(range(0xFF))
        spread = np.ptp(inputs[name].astype(int), axis=-1)
        assert spread.max() < 16


def test_one_row_by_one_expert_is_no_row_of_zeros() -> None:
    problem = workload("ue5m3_gemm")
    sizes = {"M": 1, "N": 8, "K": 64, "E": 1}
    inputs = problem.generate(sizes, "full", 0, frozenset())
    assert inputs["sfa"].all()
    assert problem.reference(sizes, inputs)["d"].values.any()


def test_scale_factors_of_type_ue5m3() -> None:
    """PTX ISA 9.4: five bits of exponent, bias 15, three of mantissa."""
    assert [UE5M3[code] for code in (0, 1, 7, 8, 9, 0x78, 0xFE)] == [
        0, 2.0**-17, 7 * 2.0**-17, 2.0**-14, 1.125 * 2.0**-14, 1, 114688,
    ]  # fmt: skip


def test_the_registry() -> None:
    for name in WORKLOADS:
        assert workload(name).name == name
    assert code_of(workload, "nvfp4-gemv") == "P550"
    assert code_of(GEMV.generator, "random") == "P553"


USER_FILE = """
from ptxkit.workloads import Workload, Size, Tensor, Generator, Expected, Cost
import numpy as np

class Double(Workload):
    name = "double"
    sizes = (Size("n", "elements"),)
    generators = {"ramp": Generator("0, 1, 2, ..")}
    def tensors(self, sizes):
        return Tensor("x", "f32", (sizes["n"],)), Tensor("y", "f32", (sizes["n"],), "output")
    def generate(self, sizes, generator, seed, wanted):
        return {"x": np.arange(sizes["n"], dtype=np.float32)}
    def reference(self, sizes, inputs):
        return {"y": Expected(2.0 * inputs["x"])}
    def cost(self, sizes):
        return Cost(4 * sizes["n"], 4 * sizes["n"], sizes["n"])

class Half(Workload):
    name = "half"
"""


def test_a_workload_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(USER_FILE)
    assert workload(f"{file}:Double").name == "double"
    assert code_of(workload, f"{file}:Triple") == "P554"
    assert code_of(workload, f"{file}:Half") == "P554"
    assert code_of(workload, f"{tmp_path / 'none.py'}:Double") == "P554"
    file.write_text("1 / 0")
    assert code_of(workload, f"{file}:Double") == "P554"


# ---- contents


STORED = [name for name, d in DTYPES.items() if d.numpy and d.kind != "pred" and "." not in name]


@pytest.mark.parametrize("dtype", STORED)
@pytest.mark.parametrize("text", ["zeros", "ones", "randn", "bits", "arange", "randint(-3, 4)", "undefined"])
def test_contents_have_the_tensors_layout(dtype: str, text: str) -> None:
    tensor = Tensor("x", dtype, (3, 5))
    array = content.fill(tensor, initial.parse(text), 0)
    assert (array.shape, array.dtype, array.nbytes) == (
        tensor.storage_shape,
        tensor.storage_dtype,
        tensor.nbytes,
    )
    decoded = content.decode(tensor, array)
    assert decoded.shape == tensor.shape
    again = content.decode(tensor, content.encode(tensor, decoded))
    assert np.array_equal(decoded, again, equal_nan=DTYPES[dtype].is_float)


@given(st.lists(st.sampled_from([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.5, -6]), min_size=1, max_size=9))
def test_e2m1_packs_the_lower_index_into_the_low_nibble(values: list[float]) -> None:
    tensor = Tensor("x", "e2m1", (len(values),))
    packed = content.encode(tensor, np.array(values))
    codes = np.array(values).astype(ml_dtypes.float4_e2m1fn).view(np.uint8)
    assert packed[0] & 15 == codes[0]
    assert np.array_equal(content.decode(tensor, packed), values)


def test_each_tensor_has_a_stream_of_its_own() -> None:
    x, y = (content.fill(Tensor(name, "f32", (8,)), initial.parse("randn"), 0) for name in "xy")
    assert not np.array_equal(x, y)


def test_npy_files(tmp_path: Path) -> None:
    tensor = Tensor("x", "bf16", (2, 3))
    array = content.fill(tensor, initial.parse("randn"), 0)
    path = tmp_path / "x.npy"
    content.save(tensor, array, path)
    assert [p.name for p in tmp_path.iterdir()] == ["x.npy"]
    assert np.array_equal(content.load(tensor, path), array)
    assert code_of(content.load, Tensor("x", "bf16", (3, 2)), path) == "P556"
    assert code_of(content.load, Tensor("x", "f32", (2, 3)), path) == "P556"
    assert code_of(content.load, tensor, tmp_path / "y.npy") == "P555"
    path.write_bytes(b"no array")
    assert code_of(content.load, tensor, path) == "P555"
    np.save(path, np.array([object()]), allow_pickle=True)
    assert code_of(content.load, tensor, path) == "P555"
    assert code_of(content.save, tensor, array, tmp_path / "no" / "x.npy") == "P567"


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("f32", "save it as float32, or as uint32 holding the bits"),
        ("u8", "save it as uint8 holding the bits"),
    ],
)
def test_a_file_of_another_type_says_what_it_may_be(tmp_path: Path, kind: str, wanted: str) -> None:
    np.save(tmp_path / "x.npy", np.zeros(6))
    with pytest.raises(PtxkitError) as caught:
        content.load(Tensor("x", kind, (6,)), tmp_path / "x.npy")
    assert caught.value.diagnostics[0].help == wanted


X = np.arange(6, dtype=np.float32).reshape(2, 3)


def header(text: str) -> bytes:
    """A `.npy` of version 1 with this header and little data."""
    line = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(line).to_bytes(2, "little") + line + bytes(24)


@pytest.mark.parametrize(
    ("array", "code"),
    [
        (X, None),
        (np.asfortranarray(X), None),
        (X.astype(">f4"), None),
        (X.view(np.uint32), None),
        (X.view("V4"), None),
        (X.astype(np.float64), "P556"),
        (X.astype(np.int32), "P556"),
        (X.astype(np.complex64), "P556"),
        (X.reshape(3, 2), "P556"),
        (X[0], "P556"),
        (np.float32(1), "P556"),
        (np.zeros((2, 0), np.float32), "P556"),
        (X.view([("a", "f4")]), "P556"),
        (np.array([["a"] * 3] * 2), "P556"),
        (np.zeros((2, 3), "M8[s]"), "P556"),
    ],
)
def test_arrays_of_every_kind(tmp_path: Path, array: np.ndarray, code: str | None) -> None:
    tensor, path = Tensor("x", "f32", (2, 3)), tmp_path / "x.npy"
    np.save(path, array)
    if code:
        assert code_of(content.load, tensor, path) == code
    else:
        loaded = content.load(tensor, path)
        assert np.array_equal(loaded, X)
        assert (type(loaded), loaded.flags.c_contiguous, loaded.dtype) == (np.ndarray, True, X.dtype)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "another kind of file"),
        (b"1 2 3", "another kind of file"),
        (b"\x10\0\0\0\0\0\0\0{}", "another kind of file"),
        (b"PK\x03\x04", "an archive of several"),
        (header("")[:20], "its header is broken"),
        (header("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3"), "its header is broken"),
        (header("{'descr': '<f4', __import__('os'): False, 'shape': (2, 3), }"), "its header is broken"),
        (
            header("{'descr': '<f4', 'fortran_order': False, 'shape': (9999999, 9999999), }"),
            "its data is cut off",
        ),
        (header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3), }"), "its data is cut off"),
        (header("{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 3), }"), ""),
        (header("{'descr': '|O', 'fortran_order': False, 'shape': (2, 3), }"), "it holds Python objects"),
        (header("").replace(b"\x01\x00", b"\x09\x00", 1), "of an unknown version"),
    ],
)
def test_what_is_no_npy(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(data)
    with pytest.raises(PtxkitError) as caught:
        content.load(Tensor("x", "f32", (2, 3)), path)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "P555"
    assert diagnostic.message.startswith(f"expected a `.npy` for `x`, found `{path}`: {said}")


# ---- expectations


VALUES = {"x": np.arange(6.0).reshape(2, 3), "y": np.ones(3), "i": np.array([3, 1]), "n": 3}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x * 2 + y", VALUES["x"] * 2 + 1),
        ("x.T @ x", VALUES["x"].T @ VALUES["x"]),
        ("sum(x, axis=1)", [3, 12]),
        ("where(x > 2, x, 0)[1:, ::2]", [[3, 5]]),
        ("maximum(-x, n) ** 2", np.full((2, 3), 9)),
        ("softmax(y)", np.full(3, 1 / 3)),
        ("einsum('ij,j->i', x, y)", [3, 12]),
        ("i << 2 | 1", [13, 5]),
        ("reshape(x, [3, 2]) / pi", VALUES["x"].reshape(3, 2) / np.pi),
    ],
)
def test_expectations(text: str, value: object) -> None:
    assert np.allclose(Expect(text, VALUES).evaluate(VALUES), value)


@pytest.mark.parametrize(
    "text",
    [
        "x.sum()",
        "x.__class__",
        "__import__('os').system('true')",
        "open('f')",
        "[t for t in x]",
        "lambda: x",
        "x if n else y",
        "(z := x)",
        "f'{x}'",
        "sum(*x)",
        "sum(**x)",
        "x and y",
        "0 < x < 1",
        "z + 1",
        "load('f')",
        "x +",
        "x" * 3000,
        "(" * 500,
    ],
)
def test_an_expectation_is_an_expression_and_nothing_else(text: str) -> None:
    assert code_of(Expect, text, VALUES) == "P557"


@pytest.mark.parametrize(
    "text",
    [
        "x @ y[:2]",
        "x[7]",
        "arange(10 ** 15)",
        "9 ** 9 ** 9 ** 9 + reshape(x, 7)",
        "'a' * n",
        "[1] * 10 ** 9",
        "sum()",
    ],
)
def test_an_expectation_that_fails_is_told_and_not_thrown(text: str) -> None:
    assert code_of(Expect(text, VALUES).fitting, VALUES, (2, 3)) == "P557"


def test_a_declared_problem() -> None:
    problem = DeclaredProblem(
        [
            Declared(Tensor("x", "f32", (4,)), initial.parse("arange")),
            Declared(Tensor("y", "s32", (4,), "output"), None, "x * n"),
            Declared(Tensor("z", "u8", (4,), "scratch")),
        ],
        {"n": 3},
    )
    inputs = problem.generate()
    assert list(inputs) == ["x"]
    assert problem.reference(inputs)["y"].values.tolist() == [0, 3, 6, 9]
    assert (problem.cost().bytes_read, problem.cost().bytes_written) == (16, 16)


# ---- comparison


def judged(dtype: str, found: list[float], expected: list[float], **tolerance: float) -> list[bool]:
    """Whether each element alone is right."""
    out = []
    for f, e in zip(found, expected, strict=True):
        tensor = Tensor("c", dtype, (1,), "output")
        with np.errstate(over="ignore"):
            stored = np.array([f]).astype(tensor.storage_dtype)
        out.append(compare(tensor, stored, Expected(np.array([e])), Tolerance(**tolerance)).ok)
    return out


def test_infinities_and_nans() -> None:
    inf, nan = np.inf, np.nan
    expected = [7e4, 7e4, -7e4, inf, inf, nan, nan, 1.0, 1.0, 65472, 65519, 65520]
    found = [inf, 65504, inf, inf, 65504, nan, 1.0, nan, inf, inf, 65504, inf]
    right = [True, False, False, True, False, True, False, False, False, False, True, True]
    assert judged("f16", found, expected, ulp=1.0) == right


def test_a_tolerance_that_reaches_the_overflow_admits_both_sides() -> None:
    assert judged("f16", [np.inf, 65504], [65500.0, 65530.0], rtol=1e-3) == [True, True]


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "e4m3", "e5m2"])
def test_an_error_of_one_unit_in_the_last_place_is_one_ulp(dtype: str) -> None:
    tensor = Tensor("c", dtype, (2,), "output")
    bits = {1: np.uint8, 2: np.uint16, 4: np.uint32}[tensor.storage_dtype.itemsize]
    one = np.array([1.0]).astype(tensor.storage_dtype).view(bits)[0]
    values = np.array([one, one + 1], bits).view(tensor.storage_dtype)
    exact = values.astype(np.float64)
    for shift, ulps in ((0, 0.0), (1, 1.0)):
        found = compare(tensor, np.roll(values, shift), Expected(exact), Tolerance(ulp=0.99))
        assert found.max_ulp == ulps
        assert found.wrong == 2 * shift


@given(st.lists(st.floats(-6e4, 6e4), min_size=1, max_size=20))
def test_correct_rounding_is_at_most_half_an_ulp(values: list[float]) -> None:
    exact = np.array(values)
    tensor = Tensor("c", "f16", exact.shape, "output")
    found = compare(tensor, exact.astype(np.float16), Expected(exact), Tolerance(ulp=0.5))
    assert found.ok
    assert found.max_ulp <= 0.5


@pytest.mark.parametrize(
    ("dtype", "expected", "found", "ulp", "atol", "shown"),
    [
        ("f32", [1.0, 2.0], [1.0, 2.0 + 2**-21], 2, 0, "2 ulp"),
        ("f32", [0.0, 2.0], [1e-7, 2.0], 0, 1e-6, "1e-07, 0.1 of what is allowed"),
        ("bf16", [0.0, 2.0], [2.0**-10, 2.0], 0, 2.0**-9, "0.000977, 0.5 of what is allowed"),
        ("bf16", [1.0, 2.0], [0.0, 2.0], 1, 0, "1"),
        ("s32", [0, 2], [1, 2], 0, 1, "1 ulp"),
    ],
)
def test_the_largest_error_is_shown_so_that_it_tells_something(
    dtype: str, expected: list[float], found: list[float], ulp: float, atol: float, shown: str
) -> None:
    """Units in the last place of a number that is as near 0 as this would be millions."""
    tensor = Tensor("c", dtype, (2,), "output")
    stored = np.array(found).astype(tensor.storage_dtype)
    made = compare(tensor, stored, Expected(np.array(expected)), Tolerance(atol=atol, ulp=ulp))
    assert made.largest == shown


def test_the_part_of_what_is_allowed() -> None:
    tensor = Tensor("c", "f32", (3,), "output")
    expected, found = np.array([1.0, 100.0, 0.0]), np.array([1.5, 104.0, 0.0], np.float32)
    assert compare(tensor, found, Expected(expected), Tolerance(atol=1, rtol=0.05)).max_share == 4 / 6
    assert compare(tensor, found, Expected(expected), Tolerance()).max_share == np.inf
    assert compare(tensor, expected.astype(np.float32), Expected(expected), Tolerance()).max_share == 0


def test_long_outputs_are_judged_as_their_rows_are() -> None:
    rng = np.random.default_rng(3)
    exact = rng.standard_normal((10, 5000)) * 10.0 ** rng.integers(-9, 6, (10, 5000))
    for row, edges in ((4, [np.inf, -np.inf, np.nan, 0.0]), (7, [1e9, -65519.0, 65520.0, 2.0**-24])):
        exact[row, rng.integers(0, 5000, 400)] = rng.choice(edges, 400)
    with np.errstate(over="ignore"):
        found = exact.astype(np.float16)
    found[rng.integers(0, 10, 400), rng.integers(0, 5000, 400)] = rng.choice([1, np.nan, np.inf], 400)
    slack = np.abs(rng.standard_normal((10, 5000))) * 1e-3
    for tolerance in (Tolerance(), Tolerance(ulp=0.5), Tolerance(rtol=0.1, atol=1e-3)):
        whole = compare(Tensor("d", "f16", exact.shape), found, Expected(exact, slack), tolerance)
        rows = [
            compare(Tensor("d", "f16", (5000,)), found[row], Expected(exact[row], slack[row]), tolerance)
            for row in range(10)
        ]
        assert whole.wrong == sum(one.wrong for one in rows) > 0
        assert whole.infinite == sum(one.infinite for one in rows) > 0
        for value in ("max_ulp", "max_abs", "max_share"):
            assert getattr(whole, value) == max(getattr(one, value) for one in rows)
        every = np.concatenate([one.which + 5000 * row for row, one in enumerate(rows)])
        np.testing.assert_array_equal(whole.which, every)


def test_the_first_wrong_element_is_named_with_both_values() -> None:
    tensor = Tensor("c", "f32", (2, 3), "output")
    expected = np.arange(6.0).reshape(2, 3)
    found = expected.astype(np.float32)
    found[1, 1:] += 1
    result = compare(tensor, found, Expected(expected), Tolerance())
    assert result.first is not None
    assert (result.wrong, result.first.index, result.first.expected, result.first.found) == (2, (1, 1), 4, 5)
    assert result.to_json()["first"] == {"index": [1, 1], "expected": 4.0, "found": 5.0}


def test_slack_is_element_by_element() -> None:
    tensor = Tensor("c", "f32", (2,), "output")
    expected = Expected(np.zeros(2), np.array([1.0, 0.0]))
    assert compare(tensor, np.ones(2, np.float32), expected, Tolerance()).wrong == 1


@pytest.mark.parametrize("dtype", ["f16", "f32", "bf16", "s32", "u8", "e4m3"])
def test_unwritten_elements_are_counted(dtype: str) -> None:
    tensor = Tensor("c", dtype, (4,), "output")
    stored = content.poison(tensor)
    stored[1:3] = content.encode(Tensor("c", dtype, (2,)), np.array([1, 3]))
    result = compare(tensor, stored, Expected(np.array([1, 1, 1, 1])), Tolerance())
    assert (result.wrong, result.unwritten) == (3, 2)


def test_integers_wrap_and_compare_exactly() -> None:
    tensor = Tensor("c", "u32", (2,), "output")
    stored = np.array([1, 2**32 - 1], np.uint32)
    assert compare(tensor, stored, Expected(np.array([2**32 + 1, -1])), Tolerance()).ok
    assert compare(tensor, stored, Expected(np.array([2, -1])), Tolerance()).wrong == 1
