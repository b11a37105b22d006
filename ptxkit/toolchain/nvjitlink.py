"""The process that nvJitLink runs in, since a text that crashes it takes its process along.

    python -m ptxkit.toolchain.nvjitlink -arch=sm_90a < kernel.ptx

writes a line of JSON, `version` and `log`, and after it the machine code, if there is any.
"""

from __future__ import annotations

import json
import sys

MISSING = 90
"""The exit code where nvJitLink is not installed."""


def main() -> int:
    """The process that nvJitLink runs in: PTX on stdin, a line of JSON and the machine code on stdout."""
    try:
        from cuda.bindings import nvjitlink

        version = nvjitlink.version()
    except (ImportError, RuntimeError):
        return MISSING
    text = sys.stdin.buffer.read()
    options = [*sys.argv[1:], "-verbose"]
    handle = nvjitlink.create(len(options), options)
    cubin = b""
    try:
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, text, len(text), "input.ptx")
        nvjitlink.complete(handle)
        image = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, image)
        cubin = bytes(image)
    except nvjitlink.nvJitLinkError:
        pass  # The log says why.
    log = ""
    for which in ("error", "info"):
        buffer = bytearray(getattr(nvjitlink, f"get_{which}_log_size")(handle))
        if buffer:
            getattr(nvjitlink, f"get_{which}_log")(handle, buffer)
        log += bytes(buffer).partition(b"\0")[0].decode(errors="replace") + "\n"
    nvjitlink.destroy(handle)
    head = json.dumps({"version": ".".join(map(str, version)), "log": log})
    sys.stdout.buffer.write(head.encode() + b"\n" + cubin)
    return 0


if __name__ == "__main__":
    sys.exit(main())
