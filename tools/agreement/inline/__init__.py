"""The inline assembly of libraries as a suite: `python -m tools.agreement inline FOLDER`.

Every `asm` statement in a library's C++ and CUDA sources, and every `inline_asm` of Python, MLIR and LLVM,
becomes a kernel with registers for its operands. ptxas makes code of it, the checker reads it.
"""

from .record import differing, page, problems
from .suite import run

__all__ = ["differing", "page", "problems", "run"]
