"""Matrix products of cuBLAS, one, by strides and by pointers, with types in the name or in the call. cuBLAS's
manual, `cublas<t>gemm` to `cublasGemmStridedBatchedEx`."""

from __future__ import annotations

import re
from typing import Any

from ptxkit.virtual.blas import blas
from ptxkit.virtual.blas.handles import DEVICE, BlasHandle
from ptxkit.virtual.blas.product import BlasMatrix, BlasOperand, BlasProduct, Scalar, host_scalar
from ptxkit.virtual.blas.types import (
    NAMED,
    CudaType,
    check_types,
    compute_type,
    scale_type,
    type_of,
)
from ptxkit.virtual.calling import host_stack
from ptxkit.virtual.dispatch import Implementation
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.results import failure
from ptxkit.virtual.symbols import table

NO, TRANSPOSED, CONJUGATED = 0, 1, 2
"""`cublasOperation_t`."""
LETTERS = {
    "S": ("32F", "R_32F"),
    "D": ("64F", "R_64F"),
    "C": ("32F", "C_32F"),
    "Z": ("64F", "C_64F"),
    "H": ("16F", "R_16F"),
}
"""The letter of a name: compute type, and type of matrices where the call has none."""
ALGORITHMS = {*range(-1, 24), *range(99, 116), 999}
"""`cublasGemmAlgo_t`; all of them do the same."""
NAME = re.compile(r"cublas([SDCZH]?)[gG]emm(3m)?(Batched|StridedBatched)?(Ex)?(_v2)?(_64)?")


def is_transposed(operation: int) -> bool:
    """Whether an operation transposes.

    Raises:
        DriverError: INVALID_VALUE, there is none of that number.
    """
    if operation not in (NO, TRANSPOSED, CONJUGATED):
        raise failure("INVALID_VALUE", f"there is no cublasOperation_t {operation}")
    return operation != NO


def _at_least(call: dict[str, int], name: str, least: int) -> int:
    if call[name] < least:
        raise failure("INVALID_VALUE", f"{name} must be at least {least}, found {call[name]}")
    return call[name]


def _types(letter: str, call: dict[str, int]) -> tuple[str, CudaType, CudaType, CudaType]:
    """The compute type, and the types of A, B and C.

    Raises:
        DriverError: NOT_SUPPORTED.
    """
    compute, name = LETTERS[letter] if letter else (compute_type(call["computeType"]), "")
    a, b, c = (type_of(call[f"{each}type"], each) if f"{each}type" in call else NAMED[name] for each in "ABC")
    check_types(compute, a, b, c)
    if name and NAMED[name].is_complex != c.is_complex:
        raise failure("NOT_SUPPORTED", f"C can't be {c.name}")
    return compute, a, b, c


def _matrix(call: dict[str, int], name: str, kind: CudaType, rows: int, columns: int) -> BlasMatrix:
    pointers = f"{name}array" in call
    address = call[f"{name}array"] if pointers else call[name]
    ld = _at_least(call, f"ld{name.lower()}", max(1, rows))
    return BlasMatrix(name, kind, rows, columns, ld, address, call.get(f"stride{name}", 0), pointers)


def _scalar(handle: BlasHandle, name: str, kind: CudaType, address: int) -> Scalar:
    if not address:
        raise failure("INVALID_VALUE", f"{name} is null")
    if handle.settings["PointerMode"] == DEVICE:
        return Scalar(name, kind, address)
    return host_scalar(name, kind, address)


def _gemm(machine: Machine, name: str, letter: str, call: dict[str, int]) -> None:
    handle = machine.handles.get(BlasHandle, call["handle"])
    m, n, k = (_at_least(call, each, 0) for each in "mnk")
    batches = _at_least(call, "batchCount", 0) if "batchCount" in call else 1
    turned = [is_transposed(call[each]) for each in ("transa", "transb")]
    if call.get("algo", 0) not in ALGORITHMS:
        raise failure("INVALID_VALUE", f"there is no cublasGemmAlgo_t {call['algo']}")
    compute, *types = _types(letter, call)
    a = _matrix(call, "A", types[0], *((k, m) if turned[0] else (m, k)))
    b = _matrix(call, "B", types[1], *((n, k) if turned[1] else (k, n)))
    c = _matrix(call, "C", types[2], m, n)
    scale = scale_type(compute, types[2])
    alpha, beta = (_scalar(handle, each, scale, call[each]) for each in ("alpha", "beta"))
    stream = handle.stream
    if not (m and n and batches):
        return
    stream.add(
        BlasProduct(
            handle.context,
            name,
            BlasOperand(a, turned[0], call["transa"] == CONJUGATED),
            BlasOperand(b, not turned[1], call["transb"] == CONJUGATED),
            c,
            c,
            alpha,
            beta,
            batches,
            stack=host_stack(),
        )
    )


def _entry(name: str, letter: str, parameters: list[str]) -> Implementation:
    def entry(machine: Machine, *arguments: Any) -> None:
        _gemm(machine, name, letter, dict(zip(parameters, arguments, strict=True)))

    return entry


for _symbol in table("cublas"):
    _found, _parameters = NAME.fullmatch(_symbol.name), [name for name, _ in _symbol.parameters]
    if _found and _parameters[0] == "handle":  # those of the legacy interface have none
        blas(_symbol.name)(_entry(_symbol.name, _found[1], _parameters))
