"""What a driver needs: one memory for several devices, variables by name, checks ahead of launches."""

from __future__ import annotations

import numpy as np
import pytest

from ptxkit import PtxkitError, open_device
from ptxkit.emulator import Emulator
from ptxkit.emulator.global_memory import BASE, GlobalMemory

SCALE = """
.version 8.0
.target sm_90
.address_size 64
.const .f32 factor = 0f40000000;
.global .u32 calls;
.visible .entry scale(.param .u64 x)
{
    .reg .f32 %f<3>;
    .reg .u64 %rd<2>;
    .reg .u32 %r<2>;
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    mad.wide.u32 %rd1, %r1, 4, %rd1;
    ld.global.f32 %f1, [%rd1];
    ld.const.f32 %f2, [factor];
    mul.f32 %f1, %f1, %f2;
    st.global.f32 [%rd1], %f1;
    red.global.add.u32 [calls], 1;
    ret;
}
"""


def test_the_host_writes_constants_where_variable_says() -> None:
    device = Emulator()
    module = device.load(SCALE)
    found = module.variable("factor")
    assert found is not None
    address, size = found
    assert size == 4
    device.memory.data[address - BASE : address - BASE + 4] = np.float32([3]).view(np.uint8)
    x = device.array(np.arange(32, dtype=np.float32))
    module.kernel().launch(grid=1, block=32, args=[x])
    assert (x.numpy() == 3 * np.arange(32)).all()
    counted = module.variable("calls")
    assert counted is not None
    where = counted[0] - BASE
    assert device.memory.data[where : where + counted[1]].view(np.uint32)[0] == 32
    assert module.variable("scale") is None
    assert module.variable("nothing") is None


def test_emulators_share_a_memory() -> None:
    memory = GlobalMemory()
    first, second = Emulator(memory=memory), Emulator(memory=memory)
    x = first.array(np.ones(32, np.float32))
    second.load(SCALE).kernel().launch(grid=1, block=32, args=[x])
    assert (x.numpy() == 2).all()
    second.close()
    assert (x.numpy() == 2).all(), "closing one of them closes no memory that is shared"


def test_check_refuses_what_launch_would_refuse() -> None:
    kernel = open_device("emu").load(SCALE).kernel()
    assert kernel.check(grid=(2, 1, 1), block=32).ctas == 2  # type: ignore[attr-defined]
    with pytest.raises(PtxkitError) as refused:
        kernel.check(grid=1, block=2048)  # type: ignore[attr-defined]
    assert refused.value.diagnostics[0].code == "P511"


def test_the_bytes_of_the_parameter_space_are_arguments() -> None:
    device = Emulator()
    x = device.array(np.ones(32, np.float32))
    kernel = device.load(SCALE).kernel()
    kernel.launch(grid=(1, 1, 1), block=(32, 1, 1), args=kernel.signature.pack([x], device.address_of))
    assert (x.numpy() == 2).all()
    with pytest.raises(PtxkitError):
        kernel.launch(grid=(1, 1, 1), block=(2048, 1, 1), args=[x])
    kernel.launch(grid=(1, 1, 1), block=(32, 1, 1), args=[x])
    assert (x.numpy() == 4).all(), "a shape that was refused leaves nothing behind"
