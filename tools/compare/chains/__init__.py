"""Chains: random programs of all families at once, in which state flows from statement to statement.

`model` says what a chain is, `writer` what its author has at hand, `control` gives it regions (branches,
loops, tables of branches, guards, warps), `forms` statements made from the rows of the instruction set, and
`memory`, `warp`, `carry`, `calls`, `vectors` what rows alone do not make. `text` writes modules of chains,
`judge` compares, `reduce` makes small what differs.

A chain is free of races and deterministic by construction: each thread has places of its own in memory,
places of others are read between barriers, member masks are ballots of those that are there, and what several
threads reduce into one place are integers.
"""
