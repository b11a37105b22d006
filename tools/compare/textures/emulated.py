"""The emulator's answers."""

from __future__ import annotations

import numpy as np

from compare.textures.model import ArraySpec, Kind, SamplerSpec, Trial, ViewSpec
from compare.textures.program import BLOCK, text
from ptxkit.emulator import Emulator
from ptxkit.emulator.device import EmulatorModule
from ptxkit.emulator.global_memory import BASE
from ptxkit.emulator.texels.arrays import ArrayShape, TexelArray, allocate
from ptxkit.emulator.texels.formats import FORMATS
from ptxkit.emulator.texels.objects import AddressMode, Sampler, Surface, Texture
from ptxkit.isa.modifiers import Geometry
from ptxkit.virtual.gpu.textures import VIEW_FORMATS, ViewRequest, viewed


def _shape(spec: ArraySpec) -> ArrayShape:
    return ArrayShape(
        Geometry(spec.geometry),
        FORMATS[spec.format],
        spec.channels,
        spec.width,
        spec.height,
        spec.depth,
        spec.layers,
    )


def _sampler(spec: SamplerSpec) -> Sampler:
    return Sampler(
        tuple(AddressMode[mode.upper()] for mode in spec.address),
        spec.linear,
        spec.normalized,
        spec.levels_linear,
        spec.bias,
        (spec.lowest, spec.highest),
        max(1, spec.anisotropy),
        spec.border,
        spec.seamless,
        spec.srgb,
    )


def _array(device: Emulator, trial: Trial) -> TexelArray:
    spec = trial.array
    made = allocate(device.memory, _shape(spec), spec.levels if spec.resource == "mipmap" else 0)
    made.linear = spec.resource == "linear"
    for level, data in zip(made.levels, trial.data, strict=True):
        start = level.address - BASE
        device.memory.data[start : start + len(data)] = data
    return made


def _view(spec: ViewSpec) -> ViewRequest:
    number = 1 + VIEW_FORMATS.index((FORMATS[spec.format], spec.channels))
    levels, layers = (spec.first_level, spec.last_level), (spec.first_layer, spec.last_layer)
    return ViewRequest(number, 0, 0, 0, *levels, *layers)


def _bind(device: Emulator, module: EmulatorModule, handle: int) -> None:
    """Let the variable of a module stand for an object."""
    for name, kind in (("image", Texture), ("pixels", Surface)):
        found = module.variable(name)
        if found is not None:
            variable = device.textures.variable(found[0])
            assert variable is not None
            variable.bound = device.textures.get(kind, handle)


def run(
    device: Emulator, kind: Kind, trial: Trial, target: str, version: str
) -> tuple[np.ndarray, list[np.ndarray]]:
    """The emulator's answer to a trial, and the texels after it. Raises PtxkitError."""
    array = _array(device, trial)
    if trial.sampler is None:
        handle = device.textures.add(Surface(array.base))
    else:
        shown = array if trial.view is None else viewed(array, _view(trial.view))
        handle = device.textures.add(Texture(shown, _sampler(trial.sampler), not trial.sampler.integers))
    module = device.load(text(kind, trial, target, version))
    if kind.variables:
        _bind(device, module, handle)
    kernel = module.kernel()
    values = device.array(trial.inputs)
    results = device.array(np.zeros((max(kind.outputs, 1), trial.threads), np.uint32))
    kernel.launch((-(-trial.threads // BLOCK),), (BLOCK,), [np.uint64(handle), values, results])
    answer = results.numpy()
    after = []
    for level, data in zip(array.levels, trial.data, strict=True):
        start = level.address - BASE
        after.append(device.memory.data[start : start + len(data)].copy())
    device.textures.remove(handle)
    assert array.owner is not None
    device.memory.free(array.owner, "the trial is over")
    values.free()
    results.free()
    return answer, after
