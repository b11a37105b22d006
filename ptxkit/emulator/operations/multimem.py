"""`multimem`: with one device a multimem address has one copy behind it, itself. PTX ISA 9.7.9.14."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.emulator.effect import Effect, effect
from ptxkit.emulator.operations.atomic import atom
from ptxkit.emulator.operations.load_store import ld, st

if TYPE_CHECKING:
    from ptxkit.emulator.form import Form


@effect("multimem.ld_reduce")
def ld_reduce(form: Form) -> Effect:
    """`multimem.ld_reduce{.ldsem.scope}{.ss}.op{.acc_prec}{.vec}.type d, [a]`: of one copy, its value."""
    form.modifiers.need("add", "min", "max", "and", "or", "xor")
    form.modifiers.choose("acc::f32", "acc::f16")
    return ld(form)


@effect("multimem.st")
def multimem_st(form: Form) -> Effect:
    """`multimem.st{.stsem.scope}{.ss}{.vec}.type [a], b`."""
    return st(form)


@effect("multimem.red")
def multimem_red(form: Form) -> Effect:
    """`multimem.red{.redsem.scope}{.ss}.op{.vec}.type [a], b`."""
    return atom(form)
