"""CUDA C++ of our own, compiled by nvcc, executed on the emulator and held against the same code on the host.

`python -m tools.battery` compiles the sources in tests/battery for each target at each level of optimisation,
launches every kernel, compares what it leaves with what its reference computes, and writes
bench/results/battery.json. It needs nvcc.
"""
