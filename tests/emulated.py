"""Small kernels for the emulator's tests."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from ptxkit.diagnostics import Diagnostic
from ptxkit.emulator import Emulator, EmulatorFault

REGISTERS = """\
    .reg .pred %p<8>;
    .reg .b16 %h<16>;
    .reg .b32 %r<32>;
    .reg .b64 %rd<32>;
    .reg .f32 %f<16>;
    .reg .f64 %fd<8>;
"""


def module(body: str, parameters: str = ".param .u64 out", before: str = "", target: str = "sm_90") -> str:
    """A module of one entry, `k`, with the registers above; `before` stands at module level."""
    return f"""\
.version 8.7
.target {target}
.address_size 64
{before}
.visible .entry k({parameters})
{{
{REGISTERS}{body}
    ret;
}}
"""


STORE_R1 = """
    ld.param.u64 %rd30, [out];
    mov.u32 %r30, %ctaid.x;
    mov.u32 %r31, %ntid.x;
    mov.u32 %r29, %tid.x;
    mad.lo.u32 %r30, %r30, %r31, %r29;
    mad.wide.u32 %rd30, %r30, 4, %rd30;
    st.global.u32 [%rd30], %r1;
"""
"""Each thread stores `%r1` at its place of `out`."""


def launch(
    text: str, args: list[Any], block: int = 32, grid: int = 1, device: Emulator | None = None, **rest: Any
) -> Emulator:
    """Run the entry `k`; the device, for its counts and findings."""
    device = device or Emulator()
    device.load(text).kernel("k").launch((grid,), (block,), args, **rest)
    return device


def threads(body: str, block: int = 32, grid: int = 1, before: str = "", **rest: Any) -> np.ndarray:
    """`%r1` of every thread at the end of `body`, as uint32."""
    device = Emulator()
    out = device.empty(block * grid, np.uint32)
    launch(module(body + STORE_R1, before=before), [out], block, grid, device, **rest)
    return out.numpy()


def fault(
    code: str,
    text: str,
    args: list[Any],
    block: int = 32,
    grid: int = 1,
    device: Emulator | None = None,
    **rest: Any,
) -> Diagnostic:
    """The one error finding, with that code, of a launch that must fail."""
    with pytest.raises(EmulatorFault) as caught:
        launch(text, args, block, grid, device, **rest)
    (found,) = caught.value.diagnostics
    assert found.code == code, str(found)
    return found


def line_of(text: str, pattern: str) -> int:
    """The 1-based number of the one line that matches."""
    (number,) = (i for i, line in enumerate(text.splitlines(), 1) if re.search(pattern, line))
    return number
