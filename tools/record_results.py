"""Keep what `ptxkit run` and `bench --json`, bench/peers and tools/measure_driver.py wrote in bench/results.

    python tools/record_results.py DOCUMENT.json [--commit COMMIT] [--stem NAME]

The file becomes STEM.DEVICE.json: of a run `runs/gemv.h200.json` or `runs/gemv.emu.json`, which `ptxkit
kernels` reads; of a bench `gemv.bench.h200.json`, of kernels by turns with others'
`attn_dist.peers.h200.json`, of a measurement of the driver layer `driver.h200.json`. A document made where
there was no checkout has no commit: `--commit` names it. Each kernel text that the document names by its hash
must be the one of that commit.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "results"
FOLDERS = ("kernels_ptx", "bench/kernels")
RUN, BENCH, PEERS, DRIVER = "run", "bench", "peers", "driver measurement"
"""Kinds of documents."""


def git(*arguments: str) -> bytes | None:
    """What git prints; None where it fails."""
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def hashes(document: dict[str, Any]) -> dict[str, str]:
    """The hash of each kernel text in a document, by the file's name."""
    if document["kind"] == DRIVER:
        return {}
    files = document.get("files") or [document]
    return {file["file"]: file["sha256"] for file in files}


def without_folders(document: dict[str, Any]) -> dict[str, Any]:
    """A document that names its kernels by their files alone, wherever they lay."""
    files = [{**file, "file": Path(file["file"]).name} for file in document.get("files", ())]
    named = {"file": Path(document["file"]).name} if "file" in document else {}
    return {**document, **named, **({"files": files} if files else {})}


def check(document: dict[str, Any]) -> list[str]:
    """What stands against keeping a document."""
    if document.get("kind") not in (RUN, BENCH, PEERS, DRIVER):
        return ["it is no document of `ptxkit run --json`, `bench --json`, bench/peers or measure_driver.py"]
    commit = document.get("commit")
    if not commit:
        return ["it names no commit: add `--commit`"]
    problems = []
    if git("rev-parse", "--verify", f"{commit}^{{commit}}") is None:
        return [f"there is no commit {commit}"]
    for file, digest in hashes(document).items():
        texts = [git("show", f"{commit}:{folder}/{file}") for folder in FOLDERS]
        if digest not in [hashlib.sha256(text).hexdigest() for text in texts if text is not None]:
            problems.append(f"the text of {file} is not that of commit {commit}")
    return problems


def device_of(document: dict[str, Any]) -> str:
    """A short name of the device: `h200` for `NVIDIA H200`."""
    return str(document["device"]).lower().removeprefix("nvidia ").replace(" ", "-")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("document", type=Path)
    parser.add_argument("--commit", help="the commit that was measured, where the document names none")
    parser.add_argument("--stem", help="by default the first kernel's")
    chosen = parser.parse_args()
    document = without_folders(json.loads(chosen.document.read_text(encoding="utf-8")))
    if chosen.commit and not document.get("commit"):
        full = git("rev-parse", chosen.commit)
        document["commit"] = full.decode().strip() if full else chosen.commit
    problems = check(document)
    if problems:
        for problem in problems:
            print(f"{chosen.document}: {problem}", file=sys.stderr)
        return 1
    stem = chosen.stem or Path(next(iter(hashes(document)), "driver")).stem
    middle = f".{document['kind']}" if document["kind"] in (BENCH, PEERS) else ""
    folder = RESULTS / "runs" if document["kind"] == RUN else RESULTS
    path = folder / f"{stem}{middle}.{device_of(document)}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
