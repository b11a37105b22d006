"""C's types as the libraries' callers lay them out: letters of the symbol tables, structures, memory by
address.

Everything that is an address or a handle is a Python int here, 0 for none.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ptxkit.virtual.results import failure


class _Complex64(ctypes.Structure):
    _fields_ = [("real", ctypes.c_float), ("imaginary", ctypes.c_float)]


class _Complex128(ctypes.Structure):
    _fields_ = [("real", ctypes.c_double), ("imaginary", ctypes.c_double)]


LETTERS: dict[str, Any] = {
    "p": ctypes.c_uint64,
    "a": ctypes.c_uint64,
    "q": ctypes.c_uint64,
    "z": ctypes.c_uint64,
    "l": ctypes.c_int64,
    "i": ctypes.c_int,
    "u": ctypes.c_uint,
    "h": ctypes.c_ushort,
    "b": ctypes.c_ubyte,
    "f": ctypes.c_float,
    "d": ctypes.c_double,
    "c": _Complex64,
    "w": _Complex128,
    "v": None,
}
"""p: a pointer or handle, a: a device address, z: size_t, q and l: 64 bits, i and u: 32, h: 16, b: 8, f and
d: float and double, c and w: a complex number of these, v: nothing; `s` and a number: a structure of so many
bytes, by value."""


def ctype(letter: str) -> Any:
    """The ctypes type of a letter."""
    if letter.startswith("s"):
        words = int(letter[1:]) // 4
        return type(f"Block{words}", (ctypes.Structure,), {"_fields_": [("words", ctypes.c_uint * words)]})
    return LETTERS[letter]


Int, UInt, Size, Float = ctypes.c_int, ctypes.c_uint, ctypes.c_uint64, ctypes.c_float
Pointer = ctypes.c_uint64


def require_place(*addresses: int) -> None:
    """Refuse results that have no place, before anything is made.

    Raises:
        DriverError: INVALID_VALUE, an address is null.
    """
    if not all(addresses):
        raise failure("INVALID_VALUE", "a result has no place: the pointer is null")


def put(address: int, kind: Any, value: Any) -> None:
    """Store a result where the caller wants it.

    Raises:
        DriverError: INVALID_VALUE, it wants it nowhere.
    """
    require_place(address)
    kind.from_address(address).value = value


def put_bytes(address: int, data: bytes) -> None:
    """Store a structure where the caller wants it.

    Raises:
        DriverError: INVALID_VALUE, it wants it nowhere.
    """
    require_place(address)
    ctypes.memmove(address, data, len(data))


def pointed(kind: Any, address: int) -> Any:
    """The structure of a kind that lies at an address.

    Raises:
        DriverError: INVALID_VALUE, the address is null.
    """
    if not address:
        raise failure("INVALID_VALUE", "a structure is null")
    return kind.from_address(address)


def put_if(address: int, kind: Any, value: Any) -> None:
    """Store a result that the caller may leave out."""
    if address:
        kind.from_address(address).value = value


def get(address: int, kind: Any) -> Any:
    """A value of a type at an address."""
    if not address:
        raise failure("INVALID_VALUE", "an argument is null")
    return kind.from_address(address).value


def several(address: int, kind: Any, count: int) -> list[Any]:
    """`count` values of a type from an address on."""
    if not count:
        return []
    if not address:
        raise failure("INVALID_VALUE", "an array is null")
    return (kind * count).from_address(address)[:]


def put_several(address: int, kind: Any, values: Sequence[Any]) -> None:
    """Values of a type one after another.

    Raises:
        DriverError: INVALID_VALUE, the caller wants them nowhere.
    """
    if values:
        require_place(address)
        (kind * len(values)).from_address(address)[:] = list(values)


def text(address: int) -> str:
    """A string of C's."""
    if not address:
        raise failure("INVALID_VALUE", "a name is null")
    return ctypes.string_at(address).decode("utf-8", "replace")


def memory(address: int, size: int) -> bytes:
    """Bytes from an address on."""
    if size and not address:
        raise failure("INVALID_VALUE", "a block of memory is null")
    return ctypes.string_at(address, size) if size else b""


def gatherer(pieces: Iterable[tuple[int, int]], size: int) -> Callable[[int], bytes]:
    """What puts `size` bytes together from pieces that lie anywhere, and zeros between them.

    Args:
        pieces: of each, in order, the first byte in what is made, and how many these are.
        size: of what is made.

    Returns:
        What takes the address of an array of the pieces' addresses; it raises DriverError, INVALID_VALUE,
        where one of these is null.
    """
    layout, behind, readers = "=", 0, []
    for first, count in pieces:
        kind = _WORDS.get(count, f"{count}s")
        layout += f"{first - behind}x{kind}"
        behind = first + count
        readers.append(struct.Struct(f"={kind}").unpack_from)
    pack = struct.Struct(f"{layout}{size - behind}x").pack
    addresses = struct.Struct(f"={len(readers)}Q").unpack_from

    def gather(address: int) -> bytes:
        places = addresses(_EVERYTHING, address)
        if 0 in places:
            raise failure("INVALID_VALUE", "a block of memory is null")
        values: tuple[Any, ...] = ()
        for read, place in zip(readers, places):  # noqa: B905 - as many of both
            values += read(_EVERYTHING, place)
        return pack(*values)

    return gather


_WORDS = {1: "B", 2: "H", 4: "I", 8: "Q"}
"""How `struct` calls bytes that are read at once."""
_EVERYTHING = memoryview((ctypes.c_ubyte * ((1 << 63) - 1)).from_address(0)).cast("B")
"""The process's memory by address: `struct` reads it for less than calls of C cost."""


_texts: dict[str, Any] = {}


def lasting_text(value: str) -> int:
    """The address of a string that stays there as long as the process lives."""
    if value not in _texts:
        _texts[value] = ctypes.create_string_buffer(value.encode())
    return ctypes.addressof(_texts[value])


def put_text(address: int, size: int, value: str) -> None:
    """A string into a caller's buffer of `size` bytes, cut where it does not fit."""
    if not address or size < 1:
        raise failure("INVALID_VALUE", "a buffer for text has no room")
    data = value.encode()[: size - 1] + b"\0"
    ctypes.memmove(address, data, len(data))


def _structure(name: str, fields: str) -> type[ctypes.Structure]:
    """`name:letter ..` as a structure."""
    pairs = (field.split(":") for field in fields.split())
    return type(name, (ctypes.Structure,), {"_fields_": [(word, ctype(letter)) for word, letter in pairs]})


_DIMENSIONS = "grid_x:u grid_y:u grid_z:u block_x:u block_y:u block_z:u"
LaunchConfig = _structure("LaunchConfig", f"{_DIMENSIONS} shared:u stream:p attributes:p count:u")
"""`CUlaunchConfig`."""
RuntimeLaunchConfig = _structure(
    "RuntimeLaunchConfig", f"{_DIMENSIONS} shared:z stream:p attributes:p count:u"
)
"""`cudaLaunchConfig_t`."""
KernelNode = _structure(
    "KernelNode", f"function:p {_DIMENSIONS} shared:u parameters:p extra:p kernel:p context:p"
)
"""`CUDA_KERNEL_NODE_PARAMS_v2`, of which the first 56 bytes are the first revision."""
MemsetNode = _structure("MemsetNode", "dst:a pitch:z value:u element_size:u width:z height:z")
HostNode = _structure("HostNode", "function:p data:p")
_SIDE2 = "{0}_x:z {0}_y:z {0}_kind:u {0}_host:p {0}_device:a {0}_array:p {0}_pitch:z"
Copy2D = _structure("Copy2D", f"{_SIDE2.format('src')} {_SIDE2.format('dst')} width:z height:z")
"""`CUDA_MEMCPY2D`."""
_SIDE3 = (
    "{0}_x:z {0}_y:z {0}_z:z {0}_lod:z {0}_kind:u {0}_host:p {0}_device:a {0}_array:p {0}_context:p "
    "{0}_pitch:z {0}_height:z"
)
Copy3D = _structure("Copy3D", f"{_SIDE3.format('src')} {_SIDE3.format('dst')} width:z height:z depth:z")
"""`CUDA_MEMCPY3D` and `CUDA_MEMCPY3D_PEER`, which puts the contexts where the other has reserved words."""
ArrayDescriptor = _structure("ArrayDescriptor", "width:z height:z format:u channels:u")
"""`CUDA_ARRAY_DESCRIPTOR`."""
ArrayDescriptor3D = _structure(
    "ArrayDescriptor3D", "width:z height:z depth:z format:u channels:u flags:u pad:u"
)
"""`CUDA_ARRAY3D_DESCRIPTOR`."""
ResourceDescriptor = _structure(
    "ResourceDescriptor",
    "type:u pad:u place:q format:u channels:u width:z height:z pitch:z rest:s88 flags:u last:u",
)
"""`CUDA_RESOURCE_DESC`; of linear memory `width` is bytes."""
_SAMPLING = "anisotropy:u level_filter:u bias:f lowest:f highest:f"
_BORDER = "red:f green:f blue:f alpha:f"
TextureDescriptor = _structure(
    "TextureDescriptor", f"x:i y:i z:i filter:u flags:u {_SAMPLING} {_BORDER} rest:s48"
)
"""`CUDA_TEXTURE_DESC`."""
ViewDescriptor = _structure(
    "ViewDescriptor",
    "format:u pad:u width:z height:z depth:z first_level:u last_level:u first_layer:u last_layer:u rest:s64",
)
"""`CUDA_RESOURCE_VIEW_DESC`, and `cudaResourceViewDesc`."""
ChannelDescriptor = _structure("ChannelDescriptor", "x:i y:i z:i w:i kind:i")
"""`cudaChannelFormatDesc`."""
RuntimeResourceDescriptor = _structure(
    "RuntimeResourceDescriptor",
    "type:u pad:u place:q x:i y:i z:i w:i kind:i hole:u width:z height:z pitch:z rest:s72 flags:u last:u",
)
"""`cudaResourceDesc`."""
RuntimeTextureDescriptor = _structure(
    "RuntimeTextureDescriptor",
    f"x:i y:i z:i filter:u read_mode:u srgb:u {_BORDER} normalized:u {_SAMPLING} untouched:u seamless:u",
)
"""`cudaTextureDesc`."""
PoolProperties = _structure(
    "PoolProperties", "type:i handles:i location:i device:i security:p most:z usage:h"
)
AllocationProperties = _structure(
    "AllocationProperties", "type:i handles:i location:i device:i meta:p compression:b rdma:b usage:h pad:u"
)
MulticastProperties = _structure("MulticastProperties", "devices:u size:z handles:p flags:p")
EndpointProperties = _structure("EndpointProperties", "type:i count:i size:z handles:u flags:u")
ATTRIBUTE_BYTES = 72
"""A `CUlaunchAttribute`: its number, and from byte 8 on its value."""
