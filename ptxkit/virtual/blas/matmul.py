"""`cublasLtMatmul`, and which algorithm it takes: there is one. cuBLAS's manual, "cuBLASLt API reference"."""

from __future__ import annotations

import ctypes
from typing import Any

from ptxkit.targets import Target
from ptxkit.virtual.abi import Int, put, put_several
from ptxkit.virtual.blas import blas
from ptxkit.virtual.blas.descriptors import ALGORITHM, LAYOUT, MATMUL, PREFERENCE
from ptxkit.virtual.blas.gemm import CONJUGATED, is_transposed
from ptxkit.virtual.blas.handles import DEVICE, HOST, BlasLtHandle
from ptxkit.virtual.blas.product import BlasMatrix, BlasOperand, BlasProduct, Epilogue, Scalar, host_scalar
from ptxkit.virtual.blas.scaling import BLOCKS, BLOCKS_16, OUTER_VECTOR, SCALAR, Scaling
from ptxkit.virtual.blas.types import (
    NAMED,
    CudaType,
    check_narrow_types,
    check_types,
    compute_type,
    scale_type,
    type_of,
)
from ptxkit.virtual.calling import host_stack
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.results import DriverError, failure

COLUMNS, ROWS = 0, 1
"""`cublasLtOrder_t`."""
FULL = 2
"""`cublasFillMode_t`."""
EPILOGUES = {
    1: (False, ""),
    2: (False, "RELU"),
    4: (True, ""),
    6: (True, "RELU"),
    32: (False, "GELU"),
    36: (True, "GELU"),
}
"""`cublasLtEpilogue_t`: whether a bias is added, and what follows."""
ALIGNMENT = 16
"""Bytes, of which addresses, lines and leading dimensions of narrow products are multiples."""
RESULT_BYTES, RESULT_WORKSPACE, RESULT_STATE = 96, 64, 72
"""A `cublasLtMatmulHeuristicResult_t`, and where it has the workspace's size, and the status and waves."""

Layouts = tuple[int, int, int, int]
"""The addresses of the layouts of A, B, C and D."""
Matrices = tuple[BlasMatrix, BlasMatrix, BlasMatrix, BlasMatrix]
"""These."""


def _not(what: str) -> DriverError:
    return failure("NOT_SUPPORTED", what)


def _matrix(name: str, address: int, given: int) -> BlasMatrix:
    """A matrix as a layout describes it."""
    layout = LAYOUT.at(given)
    if layout.order not in (COLUMNS, ROWS) or layout.plane or layout.batch_mode > 1:
        raise _not(f"{name} is neither by columns nor by rows, or planar, or of another batch mode")
    kind = type_of(layout.type, name)
    made = BlasMatrix(
        name,
        kind,
        layout.rows,
        layout.columns,
        layout.ld,
        address,
        layout.stride,
        bool(layout.batch_mode),
        layout.order == ROWS,
    )
    if made.ld < made.length:
        raise failure("INVALID_VALUE", f"lines of {made.length} elements of {name} are {made.ld} apart")
    if made.type.bits < 8 and (made.ld % 2 or made.length % 2 or made.stride % 2):
        raise _not(f"lines of {name} begin within a byte")
    return made


def _batches(layouts: Layouts) -> int:
    counts = {LAYOUT.at(each).batches for each in layouts}
    if len(counts) > 1 or min(counts) < 1:
        raise failure("INVALID_VALUE", f"batch counts must be the same and positive, found {sorted(counts)}")
    return int(counts.pop())


def _check_shapes(matrices: Matrices, turned: tuple[bool, bool]) -> None:
    shapes = [(each.rows, each.columns) for each in matrices]
    a, b = (shape[::-1] if turn else shape for shape, turn in zip(shapes, turned, strict=False))
    if (a[0], b[1]) != shapes[3] or shapes[2] != shapes[3] or a[1] != b[0]:
        told = ", ".join(f"{each.name} {each.rows} x {each.columns}" for each in matrices)
        raise failure("INVALID_VALUE", f"shapes do not go together: {told}")


def _needs(target: Target, least: tuple[int, int], what: str) -> None:
    if target.capability < least:
        raise _not(f"{what} need compute capability {least[0]}.{least[1]}, this is {target.name}")


def _check_narrow(
    target: Target,
    operation: Any,
    matrices: Matrices,
    operands: tuple[BlasOperand, BlasOperand],
) -> None:
    """What holds for products of FP8 and FP4 alone."""
    _needs(target, (8, 9), "products of FP8")
    a, mode = matrices[0], operation.a_mode
    along = [each.matrix.by_rows != each.transposed for each in operands]
    if (target.capability[0] != 10 or mode in BLOCKS) and not all(along):
        raise _not("A must be transposed and B must not be")
    for each in matrices:
        if any(size * each.type.bits // 8 % ALIGNMENT for size in (each.length, each.ld)):
            raise _not(f"lines of {each.name} are no multiples of {ALIGNMENT} bytes")
        if each.address % ALIGNMENT:
            raise _not(f"{each.name} is at no multiple of {ALIGNMENT} bytes")
    if (mode in BLOCKS or operation.b_mode in BLOCKS) and mode != operation.b_mode:
        raise _not(f"A and B have scale modes {mode} and {operation.b_mode}")
    if mode in BLOCKS:
        _needs(target, (10, 0), "factors of blocks")
    if (mode == BLOCKS_16) != (a.type.part == "e2m1"):
        raise _not(f"{a.type.name} with scale mode {mode}")


def _operand(operation: Any, name: str, matrix: BlasMatrix, batches: int, target: Target) -> BlasOperand:
    """A or B: which of its dimensions is summed over, and its factors."""
    letter = name.lower()
    turned = getattr(operation, f"trans{letter}")
    mode, address = getattr(operation, f"{letter}_mode"), getattr(operation, f"{letter}_scale")
    if mode not in (SCALAR, OUTER_VECTOR, *BLOCKS):
        raise _not(f"scale mode {mode} of {name}")
    if mode == OUTER_VECTOR and target.capability != (9, 0):
        raise _not("factors of rows and columns, but on compute capability 9.0")
    if mode != SCALAR and batches > 1:
        raise _not("factors that are not one, of a batch")
    if (address or mode) and not matrix.type.narrow:
        raise failure("INVALID_VALUE", f"{name} has factors, and is neither of FP8 nor of FP4")
    return BlasOperand(
        matrix,
        is_transposed(turned) == (name == "A"),
        turned == CONJUGATED,
        Scaling(mode, address) if address or mode else None,
    )


def _epilogue(operation: Any, matrices: Matrices, compute: str) -> Epilogue:
    """What follows the sum."""
    a, _, c, d = matrices
    if operation.epilogue not in EPILOGUES:
        raise _not(f"epilogue {operation.epilogue}")
    biased, activation = EPILOGUES[operation.epilogue]
    if operation.epilogue != 1 and (d.type.is_complex or compute == "32I"):
        raise _not(f"epilogue {operation.epilogue} for {d.type.name} with COMPUTE_{compute}")
    if operation.c_scale:
        raise failure("INVALID_VALUE", f"C is {c.type.name}, and only one of FP8 has a factor")
    if (operation.d_scale or operation.largest) and not d.type.narrow:
        raise failure("INVALID_VALUE", f"D is {d.type.name}, and only one of FP8 has a factor")
    if operation.d_mode or operation.c_mode or operation.d_out_mode or operation.d_out_scale:
        raise _not("factors of C or D that are not one")
    bias = None
    if biased:
        kind = c.type if not (a.type.narrow and c.type.name == "R_32F") else NAMED["R_16BF"]
        if operation.bias_type >= 0:
            kind = type_of(operation.bias_type, "the bias")
        bias = BlasMatrix("the bias", kind, d.rows, 1, d.rows, operation.bias, operation.bias_stride)
    return Epilogue(bias, activation, operation.d_scale, operation.largest)


def _scalar(operation: Any, name: str, kind: CudaType, address: int) -> Scalar:
    if operation.pointer_mode not in (HOST, DEVICE):
        raise _not(f"pointer mode {operation.pointer_mode}")
    if not address:
        raise failure("INVALID_VALUE", f"{name} is null")
    made = Scalar(name, kind, address)
    return host_scalar(name, kind, address) if operation.pointer_mode == HOST else made


def _product(
    handle: BlasLtHandle, given: int, layouts: Layouts, places: tuple[int, int, int, int]
) -> tuple[BlasProduct, CudaType]:
    """The product without its alpha and beta, and their type.

    Raises:
        DriverError: INVALID_VALUE, descriptors contradict each other; NOT_SUPPORTED, there is none such.
    """
    operation, target = MATMUL.at(given), handle.context.device.target
    if operation.transc or operation.fill != FULL:
        raise _not("C that is transposed, or a triangle of it")
    a, b, c, d = (_matrix(*each) for each in zip("ABCD", places, layouts, strict=True))
    batches = _batches(layouts)
    _check_shapes((a, b, c, d), (is_transposed(operation.transa), is_transposed(operation.transb)))
    compute, scale = compute_type(operation.compute), type_of(operation.scale_type, "alpha")
    operands = tuple(
        _operand(operation, name, matrix, batches, target) for name, matrix in (("A", a), ("B", b))
    )
    if a.type.narrow or b.type.narrow:
        check_narrow_types(compute, scale, a.type, b.type, c.type, d.type)
        _check_narrow(target, operation, (a, b, c, d), (operands[0], operands[1]))
    elif (compute, scale.name, c.type.name) == ("32I", "R_32F", "R_8I"):
        check_types(compute, a.type, b.type, NAMED["R_32I"])
    else:
        check_types(compute, a.type, b.type, c.type)
        if scale != scale_type(compute, c.type):
            raise _not(f"alpha of {scale.name} for {c.type.name} with COMPUTE_{compute}")
    if c.type != d.type and not a.type.narrow:
        raise _not(f"C of {c.type.name} and D of {d.type.name}")
    epilogue = _epilogue(operation, (a, b, c, d), compute)
    nothing = Scalar("alpha", scale)
    name = "cublasLtMatmul"
    made = BlasProduct(
        handle.context,
        name,
        operands[0],
        operands[1],
        c,
        d,
        nothing,
        nothing,
        batches,
        epilogue,
        host_stack(),
    )
    return made, scale


@blas("cublasLtMatmul")
def matmul(
    machine: Machine,
    handle: int,
    operation: int,
    alpha: int,
    a: int,
    a_layout: int,
    b: int,
    b_layout: int,
    beta: int,
    c: int,
    c_layout: int,
    d: int,
    d_layout: int,
    algorithm: int,
    workspace: int,
    size: int,
    stream: int,
) -> None:
    """Queue a product."""
    found = machine.handles.get(BlasLtHandle, handle)
    layouts = (a_layout, b_layout, c_layout, d_layout)
    product, scale = _product(found, operation, layouts, (a, b, c, d))
    if algorithm:
        ALGORITHM.at(algorithm)
    given = MATMUL.at(operation)
    for name, mode, address in (("A", given.a_mode, given.a_scale), ("B", given.b_mode, given.b_scale)):
        if mode != SCALAR and not address:
            raise failure("INVALID_VALUE", f"the factors of {name} are null")
    if product.epilogue.bias is not None and not given.bias:
        raise failure("INVALID_VALUE", "the bias is null")
    product.alpha = _scalar(given, "alpha", scale, alpha)
    product.beta = _scalar(given, "beta", scale, beta)
    found.context.check()
    queue = found.context.stream(stream)
    if product.d.rows and product.d.columns:
        queue.add(product)


def _put_result(place: int) -> None:
    """A `cublasLtMatmulHeuristicResult_t`: the algorithm is there already."""
    ctypes.memset(place + RESULT_WORKSPACE, 0, RESULT_BYTES - RESULT_WORKSPACE)
    ctypes.c_float.from_address(place + RESULT_STATE + 4).value = 1.0


@blas("cublasLtMatmulAlgoGetHeuristic")
def heuristic(
    machine: Machine,
    handle: int,
    operation: int,
    a: int,
    b: int,
    c: int,
    d: int,
    preference: int,
    wanted: int,
    results: int,
    count: int,
) -> None:
    """The algorithm, if there is such a product."""
    put(count, Int, 0)
    if wanted < 1 or not results:
        raise failure("INVALID_VALUE", f"room for {wanted} algorithms")
    if preference:
        PREFERENCE.at(preference)
    _product(machine.handles.get(BlasLtHandle, handle), operation, (a, b, c, d), (0, 0, 0, 0))
    ALGORITHM.fill(results, ALGORITHM.size)
    _put_result(results)
    put(count, Int, 1)


@blas("cublasLtMatmulAlgoGetIds")
def algorithms(
    machine: Machine,
    handle: int,
    compute: int,
    scale: int,
    a: int,
    b: int,
    c: int,
    d: int,
    wanted: int,
    place: int,
    count: int,
) -> None:
    """The number of the algorithm."""
    machine.handles.get(BlasLtHandle, handle)
    if wanted < 1 or not place:
        raise failure("INVALID_VALUE", f"room for {wanted} algorithms")
    put_several(place, Int, [0])
    put(count, Int, 1)


@blas("cublasLtMatmulAlgoInit")
def begin_algorithm(
    machine: Machine,
    handle: int,
    compute: int,
    scale: int,
    a: int,
    b: int,
    c: int,
    d: int,
    number: int,
    place: int,
) -> None:
    """The algorithm by its number."""
    machine.handles.get(BlasLtHandle, handle)
    if number:
        raise failure("INVALID_VALUE", f"there is no algorithm {number}")
    ALGORITHM.fill(place, ALGORITHM.size)


@blas("cublasLtMatmulAlgoCheck")
def check_algorithm(
    machine: Machine, handle: int, operation: int, a: int, b: int, c: int, d: int, algorithm: int, place: int
) -> None:
    """Whether there is such a product."""
    _product(machine.handles.get(BlasLtHandle, handle), operation, (a, b, c, d), (0, 0, 0, 0))
    ALGORITHM.at(algorithm)
    if not place:
        raise failure("INVALID_VALUE", "a result has no place")
    _put_result(place)
