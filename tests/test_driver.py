"""The driver layer as far as it goes without a GPU: what is compared before loading, and what is missing."""

from __future__ import annotations

import ctypes
import json
import os
import struct
import subprocess
import sys

import numpy as np
import pytest
from assembler import cubin_of

from ptxkit.asm import parse
from ptxkit.device.protocol import element_type, extents, host_array
from ptxkit.diagnostics import PtxkitError, code_info, exit_code
from ptxkit.driver.binary import check_binary
from ptxkit.driver.clocks import THROTTLES, reasons
from ptxkit.driver.errors import _DriverLog
from ptxkit.driver.load import DriverImage, cuda_version, read, target_findings, version_findings
from ptxkit.driver.timing import KERNELS
from ptxkit.running.devices import fitting_gpu, open_device

PTX = ".version {version}\n.target {target}\n.address_size 64\n.visible .entry k()\n{{\n    ret;\n}}\n"


def python(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def raised(script: str, **environment: str) -> dict:
    """The first diagnostic that a process raises."""
    done = python(
        "import json\nfrom ptxkit.diagnostics import PtxkitError, exit_code\ntry:\n"
        + "".join(f"    {line}\n" for line in script.split("\n"))
        + "except PtxkitError as caught:\n"
        "    print(json.dumps(caught.diagnostics[0].to_json() | {'exit': exit_code(caught.diagnostics)}))\n",
        **environment,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def has_driver() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


@pytest.mark.skipif(has_driver(), reason="this machine has an NVIDIA driver")
@pytest.mark.parametrize("spec", ["cuda", "cuda:1"])
def test_without_libcuda_the_emulator_is_named(spec: str) -> None:
    found = raised(f"from ptxkit.running.devices import open_device\nopen_device({spec!r})")
    assert found["code"] == "P701"
    assert found["exit"] == 3
    assert "--device emu" in found["help"]


def test_without_the_bindings_the_emulator_is_named() -> None:
    found = raised(
        "import sys\nsys.modules['cuda.bindings'] = None\n"
        "from ptxkit.running.devices import open_device\nopen_device('cuda')"
    )
    assert found["code"] == "P701"
    assert "cuda-bindings" in found["help"]
    assert "--device emu" in found["help"]


def test_importing_the_driver_layer_loads_no_cuda() -> None:
    done = python(
        "import sys, ptxkit, ptxkit.asm, ptxkit.driver, ptxkit.running.devices\n"
        "print([name for name in sys.modules if name.split('.')[0] == 'cuda'])"
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_hidden_gpus_are_no_gpus() -> None:
    """With a driver all GPUs can be hidden; without one there is none to begin with."""
    found = raised(
        "from ptxkit.running.devices import open_device\nopen_device('cuda')", CUDA_VISIBLE_DEVICES=""
    )
    assert found["code"] in ("P701", "P702")
    assert "--device emu" in found["help"]
    done = python(
        "from ptxkit.running.devices import open_device\nprint(open_device().kind)", CUDA_VISIBLE_DEVICES=""
    )
    assert done.stdout.strip() == "emu", done.stderr


@pytest.mark.parametrize(
    ("version", "cuda", "fits"),
    [
        ("9.0", (13, 0), True),
        ("9.1", (13, 0), False),
        ("9.1", (13, 1), True),
        ("8.0", (12, 0), True),
        ("8.7", (12, 6), False),
        ("8.7", (12, 8), True),
        ("99.0", (13, 2), False),
    ],
)
def test_versions_against_drivers(version: str, cuda: tuple[int, int], fits: bool) -> None:
    module = parse(PTX.format(version=version, target="sm_90"))
    found = version_findings(module, cuda)
    assert [d.code for d in found] == ([] if fits else ["P703"])
    for diagnostic in found:
        assert diagnostic.span.line == 1
        assert "ptxkit asm" in (diagnostic.help or "")
        assert exit_code([diagnostic]) == 3


@pytest.mark.parametrize(
    ("target", "capability", "fits"),
    [
        ("sm_80", (9, 0), True),
        ("sm_90", (9, 0), True),
        ("sm_90a", (9, 0), True),
        ("sm_90a", (10, 0), False),
        ("sm_100a", (9, 0), False),
        ("sm_100f", (10, 3), True),
        ("sm_100f", (12, 0), False),
        ("sm_103a", (10, 0), False),
        ("sm_90", (12, 1), True),
    ],
)
def test_targets_against_gpus(target: str, capability: tuple[int, int], fits: bool) -> None:
    found = target_findings(parse(PTX.format(version="9.0", target=target)), capability)
    assert [d.code for d in found] == ([] if fits else ["P704"])
    for diagnostic in found:
        assert diagnostic.span.line == 2
        assert "--device emu" in (diagnostic.help or "")


def test_the_drivers_version_number() -> None:
    assert cuda_version(13000) == (13, 0)
    assert cuda_version(12080) == (12, 8)


def test_what_can_be_loaded(tmp_path) -> None:
    text = PTX.format(version="9.0", target="sm_90")
    file = tmp_path / "k.ptx"
    file.write_text(text)
    for source in (text, file, str(file), parse(text)):
        image = read(source)
        assert image.is_ptx
        assert image.data == text.encode() + b"\0"
        assert image.source is not None
        assert image.source.text == text
    fatbin = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 8) + bytes(8)
    for whole in (cubin_of(text, "sm_90"), fatbin):
        binary = tmp_path / "k.bin"
        binary.write_bytes(whole)
        for source in (binary, whole, bytearray(whole)):
            image = read(source)
            assert (image.is_ptx, image.data) == (False, whole)
    for bad, code in ((b"abcd", "P710"), (b"", "P710"), (tmp_path / "no.ptx", "P110")):
        with pytest.raises(PtxkitError) as caught:
            read(bad)
        assert caught.value.diagnostics[0].code == code


def test_a_binary_that_is_cut_short_is_refused() -> None:
    """Wherever it is cut: the driver would read past its end."""
    cubin = cubin_of(PTX.format(version="9.0", target="sm_90"), "sm_90")
    fatbin = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 8) + bytes(8)
    for whole in (cubin, fatbin):
        check_binary("whole", whole)
        for size in (*range(4, 80), *range(80, len(whole), 97), len(whole) - 1):
            if size < len(whole):
                with pytest.raises(PtxkitError) as caught:
                    check_binary("cut", whole[:size])
                assert caught.value.diagnostics[0].code == "P710"


def test_a_tree_that_was_changed_is_written_anew() -> None:
    module = parse(PTX.format(version="9.0", target="sm_90"))
    module.entries[0].name = "renamed"
    image: DriverImage = read(module)
    assert b"renamed" in image.data
    assert image.source is not None
    assert image.data == image.source.text.encode() + b"\0"


@pytest.mark.parametrize("spec", ["emu", "auto"])
def test_the_emulator_is_a_device(spec: str) -> None:
    device = open_device(spec, arch="sm_90a")
    assert device.kind == "emu"


@pytest.mark.parametrize("spec", ["gpu", "cuda:", "cuda:x", "cuda:-1", "CUDA", "", 0, None, "emu:1"])
def test_unknown_devices(spec: object) -> None:
    with pytest.raises(PtxkitError) as caught:
        open_device(spec)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "P520"
    assert "`cuda:N`" in diagnostic.message
    assert exit_code([diagnostic]) == 2


@pytest.mark.parametrize("options", [{"arch": "sm_90a"}, {"order": "random"}])
def test_the_emulators_options_are_not_a_gpus(options: dict) -> None:
    with pytest.raises(PtxkitError) as caught:
        open_device("cuda", **options)
    assert caught.value.diagnostics[0].code == "P520"


@pytest.mark.skipif(has_driver(), reason="this machine has an NVIDIA driver")
def test_no_gpu_fits_where_there_is_none() -> None:
    assert fitting_gpu("sm_90") is None
    assert fitting_gpu(None) is None


@pytest.mark.skipif(has_driver(), reason="this machine has an NVIDIA driver")
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the bindings alone know")
def test_bindings_are_not_loaded_where_there_is_no_driver() -> None:
    script = (
        "import sys, ptxkit\n"
        "assert ptxkit.open_device().kind == 'emu'\n"
        "assert not [name for name in sys.modules if name.startswith('cuda.')]"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_element_types() -> None:
    assert element_type("f32") == np.float32
    assert element_type("u8") == np.uint8  # PTX's name: 8 bits, where numpy's `u8` has 64
    assert element_type("bf16").name == "bfloat16"
    assert element_type("float16") == np.float16
    assert element_type(np.int64) == np.int64
    assert element_type(np.dtype(">f4")) == np.dtype("<f4")
    for bad in ("foo", None, object, "U", "b128", "f16x2", 3.5):
        with pytest.raises(PtxkitError) as caught:
            element_type(bad)
        assert caught.value.diagnostics[0].code == "P517"
    assert code_info("P517") is not None


def test_shapes() -> None:
    assert extents(4) == (4,)
    assert extents([2, np.int64(3), 0]) == (2, 3, 0)
    assert extents(()) == ()
    for bad in (-1, (2, -1), 1.5, "4", None, (1, None)):
        with pytest.raises(PtxkitError) as caught:
            extents(bad)
        assert caught.value.diagnostics[0].code == "P517"


def test_host_arrays_are_dense_and_native() -> None:
    source = np.arange(12, dtype=">i4").reshape(3, 4)[:, ::2]
    made = host_array(source)
    assert made.flags.c_contiguous
    assert made.dtype == np.dtype("<i4")
    np.testing.assert_array_equal(made, source)
    assert host_array(2.5).shape == ()
    with pytest.raises(PtxkitError) as caught:
        host_array([object()])
    assert caught.value.diagnostics[0].code == "P517"


# ---- the kernels by which timing works, on the emulator


def test_the_sweep_reads_all_and_writes_nothing() -> None:
    device = open_device("emu")
    data = device.array(np.zeros(16 * 1000, np.uint8))
    device.load(KERNELS).kernel("sweep").launch(2, 64, [data, 1000, data])
    assert device.counts.loaded["global"] == 16 * 1000
    assert device.counts.stored.get("global", 0) == 0


def test_the_sweep_needs_every_byte() -> None:
    """A single bit anywhere gives the store that otherwise never happens."""
    device = open_device("emu")
    kernel = device.load(KERNELS).kernel("sweep")
    for place in (0, 7, 15 * 1000, 16 * 1000 - 1):
        host = np.zeros(16 * 1000, np.uint8)
        host[place] = 1
        data, sink = device.array(host), device.array(np.zeros(1, np.uint32))
        kernel.launch(2, 64, [data, 1000, sink])
        assert sink.numpy()[0] == 1 << 8 * (place % 4)


def test_stamps_are_of_the_sms_they_name() -> None:
    device = open_device("emu", arch="sm_90")
    out = device.array(np.zeros((1024, 2), np.uint64))
    device.load(KERNELS).kernel("stamp").launch(8, 1, [out])
    device.load(KERNELS).kernel("nothing").launch(1, 32)
    assert 1 <= np.count_nonzero(out.numpy().any(axis=1)) <= 8


# ---- what the management library says


def test_reasons_that_hold_clocks_down() -> None:
    assert reasons(0) == ()
    assert reasons(0x4 | 0x40) == ("power cap", "hardware thermal slowdown")
    assert reasons(0x1 | 0x8000) == ("idle", "reason 0x8000")
    assert set(reasons(0x4 | 0x8 | 0x20 | 0x40 | 0x80)) == THROTTLES


# ---- the driver's own log, which drivers have only since CUDA 12.9


class _Logging:
    """The two calls of a driver with a log, as the CUDA driver API describes them."""

    def __init__(self) -> None:
        self.lines: list[str] = ["[ts][E] before the first call"]

    def cuLogsCurrent(self, flags: int) -> tuple[int, int]:
        return 0, len(self.lines)

    def cuLogsDumpToMemory(self, iterator: int, buffer: bytes, size: int, flags: int) -> tuple[int, int, int]:
        text = "".join(f"{line}\n" for line in self.lines[iterator:]).encode()
        ctypes.memmove(buffer, text, len(text))
        return 0, len(self.lines), len(text)


def test_the_drivers_log_is_told_once() -> None:
    driver = _Logging()
    log = _DriverLog(driver)
    assert log.new_lines() == ()
    driver.lines += ["[ts][E] first", "[ts][E] second"]
    assert log.new_lines() == ("driver: [ts][E] first", "driver: [ts][E] second")
    assert log.new_lines() == ()


def test_a_driver_without_a_log() -> None:
    class Silent:
        def cuLogsCurrent(self, flags: int) -> None:
            raise RuntimeError('Function "cuLogsCurrent" not found')

    assert _DriverLog(Silent()).new_lines() == ()
