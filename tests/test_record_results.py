"""tools/record_results.py: what may be kept in bench/results."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
KEPT = {
    path: json.loads(path.read_text("utf-8")) for path in sorted((ROOT / "bench" / "results").rglob("*.json"))
}
RECORDED = [
    path for path, kept in KEPT.items() if kept.get("kind") in ("run", "bench", "peers", "driver measurement")
]
"""Those that tools/record_results.py writes."""


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("record_results", ROOT / "tools" / "record_results.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if module.git("rev-parse", "HEAD") is None:
        pytest.skip("this is no checkout")
    return module


def document(tool, **changes) -> dict:
    text = tool.git("show", "HEAD:kernels_ptx/gemv.ptx")
    digest = hashlib.sha256(text).hexdigest()
    return {"kind": "run", "commit": "HEAD", "file": "gemv.ptx", "sha256": digest, "device": "emu"} | changes


def test_what_names_its_commit_and_its_text_is_kept(tool) -> None:
    good = document(tool)
    files = [{"file": good["file"], "sha256": good["sha256"]}]
    assert tool.check(good) == []
    assert tool.check({"kind": "bench", "commit": "HEAD", "files": files}) == []
    assert tool.check({"kind": "peers", "commit": "HEAD", "files": files}) == []
    assert tool.check({"kind": "driver measurement", "commit": "HEAD"}) == []


def test_a_kernel_is_named_without_its_folder(tool) -> None:
    files = [{"file": "kernels_ptx/gemv.ptx", "sha256": "0"}]
    found = tool.without_folders({"kind": "bench", "files": files})
    assert found == {"kind": "bench", "files": [{"file": "gemv.ptx", "sha256": "0"}]}
    assert tool.check(tool.without_folders(document(tool, file="kernels_ptx/gemv.ptx"))) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "check"},
        {"commit": None},
        {"commit": "0123456789012345678901234567890123456789"},
        {"sha256": "0" * 64},
        {"file": "other.ptx"},
    ],
)
def test_what_does_not_is_refused(tool, changes: dict) -> None:
    assert len(tool.check(document(tool, **changes))) == 1


def test_devices_have_short_names(tool) -> None:
    assert [tool.device_of({"device": name}) for name in ("NVIDIA H200", "emu")] == ["h200", "emu"]


def test_results_of_every_kind_are_kept() -> None:
    assert {KEPT[path]["kind"] for path in RECORDED} == {"run", "bench", "peers", "driver measurement"}


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name)
def test_what_is_kept_says_where_it_comes_from(path: Path) -> None:
    kept = KEPT[path]
    assert kept["schema"] == 1
    assert kept["date"]
    assert kept["device"]
    assert kept.get("commit") or kept.get("note")
    assert path.name.split(".")[-2] == kept["device"].lower().removeprefix("nvidia ").replace(" ", "-")


def test_runs_lie_where_ptxkit_kernels_reads_them() -> None:
    runs = {path for path, kept in KEPT.items() if kept.get("kind") == "run"}
    assert runs
    assert runs == set((ROOT / "bench" / "results" / "runs").iterdir())
