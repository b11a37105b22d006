"""A client of the Debug Adapter Protocol: an editor, as `ptxkit dap` sees one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import IO, Any


class DebugClient:
    """A process on the other side of two pipes; or, with streams, whatever is there."""

    def __init__(self, incoming: IO[bytes] | None = None, outgoing: IO[bytes] | None = None) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        if incoming is None or outgoing is None:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "ptxkit", "dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            assert self.process.stdout is not None
            assert self.process.stdin is not None
            incoming, outgoing = self.process.stdout, self.process.stdin
        self.incoming, self.outgoing = incoming, outgoing
        self.number = 0
        self.events: list[dict[str, Any]] = []

    def send(self, command: str, **arguments: Any) -> int:
        """Write a request; its number."""
        self.number += 1
        message = {"seq": self.number, "type": "request", "command": command, "arguments": arguments}
        body = json.dumps(message).encode()
        self.outgoing.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.outgoing.flush()
        return self.number

    def receive(self) -> dict[str, Any]:
        """Read a message."""
        length = 0
        while (line := self.incoming.readline()) != b"\r\n":
            assert line, "the adapter is gone"
            length = int(line.partition(b":")[2])
        found: dict[str, Any] = json.loads(self.incoming.read(length))
        return found

    def response(self, number: int) -> dict[str, Any]:
        """The response to a request; events that come before it are kept."""
        while True:
            message = self.receive()
            if message["type"] == "event":
                self.events.append(message)
            elif message["request_seq"] == number:
                return message

    def ask(self, command: str, **arguments: Any) -> Any:
        """The body of the answer to a request, which must succeed."""
        found = self.response(self.send(command, **arguments))
        assert found["success"], found
        return found.get("body")

    def refused(self, command: str, **arguments: Any) -> str:
        """Why a request is refused."""
        found = self.response(self.send(command, **arguments))
        assert not found["success"], found
        return str(found["message"])

    def event(self, name: str) -> dict[str, Any]:
        """The next event of a kind; those before it are dropped."""
        while True:
            message = self.events.pop(0) if self.events else self.receive()
            if message["type"] == "event" and message["event"] == name:
                found: dict[str, Any] = message.get("body") or {}
                return found

    def launch(self, program: Path, *args: str, **more: Any) -> dict[str, Any]:
        """Up to `initialized`; the capabilities."""
        found: dict[str, Any] = self.ask("initialize", adapterID="ptxkit")
        self.ask("launch", program=str(program), args=list(args), **more)
        self.event("initialized")
        return found

    def breakpoints(self, file: Path, *lines: int, **more: Any) -> list[dict[str, Any]]:
        """Set them in a file."""
        wanted = [{"line": line, **more} for line in lines]
        found: list[dict[str, Any]] = self.ask(
            "setBreakpoints", source={"path": str(file)}, breakpoints=wanted
        )["breakpoints"]
        return found

    def go(self, command: str, thread: int = 1, **more: Any) -> dict[str, Any]:
        """Let it go on or back; the stop where it arrives."""
        self.ask(command, threadId=thread, **more)
        return self.event("stopped")

    def frames(self, thread: int = 1) -> list[dict[str, Any]]:
        """The stack of a thread."""
        found: list[dict[str, Any]] = self.ask("stackTrace", threadId=thread)["stackFrames"]
        return found

    def line(self, thread: int = 1) -> int:
        """The line of its innermost frame."""
        return int(self.frames(thread)[0]["line"])

    def variables(self, *path: str, thread: int = 1) -> dict[str, dict[str, Any]]:
        """What a scope, or a variable in it, consists of, by name."""
        scopes = self.ask("scopes", frameId=self.frames(thread)[0]["id"])["scopes"]
        reference = {scope["name"]: scope["variablesReference"] for scope in scopes}[path[0]]
        found = {
            each["name"]: each for each in self.ask("variables", variablesReference=reference)["variables"]
        }
        for name in path[1:]:
            children = self.ask("variables", variablesReference=found[name]["variablesReference"])[
                "variables"
            ]
            found = {each["name"]: each for each in children}
        return found

    def close(self) -> None:
        """Disconnect; the adapter ends."""
        self.ask("disconnect")
        if self.process is not None:
            assert self.process.wait(30) == 0
