"""Compare ptxkit's tensor maps with those that the CUDA driver encodes, and record im2col maps.

    python tools/probe_tensor_maps.py                       # compare 2,000 legal and 1,000 illegal maps
    python tools/probe_tensor_maps.py --out result.json     # and keep the figures
    python tools/probe_tensor_maps.py --im2col vectors.txt  # record im2col maps, and which bits each moves

Needs a GPU of sm_90 or later. Compares byte for byte, for the target of the first GPU: random legal maps;
maps with one rule broken, which both must refuse; and maps at the edge of what the documentation says, where
the driver's own answer is printed by category. Exit 1 where anything differs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import ptxkit
from ptxkit.descriptors import TensorMap
from ptxkit.descriptors.tensor_maps import (
    L2_PROMOTION_CODES,
    PADDED,
    PADDED_SWIZZLES,
    SUB_BYTE,
    SWIZZLE_SPAN,
    shared_bits,
)
from ptxkit.diagnostics import PtxkitError
from ptxkit.dtypes import DTYPES

DRIVER_TYPES = (
    "u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32.ftz", "tf32", "tf32.ftz",
    "b4x16", "b4x16_p64", "b6x16_p32",
)  # fmt: skip
"""Element types in the order of CUtensorMapDataType."""
DRIVER_SWIZZLES = ("none", "32B", "64B", "128B", "128B-32B-atom", "128B-32B-atom-8B-flip", "128B-64B-atom")
INTERLEAVES = ("none", "16B", "32B")
FILLS = ("zero", "nan")

Fields = dict[str, Any]


# ---- random maps


def legal_map(draw: random.Random, major: int) -> Fields:
    """A map that the documentation allows on that architecture (90, 100, ..)."""
    types = DRIVER_TYPES if major >= 100 else DRIVER_TYPES[:13]
    dtype = draw.choice(types)
    interleave = "none" if dtype in SUB_BYTE else draw.choice(("none", "none", "none", "16B", "32B"))
    rank = draw.randint(3 if interleave != "none" else 1, 5)
    swizzles = DRIVER_SWIZZLES if major >= 100 else DRIVER_SWIZZLES[:4]
    swizzle = "32B" if interleave == "32B" else draw.choice(PADDED_SWIZZLES.get(dtype, swizzles))
    wide = 32 if interleave == "32B" or dtype in PADDED else 16
    unit = 128 // shared_bits(dtype)
    span = SWIZZLE_SPAN.get(swizzle.partition("-")[0], 10**9) if interleave == "none" else 10**9
    inner = 128 if dtype in PADDED else unit * draw.randint(1, max(1, min(256 // unit, span // 16)))
    multiple = 128 if dtype in PADDED else 2 if dtype == "b4x16" else 1
    shape = [draw.choice((draw.randint(1, 4096), draw.randint(1, 2**20), 1, 64)) for _ in range(rank)]
    shape[-1] = max(multiple, shape[-1] // multiple * multiple)
    strides, least = [], -(-shape[-1] * (DTYPES[dtype].bits // DTYPES[dtype].lanes) // 8)
    for size in reversed(shape[:-1]):
        stride = min(-(-least // wide) * wide + wide * draw.choice((0, 0, 1, 7)), 2**40 - wide)
        strides.insert(0, stride)
        least = stride * size
    box = [draw.choice((1, 2, 8, draw.randint(1, 32))) for _ in range(rank - 1)]
    element_strides = [draw.choice((1, 1, 1, draw.randint(1, 8))) for _ in range(rank - 1)] + [1]
    floating = DTYPES[dtype].is_float
    return {
        "dtype": dtype,
        "address": wide * draw.randrange(1, 2**40),
        "shape": shape,
        "strides": strides,
        "box": [*box, inner],
        "element_strides": element_strides,
        "interleave": interleave,
        "swizzle": swizzle,
        "l2_promotion": draw.choice(list(L2_PROMOTION_CODES)),
        "oob_fill": draw.choice(FILLS) if floating else "zero",
    }


def broken_map(draw: random.Random, major: int) -> tuple[str, Fields]:
    """A legal map with one rule broken, and which."""
    while True:
        fields = legal_map(draw, major)
        rank = len(fields["shape"])
        at = draw.randrange(rank)
        options: dict[str, Fields] = {
            "address off by 8": {"address": fields["address"] + 8},
            "box of 0": {"box": changed(fields["box"], at, 0)},
            "box of 257": {"box": changed(fields["box"], at, 257)},
            "element stride of 0": {"element_strides": changed(fields["element_strides"], max(0, at - 1), 0)},
            "element stride of 9": {"element_strides": changed(fields["element_strides"], max(0, at - 1), 9)},
            "size of 0": {"shape": changed(fields["shape"], at, 0)},
            "size above 2^32": {"shape": changed(fields["shape"], at, 2**32 + 1)},
            "unknown rank": {"shape": fields["shape"] + [1] * (6 - rank), "strides": [16] * 5}
            | {"box": [1] * (6 - rank) + fields["box"], "element_strides": [1] * 6},
        }
        if rank > 1:
            strides = fields["strides"]
            options["stride off by 8"] = {"strides": changed(strides, 0, strides[0] + 8)}
            options["stride of 2^40"] = {"strides": changed(strides, 0, 2**40)}
        if fields["interleave"] == "none":
            options["inner box off 16 bytes"] = {"box": changed(fields["box"], rank - 1, 1)}
            if shared_bits(fields["dtype"]) < 128:
                options["inner box beyond the swizzle"] = {
                    "swizzle": "32B",
                    "box": changed(fields["box"], -1, 256),
                }
        if fields["interleave"] == "32B":
            options["32B interleave, other swizzle"] = {"swizzle": "64B"}
            options["32B interleave, address off by 16"] = {"address": fields["address"] + 16}
        if rank < 3:
            options["interleave of few dimensions"] = {"interleave": "16B"}
        if not DTYPES[fields["dtype"]].is_float:
            options["NaN fill of integers"] = {"oob_fill": "nan"}
        if major < 100:
            options["type of sm_100"] = {"dtype": "b4x16"}
            options["swizzle of sm_100"] = {"swizzle": "128B-32B-atom"}
        what = draw.choice(sorted(options))
        broken = {**fields, **options[what]}
        if broken != fields:
            return what, broken


def changed(values: list[int], at: int, value: int) -> list[int]:
    new = list(values)
    new[at] = value
    return new


def edge_maps(draw: random.Random, major: int) -> Iterator[tuple[str, Fields]]:
    """Maps that the documentation leaves open, several of each sort."""
    for _ in range(20):
        fields = legal_map(draw, major)
        rank = len(fields["shape"])
        if fields["interleave"] == "none":
            yield (
                "inner element stride, no interleave",
                {
                    **fields,
                    "element_strides": changed(fields["element_strides"], -1, draw.randint(2, 8)),
                },
            )
        else:
            yield (
                "inner element stride, interleave",
                {
                    **fields,
                    "element_strides": changed(fields["element_strides"], -1, draw.randint(2, 8)),
                },
            )
            yield "interleave, inner box of 1", {**fields, "box": changed(fields["box"], -1, 1)}
            yield (
                "interleave 16B, every swizzle",
                {
                    **fields,
                    "interleave": "16B",
                    "swizzle": draw.choice(DRIVER_SWIZZLES[:4]),
                },
            )
        if rank > 1:
            yield "stride of 0", {**fields, "strides": changed(fields["strides"], 0, 0)}
            yield "strides that overlap", {**fields, "strides": [32] * (rank - 1)}
            yield "strides that shrink outward", {**fields, "strides": fields["strides"][::-1]}
        yield "box larger than the tensor", {**fields, "shape": [1] * (rank - 1) + [fields["shape"][-1]]}
        yield "box larger than shared memory", {**fields, "box": [256] * (rank - 1) + [fields["box"][-1]]}
        yield "size of 2^32", {**fields, "shape": changed(fields["shape"], 0, 2**32)}
        yield "address of 0", {**fields, "address": 0}
        yield "address beyond 2^48", {**fields, "address": 2**50}
        if DTYPES[fields["dtype"]].is_float:
            yield "NaN fill of every float", {**fields, "oob_fill": "nan"}


# ---- the driver


class Driver:
    """The encoders of the CUDA driver."""

    def __init__(self) -> None:
        from cuda.bindings import driver

        self.device = ptxkit.open_device("cuda")
        self.api = driver
        self.major = self._capability()

    def _capability(self) -> int:
        api = self.api
        attribute = api.CUdevice_attribute
        _, major = api.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0)
        _, minor = api.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0)
        return int(major) * 10 + int(minor)

    def version(self) -> int:
        return int(self.api.cuDriverGetVersion()[1])

    def shared_arguments(self, fields: Fields) -> dict[str, Any]:
        api = self.api
        return {
            "dtype": api.CUtensorMapDataType(DRIVER_TYPES.index(fields["dtype"])),
            "sizes": [api.cuuint64_t(v) for v in reversed(fields["shape"])],
            "strides": [api.cuuint64_t(v) for v in reversed(fields["strides"])],
            "element_strides": [api.cuuint32_t(v) for v in reversed(fields["element_strides"])],
            "interleave": api.CUtensorMapInterleave(INTERLEAVES.index(fields["interleave"])),
            "swizzle": api.CUtensorMapSwizzle(DRIVER_SWIZZLES.index(fields["swizzle"])),
            "l2": api.CUtensorMapL2promotion(list(L2_PROMOTION_CODES).index(fields["l2_promotion"])),
            "fill": api.CUtensorMapFloatOOBfill(FILLS.index(fields["oob_fill"])),
        }

    def tiled(self, fields: Fields) -> bytes | None:
        """The 128 bytes of a tiled map, or None where the driver refuses it.

        The bindings hand over five dimensions at most, so a sixth is refused before the driver sees it.
        """
        api, given = self.api, self.shared_arguments(fields)
        if len(fields["shape"]) > 5:
            return None
        result, made = api.cuTensorMapEncodeTiled(
            given["dtype"],
            len(fields["shape"]),
            fields["address"],
            given["sizes"],
            given["strides"],
            [api.cuuint32_t(v) for v in reversed(fields["box"])],
            given["element_strides"],
            given["interleave"],
            given["swizzle"],
            given["l2"],
            given["fill"],
        )
        return self._bytes(result, made)

    def im2col(self, fields: Fields) -> bytes | None:
        """The 128 bytes of an im2col map, or None where the driver refuses it."""
        api, given = self.api, self.shared_arguments(fields)
        result, made = api.cuTensorMapEncodeIm2col(
            given["dtype"],
            len(fields["shape"]),
            fields["address"],
            given["sizes"],
            given["strides"],
            list(reversed(fields["lower"])),
            list(reversed(fields["upper"])),
            fields["channels"],
            fields["pixels"],
            given["element_strides"],
            given["interleave"],
            given["swizzle"],
            given["l2"],
            given["fill"],
        )
        return self._bytes(result, made)

    def im2col_wide(self, fields: Fields, mode: int) -> bytes | None:
        """The 128 bytes of an im2col map of mode W (0) or W128 (1), or None where the driver refuses it."""
        api, given = self.api, self.shared_arguments(fields)
        result, made = api.cuTensorMapEncodeIm2colWide(
            given["dtype"],
            len(fields["shape"]),
            fields["address"],
            given["sizes"],
            given["strides"],
            fields["lower"][-1],
            fields["upper"][-1],
            fields["channels"],
            fields["pixels"],
            given["element_strides"],
            given["interleave"],
            api.CUtensorMapIm2ColWideMode(mode),
            given["swizzle"],
            given["l2"],
            given["fill"],
        )
        return self._bytes(result, made)

    def _bytes(self, result: Any, made: Any) -> bytes | None:
        if result != self.api.CUresult.CUDA_SUCCESS:
            return None
        return b"".join(int(word).to_bytes(8, "little") for word in made.opaque)


def ours(fields: Fields, target: str) -> tuple[bytes | None, str]:
    """ptxkit's bytes, or None and the message of the refusal."""
    try:
        return bytes(TensorMap(**fields, target=target)), ""
    except PtxkitError as refused:
        return None, f"{refused.diagnostics[0].code} {refused.diagnostics[0].message}"


# ---- comparing


def compare(driver: Driver, legal: int, illegal: int, seed: int) -> dict[str, Any]:
    """Counts and every disagreement."""
    draw = random.Random(seed)
    target = f"sm_{driver.major}a"
    report: dict[str, Any] = {"legal": Counter(), "illegal": Counter(), "edges": {}, "disagreements": []}

    def one(section: str, what: str, fields: Fields) -> str:
        theirs = driver.tiled(fields)
        mine, why = ours(fields, target)
        if theirs is None and mine is None:
            answer = "both refuse"
        elif theirs is None or mine is None:
            answer = "the driver refuses" if theirs is None else "ptxkit refuses"
        else:
            answer = "equal" if theirs == mine else "other bytes"
        if answer not in ("equal", "both refuse"):
            entry = {"section": section, "what": what, "answer": answer, "fields": fields, "why": why}
            if theirs and mine:
                entry["theirs"], entry["ours"] = theirs.hex(), mine.hex()
            report["disagreements"].append(entry)
        return answer

    for _ in range(legal):
        report["legal"][one("legal", "legal", legal_map(draw, driver.major))] += 1
    for _ in range(illegal):
        what, fields = broken_map(draw, driver.major)
        report["illegal"][one("illegal", what, fields)] += 1
    edges: dict[str, Counter[str]] = defaultdict(Counter)
    for what, fields in edge_maps(draw, driver.major):
        edges[what][one("edge", what, fields)] += 1
    report["edges"] = {what: dict(counts) for what, counts in sorted(edges.items())}
    return report


# ---- im2col


IM2COL: Fields = {
    "dtype": "f16",
    "address": 1 << 20,
    "shape": [8, 16, 32, 64],
    "strides": [64 * 32 * 16 * 2, 64 * 32 * 2, 64 * 2],
    "element_strides": [1, 1, 1, 1],
    "lower": [0, 0],
    "upper": [0, 0],
    "channels": 64,
    "pixels": 128,
    "interleave": "none",
    "swizzle": "128B",
    "l2_promotion": "none",
    "oob_fill": "zero",
}
IM2COL_3D = {"shape": [8, 32, 64], "strides": [64 * 32 * 2, 64 * 2], "element_strides": [1] * 3}
IM2COL_5D = {
    "shape": [8, 4, 16, 32, 64],
    "strides": [64 * 32 * 16 * 4 * 2, 64 * 32 * 16 * 2, 64 * 32 * 2, 128],
    "element_strides": [1] * 5,
}


def im2col_variations() -> Iterator[tuple[str, Fields]]:
    """One parameter at a time away from the base, by every bit of it."""
    yield "base", {}
    for bit in range(10):
        yield f"pixels {1 << bit}", {"pixels": 1 << bit}
    yield "pixels 1024", {"pixels": 1024}
    for bit in range(3, 7):
        yield f"channels {1 << bit}", {"channels": 1 << bit}
    for value in (1, 2, 4, 8, 16, 32, 64, 128, 256):
        yield f"channels {value} unswizzled u8", {"channels": value, "swizzle": "none", "dtype": "u8"}
    for side, axis, bit in itertools.product(("lower", "upper"), (0, 1), range(7)):
        for sign in (1, -1):
            value = [0, 0]
            value[axis] = sign << bit
            yield (
                f"{side}{axis} {sign << bit}",
                {side: value, **({"shape": [8, 600, 600, 64]} if bit > 3 else {})},
            )
    for bit, sign, side in itertools.product(range(15), (1, -1), ("lower", "upper")):
        wide = {**IM2COL_3D, "shape": [8, 100000, 64], "strides": [64 * 100000 * 2, 128]}
        yield f"3d {side} {sign << bit}", {**wide, "lower": [0], "upper": [0], side: [sign << bit]}
    for axis, bit, sign, side in itertools.product(range(3), range(4), (1, -1), ("lower", "upper")):
        value = [0, 0, 0]
        value[axis] = sign << bit
        deep = {**IM2COL_5D, "shape": [8, 40, 40, 40, 64], "lower": [0] * 3, "upper": [0] * 3}
        strides = [64 * 40**3 * 2, 64 * 40**2 * 2, 64 * 40 * 2, 128]
        yield f"5d {side}{axis} {sign << bit}", {**deep, "strides": strides, side: value}
    yield "3d", {**IM2COL_3D, "lower": [0], "upper": [0]}
    yield "5d", {**IM2COL_5D, "lower": [0] * 3, "upper": [0] * 3}
    for axis, step in itertools.product(range(4), range(2, 9)):
        steps = [1] * 4
        steps[axis] = step
        yield f"element_stride{axis} {step}", {"element_strides": steps}
    for dtype in DRIVER_TYPES:
        yield (
            f"dtype {dtype}",
            {"dtype": dtype, "channels": 128 if dtype in PADDED else 16, "swizzle": "none"},
        )
    for swizzle in DRIVER_SWIZZLES:
        yield f"swizzle {swizzle}", {"swizzle": swizzle, "channels": 16}
    for interleave, swizzle in (("16B", "none"), ("16B", "32B"), ("32B", "32B")):
        yield f"interleave {interleave} {swizzle}", {
            **IM2COL_5D, "lower": [0] * 3, "upper": [0] * 3, "interleave": interleave, "swizzle": swizzle,
            "channels": 8,
        }  # fmt: skip
    for promotion in L2_PROMOTION_CODES:
        yield f"l2_promotion {promotion}", {"l2_promotion": promotion}
    yield "oob_fill nan", {"oob_fill": "nan"}
    for name, value in (
        ("pixels", 0),
        ("pixels", 1025),
        ("channels", 0),
        ("channels", 257),
        ("channels", 72),
    ):
        yield f"refused? {name} {value}", {name: value}
    for side, value in itertools.product(("lower", "upper"), ([128, 0], [-129, 0], [0, 127], [0, -128])):
        yield f"refused? {side} {value}", {side: value}
    yield "refused? empty box", {"upper": [-16, 0]}


def record_im2col(driver: Driver, out: Path) -> None:
    """The vectors, and for each variation which bits differ from the base."""
    lines = [
        f"# im2col tensor maps of the CUDA driver {driver.version()} on compute capability {driver.major}."
    ]
    lines += [f"# base: {json.dumps(IM2COL)}", "# name | changed parameters | bytes, or refused"]
    base = driver.im2col(IM2COL)
    for mode, encode in (
        ("im2col", driver.im2col),
        ("w", lambda fields: driver.im2col_wide(fields, 0)),
        ("w128", lambda fields: driver.im2col_wide(fields, 1)),
    ):
        for name, change in im2col_variations():
            fields = {**IM2COL, **change}
            made = encode(fields)
            lines.append(f"{mode} {name} | {json.dumps(change)} | {made.hex() if made else 'refused'}")
            if made and base:
                bits = differing_bits(base, made)
                lines.append(f"#   bits that differ from the base: {bits}")
        if mode == "im2col" and driver.major < 100:
            lines.append("# im2col_wide needs compute capability 10.0")
            break
    out.write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} lines in {out}")


def differing_bits(base: bytes, other: bytes) -> str:
    """`0x34: 15-23, 24` for each 32-bit word."""
    words = []
    for at in range(0, 128, 4):
        change = int.from_bytes(base[at : at + 4], "little") ^ int.from_bytes(other[at : at + 4], "little")
        if change:
            words.append(f"{at:#04x}: {','.join(str(bit) for bit in range(32) if change >> bit & 1)}")
    return "; ".join(words) or "none"


# ---- the command


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--legal", type=int, default=2000, help="random legal maps")
    parser.add_argument("--illegal", type=int, default=1000, help="random maps with one rule broken")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="keep the figures as JSON")
    parser.add_argument("--im2col", type=Path, metavar="FILE", help="record im2col maps there")
    arguments = parser.parse_args()
    try:
        driver = Driver()
    except PtxkitError as missing:
        print(missing, file=sys.stderr)
        return 3
    if arguments.im2col:
        record_im2col(driver, arguments.im2col)
        return 0
    report = compare(driver, arguments.legal, arguments.illegal, arguments.seed)
    print(f"{driver.device.name}, driver {driver.version()}")
    print(f"legal:   {dict(report['legal'])}")
    print(f"illegal: {dict(report['illegal'])}")
    for what, counts in report["edges"].items():
        print(f"edge:    {what}: {counts}")
    for entry in report["disagreements"][:30]:
        print(json.dumps(entry))
    if arguments.out:
        head = {
            "schema": 1,
            "date": date.today().isoformat(),
            "gpu": driver.device.name,
            "driver": driver.version(),
        }
        arguments.out.write_text(json.dumps({**head, "seed": arguments.seed, **report}, indent=1) + "\n")
    return 1 if report["disagreements"] else 0


if __name__ == "__main__":
    sys.exit(main())
