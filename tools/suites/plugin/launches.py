"""Run a program of Triton's and PyTorch's, and write what each launch of a kernel left in its tensors.

    python launches.py PYTHON [-m MODULE | SCRIPT] ARGUMENTS..

PYTHON is a word that is skipped, so that this goes before a command line. NUMBERS_LOG names a file, to which
a line of JSON is added for each tensor that a launch changed, or that an earlier launch of the same kernel
changed as the same argument:

    {"kind": "KERNEL: ARGUMENT", "bytes": N, "hash": 16 DIGITS, "dtype": .., "shape": [..],
     "inputs": 16 DIGITS, "sample": DIGITS}

`inputs` is of the bytes of all its tensors before: two launches are the same only where these are. Tensors
that a kernel reaches by their addresses, in a tensor of int64, count among its own (addresses themselves
don't). Samples are as in copies.c.

With NUMBERS_CHECKS a program's numbers are instead the tensors that it gives to `torch.testing.assert_close`,
the first of the two: what its kernels, of another compiler's, have computed.

What would differ between a GPU and the CPU's tensors for no reason of the kernels' is made the same: random
numbers are the CPU's, what `torch.empty` gives is zero, and a measurement runs what it measures once, so that
an autotuner runs all its configurations in turn and takes the first.
Imports nothing of this project, so that it loads in any environment.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
import os
import runpy
import sys
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
import triton
from triton.compiler import CompiledKernel
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

LOG = os.environ["NUMBERS_LOG"]
BLOCK, BLOCKS, SAMPLES = 16, 256, 48
"""Bytes of a block, blocks of a sample, and how many tensors have one."""
MADE = ("rand", "randn", "randint")
FILLED = ("normal_", "uniform_", "random_", "bernoulli_", "exponential_")
EMPTY = ((torch, "empty"), (torch, "empty_like"), (torch, "empty_strided"), (torch.Tensor, "new_empty"))

_addressed: dict[int, weakref.ref[torch.Tensor]] = {}
"""Tensors whose address the program has asked for."""
_outputs: set[str] = set()
"""Kernels' arguments that a launch has changed."""
_sampled = 0


def make_the_same() -> None:
    """Random numbers of the CPU, empty tensors of zeros, measurements of one run."""
    for name in MADE:
        setattr(torch, name, _of_the_cpu(getattr(torch, name)))
        like = f"{name}_like"
        setattr(torch, like, _like(getattr(torch, like)))
    for name in FILLED:
        setattr(torch.Tensor, name, _filled(getattr(torch.Tensor, name)))
    for place, name in EMPTY:
        setattr(place, name, _zeroed(getattr(place, name)))
    torch.Tensor.data_ptr = _noted(torch.Tensor.data_ptr)
    torch.manual_seed(0)
    triton.testing.do_bench = triton.testing.do_bench_cudagraph = run_once
    Autotuner.do_bench = property(lambda tuner: run_once)


def run_once(call: Callable[[], Any], *_: Any, quantiles: Any = None, **__: Any) -> float | list[float]:
    """Run what is to be measured: 1 ms."""
    call()
    return [1.0] * len(quantiles) if quantiles else 1.0


def _of_the_cpu(make: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    @functools.wraps(make)
    def made(
        *arguments: Any, device: Any = None, requires_grad: bool = False, **options: Any
    ) -> torch.Tensor:
        found = make(*arguments, device="cpu", **options)
        return (found if device is None else found.to(device)).requires_grad_(requires_grad)

    return made


def _like(make: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    @functools.wraps(make)
    def made(
        like: torch.Tensor, *arguments: Any, device: Any = None, requires_grad: bool = False, **options: Any
    ) -> torch.Tensor:
        there = like.device if device is None else device
        return make(like.detach().cpu(), *arguments, **options).to(there).requires_grad_(requires_grad)

    return made


def _filled(fill: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    @functools.wraps(fill)
    def filled(self: torch.Tensor, *arguments: Any, **options: Any) -> torch.Tensor:
        with torch.no_grad():
            return self.copy_(fill(torch.zeros(self.shape, dtype=self.dtype), *arguments, **options))

    return filled


def _zeroed(make: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    @functools.wraps(make)
    def made(*arguments: Any, **options: Any) -> torch.Tensor:
        found = make(*arguments, **options)
        with torch.no_grad():
            return found.zero_()

    return made


def _noted(ask: Callable[[torch.Tensor], int]) -> Callable[[torch.Tensor], int]:
    @functools.wraps(ask)
    def asked(tensor: torch.Tensor) -> int:
        address = ask(tensor)
        _addressed[address] = weakref.ref(tensor)
        return address

    return asked


def watch() -> None:
    """Stand before every launch, of a function or of a kernel that was compiled before."""
    run, item = JITFunction.run, CompiledKernel.__getitem__

    def launched(self: Any, *arguments: Any, grid: Any, warmup: bool, **options: Any) -> Any:
        call = functools.partial(run, self, *arguments, grid=grid, warmup=warmup, **options)
        if warmup:
            return call()
        return _told(self.__name__, {**dict(zip(self.arg_names, arguments, strict=False)), **options}, call)

    def of_grid(self: Any, grid: Any) -> Callable[..., Any]:
        start = item(self, grid)
        names = self.src.fn.arg_names

        def started(*arguments: Any, **options: Any) -> Any:
            given = dict(zip(names, arguments, strict=False))
            return _told(self.src.fn.__name__, given, lambda: start(*arguments, **options))

        return started

    JITFunction.run, CompiledKernel.__getitem__ = launched, of_grid


def watch_checks() -> None:
    """Stand before every check of a result."""
    check = torch.testing.assert_close

    @functools.wraps(check)
    def checked(actual: Any, expected: Any, **options: Any) -> None:
        for name, tensor in _tensors("actual", actual):
            _write(f"assert_close: {name}", tensor, _bytes(tensor), "")
        check(actual, expected, **options)

    torch.testing.assert_close = checked


def _told(kernel: str, arguments: dict[str, Any], call: Callable[[], Any]) -> Any:
    tensors = {name: tensor for word, value in arguments.items() for name, tensor in _tensors(word, value)}
    before = {name: _bytes(tensor) for name, tensor in tensors.items()}
    result = call()
    inputs = _hash("".join(f"{name}{_hash(held)}" for name, held in before.items()).encode())
    for name, tensor in tensors.items():
        after, kind = _bytes(tensor), f"{kernel}: {name}"
        if after != before[name]:
            _outputs.add(kind)
        if kind in _outputs:
            _write(kind, tensor, after, inputs)
    return result


def _tensors(name: str, value: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors of an argument: itself, a tuple's, a descriptor's, those that it holds addresses of."""
    if isinstance(value, (tuple, list)):
        for at, each in enumerate(value):
            yield from _tensors(f"{name}[{at}]", each)
    elif isinstance(value, torch.Tensor):
        pointed = []
        if value.dtype == torch.int64 and value.dim() == 1 and value.numel() <= 64:
            pointed = [_addressed.get(address, lambda: None)() for address in value.tolist()]
        if pointed and all(tensor is not None for tensor in pointed):
            for at, tensor in enumerate(pointed):
                yield f"{name}[{at}]", tensor
        else:
            yield name, value
    elif isinstance(getattr(value, "base", None), torch.Tensor):
        yield name, value.base


def _bytes(tensor: torch.Tensor) -> bytes:
    dense = tensor.detach().cpu().contiguous()
    count = dense.numel() * dense.element_size()
    return bytes((ctypes.c_ubyte * count).from_address(dense.data_ptr()))  # string_at ends at 2 GiB


def _hash(held: bytes) -> str:
    return hashlib.blake2b(held, digest_size=8).hexdigest()


def _sample(held: bytes) -> bytes:
    if len(held) <= BLOCK * BLOCKS:
        return held
    last = len(held) // BLOCK - 1
    starts = (last * block // (BLOCKS - 1) * BLOCK for block in range(BLOCKS))
    return b"".join(held[start : start + BLOCK] for start in starts)


def _write(kind: str, tensor: torch.Tensor, held: bytes, inputs: str) -> None:
    global _sampled
    row = {"kind": kind, "bytes": len(held), "hash": _hash(held), "dtype": str(tensor.dtype)[6:]}
    row |= {"shape": list(tensor.shape), "inputs": inputs}
    if _sampled < SAMPLES:
        row["sample"] = _sample(held).hex()
    _sampled += 1
    with open(LOG, "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def main() -> None:
    make_the_same()
    (watch_checks if os.environ.get("NUMBERS_CHECKS") else watch)()
    sys.argv = sys.argv[2:]
    if sys.argv[0] == "-m":
        del sys.argv[0]
        sys.path[0] = os.getcwd()
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(sys.argv[0]).resolve().parent)
        runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
