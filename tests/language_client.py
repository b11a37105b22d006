"""A client of the language server protocol: a process on the other side of two pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


class Client:
    """An editor, as `ptxkit lsp` sees one. Positions count from 0."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ptxkit", "lsp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONWARNINGS": "error::UserWarning"},
        )
        self.number = 0
        self.notifications: list[dict[str, Any]] = []
        self.initialized = self.request(
            "initialize", {"processId": None, "rootUri": None, "capabilities": {}}
        )
        self.notify("initialized", {})

    def send(self, message: dict[str, Any]) -> None:
        """Write one message."""
        assert self.process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """Read one message."""
        assert self.process.stdout is not None
        length = 0
        while (line := self.process.stdout.readline()) != b"\r\n":
            if not line:
                raise EOFError(self.process.stderr.read().decode() if self.process.stderr else "")
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        found: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return found

    def request(self, method: str, params: Any) -> Any:
        """Ask, and give the result."""
        message = self.answer(method, params)
        assert "error" not in message, message
        return message["result"]

    def answer(self, method: str, params: Any) -> dict[str, Any]:
        """Ask, and give the answer, a result or an error."""
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while True:
            message = self.receive()
            if message.get("id") == self.number:
                return message
            self.notifications.append(message)

    def notify(self, method: str, params: Any) -> None:
        """Tell."""
        self.send({"method": method, "params": params})

    def diagnostics(self, uri: str, version: int) -> list[dict[str, Any]]:
        """What the server publishes for a version of a text."""
        while True:
            message = self.notifications.pop(0) if self.notifications else self.receive()
            if message.get("method") == "textDocument/publishDiagnostics":
                params = message["params"]
                if params["uri"] == uri and params.get("version") == version:
                    found: list[dict[str, Any]] = params["diagnostics"]
                    return found

    def open(self, path: Path, text: str) -> str:
        """Open a text and give its URI."""
        uri = path.as_uri()
        document = {"uri": uri, "languageId": "ptx", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})
        return uri

    def ask(self, method: str, uri: str, line: int, character: int) -> Any:
        """Ask about a place."""
        place = {"line": line, "character": character}
        return self.request(f"textDocument/{method}", {"textDocument": {"uri": uri}, "position": place})

    def close(self) -> int:
        """Shut the server down and give its exit status."""
        self.request("shutdown", None)
        self.notify("exit", None)
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(20)
