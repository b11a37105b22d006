"""`ptxkit dap` as a process that speaks the Debug Adapter Protocol."""

from __future__ import annotations

import base64
import json
import os
import re
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import small_kernels
from debug_client import DebugClient
from debug_process import PRINTS, TILE, line_of

from ptxkit.debugger.dap.adapter import Adapter

pytestmark = pytest.mark.long

HERE = Path(__file__).parent
INLINED = HERE / "data" / "inlined.ptx"
WITH = ("--grid", "1", "--block", "32", "--arg", "q=f32[64]", "--arg", "p=f32[8192]:randn", "--arg", "n=9")
WAIT, STORE = line_of("mbarrier.try_wait"), line_of("mad.lo.u32 %r4, %r2")


@pytest.fixture
def client() -> Iterator[DebugClient]:
    made = DebugClient()
    yield made
    assert made.process is not None
    if made.process.poll() is None:
        made.process.kill()
        made.process.wait()


def stopped(
    client: DebugClient, program: Path, *lines: int, args: tuple[str, ...] = (), **more: object
) -> dict:
    """Launch with breakpoints; the first stop."""
    client.launch(program, *args, **more)
    client.breakpoints(program, *lines)
    client.ask("configurationDone")
    return client.event("stopped")


def test_a_breakpoint_stops_all_warps(client: DebugClient) -> None:
    assert client.launch(TILE)["supportsStepBack"] is True
    label = line_of("STORE:")
    (made,) = client.breakpoints(TILE, label)
    assert (made["verified"], made["line"]) == (True, STORE)
    client.ask("configurationDone")
    stop = client.event("stopped")
    assert (stop["reason"], stop["hitBreakpointIds"], stop["allThreadsStopped"]) == (
        "breakpoint",
        [made["id"]],
        True,
    )
    threads = {thread["id"]: thread["name"] for thread in client.ask("threads")["threads"]}
    assert threads == {
        1: "CTA (0, 0, 0) warp 0",
        2: "CTA (0, 0, 0) warp 1",
        3: "CTA (1, 0, 0) warp 0",
        4: "CTA (1, 0, 0) warp 1",
    }
    (frame,) = client.frames(stop["threadId"])
    assert (frame["name"], frame["line"]) == ("tile", STORE)
    assert frame["source"]["path"] == str(TILE)
    assert frame["column"] == 5
    client.close()


def test_registers_by_type_and_lane_parameters_and_memories(client: DebugClient) -> None:
    stopped(client, TILE, STORE)
    types = client.variables("Registers")
    assert ".f32" in types
    value = client.variables("Registers", ".f32")["%f2"]
    lanes = client.variables("Registers", ".f32", "%f2")
    assert list(lanes) == [f"lane {lane}" for lane in range(32)]
    assert value["type"] == ".f32"
    assert value["value"].startswith(f"{lanes['lane 0']['value']} in lanes 0, ")
    parameters = client.variables("Parameters")
    memory = client.variables("Tensors and global variables")
    assert int(parameters["x"]["value"]) == int(memory["x"]["memoryReference"].split(":")[1], 16)
    shared = client.variables("Shared memory")
    assert shared["tile"]["indexedVariables"] == 64
    part = client.ask("variables", variablesReference=shared["tile"]["variablesReference"], start=3, count=2)
    assert [each["name"] for each in part["variables"]] == ["[3]", "[4]"]
    raw = client.ask("readMemory", memoryReference=shared["tile"]["memoryReference"], offset=12, count=8)
    values = struct.unpack("<2f", base64.b64decode(raw["data"]))
    assert [float(each["value"]) for each in part["variables"]] == [pytest.approx(one) for one in values]
    assert client.variables("Special registers")["%ctaid.x"]["value"] == "0"
    assert client.variables("Special registers", thread=4)["%ctaid.x"]["value"] == "1"
    assert client.variables("Barriers")["mbarrier full"]["value"].startswith("phase 1 (parity 1)")
    client.close()


def test_parted_lanes_and_what_is_in_flight(client: DebugClient) -> None:
    stopped(client, TILE, WAIT, line_of("add.f32 %f2"))
    (operation,) = client.variables("In flight").values()
    assert "cp.async.bulk" in operation["value"]
    client.breakpoints(TILE, line_of("add.f32 %f2"))
    client.go("continue")
    assert re.fullmatch(r"tile, lanes [\d, -]+", client.frames()[0]["name"])
    client.close()


def test_expressions_are_evaluated_and_hovered(client: DebugClient) -> None:
    stopped(client, TILE, STORE)
    frame = client.frames()[0]["id"]
    found = client.ask("evaluate", expression="%tid.x % 2 == 1", frameId=frame, context="watch")
    assert found["result"].startswith("false in lanes 0, 2, 4")
    assert found["variablesReference"]
    lane = client.ask("variables", variablesReference=found["variablesReference"])["variables"][5]
    assert (lane["name"], lane["value"]) == ("lane 5", "true")
    hovered = client.ask("evaluate", expression="%ctaid.x", frameId=frame, context="hover")
    assert (hovered["result"], hovered["type"]) == ("0", ".u32")
    assert client.ask("evaluate", expression="info launch", context="repl")["result"].startswith(
        "launch 1 of `tile`"
    )
    assert client.ask("evaluate", expression="%laneid / 16 == 3", context="repl")["result"] == "false"
    assert client.refused("evaluate", expression="step", context="repl").startswith("`step` is the editor's")
    assert (
        client.refused("evaluate", expression="%nothing", context="hover")
        == "`tile` has no register `%nothing`"
    )
    targets = client.ask("completions", text="print %f", column=9)["targets"]
    assert [(each["label"], each["start"], each["length"]) for each in targets] == [
        ("%f1", 6, 2),
        ("%f2", 6, 2),
    ]
    client.close()


def test_conditions_hits_logs_functions_and_bad_places(client: DebugClient) -> None:
    client.launch(TILE)
    client.breakpoints(TILE, STORE, condition="%ctaid.x == 1 && %tid.x == 40")
    bad = client.breakpoints(HERE / "data" / "inlined.ptx", 3)
    assert (bad[0]["verified"], bad[0]["message"]) == (False, "nothing of `inlined.ptx` is in debug_tile.ptx")
    functions = [{"name": "POSITIVE", "hitCondition": "9"}, {"name": "nowhere"}]
    found = client.ask("setFunctionBreakpoints", breakpoints=functions)["breakpoints"]
    assert [each["verified"] for each in found] == [True, False]
    client.ask("configurationDone")
    assert client.event("stopped")["threadId"] == 4
    wrong = client.breakpoints(TILE, STORE, condition="lambda: 1")
    assert wrong[0]["message"] == "expected an expression, found `lambda: 1`"
    logged = client.breakpoints(TILE, STORE + 1, logMessage="r4 is {%r4 == 64}, {%no}")
    assert logged[0]["verified"]
    client.ask("continue", threadId=1)
    outputs = [client.event("output"), client.event("output")]
    assert outputs[0]["output"].startswith("r4 is ")
    assert "{`tile` has no register `%no`}" in outputs[0]["output"]
    assert outputs[1]["output"] == "the launch has ended, and its outputs are verified\n"
    assert client.event("exited") == {"exitCode": 0}
    client.close()


def test_a_data_breakpoint_on_shared_memory_a_register_and_an_mbarrier(client: DebugClient) -> None:
    stopped(client, TILE, WAIT)
    tile = client.variables("Shared memory", "tile")
    frame = client.frames()[0]["id"]
    scopes = client.ask("scopes", frameId=frame)["scopes"]
    memory = next(each["variablesReference"] for each in scopes if each["name"] == "Shared memory")
    shared = client.ask("variables", variablesReference=memory)["variables"]
    inside = client.ask("variables", variablesReference=shared[0]["variablesReference"])["variables"]
    assert tile["[2]"]["value"] == inside[2]["value"] == "undefined"
    info = client.ask("dataBreakpointInfo", variablesReference=shared[0]["variablesReference"], name="[2]")
    assert info["description"] == "shared.f32[0x408] of CTA 0"
    barrier = client.ask("dataBreakpointInfo", name="mbarrier full", frameId=frame)
    none = client.ask("dataBreakpointInfo", name="1 + 1", frameId=frame)
    assert none["dataId"] is None
    made = client.ask(
        "setDataBreakpoints", breakpoints=[{"dataId": each["dataId"]} for each in (info, barrier)]
    )
    assert all(each["verified"] for each in made["breakpoints"])
    client.breakpoints(TILE)
    stop = client.go("continue")
    assert stop["reason"] == "data breakpoint"
    assert stop["hitBreakpointIds"] == [made["breakpoints"][0]["id"]]
    assert "old value: undefined" in stop["text"]
    register = client.ask("dataBreakpointInfo", name="%r3", frameId=client.frames()[0]["id"])
    client.ask("setDataBreakpoints", breakpoints=[{"dataId": register["dataId"]}])
    assert f"line {line_of('mov.u32 %r3, tile')}" in client.go("continue")["text"]
    client.close()


def test_steps_back_and_back_to_a_breakpoint(client: DebugClient) -> None:
    stop = stopped(client, TILE, WAIT, stopOnEntry=True)
    assert stop["reason"] == "entry"
    first = client.line()
    lines = [first]
    for _ in range(5):
        assert client.go("next")["reason"] == "step"
        lines.append(client.line())
    assert lines == list(range(first, first + 6))
    for line in reversed(lines[:-1]):
        assert client.go("stepBack")["reason"] == "step"
        assert client.line() == line
    assert "no more history" in client.go("stepBack")["text"]
    while client.go("continue")["reason"] == "breakpoint" and client.line() != WAIT:
        pass
    client.go("stepIn")
    assert client.go("reverseContinue")["reason"] == "breakpoint"
    assert client.line() == WAIT
    client.close()


def test_a_finding_stops_and_can_be_stepped_back_from(client: DebugClient, tmp_path: Path) -> None:
    text = TILE.read_text().replace(
        "mad.wide.u32 %rd4, %r4, 4, %rd2;", "mad.wide.u32 %rd4, %r4, 65536, %rd2;"
    )
    file = tmp_path / "tile.ptx"
    file.write_text(text)
    stop = stopped(client, file)
    assert stop["reason"] == "exception"
    info = client.ask("exceptionInfo", threadId=stop["threadId"])
    assert re.fullmatch(r"P60\d", info["exceptionId"])
    assert info["breakMode"] == "unhandled"
    assert info["description"] == stop["text"]
    store = line_of("st.global", file)
    assert client.line(stop["threadId"]) == store
    client.go("stepBack", stop["threadId"])
    assert client.go("stepBack", stop["threadId"])["reason"] == "step"
    assert client.line(stop["threadId"]) == store - 1
    assert client.go("continue")["reason"] == "exception"
    client.ask("continue", threadId=1)
    assert client.event("exited") == {"exitCode": 1}
    client.event("terminated")
    client.close()


def test_a_launch_goes_past_findings_as_the_command_does(client: DebugClient, tmp_path: Path) -> None:
    file = tmp_path / "tile.ptx"
    file.write_text(TILE.read_text().replace("4, %rd2;", "65536, %rd2;"))
    client.launch(file, "--keep-going")
    client.ask("setExceptionBreakpoints", filters=["warnings"])
    client.ask("configurationDone")
    stop = client.event("stopped")
    assert (stop["reason"], client.line(stop["threadId"])) == ("exception", line_of("st.global", file) + 1)
    client.ask("continue", threadId=stop["threadId"])
    assert client.event("exited") == {"exitCode": 1}
    client.close()


def test_wrong_results_and_filters(client: DebugClient, tmp_path: Path) -> None:
    file = tmp_path / "tile.ptx"
    file.write_text(TILE.read_text().replace("add.f32 %f2, %f1, %f1;", "add.f32 %f2, %f1, 0f3F800000;"))
    client.launch(file)
    client.ask("setExceptionBreakpoints", filters=["results"])
    client.ask("configurationDone")
    stop = client.event("stopped")
    assert stop["reason"] == "exception"
    assert client.ask("exceptionInfo", threadId=1)["exceptionId"].startswith("P8")
    client.ask("continue", threadId=1)
    assert client.event("exited") == {"exitCode": 4}
    client.close()
    quiet = DebugClient()
    quiet.launch(file)
    quiet.ask("setExceptionBreakpoints", filters=[])
    quiet.ask("configurationDone")
    assert quiet.event("exited") == {"exitCode": 4}
    quiet.close()


def test_a_warning_stops_where_that_is_wanted(client: DebugClient, tmp_path: Path) -> None:
    file = tmp_path / "tile.ptx"
    file.write_text(
        TILE.read_text().replace(
            "    mad.lo.u32 %r4, %r2, 64, %r1;", "    div.u32 %r3, %r2, 0;\n    mad.lo.u32 %r4, %r2, 64, %r1;"
        )
    )
    client.launch(file)
    client.ask("setExceptionBreakpoints", filters=["warnings"])
    client.ask("configurationDone")
    stop = client.event("stopped")
    assert stop["reason"] == "exception"
    info = client.ask("exceptionInfo", threadId=1)
    assert (info["exceptionId"], info["breakMode"]) == ("P615", "always")
    assert client.line(stop["threadId"]) == line_of("div.u32", file) + 1
    client.close()


def test_lines_of_the_source_are_stepped_and_broken_at(client: DebugClient) -> None:
    source = INLINED.with_suffix(".cu")
    client.launch(INLINED, *WITH)
    broken, beyond = client.breakpoints(source, 2, 999)
    assert (broken["verified"], broken["line"], beyond["verified"]) == (True, 2, False)
    client.ask("configurationDone")
    client.event("stopped")
    frames = client.frames()
    assert [(frame["name"], frame["line"]) for frame in frames[:3]] == [
        ("twice", 2),
        ("pair", 6),
        ("tile", 16),
    ]
    assert {frame["source"]["path"] for frame in frames[:3]} == {str(source)}
    assert frames[3]["name"] == "PTX of tile"
    assert frames[3]["presentationHint"] == "subtle"
    assert frames[3]["source"]["path"] == str(INLINED)
    client.breakpoints(source)
    client.go("stepOut")
    assert [(frame["name"], frame["line"]) for frame in client.frames()[:2]] == [("pair", 7), ("tile", 16)]
    client.go("stepBack", granularity="instruction")
    assert [frame["line"] for frame in client.frames()[:3]] == [2, 7, 16]
    client.go("next")
    client.go("next")
    assert [(frame["name"], frame["line"]) for frame in client.frames()[:1]] == [("tile", 16)]
    names = [each["name"] for each in client.ask("loadedSources")["sources"]]
    assert names == ["inlined.ptx", "inlined.cu"]
    client.close()
    ptx = DebugClient()
    stopped(ptx, INLINED, line_of("[%rd1+16384]", INLINED), args=WITH, lines="ptx")
    frames = ptx.frames()
    assert (frames[0]["name"], frames[0]["source"]["path"]) == ("tile", str(INLINED))
    assert [frame["line"] for frame in frames[1:]] == [2, 7, 16]
    ptx.close()


def test_a_running_launch_can_be_paused_and_given_breakpoints(client: DebugClient, tmp_path: Path) -> None:
    file = tmp_path / "spin.ptx"
    file.write_text(small_kernels.SPIN)
    client.launch(file)
    client.ask("configurationDone")
    assert client.refused("stackTrace", threadId=1) == "notStopped"
    client.ask("pause", threadId=1)
    assert client.event("stopped")["reason"] == "pause"
    client.ask("continue", threadId=1)
    client.breakpoints(file, line_of("add.u32 %r1", file))
    assert client.event("stopped")["reason"] == "breakpoint"
    client.breakpoints(file)
    client.ask("continue", threadId=1)
    client.ask("disconnect")
    assert client.process is not None
    assert client.process.wait(30) == 0


def test_a_client_that_is_gone_ends_a_running_launch(client: DebugClient, tmp_path: Path) -> None:
    file = tmp_path / "spin.ptx"
    file.write_text(small_kernels.SPIN)
    client.launch(file)
    client.ask("configurationDone")
    client.outgoing.close()
    assert client.process is not None
    assert client.process.wait(30) == 0


def test_launches_that_cannot_be_say_why(client: DebugClient, tmp_path: Path) -> None:
    client.ask("initialize", adapterID="ptxkit", linesStartAt1=True)
    assert "expected a file as `program`" in client.refused("launch")
    assert "expected a file or a shipped kernel" in client.refused(
        "launch", program=str(tmp_path / "none.ptx")
    )
    assert "P560" in client.refused("launch", program=str(TILE), args=["--nothing"])
    assert "expected `--device emu`" in client.refused(
        "launch", program=str(TILE), args=["--device", "cuda:0"]
    )
    assert client.refused("attach") == "notStopped"
    assert client.refused("nonsense") == "there is no request `nonsense`"
    assert client.refused("stackTrace", threadId=1) == "notStopped"
    client.ask("launch", program=str(TILE))
    client.close()


def test_lines_from_zero_if_the_client_counts_so(client: DebugClient) -> None:
    client.ask("initialize", adapterID="ptxkit", linesStartAt1=False, columnsStartAt1=False)
    client.ask("launch", program=str(TILE))
    client.event("initialized")
    (made,) = client.breakpoints(TILE, WAIT - 1)
    assert made["line"] == WAIT - 1
    client.ask("configurationDone")
    client.event("stopped")
    assert client.line() == WAIT - 1
    client.close()


def test_what_a_kernel_prints_is_output(client: DebugClient, tmp_path: Path) -> None:
    file = tmp_path / "prints.ptx"
    file.write_text(PRINTS)
    client.launch(file, "--grid", "1", "--block", "1")
    client.ask("configurationDone")
    found = client.event("output")
    assert (found["category"], found["output"]) == ("stdout", "hi\n")
    client.event("terminated")
    client.close()


def message(command: str) -> bytes:
    """A request as it is sent."""
    body = json.dumps({"seq": 1, "type": "request", "command": command, "arguments": {}}).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def test_a_port_serves_one_client_after_another() -> None:
    server = subprocess.Popen(
        [sys.executable, "-m", "ptxkit", "dap", "--port", "0"], stderr=subprocess.PIPE, env={**os.environ}
    )
    try:
        assert server.stderr is not None
        said = re.fullmatch(rb"listening on 127\.0\.0\.1:(\d+)\n", server.stderr.readline())
        assert said is not None
        for _ in range(2):
            there = socket.create_connection(("127.0.0.1", int(said[1])), 60)
            with there, there.makefile("rb") as incoming, there.makefile("wb") as outgoing:
                client = DebugClient(incoming, outgoing)
                assert stopped(client, TILE, WAIT)["reason"] == "breakpoint"
                client.close()
        for said_before in (
            b"",
            b"Content-Length: 99\r\n\r\n",
            message("initialize"),
            message("initialize") * 50,
        ):
            with socket.create_connection(("127.0.0.1", int(said[1])), 60) as there:
                there.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                there.sendall(said_before)  # and is gone, without reading an answer
        there = socket.create_connection(("127.0.0.1", int(said[1])), 60)
        with there, there.makefile("rb") as incoming, there.makefile("wb") as outgoing:
            DebugClient(incoming, outgoing).close()
        assert server.poll() is None
        taken = subprocess.run(
            [sys.executable, "-m", "ptxkit", "dap", "--port", said[1].decode()],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert taken.returncode == 2
        assert "expected a free port" in taken.stderr
    finally:
        server.kill()
        server.wait()


ODD: tuple[dict[str, object], ...] = (
    {},
    {
        "threadId": 99999,
        "frameId": 99999,
        "variablesReference": 99999,
        "sourceReference": 9,
        "expression": "((",
    },
    {
        "threadId": "x",
        "frameId": "x",
        "variablesReference": "x",
        "expression": 3,
        "source": "x",
        "filters": 3,
    },
    {"breakpoints": 3, "source": {}, "filters": [3], "name": 3, "text": 3, "column": "x"},
    {"breakpoints": [3], "source": {"path": "/"}, "memoryReference": "x", "count": -1, "context": "repl"},
    {"breakpoints": [{}], "source": {"path": str(TILE)}, "memoryReference": "shared:9:zz", "count": 4},
    {"breakpoints": [{"dataId": "[1]"}], "name": "a b c", "text": "", "column": -5, "expression": "who"},
)


def test_odd_requests_are_answered_and_survived(client: DebugClient) -> None:
    stopped(client, TILE, WAIT)
    leaving = {
        "disconnect",
        "terminate",
        "continue",
        "next",
        "stepIn",
        "stepOut",
        "stepBack",
        "reverseContinue",
    }
    commands = [name.removeprefix("on_") for name in dir(Adapter) if name.startswith("on_")]
    assert len(commands) > 20
    for command in commands:
        if command in leaving or command == "configurationDone":
            continue
        for given in ODD:
            found = client.response(client.send(command, **given))
            assert found["command"] == command
    for command in ("next", "stepIn", "stepBack", "reverseContinue"):
        assert "wrong arguments" in client.refused(command, threadId="x")
    assert client.refused("next", threadId=5) == "warp 0 of CTA 2 is not running"
    client.ask("disconnect")
    assert client.process is not None
    assert client.process.wait(30) == 0


@pytest.mark.parametrize(
    "text", [b"hello\n", b"Content-Length: x\r\n\r\n", b"Content-Length: 2\r\n\r\n[]", b""]
)
def test_what_is_no_message_ends_the_conversation(text: bytes) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ptxkit", "dap"], input=text, capture_output=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
