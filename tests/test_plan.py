"""The launch plan: presets, sizes, flags, selection of launches, JSON both ways."""

from __future__ import annotations

import json
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptxkit
from ptxkit import card
from ptxkit.diagnostics import PtxkitError, code_info
from ptxkit.plan import Argument, LaunchPlan, Program, Request, flags, make, problem_of

ENTRIES = """\
.version 8.0
.target sm_90
.address_size 64
.entry fast(.param .u64 x, .param .u64 y, .param .u32 n) { ret; }
.entry slow(.param .u64 x, .param .u64 y, .param .u32 n) { ret; }
"""

CARD = """\
// /// ptxkit
// [[launch]]
// entry = "fast"
// group = "main"
// when = "n % 4 == 0"
// grid = "ceildiv(n, 128)"
// block = 32
// shared = "n * 2"
// params = ["x", "y", "n"]
// [[launch]]
// entry = "slow"
// group = "main"
// when = "n < 1000"
// grid = ["n", 2]
// block = 32
// params = ["x", "y", "n * 2 + 1"]
// [[launch]]
// entry = "slow"
// when = "n > 500"
// grid = 1
// block = [8, 4]
// params = ["x", "y", 7]
// [presets]
// smoke = { n = 128 }
// odd = { n = 129 }
// large = { n = 1024 }
// [tensors.x]
// dtype = "f32"
// shape = "n"
// init = "randn"
// [tensors.y]
// dtype = "f32"
// shape = ["n", 2]
// expect = "stack([x, x], axis=1)"
// ///
"""

GEMV = """\
// /// ptxkit
// workload = "nvfp4_gemv"
// [launch]
// grid = "M"
// block = 32
// params = ["a", "sfa", "b", "sfb", "c", "M", "K"]
// [presets]
// smoke = { M = 128, K = 256, L = 1 }
// contest = { M = 128, K = 256, L = 1, inputs = "contest" }
// ///
.version 8.0
.target sm_90
.address_size 64
.entry gemv(.param .u64 a, .param .u64 sfa, .param .u64 b, .param .u64 sfb, .param .u64 c, .param .u32 M,
    .param .u32 K) { ret; }
"""


def plan(text: str = CARD + ENTRIES, **request: Any) -> LaunchPlan:
    module = ptxkit.parse(text)
    assert module.source
    return make(Program("k.ptx", None, text), module, card.read(module.source), Request(**request))


def code(text: str = CARD + ENTRIES, **request: Any) -> str:
    with pytest.raises(PtxkitError) as caught:
        plan(text, **request)
    found = caught.value.diagnostics[0].code
    assert code_info(found)
    return found


def arguments(*texts: str) -> dict[str, Any]:
    return dict(flags.argument(text) for text in texts)


# ---- presets and launches


def test_the_first_preset_is_the_default() -> None:
    found = plan()
    assert (found.preset, found.sizes) == ("smoke", {"n": 128})
    (launch,) = found.launches
    assert (launch.entry, launch.grid, launch.block, launch.shared) == ("fast", (1, 1, 1), (32, 1, 1), 256)
    assert launch.arguments == (Argument(tensor="x"), Argument(tensor="y"), Argument(value=128))
    assert [(t.name, t.shape, t.role) for t in found.tensors] == [
        ("x", (128,), "input"),
        ("y", (128, 2), "output"),
    ]


def test_of_a_group_the_first_that_holds_runs_and_others_run_when_they_hold() -> None:
    assert [launch.entry for launch in plan(preset="odd").launches] == ["slow"]
    assert plan(preset="odd").launches[0].arguments[2] == Argument(value=259)
    assert [launch.entry for launch in plan(preset="large").launches] == ["fast", "slow"]
    assert plan(preset="large").launches[1].block == (8, 4, 1)


def test_sizes_that_no_launch_takes() -> None:
    assert code(sizes={"n": 1001}) == "P561"


def test_sizes_stand_alone_or_change_a_named_preset() -> None:
    found = plan(sizes={"n": 4})
    assert (found.preset, found.sizes) == (None, {"n": 4})
    assert plan(preset="large", sizes={"n": 8}).sizes == {"n": 8}
    assert code(preset="huge") == "P544"
    assert code(sizes={"m": 1}) == "P551"
    assert code(GEMV, sizes={"M": 128}) == "P551"
    assert plan(GEMV, preset="smoke", sizes={"M": 64}).sizes == {"M": 64, "K": 256, "L": 1}
    assert code(GEMV, preset="smoke", sizes={"K": 100}) == "P552"


def test_an_entry_chooses_its_launches() -> None:
    assert [launch.entry for launch in plan(entry="slow").launches] == ["slow"]
    assert code(entry="other") == "P504"


def test_flags_replace_what_the_card_says() -> None:
    grid = flags.extents("ceildiv(n, 2),3", "--grid")
    found = plan(grid=grid, block=flags.extents("64", "--block"), cooperative=True)
    (launch,) = found.launches
    assert (launch.grid, launch.block, launch.cooperative) == ((64, 3, 1), (64, 1, 1), True)
    assert code(preset="large", grid=grid) == "P562"


# ---- workloads


def test_a_workload_brings_tensors_inputs_and_seed() -> None:
    found = plan(GEMV)
    assert [(t.name, t.dtype, t.shape) for t in found.tensors] == [
        ("a", "e2m1", (1, 128, 256)),
        ("sfa", "ue4m3", (1, 128, 16)),
        ("b", "e2m1", (1, 128, 256)),
        ("sfb", "ue4m3", (1, 128, 16)),
        ("c", "f16", (1, 128)),
    ]
    assert (found.inputs, found.seed) == ("full", 0)
    contest = plan(GEMV, preset="contest")
    assert (contest.inputs, contest.seed) == ("contest", 1111)
    assert plan(GEMV, inputs="contest", seed=5).seed == 5
    assert code(GEMV, inputs="random") == "P553"
    assert code(inputs="full") == "P553"


def test_a_workload_needs_its_outputs_and_no_strangers() -> None:
    assert code(GEMV.replace('"c", ', '"a", ', 1)) == "P562"
    assert code(GEMV.replace('"a", ', '"A", ', 1)) == "P534"
    assert code(GEMV.replace("nvfp4_gemv", "gemv", 1)) == "P550"
    assert code(workload="gemv") == "P550"


def test_a_card_may_add_scratch_tensors_to_a_workload() -> None:
    scratch = '// [tensors.partial]\n// dtype = "f32"\n// shape = "M"\n// init = "zeros"\n// ///'
    text = GEMV.replace('"K"]', '"partial"]').replace("// ///\n", scratch + "\n")
    found = plan(text)
    assert found.tensors[-1].name == "partial"
    assert np.array_equal(problem_of(found).generate()["partial"], np.zeros(128))
    assert code(text.replace("tensors.partial", "tensors.sfa").replace('"partial"]', '"K"]')) == "P562"


def test_an_argument_replaces_a_tensors_content(tmp_path: Path) -> None:
    file = tmp_path / "a.npy"
    np.save(file, np.full((1, 128, 128), 0x22, np.uint8))
    found = plan(GEMV, arguments=arguments(f"a=@{file}"))
    assert np.all(problem_of(found).generate()["a"] == 0x22)
    assert plan(GEMV, arguments=arguments("a=e2m1[L,M,K]:ones")).tensors[0].initial == "ones"
    assert code(GEMV, arguments=arguments("a=f16[L,M,K]:ones")) == "P537"
    assert code(GEMV, arguments=arguments("a=e2m1[3]:ones")) == "P556"
    assert code(GEMV, arguments=arguments("q=e2m1[3]:ones")) == "P562"
    assert code(GEMV, arguments=arguments("M=3")) == "P562"


def test_a_file_that_a_card_names_lies_beside_it(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(128, dtype=np.float32))
    text = (CARD + ENTRIES).replace('"randn"', '"@x.npy"')
    module = ptxkit.parse(text)
    assert module.source
    program = Program("k.ptx", str(tmp_path / "k.ptx"))
    found = make(program, module, card.read(module.source), Request())
    assert problem_of(found).generate()["x"][-1] == 127


def test_an_expectation_sees_what_was_there_before_the_launch() -> None:
    assert np.array_equal(
        problem_of(plan()).reference({"x": np.ones(128, np.float32)})["y"].values, np.ones((128, 2))
    )
    with pytest.raises(PtxkitError) as caught:
        plan((CARD + ENTRIES).replace("stack([x, x], axis=1)", "y + 1"))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "P557"
    assert diagnostic.span is not None


# ---- no card


def test_a_file_without_a_card_runs_from_flags() -> None:
    found = plan(
        ENTRIES,
        entry="fast",
        sizes={"n": 64},
        grid=flags.extents("4", "--grid"),
        block=flags.extents("n", "--block"),
        arguments=arguments("a=f32[n]:randn", "out=f32[n, 2]", "count=64"),
    )
    (launch,) = found.launches
    assert (launch.entry, launch.block) == ("fast", (64, 1, 1))
    assert launch.arguments == (Argument(tensor="a"), Argument(tensor="out"), Argument(value=64))
    assert [(t.name, t.shape, t.initial) for t in found.tensors] == [
        ("a", (64,), "randn"),
        ("out", (64, 2), None),
    ]


def test_tensors_of_a_workload_and_sizes_need_no_flag() -> None:
    """Parameters are called like them; what is neither must be given."""
    bare = GEMV[GEMV.index(".version") :]
    given: dict[str, Any] = {
        "workload": "nvfp4_gemv",
        "sizes": {"M": 128, "K": 256, "L": 1},
        "grid": flags.extents("M", "--grid"),
        "block": flags.extents("32", "--block"),
    }
    (launch,) = plan(bare, **given).launches
    assert [a.tensor or a.value for a in launch.arguments] == ["a", "sfa", "b", "sfb", "c", 128, 256]
    assert plan(bare, **given, arguments=arguments("a=e2m1[L, M, K]:ones")).launches == (launch,)
    assert code(bare.replace("u32 K)", "u32 K, .param .u32 stages)"), **given) == "P562"
    assert code(bare.replace(".u64 c,", ".u64 out,"), **given, arguments=arguments("out=f16[128]")) == "P562"


def test_a_file_without_a_card_and_without_flags() -> None:
    assert code(ENTRIES) == "P543"
    assert code(ENTRIES, grid=flags.extents("4", "--grid")) == "P543"


def test_a_npy_gives_type_and_shape(tmp_path: Path) -> None:
    file = tmp_path / "x.npy"
    extents = {"grid": flags.extents("1", "--grid"), "block": flags.extents("32", "--block"), "entry": "fast"}
    np.save(file, np.zeros((2, 3), np.int16))
    (tensor,) = plan(ENTRIES, arguments=arguments(f"values=@{file}"), **extents).tensors
    assert (tensor.dtype, tensor.shape) == ("s16", (2, 3))
    np.save(file, np.zeros(3, "M8[s]"))
    assert code(ENTRIES, arguments=arguments(f"values=@{file}"), **extents) == "P556"
    file.write_bytes(b"")
    assert code(ENTRIES, arguments=arguments(f"values=@{file}"), **extents) == "P555"
    assert code(ENTRIES, arguments=arguments("values=@none.npy"), **extents) == "P555"


# ---- flags


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x=f32[4]:randn", "P560"),
        ("n=x", "P560"),
        ("n=-1", "P560"),
        ("n", "P560"),
        ("=3", "P560"),
        ("n=0x10", ("n", 16)),
    ],
)
def test_sizes_on_the_command_line(text: str, expected: object) -> None:
    if isinstance(expected, tuple):
        assert flags.size(text) == expected
        return
    with pytest.raises(PtxkitError) as caught:
        flags.size(text)
    assert caught.value.diagnostics[0].code == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", "P560"),
        ("x=", "P560"),
        ("x=f32", "P560"),
        ("x=f32[4", "P560"),
        ("x=f31[4]", "P537"),
        ("x=f32[4]:rand", "P536"),
        ("x=f32[4]:full", "P536"),
        ("x=f32[4**2]", "P560"),
    ],
)
def test_bad_arguments_on_the_command_line(text: str, expected: str) -> None:
    with pytest.raises(PtxkitError) as caught:
        flags.argument(text)
    assert caught.value.diagnostics[0].code == expected


def test_an_option_names_a_thing_once() -> None:
    assert flags.once([("a", 1), ("b", 2)], "-p") == {"a": 1, "b": 2}
    with pytest.raises(PtxkitError) as caught:
        flags.once([("a", 1), ("a", 2)], "-p")
    assert caught.value.diagnostics[0].code == "P560"


def test_numbers_on_the_command_line() -> None:
    assert arguments("n=3", "m=0x10", "x=1.5", "y=-2", "z=1e3", "w=inf") == {
        "n": 3,
        "m": 16,
        "x": 1.5,
        "y": -2,
        "z": 1000.0,
        "w": float("inf"),
    }


@pytest.mark.parametrize("text", ["", "1,2,3,4", "1,,2", ","])
def test_bad_extents_on_the_command_line(text: str) -> None:
    with pytest.raises(PtxkitError) as caught:
        flags.extents(text, "--grid")
    assert caught.value.diagnostics[0].code == "P560"


def test_one_entry_of_several_needs_its_own_tensor_maps_only() -> None:
    """A phase can run on a workload of its own, which lacks tensors of the others."""
    phases = textwrap.dedent("""\
    // /// ptxkit
    // workload = "sparse_attn_bwd"
    // [[launch]]
    // entry = "first"
    // grid = "s_q"
    // block = 32
    // params = ["p_map", "delta"]
    // [[launch]]
    // entry = "second"
    // grid = "s_q"
    // block = 32
    // params = ["p_map", "dq_map", "dkv"]
    // [presets]
    // smoke = { s_q = 1, s_kv = 64, topk = 64, heads = 64, d_qk = 512 }
    // [tensor_maps.p_map]
    // tensor = "p"
    // box = [1, 1, 64]
    // [tensor_maps.dq_map]
    // tensor = "dq"
    // box = [1, 1, 64]
    // ///
    .version 8.0
    .target sm_90
    .entry first() { ret; }
    .entry second() { ret; }
    """)
    assert [m.name for m in plan(phases).tensor_maps] == ["p_map", "dq_map"]
    alone = plan(phases, entry="first", workload="sparse_attn_bwd_phase1")
    assert [m.name for m in alone.tensor_maps] == ["p_map"]
    assert code(phases, entry="second", workload="sparse_attn_bwd_phase1") == "P534"


# ---- JSON


def test_a_plan_is_data_both_ways() -> None:
    text = textwrap.dedent("""\
    // /// ptxkit
    // [launch]
    // grid = "n"
    // block = 32
    // cluster = 2
    // params = ["m", "x", 1.5]
    // [presets]
    // smoke = { n = 4 }
    // [tensors.x]
    // dtype = "f32"
    // shape = ["n", 64]
    // expect = "zeros([n, 64])"
    // rtol = 0.5
    // [tensor_maps.m]
    // tensor = "x"
    // box = [2, "n"]
    // swizzle = "128B"
    // ///
    .version 8.0
    .target sm_90
    .entry f() { ret; }
    """)
    for found in (plan(), plan(preset="large"), plan(GEMV), plan(text)):
        document = json.loads(json.dumps(found.to_json()))
        assert LaunchPlan.from_json(document) == found
        assert LaunchPlan.from_json(json.dumps(document)) == found


def test_a_plan_carries_its_program_to_another_machine(tmp_path: Path) -> None:
    file = tmp_path / "k.ptx"
    file.write_text(CARD + ENTRIES)
    found = replace(plan(), program=Program("k.ptx", str(file)))
    embedded = found.embedded()
    file.unlink()
    assert LaunchPlan.from_json(embedded.to_json()).program.read() == CARD + ENTRIES
    with pytest.raises(PtxkitError) as caught:
        found.program.read()
    assert caught.value.diagnostics[0].code == "P559"


@pytest.mark.parametrize(
    "data", ["{", "[]", "{}", '{"schema": 99}', '{"schema": 1}', '{"schema": 1, "x": 2}']
)
def test_other_json_is_refused(data: str) -> None:
    with pytest.raises(PtxkitError) as caught:
        LaunchPlan.from_json(data)
    assert caught.value.diagnostics[0].code == "P558"
