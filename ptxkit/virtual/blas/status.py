"""What functions of cuBLAS return, and the version that they say they have."""

from __future__ import annotations

from ptxkit.virtual.results import code

VERSION = (13, 1, 1)
"""Of the headers that the tables of symbols were made from."""
NOT_INITIALIZED, ALLOC_FAILED, INVALID_VALUE, MAPPING_ERROR = 1, 3, 7, 11
EXECUTION_FAILED, INTERNAL_ERROR, NOT_SUPPORTED = 13, 14, 15
TEXTS = {
    0: ("SUCCESS", "success"),
    NOT_INITIALIZED: ("NOT_INITIALIZED", "the library was not initialized"),
    ALLOC_FAILED: ("ALLOC_FAILED", "the resource allocation failed"),
    INVALID_VALUE: ("INVALID_VALUE", "an unsupported value or parameter was passed to the function"),
    8: ("ARCH_MISMATCH", "the function requires a feature absent from the device architecture"),
    MAPPING_ERROR: ("MAPPING_ERROR", "an access to GPU memory space failed"),
    EXECUTION_FAILED: ("EXECUTION_FAILED", "the GPU program failed to execute"),
    INTERNAL_ERROR: ("INTERNAL_ERROR", "an internal operation failed"),
    NOT_SUPPORTED: ("NOT_SUPPORTED", "the functionality requested is not supported"),
    16: ("LICENSE_ERROR", "the functionality requested requires some license"),
}
"""`cublasStatus_t`: names and what they say."""
STATUS = {
    code("INVALID_VALUE"): INVALID_VALUE,
    code("INVALID_HANDLE"): INVALID_VALUE,
    code("OUT_OF_MEMORY"): ALLOC_FAILED,
    code("NOT_INITIALIZED"): NOT_INITIALIZED,
    code("DEINITIALIZED"): NOT_INITIALIZED,
    code("MAP_FAILED"): MAPPING_ERROR,
    code("NOT_SUPPORTED"): NOT_SUPPORTED,
    code("UNKNOWN"): INTERNAL_ERROR,
}
"""Errors of the driver as cuBLAS has them; all others are those of something that ran before."""


def failed(number: int) -> int:
    """What a call returns for an error code of the driver."""
    return STATUS.get(number, EXECUTION_FAILED)


def status_name(status: int) -> str:
    """`CUBLAS_STATUS_INVALID_VALUE`."""
    return f"CUBLAS_STATUS_{TEXTS[status][0]}" if status in TEXTS else "unrecognized status"


def status_text(status: int) -> str:
    """What a status says."""
    return TEXTS[status][1] if status in TEXTS else "unrecognized status"
