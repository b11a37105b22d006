"""`ptxkit debug` at a terminal: lines are edited, completed and remembered; an empty one repeats a step."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from debug_process import TILE, line_of

pytest.importorskip("readline", reason="this Python has no readline")
pty = pytest.importorskip("pty", reason="this system has no terminals")

pytestmark = pytest.mark.long


class Terminal:
    """The debugger at the other side of a terminal."""

    def __init__(self, state: Path) -> None:
        ours, theirs = pty.openpty()
        self.screen = ours
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ptxkit", "debug", TILE.name],
            cwd=TILE.parent,
            env={
                **os.environ,
                "NO_COLOR": "1",
                "TERM": "vt100",
                "XDG_STATE_HOME": str(state),
                "INPUTRC": "/dev/null",
            },
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self.until("(debug) ")

    def until(self, end: str, seconds: float = 60) -> str:
        """What is printed up to a text that comes last."""
        text, limit = "", time.monotonic() + seconds
        while not text.endswith(end):
            if not select.select([self.screen], [], [], max(limit - time.monotonic(), 0))[0]:
                raise AssertionError(f"expected {end!r}, found {text!r}")
            try:
                text += os.read(self.screen, 4096).decode()
            except OSError:  # the other side is closed
                break
            text = re.sub(r"\x1b\[\??[\d;]*[A-Za-z]|\x07", "", text)
        return text

    def type(self, text: str, end: str = "(debug) ") -> str:
        """Type something; what is printed until then."""
        os.write(self.screen, text.encode())
        return self.until(end)

    def quit(self) -> None:
        """Leave."""
        os.write(self.screen, b"quit\n")
        assert self.process.wait(60) == 0
        os.close(self.screen)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(tmp_path)
    yield made
    if made.process.poll() is None:
        made.process.kill()
        made.process.wait()


def test_tab_completes_commands_labels_registers_and_topics(terminal: Terminal) -> None:
    wait = line_of("mbarrier.try_wait")
    assert f"breakpoint 1 at debug_tile.ptx:{wait}" in terminal.type("brea\tWAI\t\n")
    assert "breakpoint 1" in terminal.type("run\n")
    assert "%done .pred" in terminal.type("print %don\t\n")
    assert "nothing is in flight" not in terminal.type("info fly\t\n")
    assert "0x400: " in terminal.type("shared ti\t 1 f3\t\n")
    assert "error: expected a topic: args, barriers" in terminal.type("inf\t\n")
    assert "step " in terminal.type("i lau\t\n")
    terminal.quit()


def test_an_empty_line_repeats_a_step_and_arrows_bring_back_a_line(terminal: Terminal) -> None:
    first = line_of("ld.param.u64 %rd1")
    for line, typed in enumerate(("step\n", "\n", "\n"), first):
        assert f"debug_tile.ptx:{line} in" in terminal.type(typed)
    assert f"debug_tile.ptx:{first + 1} in" in terminal.type("reverse-step\n")
    assert f"debug_tile.ptx:{first} in" in terminal.type("\n")
    assert "step 1\r\n" in terminal.type("info launch\n")
    assert "error" not in terminal.type("\n")
    assert "step 1\r\n" in terminal.type("\x1b[A\n") or "step 1\r\n" in terminal.type("\x10\n")
    terminal.quit()


def test_lines_are_remembered_by_the_next_session(tmp_path: Path) -> None:
    before = Terminal(tmp_path)
    before.type("break STORE\n")
    before.quit()
    assert (tmp_path / "ptxkit" / "debug_history").read_text().splitlines()[-2:] == ["break STORE", "quit"]
    after = Terminal(tmp_path)
    assert "breakpoint 1 at" in after.type("\x10\x10\n")
    after.quit()
