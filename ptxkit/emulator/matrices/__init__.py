"""Matrices in the registers of warps and warpgroups: fragments, and the operands that are some.

What `mma`, `wmma`, `ldmatrix` and their like (`operations/matrix`) share with `wgmma` (`warpgroup`).
"""
