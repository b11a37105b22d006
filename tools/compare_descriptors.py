"""Compare ptxkit's descriptors with independent packers: CUTLASS's headers, JAX's builders, Triton's output.

    python tools/compare_descriptors.py --install build/oracles    # a venv with the packages, then compares
    python tools/compare_descriptors.py                            # in an environment that has some of them

Prints one line a packer: cases compared, identical words, words that differ in an offset which the
instruction does not read, differences. `--json` prints the same as JSON. Exit 1 where anything differs.
CUTLASS needs a C++ compiler; none of them needs a GPU or a CUDA toolkit.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = (
    "nvidia-cutlass==4.2.0.0", "nvidia-cuda-runtime==13.0.96", "nvidia-cuda-cccl==13.0.85",
    "nvidia-cuda-crt==13.0.88", "jax==0.10.2", "absl-py", "triton==3.9.0", "numpy>=2", "ml_dtypes",
)  # fmt: skip

sys.path.insert(0, str(ROOT))

from ptxkit.descriptors import INSTRUCTION_DESCRIPTORS, SmemDescTcgen05, SmemDescWgmma  # noqa: E402
from ptxkit.diagnostics import PtxkitError  # noqa: E402
from ptxkit.dtypes import DTYPES  # noqa: E402


@dataclass
class Report:
    """What one packer said."""

    name: str
    idesc: int = 0
    smem: int = 0
    identical: int = 0
    unread: int = 0
    differences: list[str] = field(default_factory=list)
    unavailable: str | None = None

    def idesc_case(self, what: str, theirs: int, ours: int) -> None:
        self.idesc += 1
        self._same(what, theirs, ours)

    def smem_case(self, what: str, theirs: int, ours: int, same_reads: Callable[[], bool]) -> None:
        self.smem += 1
        if theirs != ours and same_reads():
            self.unread += 1
        else:
            self._same(what, theirs, ours)

    def _same(self, what: str, theirs: int, ours: int) -> None:
        if theirs == ours:
            self.identical += 1
        else:
            self.differences.append(f"{what}: theirs {theirs:#x}, ours {ours:#x}")

    def line(self) -> str:
        if self.unavailable:
            return f"{self.name}: not compared: {self.unavailable}"
        return (
            f"{self.name}: {self.idesc} idesc, {self.smem} smem; {self.identical} identical, {self.unread} "
            f"differ in an offset that is not read, {len(self.differences)} differences"
        )


# ---- CUTLASS

CPP_TYPES = {
    "f16": "half_t", "bf16": "bfloat16_t", "tf32": "tfloat32_t", "e4m3": "float_e4m3_t",
    "e5m2": "float_e5m2_t", "e2m3": "float_e2m3_t", "e3m2": "float_e3m2_t", "e2m1": "float_e2m1_t",
    "s8": "int8_t", "u8": "uint8_t", "f32": "float", "s32": "int32_t",
    "ue8m0": "float_ue8m0_t", "ue4m3": "float_ue4m3_t",
}  # fmt: skip
UNPACKED_CPP_TYPES = {"e2m1": "cutlass::detail::float_e2m1_unpacksmem_t"}
"""CUTLASS's type of e2m1 in `.kind::f8f6f4` and `.kind::mxf8f6f4`; the plain one means mxf4's code."""
BITS = {"e2m1": 4, "e4m3": 8, "bf16": 16, "tf32": 32}


def idesc_cases(seed: int = 1, each: int = 110) -> Iterator[tuple[str, dict[str, Any]]]:
    """Legal instruction descriptors of every kind, drawn at random from the whole space."""
    draw = random.Random(seed)
    types = {
        "tf32": [("tf32",), ("f32",)],
        "f16": [("f16", "bf16"), ("f16", "f32")],
        "i8": [("s8", "u8"), ("s32",)],
        "f8f6f4": [("e4m3", "e5m2", "e2m3", "e3m2", "e2m1"), ("f16", "f32")],
        "mxf8f6f4": [("e4m3", "e5m2", "e2m3", "e3m2", "e2m1"), ("f32",)],
        "mxf4": [("e2m1",), ("f32",)],
        "mxf4nvf4": [("e2m1",), ("f32",)],
    }
    for kind, (operands, accumulators) in types.items():
        found = 0
        while found < each:
            fields: dict[str, Any] = {
                "m": draw.choice((32, 64, 128, 256)),
                "n": 8 * draw.randint(1, 32),
                "a": draw.choice(operands),
                "b": draw.choice(operands),
                "d": draw.choice(accumulators),
                "sparse": draw.random() < 0.3,
                "transpose_a": draw.random() < 0.3,
                "transpose_b": draw.random() < 0.3,
                "negate_a": draw.random() < 0.3,
                "negate_b": draw.random() < 0.3,
                "saturate": draw.random() < 0.3,
            }
            if kind.startswith("mx"):
                fields["scale"] = draw.choice(("ue8m0", "ue4m3"))
                fields["sfa_id"], fields["sfb_id"] = draw.randint(0, 3), draw.randint(0, 3)
            else:
                fields["max_shift"] = draw.choice((0, 0, 0, 8, 16, 32))
                fields["sparsity_selector"] = draw.randint(0, 3)
            try:
                INSTRUCTION_DESCRIPTORS[kind](**fields)
            except PtxkitError:
                continue
            found += 1
            yield kind, fields


def cutlass_idesc(kind: str, fields: dict[str, Any]) -> str:
    """The C++ expression of one instruction descriptor."""

    def major(matrix: str) -> str:
        return "UMMA::Major::MN" if fields[f"transpose_{matrix}"] else "UMMA::Major::K"

    def sign(matrix: str) -> str:
        return "UMMA::ScaleIn::Neg" if fields[f"negate_{matrix}"] else "UMMA::ScaleIn::One"

    names = {**CPP_TYPES, **(UNPACKED_CPP_TYPES if kind.endswith("f8f6f4") else {})}
    a, b, d = names[fields["a"]], names[fields["b"]], names[fields["d"]]
    sparse = str(fields["sparse"]).lower()
    shape = f"{fields['m']}, {fields['n']}, {major('a')}, {major('b')}, {sign('a')}, {sign('b')}"
    if kind.startswith("mx"):
        ids = f"{fields['sfa_id']}u << 30, {fields['sfb_id']}u << 30"
        scale = names[fields["scale"]]
        return f"UMMA::make_runtime_instr_desc_block_scaled<{a}, {b}, {d}, {scale}, {shape}, {sparse}>({ids})"
    saturate = "UMMA::Saturate::True" if fields["saturate"] else "UMMA::Saturate::False"
    shift = {0: "NoShift", 8: "MaxShift8", 16: "MaxShift16", 32: "MaxShift32"}[fields["max_shift"]]
    more = f"{saturate}, {sparse}, UMMA::MaxShift::{shift}"
    selector = fields["sparsity_selector"]
    return f"UMMA::make_runtime_instr_desc<{a}, {b}, {d}, {shape}, {more}>({selector})"


def smem_cases() -> Iterator[dict[str, Any]]:
    """Tiles: every type, major-ness and swizzle, of the least size and of several atoms in either order."""
    for dtype, major, swizzle, order in itertools.product(
        BITS, ("K", "MN"), ("none", "32B", "64B", "128B", "128B-32B-atom"), ("MN", "K")
    ):
        if (major == "K") == (swizzle == "128B-32B-atom") and swizzle == "128B-32B-atom":
            continue
        if major == "MN" and dtype == "e2m1":
            continue
        width = {"none": 16, "32B": 32, "64B": 64}.get(swizzle, 128) * 8 // BITS[dtype]
        step = 256 // BITS[dtype]  # K of one instruction: 32 bytes
        for mn, k in ((64, 1), (256, 4)) if order == "MN" else ((256, 4),):
            if major == "K":
                size = (mn, max(k * width, step))
            else:
                size = (max(mn, width), k * step)
            yield {
                "dtype": dtype,
                "major": major,
                "swizzle": swizzle,
                "order": order,
                "mn": size[0],
                "k": size[1],
            }


ATOMS = {"none": "INTER", "32B": "SW32", "64B": "SW64", "128B": "SW128", "128B-32B-atom": "SW128_32B"}
CPP_HEAD = r"""
#include <cstdio>
#include <cute/tensor.hpp>
#include <cute/atom/mma_traits_sm100.hpp>
#include <cute/atom/mma_traits_sm90_gmma.hpp>
#include <cutlass/numeric_types.h>
using namespace cute;
using namespace cutlass;
template <class T, class Atom, int MN, int BK, int KI, class Step>
auto piece() {
  auto layout = tile_to_shape(Atom{}, Shape<Int<MN>, Int<BK>>{}, Step{});
  auto tensor = make_tensor(make_smem_ptr(static_cast<T*>(nullptr)), layout);
  return local_tile(tensor, Shape<Int<MN>, Int<KI>>{}, make_coord(0, 0));
}
static void idesc(int i, unsigned long long word) { printf("@ i %d %08x\n", i, unsigned(word >> 32)); }
static void smem(char what, int i, unsigned long long word) { printf("@ %c %d %016llx\n", what, i, word); }
int main() {
"""


def cutlass_smem(i: int, case: dict[str, Any]) -> str:
    """The C++ statements that print one tile's descriptors."""
    T = CPP_TYPES[case["dtype"]]
    major = case["major"]
    order = "Step<_1,_2>" if case["order"] == "MN" else "Step<_2,_1>"
    atom = f"UMMA::Layout_{major}_{ATOMS[case['swizzle']]}_Atom<{T}>"
    step = 256 // BITS[case["dtype"]]
    tile = f"piece<{T}, {atom}, {case['mn']}, {case['k']}, {step}, {order}>()"
    lines = [f"smem('t', {i}, UMMA::make_umma_desc<UMMA::Major::{major}>({tile}).desc_);"]
    if wgmma_has(case):
        lines.append(f"smem('w', {i}, SM90::GMMA::make_gmma_desc<SM90::GMMA::Major::{major}>({tile}).desc_);")
    return "\n".join(lines)


def wgmma_has(case: dict[str, Any]) -> bool:
    """Whether wgmma knows such a tile."""
    if case["swizzle"] == "128B-32B-atom" or case["dtype"] == "e2m1":
        return False
    return case["major"] == "K" or case["dtype"] == "bf16"


def cxx_compiler() -> str | None:
    """The C++ compiler to use: `CXX`, or the first on PATH."""
    return next(filter(None, map(shutil.which, (os.environ.get("CXX", ""), "g++", "clang++", "c++"))), None)


def cutlass_output(lines: list[str], compiler: str, include: list[Path]) -> str:
    """What the generated host programs print, built and run in as many pieces as there are cores."""
    jobs = os.cpu_count() or 1
    command = [compiler, "-std=c++17", "-O0", "-w", *(f"-I{path}" for path in include)]
    with tempfile.TemporaryDirectory() as folder:
        builds = []
        for job in range(jobs):
            source = Path(folder) / f"part{job}.cpp"
            source.write_text(CPP_HEAD + "\n".join(lines[job::jobs]) + "\n}\n")
            program = source.with_suffix("")
            builds.append((program, subprocess.Popen([*command, "-o", str(program), str(source)])))
        out = []
        for program, build in builds:
            if build.wait():
                raise RuntimeError(f"{compiler} could not build the comparison with CUTLASS's headers")
            out.append(subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout)
    return "".join(out)


def compare_cutlass() -> Report:
    """CUTLASS's make_instr_desc, make_umma_desc and make_gmma_desc."""
    report = Report("CUTLASS")
    spec = importlib.util.find_spec("cutlass_library")
    if spec is None or not spec.submodule_search_locations:
        report.unavailable = "the package nvidia-cutlass is not installed"
        return report
    compiler = cxx_compiler()
    if compiler is None:
        report.unavailable = "there is no C++ compiler on PATH"
        return report
    package = Path(next(iter(spec.submodule_search_locations)))
    cuda = package.parent / "nvidia" / "cu13" / "include"
    if not (cuda / "cuda_runtime_api.h").exists():
        report.unavailable = "the package nvidia-cuda-runtime is not installed beside nvidia-cutlass"
        return report
    from ptxkit.layouts import SharedTile, operand_bits

    include = [package / "source" / "include", cuda, cuda / "cccl"]
    idescs, tiles = list(idesc_cases()), list(smem_cases())
    lines = [f"idesc({i}, {cutlass_idesc(kind, fields)});" for i, (kind, fields) in enumerate(idescs)]
    lines += [cutlass_smem(i, case) for i, case in enumerate(tiles)]
    for what, number, word in re.findall(r"@ (\w) (\d+) (\w+)", cutlass_output(lines, compiler, include)):
        i, theirs = int(number), int(word, 16)
        if what == "i":
            kind, fields = idescs[i]
            report.idesc_case(f"idesc.{kind} {fields}", theirs, int(INSTRUCTION_DESCRIPTORS[kind](**fields)))
            continue
        tile = SharedTile(**tiles[i])
        kind = "smem.tcgen05" if what == "t" else "smem.wgmma"
        ours = tile.descriptor(kind=kind)
        step = 256 // BITS[tile.dtype]

        def same_reads(theirs: int = theirs, ours: Any = ours, tile: Any = tile, step: int = step) -> bool:
            try:
                other = type(ours).decode(theirs)
            except PtxkitError:
                return False
            read = operand_bits(other, tile.mn, step, tile.dtype, tile.major)
            return bool((read == operand_bits(ours, tile.mn, step, tile.dtype, tile.major)).all())

        report.smem_case(f"{kind} {tiles[i]}", theirs, int(ours), same_reads)
    return report


# ---- JAX


def compare_jax() -> Report:
    """The builders of Mosaic GPU: no fp6, no negation, no tf32, no `.ws`."""
    report = Report("JAX")
    if importlib.util.find_spec("jax") is None:
        report.unavailable = "the package jax is not installed"
        return report
    from jax.experimental.mosaic.gpu import mma_utils, tcgen05
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import arith, llvm

    def word(value: Any) -> int:
        attribute = (
            value.owner.opview.value
            if hasattr(value.owner, "opview")
            else arith.ConstantOp(value.owner).value
        )
        return int(ir.IntegerAttr(attribute).value) % 2**32

    from jax._src.interpreters import mlir

    with mlir.make_ir_context(), ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            types = {
                "f16": ir.F16Type.get(), "bf16": ir.BF16Type.get(), "f32": ir.F32Type.get(),
                "e4m3": ir.Float8E4M3FNType.get(), "e5m2": ir.Float8E5M2Type.get(),
                "s8": ir.IntegerType.get_signless(8), "s32": ir.IntegerType.get_signless(32),
                "e2m1": ir.Float4E2M1FNType.get(), "ue8m0": ir.Float8E8M0FNUType.get(),
                "ue4m3": ir.Float8E4M3FNType.get(),
            }  # fmt: skip
            for kind, fields in jax_idesc_cases():
                a = types[fields["a"]]
                transposes = (fields.get("transpose_a", False), fields.get("transpose_b", False))
                if "scale" in fields:
                    build = (
                        tcgen05.create_scaled_f4_instr_descriptor
                        if kind.startswith("mxf4")
                        else tcgen05.create_scaled_f8f6f4_instr_descriptor
                    )
                    ids = (fields.get("sfa_id", 0), fields.get("sfb_id", 0))
                    made = build(
                        fields["m"],
                        fields["n"],
                        a,
                        types[fields["b"]],
                        *ids,
                        *transposes,
                        types[fields["scale"]],
                    )
                else:
                    selector = fields.get("sparsity_selector", 0) if fields.get("sparse") else None
                    made = tcgen05.create_instr_descriptor(
                        fields["m"],
                        fields["n"],
                        types[fields["d"]],
                        a,
                        *transposes,
                        sparsity_selector=selector,
                    )
                ours = int(INSTRUCTION_DESCRIPTORS[kind](**fields))
                report.idesc_case(f"idesc.{kind} {fields}", word(made), ours)
            pointer = llvm.mlir_undef(llvm.PointerType.get(address_space=3))
            draw = random.Random(2)
            for _ in range(600):
                leading, stride = 16 * draw.randrange(2**14), 16 * draw.randrange(2**14)
                swizzle = draw.choice((None, 32, 64, 128))
                blackwell = draw.random() < 0.5
                mode = (
                    None
                    if swizzle is None
                    else getattr(mma_utils.mgpu_dialect.SwizzlingMode, JAX_MODES[swizzle])
                )
                _, theirs = mma_utils.encode_descriptor(
                    pointer,
                    leading,
                    stride,
                    mode,
                    const_init=tcgen05.TCGEN05_SMEM_DESCRIPTOR_BIT if blackwell else 0,
                    split_const=True,
                )
                cls = SmemDescTcgen05 if blackwell else SmemDescWgmma
                name = "none" if swizzle is None else f"{swizzle}B"
                ours = cls(address=0, leading_byte_offset=leading, stride_byte_offset=stride, swizzle=name)
                report.smem_case(
                    f"{cls.KIND} {leading} {stride} {name}", int(theirs), int(ours), lambda: False
                )
    return report


JAX_MODES = {32: "k32ByteSwizzle", 64: "k64ByteSwizzle", 128: "k128ByteSwizzle"}


def jax_idesc_cases() -> Iterator[tuple[str, dict[str, Any]]]:
    """The part of the space that JAX's builders reach."""
    for kind, fields in idesc_cases(seed=3, each=400):
        plain = {**fields, "negate_a": False, "negate_b": False, "saturate": False, "max_shift": 0}
        if fields["a"] != fields["b"] and not kind.startswith("mx"):
            continue
        if kind == "tf32" or {fields["a"], fields["b"]} & {"e2m3", "e3m2", "u8"} or fields["m"] < 64:
            continue
        if kind in ("f8f6f4", "mxf8f6f4") and "e2m1" in (fields["a"], fields["b"]):
            continue
        if fields.get("sparsity_selector", 0) == 3 or (fields["sparse"] and "scale" in fields):
            continue
        if kind.startswith("mx"):
            for name in ("max_shift", "sparsity_selector", "saturate"):
                plain.pop(name, None)
        yield kind, plain


# ---- Triton

TRITON_DOT = """
import triton
import triton.language as tl

@triton.jit
def dot(A, B, C, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, OUT: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(A + m[:, None] * K + k[None, :])
    b = tl.load(B + k[:, None] * N + n[None, :])
    c = tl.dot(a, b, out_dtype=OUT)
    tl.store(C + m[:, None] * N + n[None, :], c)
"""
TRITON_TYPES = {
    "fp16": ("f16", "f16"), "bf16": ("f16", "bf16"), "fp8e4nv": ("f8f6f4", "e4m3"),
    "fp8e5": ("f8f6f4", "e5m2"), "fp32": ("tf32", "tf32"), "i8": ("i8", "s8"),
}  # fmt: skip


def compare_triton() -> Report:
    """What `tl.dot` compiles to for compute capability 10.0, without a GPU."""
    report = Report("Triton")
    if importlib.util.find_spec("triton") is None:
        report.unavailable = "the package triton is not installed"
        return report
    import triton
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernels_for_comparison.py"
        path.write_text(TRITON_DOT)
        spec = importlib.util.spec_from_file_location("kernels_for_comparison", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name, (kind, dtype) in TRITON_TYPES.items():
            out = {"i8": "i32"}.get(name, "fp32")
            for m, n in itertools.product((64, 128), (16, 32, 64, 128, 256)):
                source = ASTSource(
                    fn=module.dot,
                    signature={"A": f"*{name}", "B": f"*{name}", "C": f"*{out}"}
                    | dict.fromkeys(("M", "N", "K", "OUT"), "constexpr"),
                    constexprs={
                        "M": m,
                        "N": n,
                        "K": TRITON_K,
                        "OUT": getattr(tl, {"i32": "int32", "fp32": "float32"}[out]),
                    },
                )
                target = GPUTarget("cuda", 100, 32)
                ptx = triton.compile(source, target=target, options={"num_warps": 8}).asm["ptx"]
                for word, *operands in triton_words(ptx):
                    if INSTRUCTION_DESCRIPTORS[kind].diagnose(word):
                        report.differences.append(f"idesc.{kind} {m}x{n}: {word:#x} is refused")
                        continue
                    theirs = INSTRUCTION_DESCRIPTORS[kind].decode(word)
                    ours = INSTRUCTION_DESCRIPTORS[kind](
                        m=m,
                        n=n,
                        a=dtype,
                        b=dtype,
                        d={"i32": "s32", "fp32": "f32"}[out],
                        transpose_a=theirs.transpose_of("a"),
                        transpose_b=theirs.transpose_of("b"),
                    )
                    report.idesc_case(f"idesc.{kind} {m}x{n}", word, int(ours))
                    for matrix, mn, operand in zip("ab", (m, n), operands, strict=True):
                        if operand is not None:
                            major = "MN" if theirs.transpose_of(matrix) else "K"
                            compare_triton_tile(report, operand, mn, dtype, major)
    return report


TRITON_K = 64


def compare_triton_tile(report: Report, word: int, mn: int, dtype: str, major: str) -> None:
    """One shared-memory descriptor of Triton's against the canonical tile of that size, in either order."""
    from ptxkit.layouts import SharedTile, operand_bits

    theirs = SmemDescTcgen05.decode(word)
    step = 256 // DTYPES[dtype].bits
    ours = [
        SharedTile(mn, TRITON_K, dtype, major, theirs.swizzle, order).descriptor() for order in ("MN", "K")
    ]
    same = [int(one) for one in ours if int(one) == word]

    def same_reads() -> bool:
        read = operand_bits(theirs, mn, step, dtype, major)
        return any((read == operand_bits(one, mn, step, dtype, major)).all() for one in ours)

    what = f"smem.tcgen05 {mn}x{TRITON_K} {dtype} {major}-major {theirs.swizzle}"
    report.smem_case(what, word, same[0] if same else int(ours[0]), same_reads)


def triton_words(ptx: str) -> Iterator[tuple[int, int | None, int | None]]:
    """Of the first `tcgen05.mma`: the idesc, and the constant parts of both matrix descriptors."""
    constants = {name: int(value) for name, value in re.findall(r"mov\.b32\s+(%r\d+), (-?\d+);", ptx)}
    pairs = dict(re.findall(r"mov\.b64\s+(%rd\d+), \{(%r\d+, %r\d+)\};", ptx))
    added = {
        name: int(value)
        for name, value in re.findall(r"(?:or\.b32|add\.s32)\s+(%r\d+), %r\d+, (-?\d+);", ptx)
    }

    def descriptor(name: str) -> int | None:
        if name not in pairs:
            return None
        low, high = pairs[name].split(", ")
        if high not in constants:
            return None
        leading = added.get(low, 0) % 2**32 // 2**16
        return constants[high] % 2**32 * 2**32 + leading * 2**16

    found = re.search(r"tcgen05\.mma\S*\s+([^;]+);", ptx)
    if found:
        names = [part.strip() for part in found[1].split(",")]
        if names[3] in constants:
            yield constants[names[3]] % 2**32, descriptor(names[1]), descriptor(names[2])


# ---- the command


def install(folder: Path) -> Path:
    """A venv with the packages; gives its Python."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", PACKAGES[0]], check=True)
    subprocess.run([*pip, *PACKAGES[1:]], check=True)
    return python


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--install", type=Path, metavar="DIR", help="make a venv there and compare inside it")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--only", choices=("cutlass", "jax", "triton"), action="append")
    arguments = parser.parse_args()
    if arguments.install:
        python = install(arguments.install)
        rest = ["--json"] * arguments.json + [
            word for name in arguments.only or () for word in ("--only", name)
        ]
        return subprocess.run([str(python), __file__, *rest], check=False).returncode
    comparisons = {"cutlass": compare_cutlass, "jax": compare_jax, "triton": compare_triton}
    reports = [compare() for name, compare in comparisons.items() if name in (arguments.only or comparisons)]
    if arguments.json:
        print(json.dumps({"schema": 1, "reports": [asdict(report) for report in reports]}, indent=2))
    else:
        for report in reports:
            print(report.line())
            for difference in report.differences[:20]:
                print(f"  {difference}")
    return 1 if any(report.differences for report in reports) else 0


if __name__ == "__main__":
    sys.exit(main())
