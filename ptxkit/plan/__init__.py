"""The launch plan: card, sizes and flags settled into plain data, JSON both ways.

A plan holds everything that the runner, the bench, a worker process or a remote machine needs: the program,
the problem, every tensor at its final shape and every launch at its final grid. Making one touches no device
and generates no input.
"""

from ptxkit.plan.data import (
    Argument,
    Launch,
    LaunchPlan,
    PlanTensor,
    PlanTensorMap,
    Problem,
    Program,
    problem_of,
)
from ptxkit.plan.make import Request, make

__all__ = [
    "Argument",
    "Launch",
    "LaunchPlan",
    "PlanTensor",
    "PlanTensorMap",
    "Problem",
    "Program",
    "Request",
    "make",
    "problem_of",
]
