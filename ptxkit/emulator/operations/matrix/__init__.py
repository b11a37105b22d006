"""Warp-level matrix instructions: `mma`, `wmma`, `ldmatrix`, `stmatrix`, `movmatrix`. PTX ISA 9.7.14."""
