"""What `tools/compare_textures.py` calls equal, and what not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from compare.textures.emulated import run as emulate
from compare.textures.model import load, save
from compare.textures.run import Setting, compare, entries, trials_of

from ptxkit.emulator import Emulator

KINDS = (
    "tex.2d nearest texels",
    "tex.2d linear texels",
    "sust.b.2d zero",
    "tex.grad.2d nearest level nearest",
)


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting("sm_90", "8.1", 0, tmp_path, 0, 60)


def kept(setting: Setting, name: str) -> Path:
    """Answers of the emulator, kept as a GPU's."""
    entry = entries()[name]
    made = trials_of(entry, setting.seed)[:3]
    device = Emulator(arch=setting.target, jit=False)
    for trial in made:
        trial.answer, trial.after = emulate(device, entry.kind, trial, setting.target, setting.version)
    path = setting.folder / entry.kind.file
    save(path, entry.kind, made)
    return path


@pytest.mark.parametrize("name", KINDS)
def test_the_same_answers_are_equal(setting: Setting, name: str) -> None:
    kept(setting, name)
    _, verdict = compare((setting, name))
    assert (verdict.equal, verdict.differ, verdict.refused) == (verdict.fetches, 0, {})
    assert verdict.fetches >= 3 * 128


@pytest.mark.parametrize("name", KINDS[:2])
def test_other_answers_are_told(setting: Setting, name: str) -> None:
    """One bit of a fetch as it is, and a filtered value that is far off."""
    path = kept(setting, name)
    kind, made = load(path)
    answer = made[1].answer
    assert answer is not None
    answer = answer.copy()
    answer[0, 5] ^= np.uint32(1) if kind.judged == "bits" else np.uint32(0x40000000)
    made[1].answer = answer
    save(path, kind, made)
    _, verdict = compare((setting, name))
    assert (verdict.differ, verdict.within) == (1, 0)
    assert verdict.examples[0]["thread"] == 5


def test_texels_that_were_not_stored_are_told(setting: Setting) -> None:
    path = kept(setting, KINDS[2])
    kind, made = load(path)
    made[0].after = [made[0].after[0] ^ np.uint8(1)]
    save(path, kind, made)
    _, verdict = compare((setting, KINDS[2]))
    assert verdict.differ > 0


def test_answers_that_were_kept_stay_those_of_their_gpu(setting: Setting, tmp_path: Path) -> None:
    """The document says when the GPU answered to which seed, and what was compared with it when."""
    kept(setting, KINDS[0])
    about = {"gpu": "Card", "seed": 7, "date": "2026-01-02T03:04:05+00:00", "commit": "c0ffee"}
    (setting.folder / "about.json").write_text(json.dumps(about))
    output = tmp_path / "document.json"
    tool = str(Path(__file__).resolve().parents[1] / "tools" / "compare_textures.py")
    command = [sys.executable, tool, "--again", str(setting.folder), "--processes", "1"]
    subprocess.run([*command, "--output", str(output), "--note", "mended on these"], check=True)
    document = json.loads(output.read_text())
    assert {key: document[key] for key in about} == about
    assert document["note"] == "mended on these"
    assert document["emulator"]["date"] > about["date"]
    assert document["totals"]["equal"] == document["totals"]["fetches"] > 0
