"""What the tool that checks other compilers' output says of files that pass and of some that don't."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from ptxkit import targets
from tools.compilers import nvcc_sources
from tools.compilers.__main__ import examine, folder, main
from tools.compilers.packages import demand, versions

ROOT = Path(__file__).parents[1]
BODY = ".target sm_90a\n.address_size 64\n.entry k() {{ .reg .b32 %r<2>;\n{}\nret;\n}}\n"
SOUND = "mov.u32 %r1, %tid.x; bar.sync 0;\nst.shared.b32 [%r1], %r1;"


@pytest.mark.parametrize(
    ("version", "body", "passes", "codes"),
    [
        ("8.8", SOUND, True, set()),
        ("9.4", SOUND, True, set()),
        ("9.6", SOUND, True, {"note P303"}),
        ("9.6", "mov.u32 %r1, %tid.x; add.u31 %r1, %r1, %r1;", False, {"note P303", "error P213"}),
    ],
)
def test_a_file(tmp_path, version, body, passes, codes):
    path = tmp_path / "some.ptx"
    path.write_text(f".version {version}\n{BODY.format(body)}")
    found = examine(path)
    assert found["passes"] is passes
    assert {code for code in found["findings"] if "warning" not in code} == codes
    assert found["ptxas"].startswith("not asked") is (version != "8.8")


def test_what_a_compiler_made(tmp_path, monkeypatch, capsys):
    (tmp_path / "about.json").write_text(json.dumps({"compiler": "X", "versions": {"x": "1"}, "failed": {}}))
    (tmp_path / "a.ptx").write_text(f".version 9.4\n{BODY.format(SOUND)}")
    out = tmp_path / "out.json"
    monkeypatch.setattr(sys, "argv", ["compilers", str(tmp_path), "--out", str(out)])
    assert main() == 0
    assert capsys.readouterr().out == "x 1: 1 of 1 pass, 1 of a newer version\n"
    record = json.loads(out.read_text())
    assert record["made"][0]["files"] == folder(tmp_path)["files"]
    assert record["made"][0]["date"] == record["date"]
    (tmp_path / "b.ptx").write_text(f".version 9.4\n{BODY.format('nonsense;')}")
    assert main() == 1


def test_others_stay_where_some_are_added(tmp_path, monkeypatch):
    out = tmp_path / "out.json"
    for name, arguments in (("X", []), ("Y", ["--add"]), ("Y", [])):
        made = tmp_path / name
        made.mkdir(exist_ok=True)
        (made / "about.json").write_text(json.dumps({"compiler": name, "versions": {"x": "1"}, "failed": {}}))
        (made / "a.ptx").write_text(f".version 9.4\n{BODY.format(SOUND)}")
        monkeypatch.setattr(sys, "argv", ["compilers", str(made), "--out", str(out), *arguments])
        assert main() == 0
        made_now = json.loads(out.read_text())["made"]
        assert [compiler["compiler"] for compiler in made_now] == (["Y", "X"] if arguments else [name])
        if name == "X":
            out.write_text(out.read_text().replace(made_now[0]["date"], "2020-01-01T00:00:00+00:00"))
        elif arguments:
            assert [compiler["date"][:4] == "2020" for compiler in made_now] == [False, True]


def test_packages_that_are_missing_are_named():
    assert set(versions("pytest", "no-such-package")) == {"pytest"}
    demand("pytest", "pytest")
    with pytest.raises(SystemExit, match="has no no-such-package: pip install 'some\\[extra\\]'"):
        demand("'some[extra]'", "pytest", "no-such-package")


def test_what_a_compiler_did_not_finish_is_not_kept(tmp_path, monkeypatch):
    nvcc = tmp_path / "nvcc"
    nvcc.write_text('#!/bin/sh\nfor out in "$@"; do :; done\necho half > "$out"\nexec sleep 20\n')
    nvcc.chmod(0o755)
    monkeypatch.setattr(nvcc_sources, "TIMEOUT", 0.3)
    out = tmp_path / "a.ptx"
    why = nvcc_sources.build(str(nvcc), [], tmp_path / "a.cu", "sm_90a", out)
    assert why == "nvcc took longer than 0 s"
    assert not out.exists()


WROTE = {
    "Triton": {"sm_80", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_120a"},
    "CuTe DSL": {"sm_90a", "sm_100a"},
    "CUTLASS": {"sm_90a", "sm_100a"},
    "nvcc": {*targets.SUPPORTED},
    "numba-cuda": {"sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120"},
    "Mosaic GPU": {"sm_90a", "sm_100a", "sm_103a"},
    "cuda-tile": {"sm_80", "sm_90a", "sm_100a", "sm_103a", "sm_107a", "sm_110a", "sm_120a", "sm_121a"},
}


def test_what_is_recorded_passes():
    record = ROOT / "bench" / "results" / "compilers.json"
    made = json.loads(record.read_text(encoding="utf-8"))["made"]
    assert {compiler["compiler"] for compiler in made} == set(WROTE)
    for compiler in made:
        assert {file["target"] for file in compiler["files"]} >= WROTE[compiler["compiler"]]
        assert all(file["passes"] and not file["errors"] for file in compiler["files"])
