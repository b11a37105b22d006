"""A file's bytes to text, and what is said of one that is too large or no text."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from ptxkit.diagnostics import Diagnostic, PtxkitError, Source, counted, error, reason, shortened

_PART = 1 << 20


def read_file(path: Path, max_size: int) -> bytes:
    """What the file holds.

    Raises:
        PtxkitError: P110, it cannot be read; P111, it is larger than `max_size`.
    """
    try:
        with path.open("rb") as file:
            data = read_beyond(file, max_size)
    except (OSError, ValueError) as wrong:
        help = "a string with a newline is PTX text; one without is a path"
        raise error("P110", f"cannot read `{shortened(str(path))}`: {reason(wrong)}", help=help) from None
    if len(data) > max_size:
        raise too_large(str(path), max_size)
    return data


def read_beyond(file: IO[bytes], max_size: int) -> bytes:
    """What a file holds, of a larger one a byte more than `max_size`."""
    parts, left = [], max_size + 1
    while left > 0 and (part := file.read(min(left, _PART))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def too_large(name: str, max_size: int) -> PtxkitError:
    """What is said of a text beyond the limit."""
    return error(
        "P111", f"`{name}` is larger than {counted(max_size, 'byte')}", help="raise the limit with `max_size`"
    )


def as_text(text: str) -> str:
    """PTX that is text for certain, so that `parse` does not take it for a path."""
    return text if "\n" in text else f"{text}\n"


_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def not_text(name: str, data: bytes, why: str) -> Diagnostic:
    """P112, by what the file begins with and whether it has NUL in it."""
    what, help = (
        "a binary file",
        "a cubin or a fatbin is not PTX; `cuobjdump -ptx` extracts the PTX that it may contain",
    )
    if data.startswith(_UTF16):
        what, help = "UTF-16", "save the file as UTF-8"
    elif b"\0" not in data and not why.endswith("NUL"):
        what, help = "text in another encoding", "save the file as UTF-8"
    return Diagnostic("P112", f"expected PTX text, found {what}: {why}", help=help, source=Source(name, ""))
