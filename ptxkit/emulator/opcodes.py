"""Which file of `operations/` has the forms of an opcode.

A file registers its operations when it is imported. `load` imports those of an opcode, so that a run loads
what its kernel has and no more.
"""

from functools import cache
from importlib import import_module

OPCODES = {
    "asynchronous_copy": "cp",
    "asynchronous_store": "red st",
    "atomic": "atom red",
    "barrier": "bar barrier fence membar",
    "bulk_copy": "cp",
    "call": "call",
    "cluster": "barrier getctarank mapa",
    "comparison": "selp set setp slct",
    "control_flow": "bra brkpt brx exit griddepcontrol nanosleep pmevent ret trap",
    "conversion": "cvt",
    "conversion_packed": "cvt",
    "data_movement": "cvt mov prmt",
    "extended_precision": "add addc mad madc sub subc",
    "floating": "abs add copysign cos div ex2 fma lg2 mad max min mul neg rcp rsqrt sin sqrt sub tanh testp",
    "half": "abs add ex2 fma max min mul neg sub tanh",
    "integer": "abs add bfe bfi bfind bmsk brev clz div dp2a dp4a fns mad mad24 max min mul mul24 neg popc "
    "rem sad sub szext",
    "launch_control": "clusterlaunchcontrol",
    "load_store": "applypriority createpolicy cvta discard isspacep ld ldu prefetch prefetchu st",
    "logic": "and cnot lop3 not or shf shl shr xor",
    "matrix.mma": "mma",
    "matrix.move": "ldmatrix movmatrix stmatrix",
    "matrix.wmma": "wmma",
    "mbarrier": "cp mbarrier",
    "mixed_precision": "add fma sub",
    "multimem": "multimem",
    "registers": "setmaxnreg",
    "stack": "alloca stackrestore stacksave",
    "tensor_copy": "cp",
    "tensor_map": "fence tensormap",
    "tensor_memory.allocate": "tcgen05",
    "tensor_memory.copy": "tcgen05",
    "tensor_memory.mma": "tcgen05",
    "tensor_memory.move": "tcgen05",
    "tensor_memory.synchronise": "tcgen05",
    "texture": "istypep suld suq sured sust tex tld4 txq",
    "video": "vabsdiff vabsdiff2 vabsdiff4 vadd vadd2 vadd4 vavrg2 vavrg4 vmad vmax vmax2 vmax4 vmin vmin2 "
    "vmin4 vset vset2 vset4 vshl vshr vsub vsub2 vsub4",
    "warp": "activemask elect match redux shfl vote",
    "wgmma": "wgmma",
}
"""The opcodes that each file has forms of."""


@cache
def load(opcode: str) -> None:
    """Import the files that have forms of an opcode."""
    for file, opcodes in OPCODES.items():
        if opcode in opcodes.split():
            import_module(f"ptxkit.emulator.operations.{file}")
