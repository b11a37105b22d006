"""Messages of the protocol over two streams: a header with the length of a JSON object, then the object."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable
from typing import IO, Any

Message = dict[str, Any]
MOST = 64 << 20
"""Bytes of a message that are still read."""


class Connection:
    """A client.

    Its messages are read by a thread of their own, so that one can interrupt what runs.

    Args:
        incoming, outgoing: binary streams.
        heard: called in that thread when a message is there to be received, or the client is gone.
    """

    def __init__(self, incoming: IO[bytes], outgoing: IO[bytes], heard: Callable[[], None]) -> None:
        self._incoming, self._outgoing, self._heard = incoming, outgoing, heard
        self._messages: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._number = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while True:
            try:
                message = self._next()
            except (OSError, ValueError):
                message = None
            self._messages.put(message)
            self._heard()
            if message is None:
                return

    def _next(self) -> Message | None:
        """The next message; None where the client is gone or does not speak the protocol."""
        length = 0
        while (line := self._incoming.readline(1024)) not in (b"\r\n", b"\n"):
            if not line:
                return None
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                length = int(value)
        if not 0 < length <= MOST:
            return None
        body = self._incoming.read(length)
        message = json.loads(body) if len(body) == length else None
        return message if isinstance(message, dict) else None

    def receive(self, wait: bool = True) -> Message | None:
        """The next message that was read; None where the client is gone.

        Raises:
            queue.Empty: there is none, and nobody wants to wait.
        """
        return self._messages.get(block=wait)

    def send(self, kind: str, **rest: Any) -> None:
        """Write a message. What a client that is gone would have read is dropped."""
        self._number += 1
        body = json.dumps({"seq": self._number, "type": kind, **rest}).encode()
        try:
            self._outgoing.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            self._outgoing.flush()
        except (OSError, ValueError):
            pass

    def event(self, event: str, **body: Any) -> None:
        """Tell the client something."""
        self.send("event", event=event, body=body)

    def answer(self, request: Message, body: Any = None) -> None:
        """Answer a request."""
        self.send(
            "response",
            request_seq=request.get("seq", 0),
            command=request.get("command", ""),
            success=True,
            **({} if body is None else {"body": body}),
        )

    def refuse(self, request: Message, why: str, shown: bool = False) -> None:
        """Answer that it can't be done. `shown`: in a window of its own."""
        self.send(
            "response",
            request_seq=request.get("seq", 0),
            command=request.get("command", ""),
            success=False,
            message=why,
            body={"error": {"id": 1, "format": why.replace("{", "(").replace("}", ")"), "showUser": shown}},
        )
