"""Launches of the lists, as their hosts do it: checked at a small size, predicted at the published one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ptxkit import TensorMap, parse, tensor_map
from ptxkit.card import initial
from ptxkit.device.protocol import Device
from ptxkit.device.protocol import Kernel as LoadedKernel
from ptxkit.dtypes import DTYPES
from ptxkit.emulator import Emulator
from ptxkit.emulator.timing.gpu import Gpu
from ptxkit.emulator.timing.predict import Prediction, Predictor
from ptxkit.workloads.content import decode, fill
from ptxkit.workloads.expect import Expect
from ptxkit.workloads.problem import Tensor
from tools.public_times.listed import Kernel, Timed, number, numbers

MAX_PTX = 1 << 30
"""Bytes of PTX: loops of some kernels are unrolled."""
MOST_BYTES = 1 << 28
"""Tensors of integers that are smaller hold what they should in any case."""


class Launched:
    """A kernel with its tensors on an emulator.

    Args:
        filled: whether all tensors hold what they should; those of integers that are not large, which
            kernels may follow, always do.
    """

    def __init__(
        self, device: Device, kernel: Kernel, sizes: Mapping[str, int], folder: Path, filled: bool
    ) -> None:
        self.device, self.kernel, self.sizes = device, kernel, sizes
        self.hosts: dict[str, np.ndarray] = {}
        self.tensors: dict[str, Tensor] = {}
        self.buffers: dict[str, Any] = {}
        self.loaded = self._entry(folder)
        text = str(kernel.params)
        for name, row in kernel.source.tensors.items():
            used = any(one["tensor"] == name for one in (kernel.maps or {}).values())
            if used or f"'{name}'" in text:
                self._make(name, row, filled)

    def _entry(self, folder: Path) -> LoadedKernel:
        path = folder / self.kernel.ptx.format(**self.sizes)
        module = parse(path, max_size=MAX_PTX)
        (name,) = (entry.name for entry in module.entries if self.kernel.entry in entry.name)
        return self.device.load(module).kernel(name)

    def _make(self, name: str, row: Mapping[str, Any], filled: bool) -> None:
        tensor = Tensor(name, row["dtype"], numbers(row["shape"], self.sizes))
        self.tensors[name] = tensor
        if "hilbert" in row:
            host = schedule(*numbers(row["hilbert"], self.sizes), *tensor.shape)
        elif "init" in row and (filled or (DTYPES[tensor.dtype].is_integer and tensor.nbytes < MOST_BYTES)):
            host = fill(tensor, initial.parse(row["init"]), 0)
        else:
            self.buffers[name] = self.device.zeros(tensor.storage_shape, tensor.storage_dtype, name)
            return
        self.hosts[name] = host
        self.buffers[name] = self.device.array(host, name)

    def _map(self, name: str) -> Any:
        row = dict((self.kernel.maps or {})[name])
        tensor = self.tensors[row.pop("tensor")]
        lists = {key: numbers(row.pop(key), self.sizes) for key in ("shape", "strides", "box") if key in row}
        given = {"dtype": tensor.dtype, "shape": tensor.shape, **row, **lists}
        return tensor_map(self.buffers[tensor.name], **given)

    def _argument(self, value: Any) -> Any:
        if isinstance(value, dict):
            packed = bytearray(value["bytes"])
            for offset, each in value["at"]:
                part = self._packed(self._argument(each))
                packed[offset : offset + len(part)] = part
            return bytes(packed)
        if isinstance(value, float) or value in self.buffers:
            return value if isinstance(value, float) else self.buffers[value]
        if value in (self.kernel.maps or {}):
            return self._map(value)
        if str(value).startswith("*"):
            return self.device.array(np.frombuffer(bytes(self._map(value[1:])), np.uint8))
        return number(value, self.sizes)

    def _packed(self, argument: Any) -> bytes:
        """What a structure holds of it: an int is four bytes."""
        if isinstance(argument, int):
            return argument.to_bytes(4, "little")
        if isinstance(argument, TensorMap):
            return bytes(argument)
        return int(argument.address).to_bytes(8, "little")

    def launch(self) -> None:
        """As the host does."""
        kernel = self.kernel
        self.loaded.launch(
            grid=numbers(kernel.grid, self.sizes),
            block=numbers(kernel.block, self.sizes),
            args=[self._argument(value) for value in kernel.params],
            cluster=kernel.cluster,
            shared=kernel.shared,
        )

    def wrong(self) -> dict[str, float]:
        """How far each tensor that a result is known of is off at most, as a part of the largest element."""
        values = {name: decode(self.tensors[name], host) for name, host in self.hosts.items()}
        found = {}
        for name, row in self.kernel.source.tensors.items():
            text = (self.kernel.expect or {}).get(name, row.get("expect"))
            if text is None or name not in self.buffers:
                continue
            tensor = self.tensors[name]
            known = {**self.sizes, **values}
            expected = np.broadcast_to(Expect(text, known).evaluate(known), tensor.shape)
            got = decode(tensor, self.buffers[name].numpy())
            found[name] = float(np.max(np.abs(got - expected)) / np.max(np.abs(expected)))
        return found


def schedule(rows: int, columns: int, clusters: int, places: int) -> np.ndarray:
    """fast.cu's tiles of each cluster: dealt out in the order of a Hilbert curve; -1 where there is none."""
    side = 1
    while side < max(rows, columns):
        side *= 2
    dealt: list[list[int]] = [[] for _ in range(clusters)]
    tiles = [tile for step in range(side * side) for tile in [_hilbert(side, step)]]
    inside = [(x, y) for x, y in tiles if x < rows and y < columns]
    for turn, (x, y) in enumerate(inside):
        dealt[turn % clusters].append(x << 16 | y)
    found = np.full((clusters, places), -1, np.int32)
    for row, each in zip(found, dealt, strict=True):
        row[: len(each)] = each
    return found


def _hilbert(side: int, step: int) -> tuple[int, int]:
    """Where a Hilbert curve over a square is after `step` steps."""
    x = y = 0
    size = 1
    while size < side:
        right = step // 2 % 2
        up = (step ^ right) % 2
        if not up:
            if right:
                x, y = size - 1 - x, size - 1 - y
            x, y = y, x
        x, y = x + size * right, y + size * up
        step //= 4
        size *= 2
    return x, y


def check(kernel: Kernel, gpu: Gpu, folder: Path, sanitize: bool = True) -> dict[str, float]:
    """Run the kernel at its small size and compare what it leaves.

    Raises:
        PtxkitError: what the sanitizer finds, or a launch that can't be.
    """
    device = Emulator(arch=gpu.target, sanitize=sanitize, threads=1)
    try:
        launched = Launched(device, kernel, kernel.check or {}, folder, True)
        launched.launch()
        return launched.wrong()
    finally:
        device.close()


def predict(timed: Timed, gpu: Gpu, folder: Path) -> Prediction:
    """What the launch would take on the GPU."""
    predictor = Predictor(gpu, warm=timed.kernel.source.warm)
    device = Predictor.emulator(gpu)
    try:
        launched = Launched(device, timed.kernel, timed.sizes, folder, False)
        device.prepare = predictor.begin
        launched.launch()
        (found,) = predictor.predictions()
        return found
    finally:
        device.close()
