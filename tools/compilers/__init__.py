"""What other compilers write, made afresh, through `ptxkit check`.

Three scripts make PTX for sm_90a and sm_100a, each with a Python or a folder of sources from PyPI:
`triton_kernels.py` (Triton), `cute_kernels.py` (the CuTe DSL of nvidia-cutlass-dsl) and `cutlass_examples.py`
(CUTLASS's own examples from nvidia-cutlass, by nvcc). `python -m tools.compilers FOLDER...` checks what they
made and keeps the outcome in bench/results/compilers.json: a file whose `.version` ptxkit knows must have no
error, one of a newer version a single P303 and no other error.
"""
