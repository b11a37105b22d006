"""Compare textures and surfaces with a GPU's: at least 2,000 random fetches of each kind.

    python tools/compare_textures.py --save DIR       # writes bench/results/textures.<gpu>.json
    python tools/compare_textures.py --again DIR      # no GPU: answers that were kept, with today's emulator
    python tools/compare_textures.py --only emu       # no GPU: nothing is compared

A kind is an instruction with a geometry, a filter and whether coordinates are normalized; each of its
trials has a random object (format, channels, extents, address modes, levels), made through the driver API on
the GPU, and one launch of 128 fetches of the same PTX on both devices. Results must be the same bits where
the CUDA C++ Programming Guide defines them; filtered ones may differ by a neighbouring weight of 8 bits,
as it does not say how a coordinate is rounded to one. A level that derivatives give may be off by 2/256, as
no document has a formula. How many are equal and how many within that is written down for each kind, and
what the driver refuses. `--save` keeps every object, input and answer of the GPU. Of a comparison with
answers that were kept the document has both: when the GPU answered, and as `emulator` what was compared with
it; `--note` is for what the emulator owes to these answers. On an H200 with 16 cores about three minutes.
Exits with 1 where anything differs.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from compare.arguments import common
from compare.textures.judge import Verdict
from compare.textures.run import Setting, compare, emulated, entries, measure

from ptxkit.diagnostics import PtxkitError
from ptxkit.machine.provenance import provenance

RESULTS = Path(__file__).resolve().parents[1] / "bench" / "results"
TARGET, VERSION = "sm_90", "8.1"
ABOUT = "about.json"
"""The file beside the answers that says which GPU gave them."""


def main() -> int:
    arguments = _arguments()
    names = [name for name in entries() if re.search(arguments.kinds, name)]
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.again or arguments.save or Path(temporary)
        setting = Setting(TARGET, VERSION, arguments.seed, folder, arguments.ordinal, arguments.patience)
        about: dict[str, Any] = {"gpu": None, **provenance()}
        if arguments.again is not None:
            about = json.loads((folder / ABOUT).read_text()) | {"emulator": provenance()}
            names = [name for name in names if (folder / entries()[name].kind.file).exists()]
        elif arguments.only != "emu":
            about = _measure(setting, names)
        does = emulated if arguments.only == "emu" else compare
        with multiprocessing.get_context("fork").Pool(arguments.processes) as pool:
            found = dict(pool.imap_unordered(does, [(setting, name) for name in names]))
    verdicts = {name: found[name] for name in names}
    head = {
        "schema": 1,
        "kind": "textures",
        **({"note": arguments.note} if arguments.note else {}),
        "seed": arguments.seed,
        **about,
        "seconds": round(time.monotonic() - started, 1),
        "totals": _totals(verdicts),
    }
    output = arguments.output
    if output is None and about["gpu"] and not arguments.kinds:
        output = RESULTS / f"textures.{about['gpu'].removeprefix('NVIDIA ').lower().replace(' ', '-')}.json"
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(_written(head, verdicts))
    return _report(head, verdicts, output)


def _measure(setting: Setting, names: list[str]) -> dict[str, Any]:
    """Let the GPU answer. Returns which it is."""
    from ptxkit.driver import CudaDevice

    device = CudaDevice(setting.ordinal)
    about = {"gpu": device.name, "seed": setting.seed, **provenance()}
    device.close()
    setting.folder.mkdir(parents=True, exist_ok=True)
    (setting.folder / ABOUT).write_text(json.dumps(about, indent=1) + "\n")

    def done(name: str, problem: str) -> None:
        print(f"{name}: {problem or 'answered'}", file=sys.stderr, flush=True)

    measure(setting, names, done)
    return about


def _totals(verdicts: dict[str, Verdict]) -> dict[str, int]:
    every = verdicts.values()
    return {
        "kinds": len(verdicts),
        "kinds_compared": sum(verdict.fetches > 0 for verdict in every),
        "fetches": sum(verdict.fetches for verdict in every),
        "equal": sum(verdict.equal for verdict in every),
        "within_tolerance": sum(verdict.within for verdict in every),
        "undefined": sum(verdict.noted for verdict in every),
        "different": sum(verdict.differ for verdict in every),
    }


def _written(head: dict[str, Any], verdicts: dict[str, Verdict]) -> str:
    """The document: one line a kind."""
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    kinds = entries()
    rows = []
    for name, verdict in verdicts.items():
        row: dict[str, Any] = {"name": name, "judged": kinds[name].kind.judged, "fetches": verdict.fetches}
        row |= {"equal": verdict.equal, "within": verdict.within, "noted": verdict.noted}
        row["differ"] = verdict.differ
        more = {"note": kinds[name].kind.note, "refused": verdict.refused, "examples": verdict.examples}
        rows.append(f"    {json.dumps(row | {key: value for key, value in more.items() if value})}")
    return "\n".join(["{", *lines, '  "kinds": [', ",\n".join(rows), "  ]", "}", ""])


def _report(head: dict[str, Any], verdicts: dict[str, Verdict], output: Path | None) -> int:
    for name, verdict in verdicts.items():
        if verdict.fetches != verdict.equal or verdict.refused:
            counts = (
                f"{verdict.equal} equal, {verdict.within} within the tolerance, {verdict.noted} undefined, "
                f"{verdict.differ} different"
            )
            print(f"{name}: {counts} of {verdict.fetches}")
            for reason, count in verdict.refused.items():
                print(f"    {count} trials: {reason}")
    for key, value in head["totals"].items():
        print(f"{key.replace('_', ' ')}: {value}")
    print(f"{head['seconds']} s" + (f", written to {output}" if output else ""))
    return 1 if head["totals"]["different"] else 0


def _arguments() -> argparse.Namespace:
    document = "the document; by default bench/results/textures.<gpu>.json"
    parser = common(__doc__, 0, document, "the emulator alone: nothing is compared")
    parser.add_argument("--kinds", default="", metavar="REGEX", help="those whose names contain it: tld4")
    parser.add_argument("--save", type=Path, metavar="DIR", help="keep objects, inputs and the GPU's answers")
    parser.add_argument("--again", type=Path, metavar="DIR", help="compare answers that were kept")
    parser.add_argument("--note", default="", metavar="TEXT", help="what the document says of the comparison")
    parser.add_argument("--ordinal", type=int, default=0, help="which GPU")
    parser.add_argument("--patience", type=float, default=60, help="seconds that a GPU has for a kind")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PtxkitError as problem:
        print(problem, file=sys.stderr)
        sys.exit(3)
