"""A GPU's answers: the objects through the driver API, the kernel through ptxkit's driver."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from typing import Any

import numpy as np

from compare.textures.model import ArraySpec, Kind, SamplerSpec, Trial
from compare.textures.program import BLOCK, text
from ptxkit.driver import CudaDevice

FORMATS = {"u8": 1, "u16": 2, "u32": 3, "s8": 8, "s16": 9, "s32": 10, "f16": 16, "f32": 32}
"""`CUarray_format`."""
VIEWED = ("u8", "s8", "u16", "s16", "u32", "s32", "f16", "f32")
"""The order of `CUresourceViewFormat`, each with 1, 2 and 4 channels."""
ADDRESS = {"wrap": 0, "clamp": 1, "mirror": 2, "border": 3}
LAYERED, SURFACE, CUBEMAP, GATHER, DEPTH = 1, 2, 4, 8, 16
"""Flags of `cuArray3DCreate`."""
AS_INTEGER, NORMALIZED, SRGB, UNTOUCHED, SEAMLESS = 1, 2, 0x10, 0x20, 0x40
"""Flags of `CUDA_TEXTURE_DESC`."""
KEPT = 64
"""Kernels that stay loaded."""
STICKY = (700, 702, 709, 710, 714, 715, 716, 717, 718, 719)
"""`CUresult` after which a process can't use the GPU any more."""


class Refused(Exception):
    """The driver refused a call. `sticky`: every other it will refuse, too."""

    def __init__(self, what: str, code: int, name: str) -> None:
        super().__init__(f"{what}: {name}")
        self.sticky = code in STICKY


class Gpu:
    """One GPU."""

    def __init__(self, ordinal: int) -> None:
        from cuda.bindings import driver

        self.driver: Any = driver
        self.device = CudaDevice(ordinal)
        self._kernels: dict[str, Any] = {}

    def _kernel(self, source: str) -> Any:
        """The kernel of a text; the last ones are kept."""
        if source not in self._kernels:
            if len(self._kernels) == KEPT:
                self._kernels.clear()
            self._kernels[source] = self.device.load(source).kernel()
        return self._kernels[source]

    def call(self, name: str, *arguments: Any) -> Any:
        """A call of the driver. Raises Refused."""
        code, *results = getattr(self.driver, name)(*arguments)
        if int(code):
            raise Refused(name, int(code), getattr(code, "name", str(code)))
        return results[0] if len(results) == 1 else results or None

    # ---- objects

    def _descriptor(self, spec: ArraySpec) -> Any:
        made = self.driver.CUDA_ARRAY3D_DESCRIPTOR()
        made.Width = spec.width
        made.Height = spec.height if spec.geometry in ("2d", "3d", "a2d", "cube", "acube") else 0
        made.Depth = spec.depth if spec.geometry == "3d" else 0
        flags = 0
        if spec.geometry in ("a1d", "a2d", "acube"):
            flags |= LAYERED
        if spec.geometry in ("cube", "acube"):
            flags |= CUBEMAP
        if flags:
            made.Depth = spec.layers
        for wanted, flag in ((spec.surface, SURFACE), (spec.gather, GATHER), (spec.depth_buffer, DEPTH)):
            flags |= flag if wanted else 0
        made.Flags = flags
        made.Format = self.driver.CUarray_format(FORMATS[spec.format])
        made.NumChannels = spec.channels
        return made

    def _copy(self, spec: ArraySpec, level: int, array: Any, data: np.ndarray, to_array: bool) -> None:
        width, height, depth, layers = spec.extents(level)
        made = self.driver.CUDA_MEMCPY3D()
        host, device = ("src", "dst") if to_array else ("dst", "src")
        setattr(made, f"{host}MemoryType", self.driver.CUmemorytype.CU_MEMORYTYPE_HOST)
        setattr(made, f"{host}Host", data.ctypes.data)
        setattr(made, f"{host}Pitch", width * spec.texel)
        setattr(made, f"{host}Height", height)
        setattr(made, f"{device}MemoryType", self.driver.CUmemorytype.CU_MEMORYTYPE_ARRAY)
        setattr(made, f"{device}Array", array)
        made.WidthInBytes, made.Height, made.Depth = width * spec.texel, height, max(depth, layers)
        self.call("cuMemcpy3D", made)

    def make(self, trial: Trial, undo: list[tuple[str, Any]]) -> tuple[int, list[Any]]:
        """The object of a trial: its handle, and the arrays of its levels. `undo`: gets what destroys it."""
        spec, driver = trial.array, self.driver
        resource = driver.CUDA_RESOURCE_DESC()
        arrays: list[Any] = []
        if spec.resource == "array":
            arrays = [self.call("cuArray3DCreate", self._descriptor(spec))]
            undo.append(("cuArrayDestroy", arrays[0]))
            resource.resType = driver.CUresourcetype.CU_RESOURCE_TYPE_ARRAY
            resource.res.array.hArray = arrays[0]
        elif spec.resource == "mipmap":
            whole = self.call("cuMipmappedArrayCreate", self._descriptor(spec), spec.levels)
            undo.append(("cuMipmappedArrayDestroy", whole))
            arrays = [self.call("cuMipmappedArrayGetLevel", whole, level) for level in range(spec.levels)]
            resource.resType = driver.CUresourcetype.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
            resource.res.mipmap.hMipmappedArray = whole
        else:
            self._make_linear(trial, resource, undo)
        for level, array in enumerate(arrays):
            self._copy(spec, level, array, trial.data[level], True)
        if trial.sampler is None:
            handle = self.call("cuSurfObjectCreate", resource)
            undo.append(("cuSurfObjectDestroy", handle))
        else:
            view = None if trial.view is None else self._view(trial)
            handle = self.call("cuTexObjectCreate", resource, self._sampling(trial.sampler), view)
            undo.append(("cuTexObjectDestroy", handle))
        return int(handle), arrays

    def _make_linear(self, trial: Trial, resource: Any, undo: list[tuple[str, Any]]) -> None:
        spec, driver = trial.array, self.driver
        row = spec.width * spec.texel
        pitch = row if spec.resource == "linear" else -(-row // 512) * 512
        memory = self.call("cuMemAlloc", max(pitch * spec.height, 512))
        undo.append(("cuMemFree", memory))
        padded = np.zeros((spec.height, pitch), np.uint8)
        padded[:, :row] = trial.data[0].reshape(spec.height, row)
        self.call("cuMemcpyHtoD", memory, padded.ctypes.data, padded.nbytes)
        format_ = driver.CUarray_format(FORMATS[spec.format])
        if spec.resource == "linear":
            resource.resType = driver.CUresourcetype.CU_RESOURCE_TYPE_LINEAR
            part = resource.res.linear
            part.devPtr, part.format, part.numChannels, part.sizeInBytes = memory, format_, spec.channels, row
        else:
            resource.resType = driver.CUresourcetype.CU_RESOURCE_TYPE_PITCH2D
            part = resource.res.pitch2D
            part.devPtr, part.format, part.numChannels = memory, format_, spec.channels
            part.width, part.height, part.pitchInBytes = spec.width, spec.height, pitch

    def _view(self, trial: Trial) -> Any:
        assert trial.view is not None
        view, spec = trial.view, trial.array
        made = self.driver.CUDA_RESOURCE_VIEW_DESC()
        number = 1 + 3 * VIEWED.index(view.format) + (1, 2, 4).index(view.channels)
        made.format = self.driver.CUresourceViewFormat(number)
        made.width, made.height = spec.width, spec.height if spec.geometry not in ("1d", "a1d") else 0
        made.depth = spec.depth if spec.geometry == "3d" else spec.layers if spec.layers > 1 else 0
        made.firstMipmapLevel, made.lastMipmapLevel = view.first_level, view.last_level
        made.firstLayer, made.lastLayer = view.first_layer, view.last_layer
        return made

    def _sampling(self, sampler: SamplerSpec) -> Any:
        driver = self.driver
        made = driver.CUDA_TEXTURE_DESC()
        made.addressMode = [driver.CUaddress_mode(ADDRESS[mode]) for mode in sampler.address]
        made.filterMode = driver.CUfilter_mode(int(sampler.linear))
        made.mipmapFilterMode = driver.CUfilter_mode(int(sampler.levels_linear))
        flags = (
            (sampler.integers, AS_INTEGER),
            (sampler.normalized, NORMALIZED),
            (sampler.srgb, SRGB),
            (sampler.untouched, UNTOUCHED),
            (sampler.seamless, SEAMLESS),
        )
        made.flags = sum(bit for wanted, bit in flags if wanted)
        made.maxAnisotropy = sampler.anisotropy
        made.mipmapLevelBias = sampler.bias
        made.minMipmapLevelClamp, made.maxMipmapLevelClamp = sampler.lowest, sampler.highest
        made.borderColor = list(sampler.border)
        return made

    # ---- a trial

    def run(self, kind: Kind, trial: Trial, target: str, version: str) -> None:
        """Get the answer of a trial. Raises Refused, PtxkitError."""
        undo: list[tuple[str, Any]] = []
        source = text(kind, trial, target, version)
        kernel = None if kind.variables else self._kernel(source)
        with self.device.context:
            try:
                self._answer(kind, trial, kernel, source, undo)
            finally:
                for name, thing in reversed(undo):
                    with suppress(Refused):
                        self.call(name, thing)

    def _bound(self, trial: Trial, array: Any, source: str, undo: list[tuple[str, Any]]) -> Any:
        """The kernel of a module to whose variable an array is bound."""
        module = self.call("cuModuleLoadData", source.encode() + b"\0")
        undo.append(("cuModuleUnload", module))
        if trial.sampler is None:
            reference = self.call("cuModuleGetSurfRef", module, b"pixels")
            self.call("cuSurfRefSetArray", reference, array, 0)
        else:
            how = self._sampling(trial.sampler)
            reference = self.call("cuModuleGetTexRef", module, b"image")
            self.call("cuTexRefSetArray", reference, array, 1)
            self.call("cuTexRefSetFlags", reference, how.flags & (AS_INTEGER | NORMALIZED | SRGB | UNTOUCHED))
            self.call("cuTexRefSetFilterMode", reference, how.filterMode)
            for axis, mode in enumerate(how.addressMode):
                self.call("cuTexRefSetAddressMode", reference, axis, mode)
        return self.call("cuModuleGetFunction", module, b"fetch")

    def _launch_bound(self, function: Any, blocks: int, values: Any, results: Any) -> None:
        given = ((0, values.address, results.address), (ctypes.c_uint64,) * 3)
        self.call("cuLaunchKernel", function, blocks, 1, 1, BLOCK, 1, 1, 0, 0, given, 0)

    def _answer(
        self, kind: Kind, trial: Trial, kernel: Any, source: str, undo: list[tuple[str, Any]]
    ) -> None:
        device = self.device
        handle, arrays = self.make(trial, undo)
        values = device.array(trial.inputs)
        results = device.array(np.zeros((max(kind.outputs, 1), trial.threads), np.uint32))
        blocks = -(-trial.threads // BLOCK)
        if kernel is None:
            self._launch_bound(self._bound(trial, arrays[0], source, undo), blocks, values, results)
            self.call("cuCtxSynchronize")
        else:
            kernel.launch((blocks,), (BLOCK,), [np.uint64(handle), values, results])
            device.synchronize()
        trial.answer = results.numpy()
        if kind.writes:
            trial.after = [np.zeros_like(data) for data in trial.data]
            for level, array in enumerate(arrays):
                self._copy(trial.array, level, array, trial.after[level], False)
        values.free()
        results.free()
