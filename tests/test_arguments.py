"""Packing of kernel arguments: layout, values of every type, and what bad arguments are told."""

from __future__ import annotations

import ctypes
import gc
import struct
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxkit.asm.tree import Declarator, Function, Variable
from ptxkit.device.arguments import REFUSED, ParameterSpace, Signature, device_address, dlpack
from ptxkit.diagnostics import PtxkitError, code_info


def parameter(type: str, name: str = "p", dimensions: tuple[int | None, ...] = (), **rest) -> Variable:
    return Variable("param", type, (Declarator(name, dimensions=dimensions),), **rest)


def signature(*parameters: Variable, name: str = "k") -> Signature:
    named = tuple(
        replace(v, declarators=(replace(v.declarators[0], name=f"p{i}"),)) for i, v in enumerate(parameters)
    )
    return Signature.of(Function("entry", name, named))


def pack(variable: Variable, value: object) -> bytes:
    """The bytes of one argument, checked to be the same through `pack` and `pack_one`."""
    one = signature(variable)
    packed = one.pack([value])
    assert packed == one.pack_one(0, value)
    return packed


def refuse(variable: Variable, value: object, code: str) -> PtxkitError:
    one = signature(variable)
    with pytest.raises(PtxkitError) as caught:
        one.pack([value])
    with pytest.raises(PtxkitError) as alone:
        one.pack_one(0, value)
    assert [d.code for d in caught.value.diagnostics] == [d.code for d in alone.value.diagnostics] == [code]
    assert code_info(code) is not None
    return caught.value


class Buffer:
    """What both devices' buffers have in common."""

    context: object = None

    def __init__(self, address: int) -> None:
        self.address = address


class CudaArray:
    def __init__(self, address: int) -> None:
        self.__cuda_array_interface__ = {
            "data": (address, False),
            "shape": (4,),
            "typestr": "<f4",
            "version": 3,
        }


class DLPackArray:
    """A producer over host memory that claims to be what `device` says."""

    def __init__(self, array: np.ndarray, device: tuple[int, int]) -> None:
        self.array, self.device = array, device

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **_: object) -> object:
        return dlpack.export(self, self.array.ctypes.data, self.array.shape, self.array.dtype, self.device)


C_TYPES = {
    "u8": ctypes.c_uint8, "s8": ctypes.c_int8, "b8": ctypes.c_uint8,
    "u16": ctypes.c_uint16, "s16": ctypes.c_int16, "b16": ctypes.c_uint16,
    "u32": ctypes.c_uint32, "s32": ctypes.c_int32, "b32": ctypes.c_uint32,
    "u64": ctypes.c_uint64, "s64": ctypes.c_int64, "b64": ctypes.c_uint64,
    "f32": ctypes.c_float, "f64": ctypes.c_double,
}  # fmt: skip


@st.composite
def typed_values(draw) -> tuple[str, object]:
    """A type and a number that it holds exactly."""
    name = draw(st.sampled_from(sorted(C_TYPES)))
    if name[0] == "f":
        return name, draw(st.floats(width=int(name[1:])))
    bits = int(name[1:])
    low = -(1 << (bits - 1)) if name[0] == "s" else 0
    return name, draw(st.integers(low, (1 << (bits - (name[0] == "s"))) - 1))


@given(st.lists(typed_values(), min_size=1, max_size=12))
def test_scalars_lie_where_a_c_struct_has_them(values) -> None:
    """Natural alignment is C's: ctypes lays the same members out independently."""
    sig = signature(*(parameter(name) for name, _ in values))
    members = [(f"p{i}", C_TYPES[name]) for i, (name, _) in enumerate(values)]
    structure = type("S", (ctypes.Structure,), {"_fields_": members})
    expected = structure(*(value for _, value in values))
    assert sig.offsets == tuple(getattr(structure, name).offset for name, _ in members)
    end = sig.offsets[-1] + sig.parameters[-1].size
    assert sig.size == end
    packed = sig.pack([value for _, value in values])
    for p in sig:
        assert packed[p.offset : p.offset + p.size] == bytes(expected)[p.offset : p.offset + p.size]


def test_declared_alignment_moves_a_parameter() -> None:
    sig = signature(
        parameter("u32"),
        parameter("b8", dimensions=(128,), align=64),
        parameter("u8"),
        parameter("u64", pointer=("global", 16)),
        parameter("f16", dimensions=(2, 3)),
    )
    assert sig.offsets == (0, 64, 192, 200, 208)
    assert sig.size == 220
    assert [p.size for p in sig] == [4, 128, 1, 8, 12]


def test_gaps_are_zero() -> None:
    sig = signature(parameter("u8"), parameter("u64"))
    assert sig.pack([0xAB, 1]) == b"\xab" + bytes(7) + b"\x01" + bytes(7)


@pytest.mark.parametrize("type", ["u64", "s64", "b64"])
@pytest.mark.parametrize("address", [0, 0x7F00_0000_1000, 0xFFFF_8000_0000_0000])
def test_buffers_stand_for_their_address(type: str, address: int) -> None:
    expected = struct.pack("<Q", address)
    assert pack(parameter(type), Buffer(address)) == expected
    assert pack(parameter(type), CudaArray(address)) == expected
    if type != "s64" or address < 1 << 63:
        assert pack(parameter(type), address) == expected
        assert pack(parameter(type), np.uint64(address)) == expected


@pytest.mark.parametrize("kind", [dlpack.CUDA, dlpack.CUDA_HOST, dlpack.CUDA_MANAGED])
def test_dlpack_arrays_that_a_kernel_can_address(kind: int) -> None:
    memory = np.arange(8, dtype=np.float32)
    assert pack(parameter("u64"), DLPackArray(memory, (kind, 0))) == struct.pack("<Q", memory.ctypes.data)


def test_an_untaken_capsule_gives_the_array_back() -> None:
    before = len(dlpack._exported)
    device_address(DLPackArray(np.zeros(3), (dlpack.CUDA, 0)))
    gc.collect()
    assert len(dlpack._exported) == before


@pytest.mark.parametrize("dtype", [np.float64, np.int8, np.uint16, np.complex64, np.bool_])
def test_numpy_takes_what_we_export(dtype) -> None:
    """numpy is a DLPack consumer written by others: shape, type, content and lifetime must suit it."""
    before = len(dlpack._exported)
    source = np.arange(12).reshape(3, 4).astype(dtype)
    taken = np.from_dlpack(DLPackArray(source, (dlpack.CPU, 0)))
    assert taken.dtype == source.dtype
    np.testing.assert_array_equal(taken, source)
    assert len(dlpack._exported) == before + 1
    del taken
    gc.collect()
    assert len(dlpack._exported) == before


def test_no_dlpack_type_is_a_buffer_error() -> None:
    with pytest.raises(BufferError):
        dlpack.export(None, 0, (1,), np.dtype(ml_dtypes.float4_e2m1fn), (dlpack.CUDA, 0))


def test_arrays_in_host_memory_are_no_pointers() -> None:
    for value in (np.zeros(4), DLPackArray(np.zeros(4), (dlpack.CPU, 0))):
        caught = refuse(parameter("u64"), value, "P502")
        assert "device.array" in (caught.diagnostics[0].help or "")


class CopyingArray(CudaArray):
    """As CuPy's: an array on a GPU whose `__bytes__` is a copy on the host."""

    def __bytes__(self) -> bytes:
        raise AssertionError("an array on a GPU was copied to the host")


class CopyingDLPackArray(DLPackArray):
    __bytes__ = CopyingArray.__bytes__


@pytest.mark.parametrize(
    "array", [CopyingArray(4096), CopyingDLPackArray(np.zeros(4, np.float32), (dlpack.CUDA, 0))]
)
def test_arrays_on_a_gpu_stay_there(array) -> None:
    pointer, by_value = parameter("u64"), parameter("b8", dimensions=(16,))
    assert pack(pointer, array) == struct.pack("<Q", device_address(array))
    refuse(by_value, array, "P502")
    with pytest.raises(TypeError):
        signature(by_value).packer(Buffer, None)(ParameterSpace(signature(by_value).parameters), [array])


def test_promised_alignment_is_checked() -> None:
    aligned = parameter("u64", pointer=("global", 16))
    assert pack(aligned, 32) == struct.pack("<Q", 32)
    assert "16 bytes" in str(refuse(aligned, 40, "P506"))
    refuse(aligned, Buffer(8), "P506")
    assert pack(parameter("u64", pointer=("global", None)), 41) == struct.pack("<Q", 41)


INTEGERS = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"]


@given(st.sampled_from(INTEGERS), st.integers(-(1 << 66), 1 << 66))
def test_integers_fit_or_are_refused(type: str, value: int) -> None:
    size = int(type[1:]) // 8
    try:
        expected = value.to_bytes(size, "little", signed=type[0] == "s" or value < 0)
    except OverflowError:
        refuse(parameter(type), value, "P503")
    else:
        assert pack(parameter(type), value) == expected
        kind = "u" if type[0] == "u" and value >= 0 else "i"
        assert pack(parameter(type), np.dtype(f"{kind}{size}").type(value)) == expected


def test_an_address_is_not_negative() -> None:
    """`.u64` may be a signed integer of a compiler's, `.u64 .ptr` may not."""
    assert pack(parameter("u64"), -1) == b"\xff" * 8
    refuse(parameter("u64", pointer=("global", None)), -1, "P503")


@given(st.sampled_from(["b8", "b16", "b32", "b64", "b128"]), st.integers(-(1 << 130), 1 << 130))
def test_untyped_parameters_take_both_readings(type: str, value: int) -> None:
    bits = int(type[1:])
    if -(1 << (bits - 1)) <= value < 1 << bits:
        assert pack(parameter(type), value) == (value % (1 << bits)).to_bytes(bits // 8, "little")
    else:
        refuse(parameter(type), value, "P503")


def test_the_help_names_the_number_of_the_same_bits() -> None:
    help = refuse(parameter("s8"), 200, "P503").diagnostics[0].help
    assert "-56" in (help or "")


def test_floats_for_integers_are_refused() -> None:
    for type in ["u32", "s64", "b32", "b16", "u8"]:
        refuse(parameter(type), 2.0, "P502")
    refuse(parameter("u32"), np.float32(2), "P502")
    refuse(parameter("b32"), np.float64(2), "P502")


def test_float_scalars_of_their_own_width_for_untyped_parameters() -> None:
    assert pack(parameter("b16"), np.float16(1.5)) == struct.pack("<e", 1.5)
    assert pack(parameter("b16"), ml_dtypes.bfloat16(1.5)) == b"\xc0\x3f"
    assert pack(parameter("b32"), np.float32(1.5)) == struct.pack("<f", 1.5)
    assert pack(parameter("b64"), np.float64(1.5)) == struct.pack("<d", 1.5)
    assert pack(parameter("b8"), ml_dtypes.float8_e4m3fn(1.0)) == b"\x38"
    assert "np.float32" in (refuse(parameter("b32"), 1.5, "P502").diagnostics[0].help or "")


@given(st.sampled_from(["f16", "f32", "f64"]), st.floats())
def test_numbers_round_to_the_float_type(type: str, value: float) -> None:
    numpy_type = np.dtype(f"f{int(type[1:]) // 8}").type
    with np.errstate(over="ignore"):
        expected = numpy_type(value)
    if np.isinf(expected) and not np.isinf(value):
        refuse(parameter(type), value, "P503")
    elif np.isnan(value):
        assert np.isnan(np.frombuffer(pack(parameter(type), value), numpy_type)[0])
    else:
        assert pack(parameter(type), value) == expected.tobytes()


@given(st.integers(0, (1 << 32) - 1))
def test_numpy_floats_keep_their_bits(bits: int) -> None:
    raw = bits.to_bytes(4, "little")
    assert pack(parameter("f32"), np.frombuffer(raw, np.float32)[0]) == raw


def test_what_a_float_parameter_takes() -> None:
    assert pack(parameter("f32"), 3) == struct.pack("<f", 3)
    assert pack(parameter("f32"), np.float64(0.1)) == struct.pack("<f", 0.1)
    assert pack(parameter("f32"), ml_dtypes.bfloat16(0.5)) == struct.pack("<f", 0.5)
    assert pack(parameter("f64"), np.array(2.5)) == struct.pack("<d", 2.5)
    assert pack(parameter("f16x2"), [1, -2.0]) == struct.pack("<ee", 1, -2)
    for value in (True, "1", None, 1j, [1.0], Buffer(0)):
        refuse(parameter("f32"), value, "P502")
    refuse(parameter("f64"), 10**400, "P503")


def test_booleans_are_zero_and_one() -> None:
    assert pack(parameter("u8"), True) == b"\x01"
    assert pack(parameter("b32"), np.True_) == bytes([1, 0, 0, 0])


class Pair(ctypes.Structure):
    _fields_ = [("x", ctypes.c_int32), ("y", ctypes.c_float)]


class TensorMap:
    def __init__(self, content: bytes = bytes(range(128))) -> None:
        self.content = content

    def __bytes__(self) -> bytes:
        return self.content


def test_structures_and_tensor_maps_go_in_by_their_bytes() -> None:
    struct8 = parameter("b8", dimensions=(8,), align=8)
    expected = struct.pack("<if", -3, 0.5)
    numpy_type = np.dtype([("x", "<i4"), ("y", "<f4")])
    for value in (
        expected,
        bytearray(expected),
        memoryview(expected),
        list(expected),
        Pair(-3, 0.5),
        np.array((-3, 0.5), numpy_type),
        np.array((-3, 0.5), numpy_type)[()],
        np.frombuffer(expected, np.uint8),
        np.frombuffer(expected, np.int32),
    ):
        assert pack(struct8, value) == expected
    for declaration in (
        parameter("b8", dimensions=(128,), align=64),
        parameter("b64", dimensions=(16,), align=64),
    ):
        assert pack(declaration, TensorMap()) == bytes(range(128))
        assert pack(declaration, bytes(range(128))) == bytes(range(128))
    for value in (bytes(7), TensorMap(), list(range(9)), np.zeros(3, np.int32)):
        refuse(struct8, value, "P505")
    refuse(struct8, Buffer(64), "P502")
    refuse(struct8, "12345678", "P502")
    refuse(struct8, [0] * 7 + [256], "P503")


def test_nested_arrays() -> None:
    declaration = parameter("s16", dimensions=(2, 3))
    values = [[1, 2, 3], [-1, -2, -3]]
    expected = np.array(values, np.int16).tobytes()
    assert pack(declaration, values) == expected
    assert pack(declaration, np.array(values, np.int64)) == expected
    assert pack(declaration, [np.array(row) for row in values]) == expected
    assert pack(declaration, expected) == expected
    refuse(declaration, [1, 2, 3, -1, -2, -3], "P505")
    refuse(declaration, [[1, 2, 3], [1, 2]], "P505")
    refuse(declaration, [[1, 2, 3], [1, 2, 1 << 15]], "P503")
    refuse(declaration, np.zeros((3, 2), np.int16), "P505")
    refuse(declaration, np.zeros((2, 3)), "P502")
    pointers = parameter("u64", dimensions=(2,))
    assert pack(pointers, [Buffer(16), 32]) == struct.pack("<QQ", 16, 32)
    assert pack(parameter("f32", dimensions=(2,)), (1, 2)) == struct.pack("<ff", 1, 2)


def test_more_than_four_kilobytes() -> None:
    sig = signature(parameter("u32"), parameter("b8", dimensions=(32756,), align=4), parameter("u32"))
    assert sig.size == 32764
    content = np.random.default_rng(0).integers(0, 256, 32756, dtype=np.uint8)
    assert sig.pack([1, content, 2]) == struct.pack("<I", 1) + content.tobytes() + struct.pack("<I", 2)


VALUES = st.one_of(
    st.integers(-(1 << 65), 1 << 65),
    st.floats(),
    st.booleans(),
    st.none(),
    st.binary(max_size=16),
    st.integers(-128, 127).map(np.int8),
    st.floats(width=32).map(np.float32),
    st.integers(0, (1 << 64) - 1).map(Buffer),
    st.just(np.zeros(2)),
)
TYPES = [*INTEGERS, "b8", "b16", "b32", "b64", "b128", "f16", "f32", "f64", "f16x2"]


@settings(max_examples=300)
@given(st.lists(st.tuples(st.sampled_from(TYPES), VALUES), min_size=1, max_size=4))
def test_a_whole_space_is_its_parameters(pairs) -> None:
    """`pack` must accept and produce what packing each parameter by itself does, whatever it is given."""
    sig = signature(*(parameter(type) for type, _ in pairs))
    space = bytearray(sig.size)
    refused: list[str] = []
    for p, (_, value) in zip(sig, pairs, strict=True):
        try:
            space[p.offset : p.offset + p.size] = sig.pack_one(p.index, value)
        except PtxkitError as caught:
            refused += [d.code for d in caught.diagnostics]
    values = [value for _, value in pairs]
    if refused:
        with pytest.raises(PtxkitError) as together:
            sig.pack(values)
        assert [d.code for d in together.value.diagnostics] == refused
    else:
        assert sig.pack(values) == bytes(space)


@settings(max_examples=500)
@given(st.lists(st.tuples(st.sampled_from(TYPES), st.sampled_from([1, 16]), VALUES), min_size=1, max_size=3))
def test_the_short_way_packs_as_the_careful_one(triples) -> None:
    """What the generated packer accepts, `pack` accepts with the same bytes."""
    parameters = []
    for type, align, _ in triples:
        parameters.append(parameter(type, pointer=("global", align) if type == "u64" else None))
    sig = signature(*parameters)
    space = ParameterSpace(sig.parameters)
    values = [value for *_, value in triples]
    try:
        sig.packer(Buffer, None)(space, values)
    except REFUSED:
        return
    assert sig.pack(values) == bytes(space.bytes)


@settings(max_examples=300)
@given(st.lists(st.sampled_from(TYPES), min_size=1, max_size=3), st.data())
def test_a_space_is_packed_again_and_again(types, data) -> None:
    """What lies in a space already is not written again; what was refused half-way leaves nothing behind."""
    sig = signature(*map(parameter, types))
    space, packer = ParameterSpace(sig.parameters), sig.packer(Buffer, None)
    few = data.draw(st.lists(VALUES, min_size=1, max_size=4))
    size = len(sig)
    for values in data.draw(
        st.lists(st.lists(st.sampled_from(few), min_size=size, max_size=size), max_size=6)
    ):
        try:
            packer(space, values)
        except REFUSED:
            try:
                space.fill(sig.pack(values))
            except PtxkitError:
                continue
        assert bytes(space.bytes) == sig.pack(values)


def test_values_that_can_change_are_packed_each_time() -> None:
    sig = signature(parameter("u32"), parameter("b8", dimensions=(4,)), parameter("u64"))
    space, packer = ParameterSpace(sig.parameters), sig.packer(Buffer, None)
    buffer, number, block = Buffer(64), np.array(1, np.uint32), TensorMap(bytes(4))
    buffer.context = None
    args = [number, block, buffer]
    packer(space, args)
    first = bytes(space.bytes)
    number[()], block.content, buffer.address = 2, bytes([1, 2, 3, 4]), 4096
    packer(space, args)
    assert bytes(space.bytes) == sig.pack(args) != first


def test_what_the_short_way_takes() -> None:
    home = object()
    sig = signature(
        parameter("u64", pointer=("global", 16)),
        parameter("s32"),
        parameter("f32"),
        parameter("b8", dimensions=(128,), align=64),
    )
    pack_short = sig.packer(Buffer, home)
    buffer = Buffer(32)
    buffer.context = home
    space = ParameterSpace(sig.parameters)
    for good in ([buffer, -1, 1.5, TensorMap()], [32, True, 1.5, bytes(128)]):
        pack_short(space, good)
        assert bytes(space.bytes) == sig.pack(good)
    for place, bad in (
        (0, 40),
        (0, Buffer(32)),
        (0, -16),
        (1, 1 << 31),
        (1, 1.0),
        (2, 1),
        (2, 1e39),
        (3, bytes(7)),
    ):
        args = [buffer, -1, 1.5, bytes(128)]
        args[place] = bad
        with pytest.raises(REFUSED):
            pack_short(space, args)
    with pytest.raises(REFUSED):
        pack_short(space, [buffer])


def test_the_short_way_takes_other_libraries_arrays() -> None:
    sig = signature(parameter("u64", pointer=("global", 16)), parameter("u32"))
    space, packer = ParameterSpace(sig.parameters), sig.packer(Buffer, None)
    array = CudaArray(4096)
    for address in (4096, 8192):
        array.__cuda_array_interface__["data"] = (address, False)
        packer(space, [array, 7])
        assert bytes(space.bytes) == sig.pack([array, 7])
    array.__cuda_array_interface__["data"] = (4100, False)
    with pytest.raises(REFUSED):
        packer(space, [array, 7])
    with pytest.raises(REFUSED):
        packer(space, [np.zeros(4), 7])


def test_a_wrong_count_prints_the_table() -> None:
    sig = signature(parameter("u64", pointer=("global", 16)), parameter("u32"), name="gemv")
    with pytest.raises(PtxkitError) as caught:
        sig.pack([4])
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "P501"
    assert diagnostic.message == "entry `gemv` takes 2 arguments, found 1"
    assert diagnostic.notes == (
        "0  p0  .u64 .ptr .global .align 16  8 bytes at 0  int 4",
        "1  p1  .u32                         4 bytes at 8  not given",
    )
    with pytest.raises(PtxkitError, match="no such parameter"):
        sig.pack([4, 5, 6])
    with pytest.raises(PtxkitError, match="a list, a tuple or a dict"):
        sig.pack(4)
    with pytest.raises(PtxkitError, match="takes 0 arguments"):
        signature().pack([4])
    assert signature().table() == ["the entry has no parameters"]
    assert signature().pack([]) == b""


def test_every_bad_argument_is_reported_at_once() -> None:
    sig = signature(parameter("u64"), parameter("u32"), parameter("f32"))
    with pytest.raises(PtxkitError) as caught:
        sig.pack([np.zeros(2), 1 << 32, "x"])
    assert [d.code for d in caught.value.diagnostics] == ["P502", "P503", "P502"]
    assert len(caught.value.diagnostics[-1].notes) == 3


def test_parameters_by_name() -> None:
    sig = signature(parameter("u64"), parameter("u32"))
    assert sig.pack_one("p1", 7) == struct.pack("<I", 7)
    for key in ("p2", 2, -1):
        with pytest.raises(PtxkitError) as caught:
            sig.pack_one(key, 7)
        assert caught.value.diagnostics[0].code == "P501"


def test_what_no_host_value_can_have() -> None:
    vector = parameter("f32", vector="v4")  # ptxas: "cannot be allocated in .param state space"
    for bad in (parameter("texref"), parameter("b8", dimensions=(None,)), parameter("pred"), vector):
        with pytest.raises(PtxkitError) as caught:
            signature(bad)
        assert caught.value.diagnostics[0].code == "P507"


def test_a_device_may_resolve_buffers_itself() -> None:
    sig = signature(parameter("u64"))
    assert sig.pack(["x"], address_of=lambda value: 64 if value == "x" else None) == struct.pack("<Q", 64)
