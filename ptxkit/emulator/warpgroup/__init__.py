"""Warpgroups: what `wgmma` multiplies, where its results wait, and who touches them too early.

operands      matrices in shared memory, read through descriptors by cached index maps
registers     matrices in the registers of a warpgroup
members       the warpgroups that execute an instruction
in_flight     products in flight and their groups
accumulators  their values until a wait has covered the last product
metadata      of structured sparsity
sync_point    where warps of a warpgroup wait for one another
watch         lets other instructions look out for registers in flight
"""
