"""Launches of other people's programs, recorded once and run again in every order.

A record holds what a launch is made of, the program's own words on its numbers, and the memory before and
after. Records are other people's kernels: they stay out of this tree, only figures of them are kept.
docs/emulator/recorded.md says more.
"""
