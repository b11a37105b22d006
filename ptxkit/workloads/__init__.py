"""The problems that kernels solve, by name.

A card names one with `workload = "nvfp4_gemv"`; `--workload FILE.py:NAME` brings one of your own.
"""

from __future__ import annotations

from importlib import import_module, util
from pathlib import Path

from ptxkit.diagnostics import error, listing
from ptxkit.workloads.guarded import Guarded, running
from ptxkit.workloads.problem import (
    Arrays,
    Cost,
    Expected,
    Generator,
    Size,
    Sizes,
    Tensor,
    Tolerance,
    Workload,
)

__all__ = [
    "WORKLOADS",
    "Arrays",
    "Cost",
    "Expected",
    "Generator",
    "Size",
    "Sizes",
    "Tensor",
    "Tolerance",
    "Workload",
    "registered",
    "workload",
]

WORKLOADS: dict[str, str] = {
    "attn_dist": "ptxkit.workloads.attn_dist:AttnDist",
    "block_scaled_gemm": "ptxkit.workloads.block_scaled_gemm:BlockScaledGemm",
    "flash_attn": "ptxkit.workloads.flash_attn:FlashAttn",
    "nvfp4_gemm": "ptxkit.workloads.nvfp4_gemm:Nvfp4Gemm",
    "nvfp4_gemv": "ptxkit.workloads.nvfp4_gemv:Nvfp4Gemv",
    "sparse_attn_bwd": "ptxkit.workloads.sparse_attn_bwd:SparseAttnBwd",
    "sparse_attn_bwd_phase1": "ptxkit.workloads.sparse_attn_bwd:SparseAttnBwdPhase1",
    "ue5m3_gemm": "ptxkit.workloads.ue5m3_gemm:Ue5m3Gemm",
}
"""Where each registered problem lives."""


def workload(name: str) -> Workload:
    """The registered problem called `name`, or the one in `FILE.py:NAME`, whose Python then runs.

    Raises:
        PtxkitError: P550, there is none; P554, the file can't be used.
    """
    return _from_file(name) if ":" in name else registered(name)


def registered(name: str) -> Workload:
    """The registered problem called `name`. A card, which is data, can name no other.

    Raises:
        PtxkitError: P550, there is none.
    """
    if name not in WORKLOADS:
        listed = listing(WORKLOADS)
        help = f"the workloads are {listed}; `--workload FILE.py:NAME` adds one of your own"
        raise error("P550", f"expected a workload, found `{name}`", help=help)
    module, _, attribute = WORKLOADS[name].partition(":")
    found = getattr(import_module(module), attribute)()
    assert isinstance(found, Workload)
    return found


def _from_file(reference: str) -> Workload:
    file, _, attribute = reference.rpartition(":")
    path = Path(file)
    if not path.is_file():
        raise error(
            "P554", f"expected a Python file, found no `{file}`", help="write `--workload FILE.py:NAME`"
        )
    spec = util.spec_from_file_location(f"ptxkit_workload_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise error("P554", f"expected a Python file, found `{file}`", help="its name ends in `.py`")
    module = util.module_from_spec(spec)
    with running(file, f"`{file}` does not load"):
        spec.loader.exec_module(module)
    found = getattr(module, attribute, None)
    if isinstance(found, type) and issubclass(found, Workload):
        with running(file, f"`{attribute}` in `{file}` can't be made"):
            found = found()
    if not isinstance(found, Workload):
        names = [n for n, v in vars(module).items() if isinstance(v, type) and issubclass(v, Workload)]
        own = ", ".join(f"`{n}`" for n in names if n != "Workload")
        message = f"expected a `ptxkit.workloads.Workload` called `{attribute}` in `{file}`, found none"
        raise error(
            "P554", message, help=f"the file has {own}" if own else "subclass `ptxkit.workloads.Workload`"
        )
    return Guarded(found, file, attribute)
