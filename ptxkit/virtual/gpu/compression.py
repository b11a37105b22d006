"""How entries of fat binaries are compressed."""

from __future__ import annotations

from ptxkit.virtual.results import failure


def zstandard_frame(data: bytes, size: int) -> bytes:
    """The contents of a Zstandard frame (RFC 8878), of at most `size` bytes.

    Raises:
        DriverError: JIT_COMPILER_NOT_FOUND, nothing is installed that reads one; INVALID_IMAGE.
    """
    try:
        from compression import zstd  # type: ignore[import-not-found]  # from Python 3.14 on
    except ImportError:
        pass
    else:
        content: bytes = zstd.decompress(data)
        return content
    try:
        import zstandard
    except ImportError:
        why = (
            "the PTX is compressed by Zstandard: `pip install 'ptxkit[exec]'`, or compile with `-no-compress`"
        )
        raise failure("JIT_COMPILER_NOT_FOUND", why) from None
    try:
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=size)
    except zstandard.ZstdError as problem:
        raise failure("INVALID_IMAGE", f"the compressed PTX is damaged: {problem}") from None


def lz4_block(data: bytes, size: int) -> bytes:
    """The contents of an LZ4 block of `size` bytes. LZ4 block format description, version 1.6.

    Raises:
        DriverError: INVALID_IMAGE.
    """
    out = bytearray()
    at = 0

    def length(nibble: int) -> int:
        nonlocal at
        total = nibble
        while nibble == 15:
            byte = data[at]
            at += 1
            total += byte
            if byte != 255:
                break
        return total

    try:
        while at < len(data):
            token = data[at]
            at += 1
            literals = length(token >> 4)
            out += data[at : at + literals]
            at += literals
            if at >= len(data) or len(out) >= size:
                break
            distance = int.from_bytes(data[at : at + 2], "little")
            at += 2
            count = length(token & 15) + 4
            start = len(out) - distance
            if distance == 0 or start < 0:
                raise IndexError
            if distance >= count:
                out += out[start : start + count]
            else:
                pattern = bytes(out[start:])
                out += (pattern * (count // distance + 1))[:count]
    except IndexError:
        raise failure("INVALID_IMAGE", "the compressed PTX is damaged") from None
    if size and len(out) != size:
        raise failure("INVALID_IMAGE", f"expected {size} bytes of PTX, found {len(out)}")
    return bytes(out)
