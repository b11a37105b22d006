"""Compare sums of products that seldom occur with a GPU's: every floating-point `mma` and `wgmma`.

    python tools/compare_sums.py                       # writes bench/results/sums.<gpu>.json
    python tools/compare_sums.py --forms 'f16$'        # the spellings that contain the expression
    python tools/compare_sums.py --only emu --warps 24 --tiles 12    # no GPU: nothing is compared

Operands aim at what is rare among random numbers: results that end about zero or round to it, accumulators
of -0, halves of a unit, products far below the accumulator, cancellation, overflow, subnormal factors,
infinities and NaN (`AIMS` in tools/compare/aims.py). Results must be the same bits. Written down is for each
spelling how many sums were compared, how many of them are zeros of each sign, subnormal, ordinary, infinite
or NaN, and what differs. Needs a GPU of compute capability 9.0; on 16 cores half a minute. Exits with 1 where
anything differs.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from compare.aims import AIMS
from compare.arguments import common
from compare.sums import Tally, compare_products, compare_tiles, products

from ptxkit import open_device, targets
from ptxkit.diagnostics import PtxkitError
from ptxkit.driver import driver_version
from ptxkit.machine.provenance import provenance

RESULTS = Path(__file__).resolve().parents[1] / "bench" / "results"
TARGET = targets.TARGETS["sm_90a"]


def main() -> int:
    arguments = _arguments()
    pool = multiprocessing.get_context("fork").Pool(arguments.processes)
    started = time.monotonic()
    version = targets.NEWEST_VERSION
    device = None
    if arguments.only != "emu":
        version = min(targets.newest_version_for_cuda(driver_version()), version)
        try:
            device = open_device("cuda")
        except PtxkitError as missing:
            print(missing, file=sys.stderr)
            return 3
    chosen = products(TARGET, version, arguments.forms)
    found: dict[str, Tally] = {}
    seed = arguments.seed
    for part in (
        compare_products(device, pool, chosen, arguments.warps, TARGET, version, seed),
        compare_tiles(device, pool, arguments.tiles, arguments.forms, seed),
    ):
        for spelling, tally in part:
            found.setdefault(spelling, Tally()).add(tally)
    pool.close()
    total = Tally()
    for spelling, tally in found.items():
        total.add(tally)
        if tally.different:
            print(f"{spelling}: {tally.different} of {tally.sums} sums differ: {tally.by_aim}")
    seconds = round(time.monotonic() - started, 1)
    name = "emu" if device is None else device.name
    print(f"{name}: {len(found)} forms, {total.sums} sums, {total.different} different, {seconds} s")
    print(", ".join(f"{count} {kind}" for kind, count in total.outcomes.items()))
    path = arguments.output
    if path is None and device is not None and not arguments.forms:
        path = RESULTS / f"sums.{name.removeprefix('NVIDIA ').lower().replace(' ', '-')}.json"
    if path is not None:
        head = {
            "schema": 1,
            "kind": "sums",
            **provenance(),
            "gpu": None if device is None else name,
            "target": str(TARGET),
            "version": targets.show(version),
            "seed": seed,
            "warps": arguments.warps,
            "tiles": arguments.tiles,
            "seconds": seconds,
            "aims": [aim.name for aim in AIMS],
            "sums": total.sums,
            "different": total.different,
            "outcomes": total.outcomes,
        }
        path.write_text(_written(head, found))
    return 1 if total.different else 0


def _written(head: dict[str, object], found: dict[str, Tally]) -> str:
    """The document: one line a spelling."""
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    entries = []
    for spelling, tally in found.items():
        entry: dict[str, object] = {"spelling": spelling, "sums": tally.sums, "different": tally.different}
        entry["outcomes"] = tally.outcomes
        if tally.different:
            entry |= {"by aim": tally.by_aim, "examples": tally.examples}
        entries.append(f"    {json.dumps(entry)}")
    return "\n".join(["{", *lines, '  "forms": [', ",\n".join(entries), "  ]", "}", ""])


def _arguments() -> argparse.Namespace:
    parser = common(__doc__, 1, "keep the figures as JSON, there", "the emulator alone")
    parser.add_argument("--forms", default="", metavar="REGEX", help="spellings that contain it")
    parser.add_argument("--warps", type=int, default=7200, help="of each spelling of mma; a multiple of 4")
    parser.add_argument("--tiles", type=int, default=1440, help="of each variant of wgmma with 8 columns")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
