"""Loading and launching on a GPU."""

from __future__ import annotations

import gc
import shutil
import statistics
import subprocess
import threading
import uuid

import numpy as np
import pytest
from assembler import cubin_of
from gpu_kernels import (
    AXPY,
    CALLER,
    DOUBLE,
    EARLY,
    FILL,
    PARAMETERS,
    SHARED,
    SPIN,
    SQUARE,
    echo,
    module,
    where,
)

from ptxkit.diagnostics import PtxkitError, Source
from ptxkit.driver import CudaDevice, Stopwatch
from ptxkit.driver.errors import bindings, check
from ptxkit.driver.load import DriverImage, LoadOptions, compile_images
from ptxkit.driver.timing import FLUSHES

pytestmark = pytest.mark.gpu

MIB = 1 << 20


@pytest.fixture(scope="module")
def device():
    with CudaDevice() as opened:
        yield opened


@pytest.fixture
def hopper(device: CudaDevice) -> CudaDevice:
    if device.capability < (9, 0):
        pytest.skip("clusters need compute capability 9.0")
    return device


def refuse(code: str, use) -> str:
    with pytest.raises(PtxkitError) as caught:
        use()
    assert code in [d.code for d in caught.value.diagnostics], str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("declared", [declared for declared, _ in PARAMETERS.values()])
def test_our_parameters_are_the_drivers(device: CudaDevice, declared: str) -> None:
    """Number and sizes, and up to the first alignment above 16 bytes offsets too: see `ParameterSpace`."""
    text, signature = echo(declared)
    kernel = device.load(text).kernel()
    one_layout = True
    for p in signature:
        offset, size = check(bindings().cuFuncGetParamInfo(kernel._function, p.index), "ask for a parameter")
        assert size == p.size
        one_layout &= p.alignment <= 16
        assert offset == p.offset or not one_layout
    assert bindings().cuFuncGetParamInfo(kernel._function, len(signature))[0]


def test_what_is_no_stream_is_refused(device: CudaDevice) -> None:
    kernel = device.load(FILL).kernel()
    refuse("P510", lambda: kernel.launch(1, 32, [0, 1], stream="first"))


def test_emulated_buffers_are_refused(device: CudaDevice) -> None:
    from ptxkit.emulator import Emulator

    kernel = device.load(FILL).kernel()
    refuse("P509", lambda: kernel.launch(1, 4, [Emulator().empty(4, np.uint32), 1]))


def test_the_limits_table_is_the_devices(device: CudaDevice) -> None:
    found = device.limits
    assert found.shared_per_cta == device.attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")
    assert found.shared_per_sm == device.attribute("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR")
    assert found.shared_static == device.attribute("MAX_SHARED_MEMORY_PER_BLOCK")
    assert found.shared_reserved == device.attribute("RESERVED_SHARED_MEMORY_PER_BLOCK")
    assert found.threads_per_cta == device.attribute("MAX_THREADS_PER_BLOCK")
    assert found.threads_per_sm == device.attribute("MAX_THREADS_PER_MULTIPROCESSOR")
    assert found.ctas_per_sm == device.attribute("MAX_BLOCKS_PER_MULTIPROCESSOR")
    assert found.registers_per_cta == device.attribute("MAX_REGISTERS_PER_BLOCK")
    assert found.registers_per_sm == device.attribute("MAX_REGISTERS_PER_MULTIPROCESSOR")


# ---- clusters and cooperative grids


def test_clusters_that_are_refused(hopper: CudaDevice) -> None:
    kernel = hopper.load(where()).kernel()
    out = hopper.empty(8 * 64, "u32")
    refuse("P513", lambda: kernel.launch(3, 32, [out], cluster=2))
    refuse("P513", lambda: kernel.launch(64, 32, [out], cluster=32))
    shared = hopper.load(SHARED.replace("sm_80", "sm_90")).kernel()
    most = hopper.limits.shared_per_cta - 1024
    said = []
    try:
        shared.launch(16, 32, [out, 0], cluster=16, shared=most)
    except PtxkitError as caught:
        said = [d.code for d in caught.diagnostics]
    assert said in ([], ["P713"])  # whether 16 whole multiprocessors of one cluster exist is the GPU's affair
    hopper.synchronize()


def test_a_grid_counts_ctas_even_where_the_driver_counts_clusters(hopper: CudaDevice) -> None:
    if check(bindings().cuDriverGetVersion(), "ask for the version") < 13000:
        pytest.skip("`.blocksareclusters` needs a driver for CUDA 13.0")
    text = where(".reqntid 32\n.reqnctapercluster 2\n.blocksareclusters", "9.0")
    kernel = hopper.load(text).kernel()
    out = hopper.array(np.zeros(8 * 8, np.uint32))
    kernel.launch(8, 32, [out])
    got = out.numpy().reshape(-1, 8)
    assert sorted(got[:, 0].tolist()) == list(range(8))
    assert (got[:, 2] == 8).all()
    assert (got[:, 5] == 2).all()


def test_the_occupancy_of_a_kernel_that_wants_clusters(hopper: CudaDevice) -> None:
    for directives in (".reqnctapercluster 2", ".explicitcluster"):
        kernel = hopper.load(where(f".reqntid 32\n{directives}", "9.0")).kernel()
        assert kernel.occupancy(32) > 0


def test_other_attributes(hopper: CudaDevice) -> None:
    kernel = hopper.load(FILL).kernel()
    out = hopper.empty(32, "u32")
    for value, attributes in enumerate(({"programmatic": True}, {"priority": -1}, {"carveout": 50})):
        kernel.launch(1, 32, [out, value], **attributes)
        assert (out.numpy() == value).all()


def test_a_programmatic_launch_begins_before_the_kernel_ahead_of_it_has_ended(hopper: CudaDevice) -> None:
    loaded = hopper.load(EARLY)
    first, second = loaded.kernel("first"), loaded.kernel("second")
    for programmatic in (True, False):
        flag, out = (hopper.array(np.zeros(1, np.uint32)) for _ in range(2))
        second.launch(1, 1, [flag])
        flag.write(np.zeros(1, np.uint32))
        first.launch(1, 1, [flag, out])
        second.launch(1, 1, [flag], programmatic=programmatic)
        assert out.numpy()[0] == programmatic
        assert flag.numpy()[0] == 1


# ---- prepared launches, streams, threads


def test_prepared_launches(device: CudaDevice) -> None:
    kernel = device.load(FILL).kernel()
    first, second = device.empty(32, "u32"), device.empty(32, "u32")
    prepared = kernel.prepare(1, 32, [first, 1])
    prepared()
    prepared.bind("value", 2).bind(0, second)()
    assert (first.numpy() == 1).all()
    assert (second.numpy() == 2).all()
    refuse("P503", lambda: prepared.bind("value", 1 << 32))
    refuse("P501", lambda: prepared.bind("values", 1))
    prepared()
    assert (second.numpy() == 2).all()


def test_shapes_and_arguments_may_change_from_launch_to_launch(device: CudaDevice) -> None:
    kernel, out = device.load(FILL).kernel(), device.array(np.zeros(96, np.uint32))
    stream = device.stream()
    for number, (grid, block, given) in enumerate(
        [(1, 32, None), (3, 32, None), ((3,), 16, stream), ([2], [48], None), (1, 32, stream)] * 3, 1
    ):
        kernel.launch(grid, block, [out, number], stream=given)
        threads = np.prod(grid) * np.prod(block)
        assert (out.numpy()[:threads] == number).all()
    refuse("P511", lambda: kernel.launch(1, 2048, [out, 1]))
    kernel.launch(1, 32, [out, 99])
    assert (out.numpy()[:32] == 99).all()


def test_a_prepared_launch_keeps_its_arguments_alive(device: CudaDevice) -> None:
    kernel = device.load(FILL).kernel()
    prepared = kernel.prepare(1, 32, [device.empty(32, "u32"), 1])
    address = prepared._arguments[0].address
    others = [device.empty(32, "u32") for _ in range(50)]
    assert address not in [other.address for other in others]
    prepared()
    device.synchronize()


def test_streams_and_events(device: CudaDevice) -> None:
    """The second stream waits for the event behind the spinning kernel of the first."""
    spin, fill = device.load(SPIN).kernel(), device.load(FILL).kernel()
    first, second, third = (device.stream(non_blocking=True) for _ in range(3))
    flag, out = device.array(np.zeros(1, np.uint32)), device.array(np.zeros(32, np.uint32))
    done = device.event()
    spin.launch(1, 1, [flag], stream=first)
    done.record(first)
    second.wait(done)
    fill.launch(1, 32, [out, 5], stream=second)
    fill.launch(1, 1, [flag, 1], stream=third)
    second.synchronize()
    assert (out.numpy() == 5).all()
    for stream in (first, second, third):
        stream.close()
    refuse("P714", lambda: fill.launch(1, 32, [out, 5], stream=second))


def test_streams_of_others(device: CudaDevice) -> None:
    class Foreign:
        def __init__(self, handle: int) -> None:
            self.handle = handle

        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, self.handle

    fill = device.load(FILL).kernel()
    stream, out = device.stream(), device.empty(32, "u32")
    for value, given in enumerate((Foreign(stream.handle), stream.handle, 0, None)):
        fill.launch(1, 32, [out, value], stream=given)
        assert (out.numpy() == value).all()


def test_any_thread_may_launch(device: CudaDevice) -> None:
    """A fresh thread has no current context; a launch, prepared or not, finds its own."""
    kernel = device.load(FILL).kernel()
    out = [device.empty(32, "u32") for _ in range(3)]
    prepared = kernel.prepare(1, 32, [out[0], 1])
    graph = device.capture()
    with graph:
        kernel.launch(1, 32, [out[1], 2], stream=graph.stream)
    for call in (prepared, graph.launch, lambda: kernel.launch(1, 32, [out[2], 3])):
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
    assert [int(buffer.numpy()[0]) for buffer in out] == [1, 2, 3]


def test_many_threads_launch_one_kernel(device: CudaDevice) -> None:
    kernel = device.load(FILL).kernel()
    out = [device.empty(32, "u32") for _ in range(8)]

    def work(number: int) -> None:
        for _ in range(500):
            kernel.launch(1, 32, [out[number], number])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [int(buffer.numpy()[0]) for buffer in out] == list(range(8))


# ---- graphs


def test_graphs(device: CudaDevice) -> None:
    fill, double = device.load(FILL).kernel(), device.load(DOUBLE).kernel()
    out = device.array(np.zeros(32, np.uint32))
    with device.capture() as graph:
        fill.launch(1, 32, [out, 3], stream=graph.stream)
        for _ in range(4):
            double.launch(1, 32, [out], stream=graph.stream)
    assert graph.nodes == 5
    assert (out.numpy() == 0).all()
    for _ in range(3):
        graph.launch()
        assert (out.numpy() == 48).all()
    stream = device.stream()
    graph.launch(stream)
    stream.synchronize()
    graph.close()
    refuse("P715", graph.launch)


def test_a_graph_keeps_its_arguments_alive(device: CudaDevice) -> None:
    double = device.load(DOUBLE).kernel()
    with device.capture() as graph:
        double.launch(1, 32, [device.empty(32, "u32")], stream=graph.stream)
    others = [device.array(np.full(32, 7, np.uint32)) for _ in range(50)]
    graph.launch()
    assert all((other.numpy() == 7).all() for other in others)


def test_what_a_graph_cannot_capture(device: CudaDevice) -> None:
    fill = device.load(FILL).kernel()
    out = device.array(np.zeros(32, np.uint32))
    graph = device.capture()

    def capture() -> None:
        with graph:
            fill.launch(1, 32, [out, 1], stream=graph.stream)
            fill.launch(1, 32, [out, 2])

    refuse("P715", capture)
    refuse("P715", graph.launch)
    with device.capture() as graph:
        fill.launch(1, 32, [out, 9], stream=graph.stream)
    graph.launch()
    assert (out.numpy() == 9).all()


def test_an_exception_ends_the_capture(device: CudaDevice) -> None:
    fill = device.load(FILL).kernel()
    out = device.array(np.zeros(32, np.uint32))
    graph = device.capture()

    def capture() -> None:
        with graph:
            fill.launch(1, 32, [out, 1], stream=graph.stream)
            raise KeyError

    with pytest.raises(KeyError):
        capture()
    refuse("P715", graph.launch)
    fill.launch(1, 32, [out, 2])
    assert (out.numpy() == 2).all()


# ---- loading


def test_attributes(device: CudaDevice) -> None:
    found = device.load(FILL.replace("\n{", "\n.maxntid 128\n{", 1)).kernel().attributes
    assert found["max_threads"] == 128
    assert 4 <= found["registers"] <= 255
    assert (found["shared_bytes"], found["local_bytes"]) == (0, 0)
    assert found["binary_version"] == device.capability[0] * 10 + device.capability[1]
    assert device.load(FILL, max_registers=16).kernel().attributes["registers"] <= 16


def spilling() -> str:
    """200 values that live at once in 32 registers: a text that no cache of the driver knows."""
    loads = "".join(f"    ld.global.u32 %r{i}, [%d1+{4 * i}];\n" for i in range(200))
    stores = "".join(f"    st.global.u32 [%d1+{8 * i}], %r{i};\n" for i in reversed(range(200)))
    return module(
        ".visible .entry many(.param .u64 data)\n.maxnreg 32\n{\n"
        "    .reg .b32 %r<200>;\n    .reg .b64 %d<2>;\n    ld.param.u64 %d0, [data];\n"
        f"    cvta.to.global.u64 %d1, %d0;\n{loads}    bar.sync 0;\n{stores}    ret;\n}}\n// {uuid.uuid4()}\n"
    )


@pytest.mark.parametrize("line_info", [False, True])
def test_spills_are_told_whether_or_not_the_driver_has_the_code_already(
    device: CudaDevice, line_info: bool
) -> None:
    text = spilling()
    first, again = (device.load(text, line_info=line_info).kernel().attributes for _ in range(2))
    assert first == again
    assert first["spill_store_bytes"] > 500
    assert first["spill_load_bytes"] > 500
    assert first["local_bytes"] >= first["spill_store_bytes"]
    none = device.load(FILL).kernel().attributes
    assert (none["spill_store_bytes"], none["spill_load_bytes"]) == (0, 0)


def test_spills_of_linked_files_are_told(device: CudaDevice) -> None:
    found = device.load([spilling(), CALLER, SQUARE]).kernel("many").attributes
    assert found["spill_store_bytes"] > 500
    machine = device.load(cubin_of(spilling(), architecture(device))).kernel().attributes
    assert machine["local_bytes"] > 500
    assert "spill_store_bytes" not in machine


def test_entries(device: CudaDevice) -> None:
    two = device.load(FILL + DOUBLE.partition(".address_size 64\n")[2])
    assert two.kernels == ("fill", "double")
    assert two.kernel("double") is two.kernel("double")
    assert "`fill`, `double`" in refuse("P504", two.kernel)
    assert "`fill`, `double`" in refuse("P504", lambda: two.kernel("triple"))


def test_the_drivers_compiler_speaks_in_diagnostics(device: CudaDevice) -> None:
    text = FILL.replace("ld.param.u32 %r4, [value];", "ld.param.u32 %r4, [absent];")
    image = DriverImage("bad.ptx", text.encode() + b"\0", None, Source("bad.ptx", text))
    with pytest.raises(PtxkitError) as caught:
        compile_images(device.context, (image,), LoadOptions())
    found = caught.value.diagnostics
    assert {diagnostic.code for diagnostic in found} == {"P706"}
    assert all("absent" in text.split("\n")[diagnostic.span.line - 1] for diagnostic in found)
    assert "unknown symbol `absent`" in [diagnostic.message for diagnostic in found]


def test_versions_and_targets_are_compared_first(device: CudaDevice) -> None:
    assert ".version" in refuse("P703", lambda: device.load(FILL.replace("8.0", "9.9")))
    other = "sm_100a" if device.capability != (10, 0) else "sm_90a"
    text = refuse("P704", lambda: device.load(FILL.replace("8.0", "8.8").replace("sm_80", other)))
    assert "--device emu" in text


def test_files_are_linked(device: CudaDevice) -> None:
    kernel = device.load([CALLER, SQUARE]).kernel()
    out = device.empty(1, "u32")
    kernel.launch(1, 1, [out, 12])
    assert out.numpy().tolist() == [144]


def test_undefined_references_are_refused(device: CudaDevice) -> None:
    assert "square" in refuse("P709", lambda: device.load(CALLER))


VARIABLES = module(
    """.visible .global .align 4 .u32 table[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
.visible .const .align 4 .f32 scale = 0f3F800000;
.visible .entry sum(.param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .f32 %f<4>;
    .reg .b64 %d<2>;
    ld.param.u64 %d0, [out];
    cvta.to.global.u64 %d1, %d0;
    ld.global.u32 %r1, [table+4];
    ld.global.u32 %r2, [table+28];
    add.u32 %r1, %r1, %r2;
    cvt.rn.f32.u32 %f1, %r1;
    ld.const.f32 %f2, [scale];
    mul.f32 %f3, %f1, %f2;
    st.global.f32 [%d1], %f3;
    ret;
}
"""
)


def test_module_variables(device: CudaDevice) -> None:
    loaded = device.load(VARIABLES)
    table, scale = loaded.variable("table"), loaded.variable("scale")
    np.testing.assert_array_equal(table.numpy(), [[1, 2, 3, 4], [5, 6, 7, 8]])
    assert (table.dtype, scale.dtype, scale.shape) == (np.uint32, np.float32, ())
    assert scale.numpy() == 1
    table.write(np.arange(10, 18, dtype=np.uint32).reshape(2, 4))
    scale.write(np.float32(0.5))
    out = device.empty(1, "f32")
    loaded.kernel().launch(1, 1, [out])
    assert out.numpy().tolist() == [(11 + 17) * 0.5]
    assert "`table`, `scale`" in refuse("P711", lambda: loaded.variable("absent"))


def test_a_variable_keeps_its_module(device: CudaDevice) -> None:
    table = device.load(VARIABLES).variable("table")
    device.load(FILL)
    np.testing.assert_array_equal(table.numpy().ravel()[:2], [1, 2])


def architecture(device: CudaDevice) -> str:
    return f"sm_{device.capability[0]}{device.capability[1]}"


def test_cubins(device: CudaDevice, tmp_path) -> None:
    cubin = cubin_of(AXPY, architecture(device))
    file = tmp_path / "axpy.cubin"
    file.write_bytes(cubin)
    for source in (cubin, file, str(file)):
        loaded = device.load(source)
        assert loaded.kernels == ("axpy",)
        kernel = loaded.kernel()
        assert [(p.offset, p.size) for p in kernel.signature] == [(0, 8), (8, 8), (16, 4), (20, 4)]
        x, y = device.array(np.ones(4, np.float32)), device.array(np.ones(4, np.float32))
        kernel.launch(1, 4, [x, y, np.float32(2), 4])
        assert y.numpy().tolist() == [3] * 4
        refuse("P511", lambda kernel=kernel: kernel.launch(1, 2048, [0, 0, np.float32(2), 4]))
    refuse("P504", lambda: device.load(cubin).kernel("absent"))


def test_fatbins(device: CudaDevice, tmp_path) -> None:
    tool = shutil.which("fatbinary")
    if tool is None:
        pytest.skip("`fatbinary` of the CUDA toolkit is not on PATH")
    (tmp_path / "fill.ptx").write_text(FILL)
    (tmp_path / "fill.cubin").write_bytes(cubin_of(FILL, architecture(device)))
    number = architecture(device).removeprefix("sm_")
    subprocess.run(
        [
            tool, "--create=fill.fatbin", "-64",
            f"--image3=kind=elf,sm={number},file=fill.cubin", "--image3=kind=ptx,sm=80,file=fill.ptx",
        ],
        cwd=tmp_path,
        check=True,
    )  # fmt: skip
    out = device.empty(32, "u32")
    device.load(tmp_path / "fill.fatbin").kernel("fill").launch(1, 32, [out, 8])
    assert (out.numpy() == 8).all()


def test_damaged_and_foreign_binaries(device: CudaDevice) -> None:
    cubin = cubin_of(FILL, architecture(device))
    refuse("P710", lambda: device.load(b"abcd"))
    refuse("P710", lambda: device.load(cubin[: len(cubin) // 2]))
    other = "sm_100" if device.capability != (10, 0) else "sm_90"
    refuse("P704", lambda: device.load(cubin_of(FILL, other)))


def test_line_information_is_accepted(device: CudaDevice) -> None:
    kernel = device.load(FILL, line_info=True, optimization=1).kernel()
    out = device.empty(32, "u32")
    kernel.launch(1, 32, [out, 4])
    assert (out.numpy() == 4).all()


# ---- timing and leaks


@pytest.mark.parametrize("flush", FLUSHES)
def test_times_are_measured(device: CudaDevice, flush: str) -> None:
    """More samples than one stretch that is watched; a large buffer takes longer than launching nothing."""
    stopwatch = Stopwatch(device, flush)
    kernel = device.load(FILL).kernel()
    out = device.empty(1 << 24, "u32")
    launch = kernel.prepare(1 << 16, 256, [out, 1], stream=stopwatch.stream)
    stopwatch.prime(launch)
    stopwatch.start_clock()
    times = stopwatch.times(launch, 70)
    floor = stopwatch.times(stopwatch.nothing, 33)
    clock = stopwatch.sm_clock()
    assert (len(times), len(floor)) == (70, 33)
    assert 0 < min(floor) <= statistics.median(floor) < statistics.median(times) < 1
    assert clock is not None
    assert 1e8 < clock <= 1.05e3 * device.attribute("CLOCK_RATE")


def test_a_flush_that_is_none(device: CudaDevice) -> None:
    refuse("P521", lambda: Stopwatch(device, "clear"))


def test_a_failure_between_events_leaves_the_stopwatch_usable(device: CudaDevice) -> None:
    """The gate must open, or the stream would wait for ever; memory dropped behind it must not wait."""
    stopwatch = Stopwatch(device)
    held = [device.empty(1 << 20, "u8")]

    def fail() -> None:
        held.clear()
        raise KeyError

    with pytest.raises(KeyError):
        stopwatch.times(fail, 3)
    assert len(stopwatch.times(stopwatch.nothing, 3)) == 3


def test_more_launches_in_a_sample_than_a_stream_holds(device: CudaDevice) -> None:
    stopwatch = Stopwatch(device, "none")
    (seconds,) = stopwatch.times(lambda: [stopwatch.nothing() for _ in range(3000)], 1, commands=3000)
    assert seconds > 0


def test_launches_that_block_are_timed_without_a_gate(
    device: CudaDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopwatch = Stopwatch(device)
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "1")
    assert len(stopwatch.times(stopwatch.nothing, 40)) == 40


def test_clocks_are_read(device: CudaDevice) -> None:
    clocks = device.clocks()
    if clocks is None:
        pytest.skip("neither cuda.bindings.nvml nor nvidia-ml-py is installed")
    assert clocks.sm_mhz is None or 0 < clocks.sm_mhz <= clocks.sm_max_mhz


def test_a_gpu_describes_itself(device: CudaDevice) -> None:
    found = device.describe()
    assert found["name"] == device.name
    assert found["capability"] == list(device.capability)
    assert found["l2_bytes"] == device.l2_bytes > 0
    assert found["peak_bandwidth"] > 1e10


def leak(device: CudaDevice, source, rounds: int) -> int:
    """Bytes of device memory that are gone after some rounds of load, launch and drop.

    Others may take memory of the GPU meanwhile; a leak comes every time.
    """

    def once() -> None:
        loaded = device.load(source)
        loaded.kernel().launch(1, 32, [device.empty(1 << 16, "u32"), 1])

    def gone() -> int:
        before, _ = device.memory()
        for _ in range(rounds):
            once()
        return before - device.memory()[0]

    for _ in range(10):
        once()
    for _ in range(3):
        lost = gone()
        if lost < 4 * MIB:
            break
    return lost


def test_rounds_leak_nothing(device: CudaDevice) -> None:
    """Dropping gives back at once, without the garbage collector's help."""
    gc.disable()
    try:
        assert leak(device, FILL, 20) < 4 * MIB
    finally:
        gc.enable()
    assert leak(device, FILL, 100) < 4 * MIB
    assert leak(device, cubin_of(FILL, architecture(device)), 1_000) < 4 * MIB


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_many_rounds_leak_nothing(device: CudaDevice) -> None:
    """2,000 rounds with PTX and 100,000 with a cubin; host memory is looked at too."""
    import resource

    assert leak(device, FILL, 2_000) < 4 * MIB
    cubin = cubin_of(FILL, architecture(device))
    leak(device, cubin, 1_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert leak(device, cubin, 100_000) < 4 * MIB
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024
