"""Textures of an emulator for tests: objects of numpy arrays, and fetches of one instruction each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ptxkit.emulator import Emulator
from ptxkit.emulator.global_memory import BASE
from ptxkit.emulator.texels.arrays import ArrayShape, TexelArray, allocate
from ptxkit.emulator.texels.formats import FORMATS
from ptxkit.emulator.texels.objects import Sampler, Surface, Texture
from ptxkit.isa.modifiers import Geometry

HEAD = """.version 9.0
.target {target}
.address_size 64
{variables}
.visible .entry k(.param .u64 handle, .param .u64 values, .param .u64 results)
{{
    .reg .b32 %i<12>, %o<12>, %t<2>;
    .reg .b64 %rd<8>;
    .reg .b16 %h<8>;
    .reg .pred %p<4>;
    ld.param.u64 %rd0, [handle];
    ld.param.u64 %rd1, [values];
    ld.param.u64 %rd2, [results];
    mov.u32 %t0, %tid.x;
    mad.wide.u32 %rd1, %t0, {read}, %rd1;
    mad.wide.u32 %rd2, %t0, 16, %rd2;
"""


def array(device: Emulator, geometry: str, texels: Sequence[np.ndarray], linear: bool = False) -> TexelArray:
    """An array, or with several levels a mipmap.

    Args:
        device: where.
        geometry: as PTX writes it.
        texels: of each level: [layers][depth][height][width][channels], the axes that there are.
        linear: whether it is linear memory.
    """
    first = texels[0]
    kind = Geometry(geometry)
    extents = list(first.shape[:-1])[::-1]
    layers = extents.pop() if geometry in ("a1d", "a2d", "cube", "acube") else 1
    names = {"u": "u", "i": "s", "f": "f"}
    name = f"{names[first.dtype.kind]}{first.dtype.itemsize * 8}"
    shape = ArrayShape(kind, FORMATS[name], first.shape[-1], *[*extents, 1, 1, 1][:3], layers)
    made = allocate(device.memory, shape, len(texels) if len(texels) > 1 else 0)
    made.linear = linear
    for level, held in zip(made.levels, texels, strict=True):
        put(device, level.address, held)
    return made


def put(device: Emulator, address: int, held: np.ndarray) -> None:
    """Write an array's bytes."""
    data = np.ascontiguousarray(held).view(np.uint8).reshape(-1)
    device.memory.data[address - BASE : address - BASE + len(data)] = data


def held(device: Emulator, made: TexelArray, like: np.ndarray) -> np.ndarray:
    """What an array holds, as an array like another."""
    start = made.base.address - BASE
    return device.memory.data[start : start + like.nbytes].view(like.dtype).reshape(like.shape).copy()


def texture(device: Emulator, made: TexelArray, sampler: Sampler = Sampler(), fractions: bool = False) -> int:  # noqa: B008
    """The handle of a texture."""
    return device.textures.add(Texture(made, sampler, fractions))


def surface(device: Emulator, made: TexelArray) -> int:
    """The handle of a surface."""
    return device.textures.add(Surface(made.base))


def run(
    device: Emulator,
    statements: str,
    handle: int,
    inputs: Any,
    variables: str = "",
    target: str = "sm_90",
    dtype: Any = np.float32,
) -> np.ndarray:
    """What statements leave in `%o0` to `%o3`.

    Args:
        device: where.
        statements: each may read the handle, `%rd0`, and the inputs, `%i0`, ..
        handle: of a texture or surface.
        inputs: [threads][inputs] of 32-bit words.
        variables: of the module.
        target: its own.
        dtype: of the result, 32 bits.
    """
    words = np.ascontiguousarray(inputs)
    text = HEAD.format(target=target, variables=variables, read=4 * words.shape[1])
    text += "".join(f"    ld.global.b32 %i{n}, [%rd1+{4 * n}];\n" for n in range(words.shape[1]))
    text += "".join(f"    mov.b32 %o{n}, 0;\n" for n in range(4))
    text += "".join(f"    {line.strip()};\n" for line in statements.split(";") if line.strip())
    text += "    st.global.v4.b32 [%rd2], {%o0, %o1, %o2, %o3};\n    ret;\n}\n"
    values, results = device.array(words), device.array(np.zeros((len(words), 4), dtype))
    device.load(text).kernel().launch((1,), (len(words),), [np.uint64(handle), values, results])
    return results.numpy()
