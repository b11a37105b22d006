"""Machine code for tests, from nvJitLink in-process."""

from __future__ import annotations

import pytest


def linker():
    """The binding of nvJitLink; skips where it is not installed."""
    nvjitlink = pytest.importorskip("cuda.bindings.nvjitlink", reason="cuda-bindings is not installed")
    try:
        nvjitlink.version()
    except RuntimeError as missing:
        pytest.skip(f"nvJitLink is not installed: {missing}")
    return nvjitlink


def log_of(ptx: str, *options: str, arch: str = "sm_90a") -> tuple[str, str]:
    """The error and info logs of compiling PTX, whether or not it succeeds."""
    nvjitlink = linker()
    chosen = [f"-arch={arch}", "-verbose", *options]
    handle = nvjitlink.create(len(chosen), chosen)
    try:
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, ptx.encode(), len(ptx.encode()), "test.ptx")
        nvjitlink.complete(handle)
    except nvjitlink.nvJitLinkError:
        pass
    logs = []
    for which in ("error", "info"):
        buffer = bytearray(getattr(nvjitlink, f"get_{which}_log_size")(handle))
        if buffer:
            getattr(nvjitlink, f"get_{which}_log")(handle, buffer)
        logs.append(bytes(buffer).partition(b"\0")[0].decode())
    nvjitlink.destroy(handle)
    return logs[0], logs[1]


def cubin_of(ptx: str, arch: str) -> bytes:
    """The cubin of PTX for one architecture."""
    nvjitlink = linker()
    handle = nvjitlink.create(1, [f"-arch={arch}"])
    nvjitlink.add_data(handle, nvjitlink.InputType.PTX, ptx.encode(), len(ptx.encode()), "test.ptx")
    nvjitlink.complete(handle)
    cubin = bytearray(nvjitlink.get_linked_cubin_size(handle))
    nvjitlink.get_linked_cubin(handle, cubin)
    nvjitlink.destroy(handle)
    return bytes(cubin)
