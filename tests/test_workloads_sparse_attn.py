"""The gradient of sparse attention: against loops, and against differences of the forward pass."""

from __future__ import annotations

import numpy as np
import pytest

from ptxkit.diagnostics import PtxkitError
from ptxkit.workloads import workload

PHASE_1, WHOLE = workload("sparse_attn_bwd_phase1"), workload("sparse_attn_bwd")
SMALL = {"s_q": 7, "s_kv": 20, "topk": 64, "heads": 128, "d_qk": 576}
FEW_HEADS = (0, 77, 127)


def visible(inputs: dict[str, np.ndarray], sizes: dict[str, int], query: int) -> list[tuple[int, int]]:
    """Places in the list and keys that a query sees, one by one."""
    length = int(inputs["topk_length"][query])
    listed = [(j, int(inputs["indices"][query, j])) for j in range(length)]
    return [(j, key) for j, key in listed if 0 <= key < sizes["s_kv"]]


@pytest.mark.parametrize("generator", ["mixed", "valid", "wide"])
@pytest.mark.parametrize("depth", [512, 576])
def test_inputs_lie_as_the_tensors_say(generator: str, depth: int) -> None:
    sizes = SMALL | {"d_qk": depth}
    inputs = WHOLE.generate(sizes, generator, 1, frozenset())
    tensors = {tensor.name: tensor for tensor in WHOLE.tensors(sizes) if tensor.role == "input"}
    assert inputs.keys() == tensors.keys()
    for name, array in inputs.items():
        assert (array.shape, array.dtype) == (tensors[name].storage_shape, tensors[name].storage_dtype)


def test_wide_has_flat_and_sharp_softmax_and_gradients_of_all_magnitudes() -> None:
    inputs = WHOLE.generate(SMALL, "wide", 0, frozenset())
    kv = inputs["kv"].astype(float)
    parts = [WHOLE._pairs(SMALL, inputs, kv, query) for query in range(SMALL["s_q"])]
    weights = np.array([part["w"].max(axis=1) for part in parts if part is not None])
    assert weights.min() < 0.2
    assert weights.max() > 0.9
    magnitudes = np.abs(inputs["do"].astype(float)).max(axis=-1)
    assert magnitudes.max() / magnitudes.min() > 2.0**50


def test_mixed_has_every_kind_of_key_that_is_not_seen() -> None:
    inputs = WHOLE.generate(SMALL, "mixed", 0, frozenset())
    for index in (-1, SMALL["s_kv"], np.iinfo(np.int32).max):
        assert (inputs["indices"][0] == index).any()
    assert inputs["topk_length"][2] == 0
    assert not visible(inputs, SMALL, 5)
    for query in (2, 5):
        assert (inputs["lse"][query] == -np.inf).all()
        assert (inputs["o"][query] == 0).all()
    assert np.isfinite(inputs["lse"][[0, 1, 3, 4, 6]]).all()
    assert 0 < inputs["topk_length"][0] < SMALL["topk"]


def test_the_first_phase_is_dot_products() -> None:
    inputs = PHASE_1.generate(SMALL, "mixed", 0, frozenset())
    expected = PHASE_1.reference(SMALL, inputs)
    p = np.zeros_like(expected["p"].values)
    for query in range(SMALL["s_q"]):
        for j, key in visible(inputs, SMALL, query):
            for head in FEW_HEADS:
                pairs = zip(inputs["q"][query, head].tolist(), inputs["kv"][key].tolist(), strict=True)
                p[query, head, j] = sum(a * b for a, b in pairs)
    heads = list(FEW_HEADS)
    assert np.allclose(expected["p"].values[:, heads], p[:, heads], rtol=0, atol=1e-10)
    for query in range(SMALL["s_q"]):
        for head in FEW_HEADS:
            pairs = zip(inputs["o"][query, head].tolist(), inputs["do"][query, head].tolist(), strict=True)
            assert expected["delta"].values[query, head] == pytest.approx(sum(a * b for a, b in pairs))


def forward(q: np.ndarray, kv: np.ndarray, sizes: dict[str, int], inputs: dict) -> tuple[np.ndarray, ...]:
    """o and the base-2 lse in float64, key by key."""
    o, lse = np.zeros((sizes["s_q"], 128, 512)), np.full((sizes["s_q"], 128), -np.inf)
    for query in range(sizes["s_q"]):
        keys = [key for _, key in visible(inputs, sizes, query)]
        if keys:
            terms = [np.exp(q[query] @ kv[key] / np.sqrt(sizes["d_qk"])) for key in keys]
            o[query] = sum(t[:, None] * kv[key, :512] for t, key in zip(terms, keys, strict=True))
            o[query] /= sum(terms)[:, None]
            lse[query] = np.log2(sum(terms))
    return o, lse


def test_o_and_lse_are_those_of_the_forward_pass() -> None:
    inputs = WHOLE.generate(SMALL, "mixed", 0, frozenset())
    o, lse = forward(inputs["q"].astype(float), inputs["kv"].astype(float), SMALL, inputs)
    assert np.allclose(inputs["o"].astype(float), o, rtol=2**-8, atol=1e-5)
    assert np.allclose(inputs["lse"], lse, rtol=0, atol=1e-5)


@pytest.mark.parametrize("depth", [512, 576])
def test_the_gradient_is_the_limit_of_differences(depth: int) -> None:
    """Along random directions of q and kv, of the sum of o * do, with o and lse not rounded."""
    sizes = SMALL | {"d_qk": depth}
    inputs = WHOLE.generate(sizes, "mixed", 2, frozenset())
    exact = {name: a.astype(float) if a.dtype != np.int32 else a for name, a in inputs.items()}
    exact["o"], exact["lse"] = forward(exact["q"], exact["kv"], sizes, inputs)
    gradient = WHOLE.reference(sizes, exact)
    rng = np.random.default_rng(0)
    for name, result in (("q", "dq"), ("kv", "dkv")):
        along, ends = rng.standard_normal(exact[name].shape), []
        for step in (-1e-5, 1e-5):
            moved = exact | {name: exact[name] + step * along}
            ends.append((forward(moved["q"], moved["kv"], sizes, inputs)[0] * exact["do"]).sum())
        expected = (gradient[result].values * along).sum()
        assert (ends[1] - ends[0]) / 2e-5 == pytest.approx(expected, rel=1e-6)


def test_the_slack_is_small_beside_the_values() -> None:
    inputs = WHOLE.generate(SMALL, "mixed", 0, frozenset())
    for problem in (PHASE_1, WHOLE):
        for expected in problem.reference(SMALL, inputs).values():
            assert expected.slack is not None
            assert expected.slack.max() < 0.04 * np.abs(expected.values).max()


@pytest.mark.parametrize("heads", [192, 96])
def test_there_are_64_or_128_heads(heads: int) -> None:
    with pytest.raises(PtxkitError) as caught:
        WHOLE.check(SMALL | {"heads": heads})
    assert caught.value.diagnostics[0].code == "P552"


@pytest.mark.parametrize("depth", [448, 640, 520])
def test_keys_have_512_or_576_elements(depth: int) -> None:
    with pytest.raises(PtxkitError) as caught:
        PHASE_1.check(SMALL | {"d_qk": depth})
    assert caught.value.diagnostics[0].code == "P552"


def test_the_cost() -> None:
    sizes = {"s_q": 1, "s_kv": 10, "topk": 64, "heads": 128, "d_qk": 512}
    cost = PHASE_1.cost(sizes)
    assert cost.bytes_read == 2 * (3 * 128 * 512 + 10 * 512) + 4 * 64 + 4
    assert cost.bytes_written == 4 * (128 * 64 + 128)
    assert cost.operations == 2 * 128 * 512 * 65
    assert WHOLE.cost(sizes).operations == 5 * 2 * 128 * 64 * 512
