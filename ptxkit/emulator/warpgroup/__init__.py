"""Warpgroups: what `wgmma` multiplies, where its results wait, and who touches them too early.

members       the warpgroups that execute an instruction, their registers, where their warps wait
operands      matrices in shared memory, read through descriptors by cached index maps; sparsity metadata
in_flight     products in flight, their groups, and the watch on the registers that they hold
accumulators  their values until a wait has covered the last product
"""
