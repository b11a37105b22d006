"""The predefined special registers as data. PTX ISA chapter 10."""

from __future__ import annotations

from typing import NamedTuple

from ptxkit.isa.conditions import Availability


class SpecialRegister(NamedTuple):
    """One special register.

    Attributes:
        name: with its `%`.
        type: of the register, or of each component of a vector.
        vector: whether it has the components `.x`, `.y`, `.z` (and `.w`, always zero).
        since: the PTX ISA version that introduced it, in its present type.
        needs: the target it needs, as in `ptxkit.targets`; empty where every one will do.
        narrow: whether `mov` may read its low half or quarter, as it did when the register was that wide.
    """

    name: str
    type: str
    vector: bool = False
    since: tuple[int, int] = (1, 0)
    needs: str = ""
    narrow: bool = False

    @property
    def declaration(self) -> str:
        """As the manual declares it: `.sreg .v4 .u32 %tid`."""
        return f".sreg {'.v4 ' * self.vector}.{self.type} {self.name}"

    @property
    def availability(self) -> Availability:
        """From when and where it is there."""
        return Availability(((self.since, self.needs),))


# fmt: off
_TABLE = (
    #               name              type   vector since  needs          section
    SpecialRegister("%tid",             "u32",  True, (2, 0)),              # 10.1
    SpecialRegister("%ntid",            "u32",  True, (2, 0)),              # 10.2
    SpecialRegister("%laneid",          "u32", False, (1, 3)),              # 10.3
    SpecialRegister("%warpid",          "u32", False, (1, 3)),              # 10.4
    SpecialRegister("%nwarpid",         "u32", False, (2, 0), "sm_20"),     # 10.5
    SpecialRegister("%ctaid",           "u32",  True, (2, 0)),              # 10.6
    SpecialRegister("%nctaid",          "u32",  True, (2, 0)),              # 10.7
    SpecialRegister("%smid",            "u32", False, (1, 3)),              # 10.8
    SpecialRegister("%nsmid",           "u32", False, (2, 0), "sm_20"),     # 10.9
    SpecialRegister("%gridid",          "u64", False, (3, 0), narrow=True),  # 10.10
    SpecialRegister("%is_explicit_cluster", "pred", False, (7, 8), "sm_90"),  # 10.11
    SpecialRegister("%clusterid",       "u32",  True, (7, 8), "sm_90"),     # 10.12
    SpecialRegister("%nclusterid",      "u32",  True, (7, 8), "sm_90"),     # 10.13
    SpecialRegister("%cluster_ctaid",   "u32",  True, (7, 8), "sm_90"),     # 10.14
    SpecialRegister("%cluster_nctaid",  "u32",  True, (7, 8), "sm_90"),     # 10.15
    SpecialRegister("%cluster_ctarank", "u32", False, (7, 8), "sm_90"),     # 10.16
    SpecialRegister("%cluster_nctarank", "u32", False, (7, 8), "sm_90"),    # 10.17
    SpecialRegister("%lanemask_eq",     "u32", False, (2, 0), "sm_20"),     # 10.18
    SpecialRegister("%lanemask_le",     "u32", False, (2, 0), "sm_20"),     # 10.19
    SpecialRegister("%lanemask_lt",     "u32", False, (2, 0), "sm_20"),     # 10.20
    SpecialRegister("%lanemask_ge",     "u32", False, (2, 0), "sm_20"),     # 10.21
    SpecialRegister("%lanemask_gt",     "u32", False, (2, 0), "sm_20"),     # 10.22
    SpecialRegister("%clock",           "u32"),                             # 10.23
    SpecialRegister("%clock_hi",        "u32", False, (5, 0), "sm_20"),     # 10.23
    SpecialRegister("%clock64",         "u64", False, (2, 0), "sm_20"),     # 10.24
    *(SpecialRegister(f"%pm{i}", "u32", False, (1, 3) if i < 4 else (3, 0), "" if i < 4 else "sm_20")
      for i in range(8)),                                                   # 10.25
    *(SpecialRegister(f"%pm{i}_64", "u64", False, (4, 0), "sm_50") for i in range(8)),  # 10.26
    *(SpecialRegister(f"%envreg{i}", "b32", False, (2, 1)) for i in range(32)),  # 10.27
    SpecialRegister("%globaltimer",     "u64", False, (3, 1), "sm_30"),     # 10.28
    SpecialRegister("%globaltimer_lo",  "u32", False, (3, 1), "sm_30"),     # 10.28
    SpecialRegister("%globaltimer_hi",  "u32", False, (3, 1), "sm_30"),     # 10.28
    SpecialRegister("%reserved_smem_offset_begin", "b32", False, (7, 6), "sm_80"),  # 10.29
    SpecialRegister("%reserved_smem_offset_end",   "b32", False, (7, 6), "sm_80"),  # 10.29
    SpecialRegister("%reserved_smem_offset_cap",   "b32", False, (7, 6), "sm_80"),  # 10.29
    SpecialRegister("%reserved_smem_offset_0",     "b32", False, (7, 6), "sm_80"),  # 10.29
    SpecialRegister("%reserved_smem_offset_1",     "b32", False, (7, 6), "sm_80"),  # 10.29
    SpecialRegister("%total_smem_size",   "u32", False, (4, 1), "sm_20"),   # 10.30
    SpecialRegister("%aggr_smem_size",    "u32", False, (8, 1), "sm_90"),   # 10.31
    SpecialRegister("%dynamic_smem_size", "u32", False, (4, 1), "sm_20"),   # 10.32
    SpecialRegister("%current_graph_exec", "u64", False, (8, 0), "sm_50"),  # 10.33
    SpecialRegister("%perctamemoryoffset", "u64", False, (9, 4), "sm_80"),  # 10.34
    SpecialRegister("%perctamemorysize",   "u32", False, (9, 4), "sm_80"),  # 10.35
    SpecialRegister("%locality_domain_id", "u32", False, (9, 5), "sm_100"),
    SpecialRegister("%locality_domain_supplemental_sm", "u32", False, (9, 5), "sm_100"),
)
# fmt: on

SPECIAL_REGISTERS: dict[str, SpecialRegister] = {register.name: register for register in _TABLE}
"""Every special register by its name."""
