"""What a virtual GPU is like. The settings go from `ptxkit exec` to the program's processes by the
environment."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from ptxkit import targets
from ptxkit.diagnostics import error, listing
from ptxkit.rules import rules as check_rules

VARIABLE = "PTXKIT_VIRTUAL"
"""The environment variable that carries them."""
LIBRARIES_VARIABLE = "PTXKIT_VIRTUAL_LIBRARIES"
"""The one that names the folder of our libraries."""
ORDERS = ("lazy", "eager", "random")


@dataclass(frozen=True, slots=True)
class VirtualOptions:
    """Settings of a virtual GPU.

    Attributes:
        arch: the target that every device plays, `sm_90a`.
        devices: how many there are.
        order: when what was queued happens: `lazy`, as late as the rules allow, `eager`, at once, or
        `random`.
        seed: of `random`.
        sanitize: whether races are sought and undefined bits tracked.
        strict: whether what shipping kernels do against the manual's text is an error, too.
        keep_going: whether kernels go past errors, or past how many, and the program goes on with a sound
            context.
        rules: how much a breach of each of the emulator's rules weighs, `allow`, `warn` or `deny`.
        host_memory: whether kernels may reach any memory of the host, as on systems with HMM.
        folder: where the processes of a program leave what they found; empty for nowhere.
        quiet: whether findings are only kept, not printed.
        predict: the GPU for which each launch is predicted, a few of its CTAs run; empty for none.

    Raises:
        PtxkitError: P520, an unknown order, no device, or no GPU to predict for; P305, an unknown target;
            P518, an unknown rule.
    """

    arch: str = "sm_90a"
    devices: int = 1
    order: str = "lazy"
    seed: int = 0
    sanitize: bool = True
    strict: bool = False
    keep_going: bool | int = False
    rules: Mapping[str, str] = field(default_factory=dict)
    host_memory: bool = False
    folder: str = ""
    quiet: bool = False
    predict: str = ""

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise error("P520", f"expected `lazy`, `eager` or `random` as the order, found `{self.order}`")
        if not 1 <= self.devices <= 64:
            raise error("P520", f"expected from 1 to 64 devices, found {self.devices}")
        if targets.parse(self.arch) is None:
            known = listing(targets.SUPPORTED)
            raise error("P305", f"there is no target `{self.arch}`", help=f"targets are {known}")

        check_rules(self.rules)
        if self.predict:
            from ptxkit.emulator.timing.gpu import gpu

            gpu(self.predict, "--predict")

    @property
    def target(self) -> targets.Target:
        """The target of all devices."""
        target = targets.parse(self.arch)
        assert target is not None
        return target

    def to_environment(self) -> str:
        """The value of `VARIABLE`."""
        return json.dumps(asdict(self))

    @classmethod
    def from_environment(cls) -> VirtualOptions:
        """What `VARIABLE` says; the defaults where it is not set."""
        return cls(**json.loads(os.environ.get(VARIABLE, "{}")))
