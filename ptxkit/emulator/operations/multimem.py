"""`multimem`: with one device a multimem address has one copy behind it, itself. PTX ISA 9.7.9.14."""

from ptxkit.emulator.effect import Effects
from ptxkit.emulator.operations.atomic import atom
from ptxkit.emulator.operations.load_store import ld, st

effect = Effects("movement")

effect("multimem.ld_reduce")(ld)  # Of one copy, its value.
effect("multimem.st")(st)
effect("multimem.red")(atom)
