"""What a matrix instruction computes, by its types: the models of `tensor_cores`, integers, bits, f64."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ptxkit.dtypes import DTYPES
from ptxkit.emulator import tensor_cores
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.matrices import Mask
from ptxkit.emulator.operation import Unsupported
from ptxkit.emulator.scope import FunctionScope
from ptxkit.emulator.tensor_cores import Elements, Model, Scales
from ptxkit.isa.modifiers import MemoryOperation, MmaKind, Rounding

Present = np.ndarray | None
ScalePair = tuple[Scales, Scales] | None
Compute = Callable[[np.ndarray, np.ndarray, np.ndarray, Present, ScalePair], np.ndarray]
"""From codes of A (K, M, 1, tiles), B (K, 1, N, tiles) and C (M, N, tiles), which elements of A are present
(None: all) and the scale factors, shaped as A and B with blocks in place of K, to D (M, N, tiles), raw."""

SCALED = (MmaKind.MXF8F6F4, MmaKind.MXF4, MmaKind.MXF4NVF4)
CONTAINED = (MmaKind.F8F6F4, MmaKind.MXF8F6F4)
"""Kinds whose elements sit in bytes."""


def arithmetic(instruction: ScopedInstruction, family: str, types: tuple[str, str, str, str]) -> Compute:
    """The arithmetic of an instruction. `family`: as `instruction` of `tensor_cores.find`. `types`: of D, A,
    B and C. Raises Unsupported: there is no model of it."""
    element = DTYPES[types[1]]
    if element.bits == 64:
        return _f64(instruction.find(Rounding) or Rounding.RN)
    if element.bits == 1:
        operator = next(operator for operator in instruction.all(MemoryOperation) if operator in BITWISE)
        return _exactly(partial(tensor_cores.multiply_bits, operator=operator))
    if element.is_integer:
        a, b, saturate = types[1], types[2], instruction["satfinite"] is not None
        return _exactly(
            lambda left, right, start: tensor_cores.multiply_integers(
                _signed(left, a), _signed(right, b), start, saturate
            )
        )
    return _floats(instruction.scope, family, types, instruction.find(MmaKind))


def compiled_model(
    instruction: ScopedInstruction, family: str, types: tuple[str, str, str, str]
) -> Model | None:
    """The model of an instruction's sums, where they are truncated ones and compiled code may make them."""
    image, element = instruction.scope.program.image, DTYPES[types[1]]
    if not image.jit or image.tensor_cores == "float32" or element.is_integer or element.bits not in (8, 16):
        return None
    return _model(instruction.scope, family, types[1], types[0] == types[3] == "f16")


BITWISE = (MemoryOperation.AND, MemoryOperation.XOR)


def _floats(
    scope: FunctionScope, instruction: str, types: tuple[str, str, str, str], kind: MmaKind | None
) -> Compute:
    d, a, b, c = types
    plain = scope.program.image.tensor_cores == "float32"
    element = kind.removeprefix("kind::") if kind in SCALED else a
    model = None if plain else _model(scope, instruction, element, d == c == "f16")
    contained, jit = kind in CONTAINED, scope.program.image.jit

    def compute(
        left: np.ndarray, right: np.ndarray, start: np.ndarray, present: Present, scales: ScalePair
    ) -> np.ndarray:
        first, second = _decoded(left, a, contained), _decoded(right, b, contained)
        first.present = present
        return tensor_cores.multiply(model, first, second, start, (c, d), scales, jit)

    return compute


def _model(scope: FunctionScope, instruction: str, element: str | None, f16: bool) -> Model:
    """The model of the device's tensor cores. Raises Unsupported: none is known."""
    model = tensor_cores.find(scope.program.capability, instruction, element or "")
    if model is None or (f16 and model.zero_f16 is None):
        major, minor = scope.program.capability
        raise Unsupported(f"sums of `.{element}` products on sm_{major}{minor}, of which no model is known")
    return model


def _decoded(codes: np.ndarray, name: str, contained: bool) -> Elements:
    return tensor_cores.decode(tensor_cores.container(codes, name) if contained else codes, name)


def significant(mask: Mask, name: str, kind: MmaKind | None) -> Mask:
    """Undefined bits of elements as they lie in registers, without those that don't count."""
    if mask is None:
        return None
    bits, origin = mask
    if kind in CONTAINED:
        return tensor_cores.container(bits, name), origin
    return (bits & np.uint32(0xFFFFE000) if name == "tf32" else bits), origin


def _f64(mode: str) -> Compute:
    def compute(
        left: np.ndarray, right: np.ndarray, start: np.ndarray, present: Present, scales: ScalePair
    ) -> np.ndarray:
        a, b, c = (codes.view(np.float64) for codes in (left, right, start))
        return tensor_cores.multiply_f64(a, b, c, mode).view(np.uint64)

    return compute


def _exactly(multiply: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]) -> Compute:
    """What sums 32-bit integers, and has neither sparsity nor scale factors."""
    return lambda left, right, start, present, scales: multiply(left, right, start.view(np.int32)).view(
        np.uint32
    )


def _signed(codes: np.ndarray, name: str) -> np.ndarray:
    """Codes of an integer type as int32."""
    if name[0] == "u":
        return codes.astype(np.int32)
    if name == "s8":
        return codes.view(np.int8).astype(np.int32)
    return (codes.astype(np.int32) ^ np.int32(8)) - np.int32(8)
