"""A workload of somebody's own file: whatever is wrong with it is a diagnostic that shows the line."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ptxkit.diagnostics import PtxkitError, Source, Span, error, listing
from ptxkit.dtypes import DTYPES
from ptxkit.workloads.problem import (
    ROLES,
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

T = TypeVar("T")


class Guarded(Workload):
    """Passes everything on to the workload of a file, and checks what it gives.

    Args:
        own: the workload.
        file: the path of its Python file.
        called: its name there.

    Raises:
        PtxkitError: P554, an attribute does not fit; from each method, that the file's raises, with its line,
            or that what it gives does not fit.
    """

    def __init__(self, own: Workload, file: str, called: str) -> None:
        self._own, self._file, self._called = own, file, called
        self.name = self._attribute("name", str)
        self.summary = self._attribute("summary", str)
        self.sizes = tuple(self._attribute("sizes", tuple))
        self.generators = dict(self._attribute("generators", Mapping))
        self.tolerance = self._attribute("tolerance", Tolerance)
        self._check_attributes()

    def check(self, sizes: Sizes) -> None:
        self._call(self._own.check, sizes)

    def tensors(self, sizes: Sizes) -> tuple[Tensor, ...]:
        given = self._call(self._own.tensors, sizes)
        if isinstance(given, Tensor) or not isinstance(given, tuple | list):
            raise self._refuse("tensors", "a tuple of `Tensor`s", given)
        known: set[str] = set()
        for tensor in given:
            if not isinstance(tensor, Tensor):
                raise self._refuse("tensors", "`Tensor`s", tensor)
            self._check_tensor(tensor)
            if tensor.name in known:
                raise self._refuse("tensors", "tensors of different names", tensor)
            known.add(tensor.name)
        return tuple(given)

    def generate(self, sizes: Sizes, generator: str, seed: int, wanted: frozenset[str]) -> Arrays:
        given = self._call(self._own.generate, sizes, generator, seed, wanted)
        if not isinstance(given, Mapping):
            raise self._refuse("generate", "a dict of arrays", given)
        tensors = {tensor.name: tensor for tensor in self.tensors(sizes)}
        for name in given:
            if name not in tensors:
                raise self._refuse("generate", f"arrays for {listing(tensors)}", name)
        for name, tensor in tensors.items():
            if name in given:
                self._check_array(tensor, given[name])
            elif tensor.role == "input" and name in wanted:
                raise self._refuse("generate", f"an array for the input `{name}`", None)
        return dict(given)

    def reference(self, sizes: Sizes, inputs: Arrays) -> dict[str, Expected]:
        views = {name: array.view() for name, array in inputs.items()}
        for view in views.values():
            view.flags.writeable = False
        given = self._call(self._own.reference, sizes, views)
        if not isinstance(given, Mapping):
            raise self._refuse("reference", "a dict of `Expected`s", given)
        outputs = {tensor.name: tensor for tensor in self.tensors(sizes) if tensor.role == "output"}
        for name in given:
            if name not in outputs:
                raise self._refuse("reference", f"what {listing(outputs)} must hold", name)
        return {name: self._expected(tensor, given.get(name)) for name, tensor in outputs.items()}

    def cost(self, sizes: Sizes) -> Cost:
        given = self._call(self._own.cost, sizes)
        if not isinstance(given, Cost):
            raise self._refuse("cost", "a `Cost`", given)
        for number in (given.bytes_read, given.bytes_written, given.operations):
            if not isinstance(number, int | np.integer) or number < 0:
                raise self._refuse("cost", "integers of 0 or more", number)
        return given

    def generator(self, name: str | None) -> str:
        return self._call(self._own.generator, name)

    # ---- what is checked

    def _attribute(self, name: str, kind: type) -> Any:
        value = getattr(self._own, name, None)
        if not isinstance(value, kind):
            raise self._refuse(name, f"a {kind.__name__.lower()}", value)
        return value

    def _check_attributes(self) -> None:
        for size in self.sizes:
            if not isinstance(size, Size) or size.multiple < 1:
                raise self._refuse("sizes", "`Size`s, each a multiple of 1 or more", size)
        if not self.generators:
            raise self._refuse("generators", "at least one generator", None)
        for generator in self.generators.values():
            if not isinstance(generator, Generator):
                raise self._refuse("generators", "`Generator`s by name", generator)
        allowed = self.tolerance
        for number in (allowed.rtol, allowed.atol, allowed.ulp):
            if not isinstance(number, int | float) or not 0 <= number < math.inf:
                raise self._refuse("tolerance", "numbers of 0 or more", number)

    def _check_tensor(self, tensor: Tensor) -> None:
        dtype = DTYPES.get(tensor.dtype)
        if dtype is None or dtype.numpy is None:
            raise self._refuse("tensors", f"a type such as `f32` for `{tensor.name}`", tensor.dtype)
        extents = tensor.shape if isinstance(tensor.shape, tuple) else None
        if extents is None or not all(isinstance(n, int | np.integer) and n >= 0 for n in extents):
            raise self._refuse("tensors", f"a tuple of extents for `{tensor.name}`", tensor.shape)
        if tensor.role not in ROLES:
            raise self._refuse("tensors", f"one of {listing(ROLES)} for `{tensor.name}`", tensor.role)

    def _check_array(self, tensor: Tensor, array: Any) -> None:
        kind, shape = tensor.storage_dtype, tensor.storage_shape
        wanted = f"`{tensor.name}` as {kind} of shape {shape}"
        if not isinstance(array, np.ndarray):
            raise self._refuse("generate", wanted, array)
        if array.dtype not in (kind, np.dtype(f"u{kind.itemsize}")) or array.shape != shape:
            raise self._refuse("generate", wanted, f"{array.dtype} of shape {array.shape}")

    def _expected(self, tensor: Tensor, given: Any) -> Expected:
        if not isinstance(given, Expected):
            raise self._refuse("reference", f"an `Expected` for `{tensor.name}`", given)
        for array in (given.values, *([] if given.slack is None else [given.slack])):
            numbers = np.asarray(array)
            with contextlib.suppress(TypeError, ValueError):
                np.broadcast_to(numbers, tensor.shape)
                if numbers.dtype.kind in "biuf" or numbers.dtype.type.__module__ == "ml_dtypes":
                    numbers.astype(np.float64)
                    continue
            wanted = f"numbers of shape {tensor.shape} for `{tensor.name}`"
            raise self._refuse("reference", wanted, f"{numbers.dtype} of shape {numbers.shape}")
        return Expected(np.asarray(given.values), given.slack)

    def _refuse(self, where: str, wanted: str, found: Any) -> PtxkitError:
        shown = "none" if found is None else f"`{found}`" if isinstance(found, str) else f"`{found!r}`"
        shown = shown if len(shown) <= 100 else f"{shown[:96]}...`"
        return error(
            "P554", f"expected {wanted} from `{where}` of `{self._called}` in `{self._file}`, found {shown}"
        )

    def _call(self, method: Callable[..., T], *arguments: Any) -> T:
        with running(self._file, f"`{method.__name__}` of `{self._called}` in `{self._file}` fails"):
            return method(*arguments)


@contextlib.contextmanager
def running(file: str, fails: str) -> Iterator[None]:
    """Python of a file runs inside: what it prints goes to standard error, what it raises becomes P554.

    Args:
        file: the path.
        fails: how the message begins.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except PtxkitError:
        raise
    except (Exception, SystemExit) as problem:
        path = os.path.abspath(file)
        frames = traceback.extract_tb(problem.__traceback__)
        lines = [frame.lineno for frame in frames if os.path.abspath(frame.filename) == path]
        line = problem.lineno if isinstance(problem, SyntaxError) else lines[-1] if lines else None
        said = " ".join(str(problem).split())
        message = f"{fails}: {type(problem).__name__}{f': {said}' if said else ''}"
        raise error("P554", message, **_place(file, line)) from problem


def _place(file: str, line: int | None) -> dict[str, Any]:
    """The line of a file, for a diagnostic."""
    try:
        source = Source(file, Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    text = source.line(line) if line else None
    if line is None or not text:
        return {}
    return {"span": Span(line, len(text) - len(text.lstrip()) + 1, line, len(text) + 1), "source": source}
