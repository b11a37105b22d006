"""Warpgroups: what `wgmma` multiplies, where its results wait, and who touches them too early.

operands      matrices in shared memory, read through descriptors by cached index maps
registers     matrices in the registers of a warpgroup
flights       products in flight, their groups, and accumulators until a wait has covered them
metadata      of structured sparsity
gate          where warps of a warpgroup wait for one another
watch         lets other instructions look out for registers in flight
"""
