"""Every kind of descriptor by the name that `ptxkit desc` gives it."""

from __future__ import annotations

from ptxkit.bits import Word
from ptxkit.encodings.instruction import INSTRUCTION_DESCRIPTORS
from ptxkit.encodings.shared_memory import SmemDescTcgen05, SmemDescWgmma
from ptxkit.encodings.tensor_maps import TensorMap
from ptxkit.encodings.zero_column_mask import ZeroColumnMask

_CLASSES: tuple[type[Word], ...] = (
    SmemDescWgmma,
    SmemDescTcgen05,
    *INSTRUCTION_DESCRIPTORS.values(),
    ZeroColumnMask,
    TensorMap,
)
KINDS = {cls.KIND: cls for cls in _CLASSES}
