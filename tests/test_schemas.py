"""What `--json` prints is what docs/schemas says, and nothing that it doesn't list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from assembler import linker
from command import here, ptxkit
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from ptxkit.toolchain.sass import find

ROOT = Path(__file__).parents[1]
SCHEMAS = {path.name: json.loads(path.read_text()) for path in (ROOT / "docs/schemas").glob("*.json")}
CARD = """// /// ptxkit
// [launch]
// grid = 1
// block = 32
// params = ["y"]
// [presets]
// one = { n = 32 }
// big = { n = 64 }
// [tensors.y]
// dtype = "u32"
// shape = "n"
// expect = "arange(n)"
// ///
.version 8.0
.target sm_90
.address_size 64
.visible .entry iota(.param .u64 y) {
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd0, [y];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd1, %r0, 4;
    add.s64 %rd2, %rd0, %rd1;
    st.global.u32 [%rd2], %r0;
    ret;
}
"""


def strict(schema: Any) -> Any:
    """The schema with every object closed that lists its properties."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: strict(item) for name, item in schema.items()}
    if isinstance(schema.get("properties"), dict) and "type" in schema:
        closed.setdefault("additionalProperties", False)
    return closed


def registry(schemas: dict[str, Any]) -> Registry:
    return Registry().with_resources((name, Resource.from_contents(it)) for name, it in schemas.items())


OPEN, CLOSED = registry(SCHEMAS), registry({name: strict(schema) for name, schema in SCHEMAS.items()})


def problems(schema: str, document: Any, resources: Registry = CLOSED) -> list[str]:
    validator = Draft202012Validator({"$ref": schema}, registry=resources)
    return [
        f"{'/'.join(map(str, problem.absolute_path))}: {problem.message[:300]}"
        for problem in validator.iter_errors(document)
    ]


def printed(*arguments: object, code: int = 0) -> Any:
    done = here(*arguments)
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "iota.ptx"
    path.write_text(CARD)
    return path


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_a_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])
    assert SCHEMAS[name]["$id"] == name
    assert f"]({name})" in (ROOT / "docs/schemas/index.md").read_text()


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        ("kernels.json", ["kernels"]),
        ("doctor.json", ["doctor"]),
        ("desc.json", ["desc", "encode", "idesc.f16", "m=128", "n=256", "a=bf16", "b=bf16", "d=f32"]),
        ("desc.json", ["desc", "decode", "smem.wgmma", "0x4000004000010000"]),
        ("desc.json", ["desc", "decode", "zero-column-mask", "0x0"]),
        ("explain.json", ["explain"]),
        ("explain.json", ["explain", "P203"]),
        ("explain.json", ["explain", "%tid"]),
        ("explain.json", ["explain", "ld"]),
        ("explain.json", ["explain", "tcgen05.mma"]),
        ("explain.json", ["explain", "tensor-map"]),
        ("explain.json", ["explain", "idesc.f16", "0x08400490"]),
        ("diagnostics.json", ["check", "gemv.ptx"]),
        ("run.json", ["run", "gemv.ptx", "--device", "emu"]),
        ("profile.json", ["profile", "gemv.ptx"]),
        ("predict.json", ["predict", "gemv.ptx"]),
        ("calibrate.json", ["calibrate", "--device", "emu", "--only", "pipe_fma"]),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else None,
)
def test_what_a_command_prints(schema: str, arguments: list[str]) -> None:
    assert not problems(schema, printed(*arguments, "--json"))


@pytest.mark.parametrize(
    ("schema", "arguments", "code"),
    [
        ("explain.json", ["explain", "idesc.f16", "0xffffffff"], 1),
        ("diagnostics.json", ["explain", "no-such-thing"], 2),
        ("diagnostics.json", ["check", "nowhere.ptx"], 2),
        ("diagnostics.json", ["run", "nowhere.ptx"], 2),
        ("diagnostics.json", ["bench", "gemv.ptx", "--csv"], 2),
        ("diagnostics.json", ["desc", "encode", "idesc.f16", "m=1"], 1),
        ("diagnostics.json", ["kernels", "--no-such-option"], 2),
        ("diagnostics.json", ["doctor", "surplus"], 2),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else None,
)
def test_what_a_command_prints_that_fails(
    schema: str, arguments: list[str], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where click refuses the options, the command line itself says that JSON is wanted.
    monkeypatch.setattr("sys.argv", ["ptxkit", *arguments, "--json"])
    assert not problems(schema, printed(*arguments, "--json", code=code))


def test_findings_of_check(kernel: Path) -> None:
    kernel.write_text(CARD.replace("mov.u32 %r0", "mov.u32 %r9").replace("block = 32", "block = 1 +"))
    document = printed("check", kernel, "--json", code=1)
    assert not problems("diagnostics.json", document)
    assert any(found["span"] for found in document["diagnostics"])


def test_runs_that_are_right_wrong_and_refused(kernel: Path) -> None:
    """The big preset wants 64 elements of 32 threads."""
    document = printed("run", kernel, "--preset", "all", "--device", "emu", "--json", code=4)
    assert not problems("run.json", document)
    assert document["runs"][1]["outputs"][0]["first"]["index"] == [32]
    kernel.write_text(CARD.replace("%r0, 4;", "%r0, 4096;"))
    document = printed("run", kernel, "--preset", "all", "--device", "emu", "--json", code=1)
    assert not problems("run.json", document)
    assert "device" not in document["runs"][0]
    assert not problems("run.json", printed("run", kernel, "--device", "emu", "--json", code=1))
    kernel.write_text(CARD.replace("%r0, 4;", "%r0, 4"))
    assert not problems("diagnostics.json", printed("run", kernel, "--device", "emu", "--json", code=1))


def test_lines_of_a_sweep(kernel: Path) -> None:
    done = ptxkit("sweep", kernel, "--preset", "all", "--device", "emu")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["ok"] for line in lines] == [True, False]
    for line in lines:
        assert not problems("sweep.json", line)


def test_a_bench_where_time_is_not_modelled(kernel: Path, tmp_path: Path) -> None:
    document = printed("bench", kernel, "--device", "emu", "--json")
    assert not problems("bench.json", document)
    earlier = tmp_path / "earlier.json"
    earlier.write_text(json.dumps(document))
    document = printed("bench", kernel, "--device", "emu", "--json", "--baseline", earlier)
    assert document["states"][0]["verdict"]
    assert not problems("bench.json", document)


def test_answers_of_desc_batch() -> None:
    from ptxkit.encodings.requests import answer_line

    requests: list[dict[str, Any]] = [
        {"op": "encode", "kind": "idesc.f16", "m": 128, "n": 256, "a": "bf16", "b": "bf16", "d": "f32"},
        {"op": "decode", "kind": "smem.tcgen05", "value": "0x4000404000010000"},
        {"op": "encode", "kind": "nothing"},
    ]
    answers = [json.loads(answer_line(json.dumps(request))) for request in requests]
    assert [next(iter(answer)) for answer in answers] == ["value", "fields", "error"]
    for answer in answers:
        assert not problems("desc.json#/$defs/answer", answer)


def test_a_trace(tmp_path: Path) -> None:
    out = tmp_path / "t.json"
    done = here("trace", "gemm_wgmma.ptx", "-o", out, "--ctas", 1)
    assert done.returncode == 0, done.stderr
    assert not problems("trace.json", json.loads(out.read_text()))


def test_machine_code(kernel: Path, tmp_path: Path) -> None:
    linker()
    out = tmp_path / "iota.cubin"
    assert not problems("asm.json", printed("asm", kernel, "-o", out, "--json"))
    if find() is None:
        pytest.skip("nvdisasm is not installed")
    assert not problems("sass.json", printed("sass", kernel, "--json"))
    assert not problems("sass.json", printed("sass", out, "--json"))


def records(kind: str) -> list[Path]:
    found = sorted((ROOT / "bench/results").rglob("*.json"))
    return [path for path in found if json.loads(path.read_text()).get("kind") == kind]


@pytest.mark.parametrize("kind", ["run", "bench"])
def test_records_have_the_form_of_their_version(kind: str) -> None:
    """Records may lack what was added since."""
    paths = records(kind)
    assert paths
    for path in paths:
        assert not problems(f"{kind}.json", json.loads(path.read_text()), OPEN), path.name


@pytest.mark.parametrize(
    ("change", "complaint"),
    [({"surplus": 1}, "surplus"), ({"errors": "none"}, "errors"), ({"schema": 2}, "schema")],
)
def test_what_a_schema_does_not_say_is_found(change: dict[str, Any], complaint: str) -> None:
    document = {**printed("check", "gemv.ptx", "--json"), **change}
    found = problems("diagnostics.json", document)
    assert len(found) == 1
    assert complaint in found[0]


def test_fmt(tmp_path: Path) -> None:
    (tmp_path / "good.ptx").write_text(CARD)
    (tmp_path / "bad.ptx").write_text("nonsense")
    document = printed("fmt", "--check", "--json", tmp_path, code=1)
    assert not problems("fmt.json", document)
    assert [each["changed"] for each in document["files"]] == [False, True]
    assert not problems("diagnostics.json", printed("check", "--fix", "--json", tmp_path, code=1))
