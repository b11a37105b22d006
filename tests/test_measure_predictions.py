"""tools/measure_predictions.py: predictions that were made before anybody timed the launches."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools import measure_predictions as tool
from tools.time_launches import Listing

KERNEL = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry empty() { ret; }
"""
LIST = """\
[[launch]]
file = "empty.ptx"
arguments = ["--grid", "4", "--block", "32"]
group = "empty"

[[launch]]
file = "empty.ptx"
arguments = ["--grid", "4", "--block", "32", "--entry", "other"]

[[launch]]
file = "unmade.ptx"
arguments = ["--grid", "1", "--block", "32"]
"""


@pytest.fixture
def listing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Listing:
    """A list of a launch that works, of one whose entry is not there, of one whose file is not."""
    (tmp_path / "empty.ptx").write_text(KERNEL)
    (tmp_path / "some.toml").write_text(LIST)
    monkeypatch.setattr("tools.time_launches.RECORDS", tmp_path)
    monkeypatch.setattr(tool, "RECORDS", tmp_path)
    return Listing(tmp_path / "some.toml", tmp_path)


def untimed_record(listing: Listing) -> dict[str, Any]:
    """What `--untimed` makes of a list, without processes of its own."""
    found = [tool.predicted_in_time(one) for one in tool.untimed(listing)]
    rows = [one for one in found if "why" not in one]
    return {"commit": "a", "untimed": True, "rows": rows, "failed": [one for one in found if "why" in one]}


def test_all_of_a_list_is_predicted_or_has_its_reason(listing: Listing) -> None:
    record = untimed_record(listing)
    (row,) = record["rows"]
    assert row["predicted"] > 0
    assert row["group"] == "empty"
    assert not row.keys() & {"measured", "error", "profiled_bound"}
    entry, file = (one["why"] for one in record["failed"])
    assert "other" in entry
    assert "could not be made" in file


def test_times_complete_it_and_change_no_prediction(listing: Listing) -> None:
    record = untimed_record(listing)
    arguments = ["--grid", "4", "--block", "32"]
    trial = {"median": 2e-6, "sm_clock": 1e9}
    times = [{"file": "empty.ptx", "arguments": arguments, "group": "empty", "trials": [trial]}]
    listing.record("times").write_text(json.dumps({"launches": times}))
    done = tool.completed(record, tool.timed(listing, {}))
    (row,) = done["rows"]
    assert row["measured"] == 2000
    assert row["predicted"] == record["rows"][0]["predicted"]
    assert row["error"] == round(row["predicted"] / 2000 - 1, 4)
    assert done["commit"] == "a"
    assert "untimed" not in done
    assert done["failed"] == record["failed"]
    assert sum(kind["launches"] for kind in done["summary"].values()) == 1
    with pytest.raises(SystemExit, match="already"):
        tool.completed(done, tool.timed(listing, {}))
    record["rows"] = []
    with pytest.raises(SystemExit, match="neither predicted"):
        tool.completed(record, tool.timed(listing, {}))


def test_a_launch_that_takes_too_long_is_given_up(listing: Listing, monkeypatch: pytest.MonkeyPatch) -> None:
    def forever(_: list[str]) -> int:
        """As the command does, it makes an exit code of whatever fails."""
        try:
            while True:
                pass
        except Exception:  # noqa: BLE001
            return 1

    monkeypatch.setattr(tool, "MOST_SECONDS", 1)
    monkeypatch.setattr(tool, "ptxkit", forever)
    found = tool.predicted_in_time(next(tool.untimed(listing)))
    assert found["why"] == "not predicted within 1 s"


def test_a_record_of_another_model_is_not_gone_on_with(
    listing: Listing, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tool.RECORDS / "predictions.some.blind.json"
    command = ["", "--untimed", "--list", str(listing.path), "--folder", str(listing.folder)]
    monkeypatch.setattr(sys, "argv", command)
    path.write_text(json.dumps({"rows": [], "failed": []}))
    with pytest.raises(SystemExit, match="already"):
        tool.main()
    monkeypatch.setattr(tool, "provenance", lambda: {"commit": "a", "modified": False})
    before = {"untimed": True, "commit": "b", "modified": False, "rows": []}
    before["failed"] = [{"file": Path(one.file).name, "name": one.name} for one in tool.untimed(listing)]
    path.write_text(json.dumps(before))
    monkeypatch.setattr(tool, "same_model", lambda commit: commit == "b")
    tool.main()
    monkeypatch.setattr(tool, "same_model", lambda commit: commit == "a")
    with pytest.raises(SystemExit, match="another model"):
        tool.main()


def test_the_model_is_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*words: str) -> str:
        command = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    monkeypatch.setattr(tool, "ROOT", tmp_path)
    package, other = tmp_path / "ptxkit" / "model.py", tmp_path / "other.py"
    package.parent.mkdir()
    git("init", "--quiet")
    for path in (package, other):
        path.write_text("a\n")
    git("add", "-A")
    git("commit", "--quiet", "-m", "a")
    first = git("rev-parse", "HEAD")
    other.write_text("b\n")
    git("commit", "--quiet", "-a", "-m", "b")
    assert tool.same_model(first)
    package.write_text("b\n")
    git("commit", "--quiet", "-a", "-m", "c")
    assert not tool.same_model(first)
    assert not tool.same_model("0" * 40)


def test_where_a_list_has_few_of_a_kind_older_ones_are_quoted_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool, "RECORDS", tmp_path)
    bounds = {
        "strangers": 50 * ["tensor"],
        "strangers2": 9 * ["tensor"] + 30 * ["DRAM"],
        "strangers10": 2 * ["tensor"] + 20 * ["DRAM"],
        "strangers11": 90 * ["tensor"],
    }
    for name, each in bounds.items():
        rows = [{"bound": bound, "error": 0.1} for bound in each]
        (tmp_path / f"predictions.{name}.blind.json").write_text(json.dumps({"rows": rows}))
    path = tmp_path / "predictions.strangers10.blind.json"
    found = tool.summary(tool.enough(json.loads(path.read_text())["rows"], path))
    assert {kind: one["launches"] for kind, one in found.items()} == {"memory": 20, "tensor": 11}
