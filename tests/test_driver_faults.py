"""What ends a process that uses a GPU, each in a process of its own; the GPU must be usable after it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from gpu_kernels import FAULTS

pytestmark = pytest.mark.gpu

SCRIPT = """
import json, sys
sys.path.insert(0, {tests!r})
from gpu_kernels import FAULTS, FILL
from ptxkit.diagnostics import PtxkitError, exit_code
from ptxkit.driver import CudaDevice
device = CudaDevice()
buffer = device.empty(1024, "u32")
stream = device.stream()
said = []
for attempt in range(2):
    try:
        device.load(FAULTS[{code!r}]).kernel().launch(1, 1)
        device.synchronize()
        said.append(None)
    except PtxkitError as caught:
        d = caught.diagnostics[0]
        said.append(dict(code=d.code, notes=d.notes, help=d.help, exit=exit_code(caught.diagnostics)))
print(json.dumps(said))
"""

UNDER_WAY = """
import sys
sys.path.insert(0, {tests!r})
from gpu_kernels import FILL
from ptxkit.driver import CudaDevice
device = CudaDevice()
kept = [device.empty(1 << 20, "u8") for _ in range(9)]
kernel = device.load(FILL).kernel()
prepared = kernel.prepare(1, 32, [kept[0], 1])
prepared()
stream = device.stream()
with device.capture() as graph:
    kernel.launch(1, 32, [kept[1], 1], stream=graph.stream)
graph.launch(stream)
"""


def in_process(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)


def assert_usable() -> None:
    """A fresh process launches and reads a result."""
    tests = str(Path(__file__).parent)
    done = in_process(
        f"import sys\nsys.path.insert(0, {tests!r})\nfrom gpu_kernels import FILL\n"
        "from ptxkit.driver import CudaDevice\ndevice = CudaDevice()\nout = device.empty(32, 'u32')\n"
        "device.load(FILL).kernel().launch(1, 32, [out, 7])\nprint(out.numpy().sum())\n"
    )
    assert done.stdout.strip() == "224", done.stderr


@pytest.mark.parametrize("code", FAULTS)
def test_faults(code: str) -> None:
    """The fault is named with the kernel, again on the next call, and the process still ends quietly."""
    done = in_process(SCRIPT.format(tests=str(Path(__file__).parent), code=code))
    assert done.returncode == 0, done.stderr
    first, second = json.loads(done.stdout.splitlines()[-1])
    assert first["code"] == code, first
    assert first["exit"] == 5
    assert any("`fault`" in note for note in first["notes"])
    assert second["code"] == code
    assert "Traceback" not in done.stderr
    assert_usable()


def test_an_exit_with_work_under_way() -> None:
    """Nothing is given back by hand; the interpreter's end does it, without a word."""
    done = in_process(UNDER_WAY.format(tests=str(Path(__file__).parent)))
    assert (done.returncode, done.stderr) == (0, "")
