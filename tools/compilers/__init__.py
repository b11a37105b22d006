"""What other compilers write, made afresh, through `ptxkit check`.

Scripts make PTX, each with a Python or a folder of sources from PyPI: `triton_kernels.py` (Triton),
`cute_kernels.py` (the CuTe DSL of nvidia-cutlass-dsl), `numba_kernels.py` (numba-cuda), `tile_kernels.py`
(cuda-tile), `mosaic_kernels.py` (Mosaic GPU, JAX's), `nvcc_sources.py` (any sources, by nvcc, for every
target) and `cutlass_examples.py` (CUTLASS's own examples, by nvcc). Each says in its first lines what pip
installs for it; they ask for different versions of the same packages, so each has a Python of its own. What
they make is not ours: their folders lie outside the tree.

`python -m tools.compilers FOLDER...` checks what they made and keeps the outcome in
bench/results/compilers.json: a file whose `.version` ptxkit knows must have no error, one of a newer version
a single P303 and no other error.
"""
