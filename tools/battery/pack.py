"""The part of the battery that needs no compiler: PTX and expected results beside the sources.

For each source `packed/NAME.ptx` is what nvcc makes for one target at one level (`packed` in its frame), and
`packed/NAME.json` has the bits that each kernel must leave, or for inexact results the nearest ones.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterable

import numpy as np

from .build import compiler, expected, ptx, reference_dtype, references
from .execute import inputs_of
from .source import SOURCES, Kernel, Source

PACKED = SOURCES / "packed"


def pack(chosen: Iterable[Source]) -> None:
    """Write the packed part of those sources that have one."""
    PACKED.mkdir(exist_ok=True)
    for source in chosen:
        if not source.packed:
            continue
        target, level = source.packed.split()
        text = re.sub(r"^//[^\n]*\n|^\n", "", ptx(source, target, level), flags=re.M)
        head = f"// {source.name}.cu by {compiler()}, for sm_{target}, {level}\n"
        (PACKED / f"{source.name}.ptx").write_text(head + text, encoding="utf-8")
        library = references(source)
        kept = {
            kernel.name: [_packed(array) for array in expected(library, kernel, inputs_of(source, kernel))]
            for kernel in source.kernels.values()
            if not kernel.refused
        }
        lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(value)}" for name, value in kept.items())
        (PACKED / f"{source.name}.json").write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def packed(source: Source) -> dict[str, list[np.ndarray]]:
    """What a packed source's kernels must leave."""
    kept = json.loads((PACKED / f"{source.name}.json").read_text(encoding="utf-8"))
    return {name: _unpacked(source.kernels[name], texts) for name, texts in kept.items()}


def _packed(array: np.ndarray) -> str:
    if array.dtype == np.longdouble:
        # x87's numbers are not everyone's: as the sum of two doubles they keep their bits.
        high = array.astype(np.float64)
        with np.errstate(invalid="ignore"):
            low = (array - high).astype(np.float64)
        array = np.stack([high, low])
    return base64.b64encode(zlib.compress(array.tobytes(), 9)).decode()


def _unpacked(kernel: Kernel, texts: list[str]) -> list[np.ndarray]:
    arrays = []
    for array, text in zip(kernel.outputs, texts, strict=True):
        bits = zlib.decompress(base64.b64decode(text))
        dtype = reference_dtype(kernel, array)
        if dtype == np.longdouble:
            high, low = np.frombuffer(bits, np.float64).reshape(2, -1).astype(dtype)
            arrays.append(np.where(np.isfinite(high), high + np.nan_to_num(low), high))
        else:
            arrays.append(np.frombuffer(bits, dtype))
    return arrays
