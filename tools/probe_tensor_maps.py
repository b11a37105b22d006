"""Compare ptxkit's tensor maps with those that the CUDA driver encodes.

    python tools/probe_tensor_maps.py --out bench/results/tensor_maps.h200.json
    python tools/probe_tensor_maps.py --record tests/data/im2col_tensor_maps.txt

Needs a GPU of sm_90 or later, a few seconds of it. Compares byte for byte, for the target of the first GPU,
tiled and im2col maps: random legal ones; ones with one rule broken, which both must refuse; ones at the edge
of what the documentation says, by category; and the largest box. Exit 1 where anything differs. The maps are
those of tests/tensor_map_cases.py.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import tensor_map_cases as cases

import ptxkit
from ptxkit.descriptors import TensorMap
from ptxkit.diagnostics import PtxkitError
from ptxkit.encodings.tensor_maps.codes import L2_PROMOTION_CODES
from ptxkit.machine.provenance import provenance

MODES = ("tile", "im2col")
WIDE_MODES = ("W", "W128")


class Driver:
    """The encoders of the CUDA driver."""

    def __init__(self) -> None:
        from cuda.bindings import driver

        self.device = ptxkit.open_device("cuda")
        self.api = driver
        attribute = driver.CUdevice_attribute
        _, major = driver.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0)
        _, minor = driver.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0)
        self.number = int(major) * 10 + int(minor)

    @property
    def cuda(self) -> int:
        """The CUDA version that the driver speaks, 13000 for 13.0."""
        return int(self.api.cuDriverGetVersion()[1])

    def encode(self, mode: str, fields: cases.Fields) -> bytes | None:
        """The 128 bytes of a map, or None where the driver refuses it.

        The bindings hand over five dimensions at most, so a sixth is refused before the driver sees it. Where
        a list is empty they hand over no pointer; the driver wants one for the strides, which rank 1 has not.
        """
        api = self.api
        if len(fields["shape"]) > 5:
            return None
        tensor = (
            api.CUtensorMapDataType(cases.DRIVER_TYPES.index(fields["dtype"])),
            len(fields["shape"]),
            fields["address"],
            [api.cuuint64_t(size) for size in reversed(fields["shape"])],
            [api.cuuint64_t(stride) for stride in reversed(fields["strides"])] or [api.cuuint64_t(16)],
        )
        steps = [api.cuuint32_t(step) for step in reversed(fields["element_strides"])]
        interleave = api.CUtensorMapInterleave(cases.INTERLEAVES.index(fields["interleave"]))
        rest = (
            api.CUtensorMapSwizzle(cases.DRIVER_SWIZZLES.index(fields["swizzle"])),
            api.CUtensorMapL2promotion(list(L2_PROMOTION_CODES).index(fields["l2_promotion"])),
            api.CUtensorMapFloatOOBfill(cases.FILLS.index(fields["oob_fill"])),
        )
        if mode == "tile":
            box = [api.cuuint32_t(size) for size in reversed(fields["box"])]
            result, made = api.cuTensorMapEncodeTiled(*tensor, box, steps, interleave, *rest)
            return self._bytes(result, made)
        lower, upper = (list(reversed(fields[f"pixel_box_{side}_corner"])) for side in ("lower", "upper"))
        copy = (fields["channels_per_pixel"], fields["pixels_per_column"])
        if mode == "im2col":
            result, made = api.cuTensorMapEncodeIm2col(*tensor, lower, upper, *copy, steps, interleave, *rest)
        else:
            wide = api.CUtensorMapIm2ColWideMode(WIDE_MODES.index(mode))
            arguments = (*tensor, lower[0], upper[0], *copy, steps, interleave, wide, *rest)
            result, made = api.cuTensorMapEncodeIm2colWide(*arguments)
        return self._bytes(result, made)

    def _bytes(self, result: Any, made: Any) -> bytes | None:
        if result != self.api.CUresult.CUDA_SUCCESS:
            return None
        return b"".join(int(word).to_bytes(8, "little") for word in made.opaque)


def ours(fields: cases.Fields, target: str) -> tuple[bytes | None, str]:
    """ptxkit's bytes, or None and the message of the refusal."""
    try:
        return bytes(TensorMap(**fields, target=target)), ""
    except PtxkitError as refused:
        return None, f"{refused.diagnostics[0].code} {refused.diagnostics[0].message}"


# ---- comparing


def compare(driver: Any, mode: str, legal: int, illegal: int, seed: int) -> dict[str, Any]:
    """Counts of answers by section and category, and every disagreement."""
    draw = random.Random(seed)
    target = f"sm_{driver.number}a"
    disagreements: list[dict[str, Any]] = []

    def one(section: str, what: str, fields: cases.Fields) -> str:
        theirs = driver.encode(mode, fields)
        mine, why = ours(fields, target)
        if theirs is None and mine is None:
            return "both refuse"
        if theirs == mine:
            return "equal"
        entry = {"section": section, "what": what, "fields": fields}
        if theirs is None:
            answer = "the driver refuses"
        elif mine is None:
            answer, entry["why"] = "ptxkit refuses", why
        else:
            answer, entry["theirs"], entry["ours"] = "other bytes", theirs.hex(), mine.hex()
        disagreements.append({"answer": answer, **entry})
        return answer

    broken: dict[str, Counter[str]] = defaultdict(Counter)
    edges: dict[str, Counter[str]] = defaultdict(Counter)
    good = Counter(one("legal", "legal", cases.LEGAL[mode](draw, driver.number)) for _ in range(legal))
    for _ in range(illegal):
        what, fields = cases.broken_map(draw, driver.number, mode)
        broken[what][one("illegal", what, fields)] += 1
    for what, fields in cases.edge_maps(draw, driver.number, mode):
        edges[what][one("edge", what, fields)] += 1
    boxes = {size: one("edge", "largest box", fields) for size, fields in cases.boxes_near_the_limit(mode)}
    return {
        "legal": dict(good),
        "illegal": dict(sum(broken.values(), Counter())),
        "illegal by rule": {what: dict(counts) for what, counts in sorted(broken.items())},
        "edges": {what: dict(counts) for what, counts in sorted(edges.items())},
        "largest box": {
            "sizes": len(boxes),
            "largest taken by both": max((size for size in boxes if boxes[size] == "equal"), default=None),
            "smallest refused by both": min((s for s in boxes if boxes[s] == "both refuse"), default=None),
        },
        "disagreements": disagreements,
    }


def wide_maps(driver: Driver) -> dict[str, Any]:
    """Of im2col maps of modes W and W128, which ptxkit does not make, those that the driver makes."""
    swizzled = {**cases.IM2COL, "channels_per_pixel": 32, "swizzle": "64B"}
    changes = [("base", {}), *cases.im2col_variations()]
    made = {}
    try:
        for mode, (name, change) in itertools.product(WIDE_MODES, changes):
            encoded = driver.encode(mode, {**swizzled, **change})
            if encoded is not None:
                made[f"{mode} {name}"] = encoded.hex()
    except RuntimeError as missing:  # the bindings' word for a function that the driver does not have
        return {"asked": 0, "made": {}, "unavailable": str(missing)}
    return {"asked": len(WIDE_MODES) * len(changes), "made": made}


def record(driver: Driver, out: Path) -> None:
    """The im2col maps of `im2col_variations`, a line each."""
    lines = [
        f"# Tensor maps that cuTensorMapEncodeIm2col made on a {driver.device.name} (CUDA {driver.cuda}).",
        "# name | arguments of ptxkit.descriptors.TensorMap that differ from the base's | bytes, or refused",
    ]
    for name, change in (("base", cases.IM2COL), *cases.im2col_variations()):
        made = driver.encode("im2col", {**cases.IM2COL, **change})
        lines.append(f"{name} | {json.dumps(change)} | {made.hex() if made else 'refused'}")
    out.write_text("\n".join(lines) + "\n")
    print(f"{len(lines) - 2} maps in {out}")


# ---- the command


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--legal", type=int, default=2000, help="random legal maps of each mode")
    parser.add_argument(
        "--illegal", type=int, default=1000, help="random maps of each mode with one rule broken"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="keep the figures as JSON")
    parser.add_argument("--record", type=Path, metavar="FILE", help="only record im2col maps there")
    arguments = parser.parse_args()
    try:
        driver = Driver()
    except PtxkitError as missing:
        print(missing, file=sys.stderr)
        return 3
    if arguments.record:
        record(driver, arguments.record)
        return 0
    report = {
        mode: compare(driver, mode, arguments.legal, arguments.illegal, arguments.seed) for mode in MODES
    }
    print(f"{driver.device.name}, CUDA {driver.cuda}")
    for mode, found in report.items():
        for section in ("legal", "illegal", "largest box"):
            print(f"{mode}: {section}: {found[section]}")
        for what, counts in found["edges"].items():
            print(f"{mode}: edge: {what}: {counts}")
        for entry in found["disagreements"][:20]:
            print(json.dumps(entry))
    wide = wide_maps(driver)
    print(f"im2col wide: {len(wide['made'])} of {wide['asked']} made by the driver")
    if arguments.out:
        head = {
            "schema": 1,
            "kind": "tensor_maps",
            **provenance(),
            "gpu": driver.device.name,
            "cuda": driver.cuda,
        }
        document = {**head, "seed": arguments.seed, **report, "im2col wide": wide}
        arguments.out.write_text(json.dumps(document, indent=1) + "\n")
    return 1 if any(found["disagreements"] for found in report.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
