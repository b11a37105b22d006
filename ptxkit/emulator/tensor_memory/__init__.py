"""Tensor memory and what works on it: allocation, moves, copies, products. PTX ISA 9.7.16.

cells       the memory of the CTAs of a batch, boxes of cells
moves       what tcgen05.ld, st, cp and shift move
operands    matrices out of shared and tensor memory, by cached index maps
mma_plan    what a tcgen05.mma computes: its modifiers and instruction descriptor
product     one tcgen05.mma: what it reads and writes
factors     its matrices out of memory;  arithmetic: what it computes
allocation  who has which columns;  sync_points: of alloc and dealloc
engine      a batch's tensor memory at work: chains, commits, when things happen
order       one instruction on it, and which it follows by issue or by fence
in_flight   who may touch which cells when
"""
