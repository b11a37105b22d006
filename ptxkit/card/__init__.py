"""The launch card: how a kernel file says itself in what way it is launched.

    // /// ptxkit
    // workload = "nvfp4_gemv"
    // [launch]
    // grid = ["ceildiv(M, 8)", "L", 1]
    // block = 256
    // params = ["a", "sfa", "b", "sfb", "c", "M", "K"]
    // [presets]
    // smoke = { M = 128, K = 256, L = 1 }
    // ///

`read` makes a `Card` of it; `ptxkit.check` holds it against the `.entry` that it launches. A card is data:
reading one never runs code, and the expressions in it are integer arithmetic over the problem's sizes.
"""

from ptxkit.card.expression import SizeExpression
from ptxkit.card.initial import Initial
from ptxkit.card.model import Card, LaunchCard, Param, Preset, Sizes, TensorCard, TensorMapCard
from ptxkit.card.read import read

__all__ = [
    "Card",
    "Initial",
    "LaunchCard",
    "Param",
    "Preset",
    "SizeExpression",
    "Sizes",
    "TensorCard",
    "TensorMapCard",
    "read",
]
