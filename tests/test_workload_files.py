"""Workloads of somebody's own: whatever is wrong with one is said, with the line where it raises."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import ptxkit

from ptxkit.diagnostics import Diagnostic, PtxkitError
from ptxkit.workloads import Arrays, workload

TWICE = """
import numpy as np
from ptxkit.workloads import Cost, Expected, Generator, Size, Tensor, Tolerance, Workload

class Twice(Workload):
    name = "twice"
    summary = "y = 2 x"
    sizes = (Size("n", "the number of elements"),)
    generators = {"normal": Generator("normal numbers")}
    tolerance = Tolerance(ulp=1)

    def tensors(self, sizes):
        shape = (sizes["n"],)
        return Tensor("x", "f32", shape), Tensor("y", "f32", shape, "output")

    def generate(self, sizes, generator, seed, wanted):
        x = np.random.default_rng(seed).standard_normal(sizes["n"], np.float32)
        return {"x": x}

    def reference(self, sizes, inputs):
        twice = 2 * inputs["x"].astype(np.float64)
        return {"y": Expected(twice)}

    def cost(self, sizes):
        return Cost(4 * sizes["n"], 4 * sizes["n"], sizes["n"])
"""
KERNEL = """.version 8.0
.target sm_75
.address_size 64
.visible .entry twice(.param .u64 x, .param .u64 y, .param .u32 n) {
    .reg .b32 %i;
    .reg .b64 %x, %y, %at;
    .reg .f32 %value;
    ld.param.u64 %x, [x];
    ld.param.u64 %y, [y];
    mov.u32 %i, %tid.x;
    mul.wide.u32 %at, %i, 4;
    add.u64 %x, %x, %at;
    add.u64 %y, %y, %at;
    ld.global.f32 %value, [%x];
    add.f32 %value, %value, %value;
    st.global.f32 [%y], %value;
    ret;
}
"""
SIZES = {"n": 32}


def refusal(path: Path, old: str, new: str) -> Diagnostic:
    """What is said of the workload with `new` in place of `old`, whenever it comes out."""
    assert old in TWICE
    path.write_text(TWICE.replace(old, new))
    with pytest.raises(PtxkitError) as caught:
        solve(path)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "P554"
    assert str(path) in diagnostic.message
    return diagnostic


def solve(path: Path) -> Arrays:
    """Everything that a run asks of a workload; gives the inputs."""
    found = workload(f"{path}:Twice")
    found.check(SIZES)
    found.tensors(SIZES)
    inputs = found.generate(SIZES, found.generator(None), 0, frozenset("xy"))
    assert found.reference(SIZES, inputs)["y"].values.shape == (32,)
    assert found.cost(SIZES).bytes == 256
    return inputs


def test_a_good_one(tmp_path: Path) -> None:
    path = tmp_path / "w.py"
    path.write_text(TWICE)
    assert solve(path)["x"].flags.writeable
    for same in ("twice.astype(np.float32)", "twice.astype(np.longdouble)", "list(twice)"):
        path.write_text(TWICE.replace("Expected(twice)", f"Expected({same})"))
        solve(path)
    path.write_text(TWICE.replace('{"x": x}', '{"x": x.view(np.uint32)}'))
    solve(path)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "twice"', "", "expected a str from `name`"),
        ('(Size("n", "the number of elements"),)', '("n",)', "expected `Size`s"),
        ('(Size("n", "the number of elements"),)', "None", "expected a tuple from `sizes`"),
        ('"the number of elements")', '"", multiple=0)', "multiple of 1 or more"),
        ('{"normal": Generator("normal numbers")}', "{}", "expected at least one generator"),
        ('Generator("normal numbers")', "3", "expected `Generator`s by name"),
        ("Tolerance(ulp=1)", "Tolerance(ulp=-1)", "expected numbers of 0 or more from `tolerance`"),
        ("Tolerance(ulp=1)", "3", "expected a tolerance from `tolerance`"),
        ('return Tensor("x"', 'return Tensor("x", "f33", shape), Tensor("z"', "found `f33`"),
        ('return Tensor("x"', 'return Tensor("y"', "tensors of different names"),
        ('(sizes["n"],)\n', '(sizes["n"] - 99,)\n', "a tuple of extents for `x`"),
        ('(sizes["n"],)\n', '[sizes["n"]]\n', "a tuple of extents for `x`"),
        ('"output")', '"outputs")', "expected one of `input`, `output`, `scratch` for `y`"),
        ("        return Tensor(", "        return 3, Tensor(", "expected `Tensor`s from `tensors`"),
        ('return {"x": x}', "pass", "expected a dict of arrays from `generate`"),
        ('{"x": x}', '{"z": x}', "expected arrays for `x`, `y` from `generate`"),
        ('{"x": x}', "{}", "expected an array for the input `x`"),
        ('{"x": x}', '{"x": list(x)}', "expected `x` as float32 of shape (32,)"),
        ('{"x": x}', '{"x": x[:5]}', "found `float32 of shape (5,)`"),
        ('{"x": x}', '{"x": x.astype(np.float64)}', "found `float64 of shape (32,)`"),
        ('{"y": Expected(twice)}', "twice", "expected a dict of `Expected`s"),
        ('{"y": Expected(twice)}', "{}", "expected an `Expected` for `y`"),
        ('{"y": Expected', '{"z": Expected', "expected what `y` must hold"),
        ("Expected(twice)", "twice", "expected an `Expected` for `y`"),
        ("Expected(twice)", "Expected(None)", "expected numbers of shape (32,) for `y`"),
        ("Expected(twice)", "Expected(twice[:5])", "found `float64 of shape (5,)`"),
        ("Expected(twice)", "Expected(twice * 1j)", "found `complex128 of shape (32,)`"),
        ("Expected(twice)", 'Expected("abc")', "expected numbers of shape (32,)"),
        ("Expected(twice)", "Expected(twice, np.zeros(7))", "found `float64 of shape (7,)`"),
        ("return Cost(4", "return Cost(-4", "expected integers of 0 or more from `cost`"),
        ("return Cost(", "return (", "expected a `Cost` from `cost`"),
        ("    def cost", "    def costs", "`Twice` in"),
    ],
)
def test_what_does_not_fit(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert said in refusal(tmp_path / "w.py", old, new).message


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("import numpy as np", "1 / 0", "does not load: ZeroDivisionError: division by zero"),
        ("import numpy as np", "raise SystemExit(3)", "does not load: SystemExit: 3"),
        ("import numpy as np", "import no_such_module", "does not load: ModuleNotFoundError"),
        ("import numpy as np", "def f(:", "does not load: SyntaxError: invalid syntax"),
        ('shape = (sizes["n"],)', 'shape = (sizes["m"],)', "`tensors` of `Twice`"),
        ("twice = 2 *", 'inputs["x"][0] = 2 *', "fails: ValueError: assignment destination is read-only"),
        ("twice = 2 *", "twice = 0 / 0 *", "fails: ZeroDivisionError"),
        ("twice = 2 *", 'twice = inputs["z"] *', "fails: KeyError: 'z'"),
    ],
)
def test_what_raises(tmp_path: Path, old: str, new: str, said: str) -> None:
    diagnostic = refusal(tmp_path / "w.py", old, new)
    assert said in diagnostic.message
    assert diagnostic.span is not None
    assert diagnostic.source is not None
    assert new in (diagnostic.source.line(diagnostic.span.line) or "")


def test_what_it_prints_is_no_part_of_the_document(tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(KERNEL)
    (tmp_path / "w.py").write_text(
        "print('loading')\n" + TWICE.replace("    twice =", "    print('x'); twice =")
    )
    arguments = ["k.ptx", "--workload", "w.py:Twice", "-p", "n=32", "--grid", "1", "--block", "32"]
    done = ptxkit("run", *arguments, "--device", "emu", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["runs"][0]["verified"], done.stderr
    assert "loading" in done.stderr
